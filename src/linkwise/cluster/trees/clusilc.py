"""ClusILC: disjunctive clustering trees, whose clusters come with a description.

Struyf and Džeroski (2007), "Clustering trees with instance level constraints": a tree of tests on the
columns, whose leaves have labels; a cluster is the union of all leaves with one label. The tree grows by the
split, of any leaf, that minimises

    H = (1 - gamma) * (squares within leaves) / (squares of all rows)
        + gamma * (broken constraints) / (constraints)

where the constraints include all implied ones. The two sides of a split get different labels, old or new
ones.

Kept: the heuristic, the global choice of the leaf, labels by both orders, at most `n_clusters` labels.
Settled where the paper is silent, as its authors' system does: a side may have an old label only if a must-
link leads to it (``label_rule="evidence"``), since otherwise a side without constraints fits any label and
clusters merge at random; thresholds are tried from large to small, and the first of equals wins.
`ClusILC.paper` allows any old label, as the text does; of labels that fit equally well it takes a new one,
then the one whose rows have the nearest mean. `ClusILC.authors` is their system in two more things: repeated
implied cannot-links and a bound on the largest label. Changed: every attribute counts equally
(``standardize=True``), so the result does not depend on units. Added: a beam of trees, nominal columns,
weights of rows, bounds on the size of the tree.

Cost: O(n d² depth) for the sums, since the best split of a leaf is cached until a label changes that its
constraints reach; O(leaves²) for the choice of leaves. Constraints are counted by component, never by pair. A
nominal column becomes one column for each of its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from linkwise import parallel
from linkwise.cluster.base import ScoredByConstraints, count_clusters
from linkwise.cluster.trees.columns import build_columns
from linkwise.cluster.trees.growth import (
    MARGIN,
    GrowthProblem,
    price_square,
    search_tree,
)
from linkwise.cluster.trees.leaf_rows import LeafRows
from linkwise.cluster.trees.linked_rows import count_implied_pairs, find_linked_rows
from linkwise.cluster.trees.tree import Tree
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels, Progress
from linkwise.validation import check_constraints, check_rows, refuse_constraints_as_y


class ClusILC(ScoredByConstraints, ClusterMixin, BaseEstimator):
    """A clustering tree that fits the rows and the constraints.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Largest number of clusters; by default any number.
    gamma : float, default=0.5
        Weight of the constraints in the heuristic, 0 to 1; the rest is the weight of the sum of squares.
    min_samples_leaf : int, default=2
        Smallest number of rows (or weight, with `sample_weight`) of a leaf.
    label_rule : {"evidence", "any"}, default="evidence"
        Which old labels a side of a split may get: only those that a must-link leads to, or any.
    count_repeats : bool, default=False
        Whether an implied cannot-link counts once for each cannot-link between the two components, as in the
        authors' program. Then well-connected components count far more than others.
    bound : {"labels", "largest"}, default="labels"
        What `n_clusters` bounds: the number of labels; or the largest one, numbered from 1, although lower
        numbers may be unused, as in the authors' program.
    standardize : bool, default=True
        Whether every column counts equally in the sum of squares. X itself does not change.
    nominal : sequence of int, default=()
        Columns whose values are codes of categories; their tests compare with one value.
    max_leaves, max_depth : int or None, default=None
        Largest number of leaves, and of tests from the root to a leaf; None means no limit.
    beam_width : int, default=1
        Number of trees in the beam; 1 is the paper's greedy search.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break.
    constraints_ : Constraints
        The constraints of the fit.
    tree_ : Tree
        The tree.
    n_leaves_ : int
        Number of leaves of the tree.
    heuristic_ : float
        H of the tree.
    heuristics_ : ndarray of shape (n_leaves - 1,)
        H after each split.

    Notes
    -----
    Weights of constraints have no effect, since implied constraints have none. Without constraints the tree
    minimises the sum of squares alone; limit it by `max_leaves` or `min_samples_leaf`. For rows that stay in
    files, see `linkwise.cluster_rows`.

    References
    ----------
    Struyf and Džeroski (2007), Clustering trees with instance level constraints. ECML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> c = lw.Constraints.sample(y, 100, random_state=0)
    >>> model = lw.ClusILC(3).fit(X, constraints=c)
    >>> model.n_clusters_
    3
    """

    tree_: Tree

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True, "sample_weight": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "gamma": [Interval(Real, 0, 1, closed="both")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "label_rule": [StrOptions({"evidence", "any"})],
        "count_repeats": ["boolean"],
        "bound": [StrOptions({"labels", "largest"})],
        "standardize": ["boolean"],
        "nominal": ["array-like"],
        "max_leaves": [Interval(Integral, 1, None, closed="left"), None],
        "max_depth": [Interval(Integral, 0, None, closed="left"), None],
        "beam_width": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        gamma: float = 0.5,
        min_samples_leaf: int = 2,
        label_rule: Literal["evidence", "any"] = "evidence",
        count_repeats: bool = False,
        bound: Literal["labels", "largest"] = "labels",
        standardize: bool = True,
        nominal: Sequence[int] = (),
        max_leaves: int | None = None,
        max_depth: int | None = None,
        beam_width: int = 1,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.min_samples_leaf = min_samples_leaf
        self.label_rule = label_rule
        self.count_repeats = count_repeats
        self.bound = bound
        self.standardize = standardize
        self.nominal = nominal
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.beam_width = beam_width

    @classmethod
    def paper(cls, n_clusters: int | None = None, **parameters: Any) -> Self:
        """Create the method as printed: raw columns, and any old label for a side of a split (Section 3).

        Parameters
        ----------
        n_clusters : int or None, default=None
            Largest number of clusters; by default any number.
        **parameters : Any
            Parameters of `ClusILC` that replace those of the preset.

        Returns
        -------
        ClusILC
            The method, not fitted.
        """
        return cls(n_clusters, **{"standardize": False, "label_rule": "any", **parameters})

    @classmethod
    def authors(cls, n_clusters: int | None = None, **parameters: Any) -> Self:
        """Create the method as in the authors' program, Clus, whose trees the paper's figures show.

        An old label needs a must-link that leads to it. An implied cannot-link counts once for each given one
        that leads to it, and `n_clusters` bounds the largest label. The columns are raw, as in `paper`.

        Parameters
        ----------
        n_clusters : int or None, default=None
            Largest number of clusters; by default any number.
        **parameters : Any
            Parameters of `ClusILC` that replace those of the preset.

        Returns
        -------
        ClusILC
            The method, not fitted.
        """
        program = {"standardize": False, "count_repeats": True, "bound": "largest"}
        return cls(n_clusters, **{**program, **parameters})

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Constraints | None = None,
        sample_weight: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            Not used; scikit-learn passes it.
        constraints : Constraints, optional
            Must-links and cannot-links between the rows; none by default.
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 0 has no effect, but gets the label of the leaf that it reaches.
        progress : callable, optional
            Called as ``progress(leaves, most)`` after each split; most is `max_leaves`, or the current
            number.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            `n_clusters` is above the number of rows, or `constraints` are about another number of rows.
        """
        refuse_constraints_as_y(y)
        self._validate_params()
        rows: NDArray[Any] = check_rows(X, self)
        if self.n_clusters is not None:
            count_clusters(rows, self.n_clusters)  # warns of fewer distinct rows
        wanted = check_constraints(constraints, rows)
        if sample_weight is None:
            problem = self._problem(rows, wanted, None)
        else:
            weight = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
            there = np.flatnonzero(weight)
            problem = self._problem(rows[there], wanted[there], weight[there])
        found = search_tree(problem, progress)
        self.tree_ = found.tree()
        self.n_leaves_ = len(found.leaves)
        self.heuristics_ = np.array([problem.heuristic(s, b) for s, b in found.course[1:]])
        self.heuristic_ = problem.heuristic(*found.course[-1])
        self.labels_ = self.tree_.predict(rows)
        self.n_clusters_ = len(np.unique(self.labels_))
        self.violations_ = int(sum(broken.sum() for broken in wanted.find_violations(self.labels_)))
        self.constraints_ = wanted
        return self

    def _problem(
        self, X: NDArray[Any], constraints: Constraints, weight: NDArray[np.float64] | None
    ) -> GrowthProblem:
        threads = parallel.n_threads()
        columns = build_columns(X, self._nominal(X), weight, standardize=self.standardize, n_threads=threads)
        each = (columns.features**2).sum(axis=1)
        squares = float(each.sum() if weight is None else weight @ each)
        linked, n_rows = find_linked_rows(constraints, with_repeats=self.count_repeats), len(X)
        per_square = price_square(self.gamma, squares)
        tie = MARGIN / per_square if per_square else np.inf
        return GrowthProblem(
            LeafRows.of_all(columns, weight, linked.place, self.min_samples_leaf, tie, threads),
            n_rows,
            linked,
            squares,
            count_implied_pairs(linked) + len(constraints.conflicts),
            len(constraints.conflicts),
            self.gamma,
            n_rows if self.n_clusters is None else self.n_clusters,
            self.bound == "labels",
            self.label_rule == "evidence",
            n_rows if self.max_leaves is None else self.max_leaves,
            n_rows if self.max_depth is None else self.max_depth,
            self.beam_width,
        )

    def _nominal(self, X: NDArray[Any]) -> tuple[int, ...]:
        words = [j for j in self.nominal if isinstance(j, bool) or not isinstance(j, (int, np.integer))]
        if words:
            raise TypeError(f"nominal holds {words[0]!r}. Pass positions of columns, 0 to {X.shape[1] - 1}.")
        wrong = [j for j in self.nominal if not 0 <= j < X.shape[1]]
        if wrong:
            raise ValueError(f"nominal names column {wrong[0]}, but the columns are 0 to {X.shape[1] - 1}.")
        return tuple(int(j) for j in self.nominal)

    def predict(self, X: ArrayLike) -> Labels:
        """Return the label of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row.
        """
        check_is_fitted(self)
        return self.tree_.predict(check_rows(X, self, reset=False))
