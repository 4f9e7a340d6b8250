"""Extremely randomised trees, and the number of trees in which two rows share a leaf."""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_range
from linkwise.native.library import library

BESIDE = 128  # rows of a block
MOST_TREES = 255  # counts are bytes


class PackedLeaves(NamedTuple):
    """The leaves of each row as bytes, as many for each tree as tell its leaves apart."""

    of_tree: NDArray[np.int32]
    """(t,) bytes of each tree."""
    row: NDArray[np.uint8]
    """(n, b) row by row."""
    block: NDArray[np.uint8]
    """(n / 128, b, 128) the same in blocks of rows, byte by byte; the last block ends in zeros."""


NO_LEAVES = PackedLeaves(
    np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.uint8), np.empty((0, 0, BESIDE), dtype=np.uint8)
)


def random_trees(
    rows: NDArray[np.float64],
    items: NDArray[np.int64],
    home: NDArray[np.int64],
    n_trees: int,
    seed: int,
    n_threads: int,
    max_features: int | None = None,
) -> NDArray[np.int32]:
    """Grow extremely randomised trees on some rows, and find the leaf of every row.

    A node is split if its items are of several classes and differ in some feature. Features are drawn without
    replacement until `max_features` in which its items differ were tried, each with one threshold, uniform
    between its least and its largest value there. The split of least Gini impurity is used, of equals the
    first. Every item counts once. scikit-learn's ExtraTrees do the same, except that features in which all
    items are equal count as tried. Time, for a tree, O(n + l √d) times its mean depth.

    Parameters
    ----------
    rows : (n, d) float64, C-contiguous
        The rows.
    items : (l,) int64
        Rows that the trees learn from.
    home : (l,) int64
        Their classes, 0 to l - 1.
    n_trees : int, at least 1
        Number of trees.
    seed : int, 0 to 2⁶⁴ - 1
        Seed of all random draws.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    max_features : int, 1 to d, optional
        ⌊√d⌋ by default.

    Returns
    -------
    (n, n_trees) int32
        Leaf of each row in each tree: 0, 1, ... from left to right.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees, sections 2 and 3.
    """
    _check_items(rows, items, home)
    check_count("n_trees", n_trees)
    check_count("n_threads", n_threads)
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed must be 0 to 2**64 - 1, got {seed}")
    tried = _count_tried(rows, max_features)
    return library.random_trees(rows, items, home, n_trees, seed, tried, n_threads)


def weighted_trees(
    rows: NDArray[np.float64],
    items: NDArray[np.int64],
    home: NDArray[np.int64],
    weights: NDArray[np.int32],
    seeds: NDArray[np.uint64],
    n_threads: int,
    max_features: int | None = None,
) -> NDArray[np.int32]:
    """Grow trees as `random_trees` does, each with weights of its own for the items.

    Parameters
    ----------
    rows, items, home, n_threads, max_features
        As for `random_trees`.
    weights : (n_trees, l) int32, not negative
        How often each item counts in each tree. In each tree one item counts at least once.
    seeds : (n_trees,) uint64
        Seed of each tree, which is the first tree of a forest with this seed.

    Returns
    -------
    (n, n_trees) int32
        Leaf of each row in each tree.
    """
    _check_items(rows, items, home)
    check_array("weights", weights, (None, len(items)), np.int32)
    check_array("seeds", seeds, (len(weights),), np.uint64)
    check_count("n_threads", n_threads)
    if int(weights.min()) < 0 or int(weights.max(axis=1).min()) < 1:
        raise ValueError("weights must not be negative, and in each tree one must be at least 1.")
    return library.weighted_trees(
        rows, items, home, weights, seeds, _count_tried(rows, max_features), n_threads
    )


def _check_items(rows: NDArray[np.float64], items: NDArray[np.int64], home: NDArray[np.int64]) -> None:
    check_array("rows", rows, (None, None))
    check_array("items", items, (None,), np.int64)
    check_array("home", home, items.shape, np.int64)
    check_range("items", items, 0, len(rows) - 1)
    check_range("home", home, 0, len(items) - 1)


def _count_tried(rows: NDArray[np.float64], max_features: int | None) -> int:
    tried = isqrt(rows.shape[1]) if max_features is None else max_features
    if not 1 <= tried <= rows.shape[1]:
        raise ValueError(f"max_features must be 1 to {rows.shape[1]}, got {tried}")
    return tried


def count_leaf_mates(
    leaves: NDArray[np.int32],
    rows: NDArray[np.int64],
    members: NDArray[np.int64],
    group: NDArray[np.int64],
    n_groups: int,
) -> NDArray[np.int64]:
    """Count, for rows and groups of rows, the leaves that a row shares with the members of a group.

    Parameters
    ----------
    leaves : (n, n_trees) int32, C-contiguous
        Leaf of each row in each tree, not negative.
    rows : (r,) int64
        Positions in `leaves`.
    members : (m,) int64
        Positions of the members of all groups.
    group : (m,) int64
        Their groups, 0 to n_groups - 1.
    n_groups : int, at least 1
        Number of groups.

    Returns
    -------
    (r, n_groups) int64
        Members in the same leaf, added over the trees.
    """
    check_array("leaves", leaves, (None, None), np.int32)
    check_array("rows", rows, (None,), np.int64)
    check_array("members", members, (None,), np.int64)
    check_array("group", group, members.shape, np.int64)
    check_count("n_groups", n_groups)
    for name, given in (("rows", rows), ("members", members)):
        check_range(name, given, 0, len(leaves) - 1)
    check_range("group", group, 0, n_groups - 1)
    if int(leaves.min()) < 0:
        raise ValueError(f"leaves holds {leaves.min()}. Pass numbers from 0 on.")
    return library.count_leaf_mates(leaves, rows, members, group, n_groups)


def pack_leaves(leaves: NDArray[np.int32]) -> PackedLeaves:
    """Pack the leaves of trees, so that shared ones are counted fast.

    Parameters
    ----------
    leaves : (n, t) int32
        Any numbers of leaves, of at most 255 trees.

    Returns
    -------
    PackedLeaves
    """
    check_array("leaves", leaves, (None, None), np.int32)
    if leaves.shape[1] > MOST_TREES:
        raise ValueError(f"leaves has {leaves.shape[1]} trees. Pass at most {MOST_TREES}.")
    return PackedLeaves(*library.pack_leaves(leaves))


def shared_leaves(leaves: PackedLeaves, rows: NDArray[np.int64], n_threads: int) -> NDArray[np.uint8]:
    """Count the trees in which some rows share a leaf with each of all rows.

    Parameters
    ----------
    leaves : PackedLeaves
    rows : (m,) int64
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (m, n) uint8
    """
    check_leaves(leaves)
    check_array("rows", rows, rows.shape[:1], np.int64)
    check_range("rows", rows, 0, len(leaves.row) - 1)
    check_count("n_threads", n_threads)
    return library.shared_leaves(*leaves, rows, n_threads)


def check_leaves(leaves: PackedLeaves) -> None:
    """Check the shapes of packed leaves: native code would read beyond its arrays."""
    n, count = leaves.row.shape
    blocks = -(-n // BESIDE)
    check_array("of_tree", leaves.of_tree, leaves.of_tree.shape[:1], np.int32)
    check_array("row", leaves.row, (n, count), np.uint8)
    check_array("block", leaves.block, (blocks, count, BESIDE), np.uint8)
    if leaves.of_tree.sum() != count or (count and leaves.of_tree.min() < 1):
        raise ValueError(f"of_tree must hold numbers of bytes that add up to {count}.")
