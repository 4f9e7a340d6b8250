"""Continue PCKMeans on all rows of a stream, from the centres that it found on a sample.

Each iteration assigns the rows that constraints name in memory, by the same code as `PCKMeans`, and all other
rows in one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.learner import Labels, rng_at
from linkwise.cluster import points
from linkwise.cluster.kmeans import icm
from linkwise.cluster.kmeans.pckmeans import PCKMeans
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import Engine
from linkwise.streams.center_passes import Assignment, ClusterTotals, add_clusters, find_means
from linkwise.streams.chunks import RowStream
from linkwise.streams.passes import Scaling


class RowSource(NamedTuple):
    """All rows, and those that constraints name."""

    stream: RowStream
    scaling: Scaling
    mean: NDArray[np.float64]
    """(n_columns,) of all rows, in scaled units."""
    variance: NDArray[np.float64]
    """(n_columns,) of all rows, in scaled units."""
    numbers: NDArray[np.int64]
    """(m,) numbers of the rows that constraints name, ascending."""
    named: NDArray[np.float32]
    """(m, n_columns) these rows, scaled."""
    constraints: Constraints
    """Between positions in `named`."""
    engine: Engine


class StreamRun(NamedTuple):
    """Centres of all rows, and the labels of the rows that constraints name."""

    centers: Centers
    labels: Labels
    """(m,)"""
    sizes: NDArray[np.int64]
    """(k,) rows of each cluster; none is empty."""
    objective: float
    n_iter: int


def refine_pckmeans(
    source: RowSource, model: PCKMeans, seed: int, step: Callable[[int], object]
) -> StreamRun:
    """Alternate between labels and means of all rows until the means stop.

    Parameters
    ----------
    source : RowSource
        The rows.
    model : PCKMeans
        Fitted to a sample. If plain k-means satisfied more constraints there, this runs plain k-means. Its
        `w_` becomes the price in all rows.
    seed : int
        Seed of the order in which rows with constraints move.
    step : callable
        Called after each pass with the number of passes.
    """
    variance = float(source.variance.mean())
    if model.w == "scale":
        model.w_ = variance * len(source.mean)
    assign = _make_settler(source, model, seed)
    centers: Centers = model.cluster_centers_
    labels: Labels | None = None
    for n_iter in range(1, model.max_iter + 1):
        labels = assign(centers, labels)
        assignment = Assignment(source.scaling, centers, source.numbers, labels)
        totals = add_clusters(source.stream, assignment, source.engine)
        step(n_iter)
        moved = find_means(source.stream, assignment, totals, source.engine)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= model.tol * variance:
            break
    labels = assign(centers, labels)
    last = Assignment(source.scaling, centers, source.numbers, labels)
    totals = add_clusters(source.stream, last, source.engine)
    step(n_iter + 1)
    return _compact(
        StreamRun(centers, labels, totals.counts, _find_objective(source, model, totals, labels), n_iter)
    )


def _make_settler(
    source: RowSource, model: PCKMeans, seed: int
) -> Callable[[Centers, Labels | None], Labels]:
    """Return a function that labels the rows that constraints name, given centres and their last labels."""
    named, constraints = source.named, source.constraints
    if model.fell_back_ or constraints.n_constraints == 0:
        return lambda centers, _: _find_nearest(named, centers)
    ends = icm.find_named_rows(named, constraints, source.mean[None])
    prices, rng = icm.equal_prices(ends, model.w_), rng_at(seed, 0)

    def settle(centers: Centers, before: Labels | None) -> Labels:
        first = _find_nearest(named, centers) if before is None else before
        costs = points.squared_center_distances(named[ends.rows], centers)
        labels = np.empty(len(named), dtype=np.int32)
        labels[ends.rows] = icm.settle(costs, first[ends.rows], ends, prices, rng)
        return labels

    return settle


def _find_nearest(rows: NDArray[np.float32], centers: Centers) -> Labels:
    return points.nearest_centers(rows, centers)[0] if len(rows) else np.empty(0, dtype=np.int32)


def _find_objective(source: RowSource, model: PCKMeans, totals: ClusterTotals, labels: Labels) -> float:
    must, cannot = source.constraints.find_violations(labels) if len(labels) else (np.zeros(0, bool),) * 2
    if not (must.any() or cannot.any()):
        return totals.inertia
    ends = icm.find_named_rows(source.named, source.constraints, source.mean[None])
    return totals.inertia + icm.price_paid(labels[ends.rows], ends, icm.equal_prices(ends, model.w_))


def _compact(run: StreamRun) -> StreamRun:
    """Leave out empty clusters."""
    used = run.sizes > 0
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return run._replace(centers=run.centers[used], labels=number[run.labels], sizes=run.sizes[used])
