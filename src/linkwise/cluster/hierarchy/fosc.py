"""FOSC: the clusters of a density hierarchy that satisfy most constraints.

Campello, Moulavi, Zimek and Sander (2013), "A framework for semi-supervised and unsupervised optimal
extraction of clusters from hierarchies". A hierarchy contains clusters within clusters. The best choice of
clusters that do not overlap, with one on every path to the bottom, satisfies most constraints. This is a sum
over the clusters, so one pass from the bottom to the top finds it.

Kept: each constraint has two ends, and each end counts half if the cluster of its row satisfies it. A row in
no cluster is noise and apart from all other rows: it satisfies its cannot-links and breaks its must-links.
The hierarchy is that of OPTICS, as in the paper's FOSC-OPTICSDend, or of HDBSCAN.

Changed, and why:

- Ties go to the most stable clusters (Campello, Moulavi and Sander 2013), so the choice without constraints
  is HDBSCAN's, and with few constraints it still is in parts of the data without any. The paper's rule, the
  larger clusters, is ``ties="larger"``. Its weighted mean of both objectives is left out.
- OPTICS begins at the densest row, and rows that tie are ordered by their values, so the result does not
  depend on the order of the rows. Merges at the same height are one merge.
- If no part of the hierarchy is large enough, all rows are one cluster, not noise.
- With ``noise="nearest"`` noise is assigned to the nearest cluster at the end.

Cost: about O(n log n) time for the hierarchy with few features and O(n² d) with many (`walk_from_densest`),
O(n (d + min_samples)) memory; O(n + constraints x depth) for the choice.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.cluster.base import ScoredByConstraints, isolate_noise
from linkwise.cluster.hierarchy import dendrogram
from linkwise.cluster.hierarchy.cluster_tree import Ties, extract_labels, renumber_by_first_row
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels, Progress
from linkwise.validation import check_constraints, check_rows, refuse_constraints_as_y


class DensityRule(NamedTuple):
    """The rule for new rows: the cluster of the nearest fitted row, as far as the cluster reaches."""

    rows: NDArray[Any]
    """(n, d)"""
    labels: Labels
    """(n,)"""
    start: NDArray[np.float64]
    """(n,) squared height at which a copy of each row would join: its core distance, or where the row did."""
    reach: NDArray[np.float64]
    """(n,) squared height at which the cluster of each row ends; infinite for noise, which has none."""

    def find(self, X: NDArray[Any]) -> Labels:
        """Return the label of each row; -1 where it would join after its cluster has ended."""
        points = np.ascontiguousarray(self.rows, dtype=np.float64)
        near, squares = native.nearest_points(X, points, parallel.n_threads())
        outside = (squares > 0) & (np.maximum(squares, self.start[near]) >= self.reach[near])
        return np.where(outside, -1, self.labels[near]).astype(np.int32)


class FOSC(ScoredByConstraints, ClusterMixin, BaseEstimator):
    """The clusters of a density hierarchy that satisfy most constraints; their number need not be known.

    Parameters
    ----------
    min_cluster_size : int, at least 2, optional
        Smallest number of rows of a cluster; by default `min_samples`, but at least 2.
    min_samples : int, default=4
        The core distance of a row is the distance within which there are this many rows, itself included.
        Larger values smooth the density.
    hierarchy : {"optics", "hdbscan"}, default="optics"
        The reachability plot of OPTICS, or single linkage of mutual reachability distances.
    ties : {"stability", "larger"}, default="stability"
        Which clusters are chosen if several choices satisfy equally many constraints: the more stable, or the
        larger ones.
    noise : {"label", "nearest"}, default="label"
        What to do with rows in no cluster: label them -1, or assign them to the cluster of the nearest row,
        even if that breaks constraints.
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster although there are smaller ones. If there are none, they always
        are.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Clusters 0, 1, ... in order of their first rows; -1 is noise.
    n_clusters_ : int
        Number of clusters of `labels_`; noise does not count.
    violations_ : int
        Number of broken constraints. A row of noise is apart from all other rows, including other noise.
    children_ : ndarray of shape (n_rows - 1, 2)
        The hierarchy: merges, numbered as in SciPy and scikit-learn (rows, and n_rows + i for the i-th
        merge).
    distances_ : ndarray of shape (n_rows - 1,)
        Their heights, ascending.

    Notes
    -----
    Constraints choose among the clusters of the hierarchy; they do not change it. `extract` does the same for
    any hierarchy. `predict` is new here: the paper clusters the given rows only.

    References
    ----------
    Campello, Moulavi, Zimek and Sander (2013), A framework for semi-supervised and unsupervised optimal
    extraction of clusters from hierarchies. Data Mining and Knowledge Discovery 27. Ankerst, Breunig, Kriegel
    and Sander (1999), OPTICS: ordering points to identify the clustering structure. SIGMOD. Campello, Moulavi
    and Sander (2013), Density-based clustering based on hierarchical density estimates. PAKDD.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> import linkwise as lw
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> lw.FOSC().fit(X, constraints=lw.Constraints.sample(y, 20, 0)).n_clusters_
    2
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True}

    leaves_noise: ClassVar[bool] = True
    """Rows may be in no cluster, label -1, apart from all others."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_cluster_size": [Interval(Integral, 2, None, closed="left"), None],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
        "hierarchy": [StrOptions({"optics", "hdbscan"})],
        "ties": [StrOptions({"stability", "larger"})],
        "noise": [StrOptions({"label", "nearest"})],
        "allow_single_cluster": ["boolean"],
    }

    def __init__(
        self,
        min_cluster_size: int | None = None,
        *,
        min_samples: int = 4,
        hierarchy: Literal["optics", "hdbscan"] = "optics",
        ties: Ties = "stability",
        noise: Literal["label", "nearest"] = "label",
        allow_single_cluster: bool = False,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.hierarchy = hierarchy
        self.ties = ties
        self.noise = noise
        self.allow_single_cluster = allow_single_cluster

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Constraints | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Fit the clusterer.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            Not used; scikit-learn passes it.
        constraints : Constraints, optional
            Must-links and cannot-links between the rows; none by default.
        progress : callable, optional
            Called as ``progress(done, planned)`` during the work. An exception that it raises ends the work.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        refuse_constraints_as_y(y)
        rows = check_rows(X, self)
        wanted = check_constraints(constraints, rows)
        told = progress or (lambda done, planned: None)
        order = np.lexsort(rows.T[::-1])  # ties go by the values of the rows
        in_order = np.ascontiguousarray(rows[order])
        told(0, 3)
        mutual = self.hierarchy == "hdbscan"
        core, walk = native.walk_from_densest(
            in_order, min(self.min_samples, len(rows)), parallel.n_threads(), mutual=mutual
        )
        told(1, 3)
        children, heights = _build_hierarchy(in_order, order, core, walk, mutual=mutual)
        told(2, 3)
        least = max(self.min_samples, 2) if self.min_cluster_size is None else self.min_cluster_size
        labels = extract_labels(
            children, heights, wanted, least, ties=self.ties, whole=self.allow_single_cluster
        )
        start = np.minimum(core, _find_first_merges(children, heights)[order] ** 2)
        reach = _cluster_reach(children, heights, labels) ** 2
        if self.noise == "nearest":
            labels, reach = _assign_noise(rows, order, labels), np.full(len(rows), np.inf)
        told(3, 3)
        self._rule = DensityRule(in_order, labels[order], start, reach[order])
        self.children_, self.distances_ = children, heights
        self.labels_: Labels = labels
        self.n_clusters_ = int(labels.max()) + 1
        self.violations_ = int(sum(broken.sum() for broken in wanted.find_violations(isolate_noise(labels))))
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """Assign each row to the cluster of the nearest fitted row, or to none if that cluster ends before.

        A new row would join at its distance to the nearest fitted row, but not below the height of a copy of
        that row: its core distance, or the height at which the row itself joined if it is lower, as OPTICS
        has it. The new row is noise if the cluster has merged with others at this height, or if the nearest
        row is noise. With ``noise="nearest"`` no row is noise.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row, -1 for noise. Fitted rows get their own labels, also after rounding.
        """
        check_is_fitted(self)
        return self._rule.find(check_rows(X, self, reset=False))


def _build_hierarchy(
    rows: NDArray[Any],
    order: NDArray[np.int64],
    core: NDArray[np.float64],
    walk: native.DensityWalk,
    *,
    mutual: bool,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Build the merges and their heights for rows that are sorted by `order`; ties go by this order."""
    if mutual:
        return dendrogram.build_single_linkage(order[walk.before[1:]], order[walk.order[1:]], walk.reach[1:])
    visited, reach = _gather_copies(rows, walk.order, walk.reach, core)
    return dendrogram.convert_reachability(order[visited], reach)


def _gather_copies(
    rows: NDArray[Any], visited: NDArray[np.int64], reach: NDArray[np.float64], core: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Put identical rows next to each other in a reachability plot, so that none ends up in another cluster.

    A copy has the distances and the core distance of the first one. To visit it at once changes the height
    of no other row. `rows` are sorted, and `core` holds squares.
    """
    group = np.r_[0, np.cumsum((rows[1:] != rows[:-1]).any(axis=1))]
    _, first, of = np.unique(group[visited], return_index=True, return_inverse=True)
    first = first[of]
    is_copy = first != np.arange(len(first))
    height = np.where(is_copy, np.minimum(reach[first], np.sqrt(core[visited])), reach)
    gathered = np.argsort(first, kind="stable")
    return visited[gathered], height[gathered]


def _find_first_merges(children: NDArray[np.int64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find the height at which each row first merges with another; infinite if it is the only row."""
    first = np.full(len(heights) + 1, np.inf)
    for part in children.T:
        is_row = part < len(first)
        first[part[is_row]] = heights[is_row]
    return first


def _cluster_reach(
    children: NDArray[np.int64], heights: NDArray[np.float64], labels: Labels
) -> NDArray[np.float64]:
    """Find for each row the height at which its cluster merges with other rows; infinite if it never does."""
    n, mixed = len(labels), -2
    ends = np.full(int(labels.max()) + 1, np.inf)
    of = [*labels.tolist(), *[mixed] * (n - 1)]  # the one label of each node
    for at, (a, b) in enumerate(children.tolist()):
        if of[a] == of[b]:
            of[n + at] = of[a]
            continue
        for label in (of[a], of[b]):
            if label >= 0:
                ends[label] = heights[at]
    return np.where(labels >= 0, ends[np.maximum(labels, 0)], np.inf)


def _assign_noise(X: NDArray[Any], order: NDArray[np.int64], labels: Labels) -> Labels:
    """Assign noise to the cluster of the nearest row; of equally near rows, the first in `order`."""
    noise, inside = np.flatnonzero(labels < 0), order[labels[order] >= 0]
    if len(noise) == 0:
        return labels
    near, _ = native.nearest_points(
        np.ascontiguousarray(X[noise]),
        np.ascontiguousarray(X[inside], dtype=np.float64),
        parallel.n_threads(),
    )
    settled = labels.copy()
    settled[noise] = labels[inside[near]]
    return renumber_by_first_row(settled)
