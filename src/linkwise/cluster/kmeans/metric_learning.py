"""The iteration of MPCKMeans: labels, means and metrics are improved in turn.

Bilenko, Basu and Mooney (2004); see `linkwise.cluster.kmeans.mpckmeans`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.cluster.kmeans import icm
from linkwise.cluster.kmeans.icm import NamedRows, Prices
from linkwise.cluster.kmeans.metrics import (
    Metrics,
    drop_negative_parts,
    extreme_rows,
    farthest_pairs,
    invert_covariances,
    outer_sum,
    pair_distances,
    raw_scatter,
    reduce_metrics,
    scatter_about,
)
from linkwise.cluster.kmeans.penalised import PenalisedRun
from linkwise.cluster.metric.differences import constraint_prices
from linkwise.cluster.points import Centers
from linkwise.types import Labels

Array = NDArray[np.float64]

REPAIR = 1e-6  # of its trace is added to a covariance without a prior
ROUNDING = 1e-12  # of the variance of all rows: a trace below is that of one point


class MetricProblem(NamedTuple):
    """The parts of the problem that do not change while metrics are learned."""

    X: NDArray[Any]
    named: NamedRows
    differences: Array  # (p, d) of the rows of each pair, the must-links first
    must: Array  # the first part
    cannot: Array  # the other one
    w: float
    prior: Array  # scatter that draws each metric towards the plain one
    prior_rows: float
    extremes: Array  # rows among which the farthest pair is sought
    origin: Array  # mean of all rows: scatters are taken about it
    raw: Array | None  # scatter of all rows about the origin, where one metric serves all
    constant: NDArray[np.int64]  # features that are the same in all rows
    variance: float


class MetricSums(NamedTuple):
    """Labels, sums over their clusters, and the prices by which rows with constraints were settled."""

    labels: Labels
    sums: Array  # (k, d) of the rows less the origin
    counts: NDArray[np.int64]
    prices: Prices
    farthest: Array  # (g, d) differences of the farthest pairs


def make_metric_problem(
    X: NDArray[Any],
    named: NamedRows,
    metrics: Metrics,
    w: float,
    shrinkage: float,
    constant: NDArray[np.int64],
    variance: float,
) -> MetricProblem:
    """Make the problem of rows; `variance` is the mean one of the features that are not `constant`."""
    rows = X[named.rows].astype(np.float64)
    pairs = np.concatenate([named.must, named.cannot])
    differences = rows[pairs[:, 0]] - rows[pairs[:, 1]]
    must, cannot = np.split(differences, [len(named.must)])
    prior_rows = shrinkage * len(X) / len(metrics.maps)
    prior = np.full(X.shape[1], prior_rows * variance)
    prior = np.diag(prior) if metrics.full else prior
    origin = X.mean(axis=0, dtype=np.float64)
    every = np.zeros(len(X), dtype=np.int32)
    raw = raw_scatter(X, every, 1, metrics.full, origin) if len(metrics.maps) == 1 else None
    found = (prior, prior_rows, extreme_rows(X), origin, raw, constant, variance)
    return MetricProblem(X, named, differences, must, cannot, w, *found)


def learn_metrics(
    problem: MetricProblem,
    first: PenalisedRun,
    metrics: Metrics,
    stop: tuple[int, float],
    rng: np.random.Generator,
) -> tuple[PenalisedRun, Metrics]:
    """Alternate between labels, means and metrics until the means stop; `stop`: max_iter, squared shift."""
    centers, labels = first.centers, first.labels
    for n_iter in range(1, stop[0] + 1):
        clusters = assign_under_metrics(problem, rng, centers, metrics, labels)
        labels, used = clusters.labels, clusters.counts > 0
        moved = centers.copy()
        moved[used] = problem.origin + clusters.sums[used] / clusters.counts[used, None]
        metrics = _update_metrics(problem, clusters, moved, metrics)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if n_iter > 1 and shift <= stop[1]:  # the first labels are not yet by a learned metric
            break
    clusters = assign_under_metrics(problem, rng, centers, metrics, labels)
    objective = _objective(problem, clusters, centers, metrics)
    return PenalisedRun(clusters.labels, centers, objective, n_iter), metrics


def assign_under_metrics(
    problem: MetricProblem, rng: np.random.Generator, centers: Centers, metrics: Metrics, before: Labels
) -> MetricSums:
    """Assign rows to the nearest centre under the metrics, unless constraints make another one cheaper."""
    X, maps = problem.X, reduce_metrics(metrics, centers)
    offset = np.broadcast_to(-metrics.log_det, len(centers)).copy()
    farthest = farthest_pairs(problem.extremes, metrics)
    prices = _prices(problem, metrics, farthest)
    step = icm.order_step(problem.named, prices, rng)
    threads = parallel.n_threads()
    labels, sums, counts = native.assign_named_under(X, centers, maps, offset, step, before, threads)
    return MetricSums(labels, sums - counts[:, None] * problem.origin, counts, prices, farthest)


def _prices(problem: MetricProblem, metrics: Metrics, farthest: Array) -> Prices:
    """f_M and f_C of the paper, times the weights."""
    named, w = problem.named, problem.w
    span = np.diag(pair_distances(farthest, metrics))
    must, cannot = np.split(pair_distances(problem.differences, metrics), [len(problem.must)])
    gap = np.maximum(span - cannot, 0)
    return Prices(
        constraint_prices(named.must_weight[:, None], w * must),
        constraint_prices(named.cannot_weight[:, None], w * gap),
    )


def _update_metrics(
    problem: MetricProblem, clusters: MetricSums, centers: Centers, metrics: Metrics
) -> Metrics:
    """Compute the metrics of least objective for fixed labels and means (closed form)."""
    farthest = clusters.farthest
    scatter, rows = _sum_scatter(problem, clusters, centers, metrics)
    for h in range(len(scatter)):
        where = None if len(scatter) == 1 else h
        scatter[h] = _add_broken(problem, scatter[h], clusters.labels, farthest[h], where)
    if problem.prior_rows:
        covariance = (scatter + problem.prior) / rows.reshape(-1, *[1] * (scatter.ndim - 1))
    else:
        covariance = _repair(scatter / np.maximum(rows, 1).reshape(-1, *[1] * (scatter.ndim - 1)), problem)
    for c in problem.constant:  # log det must not count them
        covariance[(slice(None), *[c] * (covariance.ndim - 1))] = problem.variance
    return invert_covariances(covariance)


def _repair(covariance: Array, problem: MetricProblem) -> Array:
    """Add a share of its trace to each covariance; one of a single point takes the variance of all rows."""
    full = covariance.ndim == 3
    trace = np.trace(covariance, axis1=1, axis2=2) if full else covariance.sum(axis=1)
    added = np.where(trace > ROUNDING * problem.variance, REPAIR * trace, problem.variance)
    return covariance + (added[:, None, None] * np.eye(covariance.shape[1]) if full else added[:, None])


def _sum_scatter(
    problem: MetricProblem, clusters: MetricSums, centers: Centers, metrics: Metrics
) -> tuple[Array, Array]:
    """Sum the scatters of the clusters, and the number of rows behind each metric, prior included."""
    labels, sums, counts = clusters.labels, clusters.sums, clusters.counts
    if (raw := problem.raw) is None:
        raw = raw_scatter(problem.X, labels, len(centers), metrics.full, problem.origin)
    scatter = scatter_about(raw, sums, counts, centers - problem.origin)
    of_each = counts if len(scatter) > 1 else counts.sum(keepdims=True)
    return scatter, (of_each + problem.prior_rows).astype(np.float64)


def _add_broken(
    problem: MetricProblem, scatter: Array, labels: Labels, farthest: Array, cluster: int | None
) -> Array:
    """Add the terms of the broken constraints to the scatter of a cluster (None: of all clusters)."""
    named, w, full = problem.named, problem.w, scatter.ndim == 2
    settled = labels[named.rows]
    first, second = settled[named.must].T
    same, other = settled[named.cannot].T
    divided = first != second
    if divided.any():
        ends = 2 if cluster is None else (first == cluster) * 1 + (second == cluster)
        must = constraint_prices(named.must_weight, w / 2) * ends * divided
        scatter = scatter + outer_sum(problem.must[must > 0], must[must > 0], full)
    inside = same == other if cluster is None else (same == other) & (same == cluster)
    if not inside.any():
        return scatter
    cannot = constraint_prices(named.cannot_weight, w) * inside
    if not cannot.any():  # without a price
        return scatter
    taken = outer_sum(problem.cannot[cannot > 0], cannot[cannot > 0], full)
    return drop_negative_parts(scatter + outer_sum(farthest[None], cannot.sum(keepdims=True), full) - taken)


def _objective(problem: MetricProblem, clusters: MetricSums, centers: Centers, metrics: Metrics) -> float:
    scatter, rows = _sum_scatter(problem, clusters, centers, metrics)
    distances = (metrics.matrices * (scatter + problem.prior)).sum()
    paid = icm.price_paid(clusters.labels[problem.named.rows], problem.named, clusters.prices)
    return float(distances - (rows * metrics.log_det).sum() + paid)
