"""The clustering by constraints alone, when nobody can be asked.

Plain k-means with the number of clusters of the best silhouette. Then each cluster with rows that are known
to be apart is divided among them, and clusters with the same largest component become one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from linkwise.cluster.kmeans.lloyd import k_means
from linkwise.constraints.evidence import Evidence
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.super_instances import Partition, SuperInstance, group
from linkwise.rng import rng_at
from linkwise.types import Labels

MOST_CLUSTERS = 10
SILHOUETTE_ROWS = 2000


def cluster_by_constraints(X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
    """Cluster rows by k-means and the evidence."""
    groups = evidence.groups()
    group_of = np.full(len(X), -1)
    for number, rows in enumerate(groups.rows):
        group_of[rows] = number
    base = _cluster_by_silhouette(X, seed)
    clusters = (np.flatnonzero(base == j) for j in range(int(base.max()) + 1))
    parts = [part for rows in clusters for part in _divide_cluster(X, rows, group_of, groups.apart)]
    instances = [_make_instance(X, rows, group_of, at) for at, rows in enumerate(parts)]
    partition = Partition.of(instances, len(X))
    return enforce_answers(group(partition, evidence).labels(partition), evidence)


def _cluster_by_silhouette(X: NDArray[Any], seed: int) -> Labels:
    """K-means labels with k = 2 .. 10 by the best mean silhouette (of a sample, above 2 000 rows)."""
    from sklearn.metrics import silhouette_score

    sample = np.arange(len(X))
    if len(X) > SILHOUETTE_ROWS:
        sample = np.sort(rng_at(seed).choice(len(X), SILHOUETTE_ROWS, replace=False))
    best, best_score = np.zeros(len(X), dtype=np.int32), -np.inf
    for k in range(2, min(MOST_CLUSTERS, len(X) - 1) + 1):
        labels = k_means(X, k, (seed, k)).labels
        found = len(np.unique(labels[sample]))
        if 1 < found < len(sample):
            score = float(silhouette_score(X[sample], labels[sample]))
            if score > best_score:
                best, best_score = labels, score
    return best


def _divide_cluster(
    X: NDArray[Any], rows: NDArray[np.int64], group_of: NDArray[np.int64], apart: frozenset[tuple[int, int]]
) -> list[NDArray[np.int64]]:
    """The rows of one cluster, divided into as few parts as keep its groups apart; rows go to the nearest."""
    known = rows[group_of[rows] >= 0]
    groups, place = np.unique(group_of[known], return_inverse=True)
    position = {g: at for at, g in enumerate(groups.tolist())}
    cannot_links = [(position[a], position[b]) for a, b in apart if a in position and b in position]
    if not cannot_links:
        return [rows]
    counts = np.bincount(place)
    columns = [np.bincount(place, weights=column) for column in X[known].T]
    sums: NDArray[np.float64] = np.stack(columns, axis=1, dtype=np.float64)
    part = _assign_parts(sums, counts, cannot_links)
    nearest = part[cKDTree(sums / counts[:, None]).query(X[rows])[1]]
    nearest[np.searchsorted(rows, known)] = part[place]
    return [rows[nearest == j] for j in range(int(part.max()) + 1)]


def _assign_parts(
    sums: NDArray[np.float64], counts: NDArray[np.int64], cannot_links: list[tuple[int, int]]
) -> NDArray[np.int64]:
    """Part of every group: large ones first, each to the nearest part it may join, else a new one."""
    apart_from: dict[int, list[int]] = {}
    for a, b in cannot_links:
        apart_from.setdefault(a, []).append(b)
        apart_from.setdefault(b, []).append(a)
    part = np.full(len(sums), -1)
    totals, sizes = np.empty((0, sums.shape[1])), np.empty(0)
    for g in np.argsort(-counts, kind="stable").tolist():
        gap = ((totals / sizes[:, None] - sums[g] / counts[g]) ** 2).sum(axis=1)
        gap[[part[other] for other in apart_from.get(g, ()) if part[other] >= 0]] = np.inf
        if not (gap < np.inf).any():  # a new part, the nearest by far
            gap = np.append(gap, 0.0)
            totals, sizes = np.vstack([totals, np.zeros(sums.shape[1])]), np.append(sizes, 0)
        part[g] = gap.argmin()
        totals[part[g]] += sums[g]
        sizes[part[g]] += counts[g]
    return part


def _make_instance(
    X: NDArray[Any], rows: NDArray[np.int64], group_of: NDArray[np.int64], at: int
) -> SuperInstance:
    """The rows as a super-instance, represented by its largest group."""
    known = rows[group_of[rows] >= 0]
    representative = (
        rows[0] if len(known) == 0 else known[group_of[known] == np.bincount(group_of[known]).argmax()][0]
    )
    return SuperInstance((at,), rows, X[rows].mean(axis=0), int(representative), len(rows))
