"""How a clustering tree grows: the search of Struyf and Džeroski (2007), as a function of values.

A tree that grows is a value (`GrowingTree`). Each step splits one leaf. The best splits of a leaf
(`SplitView`) stay valid until a label changes that the constraints of its rows reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.asking.learner import Progress
from linkwise.cluster.trees.tree import Condition, Path, Tree, build_tree

NEW = -1  # a label that no leaf bears yet
MARGIN = 1e-12  # a smaller gain is rounding


@dataclass(frozen=True, eq=False)
class GrowthProblem:
    """Rows, constraints and settings."""

    root: LeafRows
    """All rows."""
    n_rows: int
    linked: native.LinkedRows
    squares: float
    """Sum of squares of all rows."""
    n_constraints: int
    """With all that follows."""
    n_conflicts: int
    """Of them those that any clustering breaks."""
    gamma: float
    most_labels: int
    evidence: bool
    max_leaves: int
    max_depth: int
    beam_width: int

    @property
    def per_square(self) -> float:
        """What a unit of squares within leaves adds to H."""
        return price_square(self.gamma, self.squares)

    @property
    def per_broken(self) -> float:
        """What a broken constraint adds to H."""
        return self.gamma / self.n_constraints if self.n_constraints else 0.0

    def heuristic(self, squares: float, broken: int) -> float:
        """H of a tree with these squares within leaves and so many broken constraints."""
        return self.per_square * squares + self.per_broken * broken


LikelySplits = Callable[[], list[tuple[Path, int, int]]]
"""Lists the splits that may come next, each by its leaf, test and size; the likeliest comes first."""


@dataclass(frozen=True, eq=False)
class LeafRows:
    """The rows of a leaf; they are in memory or in files."""

    squares: native.LeafSquares
    total: Callable[[], tuple[float, NDArray[np.float64]]]
    """Computes their weight, and the sum of their features."""
    split: Callable[[int, int, LikelySplits], tuple[Condition, LeafRows, LeafRows]]
    """Splits them by number and size of a cut; finds the test, and the rows for which it holds or not."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """Rows that the same tests lead to."""

    rows: LeafRows
    label: int
    path: Path


@dataclass(frozen=True, eq=False)
class SplitView:
    """The best splits of a leaf, valid until a label changes that its constraints reach."""

    key: object
    found: native.LeafSplits


@dataclass(frozen=True, eq=False)
class GrowingTree:
    """A growing tree; it is a value, so the trees of a beam can share parts."""

    leaves: tuple[Leaf, ...]  # depth first, yes before no
    views: tuple[SplitView | None, ...]
    place_label: NDArray[np.int32]
    place_leaf: NDArray[np.int32]
    course: tuple[tuple[float, int], ...]
    """Squares within leaves and broken constraints: at the root and after each split."""

    @cached_property
    def bearers(self) -> dict[int, int]:
        """Number of leaves with each label, labels ascending."""
        return dict(sorted(Counter(leaf.label for leaf in self.leaves).items()))

    def tree(self) -> Tree:
        """The tree, its clusters numbered by their first leaves."""
        number = {label: at for at, label in enumerate(dict.fromkeys(leaf.label for leaf in self.leaves))}
        return build_tree([(leaf.path, number[leaf.label]) for leaf in self.leaves])


def price_square(gamma: float, squares: float) -> float:
    """Compute what a unit of squares within leaves adds to H, if all rows have these squares."""
    return (1 - gamma) / squares if squares > 0 else 0.0


def search_tree(problem: GrowthProblem, progress: Progress | None) -> GrowingTree:
    """Refine the trees of the beam until none improves."""
    n = problem.n_rows
    root = GrowingTree(
        (Leaf(problem.root, 0, ()),),
        (None,),
        np.zeros(len(problem.linked.component), dtype=np.int32),
        np.zeros(len(problem.linked.component), dtype=np.int32),
        ((problem.squares, count_implied_cannot_links(problem.linked) + problem.n_conflicts),),
    )
    best, beam = root, [root]
    while beam:
        if progress is not None:
            leaves = len(beam[0].leaves)
            progress(leaves, leaves if problem.max_leaves >= n else problem.max_leaves)
        beam = refine_beam(problem, beam)
        best = min([best, *beam], key=lambda tree: problem.heuristic(*tree.course[-1]))
    return best


def count_implied_cannot_links(linked: native.LinkedRows) -> int:
    """Count the cannot-links between rows, implied ones included."""
    size = np.diff(linked.first)
    one = np.repeat(np.arange(len(size)), np.diff(linked.foe_first))
    return int((size[one] * size[linked.foe]).sum() // 2)


def refine_beam(problem: GrowthProblem, beam: list[GrowingTree]) -> list[GrowingTree]:
    """Find the best refinements of all trees of the beam."""
    viewed = [view_leaves(problem, tree) for tree in beam]
    candidates: list[tuple[float, int, int, int]] = []
    for t, tree in enumerate(viewed):
        now = problem.heuristic(*tree.course[-1])
        for at, split, value in list_refinements(problem, tree):
            if value < now - MARGIN:
                candidates.append((value, t, at, split))
    likely = partial(list_likely_splits, viewed, candidates)
    refined = (
        refine_tree(problem, viewed[t], at, split, likely)
        for _, t, at, split in sort_nearly(candidates, problem.beam_width)
    )
    if problem.beam_width == 1:  # no other tree to compare with
        return list(islice(refined, 1))
    found: dict[object, GrowingTree] = {}
    for tree in refined:
        number = {label: n for n, label in enumerate(dict.fromkeys(leaf.label for leaf in tree.leaves))}
        found.setdefault(tuple((leaf.path, number[leaf.label]) for leaf in tree.leaves), tree)
        if len(found) == problem.beam_width:
            break
    return list(found.values())


def sort_nearly(
    candidates: list[tuple[float, int, int, int]], width: int
) -> Iterator[tuple[float, int, int, int]]:
    """Sort candidates by H; those that differ only by rounding keep their order."""
    left = list(candidates)
    while left:
        best = 0
        for at in range(1, len(left)):
            if left[at][0] < left[best][0] - MARGIN:
                best = at
        yield left.pop(best)


def list_likely_splits(
    trees: list[GrowingTree], candidates: list[tuple[float, int, int, int]]
) -> list[tuple[Path, int, int]]:
    """List leaf, test and size of all candidates, the best first."""
    found = []
    for _, t, at, split in sorted(candidates):
        view = trees[t].views[at]
        assert view is not None
        found.append((trees[t].leaves[at].path, *view.found.splits[split][:2]))
    return found


# ---------------------------------------------------------------- splits of a leaf
def list_old_labels(tree: GrowingTree, own: int) -> list[int]:
    """List the old labels that a side of a leaf may get; the leaf's own only if another leaf has it."""
    return [label for label, n_leaves in tree.bearers.items() if label != own or n_leaves > 1]


def count_new_labels(problem: GrowthProblem, tree: GrowingTree, own: int) -> int:
    """Count the new labels that are allowed for the sides of a leaf with this label, at most two."""
    n_old = len(tree.bearers) - (tree.bearers[own] == 1)
    return min(problem.most_labels - n_old, 2)


def view_leaves(problem: GrowthProblem, tree: GrowingTree) -> GrowingTree:
    """Compute the missing views of the leaves."""
    keys: dict[int, object] = {}
    for own in tree.bearers:
        n_free = count_new_labels(problem, tree, own)
        keys[own] = n_free if problem.evidence else (n_free, tuple(list_old_labels(tree, own)))
    views = [
        view
        if view is not None and view.key == keys[leaf.label]
        else SplitView(keys[leaf.label], find_splits(problem, tree, at))
        for at, (leaf, view) in enumerate(zip(tree.leaves, tree.views, strict=True))
    ]
    return replace(tree, views=tuple(views))


def find_splits(problem: GrowthProblem, tree: GrowingTree, at: int) -> native.LeafSplits:
    """Find the best splits of one leaf."""
    leaf = tree.leaves[at]
    old, n_free = list_old_labels(tree, leaf.label), count_new_labels(problem, tree, leaf.label)
    allowed = np.zeros(1 + max(tree.bearers), dtype=np.uint8)
    allowed[old] = 1
    return native.best_splits(
        leaf.rows.squares,
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


def list_refinements(problem: GrowthProblem, tree: GrowingTree) -> Iterator[tuple[int, int, float]]:
    """List leaf, split and H of each refinement within the bounds on the tree."""
    squares, broken = tree.course[-1]
    if len(tree.leaves) >= problem.max_leaves:
        return
    per_square, per_broken = problem.per_square, problem.per_broken
    for at, (leaf, view) in enumerate(zip(tree.leaves, tree.views, strict=True)):
        if view is None or len(leaf.path) >= problem.max_depth:
            continue
        for split, (_, _, gain, after) in enumerate(view.found.splits):
            now_broken = broken - view.found.broken + after
            yield at, split, per_square * (squares - gain) + per_broken * now_broken


def refine_tree(
    problem: GrowthProblem, tree: GrowingTree, at: int, split: int, likely: LikelySplits
) -> GrowingTree:
    """Split one leaf of the tree."""
    leaf, view = tree.leaves[at], tree.views[at]
    assert view is not None
    number, size, gain, after = view.found.splits[split]
    test, *parts = leaf.rows.split(number, size, likely)
    labels = choose_labels(problem, tree, at, parts, view.found.counts[split])
    sides = [
        Leaf(part, label, (*leaf.path, (test, yes)))
        for part, label, yes in zip(parts, labels, (True, False), strict=True)
    ]
    place_label, place_leaf = tree.place_label.copy(), tree.place_leaf.copy()
    place_leaf[place_leaf > at] += 1
    for position, side in enumerate(sides):
        places = side.rows.squares.places[0]  # each test moves all of them
        place_label[places], place_leaf[places] = side.label, at + position
    views = [*tree.views[:at], None, None, *tree.views[at + 1 :]]
    for stale in find_reached_leaves(
        problem.linked, np.flatnonzero(place_label != tree.place_label), place_leaf
    ):
        views[stale] = None
    squares, broken = tree.course[-1]
    return GrowingTree(
        (*tree.leaves[:at], *sides, *tree.leaves[at + 1 :]),
        tuple(views),
        place_label,
        place_leaf,
        (*tree.course, (squares - gain, broken - view.found.broken + after)),
    )


def find_reached_leaves(
    linked: native.LinkedRows, changed: NDArray[np.int64], place_leaf: NDArray[np.int32]
) -> list[int]:
    """Find the leaves with rows that share a constraint with a row whose label changed."""
    if len(changed) == 0:
        return []
    hit = np.zeros(len(linked.first) - 1, dtype=bool)
    hit[linked.component[changed]] = True
    foes = linked.foe[np.repeat(hit, np.diff(linked.foe_first))]
    hit[foes] = True
    leaves: list[int] = np.unique(place_leaf[hit[linked.component]]).tolist()
    return leaves


# ---------------------------------------------------------------- labels of the sides
def choose_labels(
    problem: GrowthProblem, tree: GrowingTree, at: int, sides: list[LeafRows], counts: NDArray[np.int64]
) -> tuple[int, int]:
    """Choose the labels of both sides, the yes side first; of both orders the one that breaks less."""
    own = tree.leaves[at].label
    old, n_free = list_old_labels(tree, own), count_new_labels(problem, tree, own)
    must, cannot = np.pad(counts, ((0, 0), (0, 0), (0, len(old) + 1)))  # labels that are newer than the view
    near = {} if problem.evidence else label_distances(tree, at, sides)

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


def label_distances(tree: GrowingTree, at: int, sides: list[LeafRows]) -> dict[tuple[int, int], float]:
    """Compute squared distances from the mean of each side to that of each label on other leaves."""

    def mean(parts: list[LeafRows]) -> NDArray[np.float64]:
        weights, sums = zip(*(part.total() for part in parts), strict=True)
        average: NDArray[np.float64] = np.sum(sums, axis=0) / sum(weights)
        return average

    others: dict[int, list[LeafRows]] = {}
    for i, leaf in enumerate(tree.leaves):
        if i != at:
            others.setdefault(leaf.label, []).append(leaf.rows)
    means = {label: mean(parts) for label, parts in others.items()}
    return {
        (s, label): float(((own - m) ** 2).sum())
        for s, own in enumerate(mean([side]) for side in sides)
        for label, m in means.items()
    }
