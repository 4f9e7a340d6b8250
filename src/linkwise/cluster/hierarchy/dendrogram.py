"""Build dendrograms from a spanning tree, or from a reachability plot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int64]
Heights = NDArray[np.float64]


def build_single_linkage(one: Nodes, other: Nodes, heights: Heights) -> tuple[Nodes, Heights]:
    """Build the dendrogram of a spanning tree by merging along its edges, the shortest first.

    Merges are numbered as in SciPy and scikit-learn: rows, and n_rows + i for the i-th merge. Heights
    ascend.
    """
    n, order = len(heights) + 1, np.argsort(heights, kind="stable")
    above = list(range(2 * n - 1))  # a node nearer to the top of what each node is in
    children = np.empty((n - 1, 2), dtype=np.int64)

    def top(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    for at, (a, b) in enumerate(zip(one[order].tolist(), other[order].tolist(), strict=True)):
        parts = sorted((top(a), top(b)))
        children[at] = parts
        above[parts[0]] = above[parts[1]] = n + at
    return children, heights[order]


def convert_reachability(order: Nodes, reach: Heights) -> tuple[Nodes, Heights]:
    """Build the dendrogram of a reachability plot: neighbours are merged at the height of the later one.

    `order` are the rows in the order of the plot, and `reach` their heights in that order; the first is
    ignored. Sander, Qin, Lu, Niu and Kovarsky (2003), Automatic extraction of clusters from hierarchical
    clustering representations. PAKDD.
    """
    return build_single_linkage(order[:-1], order[1:], reach[1:])
