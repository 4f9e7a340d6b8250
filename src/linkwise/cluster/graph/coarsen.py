"""Coarsen a graph to be cut, and refine a clustering of the coarse graph.

Dhillon, Guan and Kulis (2007), "Weighted graph cuts without eigenvectors": pairs of strongly joined nodes are
merged until few nodes are left, the coarse graph is cut, and on the way back nodes move between clusters as
long as the cut improves. A clustering of the coarse graph has the same value on the finer graph, and
refinement never makes it worse. It is an approximation: only moves of single nodes separate merged nodes.

Kept: an edge is the stronger the larger w_ij (1 / vol_i + 1 / vol_j). Changed, and why:

- The strongest edge of the whole graph comes first, not the strongest one of a random node: no random draws.
- No two nodes with cannot-links are merged. So the coarse graph has the same constraints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linkwise.cluster.graph.partition import merge_nodes, settle_partition
from linkwise.cluster.graph.ratio_cut import CutProblem
from linkwise.types import Labels

LEAST_SHRINKAGE = (
    0.95  # share of its nodes that a graph may keep; if it keeps more, it is not coarsened further
)


class Level(NamedTuple):
    """A graph, and where its nodes are in the next coarser graph."""

    problem: CutProblem
    number: NDArray[np.int64]
    """(m,) node of the coarser graph."""


def coarsen(problem: CutProblem, max_nodes: int) -> tuple[CutProblem, list[Level]]:
    """Merge nodes until there are at most `max_nodes`, or until few can be merged.

    Returns the coarse graph, and the finer graphs, the given one first.
    """
    levels: list[Level] = []
    while (m := len(problem.volume)) > max_nodes:
        number = _match_nodes(problem, m - max_nodes)
        if number.max() + 1 > LEAST_SHRINKAGE * m:
            break
        levels.append(Level(problem, number))
        problem = merge_nodes(problem, number)
    return problem, levels


def refine(labels: Labels, levels: list[Level], k: int) -> Labels:
    """Carry the labels of the coarse graph back to the finest one, and improve them on each."""
    for level in reversed(levels):
        labels = settle_partition(level.problem, labels[level.number], k)
    return labels


def _match_nodes(problem: CutProblem, most: int) -> NDArray[np.int64]:
    """Number the nodes so that pairs of strongly joined nodes, at most so many, are single nodes."""
    m, volume = len(problem.volume), problem.volume
    edges = sp.triu(problem.weights, 1).tocoo()
    strength = edges.data * (1 / volume[edges.row] + 1 / volume[edges.col])
    constrained = np.zeros(m, dtype=bool)
    constrained[problem.apart] = True
    free = ~(constrained[edges.row] & constrained[edges.col])
    order = np.lexsort((edges.col, edges.row, -strength))
    order = order[free[order]]
    into, matched = list(range(m)), [False] * m
    for i, j in zip(edges.row[order].tolist(), edges.col[order].tolist(), strict=True):
        if most and not (matched[i] or matched[j]):
            matched[i] = matched[j] = True
            into[j] = i
            most -= 1
    number: NDArray[np.int64] = np.unique(into, return_inverse=True)[1]
    return number
