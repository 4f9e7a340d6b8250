"""NumPy arrays, in memory or in .npy and .npz files, as tables.

Headers are read first, so the size of an array is known and checked before anything is unpacked.
"""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.array_archives import AGAIN, ArrayHeader, read_header, read_headers, unpack
from linkwise.errors import DataError
from linkwise.limits import check_cells, check_expansion
from linkwise.text_files import refuse_lone_surrogates
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw


def read_array(raw: bytes) -> tuple[nw.DataFrame[Any], str | None, list[str]]:
    """Read a .npy or .npz file.

    Parameters
    ----------
    raw : bytes
        The contents of the file.

    Returns
    -------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The rows, with columns x0, x1, ...
    id_column : str or None
        The column that came from an array named ids or id.
    notes : list of str
        Sentences on the arrays that are used and not used.

    Raises
    ------
    DataError
        The file is damaged or too large, or does not hold one 2-D array of numbers.
    """
    is_archive = raw[:2] == b"PK"
    stored, broken = (
        read_headers(io.BytesIO(raw))
        if is_archive
        else ({"": read_header(lambda: io.BytesIO(raw), len(raw))}, {})
    )
    name = _main_array_name(stored, broken)
    _check_table(stored[name].shape, stored[name].dtype)
    check_cells(*stored[name].shape)
    id_column = next((n for n in ("ids", "id") if n in broken or _is_one_dimensional(stored.get(n))), None)
    used = [name] if id_column is None else [name, id_column]
    for one in used:
        if one in broken:
            raise broken[one]
    if is_archive:
        check_expansion(sum(stored[one].n_bytes for one in used), len(raw))
    frame = array_frame(unpack(stored[name]))
    notes = [] if name == "" else [f"Rows are those of the array '{name}'."]
    others = [other for other in (*stored, *broken) if other not in used]
    if others:
        notes.append(f"Arrays in the file that are not used: {join_names(others)}.")
    if id_column is None:
        return frame, None, notes
    return _add_ids(frame, id_column, stored[id_column]), id_column, notes


def _is_one_dimensional(stored: ArrayHeader | None) -> bool:
    return stored is not None and len(stored.shape) == 1


def _main_array_name(stored: dict[str, ArrayHeader], broken: dict[str, DataError]) -> str:
    """Name of the array that holds the rows."""
    if "X" in stored or "" in stored:
        return "X" if "X" in stored else ""
    flat = [name for name, array in stored.items() if len(array.shape) == 2]
    if len(flat) == 1 and "X" not in broken:
        return flat[0]
    for error in broken.values():
        raise error
    there = join_names(f"{name} {array.shape}" for name, array in stored.items())
    raise DataError(
        f"The file holds {len(flat)} 2-D arrays and none named X: {there}. Save the array of rows as X."
    )


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
    if dtype.kind not in "biuf":
        raise DataError(
            f"The array holds {dtype}. Pass an array of numbers, or a DataFrame if its columns differ."
        )
    if shape[1] == 0:
        raise DataError("The array has 0 feature(s), but a minimum of 1 column is required. Add a column.")


def array_frame(X: np.ndarray[Any, Any]) -> nw.DataFrame[Any]:
    """Make a table with columns x0, x1, ... from an array.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Numbers or truth values.

    Returns
    -------
    narwhals.DataFrame of shape (n_rows, n_columns)
        A table of polars if it is installed, else of pandas.

    Raises
    ------
    DataError
        The array has another shape or holds no numbers.
    ImportError
        Neither polars nor pandas is installed.
    """
    import narwhals as nw

    _check_table(X.shape, X.dtype)
    if X.dtype.kind == "f":
        X = X.astype(np.float32 if X.dtype.itemsize == 4 else np.float64, copy=False)
    named = {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}
    for library in ("polars", "pandas"):
        try:
            make = import_module(library).DataFrame
        except ImportError:
            continue
        return nw.from_native(make(named), eager_only=True)
    raise ImportError('Tables need polars or pandas: pip install "linkwise[app]"')
