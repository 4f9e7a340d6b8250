"""Prepare columns for a clustering tree: tests, orders of the rows, and squares."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.trees.tree import Condition

MANY_ROWS = 5000  # to start a thread takes as long as to sort so many


@dataclass(frozen=True, eq=False)
class Columns:
    """The possible tests of the rows, and the columns of the sum of squares.

    Attributes
    ----------
    features : ndarray of shape (n_rows, p)
        Centred, scaled, one column a value where nominal; padded with zeros to a multiple of 8.
    column : ndarray of shape (n_tests,)
        The column of each test; a column with a single value has none.
    value : ndarray of shape (n_tests,)
        The value to compare with if the column is nominal; NaN for a threshold.
    order, rank : ndarray of shape (n_tests, n_rows)
        Rows from the largest to the smallest value, and the number of smaller values.
    """

    X: NDArray[Any]
    features: NDArray[np.float64]
    column: NDArray[np.int64]
    value: NDArray[np.float64]
    order: NDArray[np.int32]
    rank: NDArray[np.int32]

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
    parts, column, value = [], [], []
    for j in range(X.shape[1]):
        x = X[:, j].astype(np.float64)
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
    if not parts:  # all rows are alike: a test that parts none of them
        parts, column, value = [np.zeros((len(X), 8))], [0], [np.nan]
    features = np.hstack([*parts, np.zeros((len(X), -sum(part.shape[1] for part in parts) % 8))])
    asked = [
        (X[:, j] == v).view(np.int8) if v == v else np.ascontiguousarray(X[:, j])
        for j, v in zip(column, value, strict=True)
    ]
    if n_threads == 1 or len(X) < MANY_ROWS:
        sorted_rows = [_rank_rows(x) for x in asked]
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            sorted_rows = list(pool.map(_rank_rows, asked))
    order = np.stack([o for o, _ in sorted_rows]) if asked else np.empty((0, len(X)), np.int32)
    rank = np.stack([r for _, r in sorted_rows]) if asked else np.empty((0, len(X)), np.int32)
    return Columns(
        X, np.ascontiguousarray(features), np.array(column, np.int64), np.array(value), order, rank
    )


def _rank_rows(x: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows from the largest value to the smallest, and the rank of each row among the values.

    Of equal values the last row comes first, so that the order is the same on every machine.
    """
    order = np.argsort(x)  # much faster than the stable sort, but of equal values in any order
    same = np.diff(x[order]) == 0
    if 8 * np.count_nonzero(same) > len(x):
        order = np.argsort(x, kind="stable")
    elif same.any():
        tied = np.flatnonzero(np.r_[same, False] | np.r_[False, same])
        run = np.cumsum(np.r_[True, ~same])[tied]
        order[tied] = order[tied][np.lexsort((order[tied], run))]
    rank = np.empty(len(x), dtype=np.int32)
    rank[order] = np.cumsum(np.r_[False, ~(np.diff(x[order]) == 0)])
    return order[::-1].astype(np.int32), rank
