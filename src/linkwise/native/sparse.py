"""Products of the rows of sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

if TYPE_CHECKING:
    import scipy.sparse as sp


def largest_products(
    matrix: sp.csr_matrix,
    counts: NDArray[np.bool_],
    of: NDArray[np.int64],
    k: int,
    block: NDArray[np.int64] | None,
    source: NDArray[np.int64] | None,
    n_threads: int,
) -> NDArray[np.int32]:
    """Call `_native.largest_products` with a matrix of float32 above 0: (q, k) rows, or -1."""
    return library.largest_products(*_take_apart(matrix), counts, of, k, block, source, n_threads)


def column_work(matrix: sp.csr_matrix, block: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Call `_native.column_work` with a matrix of float32: (width,) products."""
    return library.column_work(*_take_apart(matrix), block)


def multiply_pairs(
    matrix: sp.csr_matrix, first: NDArray[np.int64], second: NDArray[np.int64], n_threads: int
) -> NDArray[np.float32]:
    """Call `_native.multiply_pairs` with a matrix of float32: (q,) products of its rows."""
    return library.multiply_pairs(*_take_apart(matrix), first, second, n_threads)


def _take_apart(
    matrix: sp.csr_matrix,
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32], int]:
    """The entries of a matrix with sorted indices, their columns, where rows start, and the width."""
    if not matrix.has_sorted_indices:  # sums are in the order of the columns
        matrix = matrix.sorted_indices()
    columns, start = (np.asarray(places, dtype=np.int32) for places in (matrix.indices, matrix.indptr))
    return matrix.data, columns, start, matrix.shape[1]
