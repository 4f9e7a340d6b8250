"""Constrained k-means with priorities, and kernel k-means on the consensus of several clusterings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

MOST_CENTERS = 65535  # whose numbers have two bytes, and one number is for none


class TwoNearest(NamedTuple):
    """The two nearest centres of every row."""

    best: NDArray[np.int32]
    """(n,) the nearest one, the lower number among equals."""
    second: NDArray[np.int32]
    """(n,) the next one; the same where there is one centre only."""
    square: NDArray[np.float64]
    """(n,) squared distance to the nearest."""


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


class HypothesesMeans(NamedTuple):
    """The consensus of several clusterings."""

    labels: NDArray[np.int32]
    """(n,)"""
    inertia: float
    """Sum of squared distances in the space of the kernel."""
    n_iter: int


def two_nearest(X: NDArray[Any], centers: NDArray[np.float64], n_threads: int) -> TwoNearest:
    """Name what `_native.two_nearest` returns."""
    return TwoNearest(*library.two_nearest(X, centers, n_threads))


def assign_by_priority(
    near: TwoNearest, pairs: NDArray[np.int32], must: NDArray[np.uint8], order: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Call `_native.assign_by_priority` with what `two_nearest` returns."""
    return library.assign_by_priority(*near, pairs, must, order)


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
    """Name what `_native.vector_passes` returns."""
    run = pairs, must, order, share, max_passes, convergence, patience, n_threads
    return Passes(*library.vector_passes(X, centers, mean, *run))


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
    """Name what `_native.similarity_passes` returns."""
    run = pairs, must, order, share, max_passes, convergence, patience, n_threads
    return Passes(*library.similarity_passes(K, to_mean, within, *run))


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
    """Name what `_native.hypotheses_k_means` returns."""
    found = library.hypotheses_k_means(H, alpha, n_values, k, seeds, rows, max_iter, n_threads)
    return HypothesesMeans(*found)
