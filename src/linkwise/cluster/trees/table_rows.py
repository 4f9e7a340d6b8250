"""The rows of a leaf in memory: its best cuts, and how a test splits it."""

from __future__ import annotations

from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.cluster.trees.columns import Columns
from linkwise.cluster.trees.growth import LeafRows, LikelySplits
from linkwise.cluster.trees.tree import Condition


class TableRows(NamedTuple):
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


def describe_table(
    columns: Columns, weight: NDArray[np.float64] | None, place: NDArray[np.int32], least: float, tie: float
) -> LeafRows:
    """Describe all rows as those of one leaf."""
    every = np.arange(len(columns.X), dtype=np.int32)
    parts = columns.features, columns.order, columns.rank, weight, place
    return describe_rows(TableRows(columns, every, *parts, least, tie))


def describe_rows(table: TableRows) -> LeafRows:
    """Describe the rows of a leaf."""
    squares = native.leaf_squares(
        table.features,
        table.order,
        table.rank,
        table.columns.tied,
        table.weight,
        table.place,
        table.least,
        table.tie,
        parallel.n_threads(),
    )
    return LeafRows(squares, cache(partial(_add_rows, table)), partial(_split_rows, table))


def _add_rows(table: TableRows) -> tuple[float, NDArray[np.float64]]:
    """Compute the weight and the sum of rows."""
    features = table.features[table.order[0]]
    if table.weight is None:
        return float(len(features)), features.sum(axis=0)
    weight = table.weight[table.order[0]]
    return float(weight.sum()), (features * weight[:, None]).sum(axis=0)


def _split_rows(
    table: TableRows, number: int, size: int, _: LikelySplits
) -> tuple[Condition, LeafRows, LeafRows]:
    """Split the rows of a leaf by a test."""
    last, following = table.rows[table.order[number, size - 1 : size + 1]].tolist()
    sides = native.split_leaf(table.features, table.order, number, size, parallel.n_threads())
    one, two = (describe_rows(_take_side(table, side)) for side in sides)
    return table.columns.test(number, last, following), one, two


def _take_side(table: TableRows, side: native.SideRows) -> TableRows:
    """Take the rows of one side: near each other in memory they are read faster."""
    tied = np.flatnonzero(table.columns.tied)
    rank = np.zeros(side.order.shape, dtype=np.int32)
    rank[tied] = table.rank[tied[:, None], side.rows]
    weight = None if table.weight is None else table.weight[side.rows]
    rows, place = table.rows[side.rows], table.place[side.rows]
    parts = side.features, side.order, rank, weight, place
    return TableRows(table.columns, rows, *parts, table.least, table.tie)
