"""Cuts of a graph: the descent of a ratio, moves of single nodes, and new cuts of every two clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_layout, check_range
from linkwise.native.library import library

Floats = NDArray[np.float64]


class CutGraph(NamedTuple):
    """A graph to be cut."""

    starts: NDArray[np.int64]
    """(m + 1,) of a symmetric CSR array without loops."""
    ends: NDArray[np.int32]
    """(e,): every edge stands there twice."""
    weights: Floats
    """(e,) above 0."""
    volume: Floats
    """(m,) above 0."""
    pairs: NDArray[np.int32]
    """(q, 2) nodes to separate."""
    is_ncut: bool
    """Whether cuts are divided by the volumes of both sides, not by the smaller one."""


class RatioDescent(NamedTuple):
    """The vectors of a descent."""

    f: Floats
    """(s, m) the start and what each step found."""
    ratio: Floats
    """(s,) descending."""
    sides: NDArray[np.int32]
    """(s, m) the best set {f > t} of each, as 0 and 1."""


def ratio_descent(graph: CutGraph, gamma: float, start: Floats, *, max_iter: int) -> RatioDescent:
    """Run RatioDCA from a start with one price of a broken pair.

    Parameters
    ----------
    graph : CutGraph
        The graph.
    gamma : float, not negative
        Price of a broken pair.
    start : (m,) float64
        First vector, not constant.
    max_iter : int, at least 1
        Largest number of iterations of each convex problem.

    Returns
    -------
    RatioDescent
        The vectors, each with a lower ratio than the one before.
    """
    _check_graph(graph)
    check_array("start", start, (len(graph.volume),))
    check_count("max_iter", max_iter)
    f, ratio, sides = library.ratio_descent(*graph, gamma, start, max_iter)
    return RatioDescent(f, ratio[0], sides)


def ratio_splits(graph: CutGraph, start: Floats, *, max_iter: int) -> NDArray[np.int32]:
    """Run RatioDCA from a start with growing prices until no pair is broken.

    Parameters
    ----------
    graph : CutGraph
        The graph.
    start : (m,) float64
        First vector for each price, not constant.
    max_iter : int, at least 1
        Largest number of iterations of each convex problem.

    Returns
    -------
    (s, m) int32
        The best set for each price, as 0 and 1; sets that differ.
    """
    _check_graph(graph)
    check_array("start", start, (len(graph.volume),))
    check_count("max_iter", max_iter)
    return library.ratio_splits(*graph, start, max_iter)


def slow_vector(graph: CutGraph) -> Floats:
    """Find an approximate eigenvector from which a cut may start.

    Parameters
    ----------
    graph : CutGraph
        The graph; under "cheeger" the vector is the same.

    Returns
    -------
    (m,) float64
        Vector of L f = value V f, L the Laplacian and V the volumes, to the least value, with opposite values
        at both nodes of each pair. Without pairs the constant vector is left out.
    """
    _check_graph(graph)
    found: Floats = library.slow_vector(*graph)[0]
    return found


def move_nodes(graph: CutGraph, labels: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """Move single nodes between clusters as long as the clustering improves.

    Parameters
    ----------
    graph : CutGraph
        The graph.
    labels : (m,) int32
        Cluster of each node, 0 to k - 1.
    k : int, at least 1
        Number of clusters.

    Returns
    -------
    (m,) int32
        Labels. Each move is the best one, breaks no more pairs than before, and leaves no cluster empty.
    """
    _check_graph(graph)
    _check_labels(graph, labels, k)
    found: NDArray[np.int32] = library.move_nodes(*graph, labels, k)[0]
    return found


def recut(graph: CutGraph, labels: NDArray[np.int32], k: int, *, max_iter: int) -> NDArray[np.int32]:
    """Cut every two clusters of each clustering again as long as it improves, for a few rounds.

    Two clusters that several clusterings have are cut once.

    Parameters
    ----------
    graph : CutGraph
        The graph.
    labels : (R, m) int32, C-contiguous
        Cluster of each node in each clustering, 0 to k - 1.
    k : int, at least 1
        Number of clusters.
    max_iter : int, at least 1
        Largest number of iterations of each convex problem.

    Returns
    -------
    (R, m) int32
        Labels that break no more pairs and cut no more than the given ones.
    """
    _check_graph(graph)
    check_array("labels", labels, (None, len(graph.volume)), np.int32)
    check_range("labels", labels, 0, k - 1)
    check_count("max_iter", max_iter)
    found: NDArray[np.int32] = library.recut(*graph, labels, k, max_iter)
    return found


def _check_graph(graph: CutGraph) -> None:
    check_array("volume", graph.volume, (None,))
    m, e = len(graph.volume), len(graph.weights)
    check_array("starts", graph.starts, (m + 1,), np.int64)
    for name, array, dtype, shape in (
        ("ends", graph.ends, np.int32, (e,)),
        ("weights", graph.weights, np.float64, (e,)),
        ("pairs", graph.pairs, np.int32, (len(graph.pairs), 2)),
    ):
        if array.dtype != dtype:
            raise TypeError(f"{name} must be a NumPy array of {np.dtype(dtype).name}, got {array.dtype}.")
        check_layout(name, array, shape)
    check_range("ends", graph.ends, 0, m - 1)
    check_range("pairs", graph.pairs, 0, m - 1)
    if graph.starts[0] != 0 or graph.starts[-1] != e or (np.diff(graph.starts) < 0).any():
        raise ValueError(f"The starts must rise from 0 to {e}")
    if 2 * np.count_nonzero(graph.ends > np.repeat(np.arange(m), np.diff(graph.starts))) != e:
        raise ValueError("The ends must hold every edge twice, once for each end.")


def _check_labels(graph: CutGraph, labels: NDArray[np.int32], k: int) -> None:
    check_array("labels", labels, (len(graph.volume),), np.int32)
    check_count("k", k)
    check_range("labels", labels, 0, k - 1)
