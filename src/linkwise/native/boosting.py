"""Constrained k-means with priorities, and kernel k-means on the consensus of several clusterings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import (
    check_array,
    check_count,
    check_range,
    check_row_array,
    check_stop,
)
from linkwise.native.library import library

MOST_CENTERS = 65535  # whose numbers have two bytes, and one number is for none


class TwoNearest(NamedTuple):
    """The two nearest centres of every row."""

    best: NDArray[np.int32]
    """(n,) the nearest one, the lower number among equals."""
    second: NDArray[np.int32]
    """(n,) the next one; the same where there is one centre only."""
    square: NDArray[np.float64]
    """(n,) squared distance to the nearest."""


def two_nearest(X: NDArray[Any], centers: NDArray[np.float64], n_threads: int) -> TwoNearest:
    """Find the two nearest centres of every row.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    centers : (k, d) float64, C-contiguous
        Centres of the clusters.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    TwoNearest
        Their positions and squared distances.
    """
    check_row_array(X)
    check_array("centers", centers, (None, X.shape[1]))
    check_count("n_threads", n_threads)
    return TwoNearest(*library.two_nearest(X, centers, n_threads))


def assign_by_priority(
    near: TwoNearest, pairs: NDArray[np.int32], must: NDArray[np.uint8], order: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Assign rows to clusters: first those with constraints, pair by pair, then all others.

    Two rows of a must-link without a cluster both get the nearest centre of the row that is nearer to it. Two
    rows of a cannot-link each get their nearest centre; if it is the same, the nearer row gets it and the
    other row its second. If only one row has a cluster, the other follows it, or gets the nearest other
    centre. If both have one, nothing changes.

    Parameters
    ----------
    near : TwoNearest
        The two nearest centres of every row.
    pairs : (s, 2) int32, C-contiguous
        Rows, the lower one first, which wins ties of distance.
    must : (s,) uint8
        1 for a must-link, 0 for a cannot-link.
    order : (s,) int32
        The order of the pairs, each once.

    Returns
    -------
    (n,) int32
        Cluster of each row.
    (s,) uint8
        1 if a constraint is broken.

    References
    ----------
    Okabe and Yamada (2018), Clustering using boosted constrained k-means algorithm, Algorithm 2.
    """
    _check_pairs(pairs, must, order, len(near.best))
    return library.assign_by_priority(*near, pairs, must, order)


def order_descending(values: NDArray[np.float64], given: NDArray[np.int64]) -> NDArray[np.int32]:
    """Order places by their values, the greatest first.

    Parameters
    ----------
    values : (s,) float64, no NaN
        The value of each place.
    given : (s,) int64
        The places, each once; those of equal values keep this order.

    Returns
    -------
    (s,) int32
        The places.
    """
    check_array("values", values, (len(values),))
    check_array("given", given, values.shape, np.int64)
    return library.order_descending(values, given)


def _check_pairs(pairs: NDArray[np.int32], must: NDArray[np.uint8], order: NDArray[np.int32], n: int) -> None:
    for name, array, dtype in (("must", must, np.uint8), ("order", order, np.int32)):
        if array.dtype != dtype or array.shape != (len(pairs),):
            raise TypeError(
                f"{name} must be an array of {np.dtype(dtype).name}, one a pair, "
                f"got {array.dtype}, shape {array.shape}"
            )
    if pairs.dtype != np.int32 or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise TypeError(f"pairs must be a (s, 2) array of int32, got {pairs.dtype}, shape {pairs.shape}")
    if len(pairs) and not 0 <= int(pairs.min()) <= int(pairs.max()) < n:
        raise ValueError(f"pairs must name rows 0 to {n - 1}")
    check_range("order", order, 0, len(pairs) - 1)


class Passes(NamedTuple):
    """The pass of constrained k-means that counts."""

    labels: NDArray[np.unsignedinteger[Any]]
    """(n,) cluster of each row; one byte each for fewer than 256 clusters, two for more."""
    broken: NDArray[np.uint8]
    """(s,) 1 if a constraint is broken."""
    loss: float
    """Sum of the shares of what is broken."""
    spread: float
    """Sum over the clusters of rows times squared length of the mean: the larger, the less inertia."""
    number: int
    """Number of the pass, from 1."""


def vector_passes(
    X: NDArray[Any],
    centers: NDArray[np.float64],
    mean: NDArray[np.float64],
    pairs: NDArray[np.int32],
    must: NDArray[np.uint8],
    order: NDArray[np.int32],
    share: NDArray[np.float64],
    max_passes: int,
    convergence: int,
    patience: int,
    n_threads: int,
) -> Passes:
    """Run constrained k-means on rows: each pass as `assign_by_priority`, then centres move to the means.

    An empty cluster gets the row that is farthest from its centre, out of a cluster with other rows.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    centers : (k, d) float64, C-contiguous
        Centres to start from, at most 65535.
    mean : (d,) float64
        The mean of all rows, about which spread is measured.
    pairs, must, order
        As for `assign_by_priority`.
    share : (s,) float64
        The priority of each pair.
    max_passes : int, at least 1
        Largest number of passes. They also end when labels repeat.
    convergence : int
        0: the best pass counts, of least loss, of equal ones that of largest spread; 1: the last pass before
        labels repeat; 2: the last one before the spread does not grow, which ends the passes.
    patience : int, not negative
        With convergence 0: passes without a better one after which they end; 0: any number.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    Passes
        The pass that counts.
    """
    check_row_array(X)
    check_array("centers", centers, (None, X.shape[1]))
    check_array("mean", mean, (X.shape[1],))
    _check_run(len(X), len(centers), pairs, must, order, share, max_passes, n_threads)
    return Passes(
        *library.vector_passes(
            X, centers, mean, pairs, must, order, share, max_passes, convergence, patience, n_threads
        )
    )


def similarity_passes(
    K: NDArray[np.float64],
    to_mean: NDArray[np.float64],
    within: NDArray[np.float64],
    pairs: NDArray[np.int32],
    must: NDArray[np.uint8],
    order: NDArray[np.int32],
    share: NDArray[np.float64],
    max_passes: int,
    convergence: int,
    patience: int,
    n_threads: int,
) -> Passes:
    """Run constrained k-means as `vector_passes` in the space of a kernel.

    Parameters
    ----------
    K : (n, n) float64, C-contiguous
        Similarities of all pairs of rows, symmetric.
    to_mean : (n, k) float64, C-contiguous
        Mean similarity of each row to the rows of each first cluster.
    within : (k,) float64
        Mean similarity of the rows of each first cluster.
    pairs, must, order, share, max_passes, convergence, patience, n_threads
        As for `vector_passes`.

    Returns
    -------
    Passes
        The pass that counts.
    """
    check_array("K", K, (None, None))
    check_array("K", K, (len(K), len(K)))
    check_array("within", within, (None,))
    check_array("to_mean", to_mean, (len(K), len(within)))
    _check_run(len(K), len(within), pairs, must, order, share, max_passes, n_threads)
    return Passes(
        *library.similarity_passes(
            K, to_mean, within, pairs, must, order, share, max_passes, convergence, patience, n_threads
        )
    )


def _check_run(
    n: int,
    k: int,
    pairs: NDArray[np.int32],
    must: NDArray[np.uint8],
    order: NDArray[np.int32],
    share: NDArray[np.float64],
    max_passes: int,
    n_threads: int,
) -> None:
    if k > MOST_CENTERS:
        raise ValueError(f"k must be at most {MOST_CENTERS}, got {k}")
    check_array("share", share, (len(pairs),))
    check_stop(max_passes, n_threads)
    _check_pairs(pairs, must, order, n)


def similarity_sums(
    K: NDArray[np.float64], labels: NDArray[np.int32], k: int, n_threads: int
) -> NDArray[np.float64]:
    """Sum, for each row, its similarities to the rows of each cluster.

    Parameters
    ----------
    K : (n, n) float64, C-contiguous
        Similarities of all pairs of rows.
    labels : (n,) int32, 0 to k - 1
        Cluster of each row.
    k : int, at least 1
        Number of clusters.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n, k) float64
        One row for each row, one column for each centre or cluster.
    """
    check_array("K", K, (None, None))
    check_array("labels", labels, (len(K),), np.int32)
    check_count("k", k)
    check_count("n_threads", n_threads)
    if K.shape[1] != len(K) or not 0 <= int(labels.min()) <= int(labels.max()) < k:
        raise ValueError(f"K must be square, got {K.shape}, and labels be from 0 to k - 1 = {k - 1}")
    return library.similarity_sums(K, labels, k, n_threads)


class HypothesesMeans(NamedTuple):
    """The consensus of several clusterings."""

    labels: NDArray[np.int32]
    """(n,)"""
    inertia: float
    """Sum of squared distances in the space of the kernel."""
    n_iter: int


def hypotheses_k_means(
    H: NDArray[Any],
    alpha: NDArray[np.float64],
    n_values: int,
    k: int,
    seeds: NDArray[np.uint64],
    max_iter: int,
    n_threads: int,
    rows: NDArray[np.int64] | None = None,
) -> HypothesesMeans:
    """Kernel k-means on ``K = sum over t of alpha[t] * (H[i, t] == H[j, t])`` without forming K.

    A row moves only to a cluster that is nearer by more than rounding, 1e-9 of K's diagonal. An empty cluster
    gets the row farthest from its centre, out of a cluster that keeps another.

    Parameters
    ----------
    H : (n, T) uint8 or uint16, C-contiguous
        Labels below `n_values`; only the first ``len(alpha)`` columns count.
    alpha : (t,) float64, positive
        Weight of each clustering.
    n_values : int, at least 1
        Number of labels of a clustering.
    k : int, at least 1
        Number of clusters.
    seeds : (R,) uint64
        One seed for each start, which draws rows in proportion to their squared distance to those drawn
        before.
    max_iter : int, at least 1
        Largest number of iterations.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    rows : (g,) int64, optional
        Rows of a single start, instead of drawn ones.

    Returns
    -------
    HypothesesMeans
        The best run.
    """
    check_array("H", H, (None, None), H.dtype.type)
    if H.dtype not in (np.uint8, np.uint16):
        raise TypeError(f"H must hold uint8 or uint16, got {H.dtype}")
    check_array("alpha", alpha, (None,))
    for name, value in (("n_values", n_values), ("k", k), ("max_iter", max_iter), ("n_threads", n_threads)):
        check_count(name, value)
    if len(alpha) > H.shape[1] or int(H[:, : len(alpha)].max()) >= n_values:
        raise ValueError(f"H must have a column for each of {len(alpha)} alphas and labels below {n_values}")
    if rows is not None and (len(rows) > k or rows.min() < 0 or rows.max() >= len(H)):
        raise ValueError(f"rows must be at most k = {k} rows of H, got {rows}")
    found = library.hypotheses_k_means(H, alpha, n_values, k, seeds, rows, max_iter, n_threads)
    return HypothesesMeans(*found)
