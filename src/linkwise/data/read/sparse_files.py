"""Read sparse matrices: .mtx files, and .npz files that scipy.sparse.save_npz writes."""

from __future__ import annotations

import io
from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import DataError
from linkwise.limits import FREE_BYTES, check_cells
from linkwise.wording import shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPARSE = ({"format", "shape", "data", "indices", "indptr"}, {"format", "shape", "data", "row", "col"})


def holds_sparse(names: Collection[str]) -> bool:
    """Whether the arrays of a .npz file are the parts of a sparse matrix."""
    return any(parts <= set(names) for parts in _SPARSE)


def read_sparse(raw: bytes) -> NDArray[Any]:
    """Read a sparse matrix from a .npz file, with its zeros."""
    from scipy.sparse import load_npz

    with _name_damage("a sparse matrix", "scipy.sparse.save_npz"):
        matrix = load_npz(io.BytesIO(raw))
        matrix.check_format() if hasattr(matrix, "check_format") else None
        return _to_dense(matrix)


def read_matrix(raw: bytes) -> NDArray[Any]:
    """Read a Matrix Market file, dense or sparse, with its zeros."""
    from scipy.io import mminfo

    with _name_damage("a Matrix Market file", "scipy.io.mmwrite"):
        n_rows, n_columns, n_values, form, field, symmetry = mminfo(io.BytesIO(raw))
        check_dense(n_rows, n_columns)
        if field == "complex":
            raise DataError("The matrix holds complex numbers. Pass a matrix of real numbers.")
        if n_values > len(raw):
            raise DataError(f"The file promises {n_values} values, more than it has bytes. Save it again.")
        if symmetry not in ("general", "symmetric"):
            raise DataError(f"The matrix is stored as {symmetry}. Save it again as general.")
        return _read_body(raw, (n_rows, n_columns), n_values, form, symmetry == "symmetric")


@contextmanager
def _name_damage(kind: str, writer: str) -> Generator[None, None, None]:
    """Turn what SciPy raises of a damaged file, which may be anything, into an error with a way out."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise DataError(
            f"This cannot be read as {kind}: {shorten(str(error), 200)}. Save it again with {writer}."
        ) from None


def _read_body(
    raw: bytes, shape: tuple[int, int], n_values: int, form: str, is_symmetric: bool
) -> NDArray[Any]:
    """Read the values behind the header; SciPy's reader crashes where they are damaged."""
    lines = [line for line in raw.splitlines() if line.strip() and not line.startswith(b"%")][1:]
    values = np.loadtxt(lines, dtype=np.float64, ndmin=2)
    if form == "array":
        if is_symmetric or values.size != shape[0] * shape[1]:
            raise DataError(
                f"The file has {values.size} values for a matrix of shape {shape}. Save it again."
            )
        return values.reshape(shape[1], shape[0]).T.copy()
    if len(values) != n_values or (n_values and values.shape[1] not in (2, 3)):
        raise DataError(f"The file promises {n_values} values and has {len(values)}. Save it again.")
    X = np.zeros(shape)
    if n_values:
        places = values[:, :2].astype(np.int64) - 1
        if (places < 0).any() or (places >= shape).any():
            raise DataError(f"A value stands outside of the matrix of shape {shape}. Save it again.")
        cells = values[:, 2] if values.shape[1] == 3 else np.ones(n_values)
        np.add.at(X, (places[:, 0], places[:, 1]), cells)
        if is_symmetric:
            beside = places[:, 0] != places[:, 1]
            np.add.at(X, (places[beside, 1], places[beside, 0]), cells[beside])
    return X


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
