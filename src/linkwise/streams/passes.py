"""The two passes over a stream: scaling and a sample, then the items.

Every sum is made in float64, block by block (`linkwise.streams.chunks`). What is found in each block is
merged in the order of the blocks (`linkwise.streams.ranges`), so neither chunks nor threads nor workers
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

from linkwise import native, parallel
from linkwise.errors import DataError
from linkwise.parallel import HERE, Engine
from linkwise.streams import chunks
from linkwise.streams.chunks import NO_ROWS, Chunk, RowStream, read_blocks
from linkwise.streams.ranges import map_blocks

N_BORDER = 3  # border rows of an item
ITEM = "linkwise item"  # column with the number of an item
HASHED = 2**20  # numbers of rows that are hashed at once
LARGEST = float(np.finfo(np.float32).max)

Scale = Literal["standard", "none"]


@dataclass(frozen=True, eq=False)
class Scaling:
    """How the columns are scaled.

    Attributes
    ----------
    offset : ndarray of shape (n_columns,)
        What is subtracted.
    scale : ndarray of shape (n_columns,)
        What is divided by.
    """

    offset: NDArray[np.float64]
    scale: NDArray[np.float64]

    def apply(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Scale rows, in float64, and keep them in float32."""
        scaled = rows - self.offset
        scaled /= self.scale
        if scaled.size and np.abs(scaled).max() > LARGEST:
            raise DataError("The values are too large for 32 bits. Give scale='standard'.")
        return np.asarray(scaled, dtype=np.float32)


class Survey(NamedTuple):
    """What the first pass finds."""

    n_rows: int
    scaling: Scaling
    sample: NDArray[np.float32]
    """(n_sample, n_columns) scaled rows, in their order."""


def survey_rows(
    stream: RowStream,
    n_sample: int,
    seed: int,
    scale: Scale,
    step: Callable[[], object],
    engine: Engine = HERE,
) -> Survey:
    """Learn the scaling of a stream, and draw a uniform sample of its rows.

    Parameters
    ----------
    stream : RowStream
        The rows.
    n_sample : int
        Number of rows to draw; all rows if there are fewer.
    seed : int
        Seed of the draw.
    scale : {"standard", "none"}
        Scale the columns to mean 0 and deviation 1, or leave them as they are.
    step : callable
        Called after each block.
    engine : Engine
        The processes or the cluster that read the rows.
    """
    found: tuple[_Moments, _Sample] | None = None
    lengths, key = stream.lengths(), sample_key(seed)
    bound = None if lengths is None else find_bound(sum(lengths.counts), n_sample, key)
    work = partial(_survey_block, key=key, bound=bound)
    for moments, sample in map_blocks(partial(read_blocks, stream), work, lengths, 0, chunks.BLOCK, engine):
        if found is not None:
            moments, sample = found[0].add(moments), found[1].add(sample, n_sample)
        found = moments, sample
        step()
    if found is None:  # a range without rows
        raise DataError(NO_ROWS)
    moments, sample = found
    width = len(moments.mean)
    scaling = moments.to_scaling() if scale == "standard" else Scaling(np.zeros(width), np.ones(width))
    order = np.argsort(sample.number)
    return Survey(moments.n, scaling, scaling.apply(sample.rows[order]))


def _survey_block(block: Chunk, key: np.uint64, bound: np.uint64 | None) -> tuple[_Moments, _Sample]:
    number = np.arange(block.first, block.first + len(block.rows))
    hashes = hash_numbers(number, key)
    drawn = slice(None) if bound is None else np.flatnonzero(hashes <= bound)
    return _Moments.of(block.rows), _Sample(hashes[drawn], number[drawn], block.rows[drawn])


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


class _Sample(NamedTuple):
    """The rows with the smallest hashes so far."""

    hash: NDArray[np.uint64]
    number: NDArray[np.int64]
    rows: NDArray[Any]

    def add(self, more: _Sample, n_sample: int) -> _Sample:
        """Keep the `n_sample` rows with the smallest hashes of both."""
        is_full = len(self.hash) >= n_sample
        least = np.flatnonzero(more.hash < self.hash.max()) if is_full else slice(None)
        hashes = np.concatenate([self.hash, more.hash[least]])
        number = np.concatenate([self.number, more.number[least]])
        rows = np.concatenate([self.rows, more.rows[least]])
        if len(hashes) <= n_sample:
            return _Sample(hashes, number, rows)
        kept = np.argpartition(hashes, n_sample - 1)[:n_sample]
        return _Sample(hashes[kept], number[kept], rows[kept])


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


class ItemTotals(NamedTuple):
    """What the second pass finds, for each of k centres; `merge` leaves both as they are."""

    n_rows: int
    """Rows so far."""
    sizes: NDArray[np.int64]
    """(k,) rows that are nearest to each centre."""
    squares: NDArray[np.float64]
    """(k,) sums of their squared distances."""
    medoid: NDArray[np.int64]
    """(k,) number of the row nearest to each centre, of equals the first; -1 without rows."""
    least: NDArray[np.float64]
    """(k,) its squared distance."""
    rows: NDArray[np.float64]
    """(k, n_columns) that row as it is in the data."""
    ids: tuple[Any, ...] | None
    """(k,) its id, if rows have ids."""
    frame: Any
    """That row with all columns and the number of the centre, a polars.DataFrame, if rows have such."""
    border: NDArray[np.int64]
    """(k, N_BORDER) numbers of the rows farthest from each centre, the farthest first; -1 in free places."""
    border_squares: NDArray[np.float64]
    """(k, N_BORDER) their squared distances."""

    @classmethod
    def start(cls, shape: tuple[int, ...]) -> ItemTotals:
        """Return the totals of no rows, for centres of some shape."""
        k = shape[0]
        return cls(
            0,
            np.zeros(k, dtype=np.int64),
            np.zeros(k),
            np.full(k, -1),
            np.full(k, np.inf),
            np.zeros((k, shape[1])),
            None,
            None,
            np.full((k, N_BORDER), -1),
            np.full((k, N_BORDER), -1.0),
        )

    @classmethod
    def of(cls, block: Chunk, scaling: Scaling, centers: NDArray[np.float64]) -> ItemTotals:
        """Assign the rows of a block to their nearest centres, and collect what is known of them."""
        if block.rows.shape[1] != centers.shape[1]:
            raise DataError(
                f"The data have changed: they had {centers.shape[1]} columns in the first pass, and now"
                f" {block.rows.shape[1]}. A function must return the same chunks each time it is called."
            )
        free, k, scaled = cls.start(centers.shape), len(centers), scaling.apply(block.rows)
        of, square = native.nearest_points(scaled, centers, parallel.n_threads())
        nearest = native.nearest_rows(scaled, of.astype(np.int32), centers, None, parallel.n_threads())
        items = np.flatnonzero(nearest >= 0)
        at = nearest[items]
        medoid, least, rows = free.medoid, free.least, free.rows
        least[items], medoid[items], rows[items] = square[at], block.first + at, block.rows[at]
        border = _Border(free.border, free.border_squares).add(of, square, block.first + np.arange(len(of)))
        return cls(
            len(block.rows),
            np.bincount(of, minlength=k),
            np.bincount(of, square, k).astype(np.float64),
            medoid,
            least,
            rows,
            None if block.ids is None else _place(block.ids[at], items, k),
            None if block.frame is None else _mark_items(block.frame[at], items),
            border.number,
            border.square,
        )

    def merge(self, more: ItemTotals) -> ItemTotals:
        """Add what was found in later rows."""
        is_better = more.least < self.least
        border = _Border(self.border, self.border_squares).add(
            np.repeat(np.arange(len(self.sizes)), N_BORDER), more.border_squares.ravel(), more.border.ravel()
        )
        return ItemTotals(
            self.n_rows + more.n_rows,
            self.sizes + more.sizes,
            self.squares + more.squares,
            np.where(is_better, more.medoid, self.medoid),
            np.where(is_better, more.least, self.least),
            np.where(is_better[:, None], more.rows, self.rows),
            _merge_ids(self.ids, more.ids, is_better),
            _merge_frames(self.frame, more.frame, np.flatnonzero(is_better)),
            border.number,
            border.square,
        )


def _place(ids: NDArray[Any], items: NDArray[np.int64], k: int) -> tuple[Any, ...]:
    found: list[Any] = [None] * k
    for item, name in zip(items.tolist(), ids, strict=True):
        found[item] = name
    return tuple(found)


def _mark_items(rows: Any, items: NDArray[np.int64]) -> Any:
    import polars as pl

    return rows.with_columns(pl.Series(ITEM, items))


def _merge_ids(
    ids: tuple[Any, ...] | None, more: tuple[Any, ...] | None, is_better: NDArray[np.bool_]
) -> tuple[Any, ...] | None:
    if ids is None or more is None:
        return more if ids is None else ids
    return tuple(b if better else a for a, b, better in zip(ids, more, is_better.tolist(), strict=True))


def _merge_frames(frame: Any, more: Any, better: NDArray[np.int64]) -> Any:
    """Replace the rows of some items."""
    import polars as pl

    if frame is None or more is None:
        return more if frame is None else frame
    is_of_better = pl.col(ITEM).is_in(better.tolist())
    return pl.concat([frame.filter(~is_of_better), more.filter(is_of_better)])


def collect_items(
    stream: RowStream,
    scaling: Scaling,
    centers: NDArray[np.float64],
    step: Callable[[], object],
    engine: Engine = HERE,
) -> ItemTotals:
    """Assign each row to its nearest centre, and collect what is known of each centre's rows.

    Parameters
    ----------
    stream : RowStream
        The rows.
    scaling : Scaling
        How rows are scaled.
    centers : ndarray of shape (k, n_columns)
        Centres, in scaled units.
    step : callable
        Called after each block.
    engine : Engine
        The processes or the cluster that read the rows.
    """
    totals = ItemTotals.start(centers.shape)
    work = partial(ItemTotals.of, scaling=scaling, centers=centers)
    for found in map_blocks(partial(read_blocks, stream), work, stream.lengths(), 0, chunks.BLOCK, engine):
        totals = totals.merge(found)
        step()
    return totals


class _Border(NamedTuple):
    """The rows farthest from their centres so far."""

    number: NDArray[np.int64]
    """(k, N_BORDER)"""
    square: NDArray[np.float64]
    """(k, N_BORDER), descending; -1 in free places."""

    def add(self, of: NDArray[np.int64], square: NDArray[np.float64], number: NDArray[np.int64]) -> _Border:
        """Add rows with higher numbers; of equally far rows the first ones stay."""
        k = len(self.number)
        far = np.flatnonzero(square > self.square[of, -1])
        item = np.concatenate([np.repeat(np.arange(k), N_BORDER), of[far]])
        squares = np.concatenate([self.square.ravel(), square[far]])
        numbers = np.concatenate([self.number.ravel(), number[far]])
        order = np.lexsort((numbers, -squares, item))
        start = np.searchsorted(item[order], np.arange(k))
        kept = order[start[:, None] + np.arange(N_BORDER)]
        return _Border(numbers[kept], squares[kept])
