"""Label nodes so that given pairs get different labels."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_range
from linkwise.native.library import library


def assign_apart(
    costs: NDArray[np.float64],
    pairs: NDArray[np.int32],
    start: NDArray[np.int32],
    order: NDArray[np.int32],
    sweeps: int,
    limit: int,
) -> tuple[NDArray[np.int32], int]:
    """Label nodes at low cost, with different labels for the nodes of each pair.

    In order, each node without a label gets the cheapest label that breaks fewest pairs. Then, in sweeps, a
    node moves if that breaks fewer pairs, and two labels are exchanged along the chain of pairs that have
    them (Kempe) if that is cheaper; an exchange breaks no pair.

    Parameters
    ----------
    costs : (m, k) float64, C-contiguous
        Not negative.
    pairs : (q, 2) int32, C-contiguous
        Nodes that need different labels, each pair once.
    start : (m,) int32
        First labels; -1 for a node without one.
    order : (m,) int32
        Nodes, each once.
    sweeps : int, at least 1
        Largest number of sweeps.
    limit : int
        If above 0 and no pair is broken, branch and bound searches each connected part for the cheapest
        labels in at most so many steps. If these are not enough, and in parts of more than 5000 nodes, the
        best labels so far are returned.

    Returns
    -------
    (m,) int32
        Label of each node.
    int
        Number of broken pairs.
    """
    check_array("costs", costs, (None, None))
    for name, nodes in (("start", start), ("order", order)):
        check_array(name, nodes, (len(costs),), np.int32)
    check_range("start", start, -1, costs.shape[1] - 1)
    check_range("order", order, 0, len(costs) - 1)
    _check_pairs(pairs, len(costs))
    check_count("sweeps", sweeps)
    return library.assign_apart(costs, pairs, start, order, sweeps, limit)


def colour_apart(
    pairs: NDArray[np.int32], m: int, k: int, limit: int
) -> tuple[Literal[1, 0, -1], NDArray[np.int32]]:
    """Find k labels that separate all pairs, by a search that begins with the most constrained node.

    Parameters
    ----------
    pairs : (q, 2) int32, C-contiguous
        Nodes 0 to m - 1, each pair once.
    m, k : int, at least 1
        Number of nodes, and of labels.
    limit : int, at least 1
        Largest number of steps for each connected part; parts of more than 5000 nodes are not searched. Nodes
        with fewer than k neighbours need no search and are removed repeatedly.

    Returns
    -------
    {1, 0, -1}
        1: found; 0: there are none; -1: unknown within the limit.
    (m,) int32
        Labels, if found.

    References
    ----------
    Brélaz (1979), New methods to color the vertices of a graph.
    """
    check_count("m", m)
    _check_pairs(pairs, m)
    check_count("k", k)
    check_count("limit", limit)
    return library.colour_apart(pairs, m, k, limit)


def _check_pairs(pairs: NDArray[np.int32], m: int) -> None:
    if pairs.dtype != np.int32 or pairs.ndim != 2 or pairs.shape[1] != 2 or not pairs.flags.c_contiguous:
        raise TypeError(
            f"pairs must be a C-contiguous (q, 2) array of int32, got {pairs.dtype} {pairs.shape}"
        )
    if len(pairs) and not 0 <= int(pairs.min()) <= int(pairs.max()) < m:
        raise ValueError(f"pairs must name nodes 0 to {m - 1}, got {pairs.min()} to {pairs.max()}")
