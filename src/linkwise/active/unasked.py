"""The clustering that constraints alone give, when nobody can be asked.

Plain k-means with the number of clusters of the best silhouette; then each cluster that holds rows
known to be apart is divided among them, and clusters that must-links join become one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from linkwise.active.super_instances import Partition, SuperInstance, group
from linkwise.cluster.common.kmeans import k_means
from linkwise.evidence import Evidence
from linkwise.learner import Labels, respecting, rng_at

MOST_CLUSTERS = 10
SILHOUETTE_ROWS = 2000


def unasked(X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
    """Labels from k-means and the evidence.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    evidence : Evidence
    seed : int

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    base = _by_silhouette(X, seed)
    parts = [p for j in range(int(base.max()) + 1) for p in _divided(X, np.flatnonzero(base == j), evidence)]
    instances = [_instance(X, rows, at) for at, rows in enumerate(parts)]
    partition = Partition.of(instances, len(X))
    return respecting(group(X, partition, evidence).labels(partition), evidence)


def _by_silhouette(X: NDArray[Any], seed: int) -> Labels:
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


def _divided(X: NDArray[Any], rows: NDArray[np.int64], evidence: Evidence) -> list[NDArray[np.int64]]:
    """The rows of one cluster, divided by the nearest group when some of its groups are apart."""
    said = evidence.groups()
    here = [(g, np.intersect1d(rows, of, assume_unique=True)) for g, of in enumerate(said.rows)]
    here = [(g, of) for g, of in here if len(of)]
    numbers = [g for g, _ in here]
    if not any((a, b) in said.apart for a in numbers for b in numbers):
        return [rows]
    nearest = cdist(X[rows], np.array([X[of].mean(axis=0) for _, of in here])).argmin(axis=1)
    for j, (_, of) in enumerate(here):
        nearest[np.searchsorted(rows, of)] = j
    return [rows[nearest == j] for j in range(len(here))]


def _instance(X: NDArray[Any], rows: NDArray[np.int64], at: int) -> SuperInstance:
    return SuperInstance((at,), rows, X[rows].mean(axis=0), int(rows[0]), len(rows))
