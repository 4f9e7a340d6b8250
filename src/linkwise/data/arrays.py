"""NumPy arrays, in memory or in .npy and .npz files, as tables."""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from linkwise.data.words import listed
from linkwise.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw


def read_array(raw: bytes) -> tuple[nw.DataFrame[Any], str | None, list[str]]:
    """Read the bytes of a .npy or .npz file.

    Returns
    -------
    frame : narwhals.DataFrame
    id_column : str or None
        The column that came from an array named ids or id.
    notes : list of str
    """
    try:
        loaded = np.load(io.BytesIO(raw), allow_pickle=False)
        arrays = {"": loaded} if isinstance(loaded, np.ndarray) else _members(loaded)
    except (ValueError, OSError, EOFError, BadZipFile) as error:
        raise DataError(f"This cannot be read as a NumPy array of numbers: {error}") from error
    name = _main(arrays)
    frame = array_frame(arrays[name])
    id_column = next((other for other in ("ids", "id") if other in arrays and arrays[other].ndim == 1), None)
    notes = [] if name == "" else [f"Rows are those of the array '{name}'."]
    others = [other for other in arrays if other not in (name, id_column)]
    if others:
        notes.append(f"Arrays in the file that are not used: {listed(others)}.")
    if id_column is None:
        return frame, None, notes
    return _with_ids(frame, id_column, arrays[id_column]), id_column, notes


def _members(archive: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Arrays of an archive; those of Python objects cannot be read and count as empty."""
    arrays = {}
    for name in archive.files:
        try:
            arrays[name] = archive[name]
        except ValueError:
            arrays[name] = np.empty(0)
    return arrays


def _main(arrays: dict[str, np.ndarray[Any, Any]]) -> str:
    if "X" in arrays:
        return "X"
    flat = [name for name, array in arrays.items() if array.ndim == 2]
    if len(flat) == 1 or "" in arrays:
        return next(iter(flat), "")
    there = listed(f"{name} {array.shape}" for name, array in arrays.items())
    raise DataError(
        f"Wanted is one 2-D array or one named X; the file holds {len(flat)} 2-D arrays ({there})."
        " Save the array of rows as X."
    )


def _with_ids(frame: nw.DataFrame[Any], name: str, ids: np.ndarray[Any, Any]) -> nw.DataFrame[Any]:
    import narwhals as nw
    import polars as pl

    if len(ids) != len(frame):
        raise DataError(
            f"The array '{name}' holds {len(ids)} ids for {len(frame)} rows; wanted is one for each."
        )
    column = nw.from_native(pl.Series(name, ids.tolist()), series_only=True)
    return frame.with_columns(column)


def array_frame(X: np.ndarray[Any, Any]) -> nw.DataFrame[Any]:
    """A 2-D array of numbers as a table with columns x0, x1, ..."""
    import narwhals as nw

    if X.ndim != 2:
        raise DataError(
            f"The array has shape {X.shape}; wanted is one row for each item: (n_rows, n_columns)."
            + (" X.reshape(len(X), -1) lays each item out as a row." if X.ndim > 2 else "")
        )
    if X.dtype.kind not in "biuf":
        raise DataError(f"The array holds {X.dtype}; wanted are numbers. Use a DataFrame for mixed columns.")
    if X.shape[1] == 0:
        raise DataError("The array has 0 feature(s): a minimum of 1 column is required.")
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
