"""A small tree that predicts the label of most rows, to describe any clustering.

scikit-learn grows the tree, best split first. It is then pruned as long as enough rows keep their label: the
branch goes whose removal costs the fewest rows per leaf (the weakest link of Breiman, Friedman, Olshen and
Stone, 1984, with the share of rows that get another label as its cost). The last leaf of a cluster stays,
unless the cluster is very small.

Columns are first replaced by the ranks of their values. That changes no tree, and no two values become equal
when scikit-learn rounds to 32 bits.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.trees.tree import Condition, Path, Tree, build_tree

SMALL = 0.01  # share of the rows up to which a cluster may go without a rule


def grow_small_tree(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    *,
    nominal: tuple[int, ...],
    max_leaves: int,
    fidelity: float,
    n_sample: int,
    seed: int,
) -> Tree:
    """Grow the smallest tree found that gives the share `fidelity` of the rows their code.

    All codes 0, 1, ... are used, and the values of `nominal` columns have no order. `max_leaves` bounds
    the tree before it is pruned: if no tree of that size reaches `fidelity`, the result is the smallest
    tree that is as good as the largest. Of more rows than `n_sample` it grows on a sample.
    """
    rows, weight = sample_rows(codes, n_sample, seed)
    grown = _grow_tree(X[rows], codes[rows], weight, nominal, max_leaves)
    reached = np.zeros((len(grown.tests), int(codes.max()) + 1))
    np.add.at(reached, (grown.apply(X), codes), 1.0)
    return prune_tree(grown, reached, fidelity)


def sample_rows(
    codes: NDArray[np.int32], most: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Sample about `most` rows, equally many of each cluster where it has so many; all if there are no more.

    Returns the rows, ascending, and how many rows each represents, or None if all are taken.
    """
    if len(codes) <= most:
        return np.arange(len(codes)), None
    sizes = np.bincount(codes)
    share = np.sort(sizes)  # the number a cluster that uses up `most`, when small ones are taken whole
    left = most - np.r_[0, np.cumsum(share)[:-1]]
    each = max(1, int(max(left // np.arange(len(share), 0, -1))))
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    place = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.sort(order[place < each])
    return rows, (sizes / np.minimum(sizes, each))[codes[rows]]


def _grow_tree(
    X: NDArray[Any],
    codes: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    nominal: tuple[int, ...],
    max_leaves: int,
) -> Tree:
    """Grow the tree of scikit-learn on ranks; its tests are on values."""
    from sklearn.tree import DecisionTreeClassifier  # takes a tenth of the time in which a command begins

    asked: list[NDArray[np.float32]] = []
    tests: list[tuple[int, NDArray[np.float64]]] = []  # column and its values, or the one to compare with
    for j in range(X.shape[1]):
        values, rank = np.unique(X[:, j].astype(np.float64), return_inverse=True)
        if j in nominal:
            asked += [(rank == r).astype(np.float32) for r in range(len(values))]
            tests += [(j, values[r : r + 1]) for r in range(len(values))]
        else:
            asked.append(rank.astype(np.float32))
            tests.append((j, values))
    if max_leaves < 2 or not codes.any():
        return Tree((None,), *np.array([[-1], [-1], [0]], dtype=np.int32))
    model = DecisionTreeClassifier(max_leaf_nodes=max_leaves, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")  # as many as rows
        found = model.fit(np.stack(asked, axis=1), codes, sample_weight=weight).tree_
    conditions: list[Condition | None] = []
    for number, threshold, below in zip(found.feature, found.threshold, found.children_left, strict=True):
        if below < 0:
            conditions.append(None)
            continue
        column, values = tests[number]
        conditions.append(_condition(column, values, column in nominal, float(threshold)))
    yes, no = found.children_right.astype(np.int32), found.children_left.astype(np.int32)
    return Tree(tuple(conditions), yes, no, np.where(yes < 0, 0, -1).astype(np.int32))


def _condition(column: int, values: NDArray[np.float64], equals: bool, threshold: float) -> Condition:
    """A test on ranks as a test on values, in the middle between the two that it divides."""
    if equals:
        return Condition(column, float(values[0]), equals=True)
    low, high = (float(v) for v in values[int(threshold) : int(threshold) + 2])
    middle = low + (high - low) / 2
    return Condition(column, middle if low <= middle < high else low)


def prune_tree(tree: Tree, reached: NDArray[np.float64], fidelity: float) -> Tree:
    """Remove the branches that the fewest rows need, and give each leaf the label of most of its rows.

    Children have higher numbers than their parents. `reached`, of shape (n_nodes, n_clusters), counts the
    rows of each cluster that reach each leaf; zeros for other nodes. The share `fidelity` of the rows
    must keep their label, if the tree gives it to so many.
    """
    leaf = np.array([test is None for test in tree.tests])
    protected = reached.sum(axis=0) > SMALL * reached.sum()
    rows = reached.copy()
    for node in np.flatnonzero(~leaf)[::-1]:
        rows[node] = rows[tree.yes[node]] + rows[tree.no[node]]
    label, right = rows.argmax(axis=1).astype(np.int32), rows.max(axis=1)
    least = None
    while True:
        kept, bears = _totals(tree, leaf, label, right)
        least = min(fidelity * rows[0].sum(), kept[0]) if least is None else least
        cost = kept - right
        left = bears[0] - bears  # leaves of each cluster if a node were cut
        left[np.arange(len(label)), label] += 1
        lost = ((left == 0) & (bears[0] > 0) & protected[: left.shape[1]]).any(axis=1)
        able = _inside(tree, leaf) & (kept[0] - cost >= least) & ~lost
        if not able.any():
            return _remove_branches(tree, leaf, label)
        leaf[np.flatnonzero(able)[np.argmin(cost[able] / (bears[able].sum(axis=1) - 1))]] = True


def _totals(
    tree: Tree, leaf: NDArray[np.bool_], label: NDArray[np.int32], right: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows that keep their label, and leaves of each cluster, below each node."""
    kept, bears = right.copy(), np.zeros((len(label), int(label.max()) + 1), dtype=np.int64)
    bears[np.arange(len(label)), label] = 1
    for node in np.flatnonzero(~leaf)[::-1]:
        yes, no = tree.yes[node], tree.no[node]
        kept[node], bears[node] = kept[yes] + kept[no], bears[yes] + bears[no]
    return kept, bears


def _inside(tree: Tree, leaf: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Inner nodes that are still part of the tree."""
    there = np.zeros(len(leaf), dtype=bool)
    there[0] = True
    for node in np.flatnonzero(~leaf):
        there[[tree.yes[node], tree.no[node]]] = there[node]
    return there & ~leaf


def _remove_branches(tree: Tree, leaf: NDArray[np.bool_], label: NDArray[np.int32]) -> Tree:
    """The tree with these leaves, nodes numbered from the root on."""
    ways: list[tuple[Path, int]] = []
    stack: list[tuple[int, Path]] = [(0, ())]
    while stack:
        node, path = stack.pop()
        test = tree.tests[node]
        if leaf[node] or test is None:
            ways.append((path, int(label[node])))
        else:
            stack += [
                (int(tree.no[node]), (*path, (test, False))),
                (int(tree.yes[node]), (*path, (test, True))),
            ]
    return build_tree(ways)
