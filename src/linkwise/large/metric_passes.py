"""Continue MPCKMeans with diagonal metrics on all rows of a stream, from what it found on a sample.

The rows that constraints name are assigned by the same code as in `MPCKMeans`, which needs few sums over all
rows: of the rows of each cluster, and of their squares where each has a metric of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.kmeans import icm
from linkwise.cluster.kmeans.components import add_implied
from linkwise.cluster.kmeans.metric_learning import (
    MetricProblem,
    MetricSums,
    RowTotals,
    learn_metrics,
    make_metric_problem,
    settle_under_metrics,
)
from linkwise.cluster.kmeans.metrics import Metrics, spherical_metrics
from linkwise.cluster.kmeans.mpckmeans import MPCKMeans
from linkwise.cluster.kmeans.penalised import PenalisedRun
from linkwise.cluster.points import Centers
from linkwise.large import chunks
from linkwise.large.center_passes import Assignment, add_clusters
from linkwise.large.chunks import Chunk, read_blocks
from linkwise.large.passes import Scaling
from linkwise.large.ranges import map_blocks
from linkwise.large.stream_runs import RowSource, StreamRun, run_plain_passes
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at
from linkwise.types import Labels

WIDEST = 64  # features among whose extreme rows the farthest pair is sought


class StreamStart(NamedTuple):
    """Where the iteration on all rows begins."""

    centers: Centers
    metrics: Metrics
    labels: Labels
    """(m,) of the rows that constraints name."""


def refine_mpckmeans(
    source: RowSource, model: MPCKMeans, start: StreamStart, seed: int, step: Callable[[int], object]
) -> StreamRun:
    """Alternate between labels, means and metrics of all rows until the means stop.

    Parameters
    ----------
    source : RowSource
        The rows.
    model : MPCKMeans
        Fitted to a sample. If plain k-means satisfied more constraints there, this runs plain k-means.
    start : StreamStart
        The result of the model on the sample.
    seed : int
        Seed of the order in which rows with constraints move.
    step : callable
        Called after each pass with the number of passes.
    """
    d, mean_variance = len(source.mean), float(source.variance.mean())
    extremes = _find_extremes(source)
    constant = np.flatnonzero(extremes.low == extremes.high)
    varying = max(1, d - len(constant))
    variance = mean_variance * d / varying or 1.0
    bound = model.tol * variance * varying / d
    if model.fell_back_ or source.constraints.n_constraints == 0:
        run = run_plain_passes(source, start.centers, (model.max_iter, bound), step)
        plain = spherical_metrics("diagonal", d, len(start.centers) if model.per_cluster else 1, variance)
        return run._replace(metrics=plain)
    constraints = add_implied(source.constraints) if model.implied else source.constraints
    named = icm.find_named_rows(source.named, constraints, source.mean[None])
    if not model.component_moves:
        named = icm.separate_rows(named)
    raw = None if model.per_cluster else source.n_rows * source.variance[None]
    totals = RowTotals(source.n_rows, source.mean, raw, extremes.rows, constant, variance)
    first = PenalisedRun(start.labels, start.centers, 0.0, 0)
    with one_blas_thread():
        problem = make_metric_problem(source.named, named, start.metrics, model.w, model.shrinkage, totals)
        assign = partial(_assign, source, problem, rng_at(seed, 0), _Counter(step))
        best, metrics, sums = learn_metrics(problem, first, start.metrics, (model.max_iter, bound), assign)
    return StreamRun(best.centers, best.labels, sums.counts, best.objective, best.n_iter, metrics)


def _assign(
    source: RowSource,
    problem: MetricProblem,
    rng: np.random.Generator,
    step: Callable[[], object],
    centers: Centers,
    metrics: Metrics,
    before: Labels,
) -> MetricSums:
    """Assign all rows: those that constraints name in memory, the others in one pass."""
    labels, origin = before.copy(), problem.origin
    labels[problem.named.rows], prices, farthest = settle_under_metrics(
        problem, rng, centers, metrics, before
    )
    assignment = Assignment(source.scaling, centers, source.numbers, labels, metrics)
    around = origin if problem.raw is None else None
    totals = add_clusters(source.stream, assignment, source.engine, around)
    step()
    sums = totals.sums - totals.counts[:, None] * origin
    return MetricSums(labels, sums, totals.counts, prices, farthest, totals.scatter)


class _Counter:
    """Counts the passes."""

    def __init__(self, step: Callable[[int], object]) -> None:
        self._step, self._n = step, 0

    def __call__(self) -> None:
        self._n += 1
        self._step(self._n)


class _Extremes(NamedTuple):
    """Least and greatest values of rows, and the first rows that have them in the widest columns."""

    low: NDArray[np.float32]
    """(n_columns,)"""
    high: NDArray[np.float32]
    numbers: NDArray[np.int64]
    """(2 w,) rows with the least and the greatest values of w columns."""
    values: NDArray[np.float32]
    """(2 w, n_columns) these rows."""

    @classmethod
    def of(cls, block: Chunk, scaling: Scaling, widest: NDArray[np.int64]) -> _Extremes:
        rows = scaling.apply(block.rows)
        part = rows[:, widest]
        at = np.r_[part.argmin(axis=0), part.argmax(axis=0)]
        return cls(rows.min(axis=0), rows.max(axis=0), block.first + at, rows[at])

    def merge(self, more: _Extremes, widest: NDArray[np.int64]) -> _Extremes:
        """Add those of later rows."""
        is_lower, is_higher = more.low[widest] < self.low[widest], more.high[widest] > self.high[widest]
        is_new = np.r_[is_lower, is_higher]
        return _Extremes(
            np.minimum(self.low, more.low),
            np.maximum(self.high, more.high),
            np.where(is_new, more.numbers, self.numbers),
            np.where(is_new[:, None], more.values, self.values),
        )

    @property
    def rows(self) -> NDArray[np.float64]:
        """Return the rows, each once, in their order."""
        return self.values[np.unique(self.numbers, return_index=True)[1]].astype(np.float64)


def _find_extremes(source: RowSource) -> _Extremes:
    """Find the extreme rows of the widest columns, as `linkwise.cluster.kmeans.metrics.extreme_rows`."""
    widest = np.argsort(-source.variance, kind="stable")[:WIDEST]
    work = partial(_Extremes.of, scaling=source.scaling, widest=widest)
    read, lengths = partial(read_blocks, source.stream), source.stream.lengths()
    found: _Extremes | None = None
    for each in map_blocks(read, work, lengths, 0, chunks.BLOCK, source.engine):
        found = each if found is None else found.merge(each, widest)
    assert found is not None  # a stream without rows raises
    return found
