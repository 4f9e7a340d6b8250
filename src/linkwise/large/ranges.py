"""Work on the blocks of a stream in this process, in several, or on the workers of a dask cluster.

A block has the same rows wherever it is read. Workers read ranges of whole blocks where the data lie, and
return what they found in each block. The results come back in the order of the blocks, so what is added up
from them has the same bits for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from linkwise.parallel import SERIAL_ENGINE, Engine, map_in_order

RANGE = 8  # blocks that a worker reads at once

Found = TypeVar("Found")


class Lengths(NamedTuple):
    """Numbers of rows that are known before they are read."""

    counts: tuple[int, ...]
    """Rows of each file."""
    is_seekable: bool
    """Whether reading can begin at any row; if not, only at the first row of each file."""


class Range(NamedTuple):
    """Consecutive rows, from a multiple of the rows of a block to another or to the end."""

    start: int
    stop: int


def map_blocks(
    read: Callable[[int, int | None], Iterator[Any]],
    work: Callable[[Any], Found],
    lengths: Lengths | None,
    start: int,
    block_rows: int,
    engine: Engine = SERIAL_ENGINE,
    n_together: int = RANGE,
) -> Iterator[Found]:
    """Call ``work(block)`` for each block of a stream, and yield the results in the order of the blocks.

    ``read(start, stop)`` yields the blocks from row `start` to `stop`, or to the end if `stop` is None.
    Both are sent to workers, so they must be pickled. `lengths` is None if the rows are known only when
    they are read, which works without workers alone. `start` is a multiple of `block_rows`, and a worker
    reads `n_together` blocks at once.
    """
    if engine.backend == "serial":
        for block in read(start, None):
            yield work(block)
        return
    if lengths is None:
        raise ValueError(
            f"backend={engine.backend!r} needs rows that workers can read, but these come from a function."
            " Pass an array or the paths of files, or backend='serial'."
        )
    ranges = plan_ranges(lengths, start, block_rows, n_together)
    with closing(map_in_order(_work_on_range, (read, work), ranges, engine)) as found:
        for each in found:
            yield from each


def plan_ranges(lengths: Lengths, start: int, block_rows: int, n_together: int) -> list[Range]:
    """Divide the rows from `start` on into ranges of `n_together` blocks.

    Rows that can only be read from the beginning of their file go into one range, up to the first block that
    begins in the next file.
    """
    n_rows = sum(lengths.counts)
    if lengths.is_seekable:
        step = n_together * block_rows
        return [Range(at, min(at + step, n_rows)) for at in range(start, n_rows, step)]
    cuts, before = {start, n_rows}, 0
    for length in lengths.counts:
        before += length
        cuts.add(min(-(-before // block_rows) * block_rows, n_rows))
    places = sorted(cut for cut in cuts if cut >= start)
    return [Range(*pair) for pair in pairwise(places)]


def _work_on_range(
    shared: tuple[Callable[[int, int | None], Iterator[Any]], Callable[[Any], Found]], part: Range
) -> list[Found]:
    read, work = shared
    return [work(block) for block in read(*part)]
