"""The rows of a leaf: its best cuts, and how a test splits it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.cluster.trees.columns import Columns
from linkwise.cluster.trees.tree import Condition


@dataclass(frozen=True, eq=False)
class LeafRows:
    """The rows of a leaf, numbered anew, and what bounds a cut."""

    columns: Columns
    """Of all rows."""
    rows: NDArray[np.int32]
    """(m,) the rows of the leaf, ascending; all below are about these alone."""
    features: NDArray[np.float64]
    order: NDArray[np.int32]
    rank: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    place: NDArray[np.int32]
    """As in `linkwise.native.LinkedRows`."""
    least: float
    """Smallest weight of a side."""
    tie: float
    """Squares this near are equal."""
    n_threads: int

    @classmethod
    def of_all(
        cls,
        columns: Columns,
        weight: NDArray[np.float64] | None,
        place: NDArray[np.int32],
        least: float,
        tie: float,
        n_threads: int,
    ) -> LeafRows:
        """Take all rows as those of one leaf."""
        every = np.arange(len(columns.X), dtype=np.int32)
        parts = columns.features, columns.order, columns.rank, weight, place
        return cls(columns, every, *parts, least, tie, n_threads)

    @cached_property
    def squares(self) -> native.LeafSquares:
        """The sums of squares of all cuts."""
        return native.leaf_squares(
            self.features,
            self.order,
            self.rank,
            self.columns.tied,
            self.weight,
            self.place,
            self.least,
            self.tie,
            self.n_threads,
        )

    @cached_property
    def total(self) -> tuple[float, NDArray[np.float64]]:
        """The weight of the rows, and the sum of their features."""
        features = self.features[self.order[0]]
        if self.weight is None:
            return float(len(features)), features.sum(axis=0)
        weight = self.weight[self.order[0]]
        return float(weight.sum()), (features * weight[:, None]).sum(axis=0)

    def split(self, number: int, size: int) -> tuple[Condition, LeafRows, LeafRows]:
        """Split the rows by number and size of a cut: its test, and the rows for which it holds or not."""
        last, following = self.rows[self.order[number, size - 1 : size + 1]].tolist()
        sides = native.split_leaf(self.features, self.order, number, size, self.n_threads)
        one, two = map(self._take_side, sides)
        return self.columns.test(number, last, following), one, two

    def _take_side(self, side: native.SideRows) -> LeafRows:
        """Take the rows of one side: near each other in memory they are read faster."""
        tied = np.flatnonzero(self.columns.tied)
        rank = np.zeros(side.order.shape, dtype=np.int32)
        rank[tied] = self.rank[tied[:, None], side.rows]
        weight = None if self.weight is None else self.weight[side.rows]
        rows, place = self.rows[side.rows], self.place[side.rows]
        parts = side.features, side.order, rank, weight, place
        return LeafRows(self.columns, rows, *parts, self.least, self.tie, self.n_threads)
