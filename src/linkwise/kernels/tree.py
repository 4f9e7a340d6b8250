"""Clustering trees: the best ways to split one leaf."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.kernels import _kernels
from linkwise.kernels._checks import check_array, check_count


class LinkedRows(NamedTuple):
    """Rows that bear constraints, numbered by component ("places"), and which components are apart."""

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


class LeafSplits(NamedTuple):
    """A leaf as it is, and the best ways to split it."""

    scatter: float
    """Sum of squares of its rows about their mean."""
    broken: int
    """Constraints with an end in the leaf that are broken as labels are now."""
    splits: list[tuple[int, int, float, int]]
    """Test, rows of the first side, by how much the sum of squares falls, constraints with an end in the
    leaf that are broken then; best first."""
    counts: NDArray[np.int64]
    """(splits, 2, 2, labels): must-links, cannot-links; of either side; to rows outside, by label."""


def best_splits(
    Z: NDArray[np.float64],
    order: NDArray[np.int32],
    rank: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    linked: LinkedRows,
    label: NDArray[np.int32],
    allowed: NDArray[np.uint8],
    own: int,
    n_free: int,
    evidence: bool,
    least: float,
    per_square: float,
    per_broken: float,
    most: int,
    n_threads: int,
) -> LeafSplits:
    """Find the best ways to split a leaf by one test and to label its two sides differently.

    A split is scored ``per_square * (sum of squares of both sides) + per_broken * (broken constraints)``;
    constraints are all that follow, counted by component. Scores within 1e-12 are equal, and the first in
    the order of tests, then of rows, stands.

    Parameters
    ----------
    Z : (n, p) float64, C-contiguous
        Features of the sum of squares, p a multiple of 8 (padded with columns of 0).
    order : (t, m) int32, C-contiguous
        The rows of the leaf, for each test in the order in which they pass to the first side.
    rank : (t, n) int32, C-contiguous
        Rows of equal rank are not parted by the test.
    weight : (n,) float64 or None
    linked : LinkedRows
    label : (q,) int32
        Label of each place.
    allowed : (L,) uint8
        Whether each label may be given to a side.
    own : int
        Label of the leaf.
    n_free : int
        Labels that may be new, at most 2.
    evidence : bool
        Whether an old label needs a must-link from the side to it.
    least : float
        Weight of a side.
    per_square, per_broken : float
    most : int, at least 1
        Splits wanted.
    n_threads : int, at least 1

    Returns
    -------
    LeafSplits

    References
    ----------
    Struyf and Džeroski (2007), Clustering trees with instance level constraints.
    """
    check_array("Z", Z, (None, None))
    check_array("order", order, (None, None), np.int32)
    check_array("rank", rank, (len(order), len(Z)), np.int32)
    check_array("allowed", allowed, (None,), np.uint8)
    check_count("most", most)
    check_count("n_threads", n_threads)
    if Z.shape[1] % 8:
        raise ValueError(f"Z must have a multiple of 8 columns, got {Z.shape[1]}; pad it with zeros")
    if len(label) != len(linked.component):
        raise ValueError(f"label must have one entry a place, {len(linked.component)}, got {len(label)}")
    return LeafSplits(
        *_kernels.best_splits(
            Z,
            order,
            rank,
            weight,
            *linked,
            label,
            allowed,
            own,
            n_free,
            evidence,
            least,
            per_square,
            per_broken,
            most,
            n_threads,
        )
    )
