"""What the validity index S_Dbw counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.kernels import _kernels
from linkwise.kernels._checks import check_array, check_count, check_range, check_rows


def label_scatter(
    X: NDArray[Any], labels: NDArray[np.int32], centers: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]:
    """Sum the squared deviations of the rows of each cluster from its centre, for each feature.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
    labels : (n,) int32
        Below k; a negative one belongs to no cluster.
    centers : (k, d) float64
    n_threads : int, at least 1

    Returns
    -------
    (k, d) float64
    """
    _check(X, labels, centers, n_threads)
    return _kernels.label_scatter(X, labels, centers, n_threads)


def density_counts(
    X: NDArray[Any],
    labels: NDArray[np.int32],
    centers: NDArray[np.float64],
    reach: float,
    squares: NDArray[np.float64] | None,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the rows of each cluster near centres and half-way between them.

    Parameters
    ----------
    X, labels, centers, n_threads
        As for `label_scatter`.
    reach : float
        Squared distance that is still near.
    squares : (n, k) float64, C-contiguous, or None
        Squared distances of every row to every centre, where they are known: X is not read then.

    Returns
    -------
    near : (k, k) int64
        [c, q]: rows of cluster c near centre q.
    between : (k, k) int64
        [c, q]: rows of cluster c near the middle of centres c and q.
    """
    _check(X, labels, centers, n_threads)
    if squares is not None:
        check_array("squares", squares, (len(X), len(centers)))
    return _kernels.density_counts(X, labels, centers, reach, squares, n_threads)


def _check(X: NDArray[Any], labels: NDArray[np.int32], centers: NDArray[np.float64], n_threads: int) -> None:
    check_rows(X)
    check_array("labels", labels, (X.shape[0],), np.int32)
    check_array("centers", centers, (None, X.shape[1]))
    check_range("labels", labels, np.iinfo(np.int32).min, len(centers) - 1)
    check_count("n_threads", n_threads)
