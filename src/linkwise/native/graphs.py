"""Gaussian similarities of all pairs of rows, and products with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_row_array
from linkwise.native.library import library


def distance_range(X: NDArray[Any], n_threads: int) -> tuple[float, float]:
    """Return the smallest positive and the largest squared distance between two rows.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (float, float)
        Both are 0 if all rows are equal. Squares are summed in the order of the features.
    """
    check_row_array(X)
    check_count("n_threads", n_threads)
    return library.distance_range(X, n_threads)


def gaussian_weights(X: NDArray[np.float64], scale: float, out: NDArray[np.float64], n_threads: int) -> None:
    """Write exp(-scale d²) for every two rows, where d is their distance.

    Parameters
    ----------
    X : (n, d) float64, C-contiguous
        The rows.
    scale : float, not negative
        Factor of the squared distances.
    out : (n, n) float64, C-contiguous
        Overwritten. Weights are within two units in the last place; those below 1e-307 are 0.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    """
    check_array("X", X, (None, None))
    check_array("out", out, (len(X), len(X)))
    if not scale >= 0:
        raise ValueError(f"scale must not be negative, got {scale}")
    check_count("n_threads", n_threads)
    library.gaussian_weights(X, scale, out, n_threads)


def block_product(
    block: NDArray[np.float64], matrix: NDArray[np.float64], n_threads: int
) -> NDArray[np.float64]:
    """Multiply a few vectors by a large matrix, which is read once and never copied.

    Parameters
    ----------
    block : (b, n) float64, C-contiguous
        The vectors, one a row.
    matrix : (n, m) float64, C-contiguous
        The matrix.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (b, m) float64 array
        Each number is summed in the order of the rows of the matrix.
    """
    check_array("matrix", matrix, (None, None))
    check_array("block", block, (None, len(matrix)))
    check_count("n_threads", n_threads)
    return library.block_product(block, matrix, n_threads)
