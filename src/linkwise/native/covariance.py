"""Covariances: symmetric tables of which the lower triangle counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_layout, check_writable
from linkwise.native.library import library

Matrix = NDArray[np.float32]
Table = NDArray[np.float64]


def mirror_lower(table: NDArray[Any]) -> None:
    """Copy the lower triangle of a table to the upper one.

    Parameters
    ----------
    table : (n, n) uint8, uint16 or float32, C-contiguous
        It is changed in place.
    """
    if table.dtype not in (np.uint8, np.uint16, np.float32):
        raise TypeError(f"table has dtype {table.dtype}. Pass uint8, uint16 or float32.")
    check_layout("table", table, (len(table), len(table)))
    check_writable("table", table)
    library.mirror_lower(table.view(f"u{table.itemsize}"))


def weighted_squares(table: Matrix, weight: Table, n_threads: int) -> Table:
    """Sum the weighted squares of each row of a symmetric table.

    Parameters
    ----------
    table : (n, n) float32, C-contiguous
        Its lower triangle counts.
    weight : (n,) float64
        Weight of each column.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n,) float64
    """
    check_array("weight", weight, (None,))
    check_array("table", table, (len(weight), len(weight)), np.float32)
    check_count("n_threads", n_threads)
    return library.weighted_squares(table, weight, n_threads)


def condition_on(table: Matrix, item: int, ridge: float, weight: Table, n_threads: int) -> Table:
    """Condition a covariance on one item, and sum the weighted squares of each row of the result.

    Parameters
    ----------
    table : (n, n) float32, C-contiguous
        The covariance, of which the lower triangle counts; it is changed in place.
    item : int
        The item that becomes known.
    ridge : float
        Variance of its noise.
    weight : (n,) float64
        Weight of each column.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n,) float64
        As `weighted_squares` of the changed table.
    """
    check_array("weight", weight, (None,))
    check_array("table", table, (len(weight), len(weight)), np.float32)
    check_count("n_threads", n_threads)
    if not 0 <= item < len(table):
        raise ValueError(f"item must be 0 to {len(table) - 1}, got {item}")
    check_writable("table", table)
    return library.condition_on(table, item, ridge, weight, n_threads)
