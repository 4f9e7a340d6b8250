"""The second pass over a stream: each row is assigned to its nearest centre.

Sums are made and merged as in the first pass (`linkwise.large.passes`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.cluster.kmeans.lloyd import k_means_runs
from linkwise.errors import DataError
from linkwise.large import chunks
from linkwise.large.chunks import Chunk, RowStream, read_blocks
from linkwise.large.nearest import nearest_centers
from linkwise.large.passes import Scaling
from linkwise.large.ranges import map_blocks
from linkwise.large.reach import N_BINS, count_distances, find_limits, find_reach, find_unit
from linkwise.parallel import SERIAL_ENGINE, Engine

SAMPLE_PASSES = 10  # of k-means over the sample
N_BORDER = 3  # border rows of a group
GROUP = "linkwise group"  # column with the number of a group


class GroupCenters(NamedTuple):
    """Centres that rows are assigned to."""

    points: NDArray[np.float64]
    """(k, n_columns)"""
    unit: int
    """A power of 2 near the mean squared distance of rows (`linkwise.large.reach`)."""


def find_centers(sample: NDArray[Any], k: int, seed: tuple[int, ...]) -> GroupCenters:
    """Cluster a sample of scaled rows by k-means; of fewer distinct rows there are fewer centres."""
    runs = k_means_runs(sample, min(k, len(sample)), seed, 1, max_iter=SAMPLE_PASSES)
    return GroupCenters(runs.centers[0], find_unit(float(runs.inertia[0]) / len(sample)))


class GroupTotals(NamedTuple):
    """What the second pass finds, for each of k centres; `merge` leaves both as they are."""

    n_rows: int
    """Rows so far."""
    sizes: NDArray[np.int64]
    """(k,) rows that are nearest to each centre."""
    squares: NDArray[np.float64]
    """(k,) sums of their squared distances."""
    counts: NDArray[np.int64]
    """(k, N_BINS) numbers of rows by their squared distance (`linkwise.large.reach`)."""
    medoid: NDArray[np.int64]
    """(k,) number of the row nearest to each centre, of equals the first; -1 without rows."""
    least: NDArray[np.float64]
    """(k,) its squared distance."""
    rows: NDArray[np.float64]
    """(k, n_columns) that row as it is in the data."""
    far_rows: NDArray[np.float64]
    """(k, n_columns) the row farthest from each centre, as it is in the data."""
    ids: tuple[Any, ...] | None
    """(k,) the id of the nearest row, if rows have ids."""
    frame: Any
    """Both rows with all columns, a polars.DataFrame, if rows have such. `GROUP` is the number of the centre;
    with k added to it for the farthest row."""
    border: NDArray[np.int64]
    """(k, N_BORDER) numbers of the rows farthest from each centre, the farthest first; -1 in free places."""
    border_squares: NDArray[np.float64]
    """(k, N_BORDER) their squared distances."""

    @classmethod
    def start(cls, shape: tuple[int, ...]) -> GroupTotals:
        """Return the totals of no rows, for centres of some shape."""
        k = shape[0]
        return cls(
            0,
            np.zeros(k, dtype=np.int64),
            np.zeros(k),
            np.zeros((k, N_BINS), dtype=np.int64),
            np.full(k, -1),
            np.full(k, np.inf),
            np.zeros((k, shape[1])),
            np.zeros((k, shape[1])),
            None,
            None,
            np.full((k, N_BORDER), -1),
            np.full((k, N_BORDER), -1.0),
        )

    @classmethod
    def of(
        cls, block: Chunk, scaling: Scaling, centers: GroupCenters, chosen: NDArray[np.int64] | None = None
    ) -> GroupTotals:
        """Assign the rows of a block, or those that are `chosen`, to their nearest centres."""
        points, unit = centers
        if block.rows.shape[1] != points.shape[1]:
            raise DataError(
                f"The data have changed: they had {points.shape[1]} columns in the first pass, and now"
                f" {block.rows.shape[1]}. A function must return the same chunks each time it is called."
            )
        taken = np.arange(len(block.rows)) if chosen is None else chosen
        if not taken.size:
            return cls.start(points.shape)
        given = block.rows if chosen is None else np.ascontiguousarray(block.rows[chosen])
        free, k, scaled = cls.start(points.shape), len(points), scaling.apply(given)
        of, square = nearest_centers(scaled, points)
        nearest = native.nearest_rows(scaled, of.astype(np.int32), points, None, parallel.n_threads())
        border = _Border(free.border, free.border_squares).add(of, square, np.arange(len(of)))
        groups = np.flatnonzero(nearest >= 0)
        near, far = nearest[groups], border.number[groups, 0]
        medoid, least, rows, far_rows = free.medoid, free.least, free.rows, free.far_rows
        least[groups], medoid[groups] = square[near], block.first + taken[near]
        rows[groups], far_rows[groups] = given[near], given[far]
        frame = None
        if block.frame is not None:
            both = np.concatenate([taken[near], taken[far]])
            frame = _mark_groups(block.frame[both], np.concatenate([groups, k + groups]))
        return cls(
            len(given),
            np.bincount(of, minlength=k),
            np.bincount(of, square, k).astype(np.float64),
            count_distances(of, square, k, unit),
            medoid,
            least,
            rows,
            far_rows,
            None if block.ids is None else _place(block.ids[taken[near]], groups, k),
            frame,
            np.where(border.number >= 0, block.first + taken[border.number], -1),
            border.square,
        )

    def merge(self, more: GroupTotals) -> GroupTotals:
        """Add what was found in later rows."""
        k, is_better = len(self.sizes), more.least < self.least
        is_farther = more.border_squares[:, 0] > self.border_squares[:, 0]
        border = _Border(self.border, self.border_squares).add(
            np.repeat(np.arange(k), N_BORDER), more.border_squares.ravel(), more.border.ravel()
        )
        replaced = np.concatenate([np.flatnonzero(is_better), k + np.flatnonzero(is_farther)])
        return GroupTotals(
            self.n_rows + more.n_rows,
            self.sizes + more.sizes,
            self.squares + more.squares,
            self.counts + more.counts,
            np.where(is_better, more.medoid, self.medoid),
            np.where(is_better, more.least, self.least),
            np.where(is_better[:, None], more.rows, self.rows),
            np.where(is_farther[:, None], more.far_rows, self.far_rows),
            _merge_ids(self.ids, more.ids, is_better),
            _merge_frames(self.frame, more.frame, replaced),
            border.number,
            border.square,
        )

    def limits(self, centers: GroupCenters, typical: float | None = None) -> NDArray[np.float64]:
        """Find how far from each centre a row fits its group."""
        reach = find_reach(self.counts, self.border_squares[:, 0], centers.unit)
        return find_limits(reach, self.sizes, centers.points, typical)


def _place(ids: NDArray[Any], groups: NDArray[np.int64], k: int) -> tuple[Any, ...]:
    found: list[Any] = [None] * k
    for group, name in zip(groups.tolist(), ids, strict=True):
        found[group] = name
    return tuple(found)


def _mark_groups(rows: Any, groups: NDArray[np.int64]) -> Any:
    import polars as pl

    return rows.with_columns(pl.Series(GROUP, groups))


def _merge_ids(
    ids: tuple[Any, ...] | None, more: tuple[Any, ...] | None, is_better: NDArray[np.bool_]
) -> tuple[Any, ...] | None:
    if ids is None or more is None:
        return more if ids is None else ids
    return tuple(b if better else a for a, b, better in zip(ids, more, is_better.tolist(), strict=True))


def _merge_frames(frame: Any, more: Any, replaced: NDArray[np.int64]) -> Any:
    """Replace the rows with some numbers in `GROUP`."""
    import polars as pl

    if frame is None or more is None:
        return more if frame is None else frame
    is_replaced = pl.col(GROUP).is_in(replaced.tolist())
    return pl.concat([frame.filter(~is_replaced), more.filter(is_replaced)])


def collect_groups(
    stream: RowStream,
    scaling: Scaling,
    centers: GroupCenters,
    step: Callable[[], object],
    engine: Engine = SERIAL_ENGINE,
) -> GroupTotals:
    """Assign each row to its nearest centre, in scaled units, and collect what is known of its rows.

    Call `step` after each block.
    """
    totals = GroupTotals.start(centers.points.shape)
    work = partial(GroupTotals.of, scaling=scaling, centers=centers)
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
        group = np.concatenate([np.repeat(np.arange(k), N_BORDER), of[far]])
        squares = np.concatenate([self.square.ravel(), square[far]])
        numbers = np.concatenate([self.number.ravel(), number[far]])
        order = np.lexsort((numbers, -squares, group))
        start = np.searchsorted(group[order], np.arange(k))
        kept = order[start[:, None] + np.arange(N_BORDER)]
        return _Border(numbers[kept], squares[kept])
