"""The first pass over a stream: scaling and a sample; `linkwise.large.group_totals` makes the second.

Every sum is made in float64, block by block (`linkwise.large.chunks`). What is found in each block is
merged in the order of the blocks (`linkwise.large.ranges`), so neither chunks nor threads nor workers
change a bit of it. A row is in the sample if the hash of its number is among the smallest, so the sample
depends on the seed and the number of rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.large import chunks
from linkwise.large.chunks import NO_ROWS, Chunk, RowStream, read_blocks
from linkwise.large.ranges import map_blocks
from linkwise.parallel import SERIAL_ENGINE, Engine

HASHED = 2**20  # numbers of rows that are hashed at once
LARGEST = float(np.finfo(np.float32).max)

Scale = Literal["standard", "none"]


@dataclass(frozen=True, eq=False)
class Scaling:
    """How the columns are scaled: what is subtracted, and what is then divided by."""

    offset: NDArray[np.float64]
    scale: NDArray[np.float64]

    def apply(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Scale rows, in float64, and keep them in float32."""
        if rows.dtype == np.float32 and not self.offset.any() and (self.scale == 1).all():
            return rows
        scaled = rows - self.offset
        scaled /= self.scale
        if scaled.size and np.abs(scaled).max() > LARGEST:
            raise DataError("The values are too large for 32 bits. Set scale='standard'.")
        return np.asarray(scaled, dtype=np.float32)


def scale_block(block: Chunk, scaling: Scaling) -> NDArray[np.float32]:
    """Scale the rows of a block; raise if they have another number of columns than before."""
    if block.rows.shape[1] != len(scaling.offset):
        raise DataError(
            f"The data have changed: they had {len(scaling.offset)} columns before, and now"
            f" {block.rows.shape[1]}. A function must return the same chunks each time it is called."
        )
    return scaling.apply(block.rows)


def find_among(block: Chunk, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], slice]:
    """Find which rows of a block have some numbers, which ascend: places in the block and in `numbers`."""
    ends = [block.first, block.first + len(block.rows)]
    here = slice(*np.searchsorted(numbers, ends).tolist())
    return numbers[here] - block.first, here


class Survey(NamedTuple):
    """What the first pass finds."""

    n_rows: int
    scaling: Scaling
    sample: NDArray[np.float32]
    """(n_sample, n_columns) scaled rows, in their order."""
    sample_rows: NDArray[np.int64]
    """(n_sample,) their numbers."""


def survey_rows(
    stream: RowStream,
    n_sample: int,
    seed: int,
    scale: Scale,
    step: Callable[[], object],
    engine: Engine = SERIAL_ENGINE,
) -> Survey:
    """Learn the scaling of a stream, and draw a uniform sample of at most `n_sample` of its rows.

    "standard" scales the columns to mean 0 and deviation 1. Call `step` after each block.
    """
    found: tuple[_Moments, Sample] | None = None
    lengths, key = stream.lengths(), sample_key(seed)
    bound = None if lengths is None else find_bound(sum(lengths.counts), n_sample, key)
    work = partial(_survey_block, key=key, bound=bound)
    for moments, sample in map_blocks(partial(read_blocks, stream), work, lengths, 0, chunks.BLOCK, engine):
        if found is None:
            found = moments, sample.keep(n_sample)
        else:
            found = found[0].add(moments), found[1].add(sample, n_sample)
        step()
    if found is None:  # a range without rows
        raise DataError(NO_ROWS)
    moments, sample = found
    width = len(moments.mean)
    scaling = moments.to_scaling() if scale == "standard" else Scaling(np.zeros(width), np.ones(width))
    return Survey(moments.n, scaling, scaling.apply(sample.sorted()), np.sort(sample.number))


def _survey_block(block: Chunk, key: np.uint64, bound: np.uint64 | None) -> tuple[_Moments, Sample]:
    number = np.arange(block.first, block.first + len(block.rows))
    hashes = hash_numbers(number, key)
    drawn = slice(None) if bound is None else np.flatnonzero(hashes <= bound)
    return _Moments.of(block.rows), Sample(hashes[drawn], number[drawn], block.rows[drawn])


class _Moments(NamedTuple):
    """Number, means and sums of squared deviations of rows."""

    n: int
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[Any]) -> _Moments:
        mean = rows.mean(axis=0, dtype=np.float64)
        return cls(len(rows), mean, np.square(rows - mean).sum(axis=0))

    def add(self, more: _Moments) -> _Moments:
        """Combine the moments of two sets of rows (Chan, Golub and LeVeque 1983)."""
        n, gap = self.n + more.n, more.mean - self.mean
        mean = self.mean + gap * (more.n / n)
        return _Moments(n, mean, self.squares + more.squares + np.square(gap) * (self.n * more.n / n))

    def to_scaling(self) -> Scaling:
        spread = np.sqrt(self.squares / self.n)
        return Scaling(self.mean, np.where(spread > 0, spread, 1.0))


class Sample(NamedTuple):
    """The rows with the smallest hashes so far."""

    hash: NDArray[np.uint64]
    number: NDArray[np.int64]
    rows: NDArray[Any]

    @classmethod
    def of_none(cls) -> Sample:
        """Return a sample of no rows."""
        return cls(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64), np.empty((0, 0)))

    def sorted(self) -> NDArray[Any]:
        """Return the rows in their order."""
        return np.ascontiguousarray(self.rows[np.argsort(self.number)])

    def add(self, more: Sample, n_sample: int) -> Sample:
        """Keep the `n_sample` rows with the smallest hashes of both."""
        is_full = len(self.hash) >= n_sample
        least = np.flatnonzero(more.hash < self.hash.max()) if is_full else slice(None)
        hashes = np.concatenate([self.hash, more.hash[least]])
        number = np.concatenate([self.number, more.number[least]])
        rows = np.concatenate([self.rows, more.rows[least]])
        return Sample(hashes, number, rows).keep(n_sample)

    def keep(self, n_sample: int) -> Sample:
        """Keep the `n_sample` rows with the smallest hashes."""
        if len(self.hash) <= n_sample:
            return self
        kept = np.argpartition(self.hash, n_sample - 1)[:n_sample]
        return Sample(self.hash[kept], self.number[kept], self.rows[kept])


def find_bound(n_rows: int, n_sample: int, key: np.uint64) -> np.uint64:
    """Find the largest hash of a row in the sample."""
    least = np.empty(0, dtype=np.uint64)
    for first in range(0, n_rows, HASHED):
        hashes = hash_numbers(np.arange(first, min(first + HASHED, n_rows)), key)
        least = np.concatenate([least, hashes if len(least) < n_sample else hashes[hashes < least.max()]])
        if len(least) > n_sample:
            least = np.partition(least, n_sample - 1)[:n_sample]
    return np.uint64(least.max(initial=0))


def sample_key(seed: int) -> np.uint64:
    """Return the key by which rows are drawn."""
    return np.uint64(np.random.SeedSequence([seed, 0]).generate_state(1, np.uint64)[0])


def hash_numbers(number: NDArray[np.int64], key: np.uint64) -> NDArray[np.uint64]:
    """Hash numbers of rows by SplitMix64, which maps different numbers to different hashes."""
    values = number.astype(np.uint64) ^ key
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
