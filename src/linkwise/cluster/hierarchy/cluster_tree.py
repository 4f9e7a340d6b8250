"""Find the clusters of a dendrogram, and select the best of them that do not overlap.

A dendrogram is read from the top. If at least two parts of a node have enough rows, they are new clusters; if
one part has, the cluster continues without the other rows; if none has, the cluster ends (Campello, Moulavi
and Sander 2013). A row that leaves its cluster without entering a smaller one is noise from there on. Merges
at the same height count as one.

Cost: O(n) for the tree, O(n + pairs x depth) for the scores of the constraints.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.constraints import Constraints

Nodes = NDArray[np.int64]
Heights = NDArray[np.float64]
Ties = Literal["stability", "larger"]
ROUNDING = 1e-12  # of sums in another order
EQUAL = 1e-9  # shares of all constraints that differ by less are the same


class ClusterTree(NamedTuple):
    """Nested clusters, each after the one that holds it; the first holds all rows."""

    parent: Nodes
    """(m,) the cluster that holds each; -1 for the first."""
    last: Nodes
    """(n,) the smallest cluster that each row is in."""
    stability: Heights
    """(m,) sum over the rows of a cluster of how much denser it can become before they leave it."""

    @property
    def children(self) -> list[list[int]]:
        """The direct subclusters of each cluster."""
        found: list[list[int]] = [[] for _ in self.parent]
        for cluster, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                found[parent].append(cluster)
        return found


def build_cluster_tree(children: Nodes, heights: Heights, least: int) -> ClusterTree:
    """Build the tree of all clusters of at least `least` rows, which is 2 or more.

    `children`, of shape (n_rows - 1, 2), are merges, numbered as in SciPy and scikit-learn: rows, and
    n_rows + i for the i-th merge. `heights` ascend.
    """
    n = len(children) + 1
    size = np.ones(2 * n - 1, dtype=np.int64)
    for at, (a, b) in enumerate(children.tolist()):
        size[n + at] = size[a] + size[b]
    density = _densities(heights)
    parent, born = [-1], [0.0]
    last, stability = np.zeros(n, dtype=np.int64), [0.0]
    open_ = [(2 * n - 2, 0)]  # nodes of the dendrogram, and the cluster that each is in
    while open_:
        node, cluster = open_.pop()
        if node < n:  # a row alone, where one row is the whole
            last[node] = cluster
            continue
        parts, now = _split_node(node, children, heights, n), density[node - n]
        large = [part for part in parts if size[part] >= least]
        leave = [part for part in parts if size[part] < least or len(large) > 1]
        stability[cluster] += sum(int(size[part]) for part in leave) * (now - born[cluster])
        for part in parts:
            if size[part] < least:
                last[_rows_of(part, children, n)] = cluster
        for part in large:
            if len(large) > 1:
                parent.append(cluster)
                born.append(now)
                stability.append(0.0)
                open_.append((part, len(parent) - 1))
            else:
                open_.append((part, cluster))
    return ClusterTree(np.array(parent), last, np.array(stability))


def _densities(heights: Heights) -> Heights:
    """1 / height, bounded where rows are identical."""
    positive = heights[heights > 0]
    least = positive.min() / 2 if len(positive) else 1.0
    return np.asarray(1 / np.maximum(heights, least))


def _split_node(node: int, children: Nodes, heights: Heights, n: int) -> list[int]:
    """Return the parts of a node below its height."""
    height, parts, open_ = heights[node - n], [], children[node - n].tolist()
    while open_:
        part = open_.pop()
        if part >= n and heights[part - n] == height:
            open_.extend(children[part - n].tolist())
        else:
            parts.append(part)
    return parts[::-1]


def _rows_of(node: int, children: Nodes, n: int) -> list[int]:
    rows, open_ = [], [node]
    while open_:
        part = open_.pop()
        if part < n:
            rows.append(part)
        else:
            open_.extend(children[part - n].tolist())
    return rows


# ---------------------------------------------------------------- the best clusters
class Worth(NamedTuple):
    """The share of the constraints that each cluster satisfies."""

    chosen: Heights
    """(m,) weight of the ends of constraints within it that are satisfied where it is chosen."""
    noise: Heights
    """(m,) the same of rows that are noise where smaller clusters within it are chosen."""


def score_clusters(tree: ClusterTree, constraints: Constraints) -> Worth:
    """Compute the share of the constraints that each cluster satisfies if it is chosen.

    Each constraint has two ends, each half of its weight. A row of noise is apart from all rows, including
    other noise.
    """
    m = len(tree.parent)
    depth = np.zeros(m, dtype=np.int64)
    for cluster in range(1, m):
        depth[cluster] = depth[tree.parent[cluster]] + 1
    chosen, noise = np.zeros(m), np.zeros(m)
    one, other = tree.last[constraints.must_link].T
    np.add.at(chosen, _find_common_ancestor(tree.parent, depth, one, other), constraints.must_link_weight)
    one, other = tree.last[constraints.cannot_link].T
    half = constraints.cannot_link_weight / 2
    for end in (one, other):
        np.add.at(chosen, end, half)
        np.add.at(noise, end, half)
    np.add.at(chosen, _find_common_ancestor(tree.parent, depth, one, other), -2 * half)
    for cluster in range(m - 1, 0, -1):  # what is in a cluster is in all that hold it
        chosen[tree.parent[cluster]] += chosen[cluster]
    total = constraints.must_link_weight.sum() + constraints.cannot_link_weight.sum() or 1.0
    return Worth(chosen / total, noise / total)


def _find_common_ancestor(parent: Nodes, depth: Nodes, one: Nodes, other: Nodes) -> Nodes:
    """Find the smallest cluster that contains both."""
    one, other = one.copy(), other.copy()
    while (apart := one != other).any():
        lower = apart & (depth[one] >= depth[other])
        upper = apart & ~lower
        one[lower] = parent[one[lower]]
        other[upper] = parent[other[upper]]
    return one


def select_clusters(tree: ClusterTree, worth: Worth, *, whole: bool) -> list[int]:
    """Select the clusters that satisfy most; of equals the most stable, then the larger.

    `whole` tells whether the cluster of all rows may be chosen although it has smaller clusters.
    """
    children = tree.children
    best: list[tuple[float, float]] = [(0.0, 0.0)] * len(children)
    stays = [False] * len(children)
    for cluster in range(len(children) - 1, -1, -1):
        own = (float(worth.chosen[cluster]), float(tree.stability[cluster]))
        below = (
            float(worth.noise[cluster]) + sum(best[child][0] for child in children[cluster]),
            sum(best[child][1] for child in children[cluster]),
        )
        more = own[0] - below[0]  # shares of all constraints
        better = more > EQUAL or (more > -EQUAL and own[1] >= below[1] * (1 - ROUNDING))
        stays[cluster] = not children[cluster] or (better and (cluster > 0 or whole))
        best[cluster] = own if stays[cluster] else below
    found, open_ = [], [0]
    while open_:
        cluster = open_.pop()
        if stays[cluster]:
            found.append(cluster)
        else:
            open_.extend(children[cluster])
    return sorted(found)


def label_rows(tree: ClusterTree, clusters: list[int]) -> NDArray[np.int32]:
    """Label rows by the chosen clusters, in the order of their first rows; -1 for noise."""
    of = np.full(len(tree.parent), -1, dtype=np.int64)
    of[clusters] = clusters
    for cluster in range(1, len(of)):
        if of[cluster] < 0:
            of[cluster] = of[tree.parent[cluster]]
    return renumber_by_first_row(of[tree.last])


def renumber_by_first_row(labels: NDArray[Any]) -> NDArray[np.int32]:
    """Renumber clusters 0, 1, ... in the order of their first rows; negative labels become -1."""
    names, first, at = np.unique(labels, return_index=True, return_inverse=True)
    kept = np.flatnonzero(names >= 0)
    number = np.full(len(names), -1, dtype=np.int32)
    number[kept[np.argsort(first[kept])]] = np.arange(len(kept))
    return number[at]


def extract_labels(
    children: Nodes, heights: Heights, constraints: Constraints, least: int, *, ties: Ties, whole: bool
) -> NDArray[np.int32]:
    """Label rows by the best choice of clusters from a dendrogram, as for `build_cluster_tree`.

    `ties` tells which choice counts if several satisfy equally many constraints: that of the more stable
    ("stability") or of the larger clusters. `whole` is as for `select_clusters`.
    """
    tree = build_cluster_tree(children, heights, least)
    judged = tree if ties == "stability" else tree._replace(stability=np.zeros(len(tree.parent)))
    return label_rows(tree, select_clusters(judged, score_clusters(tree, constraints), whole=whole))
