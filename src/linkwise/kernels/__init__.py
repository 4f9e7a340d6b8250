"""Compiled kernels: contiguous arrays in, arrays out.

No policy lives here. Kernels take float32 or float64 rows and compute in float64, or take labels and
compute in integers. They release the GIL, take their number of threads from the caller and give the
same bits for any number of threads.
The wrappers check types and shapes only, never values: NaN in gives no crash, but no meaning either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.kernels import _kernels

__all__ = [
    "LloydRuns",
    "TwoMeans",
    "all_dbscans",
    "distance_range",
    "exchange",
    "gaussian_weights",
    "greedy_colours",
    "kmeans_plusplus",
    "lloyd",
    "nearest_points",
    "nearest_rows",
    "pack_together",
    "two_means",
    "weighted_together",
]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class LloydRuns(NamedTuple):
    """What Lloyd's iteration reached from each of R starts."""

    labels: NDArray[np.int32]
    """(R, n) cluster of each row."""
    centers: NDArray[np.float64]
    """(R, k, d)."""
    inertia: NDArray[np.float64]
    """(R,) sum of squared distances of the rows to their centres."""
    n_iter: NDArray[np.int32]
    """(R,) iterations, counted as scikit-learn does."""


class TwoMeans(NamedTuple):
    """What Lloyd's iteration reached for two clusters."""

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

    A run stops when no label changes, when the squared shift of all centres together is at most `tol`,
    or after `max_iter` iterations; in the last two cases labels are assigned once more, so that they
    are always those of the nearest centre (the lower index, where two are equally near). An empty
    cluster is given the row farthest from its centre, out of a cluster that keeps another row; where
    every row lies on its centre the cluster stays empty and its centre stays where it is.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
    starts : (R, k, d) float64, C-contiguous
    max_iter : int, at least 1
    tol : float
        Absolute, in squared units of `X`.
    n_threads : int, at least 1
    weight : (n,) int64, at least 1, or None
        As if each row were there so many times; such rows move together. None: once.

    Returns
    -------
    LloydRuns

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM. Hamerly (2010), Making k-means even faster.
    """
    _check_rows(X)
    _check_array("starts", starts, (None, None, X.shape[1]))
    _check_stop(max_iter, n_threads)
    _check_weight(weight, X)
    return LloydRuns(*_kernels.lloyd(X, starts, max_iter, tol, n_threads, weight))


def two_means(
    X: NDArray[Any], start: NDArray[np.float64], max_iter: int, tol: float, n_threads: int
) -> TwoMeans:
    """Run Lloyd's iteration for two clusters; as `lloyd` with one start, but with labels of one byte.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
    start : (2, d) float64, C-contiguous
    max_iter : int, at least 1
    tol : float
        Absolute, in squared units of `X`.
    n_threads : int, at least 1

    Returns
    -------
    TwoMeans
    """
    _check_rows(X)
    _check_array("start", start, (2, X.shape[1]))
    _check_stop(max_iter, n_threads)
    return TwoMeans(*_kernels.two_means(X, start, max_iter, tol, n_threads))


def kmeans_plusplus(
    X: NDArray[Any],
    k: int,
    seeds: NDArray[np.uint64],
    n_candidates: int,
    n_threads: int,
    weight: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Choose k rows to start from, once for each seed, by greedy k-means++.

    The first row is drawn uniformly. For each further one `n_candidates` rows are drawn in proportion
    to their squared distance from the rows chosen so far, and the one that leaves the smallest sum of
    squared distances is kept. Random numbers come from SplitMix64.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
    k : int, at least 1
    seeds : (R,) uint64
    n_candidates : int, at least 1
        Draws per chosen row; scikit-learn takes ``2 + int(log(k))``.
    n_threads : int, at least 1
    weight : (n,) int64, at least 1, or None
        As if each row were there so many times. None: once.

    Returns
    -------
    (R, k) int64
        Row indices, no two of them equal rows. Where `X` has fewer than k distinct rows, each is
        there once and the places that are left at the end hold -1.

    References
    ----------
    Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding.
    """
    _check_rows(X)
    _check_array("seeds", seeds, (None,), np.uint64)
    _check_count("k", k)
    _check_count("n_candidates", n_candidates)
    _check_count("n_threads", n_threads)
    _check_weight(weight, X)
    return _kernels.kmeans_plusplus(X, k, seeds, n_candidates, n_threads, weight)


def nearest_rows(
    X: NDArray[Any],
    labels: NDArray[np.int32],
    centers: NDArray[np.float64],
    allowed: NDArray[np.bool_] | None,
    n_threads: int,
) -> NDArray[np.int64]:
    """Find, for each centre, the nearest of the rows that bear its label.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
    labels : (n,) int32
        A label outside 0..k-1 (such as -1, noise) belongs to no centre.
    centers : (k, d) float64, C-contiguous
    allowed : (n,) bool or None
        Rows that may be returned; None = all.
    n_threads : int, at least 1

    Returns
    -------
    (k,) int64
        Row index, the lowest where several are equally near; -1 where no row qualifies.
    """
    _check_rows(X)
    _check_array("labels", labels, (X.shape[0],), np.int32)
    _check_array("centers", centers, (None, X.shape[1]))
    if allowed is not None:
        _check_array("allowed", allowed, (X.shape[0],), np.bool_)
    _check_count("n_threads", n_threads)
    return _kernels.nearest_rows(X, labels, centers, allowed, n_threads)


def nearest_points(
    X: NDArray[Any], points: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find, for each row, the nearest of some points, and its squared distance.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
    points : (k, d) float64, C-contiguous
    n_threads : int, at least 1

    Returns
    -------
    (n,) int64
        Index of the point, the lowest where several are equally near.
    (n,) float64
        Squares are summed in the order of the features, so that a row is at 0 from itself.
    """
    _check_rows(X)
    _check_array("points", points, (None, X.shape[1]))
    _check_count("n_threads", n_threads)
    return _kernels.nearest_points(X, points, n_threads)


def all_dbscans(
    X: NDArray[Any],
    eps: NDArray[np.float64],
    min_pts: NDArray[np.int64],
    n_threads: int,
    weight: NDArray[np.int64] | None = None,
) -> NDArray[np.int32]:
    """Run DBSCAN for every pair of a radius and a number of neighbours.

    Two rows are neighbours when their squared distance, summed in the order of the features, is at
    most the squared radius; a row is its own neighbour. Labels, their numbers and the clusters of
    border rows are those of scikit-learn's ``DBSCAN(algorithm="kd_tree")``. Time O(n² d) once and
    O(n M) a clustering, memory O(n M), where M is the largest of `min_pts`.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
    eps : (E,) float64
        Radii, not negative and ascending; at most 255.
    min_pts : (P,) int64
        Neighbours that make a core row, itself included; at least 1.
    n_threads : int, at least 1
    weight : (n,) int64, at least 1, or None
        As if each row were there so many times. None: once.

    Returns
    -------
    (P, E, n) int32
        Clusters 0, 1, ... in order of their first core rows; -1 is noise.

    References
    ----------
    Ester, Kriegel, Sander and Xu (1996), A density-based algorithm for discovering clusters in large
    spatial databases with noise. Araújo Neto, Sander, Campello and Nascimento (2021), Core-SG:
    efficient computation of multiple MSTs for density-based methods.
    """
    _check_rows(X)
    _check_array("eps", eps, (None,))
    _check_array("min_pts", min_pts, (None,), np.int64)
    if len(eps) > 255:
        raise ValueError(f"eps holds {len(eps)} radii; give at most 255 at once")
    _check_count("the smallest of min_pts", int(min_pts.min()))
    _check_count("n_threads", n_threads)
    _check_weight(weight, X)
    return _kernels.all_dbscans(X, eps, min_pts, n_threads, weight)


def distance_range(X: NDArray[Any], n_threads: int) -> tuple[float, float]:
    """Return the smallest positive and the largest squared distance between two rows.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
    n_threads : int, at least 1

    Returns
    -------
    (float, float)
        Both 0 where all rows are equal. Sums are made in the order of the features.
    """
    _check_rows(X)
    _check_count("n_threads", n_threads)
    return _kernels.distance_range(X, n_threads)


def greedy_colours(before: NDArray[np.int32], after: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Colour the vertices of a graph in order, each with the lowest colour of no neighbour before it.

    Parameters
    ----------
    before, after : (m,) int32
        Ends of the edges, ``0 <= before < after < n``; an edge may be there many times.
    n : int, at least 1
        Number of vertices.

    Returns
    -------
    (n,) int32
        Colours 0, 1, ...
    """
    _check_array("before", before, (None,), np.int32)
    _check_array("after", after, before.shape, np.int32)
    _check_count("n", n)
    if before.min() < 0 or (before >= after).any() or after.max() >= n:
        raise ValueError(f"an edge does not lead from a vertex to one after it, 0 to {n - 1}")
    return _kernels.greedy_colours(before, after, n)


def pack_together(
    labels: NDArray[np.int16], first: NDArray[np.int32], second: NDArray[np.int32], n_threads: int
) -> NDArray[np.uint8]:
    """Find which clusterings put which pairs of rows together, a bit for each.

    Parameters
    ----------
    labels : (C, n) int16, C-contiguous
    first, second : (P,) int32
        Rows of each pair, 0 to n - 1.
    n_threads : int, at least 1

    Returns
    -------
    (⌈C / 8⌉, P) uint8
        Bit k of row b, the lowest first, is for clustering 8 b + k; bits beyond the last one are 0.
    """
    _check_array("labels", labels, (None, None), np.int16)
    _check_array("first", first, (None,), np.int32)
    _check_array("second", second, first.shape, np.int32)
    for name, rows in (("first", first), ("second", second)):
        if rows.min() < 0 or rows.max() >= labels.shape[1]:
            raise ValueError(f"{name} names rows {rows.min()} to {rows.max()} of {labels.shape[1]}")
    _check_count("n_threads", n_threads)
    return _kernels.pack_together(labels, first, second, n_threads)


def weighted_together(
    bits: NDArray[np.uint8], weights: NDArray[np.int64], n_threads: int
) -> NDArray[np.int64]:
    """Add up, for each pair, the weights of the clusterings that put it together.

    Time O(P C / 8); clusterings that weigh nothing cost nothing where all 8 of a byte do.

    Parameters
    ----------
    bits : (⌈C / 8⌉, P) uint8, C-contiguous
        What `pack_together` gave.
    weights : (C,) int64
    n_threads : int, at least 1

    Returns
    -------
    (P,) int64
        Exact, unless it overflows.
    """
    _check_array("weights", weights, (None,), np.int64)
    _check_array("bits", bits, ((len(weights) + 7) // 8, None), np.uint8)
    _check_count("n_threads", n_threads)
    return _kernels.weighted_together(bits, weights, n_threads)


def gaussian_weights(X: NDArray[np.float64], scale: float, out: NDArray[np.float64], n_threads: int) -> None:
    """Write exp(-scale d²) for every two rows, where d is their distance.

    Parameters
    ----------
    X : (n, d) float64, C-contiguous
    scale : float, not negative
    out : (n, n) float64, C-contiguous
        Overwritten. Weights are within two units in the last place; those below 1e-307 are 0.
    n_threads : int, at least 1
    """
    _check_array("X", X, (None, None))
    _check_array("out", out, (len(X), len(X)))
    if not scale >= 0:
        raise ValueError(f"scale must not be negative, got {scale}")
    _check_count("n_threads", n_threads)
    _kernels.gaussian_weights(X, scale, out, n_threads)


def exchange(
    X: NDArray[np.float64], labels: NDArray[np.int32], k: int, max_passes: int, n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Move rows to other clusters, one at a time, while the sum of squares falls.

    Parameters
    ----------
    X : (n, d) float64, C-contiguous
    labels : (R, n) int32, C-contiguous
        R clusterings, from each of which one run starts; labels 0..k-1, which need not all be there.
    k : int, at least 1
    max_passes : int, at least 1
        Passes over all rows; a run stops after one that moves none.
    n_threads : int, at least 1

    Returns
    -------
    labels : (R, n) int32
    inertia : (R,) float64
        Sums of squared distances of the rows to the means of their clusters.

    References
    ----------
    Hartigan (1975), Clustering Algorithms. Telgarsky and Vattani (2010), Hartigan's method: k-means
    clustering without Voronoi.
    """
    _check_array("X", X, (None, None))
    _check_array("labels", labels, (None, len(X)), np.int32)
    for name, value in (("k", k), ("max_passes", max_passes), ("n_threads", n_threads)):
        _check_count(name, value)
    least, most = int(labels.min()), int(labels.max())
    if least < 0 or most >= k:
        raise ValueError(f"labels must be from 0 to k - 1 = {k - 1}, got {least} to {most}")
    return _kernels.exchange(X, labels, k, max_passes, n_threads)


def _check_rows(X: NDArray[Any]) -> None:
    if not isinstance(X, np.ndarray) or X.dtype not in _FLOATS:
        raise TypeError(
            f"X must be a NumPy array of float32 or float64, got {_describe(X)}; "
            "convert it with np.ascontiguousarray(X, dtype=np.float64)"
        )
    _check_layout("X", X, (None, None))


def _check_array(
    name: str, array: NDArray[Any], shape: tuple[int | None, ...], dtype: type = np.float64
) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        wanted = np.dtype(dtype).name
        raise TypeError(
            f"{name} must be a NumPy array of {wanted}, got {_describe(array)}; "
            f"convert it with np.ascontiguousarray({name}, dtype=np.{wanted})"
        )
    _check_layout(name, array, shape)


def _check_layout(name: str, array: NDArray[Any], shape: tuple[int | None, ...]) -> None:
    """None in `shape` stands for any length but 0."""
    fits = array.ndim == len(shape) and all(
        have == want if want is not None else have > 0 for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("≥1" if want is None else str(want) for want in shape)
        raise ValueError(f"{name} must have shape ({wanted}), got {array.shape}")
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ValueError(f"{name} must be C-contiguous; copy it with np.ascontiguousarray({name})")


def _check_weight(weight: NDArray[np.int64] | None, X: NDArray[Any]) -> None:
    if weight is not None:
        _check_array("weight", weight, (X.shape[0],), np.int64)


def _check_stop(max_iter: int, n_threads: int) -> None:
    _check_count("max_iter", max_iter)
    _check_count("n_threads", n_threads)


def _check_count(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")


def _describe(value: object) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
