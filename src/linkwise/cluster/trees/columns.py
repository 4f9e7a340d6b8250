"""Prepare columns for a clustering tree: tests, orders of the rows, and squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.cluster.trees.tree import Condition


@dataclass(frozen=True, eq=False)
class Columns:
    """The possible tests of the rows, and the columns of the sum of squares.

    `features`, of shape (n_rows, p), are centred, scaled, one column a value where nominal, padded with
    zeros to a multiple of 8. For each test there is its `column`, none with a single value; the `value`
    to compare with if the column is nominal, NaN for a threshold; the `order` of the rows from the
    largest to the smallest value, and as `rank` the number of smaller values, 0 where none are equal; and
    whether any values are `tied`.
    """

    X: NDArray[Any]
    features: NDArray[np.float64]
    column: NDArray[np.int64]
    value: NDArray[np.float64]
    order: NDArray[np.int32]
    rank: NDArray[np.int32]
    tied: NDArray[np.uint8]

    def test(self, number: int, last: int, following: int) -> Condition:
        """Return the test that separates a row from the following one in the order."""
        column = int(self.column[number])
        if not np.isnan(self.value[number]):
            return Condition(column, float(self.value[number]), equals=True)
        return cut_between(column, float(self.X[following, column]), float(self.X[last, column]))


def cut_between(column: int, low: float, high: float) -> Condition:
    """Return the test that separates two values of a column: the one in the middle, if it is a float."""
    middle = low + (high - low) / 2
    return Condition(column, middle if low <= middle < high else low)


def build_columns(
    X: NDArray[Any],
    nominal: Sequence[int],
    weight: NDArray[np.float64] | None,
    *,
    standardize: bool,
    n_threads: int,
) -> Columns:
    """Prepare the columns of X; with `standardize` they count equally in the sum of squares."""
    names = set(nominal)
    parts, column, value, asked = [], [], [], []
    for j, x in enumerate(np.ascontiguousarray(X.T, dtype=np.float64)):
        shown = (x[:, None] == np.unique(x)).astype(np.float64) if j in names else x[:, None]
        values = np.unique(x) if j in names else np.array([np.nan])
        part = shown - np.average(shown, axis=0, weights=weight)
        if standardize:  # squares of what is very small are nothing
            part = part / max(float(np.abs(part).max(initial=0.0)), np.finfo(np.float64).tiny)
        squares = float(np.einsum("ij,ij,i->", part, part, np.ones(len(x)) if weight is None else weight))
        if len(x) and x.min() < x.max():
            parts.append(part / np.sqrt(squares) if standardize else part)
            column += [j] * len(values)
            value += values.tolist()
            asked += [*(x == values[:, None]).astype(np.float64)] if j in names else [x]
    if not parts:  # all rows are alike: a test that parts none of them
        parts, column, value, asked = [np.zeros((len(X), 8))], [0], [np.nan], [np.zeros(len(X))]
    features = np.zeros((len(X), sum(part.shape[1] for part in parts) + 7 & -8))
    np.concatenate(parts, axis=1, out=features[:, : sum(part.shape[1] for part in parts)])
    order, rank, tied = native.sort_values(np.stack(asked), n_threads)
    return Columns(X, features, np.array(column, np.int64), np.array(value), order, rank, tied)
