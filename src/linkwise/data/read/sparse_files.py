"""Read sparse matrices: .mtx files, and .npz files that scipy.sparse.save_npz writes."""

from __future__ import annotations

import io
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import DataError
from linkwise.limits import FREE_BYTES, check_cells
from linkwise.wording import shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

MATRIX = ".mtx"
_SPARSE = ({"format", "shape", "data", "indices", "indptr"}, {"format", "shape", "data", "row", "col"})


def holds_sparse(names: Collection[str]) -> bool:
    """Whether the arrays of a .npz file are the parts of a sparse matrix."""
    return any(parts <= set(names) for parts in _SPARSE)


def read_sparse(raw: bytes) -> NDArray[Any]:
    """Read a sparse matrix from a .npz file.

    Parameters
    ----------
    raw : bytes
        The file.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The matrix with its zeros.

    Raises
    ------
    DataError
        The file is damaged, or the matrix too large.
    """
    from scipy.sparse import load_npz

    try:
        matrix = load_npz(io.BytesIO(raw))
        matrix.check_format() if hasattr(matrix, "check_format") else None
        return _to_dense(matrix)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of damaged parts SciPy may raise anything
        raise DataError(
            f"This cannot be read as a sparse matrix: {shorten(str(error), 200)}. Save it again with"
            " scipy.sparse.save_npz."
        ) from None


def read_matrix(raw: bytes) -> NDArray[Any]:
    """Read a Matrix Market file, dense or sparse.

    Parameters
    ----------
    raw : bytes
        The file.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The matrix with its zeros.

    Raises
    ------
    DataError
        The file is damaged, or the matrix too large.
    """
    from scipy.io import mminfo, mmread

    try:
        n_rows, n_columns, n_values, form, field, _ = mminfo(io.BytesIO(raw))
        check_dense(n_rows, n_columns)
        if field == "complex":
            raise DataError("The matrix holds complex numbers. Pass a matrix of real numbers.")
        if n_values > len(raw):
            raise DataError(f"The file promises {n_values} values, more than it has bytes. Save it again.")
        matrix = mmread(io.BytesIO(raw))
        return np.asarray(matrix) if form == "array" else _to_dense(matrix)
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of a damaged file SciPy may raise anything
        raise DataError(
            f"This cannot be read as a Matrix Market file: {shorten(str(error), 200)}. Save it again with"
            " scipy.io.mmwrite."
        ) from None


def check_dense(n_rows: int, n_columns: int) -> None:
    """Raise if a sparse matrix is too large with its zeros."""
    if min(n_rows, n_columns) < 1:
        raise DataError(f"The matrix has shape ({n_rows}, {n_columns}). Pass one with rows and columns.")
    if 8 * n_rows * n_columns > 4 * FREE_BYTES:
        raise DataError(
            f"The sparse matrix has {n_rows} rows and {n_columns} columns, which take"
            f" {8 * n_rows * n_columns} bytes with their zeros. Replace the columns by a few hundred"
            " components, such as those of sklearn.decomposition.TruncatedSVD, and save them with numpy.save."
        )
    check_cells(n_rows, n_columns)


def _to_dense(matrix: Any) -> NDArray[Any]:
    check_dense(*matrix.shape)
    return np.asarray(matrix.toarray())
