"""Compute the mean silhouette (Rousseeuw 1987) of several clusterings of the same rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_score
from sklearn.utils import check_array

NOISE = -1
SHARED_ROWS = 4000  # up to which all distances are computed once and kept


def silhouette_scorer(X: ArrayLike) -> Callable[[ArrayLike], float]:
    """Make a function that scores several clusterings of the same rows by their mean silhouette.

    Noise (-1) is ignored. Fewer than two clusters score -1, the worst value; if every row is a cluster of its
    own, all silhouettes are 0.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    callable
        ``score(labels)``, from -1 to 1.
    """
    points = check_array(X, dtype=np.float64)
    distances = cdist(points, points) if len(points) <= SHARED_ROWS else None

    def score(labels: ArrayLike) -> float:
        given = np.asarray(labels)
        kept = np.flatnonzero(given != NOISE)
        found = len(np.unique(given[kept]))
        if found < 2:
            return -1.0
        if found == len(kept):
            return 0.0
        if distances is None:
            return float(silhouette_score(points[kept], given[kept]))
        apart = distances if len(kept) == len(points) else distances[np.ix_(kept, kept)]
        return float(silhouette_score(apart, given[kept], metric="precomputed"))

    return score
