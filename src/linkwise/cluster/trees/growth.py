"""How a clustering tree grows: the search of Struyf and Džeroski (2007), as a function of values.

A tree that grows is a value (`GrowingTree`). Each step splits one leaf. The best splits of a leaf stay valid
until a label changes that the constraints of its rows reach, or the labels that its sides may get. What they
would change is in arrays: trees can have thousands of leaves, and each step compares all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.cluster.trees.leaf_rows import LeafRows
from linkwise.cluster.trees.tree import Path, Tree, build_tree
from linkwise.types import Progress

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
    bounds_number: bool
    """Whether `most_labels` bounds the number of labels, not the largest of them plus 1."""
    evidence: bool
    max_leaves: int
    max_depth: int
    beam_width: int

    @property
    def n_threads(self) -> int:
        """The number of threads while the tree grows."""
        return self.root.n_threads

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


@dataclass(frozen=True, eq=False)
class Leaf:
    """Rows that the same tests lead to."""

    rows: LeafRows
    path: Path


class Outcomes(NamedTuple):
    """What the best splits of each leaf would change, (leaves, beam_width)."""

    gain: NDArray[np.float64]
    """By how much the sum of squares falls; NaN where there is no split."""
    broken: NDArray[np.int64]
    """How many more constraints are broken."""


@dataclass(frozen=True, eq=False)
class GrowingTree:
    """A growing tree; it is a value, so the trees of a beam can share parts."""

    leaves: tuple[Leaf, ...]  # depth first, yes before no
    labels: NDArray[np.int32]
    """Label of each leaf."""
    views: tuple[native.LeafSplits | None, ...]
    """The best splits of each leaf; None where they were never found."""
    stale: frozenset[int]
    """Leaves whose best splits are to be found."""
    keys: dict[int, object]
    """What the views of leaves with each label depend on, beside the labels of rows."""
    outcomes: Outcomes
    totals: NDArray[np.float64]
    """Weight and sum of the features of each leaf, (leaves, 1 + p); no columns where nothing needs them."""
    place_label: NDArray[np.int32]
    place_leaf: NDArray[np.int32]
    course: tuple[tuple[float, int], ...]
    """Squares within leaves and broken constraints: at the root and after each split."""

    @cached_property
    def bearers(self) -> dict[int, int]:
        """Number of leaves with each label, labels ascending."""
        return {label: n for label, n in enumerate(np.bincount(self.labels).tolist()) if n}

    def tree(self) -> Tree:
        """The tree, its clusters numbered by their first leaves."""
        return build_tree(self.number_paths())

    def number_paths(self) -> list[tuple[Path, int]]:
        """List the path to each leaf, with its cluster."""
        labels = self.labels.tolist()
        number = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        return [(leaf.path, number[label]) for leaf, label in zip(self.leaves, labels, strict=True)]


def price_square(gamma: float, squares: float) -> float:
    """Compute what a unit of squares within leaves adds to H, if all rows have these squares."""
    return (1 - gamma) / squares if squares > 0 else 0.0


def search_tree(problem: GrowthProblem, progress: Progress | None) -> GrowingTree:
    """Refine the trees of the beam until none improves."""
    n = problem.n_rows
    root = GrowingTree(
        (Leaf(problem.root, ()),),
        np.zeros(1, dtype=np.int32),
        (None,),
        frozenset({0}),
        {},
        Outcomes(np.full((1, problem.beam_width), np.nan), np.zeros((1, problem.beam_width), dtype=np.int64)),
        sum_sides(problem, [problem.root]),
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


class Candidates(NamedTuple):
    """Splits that lower H, in the order of trees, leaves and splits."""

    value: NDArray[np.float64]
    """H after each."""
    tree: NDArray[np.int64]
    leaf: NDArray[np.int64]
    split: NDArray[np.int64]


def refine_beam(problem: GrowthProblem, beam: list[GrowingTree]) -> list[GrowingTree]:
    """Find the best refinements of all trees of the beam."""
    viewed = [view_leaves(problem, tree) for tree in beam]
    candidates = list_candidates(problem, viewed)
    refined = (
        refine_tree(problem, viewed[candidates.tree[c]], int(candidates.leaf[c]), int(candidates.split[c]))
        for c in sort_nearly(candidates.value)
    )
    if problem.beam_width == 1:  # no other tree to compare with
        return list(islice(refined, 1))
    found: dict[object, GrowingTree] = {}
    for tree in refined:
        found.setdefault(tuple(tree.number_paths()), tree)
        if len(found) == problem.beam_width:
            break
    return list(found.values())


def list_candidates(problem: GrowthProblem, trees: list[GrowingTree]) -> Candidates:
    """List the splits of all trees that lower H, within the bounds on a tree."""
    parts = [(np.empty(0), *(np.empty(0, dtype=np.int64),) * 3)]
    for t, tree in enumerate(trees):
        if len(tree.leaves) >= problem.max_leaves:
            continue
        squares, broken = tree.course[-1]
        gain, more = tree.outcomes
        value = problem.per_square * (squares - gain) + problem.per_broken * (broken + more)
        at, split = np.nonzero(value < problem.heuristic(squares, broken) - MARGIN)
        parts.append((value[at, split], np.full(len(at), t), at, split))
    return Candidates(*map(np.concatenate, zip(*parts, strict=True)))


def sort_nearly(values: NDArray[np.float64]) -> Iterator[int]:
    """Sort places by H; those that differ only by rounding keep their order."""
    places = np.arange(len(values))
    while len(values):
        best = 0
        lower = np.flatnonzero(values < values[0] - MARGIN)
        while len(lower):  # the next lower one, again and again
            best = lower[0]
            lower = lower[values[lower] < values[best] - MARGIN]
        yield int(places[best])
        values, places = np.delete(values, best), np.delete(places, best)


# ---------------------------------------------------------------- splits of a leaf
def list_old_labels(tree: GrowingTree, own: int) -> list[int]:
    """List the old labels that a side of a leaf may get; the leaf's own only if another leaf has it."""
    return [label for label, n_leaves in tree.bearers.items() if label != own or n_leaves > 1]


def list_keys(problem: GrowthProblem, tree: GrowingTree) -> dict[int, object]:
    """List, for each label, what the splits of leaves with it depend on, beside the labels of rows."""
    keys: dict[int, object] = {}
    shared: object = None  # by all labels that several leaves have
    for own, n_leaves in tree.bearers.items():
        if n_leaves == 1 or shared is None:
            n_free = count_new_labels(problem, tree, own)
            keys[own] = n_free if problem.evidence else (n_free, tuple(list_old_labels(tree, own)))
            shared = shared if n_leaves == 1 else keys[own]
        else:
            keys[own] = shared
    return keys


def count_new_labels(problem: GrowthProblem, tree: GrowingTree, own: int) -> int:
    """Count the new labels that are allowed for the sides of a leaf with this label, at most two."""
    return len(list_new_labels(problem, tree, own))


def list_new_labels(problem: GrowthProblem, tree: GrowingTree, own: int) -> list[int]:
    """List the new labels that are allowed, at most two, in the order in which sides get them.

    If the bound is on their number, every number without a leaf is free. If it is on the largest, only that
    of the leaf itself and those above all others are.
    """
    old = list_old_labels(tree, own)
    above = range(1 + max(old, default=-1), problem.most_labels)
    if problem.bounds_number:
        free = [label for label in range(len(old) + 2) if label not in old]
        return free[: max(0, min(problem.most_labels - len(old), 2))]
    is_free = own not in old and own < 1 + max(old, default=-1)
    return [*([own] if is_free else []), *above[:2]][:2]


def view_leaves(problem: GrowthProblem, tree: GrowingTree) -> GrowingTree:
    """Find the missing splits of the leaves."""
    keys, views = list_keys(problem, tree), list(tree.views)
    changed = [label for label, key in keys.items() if tree.keys.get(label) != key]
    stale = (
        tree.stale.union(np.flatnonzero(np.isin(tree.labels, changed)).tolist()) if changed else tree.stale
    )
    gain, broken = tree.outcomes.gain.copy(), tree.outcomes.broken.copy()
    for at in sorted(stale):
        views[at] = found = find_splits(problem, tree, at)
        gain[at] = np.nan
        if len(tree.leaves[at].path) < problem.max_depth:
            for split, (_, _, less, after) in enumerate(found.splits):
                gain[at, split], broken[at, split] = less, after - found.broken
    outcomes = Outcomes(gain, broken)
    return replace(tree, views=tuple(views), stale=frozenset(), keys=keys, outcomes=outcomes)


def find_splits(problem: GrowthProblem, tree: GrowingTree, at: int) -> native.LeafSplits:
    """Find the best splits of one leaf."""
    own = int(tree.labels[at])
    old, n_free = list_old_labels(tree, own), count_new_labels(problem, tree, own)
    allowed = np.zeros(1 + max(tree.bearers), dtype=np.uint8)
    allowed[old] = 1
    return native.best_splits(
        tree.leaves[at].rows.squares,
        problem.linked,
        tree.place_label,
        allowed,
        own,
        n_free,
        problem.evidence,
        problem.per_square,
        problem.per_broken,
        problem.beam_width,
        problem.n_threads,
    )


def refine_tree(problem: GrowthProblem, tree: GrowingTree, at: int, split: int) -> GrowingTree:
    """Split one leaf of the tree."""
    leaf, view = tree.leaves[at], tree.views[at]
    assert view is not None
    number, size, gain, after = view.splits[split]
    test, *parts = leaf.rows.split(number, size)
    totals = sum_sides(problem, parts)
    labels = choose_labels(problem, tree, at, totals, view.counts[split])
    sides = [Leaf(part, (*leaf.path, (test, yes))) for part, yes in zip(parts, (True, False), strict=True)]
    place_label, place_leaf = tree.place_label.copy(), tree.place_leaf.copy()
    place_leaf[place_leaf > at] += 1
    for position, side in enumerate(sides):
        places = side.rows.squares.places[0]  # each test moves all of them
        place_label[places], place_leaf[places] = labels[position], at + position
    changed = np.flatnonzero(place_label != tree.place_label)
    squares, broken = tree.course[-1]
    before = tree.outcomes
    return GrowingTree(
        (*tree.leaves[:at], *sides, *tree.leaves[at + 1 :]),
        np.concatenate([tree.labels[:at], np.array(labels, dtype=np.int32), tree.labels[at + 1 :]]),
        (*tree.views[:at], None, None, *tree.views[at + 1 :]),
        frozenset({at, at + 1, *find_reached_leaves(problem.linked, changed, place_leaf)}),
        tree.keys,
        Outcomes(repeat_row(before.gain, at), repeat_row(before.broken, at)),
        np.concatenate([tree.totals[:at], totals, tree.totals[at + 1 :]]),
        place_label,
        place_leaf,
        (*tree.course, (squares - gain, broken - view.broken + after)),
    )


def repeat_row(table: NDArray[Any], at: int) -> NDArray[Any]:
    """Put a row of a table there twice, for two leaves whose splits are to be found."""
    return np.concatenate([table[: at + 1], table[at:]])


def sum_sides(problem: GrowthProblem, sides: list[LeafRows]) -> NDArray[np.float64]:
    """Compute weight and sum of the features of each side; without columns where nothing needs them."""
    if problem.evidence:
        return np.empty((len(sides), 0))
    return np.array([[weight, *total] for weight, total in (side.total for side in sides)])


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
    leaves: list[int] = np.flatnonzero(np.bincount(place_leaf[hit[linked.component]])).tolist()
    return leaves


# ---------------------------------------------------------------- labels of the sides
def choose_labels(
    problem: GrowthProblem,
    tree: GrowingTree,
    at: int,
    totals: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> tuple[int, int]:
    """Choose the labels of both sides, the yes side first; of both orders the one that breaks less."""
    own = int(tree.labels[at])
    old, n_free = list_old_labels(tree, own), count_new_labels(problem, tree, own)
    newer = 1 + max(tree.bearers)  # labels beyond those of the view, at most
    must, cannot = np.concatenate([counts, np.zeros((2, 2, newer), dtype=np.int64)], axis=2)
    near = np.zeros((2, 1 + max(tree.bearers)))
    if not problem.evidence:
        near = label_distances(tree, at, totals)

    def chosen(side: int, banned: int | None, free: int) -> tuple[int, int] | None:
        """Broken constraints and label of one side."""
        most = int(must[side].sum())
        able = [c for c in old if c != banned and (not problem.evidence or must[side, c] > 0)]
        broken = {c: int(cannot[side, c]) + most - int(must[side, c]) for c in able}
        best = min(able, key=lambda c: (broken[c], near[side, c], c), default=None)
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
            labels[side] = next(c for c in list_new_labels(problem, tree, own) if c not in labels)
    return labels[0], labels[1]


def label_distances(tree: GrowingTree, at: int, totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute squared distances, (2, labels), from the mean of each side to that of each label elsewhere.

    Those to labels that no other leaf has are 0.
    """
    others = tree.labels.copy()
    others[at] = -1
    sums, count = native.label_sums(tree.totals, others, 1 + int(tree.labels.max()), None, 1)
    there = count > 0
    means, sides = sums[there, 1:] / sums[there, :1], totals[:, 1:] / totals[:, :1]
    found = np.zeros((2, len(sums)))
    found[:, there] = ((sides[:, None] - means) ** 2).sum(axis=2)
    return found
