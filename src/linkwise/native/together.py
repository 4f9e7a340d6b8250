"""Pairs of rows in many clusterings, and greedy colouring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count
from linkwise.native.library import library


def pack_together(
    labels: NDArray[np.int16], first: NDArray[np.int32], second: NDArray[np.int32], n_threads: int
) -> NDArray[np.uint8]:
    """Find which clusterings join which pairs of rows, one bit each.

    Parameters
    ----------
    labels : (C, n) int16, C-contiguous
        Cluster of each row.
    first, second : (P,) int32
        Rows of each pair, 0 to n - 1.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (⌈C / 8⌉, P) uint8
        Bit k of row b, the lowest first, is for clustering 8 b + k; bits beyond the last one are 0.
    """
    check_array("labels", labels, (None, None), np.int16)
    check_array("first", first, (None,), np.int32)
    check_array("second", second, first.shape, np.int32)
    for name, rows in (("first", first), ("second", second)):
        if rows.min() < 0 or rows.max() >= labels.shape[1]:
            raise ValueError(f"{name} names rows {rows.min()} to {rows.max()} of {labels.shape[1]}")
    check_count("n_threads", n_threads)
    return library.pack_together(labels, first, second, n_threads)


def weighted_together(
    bits: NDArray[np.uint8], weights: NDArray[np.int64], n_threads: int
) -> NDArray[np.int64]:
    """Sum, for each pair, the weights of the clusterings that join it.

    Time O(P C / 8); clusterings that weigh nothing cost nothing where all 8 of a byte do.

    Parameters
    ----------
    bits : (⌈C / 8⌉, P) uint8, C-contiguous
        The result of `pack_together`.
    weights : (C,) int64
        Weight of each clustering.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (P,) int64
        Exact, unless it overflows.
    """
    check_array("weights", weights, (None,), np.int64)
    check_array("bits", bits, ((len(weights) + 7) // 8, None), np.uint8)
    check_count("n_threads", n_threads)
    return library.weighted_together(bits, weights, n_threads)


def greedy_colours(before: NDArray[np.int32], after: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Colour the vertices of a graph in order, each with the lowest colour that no earlier neighbour has.

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
    check_array("before", before, (None,), np.int32)
    check_array("after", after, before.shape, np.int32)
    check_count("n", n)
    if before.min() < 0 or (before >= after).any() or after.max() >= n:
        raise ValueError(f"An edge does not lead from a vertex to a later one, 0 to {n - 1}.")
    return library.greedy_colours(before, after, n)
