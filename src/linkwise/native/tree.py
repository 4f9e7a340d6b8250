"""Clustering trees: the best ways to split one leaf."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library


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


class SideRows(NamedTuple):
    """The rows of one side of a split, numbered anew."""

    rows: NDArray[np.int32]
    """(s,) their numbers before, ascending."""
    features: NDArray[np.float64]
    """(s, p)."""
    order: NDArray[np.int32]
    """(t, s) their positions in `rows`, for each test in its order."""


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
    """Name what `_native.leaf_squares` returns."""
    return LeafSquares(*library.leaf_squares(Z, order, rank, tied, weight, place, least, tie, n_threads))


def split_leaf(
    Z: NDArray[np.float64], order: NDArray[np.int32], number: int, size: int, n_threads: int
) -> tuple[SideRows, SideRows]:
    """Name what `_native.split_leaf` returns."""
    first, second = library.split_leaf(Z, order, number, size, n_threads)
    return SideRows(*first), SideRows(*second)


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
    """Call `_native.best_splits` with the sums of squares and the linked rows, and name what it returns."""
    weights = per_square, per_broken, most, n_threads
    return LeafSplits(
        *library.best_splits(*squares, *linked[1:], label, allowed, own, n_free, evidence, *weights)
    )
