"""Chances of pairs and of items, which NumPy would compute in many passes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_range
from linkwise.native.library import library

Table = NDArray[np.float64]
Labels = NDArray[np.int32]
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
    """Compute the logistic function of w0 + w1 * similarity + w2 * shared.

    Parameters
    ----------
    similarity, shared : float64 of any one shape, C-contiguous
    weights : (float, float, float)
        w0, w1 and w2.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    are_symmetric : bool, default=False
        Whether both are symmetric tables: only their lower triangles are read then.

    Returns
    -------
    float64 of the same shape
    """
    check_array("similarity", similarity, similarity.shape)
    check_array("shared", shared, similarity.shape)
    check_count("n_threads", n_threads)
    if are_symmetric:
        check_array("similarity", similarity, (len(similarity),) * 2)
        return library.pair_chances_of_halves(similarity, shared, *weights)
    one, other = similarity.reshape(1, -1), shared.reshape(1, -1)
    return library.pair_chances(one, other, *weights, n_threads).reshape(similarity.shape)


def logistic_slopes(
    similarity: Table, shared: Table, target: Table, weights: tuple[float, float, float]
) -> tuple[Table, Table]:
    """Compute the first two derivatives of the log-likelihood of a logistic regression by its weights.

    Parameters
    ----------
    similarity, shared : (n,) float64
    target : (n,) float64
        0 to 1.
    weights : (float, float, float)
        w0, w1 and w2 of `pair_chances`.

    Returns
    -------
    (3,) float64
        Sum of (t - c) x, where c is the chance, t the target and x is (1, similarity, shared).
    (3, 3) float64
        Sum of c (1 - c) x x'.
    """
    check_array("similarity", similarity, similarity.shape[:1])
    check_array("shared", shared, similarity.shape)
    check_array("target", target, similarity.shape)
    sums = library.logistic_slopes(similarity, shared, target, *weights)
    return sums[:3], sums[CURVE]


def average_pairs(table: Table, rows: Labels, label: Labels, k: int) -> Table:
    """Average a table over the pairs of rows of two labels.

    Parameters
    ----------
    table : (n, n) float64, C-contiguous
    rows : (l,) int32
        Rows and columns that count.
    label : (l,) int32
        Label of each, 0 to k - 1.
    k : int
        Number of labels.

    Returns
    -------
    (k, k) float64
        0 for a label without rows.
    """
    check_array("table", table, (len(table), len(table)))
    check_array("rows", rows, rows.shape[:1], np.int32)
    check_range("rows", rows, 0, len(table) - 1)
    check_array("label", label, rows.shape, np.int32)
    check_range("label", label, 0, k - 1)
    return library.average_pairs(table, rows, label, k)


def share_scores(
    score: Table, n_times: int, n_quarters: int, rest: float, n_threads: int
) -> tuple[Table, Table]:
    """Divide powers of the scores of each row by their sum.

    Parameters
    ----------
    score : (n, k) float64, C-contiguous
        Scores; those below 0 count as 0.
    n_times, n_quarters : int
        The power is n_times + n_quarters / 4: n_times is 1 to 3, n_quarters 0 to 2.
    rest : float
        Is added to each sum.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n, k) float64
        The share of each.
    (n,) float64
        The share of the rest.
    """
    check_array("score", score, score.shape[:1] + score.shape[1:2])
    if not (1 <= n_times <= 3 and 0 <= n_quarters <= 2):
        raise ValueError(f"The power {n_times} + {n_quarters}/4 is not supported. Use 1 to 3.5.")
    check_count("n_threads", n_threads)
    return library.share_scores(score, n_times, n_quarters, rest, n_threads)


def sum_up_rows(table: Table) -> RowSums:
    """Find the two largest values of each row, and the sum of those above 0.

    Parameters
    ----------
    table : (n, k) float64, C-contiguous

    Returns
    -------
    RowSums
    """
    check_array("table", table, table.shape[:1] + table.shape[1:2])
    return RowSums(*library.sum_up_rows(table))


def divide_rows(table: Table, total: Table, width: int) -> Table:
    """Divide each row of a table by a number, and append columns of zeros.

    Parameters
    ----------
    table : (n, k) float64, C-contiguous
    total : (n,) float64
    width : int, at least k
        Columns of the result.

    Returns
    -------
    (n, width) float64
    """
    check_array("total", total, total.shape[:1])
    check_array("table", table, (len(total), table.shape[-1]))
    if width < table.shape[1]:
        raise ValueError(f"width must be at least {table.shape[1]}, got {width}")
    return library.divide_rows(table, total, width)


def chebyshev_values(points: Table, coefficients: Table) -> Table:
    """Evaluate Chebyshev series, as NumPy's `chebval` does.

    Parameters
    ----------
    points : (n,) float64
    coefficients : (d, m) float64, C-contiguous
        Of m series; d is at least 2.

    Returns
    -------
    (n, m) float64
    """
    check_array("points", points, points.shape[:1])
    check_array("coefficients", coefficients, (None, None))
    check_count("the degrees of coefficients", len(coefficients) - 1)
    return library.chebyshev_values(points, coefficients)
