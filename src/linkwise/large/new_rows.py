"""Add rows that arrived to the groups of a session.

A row that fits a group (`linkwise.large.reach`) becomes one of its rows. The rows that fit none become
groups of their own, the centres of which come from a k-means of a sample of them. Earlier groups stay as they
are, and so do the groups of all earlier rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import ceil, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.large.border_rows import MOST_ROWS, list_entries
from linkwise.large.checkpoints import Checkpoint, hash_groups, pack_totals, save_at_times, unpack_totals
from linkwise.large.chunks import Chunk
from linkwise.large.file_stamps import FileStamp, check_not_written
from linkwise.large.group_summary import SAMPLE
from linkwise.large.group_table import DataPart, GroupTable
from linkwise.large.group_totals import GroupCenters, GroupTotals, find_centers
from linkwise.large.passes import Sample, hash_numbers, sample_key
from linkwise.large.ranges import Lengths, map_blocks
from linkwise.large.state_files import State
from linkwise.large.table_files import BLOCK, Block, TableFiles
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.types import Progress
from linkwise.wording import join_names

MOST_NEW = 100  # groups that the rows of one extension become
ARRIVED, UNFIT = "arrived.npz", "unfit.npz"  # states of the passes

ReadBlocks = Callable[[int, int | None], Iterator[Block]]


class Extended(NamedTuple):
    """Groups with the rows that arrived."""

    groups: GroupTable
    n_rows: int
    """Rows that arrived."""
    n_files: int
    """Files that hold them."""
    n_new: int
    """Groups that are new."""
    unfit: tuple[tuple[str, int], ...]
    """Files with rows that fit none of the earlier groups, and how many."""


def extend_groups(
    groups: GroupTable,
    tables: TableFiles,
    paths: tuple[tuple[str, ...], tuple[str, ...]],
    folder: Path,
    progress: Progress | None = None,
    engine: Engine = SERIAL_ENGINE,
) -> Extended:
    """Add the rows of some files to groups, in one pass; in two if rows fit no group.

    The groups stay as they are, and the new files have columns of the types of the earlier ones
    (`check_types`). `paths` are those of the earlier files and of the new ones, relative to the folder of
    the session. Passes over the same files that were interrupted go on from their states in `folder`,
    perhaps with another engine. Neither the chunks in which rows are read nor the engine change a bit of
    the result. Raises `DataError` if a file cannot be read, or an id is not new.
    """
    names = list(groups.encoding.file_columns)
    before, counts, key = tables.stamps(), tables.count_rows(), hash_groups(groups, tables)
    n_blocks = -(-sum(counts) // BLOCK)

    def step(done: int) -> None:
        if progress is not None:
            progress(min(done, 2 * n_blocks), 2 * n_blocks)

    read = partial(tables.blocks, names)
    found = _assign(groups, read, tables.lengths(), Checkpoint(folder / ARRIVED, key, engine), step)
    old = [part._replace(path=path) for part, path in zip(groups.parts, paths[0], strict=True)]
    total = replace(groups, summary=replace(groups.summary, sizes=groups.summary.sizes + found.sizes))
    if found.unfit:
        checkpoint = Checkpoint(folder / UNFIT, key, engine)
        centers, totals = _collect(
            groups, found, read, tables.lengths(), checkpoint, lambda block: step(n_blocks + block)
        )
        total = _append(total, centers, totals)
    known = total.n_steps
    new = [
        DataPart(file.path.name, n, known, path)
        for file, n, path in zip(tables.files, counts, paths[1], strict=True)
    ]
    summary = replace(total.summary, n_rows=groups.summary.n_rows + sum(counts))
    unfit = tuple((tables.files[file].path.name, n) for file, n in sorted(found.unfit.items()))
    check_not_written(before, tables.stamps())
    stamps = *groups.stamps, *(FileStamp.of(file.path) for file in tables.files)
    total = replace(total, summary=summary, parts=(*old, *new), stamps=stamps)
    return Extended(total, sum(counts), len(counts), total.n_groups - groups.n_groups, unfit)


class _Arrived(NamedTuple):
    """The result of the first pass; `merge` leaves both as they are."""

    sizes: NDArray[np.int64]
    """(k,) rows that fit, by their group."""
    unfit: dict[int, int]
    """Number of rows of each file that do not fit, if there are any."""
    sample: Sample
    """Some of them, encoded."""

    @classmethod
    def start(cls, k: int) -> _Arrived:
        return cls(np.zeros(k, dtype=np.int64), {}, Sample.of_none())

    @classmethod
    def of(cls, block: Block, groups: GroupTable, seed: int) -> _Arrived:
        rows = groups.encoding.apply(block.frame, block.locate)
        of, fits = groups.place(rows)
        sizes = np.bincount(of[fits], minlength=len(groups.steps))
        rest = np.flatnonzero(~fits)
        if not rest.size:
            return cls.start(len(sizes))._replace(sizes=sizes)
        file = np.repeat([span.file for span in block.spans], [span.n_rows for span in block.spans])
        number = block.first + rest
        sample = Sample(hash_numbers(number, sample_key(seed)), number, rows[rest])
        return cls(sizes, dict(Counter(file[rest].tolist())), sample)

    def pack(self) -> State:
        unfit = {str(file): n for file, n in self.unfit.items()}
        sample = {f"sample_{name}": array for name, array in self.sample._asdict().items()}
        return State({"unfit": unfit}, {"sizes": self.sizes, **sample}, None)

    @classmethod
    def unpack(cls, state: State) -> _Arrived:
        sample = Sample(*(state.arrays[f"sample_{name}"] for name in Sample._fields))
        return cls(state.arrays["sizes"], {int(at): n for at, n in state.values["unfit"].items()}, sample)

    def merge(self, more: _Arrived) -> _Arrived:
        unfit = dict(Counter(self.unfit) + Counter(more.unfit))
        sample = self.sample if not more.unfit else more.sample
        if self.unfit and more.unfit:
            sample = self.sample.add(more.sample, SAMPLE * MOST_NEW)
        return _Arrived(self.sizes + more.sizes, unfit, sample)


def _assign(
    groups: GroupTable,
    read: ReadBlocks,
    lengths: Lengths,
    checkpoint: Checkpoint,
    step: Callable[[int], object],
) -> _Arrived:
    """Assign the rows to the groups, in a first pass."""
    stored = checkpoint.load(lambda state: (_Arrived.unpack(state), state.values["n_read"]))
    found, n_read = stored or (_Arrived.start(len(groups.steps)), 0)

    def save() -> None:
        if n_read:
            state = found.pack()
            checkpoint.save(state._replace(values={**state.values, "n_read": n_read}))

    with save_at_times(save) as save_sometimes:
        work = partial(_Arrived.of, groups=groups, seed=groups.n_steps)
        for more in map_blocks(read, work, lengths, n_read, BLOCK, checkpoint.engine):
            found, n_read = found.merge(more), min(n_read + BLOCK, sum(lengths.counts))
            save_sometimes()
            step(-(-n_read // BLOCK))
        if found.unfit:  # before the second pass
            save()
    return found


def _collect(
    groups: GroupTable,
    found: _Arrived,
    read: ReadBlocks,
    lengths: Lengths,
    checkpoint: Checkpoint,
    step: Callable[[int], object],
) -> tuple[GroupCenters, GroupTotals]:
    """Make groups of the rows that fit none, in a second pass."""
    stored, n_read = checkpoint.load(lambda state: (*unpack_totals(state), state.values["n_read"])), 0
    if stored is None:
        centers = find_centers(found.sample.sorted(), _choose_number(groups, found), (groups.n_steps, 2))
        totals = GroupTotals.start(centers.points.shape)
    else:
        centers, totals, n_read = stored

    def save() -> None:
        if n_read:
            state = pack_totals(totals, centers)
            checkpoint.save(state._replace(values={**state.values, "n_read": n_read}))

    with save_at_times(save) as save_sometimes:
        work = partial(_collect_block, groups=groups, centers=centers)
        for more in map_blocks(read, work, lengths, n_read, BLOCK, checkpoint.engine):
            totals, n_read = totals.merge(more), min(n_read + BLOCK, sum(lengths.counts))
            save_sometimes()
            step(-(-n_read // BLOCK))
    return centers, totals


def remove_checkpoints(folder: Path) -> None:
    """Remove the states of the passes, once the groups are stored."""
    for name in (ARRIVED, UNFIT):
        (folder / name).unlink(missing_ok=True)


def _choose_number(groups: GroupTable, found: _Arrived) -> int:
    """The root of the number of rows, as far as KIN can ask about each group."""
    room = max(1, MOST_ROWS - len(groups.steps))
    return min(ceil(sqrt(sum(found.unfit.values()))), MOST_NEW, room)


def _collect_block(block: Block, groups: GroupTable, centers: GroupCenters) -> GroupTotals:
    """Assign the rows that fit no group to new centres."""
    rows = groups.encoding.apply(block.frame, block.locate)
    rest = np.flatnonzero(~groups.place(rows).fits)
    chunk = Chunk(block.first, rows, None, block.frame)
    return GroupTotals.of(chunk, groups.summary.scaling, centers, rest)


def _append(groups: GroupTable, centers: GroupCenters, totals: GroupTotals) -> GroupTable:
    """Add the groups of a new step."""
    import polars as pl

    before, k = groups.summary, len(groups.steps)
    limits = totals.limits(centers, float(np.median(before.limits[groups.parents < 0])))
    entries = list_entries(totals, centers, limits, k)
    new = dict(entries.arrays)
    new["medoid_rows"] = before.n_rows + new["medoid_rows"]
    new["border_rows"] = np.where(new["border_rows"] >= 0, before.n_rows + new["border_rows"], -1)
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(before, name), array]) for name, array in new.items()
    }
    is_group = entries.parents < 0
    found = replace(
        groups,
        summary=replace(before, medoids=arrays["X"], **arrays),
        frame=pl.concat([groups.frame, entries.frame.select(groups.frame.columns)], how="vertical_relaxed"),
        steps=np.concatenate([groups.steps, np.where(is_group, groups.n_steps + 1, -1)]),
        parents=np.concatenate([groups.parents, np.where(is_group, -1, k + entries.parents)]),
        cuts=np.concatenate([groups.cuts, np.zeros(len(is_group))]),
    )
    again = [repr(name) for name, n in Counter(found.ids).items() if n > 1]
    if again:
        raise DataError(f"Ids repeat: {join_names(again, 5)}. The ids of all rows must differ.")
    return found
