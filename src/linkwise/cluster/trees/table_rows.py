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
    """All rows, and what bounds a cut."""

    columns: Columns
    weight: NDArray[np.float64] | None
    place: NDArray[np.int32]
    """As in `linkwise.native.LinkedRows`."""
    least: float
    """Smallest weight of a side."""
    tie: float
    """Squares this near are equal."""


def describe_rows(table: TableRows, order: NDArray[np.int32]) -> LeafRows:
    """Describe the rows of a leaf, which are in the order of each test."""
    columns = table.columns
    squares = native.leaf_squares(
        columns.features,
        order,
        columns.rank,
        table.weight,
        table.place,
        table.least,
        table.tie,
        parallel.n_threads(),
    )
    return LeafRows(squares, cache(partial(_add_rows, table, order[0])), partial(_split_rows, table, order))


def _add_rows(table: TableRows, rows: NDArray[np.int32]) -> tuple[float, NDArray[np.float64]]:
    """Compute the weight and the sum of rows."""
    features = table.columns.features[rows]
    if table.weight is None:
        return float(len(rows)), features.sum(axis=0)
    weight = table.weight[rows]
    return float(weight.sum()), (features * weight[:, None]).sum(axis=0)


def _split_rows(
    table: TableRows, order: NDArray[np.int32], number: int, size: int, _: LikelySplits
) -> tuple[Condition, LeafRows, LeafRows]:
    """Split the rows of a leaf by a test, in the order of every test."""
    goes = np.zeros(len(table.columns.X), dtype=bool)
    goes[order[number, :size]] = True
    first = goes[order]
    one, two = (order[part].reshape(len(order), -1) for part in (first, ~first))
    test = table.columns.test(number, int(order[number][size - 1]), int(order[number][size]))
    return test, describe_rows(table, one), describe_rows(table, two)
