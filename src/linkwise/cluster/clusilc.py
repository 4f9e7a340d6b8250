"""ClusILC: disjunctive clustering trees, clusters that say what they are.

Struyf and Džeroski (2007), "Clustering trees with instance level constraints": a tree of tests on the
columns, whose leaves bear labels; a cluster is all leaves of one label. The tree grows by the one split,
of any leaf, that makes

    H = (1 - gamma) * (squares within leaves) / (squares of all rows)
        + gamma * (broken constraints) / (constraints)

smallest, constraints counted with all that follows from them; the two sides of a split get different
labels, old or new ones.

Kept: the heuristic, the global choice of the leaf, labels by both orders, at most `n_clusters` labels.
Settled where the paper is silent, as its authors' system does: a side may have an old label only if a
must-link leads to it (``label_rule="evidence"``), since otherwise sides without constraints fit any label
and clusters are glued together at random; thresholds are tried from large to small and the first of equals
stands. Changed: every attribute counts alike (``standardize=True``), since the unit of a column should
decide nothing. Added: a beam of trees, nominal columns, weights of rows, bounds on the size of the tree.

Cost: O(n d² depth) for the sums, since a leaf's best split is kept until a label changes that its
constraints reach; constraints cost by component, never by pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from linkwise import kernels, parallel
from linkwise.cluster.common.columns import Columns, columns_of
from linkwise.cluster.common.linked import linked_rows, pairs_that_follow
from linkwise.cluster.common.tree import Path, Tree, tree_of
from linkwise.constraints import Constraints, constraint_score
from linkwise.inputs import checked_constraints, checked_rows
from linkwise.learner import Labels, Progress


class ClusILC(ClusterMixin, BaseEstimator):
    """A clustering tree that fits the rows and the constraints.

    Parameters
    ----------
    n_clusters : int or None
        Most clusters there may be; None: any number.
    gamma : float
        Share of the constraints in the heuristic, 0 to 1; the rest is the sum of squares.
    min_samples_leaf : int
        Rows (or weight, with `sample_weight`) of a leaf at least.
    label_rule : {"evidence", "any"}
        Which old labels a side of a split may have: only those that a must-link leads to, or any.
    standardize : bool
        Whether every column counts alike in the sum of squares. X itself is not changed.
    nominal : sequence of int
        Columns whose values are names written as numbers; tests on them ask for one value.
    max_leaves, max_depth : int or None
        Bounds on the tree.
    beam_width : int
        Trees that are kept at every step; 1 is the paper's greedy search.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
    n_clusters_ : int
    violations_ : int
        Number of constraints that `labels_` break.
    tree_ : Tree
    n_leaves_ : int
    heuristic_ : float
        H of the tree.
    heuristics_ : ndarray of shape (n_leaves - 1,)
        H after each split.

    Notes
    -----
    Weights of constraints are not used: what follows from constraints has none. Without constraints a
    tree for the sum of squares alone grows, which `max_leaves` or `min_samples_leaf` should bound.

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

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True, "sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"constraints": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "gamma": [Interval(Real, 0, 1, closed="both")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "label_rule": [StrOptions({"evidence", "any"})],
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
        self.standardize = standardize
        self.nominal = nominal
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.beam_width = beam_width

    @classmethod
    def paper(cls, n_clusters: int | None = None, **parameters: Any) -> Self:
        """As printed: raw columns."""
        return cls(n_clusters, **{"standardize": False, **parameters})

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
        y : ignored
        constraints : Constraints, optional
        sample_weight : array-like of shape (n_rows,), optional
            A row of weight 0 takes no part, but gets the label of the leaf that it reaches.
        progress : callable, optional
            ``progress(leaves, most)`` after each split; most is `max_leaves`, or the leaves there are.

        Returns
        -------
        self
        """
        self._validate_params()
        rows = checked_rows(X, self)
        wanted = checked_constraints(constraints, rows)
        if self.n_clusters is not None and self.n_clusters > len(rows):
            raise ValueError(
                f"n_samples={len(rows)} should be >= n_clusters={self.n_clusters}; want fewer clusters"
            )
        if sample_weight is None:
            problem = self._problem(rows, wanted, None)
        else:
            weight = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
            there = np.flatnonzero(weight)
            problem = self._problem(rows[there], wanted[there], weight[there])
        found = searched(problem, progress)
        self.tree_ = found.tree()
        self.labels_ = self.tree_.predict(rows)
        self.n_clusters_ = len(np.unique(self.labels_))
        self.violations_ = int(sum(broken.sum() for broken in wanted.violated(self.labels_)))
        self.n_leaves_ = len(found.leaves)
        self.heuristics_ = np.array([problem.heuristic(s, b) for s, b in found.course[1:]])
        self.heuristic_ = problem.heuristic(*found.course[-1])
        return self

    def _problem(
        self, X: NDArray[Any], constraints: Constraints, weight: NDArray[np.float64] | None
    ) -> Problem:
        columns = columns_of(
            X, self._nominal(X), weight, standardize=self.standardize, n_threads=parallel.n_threads()
        )
        linked = linked_rows(constraints)
        squares = (columns.features**2).sum(axis=1)
        return Problem(
            columns,
            weight,
            linked,
            float(squares.sum() if weight is None else weight @ squares),
            pairs_that_follow(linked) + len(constraints.conflicts),
            len(constraints.conflicts),
            self.gamma,
            len(X) if self.n_clusters is None else self.n_clusters,
            self.min_samples_leaf,
            self.label_rule == "evidence",
            len(X) if self.max_leaves is None else self.max_leaves,
            len(X) if self.max_depth is None else self.max_depth,
            self.beam_width,
        )

    def _nominal(self, X: NDArray[Any]) -> tuple[int, ...]:
        wrong = [j for j in self.nominal if not 0 <= j < X.shape[1]]
        if wrong:
            raise ValueError(f"nominal names column {wrong[0]}; the columns are 0 to {X.shape[1] - 1}")
        return tuple(int(j) for j in self.nominal)

    def predict(self, X: ArrayLike) -> Labels:
        """The label of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        return self.tree_.predict(rows)

    def score(self, X: ArrayLike, y: object = None, *, constraints: Constraints | None = None) -> float:
        """Share of the constraints about the rows of X that `predict` satisfies; 1.0 without any."""
        labels = self.predict(X)
        return constraint_score(labels, checked_constraints(constraints, np.asarray(X)))


# ---------------------------------------------------------------- what is searched
NEW = -1  # a label that no leaf bears yet
MARGIN = 1e-12  # a smaller gain is rounding


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, constraints and settings."""

    columns: Columns
    weight: NDArray[np.float64] | None
    linked: kernels.LinkedRows
    squares: float
    """Sum of squares of all rows."""
    n_constraints: int
    """With all that follows."""
    n_conflicts: int
    """Of them those that any clustering breaks."""
    gamma: float
    most_labels: int
    least: float
    evidence: bool
    max_leaves: int
    max_depth: int
    beam_width: int

    @property
    def per_square(self) -> float:
        """What a unit of squares within leaves adds to H."""
        return (1 - self.gamma) / self.squares if self.squares > 0 else 0.0

    @property
    def per_broken(self) -> float:
        """What a broken constraint adds to H."""
        return self.gamma / self.n_constraints if self.n_constraints else 0.0

    def heuristic(self, squares: float, broken: int) -> float:
        """H of a tree with these squares within leaves and so many broken constraints."""
        return self.per_square * squares + self.per_broken * broken


@dataclass(frozen=True, eq=False)
class Leaf:
    """Rows that the same tests lead to."""

    order: NDArray[np.int32]  # (n_tests, n_rows of the leaf): as in Columns
    label: int
    path: Path
    squares: kernels.LeafSquares

    @property
    def rows(self) -> NDArray[np.int32]:
        """Its rows."""
        rows: NDArray[np.int32] = self.order[0]
        return rows


@dataclass(frozen=True, eq=False)
class View:
    """What the best splits of a leaf are, as long as no label that its constraints reach changes."""

    key: object
    found: kernels.LeafSplits


@dataclass(frozen=True, eq=False)
class Growing:
    """A tree as it grows; a value, so that a beam of trees can share what they have in common."""

    leaves: tuple[Leaf, ...]  # depth first, yes before no
    views: tuple[View | None, ...]
    place_label: NDArray[np.int32]
    place_leaf: NDArray[np.int32]
    course: tuple[tuple[float, int], ...]
    """Squares within leaves and broken constraints: at the root and after each split."""

    def tree(self) -> Tree:
        """The tree, its clusters numbered by their first leaves."""
        number = {label: at for at, label in enumerate(dict.fromkeys(leaf.label for leaf in self.leaves))}
        return tree_of([(leaf.path, number[leaf.label]) for leaf in self.leaves])


def searched(problem: Problem, progress: Progress | None) -> Growing:
    """Refine the best trees, as many as the beam is wide, while one gets better."""
    n = len(problem.columns.X)
    root = Growing(
        (leaf_of(problem, problem.columns.order, 0, ()),),
        (None,),
        np.zeros(len(problem.linked.component), dtype=np.int32),
        np.zeros(len(problem.linked.component), dtype=np.int32),
        ((problem.squares, cannot_links_of(problem.linked) + problem.n_conflicts),),
    )
    best, beam = root, [root]
    while beam:
        if progress is not None:
            leaves = len(beam[0].leaves)
            progress(leaves, leaves if problem.max_leaves >= n else problem.max_leaves)
        beam = next_beam(problem, beam)
        best = min([best, *beam], key=lambda tree: problem.heuristic(*tree.course[-1]))
    return best


def cannot_links_of(linked: kernels.LinkedRows) -> int:
    """Cannot-links between rows, with all that follows: broken while there is one cluster."""
    size = np.diff(linked.first)
    one = np.repeat(np.arange(len(size)), np.diff(linked.foe_first))
    return int((size[one] * size[linked.foe]).sum() // 2)


def next_beam(problem: Problem, beam: list[Growing]) -> list[Growing]:
    """The best refinements of all trees of the beam."""
    viewed = [looked_at(problem, tree) for tree in beam]
    candidates: list[tuple[float, int, int, int]] = []
    for t, tree in enumerate(viewed):
        now = problem.heuristic(*tree.course[-1])
        for at, split, value in refinements(problem, tree):
            if value < now - MARGIN:
                candidates.append((value, t, at, split))
    found: dict[object, Growing] = {}
    for _, t, at, split in nearly_sorted(candidates, problem.beam_width):
        tree = refined(problem, viewed[t], at, split)
        found.setdefault(frozenset((leaf.path, leaf.label) for leaf in tree.leaves), tree)
        if len(found) == problem.beam_width:
            break
    return list(found.values())


def nearly_sorted(
    candidates: list[tuple[float, int, int, int]], width: int
) -> Iterator[tuple[float, int, int, int]]:
    """Candidates by H; of those that differ by rounding only, the first one first."""
    left = list(candidates)
    while left:
        best = 0
        for at in range(1, len(left)):
            if left[at][0] < left[best][0] - MARGIN:
                best = at
        yield left.pop(best)


# ---------------------------------------------------------------- splits of a leaf
def labels_for(problem: Problem, tree: Growing, at: int) -> tuple[list[int], int]:
    """Old labels that the sides of a split may have, and how many new ones (two are enough).

    The label of the leaf that is split is free when no other leaf bears it.
    """
    others = {leaf.label for i, leaf in enumerate(tree.leaves) if i != at}
    return sorted(others), min(problem.most_labels - len(others), 2)


def looked_at(problem: Problem, tree: Growing) -> Growing:
    """The tree with a view of every leaf."""
    views = []
    for at, view in enumerate(tree.views):
        old, n_free = labels_for(problem, tree, at)
        key = n_free if problem.evidence else (n_free, tuple(old))
        views.append(
            view if view is not None and view.key == key else View(key, splits_of(problem, tree, at))
        )
    return replace(tree, views=tuple(views))


def splits_of(problem: Problem, tree: Growing, at: int) -> kernels.LeafSplits:
    """The best splits of one leaf."""
    leaf, (old, n_free) = tree.leaves[at], labels_for(problem, tree, at)
    allowed = np.zeros(1 + max(other.label for other in tree.leaves), dtype=np.uint8)
    allowed[old] = 1
    return kernels.best_splits(
        leaf.squares,
        problem.linked,
        tree.place_label,
        allowed,
        leaf.label,
        n_free,
        problem.evidence,
        problem.per_square,
        problem.per_broken,
        problem.beam_width,
        parallel.n_threads(),
    )


def leaf_of(problem: Problem, order: NDArray[np.int32], label: int, path: Path) -> Leaf:
    """A leaf with these rows."""
    columns, place = problem.columns, problem.linked.place
    tie = MARGIN / problem.per_square if problem.per_square else np.inf
    squares = kernels.leaf_squares(
        columns.features,
        order,
        columns.rank,
        problem.weight,
        place,
        problem.least,
        tie,
        parallel.n_threads(),
    )
    return Leaf(order, label, path, squares)


def refinements(problem: Problem, tree: Growing) -> Iterator[tuple[int, int, float]]:
    """Leaf, split and H of each refinement that the bounds on the tree allow."""
    squares, broken = tree.course[-1]
    if len(tree.leaves) >= problem.max_leaves:
        return
    for at, (leaf, view) in enumerate(zip(tree.leaves, tree.views, strict=True)):
        if view is None or len(leaf.path) >= problem.max_depth:
            continue
        for split, (_, _, gain, after) in enumerate(view.found.splits):
            yield at, split, problem.heuristic(squares - gain, broken - view.found.broken + after)


def refined(problem: Problem, tree: Growing, at: int, split: int) -> Growing:
    """The tree with one leaf split."""
    leaf, view = tree.leaves[at], tree.views[at]
    assert view is not None
    number, size, gain, after = view.found.splits[split]
    one, two = parted(leaf.order, number, size, len(problem.columns.X))
    test = problem.columns.test(number, int(leaf.order[number][size - 1]), int(leaf.order[number][size]))
    bare = [
        leaf_of(problem, part, leaf.label, (*leaf.path, (test, yes)))
        for part, yes in ((one, True), (two, False))
    ]
    labels = new_labels(problem, tree, at, bare, view.found.counts[split])
    sides = [replace(side, label=label) for side, label in zip(bare, labels, strict=True)]
    place_label, place_leaf = tree.place_label.copy(), tree.place_leaf.copy()
    place_leaf[place_leaf > at] += 1
    for position, side in enumerate(sides):
        places = problem.linked.place[side.rows]
        places = places[places >= 0]
        place_label[places], place_leaf[places] = side.label, at + position
    views = [*tree.views[:at], None, None, *tree.views[at + 1 :]]
    for stale in reached(problem.linked, np.flatnonzero(place_label != tree.place_label), place_leaf):
        views[stale] = None
    squares, broken = tree.course[-1]
    return Growing(
        (*tree.leaves[:at], *sides, *tree.leaves[at + 1 :]),
        tuple(views),
        place_label,
        place_leaf,
        (*tree.course, (squares - gain, broken - view.found.broken + after)),
    )


def parted(
    order: NDArray[np.int32], number: int, size: int, n_rows: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The rows of both sides of a test, in the order of every test."""
    goes = np.zeros(n_rows, dtype=bool)
    goes[order[number, :size]] = True
    first = goes[order]
    return order[first].reshape(len(order), -1), order[~first].reshape(len(order), -1)


def reached(
    linked: kernels.LinkedRows, changed: NDArray[np.int64], place_leaf: NDArray[np.int32]
) -> list[int]:
    """Leaves with rows that share a constraint with a row whose label changed."""
    if len(changed) == 0:
        return []
    hit = np.zeros(len(linked.first) - 1, dtype=bool)
    hit[linked.component[changed]] = True
    foes = linked.foe[np.repeat(hit, np.diff(linked.foe_first))]
    hit[foes] = True
    leaves: list[int] = np.unique(place_leaf[hit[linked.component]]).tolist()
    return leaves


# ---------------------------------------------------------------- labels of the sides
def new_labels(
    problem: Problem, tree: Growing, at: int, sides: list[Leaf], counts: NDArray[np.int64]
) -> tuple[int, int]:
    """Labels of both sides, the yes side first: of the two orders the one that breaks less."""
    old, n_free = labels_for(problem, tree, at)
    must, cannot = np.pad(counts, ((0, 0), (0, 0), (0, len(old) + 1)))  # labels that are newer than the view
    near = {} if problem.evidence else distances(problem, tree, at, sides)

    def chosen(side: int, banned: int | None, free: int) -> tuple[int, int] | None:
        """Broken constraints and label of one side."""
        most = int(must[side].sum())
        able = [c for c in old if c != banned and (not problem.evidence or must[side, c] > 0)]
        broken = {c: int(cannot[side, c]) + most - int(must[side, c]) for c in able}
        best = min(able, key=lambda c: (broken[c], near.get((side, c), 0.0), c), default=None)
        if best is not None and broken[best] < most + problem.evidence:
            return broken[best], best
        if free > 0:
            return most, NEW
        return None if best is None else (broken[best], best)

    found: tuple[int, dict[int, int]] | None = None
    for first, then in ((0, 1), (1, 0)):
        a = chosen(first, None, n_free)
        b = a and chosen(then, a[1] if a[1] != NEW else None, n_free - (a[1] == NEW))
        if a and b and (found is None or a[0] + b[0] < found[0]):
            found = a[0] + b[0], {first: a[1], then: b[1]}
    assert found is not None
    labels = [found[1][0], found[1][1]]
    for side in (0, 1):
        if labels[side] == NEW:
            labels[side] = next(c for c in range(len(old) + 2) if c not in old and c not in labels)
    return labels[0], labels[1]


def distances(problem: Problem, tree: Growing, at: int, sides: list[Leaf]) -> dict[tuple[int, int], float]:
    """Squared distance of the mean of each side to that of each label on other leaves."""

    def mean(leaves: list[Leaf]) -> NDArray[np.float64]:
        rows = np.concatenate([leaf.rows for leaf in leaves])
        weight = None if problem.weight is None else problem.weight[rows]
        average: NDArray[np.float64] = np.average(problem.columns.features[rows], axis=0, weights=weight)
        return average

    others = [leaf for i, leaf in enumerate(tree.leaves) if i != at]
    of = {c: mean([leaf for leaf in others if leaf.label == c]) for c in {leaf.label for leaf in others}}
    return {
        (s, c): float(((mean([side]) - m) ** 2).sum()) for s, side in enumerate(sides) for c, m in of.items()
    }
