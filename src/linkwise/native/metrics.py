"""Distances of rows to centres under learned metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_row_array
from linkwise.native.library import library


def metric_distances(
    X: NDArray[Any], centers: NDArray[np.float64], maps: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]:
    """Compute squared distances of every row to every centre after linear maps: ``|L (x - centre)|²``.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    centers : (k, d) float64
        Centres of the clusters.
    maps : (1 or k, d) or (1 or k, r, d) float64
        L of all centres, or of each: a factor for each feature, or a matrix.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n, k) float64
        One row for each row, one column for each centre or cluster.
    """
    _check(X, centers, maps, n_threads)
    return library.metric_distances(X, centers, maps, n_threads)


def metric_nearest(
    X: NDArray[Any],
    centers: NDArray[np.float64],
    maps: NDArray[np.float64],
    offset: NDArray[np.float64],
    n_threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Find the centre of least squared distance (see `metric_distances`) plus offset for each row.

    Parameters
    ----------
    X, centers, maps, n_threads
        As for `metric_distances`.
    offset : (k,) float64
        Added to the squared distances to each centre.

    Returns
    -------
    (n,) int32
        Index of the centre, the lowest of equals.
    (n,) float64
        Squared distance plus offset.
    """
    _check(X, centers, maps, n_threads)
    check_array("offset", offset, (len(centers),))
    return library.metric_nearest(X, centers, maps, offset, n_threads)


def _check(X: NDArray[Any], centers: NDArray[np.float64], maps: NDArray[np.float64], n_threads: int) -> None:
    check_row_array(X)
    check_array("centers", centers, (None, X.shape[1]))
    rows = () if np.ndim(maps) < 3 else (None,)
    check_array("maps", maps, (1 if np.shape(maps)[:1] == (1,) else len(centers), *rows, X.shape[1]))
    check_count("n_threads", n_threads)
