"""Labels for nodes some of which must be apart."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.native import _native
from linkwise.native._checks import check_array, check_count, check_range


def assign_apart(
    costs: NDArray[np.float64],
    pairs: NDArray[np.int32],
    start: NDArray[np.int32],
    order: NDArray[np.int32],
    sweeps: int,
    limit: int,
) -> tuple[NDArray[np.int32], int]:
    """Give each node a label at little cost, different ones to nodes that must be apart.

    Nodes without a label get, in order, the cheapest of those that fewest of their foes have. Then, in
    sweeps, a node with a foe beside it moves where it has fewer, and two labels are exchanged along the
    chain of foes that bear them (Kempe) wherever that is cheaper; an exchange parts all that was apart.

    Parameters
    ----------
    costs : (m, k) float64, C-contiguous
        Not negative.
    pairs : (q, 2) int32, C-contiguous
        Nodes that must be apart, each pair once.
    start : (m,) int32
        Labels, -1 where there is none yet.
    order : (m,) int32
        Nodes, each once.
    sweeps : int, at least 1
        Largest number of sweeps.
    limit : int
        Above 0: if all are apart then, each connected part of the nodes is searched for the cheapest labels
        by branch and bound in at most so many steps; where they do not suffice, and in parts of more than
        5000 nodes, the best found stands.

    Returns
    -------
    (m,) int32
        Label of each node.
    int
        Pairs that are not apart.
    """
    check_array("costs", costs, (None, None))
    for name, nodes in (("start", start), ("order", order)):
        check_array(name, nodes, (len(costs),), np.int32)
    check_range("start", start, -1, costs.shape[1] - 1)
    check_range("order", order, 0, len(costs) - 1)
    _check_pairs(pairs, len(costs))
    check_count("sweeps", sweeps)
    return _native.assign_apart(costs, pairs, start, order, sweeps, limit)


def colour_apart(
    pairs: NDArray[np.int32], m: int, k: int, limit: int
) -> tuple[Literal[1, 0, -1], NDArray[np.int32]]:
    """Find k labels that keep all pairs apart, by search with the node first that has fewest labels left.

    Parameters
    ----------
    pairs : (q, 2) int32, C-contiguous
        Nodes 0 to m - 1, each pair once.
    m, k : int, at least 1
        Number of nodes, and of labels.
    limit : int, at least 1
        Steps of the search of each connected part; parts of more than 5000 nodes are not searched. Nodes
        with fewer than k foes, and those that have fewer once such are left out, need no search.

    Returns
    -------
    {1, 0, -1}
        Found; there are none; not known within the limit.
    (m,) int32
        Labels, where they are found.

    References
    ----------
    Brélaz (1979), New methods to color the vertices of a graph.
    """
    check_count("m", m)
    _check_pairs(pairs, m)
    check_count("k", k)
    check_count("limit", limit)
    return _native.colour_apart(pairs, m, k, limit)


def _check_pairs(pairs: NDArray[np.int32], m: int) -> None:
    if pairs.dtype != np.int32 or pairs.ndim != 2 or pairs.shape[1] != 2 or not pairs.flags.c_contiguous:
        raise TypeError(
            f"pairs must be a C-contiguous (q, 2) array of int32, got {pairs.dtype} {pairs.shape}"
        )
    if len(pairs) and not 0 <= int(pairs.min()) <= int(pairs.max()) < m:
        raise ValueError(f"pairs must name nodes 0 to {m - 1}, got {pairs.min()} to {pairs.max()}")
