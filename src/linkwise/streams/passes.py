"""The two passes over a stream: scaling and a sample, then the items.

Every sum is made in float64, block by block (`linkwise.streams.chunks`), so neither chunks nor threads change
a bit of it. A row is in the sample if the hash of its number is among the smallest, so the sample depends on
the seed and the number of rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.errors import DataError
from linkwise.streams.chunks import Chunk, RowStream, read_blocks

N_BORDER = 3  # border rows of an item
ITEM = "linkwise item"  # column with the number of an item
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
    stream: RowStream, n_sample: int, seed: int, scale: Scale, step: Callable[[], object]
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
    """
    moments: _Moments | None = None
    sample: _Sample | None = None
    key = sample_key(seed)
    for block in read_blocks(stream):
        more = _Moments.of(block.rows)
        moments = more if moments is None else moments.add(more)
        sample = _draw_rows(sample, block, n_sample, key)
        step()
    assert moments is not None  # a stream without rows raises an error
    assert sample is not None
    width = len(moments.mean)
    scaling = moments.to_scaling() if scale == "standard" else Scaling(np.zeros(width), np.ones(width))
    order = np.argsort(sample.number)
    return Survey(moments.n, scaling, scaling.apply(sample.rows[order]))


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


def _draw_rows(sample: _Sample | None, block: Chunk, n_sample: int, key: np.uint64) -> _Sample:
    number = np.arange(block.first, block.first + len(block.rows))
    mixed = hash_numbers(number, key)
    if sample is not None:
        least = mixed < sample.hash.max() if len(sample.hash) == n_sample else np.ones(len(mixed), dtype=bool)
        mixed = np.concatenate([sample.hash, mixed[least]])
        number = np.concatenate([sample.number, number[least]])
        rows = np.concatenate([sample.rows, block.rows[least]])
    else:
        rows = block.rows
    if len(mixed) <= n_sample:
        return _Sample(mixed, number, rows)
    kept = np.argpartition(mixed, n_sample - 1)[:n_sample]
    return _Sample(mixed[kept], number[kept], rows[kept])


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
    """What the second pass finds, for each of k centres; `add` leaves it as it is, and returns another."""

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
    def start(cls, shape: tuple[int, int]) -> ItemTotals:
        """Return the totals of no rows, for centres of some shape."""
        k = shape[0]
        return cls(
            0,
            np.zeros(k, dtype=np.int64),
            np.zeros(k),
            np.full(k, -1),
            np.full(k, np.inf),
            np.zeros(shape),
            None,
            None,
            np.full((k, N_BORDER), -1),
            np.full((k, N_BORDER), -1.0),
        )

    def add(self, block: Chunk, scaling: Scaling, centers: NDArray[np.float64]) -> ItemTotals:
        """Assign the rows of a block to their nearest centres, and add what is known of them."""
        if block.rows.shape[1] != centers.shape[1]:
            raise DataError(
                f"The data have changed: they had {centers.shape[1]} columns in the first pass, and now"
                f" {block.rows.shape[1]}. A function must return the same chunks each time it is called."
            )
        k, scaled = len(centers), scaling.apply(block.rows)
        of, square = native.nearest_points(scaled, centers, parallel.n_threads())
        nearest = native.nearest_rows(scaled, of.astype(np.int32), centers, None, parallel.n_threads())
        better = np.flatnonzero((nearest >= 0) & (square[nearest] < self.least))
        at = nearest[better]
        least, medoid, rows = self.least.copy(), self.medoid.copy(), self.rows.copy()
        least[better], medoid[better], rows[better] = square[at], block.first + at, block.rows[at]
        border = _Border(self.border, self.border_squares).add(of, square, block.first)
        return ItemTotals(
            self.n_rows + len(block.rows),
            self.sizes + np.bincount(of, minlength=k),
            self.squares + np.bincount(of, square, k),
            medoid,
            least,
            rows,
            _replace_ids(self.ids, better, at, block, k),
            self.frame if block.frame is None else _replace_rows(self.frame, better, block.frame[at]),
            border.number,
            border.square,
        )


def _replace_ids(
    ids: tuple[Any, ...] | None, items: NDArray[np.int64], at: NDArray[np.int64], block: Chunk, k: int
) -> tuple[Any, ...] | None:
    if block.ids is None:
        return ids
    found = list(ids or [None] * k)
    for item, row in zip(items.tolist(), at.tolist(), strict=True):
        found[item] = block.ids[row]
    return tuple(found)


def _replace_rows(frame: Any, items: NDArray[np.int64], rows: Any) -> Any:
    """Replace the rows of some items."""
    import polars as pl

    new = rows.with_columns(pl.Series(ITEM, items))
    if frame is None:
        return new
    return pl.concat([frame.filter(~pl.col(ITEM).is_in(items.tolist())), new])


def collect_items(
    stream: RowStream, scaling: Scaling, centers: NDArray[np.float64], step: Callable[[], object]
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
    """
    totals = ItemTotals.start((len(centers), centers.shape[1]))
    for block in read_blocks(stream):
        totals = totals.add(block, scaling, centers)
        step()
    return totals


class _Border(NamedTuple):
    """The rows farthest from their centres so far."""

    number: NDArray[np.int64]
    """(k, N_BORDER)"""
    square: NDArray[np.float64]
    """(k, N_BORDER), descending; -1 in free places."""

    def add(self, of: NDArray[np.int64], square: NDArray[np.float64], first: int) -> _Border:
        """Add the rows of a block; of equally far rows the first ones stay."""
        k = len(self.number)
        far = np.flatnonzero(square > self.square[of, -1])
        item = np.concatenate([np.repeat(np.arange(k), N_BORDER), of[far]])
        squares = np.concatenate([self.square.ravel(), square[far]])
        numbers = np.concatenate([self.number.ravel(), first + far])
        order = np.lexsort((numbers, -squares, item))
        start = np.searchsorted(item[order], np.arange(k))
        kept = order[start[:, None] + np.arange(N_BORDER)]
        return _Border(numbers[kept], squares[kept])
