"""Assign rows that a clustering has not seen, by the rule of its algorithm.

k-means assigns the cluster of the nearest centre. DBSCAN assigns the cluster of the nearest core row within
eps; a row beyond is noise, but a copy of a clustered row gets its label. All other algorithms assign the
cluster of the nearest row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from linkwise import native
from linkwise.select.clusterings import DBSCAN, GAUSSIAN, K_MEANS, assign_noise
from linkwise.select.pool import Candidate, Pool
from linkwise.types import Labels

NOISE = -1
CENTRE = "nearest centre"
TOLERANCE = 1e-4  # of the mean variance: squared shift of the centres at which k-means on all rows ends
MAX_ITER = 300
REMEMBERED = 8  # clusterings of all rows, where only a sample was clustered
BLOCK = 512  # rows whose distances to all others are held at once


class WithinRadius(NamedTuple):
    """Points whose cluster all rows within a distance belong to."""

    points: NDArray[np.float64]
    """(k, d)."""
    labels: NDArray[np.int32]
    """(k,)."""
    square: float
    """Of the distance."""
    rows: NDArray[np.int64]
    """(k,) their numbers among the base rows of a pool; empty if they are no such rows."""


class AssignmentRule(NamedTuple):
    """The rule that assigns rows to clusters."""

    how: str
    """In words."""
    near: tuple[WithinRadius, ...]
    """One after the other, the first that reaches."""
    otherwise: int
    """Cluster of the rows that none reaches."""

    def __call__(self, X: NDArray[Any], n_threads: int) -> Labels:
        """Assign the rows of X to clusters, shape (n_rows,)."""
        found: Labels = np.full(len(X), self.otherwise, dtype=np.int32)
        left = np.arange(len(X))
        for points, labels, square, _ in self.near:
            if len(left) and len(points):
                nearest, squares = native.nearest_points(
                    np.ascontiguousarray(X[left]), np.ascontiguousarray(points), n_threads
                )
                reached = squares <= square
                found[left[reached]] = labels[nearest[reached]]
                left = left[~reached]
        return found

    def label_followers(
        self, X: NDArray[Any], base: NDArray[np.float64], of: NDArray[np.int32], n_threads: int
    ) -> Labels:
        """Assign rows whose nearest base row is known, with no search where it is one of the last points."""
        last = self.near[-1]
        if not len(last.rows):
            return self(X, n_threads)
        place = np.full(len(base), -1)
        place[last.rows] = np.arange(len(last.rows))
        at, square = place[of], _squares_to_own(X, base, of)
        known = (at >= 0) & (square > 0)  # a row equal to a base row may be one of the first points
        found: Labels = np.where(square <= last.square, last.labels[at], self.otherwise).astype(np.int32)
        found[~known] = self(X[~known], n_threads)
        return found


def find_rule(pool: Pool, number: int, X: NDArray[Any], n_threads: int) -> AssignmentRule:
    """Find the rule of one of the clusterings of a pool, from the rows of the pool."""
    base = X[pool.base_rows].astype(np.float64)
    labels = pool.labels[number].astype(np.int32)
    maker = pool.makers[number]
    if maker.algorithm == K_MEANS:
        return _make_center_rule(_means(base, labels, pool.weight))
    if (
        maker.algorithm == DBSCAN and "minPts" in maker.parameters
    ):  # ours, not an added clusterer of that name
        return _make_dbscan_rule(pool, base, labels, maker.parameters, n_threads)
    return nearest_row_rule(pool.base_rows, X, labels)


def nearest_row_rule(rows: NDArray[np.int64], X: NDArray[Any], labels: Labels) -> AssignmentRule:
    """Make the rule that assigns the cluster of the nearest one of some labelled rows."""
    near = WithinRadius(X[rows].astype(np.float64), labels, np.inf, np.arange(len(rows)))
    return AssignmentRule("nearest row", (near,), NOISE)


def label_all_rows(
    pool: Pool, number: int, X: NDArray[Any], n_threads: int
) -> tuple[Labels, AssignmentRule, str | None]:
    """Label all rows by one clustering of a pool; return labels, rule and what is approximate.

    If a sample was clustered, k-means continues on all rows; for other algorithms the rule assigns the other
    rows.
    """
    rule = find_rule(pool, number, X, n_threads)
    by_landmarks = _used_landmarks(pool.makers[number])
    if not pool.sampled:
        return pool.clustering(number), rule, by_landmarks
    of_sample = f"chosen on a sample of {len(pool.base_rows)} of {len(X)} rows"
    if rule.how == CENTRE:
        (near,) = rule.near
        tol = TOLERANCE * float(X.var(axis=0, dtype=np.float64).mean())
        runs = native.lloyd(X, near.points[None], MAX_ITER, tol, n_threads)
        return (
            runs.labels[0],
            _make_center_rule(runs.centers[0]),
            f"{of_sample}; k-means then ran on all rows",
        )
    base = X[pool.base_rows].astype(np.float64)
    found = rule.label_followers(X, base, pool.base, n_threads)
    labels = assign_noise(X, found, pool.noise).astype(np.int32)
    others = f"the other rows are in the cluster of the {rule.how}"
    return labels, rule, "; ".join(filter(None, [of_sample, by_landmarks, others]))


def _used_landmarks(maker: Candidate) -> str | None:
    if maker.algorithm != GAUSSIAN or "landmarks" not in maker.parameters:
        return None
    return f"its graph is known by {maker.parameters['landmarks']} landmarks"


def remember_all_rows(pool: Pool, X: NDArray[Any], n_threads: int) -> Callable[[int], Labels]:
    """Make a function that labels all rows by a clustering of a pool, with a cache of the last ones."""
    if not pool.sampled:
        return pool.clustering
    return lru_cache(REMEMBERED)(lambda number: label_all_rows(pool, number, X, n_threads)[0])


def _make_center_rule(centers: NDArray[np.float64]) -> AssignmentRule:
    """Make the rule of the nearest centre."""
    clusters, no_rows = np.arange(len(centers), dtype=np.int32), np.empty(0, dtype=np.int64)
    return AssignmentRule(CENTRE, (WithinRadius(centers, clusters, np.inf, no_rows),), NOISE)


def _means(
    base: NDArray[np.float64], labels: NDArray[np.int32], weight: NDArray[np.int64]
) -> NDArray[np.float64]:
    of_cluster = (labels == np.arange(labels.max() + 1)[:, None]) * weight
    means: NDArray[np.float64] = of_cluster @ base / of_cluster.sum(axis=1, keepdims=True)
    return means


def _make_dbscan_rule(
    pool: Pool,
    base: NDArray[np.float64],
    labels: NDArray[np.int32],
    parameters: dict[str, Any],
    n_threads: int,
) -> AssignmentRule:
    square = parameters["eps"] ** 2
    core = _count_neighbours(base, square, pool.weight) >= parameters["minPts"]
    of_core, noise = np.flatnonzero(core), np.flatnonzero(~core)
    cores = WithinRadius(base[core], labels[core], square, of_core)
    others = WithinRadius(base[~core], labels[~core], 0.0, noise)
    if core.any():
        noise = noise[native.nearest_points(base, cores.points, n_threads)[1][noise] > square]
    near = (others, cores._replace(square=np.inf) if pool.noise == "nearest" else cores)
    as_one = len(noise) > 0 and pool.noise == "cluster"
    return AssignmentRule("nearest core row within eps", near, int(labels[noise[0]]) if as_one else NOISE)


def _squares_to_own(X: NDArray[Any], base: NDArray[np.float64], of: NDArray[np.int32]) -> NDArray[np.float64]:
    """Squared distance of each row to its base row, summed as in `native.nearest_points`."""
    sums = np.zeros(len(X))
    for feature in range(X.shape[1]):
        sums += (X[:, feature] - base[of, feature]) ** 2
    return sums


def _count_neighbours(
    base: NDArray[np.float64], square: float, weight: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Sum the weights within a radius of each row, itself included."""
    counts = [
        (cdist(base[start : start + BLOCK], base, "sqeuclidean") <= square) @ weight
        for start in range(0, len(base), BLOCK)
    ]
    return np.concatenate(counts)
