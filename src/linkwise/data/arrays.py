"""NumPy arrays, in memory or in .npy and .npz files, as tables.

Headers are read first, so the size of an array is known and checked before anything is unpacked.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from linkwise.errors import DataError
from linkwise.limits import check_cells, check_expansion
from linkwise.text_files import check_unique, refuse_lone_surrogates
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

_UNREADABLE = "This cannot be read as a NumPy array of numbers"


@dataclass(frozen=True)
class _ArrayHeader:
    """An array in a file: its header, how many bytes follow that, and how to open it again."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]
    n_following: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


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
        _read_archive(raw) if is_archive else ({"": _read_header(lambda: io.BytesIO(raw), len(raw))}, {})
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
    frame = array_frame(_unpack(stored[name]))
    notes = [] if name == "" else [f"Rows are those of the array '{name}'."]
    others = [other for other in (*stored, *broken) if other not in used]
    if others:
        notes.append(f"Arrays in the file that are not used: {join_names(others)}.")
    if id_column is None:
        return frame, None, notes
    return _add_ids(frame, id_column, stored[id_column]), id_column, notes


def _is_one_dimensional(stored: _ArrayHeader | None) -> bool:
    return stored is not None and len(stored.shape) == 1


# ---------------------------------------------------------------- headers
def _read_header(opened: Callable[[], AbstractContextManager[IO[bytes]]], size: int) -> _ArrayHeader:
    """The header of a .npy file of `size` bytes."""
    try:
        with opened() as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote
            version = np.lib.format.read_magic(file)
            known = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
            shape, is_fortran, dtype = known[version[0]](file)
            following = size - file.tell()
    except Exception as error:  # of a damaged header NumPy's parsers may raise anything
        raise DataError(f"{_UNREADABLE}: its header is damaged ({str(error)[:100]!r}). {_AGAIN}") from None
    if dtype.hasobject:
        raise DataError(
            f"{_UNREADABLE}: it holds Python objects, which could run code. Save numbers or texts."
        )
    found = _ArrayHeader(shape, dtype, "F" if is_fortran else "C", following, opened)
    if min(shape, default=0) < 0 or found.n_bytes != following:
        raise DataError(
            f"{_UNREADABLE}: its header describes the shape {shape} of {dtype}, but {following} bytes follow."
            f" {_AGAIN}"
        )
    return found


_AGAIN = "Save the array again with numpy.save or numpy.savez."


def _read_archive(raw: bytes) -> tuple[dict[str, _ArrayHeader], dict[str, DataError]]:
    """The arrays of an archive, and the errors of those that cannot be read."""
    stored, broken = {}, {}
    try:
        archive = ZipFile(io.BytesIO(raw))
    except Exception as error:  # of a damaged archive zipfile may raise anything
        raise DataError(f"{_UNREADABLE}: the archive is damaged ({error}). {_AGAIN}") from None
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) < len(archive.infolist()):
        check_unique(info.filename.removesuffix(".npy") for info in archive.infolist())
    for name, info in members.items():
        try:
            _check_packing(info)
            stored[name] = _read_header(partial(archive.open, info), info.file_size)
        except DataError as error:
            broken[name] = error
    return stored, broken


def _check_packing(info: ZipInfo) -> None:
    """Raise if NumPy never packs so: zipfile would unpack without a bound to read a header alone."""
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise DataError(
            f"{_UNREADABLE}: '{info.filename}' is packed in a way that NumPy does not use. {_AGAIN}"
        )


def _main_array_name(stored: dict[str, _ArrayHeader], broken: dict[str, DataError]) -> str:
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


# ---------------------------------------------------------------- contents
def _unpack(stored: _ArrayHeader) -> np.ndarray[Any, Any]:
    try:
        with stored.open() as file:
            file.seek(-stored.n_following, io.SEEK_END)
            content = file.read(stored.n_bytes)
    except MemoryError:
        raise
    except Exception as error:  # of a damaged archive zipfile may raise anything
        raise DataError(f"{_UNREADABLE}: the archive is damaged ({error}). {_AGAIN}") from None
    if len(content) < stored.n_bytes:
        raise DataError(f"{_UNREADABLE}: the archive ends too soon. {_AGAIN}")
    if stored.dtype.kind == "b":  # any byte but 0 is true
        return np.frombuffer(content, np.uint8).astype(bool).reshape(stored.shape, order=stored.order)
    return np.frombuffer(content, stored.dtype).reshape(stored.shape, order=stored.order)


def _add_ids(frame: nw.DataFrame[Any], name: str, stored: _ArrayHeader) -> nw.DataFrame[Any]:
    import narwhals as nw
    import polars as pl

    if stored.shape != (len(frame),):
        raise DataError(
            f"The array '{name}' holds {stored.shape[0]} ids for {len(frame)} rows. Save one id for each row."
        )
    if stored.dtype.kind not in "biufUSM":
        raise DataError(f"The array '{name}' holds {stored.dtype}. Save ids that are texts or numbers.")
    ids = _unpack(stored)
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
            f"Row {wrong[0]} (counted from 0) of array '{name}' holds numbers that are no characters. "
            f"{_AGAIN}"
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
                else "Give one row for each item."
            )
        )
    if dtype.kind not in "biuf":
        raise DataError(
            f"The array holds {dtype}. Give an array of numbers, or a DataFrame if its columns differ."
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
