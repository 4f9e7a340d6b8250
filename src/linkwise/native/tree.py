"""Clustering trees: the best ways to split one leaf."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_range, check_row_array
from linkwise.native.library import library


class LinkedRows(NamedTuple):
    """Rows with constraints, numbered by component ("places"), and the pairs of components that are apart."""

    place: NDArray[np.int32]
    """(n,) place of each row, -1 where it bears no constraint."""
    component: NDArray[np.int32]
    """(q,) component of each place, ascending."""
    first: NDArray[np.int64]
    """(c + 1,) places of component i are first[i] to first[i + 1]."""
    foe_first: NDArray[np.int64]
    """(c + 1,) foes of component i are foe[foe_first[i]] to foe[foe_first[i + 1]]."""
    foe: NDArray[np.int32]
    """Components that are apart from each; both directions are there."""


class LeafSquares(NamedTuple):
    """Sums of squares of the splits of a leaf, for each test and number of linked rows moved."""

    scatter: float
    """Sum of squares of the rows of the leaf about their mean."""
    between: NDArray[np.float64]
    """(t, s + 1) by how much the best cut after that many of its s linked rows lowers it; -1: no cut."""
    size: NDArray[np.int32]
    """(t, s + 1) rows that this cut puts on the first side."""
    places: NDArray[np.int32]
    """(t, s) places of the linked rows, in the order in which they move."""


class LeafSplits(NamedTuple):
    """The best ways to split a leaf."""

    broken: int
    """Constraints with an end in the leaf that are broken as labels are now."""
    splits: list[tuple[int, int, float, int]]
    """Test, rows of the first side, by how much the sum of squares falls, constraints with an end in the
    leaf that are broken then; best first."""
    counts: NDArray[np.int64]
    """(splits, 2, 2, labels): must-links, cannot-links; of either side; to rows outside, by label."""


def leaf_squares(
    Z: NDArray[np.float64],
    order: NDArray[np.int32],
    rank: NDArray[np.int32],
    tied: NDArray[np.uint8],
    weight: NDArray[np.float64] | None,
    place: NDArray[np.int32],
    least: float,
    tie: float,
    n_threads: int,
) -> LeafSquares:
    """Find the best cuts of a leaf by the sum of squares.

    Parameters
    ----------
    Z : (n, p) float64, C-contiguous
        Features, p a multiple of 8 (padded with columns of 0).
    order : (t, m) int32, C-contiguous
        The rows of the leaf, for each test in the order in which they pass to the first side.
    rank : (t, n) int32, C-contiguous
        A test does not separate rows of equal rank.
    tied : (t,) uint8
        Whether any rows have equal ranks; if not, the ranks of the test are not read.
    weight : (n,) float64 or None
        Weights of the rows.
    place : (n,) int32
        See `LinkedRows`.
    least : float
        Smallest weight of a side.
    tie : float
        Sums that differ by at most this are equal; the first cut wins.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    LeafSquares
        The sums of squares.
    """
    check_array("Z", Z, (None, None))
    check_array("order", order, (None, None), np.int32)
    check_range("order", order, 0, len(Z) - 1)
    check_array("rank", rank, (len(order), len(Z)), np.int32)
    check_array("tied", tied, (len(order),), np.uint8)
    check_array("place", place, (len(Z),), np.int32)
    if weight is not None:
        check_array("weight", weight, (len(Z),))
    check_count("n_threads", n_threads)
    if Z.shape[1] % 8:
        raise ValueError(f"Z must have a multiple of 8 columns, got {Z.shape[1]}. Pad it with zeros.")
    return LeafSquares(*library.leaf_squares(Z, order, rank, tied, weight, place, least, tie, n_threads))


def sort_values(
    values: NDArray[np.float64], n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """Sort the rows by each of several tests.

    Parameters
    ----------
    values : (t, n) float64, C-contiguous
        Values of the rows in each test, no NaN.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (t, n) int32
        The rows from the largest value to the smallest; of equal values the last row comes first.
    (t, n) int32
        Number of smaller distinct values of each row; all 0 for a test without equal values.
    (t,) uint8
        Whether any values are equal.
    """
    check_array("values", values, (None, None))
    check_count("n_threads", n_threads)
    return library.sort_values(values, n_threads)


class SideRows(NamedTuple):
    """The rows of one side of a split, numbered anew."""

    rows: NDArray[np.int32]
    """(s,) their numbers before, ascending."""
    features: NDArray[np.float64]
    """(s, p)."""
    order: NDArray[np.int32]
    """(t, s) their positions in `rows`, for each test in its order."""


def split_leaf(
    Z: NDArray[np.float64], order: NDArray[np.int32], number: int, size: int, n_threads: int
) -> tuple[SideRows, SideRows]:
    """Split the rows of a leaf into the first ones by one test and the others, and number both sides anew.

    Parameters
    ----------
    Z : (m, p) float64, C-contiguous
        Features of the rows.
    order : (t, m) int32, C-contiguous
        The rows 0 to m - 1, for each test in its order.
    number : int, 0 to t - 1
        The test that splits them.
    size : int, 1 to m - 1
        Number of rows of the first side.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    tuple of two SideRows
        The rows of both sides.
    """
    check_array("Z", Z, (None, None))
    check_array("order", order, (None, len(Z)), np.int32)
    check_count("n_threads", n_threads)
    if not 0 <= number < len(order) or not 1 <= size < len(Z):
        raise ValueError(f"number and size must fit {order.shape}, got {number} and {size}")
    first, second = library.split_leaf(Z, order, number, size, n_threads)
    return SideRows(*first), SideRows(*second)


def apply_tree(
    X: NDArray[Any],
    column: NDArray[np.int32],
    value: NDArray[np.float64],
    equals: NDArray[np.uint8],
    yes: NDArray[np.int32],
    no: NDArray[np.int32],
    n_threads: int,
) -> NDArray[np.int32]:
    """Find the leaf of a tree that each row reaches.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    column : (nodes,) int32
        Column of the test of each node; -1 at a leaf. Node 0 is the root.
    value : (nodes,) float64
        The value to compare with.
    equals : (nodes,) uint8
        Whether the test is "equals", or else "greater than".
    yes, no : (nodes,) int32
        The nodes that follow, with higher numbers.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n,) int32
        The leaf of each row.
    """
    check_row_array(X)
    check_array("column", column, (None,), np.int32)
    check_range("column", column, -1, X.shape[1] - 1)
    check_array("value", value, column.shape)
    check_array("equals", equals, column.shape, np.uint8)
    inner = np.flatnonzero(column >= 0)
    for name, node in (("yes", yes), ("no", no)):
        check_array(name, node, column.shape, np.int32)
        check_range(name, node[inner], 1, len(column) - 1)
        if (node[inner] <= inner).any():
            raise ValueError(f"{name} must lead to higher nodes.")
    check_count("n_threads", n_threads)
    return library.apply_tree(X, column, value, equals, yes, no, n_threads)


def best_splits(
    squares: LeafSquares,
    linked: LinkedRows,
    label: NDArray[np.int32],
    allowed: NDArray[np.uint8],
    own: int,
    n_free: int,
    evidence: bool,
    per_square: float,
    per_broken: float,
    most: int,
    n_threads: int,
) -> LeafSplits:
    """Find the best ways to split a leaf by one test and to label its two sides differently.

    A split is scored ``per_square * (sum of squares of both sides) + per_broken * (broken constraints)``;
    constraints include all implied ones, counted by component. Scores within 1e-12 are equal, and the first
    in the order of tests, then of rows, wins. Of cuts between the same linked rows only the best counts.

    Parameters
    ----------
    squares : LeafSquares
        The sums of squares of all splits.
    linked : LinkedRows
        Rows with constraints.
    label : (q,) int32
        Label of each place.
    allowed : (L,) uint8
        Whether a side may get each label.
    own : int
        Label of the leaf.
    n_free : int
        Number of new labels that are allowed, at most 2.
    evidence : bool
        Whether an old label needs a must-link from the side to it.
    per_square, per_broken : float
        Cost of a unit of squares, and of a broken constraint.
    most : int, at least 1
        Largest number of splits.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    LeafSplits
        The best splits.

    References
    ----------
    Struyf and Džeroski (2007), Clustering trees with instance level constraints.
    """
    check_array("allowed", allowed, (None,), np.uint8)
    check_count("most", most)
    check_count("n_threads", n_threads)
    if len(label) != len(linked.component):
        raise ValueError(f"label must have one entry a place, {len(linked.component)}, got {len(label)}")
    weights = per_square, per_broken, most, n_threads
    found = library.best_splits(*squares, *linked[1:], label, allowed, own, n_free, evidence, *weights)
    return LeafSplits(*found)
