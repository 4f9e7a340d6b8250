"""NumPy arrays, in memory or in .npy and .npz files, as tables.

Headers are read first, so the size of an array is known and checked before anything is unpacked.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.array_archives import AGAIN, ArrayHeader, read_header, read_headers, unpack
from linkwise.data.read.packed import describe_choice
from linkwise.data.read.sparse_files import holds_sparse, read_sparse
from linkwise.errors import DataError
from linkwise.limits import check_cells, check_expansion
from linkwise.text_files import refuse_lone_surrogates
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    import narwhals as nw

LEAST_PIXELS = 8  # on each side of a picture


class ArrayTable(NamedTuple):
    """A table from an array.

    Its columns are x0, x1, ... or, of pictures, pixel 0,0, pixel 0,1, ... `id_column` came from an array
    named ids or id, and `part` is the array that was chosen by its name. `notes` tell which arrays are
    used.
    """

    frame: nw.DataFrame[Any]
    id_column: str | None
    part: str | None
    notes: list[str]


def read_array(raw: bytes, part: str | None = None) -> ArrayTable:
    """Read the rows of a .npy file, or of the array `part` of a .npz file.

    By default that is the array named X, or else the one with most rows. Arrays of more than two
    dimensions are pictures or curves. Raises `DataError` unless there is one array of numbers.
    """
    is_archive = raw[:2] == b"PK"
    stored, broken = (
        read_headers(io.BytesIO(raw))
        if is_archive
        else ({"": read_header(lambda: io.BytesIO(raw), len(raw))}, {})
    )
    if part is None and holds_sparse(stored):
        check_expansion(sum(one.n_bytes for one in stored.values()), len(raw))
        return ArrayTable(array_frame(read_sparse(raw)), None, None, ["The file holds a sparse matrix."])
    name = _main_array_name(stored, broken, part)
    _check_numbers(stored[name].shape, stored[name].dtype)
    check_cells(stored[name].shape[0], math.prod(stored[name].shape[1:]))
    id_column = next((n for n in ("ids", "id") if n in broken or _is_one_dimensional(stored.get(n))), None)
    id_column = None if id_column == name else id_column
    used = [name] if id_column is None else [name, id_column]
    for one in used:
        if one in broken:
            raise broken[one]
    if is_archive:
        check_expansion(sum(stored[one].n_bytes for one in used), len(raw))
    frame, notes = _read_dimensions(unpack(stored[name]))
    rivals = [] if part is not None or name in ("X", "") else _list_rivals(stored, len(stored[name].shape))
    others = [other for other in (*stored, *broken) if other not in (*used, *rivals)]
    if len(rivals) > 1:
        part = name
        rest = [rival for rival in rivals if rival != name]
        notes.insert(0, describe_choice(f"Array {name!r}", len(rivals), rest))
    elif name:
        notes.insert(0, f"Rows are those of the array '{name}'.")
    if others:
        notes.append(f"Arrays in the file that are not used: {join_names(others)}.")
    if id_column is not None:
        frame = _add_ids(frame, id_column, stored[id_column])
    return ArrayTable(frame, id_column, part, notes)


def _read_dimensions(X: NDArray[Any]) -> tuple[nw.DataFrame[Any], list[str]]:
    """A table of an array with two or more dimensions, and what they were taken for."""
    if X.ndim == 2:
        return array_frame(X), []
    shape = X.shape[1:-1] if X.ndim > 3 and X.shape[-1] == 1 else X.shape[1:]
    if is_picture(shape, X.dtype):
        X = X.reshape(len(X), *shape)
        if X.ndim == 4:
            X = X.mean(axis=3, dtype=np.float32)
        names = [pixel_name(row, column) for row in range(shape[0]) for column in range(shape[1])]
        note = f"Each row is a picture of {shape[0]} by {shape[1]} pixels"
        note += ", whose colours are read as grey." if len(shape) == 3 else "."
        return array_frame(X.reshape(len(X), -1), names), [note]
    if len(shape) == 2 and shape[0] > shape[1]:  # samples first: one curve after the other
        X = X.reshape(len(X), *shape).transpose(0, 2, 1)
        shape = X.shape[1:]
    what = f"{count_noun(shape[0], 'curve')} of {shape[1]} samples" if len(shape) == 2 else "an array"
    notes = [f"Each row is {what}, whose values follow one another."] if min(shape) > 1 else []
    return array_frame(np.ascontiguousarray(X).reshape(len(X), -1)), notes


def is_picture(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether the values of a row are pixels: as many rows as columns, bytes, or three colours."""
    if len(shape) == 3:
        return shape[2] == 3 and min(shape[:2]) >= LEAST_PIXELS
    is_square = len(shape) == 2 and shape[0] == shape[1]
    return len(shape) == 2 and min(shape) >= LEAST_PIXELS and (is_square or dtype == np.uint8)


def pixel_name(row: int, column: int) -> str:
    """The name of the column that holds a pixel."""
    return f"pixel {row},{column}"


def _is_one_dimensional(stored: ArrayHeader | None) -> bool:
    return stored is not None and len(stored.shape) == 1


def _main_array_name(stored: dict[str, ArrayHeader], broken: dict[str, DataError], part: str | None) -> str:
    """Name of the array that holds the rows."""
    if part is not None:
        if part in broken:
            raise broken[part]
        if part not in stored:
            raise DataError(
                f"There is no array {part!r}. The arrays are {_list_arrays(stored)}. Use one of them: --sheet"
                " NAME"
            )
        return part
    if "X" in stored or "" in stored:
        return "X" if "X" in stored else ""
    rivals = next(filter(None, (_list_rivals(stored, n) for n in (2, 3, 4))), [])
    if rivals and "X" not in broken:
        return max(rivals, key=lambda name: stored[name].shape[0])
    for error in broken.values():
        raise error
    raise DataError(f"The file holds no array of rows: {_list_arrays(stored)}. Save the array of rows as X.")


def _list_rivals(stored: dict[str, ArrayHeader], n_dimensions: int) -> list[str]:
    """The arrays of numbers that may hold the rows, of those with so many dimensions."""
    return [
        name for name, one in stored.items() if len(one.shape) == n_dimensions and one.dtype.kind in "biuf"
    ]


def _list_arrays(stored: dict[str, ArrayHeader]) -> str:
    return join_names(f"{name} {array.shape}" for name, array in stored.items())


def _add_ids(frame: nw.DataFrame[Any], name: str, stored: ArrayHeader) -> nw.DataFrame[Any]:
    import narwhals as nw
    import polars as pl

    if stored.shape != (len(frame),):
        raise DataError(
            f"The array '{name}' holds {stored.shape[0]} ids for {len(frame)} rows. Save one id for each row."
        )
    if stored.dtype.kind not in "biufUSM":
        raise DataError(f"The array '{name}' holds {stored.dtype}. Save ids that are texts or numbers.")
    ids = unpack(stored)
    if ids.dtype.kind in "USM":
        column = pl.Series(name, _ids_as_text(name, ids), dtype=pl.String)
    else:
        column = pl.Series(name, ids.tolist())
    return frame.with_columns(nw.from_native(column, series_only=True))


def _check_characters(name: str, ids: np.ndarray[Any, Any]) -> None:
    """Raise if a text of NumPy holds numbers that are not characters, which break its readers."""
    points = np.ascontiguousarray(ids.astype(ids.dtype.newbyteorder("="))).view(np.uint32)
    wrong = np.flatnonzero(points.reshape(len(ids), -1).max(axis=1, initial=0) > 0x10FFFF)
    if len(wrong):
        raise DataError(
            f"Row {wrong[0]} (counted from 0) of array '{name}' holds numbers that are no characters. {AGAIN}"
        )


def _ids_as_text(name: str, ids: np.ndarray[Any, Any]) -> list[str | None]:
    """Convert ids to text; raise with the row if one holds no text."""
    try:
        if ids.dtype.kind == "M":  # by NumPy, since Python has no dates beyond the year 9999
            return [None if text == "NaT" else text for text in np.datetime_as_string(ids).tolist()]
        if ids.dtype.kind == "U":
            _check_characters(name, ids)
        texts = [text.decode() if isinstance(text, bytes) else text for text in ids.tolist()]
    except ValueError as error:
        raise DataError(
            f"The array '{name}' holds bytes that are no text: {error}. Save other ids."
        ) from None
    refuse_lone_surrogates(texts, f"array '{name}'")
    return texts


def _check_table(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise if an array is not a table of numbers."""
    if len(shape) != 2:
        raise DataError(
            f"The array has shape {shape}, not (n_rows, n_columns). "
            + (
                "Make each item a row: X.reshape(len(X), -1)."
                if len(shape) > 2
                else "Pass one row for each item."
            )
        )
    _check_numbers(shape, dtype)


def _check_numbers(shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise if an array has no rows of numbers."""
    if len(shape) < 2:
        raise DataError(f"The array has shape {shape}, not (n_rows, n_columns). Pass one row for each item.")
    if dtype.kind not in "biuf":
        raise DataError(
            f"The array holds {dtype}. Pass an array of numbers, or a DataFrame if its columns differ."
        )
    if math.prod(shape[1:]) == 0:
        raise DataError("The array has 0 feature(s), but a minimum of 1 column is required. Add a column.")


def array_frame(X: np.ndarray[Any, Any], names: Sequence[str] | None = None) -> nw.DataFrame[Any]:
    """Make a table of numbers, of shape (n_rows, n_columns), with columns x0, x1, ... unless they have names.

    It is a table of polars if that is installed, else of pandas.
    """
    import narwhals as nw

    _check_table(X.shape, X.dtype)
    if X.dtype.kind == "f":
        X = X.astype(np.float32 if X.dtype.itemsize == 4 else np.float64, copy=False)
    names = [f"x{j}" for j in range(X.shape[1])] if names is None else names
    named = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(names)}
    for library in ("polars", "pandas"):
        try:
            make = import_module(library).DataFrame
        except ImportError:
            continue
        return nw.from_native(make(named), eager_only=True)
    raise ImportError('Tables need polars or pandas: pip install "linkwise[app]"')
