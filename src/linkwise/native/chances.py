"""Chances of pairs and of items, which NumPy would compute in many passes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

Table = NDArray[np.float64]
CURVE = np.array([(3, 4, 5), (4, 6, 7), (5, 7, 8)])  # places of the second derivatives among the sums


class RowSums(NamedTuple):
    """What the rows of a table hold."""

    largest: Table
    """(n,) the largest value; minus infinity where there is none."""
    second: Table
    """(n,) the largest of the others."""
    positive: Table
    """(n,) the sum of the values above 0."""


def pair_chances(
    similarity: Table,
    shared: Table,
    weights: tuple[float, float, float],
    n_threads: int,
    *,
    are_symmetric: bool = False,
) -> Table:
    """Compute the logistic function of w0 + w1 * similarity + w2 * shared, float64 of any one shape.

    If both are symmetric tables, only their lower triangles are read.
    """
    if are_symmetric:
        return library.pair_chances_of_halves(similarity, shared, *weights)
    return library.pair_chances(similarity, shared, *weights, n_threads)


def logistic_slopes(
    similarity: Table, shared: Table, target: Table, weights: tuple[float, float, float]
) -> tuple[Table, Table]:
    """Compute the first two derivatives of the log-likelihood of a logistic regression by its weights.

    `similarity`, `shared` and `target`, 0 to 1, are (n,) float64; the weights those of `pair_chances`. The
    first, (3,), are sums of (t - c) x, where c is the chance, t the target and x is (1, similarity, shared);
    the second, (3, 3), sums of c (1 - c) x x'.
    """
    sums = library.logistic_slopes(similarity, shared, target, *weights)
    return sums[:3], sums[CURVE]


def sum_up_rows(table: Table) -> RowSums:
    """Name what `_native.sum_up_rows` returns."""
    return RowSums(*library.sum_up_rows(table))
