"""Agglomerative clustering that breaks no constraint.

Davidson and Ravi (2005), "Agglomerative hierarchical clustering with constraints: theoretical and empirical
results". Rows joined by must-links start as one cluster; then the two nearest clusters are merged repeatedly,
but never two clusters that hold the ends of a cannot-link.

Kept: both. A cannot-link is an infinite distance, and every linkage passes it on to the merged cluster.
Changed, and why:

- Merging may reach a dead end with more clusters than asked for (Davidson and Ravi): a cannot-link separates
  each two, although other merges would have led further. Then every part that cannot-links connect starts as
  `n_clusters` groups, found by colouring as in `COPKMeans`, and merging starts again; with two clusters this
  always succeeds. If it fails, one colouring serves all rows with cannot-links. ``fell_back_`` tells whether
  this happened.
- Identical rows without constraints also start as one cluster, so that a tie never separates them.

Cost: O(m²) memory and time, for m components of rows; O(n² d) for the distances.
"""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise import native, parallel
from linkwise.cluster.kmeans.feasible import find_separating_labels
from linkwise.cluster.nearest_row import NearestRowClusterer
from linkwise.constraints.closure import find_components
from linkwise.constraints.constraints import Constraints
from linkwise.errors import DataError, InfeasibleConstraintsError
from linkwise.native.agglomerate import LINKAGES, Linkage
from linkwise.types import Labels, Progress

MOST = 20_000  # components: their distances take 3.2 GB
BEYOND = 1e100  # more than rows are apart in units of the largest value
CELLS = 2**22  # distances that are looked at together


class ConstrainedAgglomerative(NearestRowClusterer):
    """Agglomerative clustering that breaks no constraint.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    linkage : {"ward", "complete", "average", "single"}, default="ward"
        Distance of two clusters: by how much a merge increases the squares within clusters ("ward"), or the
        largest, mean or smallest distance of their rows.
    distance_threshold : float, optional
        Clusters farther apart than this are not merged, so there may be more than `n_clusters`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Always 0.
    children_ : ndarray of shape (n_merges, 2)
        Merged nodes, numbered as in scikit-learn and SciPy: rows, and n_rows + i for the i-th merge.
    distances_ : ndarray of shape (n_merges,)
        Distance of each merge; 0 for rows that start as one cluster.
    fell_back_ : bool
        Whether merging reached a dead end and started again from groups of rows with cannot-links.

    Notes
    -----
    Heights of "ward" are those of SciPy and scikit-learn: the root of twice the increase of the squares.
    A hierarchy has no rule for new rows, so `predict` is an approximation: the cluster of the nearest fitted
    row.

    References
    ----------
    Davidson and Ravi (2005), Agglomerative hierarchical clustering with constraints: theoretical and
    empirical results. PKDD.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0]])
    >>> c = lw.Constraints(4, must_link=[(2, 3)], cannot_link=[(0, 2)])
    >>> lw.ConstrainedAgglomerative(2).fit(X, constraints=c).labels_.tolist()
    [0, 0, 1, 1]
    """

    hard: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "linkage": [StrOptions(set(LINKAGES))],
        "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self, n_clusters: int = 2, *, linkage: Linkage = "ward", distance_threshold: float | None = None
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.distance_threshold = distance_threshold

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        rows = X - X.mean(axis=0, dtype=np.float64)
        unit = float(np.abs(rows).max()) or 1.0  # squares might leave the range of a float otherwise
        rows /= unit
        squared = self.linkage == "ward"
        threshold = BEYOND if self.distance_threshold is None else min(self.distance_threshold, 1e300)
        most = min(threshold / unit, BEYOND)
        told = progress or (lambda done, planned: None)
        begun = _find_initial_clusters(X, constraints)
        merged = _merge_clusters(rows, begun, self.linkage, k, most**2 if squared else most, told)
        self.fell_back_ = False
        for by_part in (True, False):
            if self.distance_threshold is not None or len(begun.first) - len(merged.pairs) <= k:
                break
            self.fell_back_, begun = True, _merge_by_colour(begun, constraints, k, by_part=by_part)
            merged = _merge_clusters(rows, begun, self.linkage, k, most, told)
        heights = np.sqrt(merged.heights) if squared else merged.heights
        self.children_ = _build_tree(begun, merged.pairs)
        self.distances_ = np.r_[np.zeros(len(self.children_) - len(heights)), heights * unit]
        told(2, 2)
        return _read_labels(begun, merged.pairs)


class InitialClusters(NamedTuple):
    """The clusters before the first merge."""

    number: NDArray[np.int64]
    """(n,) cluster of each row, in order of their first rows."""
    first: NDArray[np.int64]
    """(m,) first row of each."""
    apart: NDArray[np.int64]
    """(q, 2) clusters that cannot-links keep apart."""


class MergeSequence(NamedTuple):
    """The merged pairs of clusters and their distances."""

    pairs: NDArray[np.int64]
    heights: NDArray[np.float64]


def _find_initial_clusters(X: NDArray[Any], constraints: Constraints) -> InitialClusters:
    """Find the components of the must-links, and merge identical rows without constraints."""
    free = np.ones(len(X), dtype=bool)
    free[constraints.must_link] = free[constraints.cannot_link] = False
    rows = np.flatnonzero(free)
    _, first, copy = np.unique(X[rows] + 0.0, axis=0, return_index=True, return_inverse=True)
    copies = np.column_stack([rows, rows[first[copy.ravel()]]])
    must = np.vstack([constraints.must_link, copies[copies[:, 0] != copies[:, 1]]])
    return _number_by_first_row(find_components(len(X), must), constraints)


def _number_by_first_row(number: NDArray[np.int64], constraints: Constraints) -> InitialClusters:
    first = np.unique(number, return_index=True)[1]
    return InitialClusters(number, first, np.unique(np.sort(number[constraints.cannot_link], axis=1), axis=0))


def _merge_by_colour(
    begun: InitialClusters, constraints: Constraints, k: int, *, by_part: bool
) -> InitialClusters:
    """The same with clusters that are apart from others in at most k groups; raises where there are none.

    By part, whatever cannot-links connect has groups of its own.
    """
    nodes, place = np.unique(begun.apart, return_inverse=True)
    pairs = np.ascontiguousarray(place.reshape(-1, 2), dtype=np.int32)
    colours = find_separating_labels(pairs, len(nodes), k, begun.first[nodes])
    if colours is None:
        raise InfeasibleConstraintsError(
            f"The search found no way to satisfy {len(pairs)} cannot-links with {k} clusters, although"
            " there may "
            "be one. Allow more clusters, remove a cannot-link, or use a method that may break "
            "constraints, such as PCKMeans."
        )
    part = (
        find_components(len(nodes), pairs.astype(np.int64))
        if by_part
        else np.zeros(len(nodes), dtype=np.int64)
    )
    _, first, group = np.unique(part * k + colours, return_index=True, return_inverse=True)
    groups = np.column_stack([nodes, nodes[first[group.ravel()]]])
    number = find_components(len(begun.first), groups[groups[:, 0] != groups[:, 1]])[begun.number]
    return _number_by_first_row(number, constraints)


def _merge_clusters(
    rows: NDArray[np.float64],
    begun: InitialClusters,
    linkage: Linkage,
    k: int,
    most: float,
    told: Progress,
) -> MergeSequence:
    m = len(begun.first)
    if m > MOST:
        raise DataError(
            f"There are {m} rows or groups of must-linked rows, too many to store all distances (at most "
            f"{MOST}). Cluster a sample, or use a method whose memory does not grow with their square, such "
            "as COPKMeans."
        )
    size = np.bincount(begun.number)
    distances = _distances(rows, begun.number, size, linkage)
    one, other = begun.apart.T
    distances[one, other] = distances[other, one] = np.inf
    told(1, 2)
    return MergeSequence(*native.agglomerate(distances, size, linkage, k, most))


def _distances(
    rows: NDArray[np.float64], number: NDArray[np.int64], size: NDArray[np.int64], linkage: Linkage
) -> NDArray[np.float64]:
    """Compute the (m, m) distances of the initial clusters."""
    m = len(size)
    if linkage == "ward":
        total, _ = native.label_sums(rows, number.astype(np.int32), m, None, parallel.n_threads())
        means = total / size[:, None]
        weight = size.astype(np.float64)
        squares = native.squared_distances(means, means, parallel.n_threads())
        for own, row in zip(weight.tolist(), squares, strict=True):  # in place: there are m x m
            row *= own * weight / (0.5 * (own + weight))
        return squares
    reduce = {"single": np.minimum, "complete": np.maximum, "average": np.add}[linkage]
    order = np.argsort(number, kind="stable")
    by_cluster, starts = rows[order], np.r_[0, np.cumsum(size)[:-1]]
    ones = by_cluster[starts]  # right for clusters of one row
    found = native.squared_distances(ones, ones, parallel.n_threads())
    np.sqrt(found, out=found)
    several = np.flatnonzero(size > 1)
    for a, b in _chunk_clusters(size[several], max(CELLS // len(rows), 1)):
        some = several[a:b]
        of_some = by_cluster[np.concatenate([np.arange(starts[c], starts[c] + size[c]) for c in some])]
        by_row = reduce.reduceat(cdist(of_some, by_cluster), starts, axis=1)
        found[some] = reduce.reduceat(by_row, np.r_[0, np.cumsum(size[some])[:-1]], axis=0)
        if linkage == "average":
            found[some] /= np.multiply.outer(size[some].astype(np.float64), size)
    found[:, several] = found[several].T
    return found


def _chunk_clusters(size: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Split the clusters into chunks of about `most` rows."""
    part = np.cumsum(size) // most
    starts = np.flatnonzero(np.diff(part, prepend=-1)).tolist()
    return list(pairwise([*starts, len(size)]))


def _build_tree(begun: InitialClusters, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """List the merges: first rows to initial clusters, then clusters."""
    n = len(begun.number)
    node, children = np.arange(n), []
    at = begun.first.copy()  # the node of each cluster

    def joined(cluster: int, other: int) -> None:
        children.append(sorted((int(at[cluster]), other)))
        at[cluster] = n + len(children) - 1

    later = np.ones(n, dtype=bool)
    later[begun.first] = False
    for row in node[later].tolist():
        joined(int(begun.number[row]), row)
    for a, b in pairs.tolist():
        joined(a, int(at[b]))
    return np.array(children, dtype=np.int64).reshape(-1, 2)


def _read_labels(begun: InitialClusters, pairs: NDArray[np.int64]) -> Labels:
    """Label the rows, clusters in the order of their first rows."""
    return find_components(len(begun.first), pairs)[begun.number].astype(np.int32)
