"""Penalised k-means: minimise the objective of Basu, Banerjee and Mooney (2004) from given starts.

It is the sum of squared distances of the rows to the means of their clusters, plus the price of each
constraint that is broken. Without constraints it is plain k-means, to which methods fall back if it satisfies
more of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from linkwise import native, parallel
from linkwise.cluster import points
from linkwise.cluster.kmeans import icm
from linkwise.cluster.kmeans.icm import Labels, NamedRows, Prices
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints
from linkwise.rng import rng_at


class PenalisedRun(NamedTuple):
    """The result of one start."""

    labels: Labels
    centers: Centers
    objective: float
    n_iter: int


def run_penalised(
    X: Any,
    starts: list[Centers],
    named: NamedRows,
    prices: Prices,
    seed: int,
    max_iter: int,
    shift_bound: float,
) -> Iterator[PenalisedRun]:
    """Run each start until the squared shift of the centres is within the bound."""
    for i, start in enumerate(starts):
        yield _run(X, start, named, prices, rng_at(seed, i), max_iter, shift_bound)


def _run(
    X: Any,
    start: Centers,
    named: NamedRows,
    prices: Prices,
    rng: np.random.Generator,
    max_iter: int,
    shift_bound: float,
) -> PenalisedRun:
    """Alternate between labels and means until the means stop."""
    centers, labels = start, None
    for n_iter in range(1, max_iter + 1):  # noqa: B007  # its last value is returned
        step = _assign(X, centers, named, prices, labels, rng)
        labels = step.labels
        moved = _means(X, step, centers, named)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= shift_bound:
            break
    last = _assign(X, centers, named, prices, labels, rng)
    objective = float(last.squares.sum()) + icm.price_paid(last.labels[named.rows], named, prices)
    return PenalisedRun(last.labels, centers, objective, n_iter)


class _Step(NamedTuple):
    """Assigned rows, and their clusters."""

    labels: Labels
    squares: NDArray[np.float64]
    """(n,) squared distance to the centre of the cluster."""
    sums: Centers
    """(k, d) of the rows."""
    counts: NDArray[np.int64]


def _assign(
    X: Any,
    centers: Centers,
    named: NamedRows,
    prices: Prices,
    before: Labels | None,
    rng: np.random.Generator,
) -> _Step:
    """Assign rows to the nearest centre, unless constraints make another one cheaper."""
    if not issparse(X):
        step = icm.order_step(named, prices, rng)
        return _Step(*native.assign_named(X, centers, step, before, parallel.n_threads()))
    labels, squares = points.nearest_centers(X, centers)
    costs = points.squared_center_distances(X[named.rows], centers)
    first = (labels if before is None else before)[named.rows]
    settled = icm.improve_labels(costs, first, named, prices, rng)
    labels[named.rows] = settled
    squares[named.rows] = costs[np.arange(len(settled)), settled]
    return _Step(labels, squares, *points.cluster_sums(X, labels, len(centers)))


def _means(X: Any, step: _Step, centers: Centers, named: NamedRows) -> Centers:
    """Compute the means; an empty cluster takes the farthest row without constraints."""
    if step.counts.all():
        return step.sums / step.counts[:, None]
    movable = step.squares.copy()
    movable[named.rows] = 0
    ones = np.ones(len(step.labels), dtype=np.int64)
    labels = points.fill_empty_clusters(step.labels, movable, len(centers), ones)
    return points.cluster_means(X, labels, centers)


# ---------------------------------------------------------------- without constraints
def run_plain_k_means(X: Any, starts: list[Centers], max_iter: int, tol: float) -> PenalisedRun:
    """Run plain k-means from all starts; return the run of least inertia."""
    several = {len(start) for start in starts}  # fewer centres where rows beside given ones are alike
    stacked = [np.stack([start for start in starts if len(start) == k]) for k in sorted(several)]
    found = [points.run_lloyd(X, some, max_iter=max_iter, tol=tol) for some in stacked]
    runs = min(found, key=lambda one: float(one.inertia.min()))
    best = int(runs.inertia.argmin())
    labels, centers = runs.labels[best].copy(), runs.centers[best].copy()
    return PenalisedRun(labels, centers, float(runs.inertia[best]), int(runs.n_iter[best]))


def improve_by_plain(
    X: Any, constraints: Constraints, labels: Labels, starts: list[list[Centers]], max_iter: int, tol: float
) -> PenalisedRun | None:
    """Run plain k-means from several lists of starts; return it if it satisfies more weight than `labels`."""
    if is_satisfied(constraints, labels):
        return None
    reached = satisfied_weight(labels, constraints)
    runs = [run_plain_k_means(X, several, max_iter, tol) for several in starts]
    best = max(runs, key=lambda run: satisfied_weight(run.labels, constraints))
    return best if satisfied_weight(best.labels, constraints) > reached * (1 + 1e-12) else None


def is_satisfied(constraints: Constraints, labels: Labels) -> bool:
    """Whether a clustering satisfies all constraints."""
    total = constraints.must_link_weight.sum() + constraints.cannot_link_weight.sum()
    return bool(satisfied_weight(labels, constraints) >= total * (1 - 1e-12))


def satisfied_weight(labels: Labels, constraints: Constraints) -> float:
    """Sum the weights of the constraints that a clustering satisfies."""
    must, cannot = constraints.find_violations(labels)
    kept = constraints.must_link_weight[~must].sum() + constraints.cannot_link_weight[~cannot].sum()
    return float(kept)
