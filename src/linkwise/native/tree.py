"""Clustering trees: the best ways to split one leaf."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count
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
    check_array("rank", rank, (len(order), len(Z)), np.int32)
    check_array("place", place, (len(Z),), np.int32)
    if weight is not None:
        check_array("weight", weight, (len(Z),))
    check_count("n_threads", n_threads)
    if Z.shape[1] % 8:
        raise ValueError(f"Z must have a multiple of 8 columns, got {Z.shape[1]}. Pad it with zeros.")
    return LeafSquares(*library.leaf_squares(Z, order, rank, weight, place, least, tie, n_threads))


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
