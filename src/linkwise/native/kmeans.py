"""k-means: starts, Lloyd's iteration, Hartigan's moves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_row_array, check_stop, check_weight
from linkwise.native.library import library


class LloydRuns(NamedTuple):
    """The results of Lloyd's iteration from R starts."""

    labels: NDArray[np.int32]
    """(R, n) cluster of each row."""
    centers: NDArray[np.float64]
    """(R, k, d)."""
    inertia: NDArray[np.float64]
    """(R,) sum of squared distances of the rows to their centres."""
    n_iter: NDArray[np.int32]
    """(R,) iterations, counted as scikit-learn does."""


class TwoMeans(NamedTuple):
    """The result of Lloyd's iteration for two clusters."""

    labels: NDArray[np.uint8]
    """(n,) 0 or 1."""
    centers: NDArray[np.float64]
    """(2, d)."""
    inertia: float
    """Sum of squared distances of the rows to their centres."""
    n_iter: int
    """Iterations, counted as scikit-learn does."""


def lloyd(
    X: NDArray[Any],
    starts: NDArray[np.float64],
    max_iter: int,
    tol: float,
    n_threads: int,
    weight: NDArray[np.int64] | None = None,
) -> LloydRuns:
    """Run Lloyd's iteration from each given start.

    A run stops when no label changes, when the squared shift of all centres together is at most `tol`, or
    after `max_iter` iterations; in the last two cases labels are assigned once more, so they are always those
    of the nearest centre (of equals the lower index). An empty cluster gets the row farthest from its centre,
    from a cluster with other rows; if every row lies on its centre, the cluster stays empty and its centre
    does not move.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    starts : (R, k, d) float64, C-contiguous
        Centres to start from, R times.
    max_iter : int, at least 1
        Largest number of iterations.
    tol : float
        Absolute, in squared units of `X`.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    weight : (n,) int64, at least 1, or None, default=None
        Counts of the rows; by default 1. Copies move together.

    Returns
    -------
    LloydRuns
        The result of each start.

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM. Hamerly (2010), Making k-means even faster.
    """
    check_row_array(X)
    check_array("starts", starts, (None, None, X.shape[1]))
    check_stop(max_iter, n_threads)
    check_weight(weight, X)
    return LloydRuns(*library.lloyd(X, starts, max_iter, tol, n_threads, weight))


def two_means(
    X: NDArray[Any], start: NDArray[np.float64], max_iter: int, tol: float, n_threads: int
) -> TwoMeans:
    """Run Lloyd's iteration for two clusters; as `lloyd` with one start, but with labels of one byte.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    start : (2, d) float64, C-contiguous
        Centres to start from.
    max_iter : int, at least 1
        Largest number of iterations.
    tol : float
        Absolute, in squared units of `X`.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    TwoMeans
        The two clusters.
    """
    check_row_array(X)
    check_array("start", start, (2, X.shape[1]))
    check_stop(max_iter, n_threads)
    return TwoMeans(*library.two_means(X, start, max_iter, tol, n_threads))


def kmeans_plusplus(
    X: NDArray[Any],
    k: int,
    seeds: NDArray[np.uint64],
    n_candidates: int,
    n_threads: int,
    weight: NDArray[np.int64] | None = None,
    given: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Choose k rows to start from, once for each seed, by greedy k-means++.

    The first row is drawn uniformly. For each further one `n_candidates` rows are drawn in proportion to
    their squared distance from the rows chosen so far, and the one that leaves the smallest sum of squared
    distances is chosen. Random numbers come from SplitMix64.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    k : int, at least 1
        Number of centres or clusters.
    seeds : (R,) uint64
        One seed for each start.
    n_candidates : int, at least 1
        Draws per chosen row; scikit-learn takes ``2 + int(log(k))``.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    weight : (n,) int64, at least 1, or None, default=None
        Counts of the rows; by default 1.
    given : (g, d) float64, C-contiguous, or None, default=None
        Given centres; k further rows are drawn.

    Returns
    -------
    (R, k) int64
        Row indices, no two of them equal rows, none equal to a given centre. If `X` has fewer than k such
        rows, each occurs once and the remaining places hold -1.

    References
    ----------
    Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding.
    """
    check_row_array(X)
    check_array("seeds", seeds, (None,), np.uint64)
    check_count("k", k)
    check_count("n_candidates", n_candidates)
    check_count("n_threads", n_threads)
    check_weight(weight, X)
    if given is not None:
        check_array("given", given, (None, X.shape[1]))
    return library.kmeans_plusplus(X, k, seeds, n_candidates, n_threads, weight, given)


def exchange(
    X: NDArray[np.float64], labels: NDArray[np.int32], k: int, max_passes: int, n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Move rows to other clusters, one at a time, while the sum of squares falls.

    Parameters
    ----------
    X : (n, d) float64, C-contiguous
        The rows.
    labels : (R, n) int32, C-contiguous
        R clusterings, from each of which one run starts; labels 0..k-1, which need not all be there.
    k : int, at least 1
        Number of centres or clusters.
    max_passes : int, at least 1
        Largest number of passes over all rows; a run stops after a pass without a move.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    labels : (R, n) int32
        Improved labels.
    inertia : (R,) float64
        Sums of squared distances of the rows to the means of their clusters.

    References
    ----------
    Hartigan (1975), Clustering Algorithms. Telgarsky and Vattani (2010), Hartigan's method: k-means
    clustering without Voronoi.
    """
    check_array("X", X, (None, None))
    check_array("labels", labels, (None, len(X)), np.int32)
    for name, value in (("k", k), ("max_passes", max_passes), ("n_threads", n_threads)):
        check_count(name, value)
    least, most = int(labels.min()), int(labels.max())
    if least < 0 or most >= k:
        raise ValueError(f"labels must be from 0 to k - 1 = {k - 1}, got {least} to {most}")
    return library.exchange(X, labels, k, max_passes, n_threads)


def label_sums(
    X: NDArray[Any],
    labels: NDArray[np.int32],
    k: int,
    weight: NDArray[np.int64] | None,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sum the rows of each cluster.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    labels : (n,) int32
        Below k; a negative one belongs to no cluster.
    k : int, at least 1
        Number of centres or clusters.
    weight : (n,) int64, at least 1, or None
        Counts of the rows; by default 1.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (k, d) float64
        Sums; for many rows those of up to 64 blocks of rows, added in their order.
    (k,) int64
        Rows of each cluster.
    """
    check_row_array(X)
    check_array("labels", labels, (X.shape[0],), np.int32)
    check_count("k", k)
    check_count("n_threads", n_threads)
    check_weight(weight, X)
    if int(labels.max()) >= k:
        raise ValueError(f"labels must be below k = {k}, got {labels.max()}")
    return library.label_sums(X, labels, k, weight, n_threads)


class SharedRows(NamedTuple):
    """The rows that clusters of two clusterings share."""

    table: NDArray[np.int64]
    """(k, m) rows with each label of one and each of the other, from the lowest label to the highest."""
    low: tuple[int, int]
    """The lowest label of each."""


def shared_rows(
    one: NDArray[np.int32], other: NDArray[np.int32], most: int, n_threads: int
) -> SharedRows | None:
    """Count rows by their labels in two clusterings.

    Parameters
    ----------
    one, other : (n,) int32
        Labels of the rows.
    most : int
        Largest number of values of the table.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    SharedRows or None
        None if the table would be larger.
    """
    check_array("one", one, (None,), np.int32)
    check_array("other", other, (len(one),), np.int32)
    check_count("n_threads", n_threads)
    low, high = (int(one.min()), int(other.min())), (int(one.max()), int(other.max()))
    k, m = high[0] - low[0] + 1, high[1] - low[1] + 1
    if k * m > most:
        return None
    return SharedRows(library.count_pairs(one, other, *low, k, m, n_threads), low)
