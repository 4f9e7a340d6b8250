"""Distances between rows and points, and nearest points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_row_array
from linkwise.native.library import library


def nearest_rows(
    X: NDArray[Any],
    labels: NDArray[np.int32],
    centers: NDArray[np.float64],
    allowed: NDArray[np.bool_] | None,
    n_threads: int,
) -> NDArray[np.int64]:
    """Find, for each centre, the nearest row with its label.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    labels : (n,) int32
        A label outside 0..k-1 (such as -1, noise) belongs to no centre.
    centers : (k, d) float64, C-contiguous
        Centres of the clusters.
    allowed : (n,) bool or None
        Rows that may be returned; all by default.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (k,) int64
        Row index, the lowest of equally near rows; -1 if no row qualifies.
    """
    check_row_array(X)
    check_array("labels", labels, (X.shape[0],), np.int32)
    check_array("centers", centers, (None, X.shape[1]))
    if allowed is not None:
        check_array("allowed", allowed, (X.shape[0],), np.bool_)
    check_count("n_threads", n_threads)
    return library.nearest_rows(X, labels, centers, allowed, n_threads)


def nearest_points(
    X: NDArray[Any], points: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find, for each row, the nearest of some points, and its squared distance.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    points : (k, d) float64, C-contiguous
        The points.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n,) int64
        Index of the point, the lowest of equally near points.
    (n,) float64
        Squared distances, summed in the order of the features, so that a row has distance 0 to itself.
    """
    check_row_array(X)
    check_array("points", points, (None, X.shape[1]))
    check_count("n_threads", n_threads)
    return library.nearest_points(X, points, n_threads)


def squared_distances(X: NDArray[Any], points: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    """Compute squared distances of every row to every point, summed as in `nearest_points`.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    points : (k, d) float64, C-contiguous
        The points.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n, k) float64
        One row for each row, one column for each centre or cluster.
    """
    check_row_array(X)
    check_array("points", points, (None, X.shape[1]))
    check_count("n_threads", n_threads)
    return library.squared_distances(X, points, n_threads)


def farthest_pairs(X: NDArray[np.float64], scales: NDArray[np.float64]) -> NDArray[np.int64]:
    """Find the two rows that are farthest apart under each of several diagonal metrics, on one thread.

    Parameters
    ----------
    X : (n, d) float64, C-contiguous
        The rows.
    scales : (g, d) float64, C-contiguous
        For each metric what features are multiplied by.

    Returns
    -------
    (g, 2) int64
        Row indices, the lower one first. Distances are those of `squared_distances`; of equal ones the first
        pair in the order of these indices counts. If all rows are equal, the first is paired with itself.
    """
    check_array("X", X, (None, None))
    check_array("scales", scales, (None, X.shape[1]))
    return library.farthest_pairs(X, scales)


def smallest_columns(table: NDArray[Any], k: int, n_threads: int) -> NDArray[np.int64]:
    """List the columns of the smallest values of each row.

    Parameters
    ----------
    table : (n, m) float32 or float64, C-contiguous
        The values.
    k : int, 1 to m
        Number of columns for each row.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n, k) int64
        The smallest first; of equal values the first column.
    """
    check_row_array(table)
    check_count("k", k)
    if k > table.shape[1]:
        raise ValueError(f"k must be at most {table.shape[1]}, the number of columns, got {k}")
    check_count("n_threads", n_threads)
    return library.smallest_columns(table, k, n_threads)
