"""The validity index S_Dbw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_range, check_row_array
from linkwise.native.library import library


def s_dbw(
    X: NDArray[Any],
    labels: NDArray[np.int32],
    means: NDArray[np.float64],
    squares: NDArray[np.float64] | None,
    *,
    pooled: bool,
    n_threads: int,
) -> tuple[float, float]:
    """Compute scatter within clusters and density between them, see `linkwise.cluster.validity.s_dbw`.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    labels : (n,) int32
        Below k, each used; a negative one belongs to no cluster.
    means : (k, d) float64
        Of the clusters.
    squares : (n, k) float64, C-contiguous, or None
        Squared distances of every row to every mean, if known.
    pooled : bool
        Whether rows are near within sqrt(sum of the clusters' spreads) / k, or within the mean of their
        roots.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    scatter : float
        0 if all rows are identical.
    density : float
        Mean over pairs of clusters; 0 for one cluster.
    """
    check_row_array(X)
    check_array("labels", labels, (X.shape[0],), np.int32)
    check_array("means", means, (None, X.shape[1]))
    check_range("labels", labels, np.iinfo(np.int32).min, len(means) - 1)
    check_count("n_threads", n_threads)
    if squares is not None:
        check_array("squares", squares, (len(X), len(means)))
    return library.s_dbw(X, labels, means, squares, pooled, n_threads)
