"""Extract the clusters of any hierarchy that satisfy most constraints.

Campello, Moulavi, Zimek and Sander (2013), "A framework for semi-supervised and unsupervised optimal
extraction of clusters from hierarchies": the choice of `linkwise.FOSC`, from an existing hierarchy. Heights
must not decrease towards the top, as those of centroid and median linkage may: a cut would then not be a part
of the dendrogram. Rows that were never merged are merged at the top.

Cost: O(n + constraints x depth), without the rows.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.hierarchy import dendrogram
from linkwise.cluster.hierarchy.cluster_tree import Ties, extract_labels
from linkwise.constraints.constraints import Constraints
from linkwise.errors import DataError
from linkwise.types import Labels

USUAL_SIZE = 4
SLACK = 1e-9  # by which heights may go down, relatively: sums in another order
KNOWN = (
    "Pass a linkage matrix of SciPy, a fitted HDBSCAN, OPTICS or linkwise.FOSC, or another fitted estimator "
    "with children_ and distances_, such as AgglomerativeClustering(compute_distances=True)."
)


class Merges(NamedTuple):
    """A dendrogram."""

    children: NDArray[np.int64]
    heights: NDArray[np.float64]
    n_rows: int


def extract(
    hierarchy: Any,
    constraints: Constraints | None = None,
    *,
    min_cluster_size: int | None = None,
    ties: Ties = "stability",
    allow_single_cluster: bool = False,
) -> Labels:
    """Extract the clusters of a hierarchy that satisfy most constraints.

    Parameters
    ----------
    hierarchy : array-like of shape (n_rows - 1, 4), or fitted estimator
        A linkage matrix of SciPy, or a fitted estimator: scikit-learn's HDBSCAN or OPTICS, the HDBSCAN of the
        package hdbscan, or any with ``children_`` and ``distances_``, such as AgglomerativeClustering with
        ``compute_distances=True``, `ConstrainedAgglomerative` and `FOSC`.
    constraints : Constraints, optional
        Must-links and cannot-links between the rows; none by default.
    min_cluster_size : int, at least 2, optional
        Smallest number of rows of a cluster. The default is the estimator's own parameter (for FOSC and
        OPTICS `min_samples` if it is not set), or else 4.
    ties : {"stability", "larger"}, default="stability"
        Which clusters are chosen if several choices satisfy equally many constraints: the more stable, or the
        larger ones.
    allow_single_cluster : bool, default=False
        Whether all rows may be one cluster although there are smaller ones. If there are none, they always
        are.

    Returns
    -------
    ndarray of shape (n_rows,)
        Clusters 0, 1, ... in order of their first rows; -1 is noise: rows that leave their cluster before a
        smaller one begins.

    Raises
    ------
    TypeError
        The hierarchy has an unknown type, or another argument has a wrong one.
    ValueError
        `min_cluster_size` is below 2, `ties` is unknown, or `constraints` are about another number of rows.
    DataError
        The hierarchy is malformed, or its heights decrease.

    References
    ----------
    Campello, Moulavi, Zimek and Sander (2013), A framework for semi-supervised and unsupervised optimal
    extraction of clusters from hierarchies. Data Mining and Knowledge Discovery 27.

    Examples
    --------
    >>> from scipy.cluster.hierarchy import linkage
    >>> import linkwise as lw
    >>> X = [[0.0], [1.0], [2.5], [3.5], [20.0], [21.0], [22.5], [23.5]]
    >>> lw.extract(linkage(X), min_cluster_size=2).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    >>> apart = lw.Constraints(8, cannot_link=[(0, 3)])
    >>> lw.extract(linkage(X), apart, min_cluster_size=2).tolist()
    [0, 0, 1, 1, 2, 2, 2, 2]
    """
    found = _check_merges(_find_merges(hierarchy))
    least = _min_cluster_size(hierarchy) if min_cluster_size is None else min_cluster_size
    if isinstance(least, bool) or not isinstance(least, Integral):
        raise TypeError(f"min_cluster_size is not a number of rows: {least!r}. Pass an integer, at least 2.")
    if least < 2:
        raise ValueError(f"min_cluster_size is too small: {least}. Pass at least 2 rows.")
    if ties not in ("stability", "larger"):
        raise ValueError(f"ties is unknown: {ties!r}. Pass 'stability' or 'larger'.")
    wanted = Constraints(found.n_rows) if constraints is None else constraints
    if not isinstance(wanted, Constraints):
        raise TypeError(f"constraints is a {type(wanted).__name__}. Build it with linkwise.Constraints(...).")
    if wanted.n_rows != found.n_rows:
        raise ValueError(
            f"The constraints are about {wanted.n_rows} rows, but the hierarchy holds {found.n_rows}."
        )
    return extract_labels(
        found.children, found.heights, wanted, int(least), ties=ties, whole=allow_single_cluster
    )


def _min_cluster_size(hierarchy: Any) -> int:
    """Return the smallest cluster size of an estimator; a share, as OPTICS allows, does not count."""
    for name in ("min_cluster_size", "min_samples"):
        known = getattr(hierarchy, name, None)
        if isinstance(known, Integral):
            return max(int(known), 2)
    return USUAL_SIZE


# ---------------------------------------------------------------- what hierarchies there are
def _find_merges(hierarchy: Any) -> Merges:
    """Find the merges of any kind of hierarchy."""
    if isinstance(hierarchy, type):
        raise TypeError(f"The hierarchy is a class: {hierarchy.__name__}. {KNOWN}")
    tree = getattr(hierarchy, "_single_linkage_tree_", getattr(hierarchy, "single_linkage_tree_", None))
    if (
        tree is not None
    ):  # of HDBSCAN: scikit-learn's with names of columns, or an object of the package hdbscan
        return _merges_of_linkage(
            _read_columns(tree) if getattr(tree, "dtype", None) and tree.dtype.names else tree
        )
    if hasattr(hierarchy, "reachability_") and hasattr(hierarchy, "ordering_"):
        order = np.asarray(hierarchy.ordering_, dtype=np.int64)
        return Merges(
            *dendrogram.convert_reachability(order, np.asarray(hierarchy.reachability_)[order]), len(order)
        )
    if hasattr(hierarchy, "children_"):
        return _merges_of_estimator(hierarchy)
    if hasattr(hierarchy, "fit"):
        raise TypeError(f"{type(hierarchy).__name__} is not fitted, or holds no hierarchy. {KNOWN}")
    return _merges_of_linkage(hierarchy)


def _read_columns(tree: Any) -> NDArray[np.float64]:
    return np.column_stack([tree[name] for name in ("left_node", "right_node", "value", "cluster_size")])


def _merges_of_estimator(model: Any) -> Merges:
    """Read ``children_``; rows that were not merged are merged at the top."""
    if not hasattr(model, "distances_"):
        raise TypeError(
            f"{type(model).__name__} holds merges without their heights. Create it with"
            " compute_distances=True "
            "and fit it again."
        )
    children = np.asarray(model.children_, dtype=np.int64).reshape(-1, 2)
    heights = np.asarray(model.distances_, dtype=np.float64)
    n, made = len(model.labels_), len(children)
    tops = np.setdiff1d(np.arange(n + made), children)
    last = n + made + np.arange(len(tops) - 1)  # the first joins the second, what comes of it the third, ...
    joins = np.column_stack([np.r_[tops[:1], last[:-1]][: len(last)], tops[1:]])
    return Merges(np.vstack([children, joins]), np.r_[heights, np.full(len(joins), np.inf)], n)


def _merges_of_linkage(given: Any) -> Merges:
    """A linkage matrix."""
    if hasattr(given, "to_numpy"):
        given = given.to_numpy()
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"The hierarchy is a {type(given).__name__}. {KNOWN}") from None
    if matrix.ndim != 2 or matrix.shape[1] < 3:
        raise TypeError(f"The hierarchy is an array of shape {matrix.shape}. {KNOWN}")
    nodes = matrix[:, :2]
    wrong = np.flatnonzero((nodes != np.floor(nodes)).any(axis=1) | ~np.isfinite(nodes).all(axis=1))
    if len(wrong):
        at = wrong[0]
        raise DataError(
            f"Merge {at} of the hierarchy joins {nodes[at].tolist()}. Number the rows from 0, and the"
            " i-th merge "
            "n_rows + i."
        )
    return Merges(nodes.astype(np.int64), matrix[:, 2].copy(), len(matrix) + 1)


# ---------------------------------------------------------------- whether they are sound
def _check_merges(found: Merges) -> Merges:
    """Check that it is a dendrogram; raise heights that decrease only by rounding."""
    children, heights, n = found
    if len(children) != n - 1 or len(heights) != n - 1:
        raise DataError(
            f"The hierarchy has {len(children)} merges of {n} rows and {len(heights)} heights. "
            f"Pass the {n - 1} merges that join all of them."
        )
    own = n + np.arange(n - 1)
    wrong = np.flatnonzero((children < 0).any(axis=1) | (children >= own[:, None]).any(axis=1))
    if len(wrong):
        at = wrong[0]
        raise DataError(
            f"Merge {at} of the hierarchy joins {children[at].tolist()}, but with {n} rows it can only join "
            f"0 to {n + at - 1}."
        )
    names, times = np.unique(children, return_counts=True)
    if (times > 1).any():
        raise DataError(
            f"The hierarchy joins node {names[times > 1][0]} twice. Each node belongs to one merge."
        )
    if np.isnan(heights).any() or (heights < 0).any():
        at = np.flatnonzero(~(heights >= 0))[0]
        raise DataError(
            f"Merge {at} of the hierarchy has height {heights[at]}. Heights are distances, 0 or more."
        )
    return found._replace(heights=_sort_merges(children, heights, n))


def _sort_merges(children: NDArray[np.int64], heights: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    lifted = heights.tolist()
    for at, parts in enumerate(children.tolist()):
        below = max((lifted[part - n] for part in parts if part >= n), default=0.0)
        if lifted[at] < below * (1 - SLACK):
            raise DataError(
                f"The heights of the hierarchy decrease: merge {at} at {lifted[at]:.6g} contains one at "
                f"{below:.6g}. Use a linkage whose heights never decrease: single, complete, average or ward."
            )
        lifted[at] = max(lifted[at], below)
    return np.array(lifted)
