"""Rows that are read in chunks, from arrays, files and functions, and never held in memory at once.

A stream can be read as often as needed and gives the same rows in the same order each time. `read_blocks`
cuts it into blocks of `BLOCK` rows, counted from the first row of the data. What is computed block by block
therefore does not depend on the chunks in which the rows came.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError, short_repr
from linkwise.validation import MAX_VALUE
from linkwise.wording import join_names, shorten

BLOCK = 65_536  # rows
PARQUET_ROWS = 262_144  # that are read at once; fewer would decode pages more than once
ENDINGS = (".npy", ".parquet")

Source = (
    str
    | os.PathLike[str]
    | Sequence[str | os.PathLike[str]]
    | NDArray[Any]
    | Callable[[], Iterable[NDArray[Any]]]
)


class Chunk(NamedTuple):
    """Some consecutive rows of a stream."""

    first: int
    """Number of the first row, counted from 0 at the beginning of the data."""
    rows: NDArray[Any]
    """(n, n_columns) float32 or float64, C-contiguous, all finite."""
    ids: NDArray[Any] | None
    """(n,) ids of the rows; None if they have none."""


class RowStream(Protocol):
    """Rows that are read in chunks."""

    def chunks(self) -> Iterator[Chunk]:
        """Read all rows from the beginning, in chunks of any size."""
        ...

    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; None if they have none."""
        ...


def open_stream(
    rows: Source, *, columns: Sequence[str] | None = None, id_column: str | None = None
) -> RowStream:
    """Make a stream of an array, of files, or of a function that returns arrays.

    Parameters
    ----------
    rows : array, path, sequence of paths, or callable
        A 2-D array (a memory map, too). A .npy or .parquet file, a folder of them, a pattern such as
        "events/*.parquet", or several paths; files of a folder or pattern are read in the order of their
        names. Or a function without parameters that returns the arrays of all chunks, each time anew.
    columns : sequence of str, optional
        Columns of Parquet files to use; all by default.
    id_column : str, optional
        Column of Parquet files with ids of the rows.

    Returns
    -------
    RowStream
        The stream.

    Raises
    ------
    DataError
        There are no such files, or their endings are unknown.
    TypeError
        `rows` is something else, or `columns` or `id_column` is given for rows without named columns.
    """
    if isinstance(rows, (str, os.PathLike)) or _are_paths(rows):
        return _Files(_find_files(rows), None if columns is None else tuple(columns), id_column)
    if columns is not None or id_column is not None:
        raise TypeError("columns and id_column name columns of Parquet files. Leave them out for arrays.")
    if isinstance(rows, np.ndarray):
        return _Arrays(lambda: (rows[at : at + BLOCK] for at in range(0, len(rows), BLOCK)))
    if callable(rows):
        return _Arrays(rows)
    raise TypeError(
        f"rows={short_repr(rows)} cannot be read twice, or not at all. Give an array, paths of files, or a"
        " function that returns an iterator of arrays each time it is called."
    )


def read_blocks(stream: RowStream) -> Iterator[Chunk]:
    """Cut a stream into blocks of `BLOCK` rows; the last one may be shorter.

    Parameters
    ----------
    stream : RowStream
        The stream, whatever its chunks.

    Yields
    ------
    Chunk
        The rows from a multiple of `BLOCK` to the next.

    Raises
    ------
    DataError
        The stream cannot be read, or has no rows.
    """
    waiting: list[Chunk] = []
    n_waiting = first = 0
    for chunk in stream.chunks():
        at = 0
        while at < len(chunk.rows):
            part = slice(at, at + BLOCK - n_waiting)
            waiting.append(Chunk(0, chunk.rows[part], None if chunk.ids is None else chunk.ids[part]))
            n_waiting += len(waiting[-1].rows)
            at += len(waiting[-1].rows)
            if n_waiting == BLOCK:
                yield _join(waiting, first)
                waiting, n_waiting, first = [], 0, first + BLOCK
    if waiting:
        yield _join(waiting, first)
    elif first == 0:
        raise DataError("The data have no rows, but at least 2 rows are needed to compare.")


def _join(parts: list[Chunk], first: int) -> Chunk:
    if len(parts) == 1:
        return parts[0]._replace(first=first)
    ids = (
        None if parts[0].ids is None else np.concatenate([part.ids for part in parts if part.ids is not None])
    )
    return Chunk(first, np.concatenate([part.rows for part in parts]), ids)


# ---------------------------------------------------------------- arrays
class _Arrays:
    """Arrays that a function returns, each time anew."""

    def __init__(self, read: Callable[[], Iterable[NDArray[Any]]]) -> None:
        self._read = read

    def columns(self) -> tuple[str, ...] | None:
        return None

    def chunks(self) -> Iterator[Chunk]:
        first, width = 0, None
        for number, given in enumerate(self._read()):
            where = f"Chunk {number}"
            rows = _to_rows(given, where, first, None)
            width = rows.shape[1] if width is None else width
            _check_width(rows.shape[1], width, where)
            yield Chunk(first, rows, None)
            first += len(rows)


def _to_rows(given: Any, where: str, first: int, names: Sequence[str] | None) -> NDArray[Any]:
    """Convert one chunk to floats; an error names the first value that cannot be clustered."""
    array = np.asarray(given)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "fiub":
        raise DataError(
            f"{where}: a table of numbers is needed, of shape (n_rows, n_columns), but this has dtype"
            f" {array.dtype} and shape {array.shape}."
        )
    wanted = array.dtype if array.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    rows = np.ascontiguousarray(array, dtype=wanted)
    is_fine = np.isfinite(rows) if wanted == np.float32 else np.abs(rows) <= MAX_VALUE  # False for NaN
    if not is_fine.all():
        row, column = np.argwhere(~is_fine)[0].tolist()
        name = column if names is None else f"'{names[column]}'"
        raise DataError(
            f"{where}: row {first + row} of the data (counted from 0) holds {rows[row, column]} in column"
            f" {name}. Fill in or drop missing, infinite and huge values first."
        )
    return rows


def _check_width(width: int, expected: int, where: str) -> None:
    if width != expected:
        raise DataError(
            f"{where} has {width} columns, but the rows before have {expected}. Give all the same."
        )


# ---------------------------------------------------------------- files
def _are_paths(rows: object) -> bool:
    return (
        isinstance(rows, (list, tuple))
        and len(rows) > 0
        and all(isinstance(each, (str, os.PathLike)) for each in rows)
    )


def _find_files(rows: Any) -> tuple[Path, ...]:
    """The files that a path, a folder, a pattern or a list of paths names."""
    if isinstance(rows, (list, tuple)):
        return tuple(path for each in rows for path in _find_files(each))
    path = Path(rows)
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix.lower() in ENDINGS)
    elif has_magic(str(rows)) and not path.exists():
        found = sorted(map(Path, glob(str(rows))))
    else:
        found = [path]
    if not found:
        raise DataError(f"'{rows}' names no file. Known endings are {join_names(ENDINGS)}.")
    for each in found:
        if each.suffix.lower() not in ENDINGS:
            raise DataError(
                f"The ending of '{each.name}' is unknown. Known endings are {join_names(ENDINGS)}. polars and"
                " DuckDB convert other files to Parquet in parts."
            )
        if not each.is_file():
            raise FileNotFoundError(f"There is no file '{each}'.")
    return tuple(found)


class _Files:
    """The rows of files, one file after the other."""

    def __init__(
        self, paths: tuple[Path, ...], columns: tuple[str, ...] | None, id_column: str | None
    ) -> None:
        self._paths, self._columns, self._id_column = paths, columns, id_column
        arrays = [path.name for path in paths if path.suffix.lower() == ".npy"]
        if arrays and (columns is not None or id_column is not None):
            raise TypeError(
                f"columns and id_column name columns of Parquet files, but {arrays[0]} has no named columns."
                " Leave them out."
            )
        if arrays and len(arrays) < len(paths):
            raise DataError(
                f"{arrays[0]} is an array, and other files are tables. Give files of one kind, since only"
                " tables have named columns."
            )
        self._schema = {} if arrays else _read_schema(paths[0])
        self._names = None if arrays else self._choose_columns(paths[0])

    def columns(self) -> tuple[str, ...] | None:
        return self._names

    def chunks(self) -> Iterator[Chunk]:
        first, width = 0, None
        for path in self._paths:
            parts = _read_array(path) if self._names is None else self._read_parquet(path, self._names)
            for given, ids in parts:
                rows = _to_rows(given, path.name, first, self._names)
                width = rows.shape[1] if width is None else width
                _check_width(rows.shape[1], width, path.name)
                yield Chunk(first, rows, ids)
                first += len(rows)

    def _choose_columns(self, path: Path) -> tuple[str, ...]:
        """The columns to use: those that were named, or all but the ids, which must be numbers."""
        schema = self._schema
        wanted = self._columns or tuple(name for name in schema if name != self._id_column)
        wrong = [name for name in wanted if name in schema and not _holds_numbers(schema[name])]
        if wrong:
            raise DataError(
                f"{path.name} has columns that hold no numbers: {join_names(wrong)}. Name those to use by"
                " columns=[...], and ids by id_column=..."
            )
        self._check_names(schema, path, wanted)
        return wanted

    def _check_names(self, schema: Any, path: Path, wanted: tuple[str, ...]) -> None:
        needed = wanted if self._id_column is None else (*wanted, self._id_column)
        missing = [name for name in needed if name not in schema]
        if missing:
            raise DataError(f"{path.name} has no column {join_names(missing)}. It has {join_names(schema)}.")
        for name in needed:
            if name == self._id_column and schema[name] != self._schema[name]:
                raise DataError(
                    f"{path.name}: the ids in column '{name}' have type {schema[name]}, but those of"
                    f" {self._paths[0].name} have {self._schema[name]}. Convert them to one type."
                )
            if name != self._id_column and not _holds_numbers(schema[name]):
                raise DataError(
                    f"{path.name}: column '{name}' holds no numbers. Leave it out by columns=[...]."
                )

    def _read_parquet(
        self, path: Path, names: tuple[str, ...]
    ) -> Iterator[tuple[NDArray[Any], NDArray[Any] | None]]:
        import polars as pl

        self._check_names(_read_schema(path), path, names)
        n_rows = int(_call_polars(path, lambda lazy: lazy.select(pl.len()).collect().item()))
        wanted = names if self._id_column is None else (*names, self._id_column)
        for at in range(0, n_rows, PARQUET_ROWS):
            frame = _call_polars(path, partial(_slice_rows, first=at, names=wanted))
            if self._id_column is not None and frame[self._id_column].null_count():
                raise DataError(f"{path.name}: a cell of the ids in column '{self._id_column}' is empty.")
            ids = None if self._id_column is None else frame[self._id_column].to_numpy()
            yield frame.select(names).to_numpy(), ids


def _slice_rows(lazy: Any, first: int, names: tuple[str, ...]) -> Any:
    return lazy.slice(first, PARQUET_ROWS).select(names).collect()


def _read_schema(path: Path) -> dict[str, Any]:
    return dict(_call_polars(path, lambda lazy: lazy.collect_schema()))


def _holds_numbers(kind: Any) -> bool:
    return bool(kind.is_numeric()) or str(kind) == "Boolean"


def _call_polars(path: Path, read: Callable[[Any], Any]) -> Any:
    """Read from a Parquet file; an error names the file."""
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError('Reading Parquet needs polars: pip install "linkwise[app]"') from error
    try:
        return read(pl.scan_parquet(path, glob=False))
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # of a damaged file polars may raise anything
        raise DataError(f"{path.name} cannot be read as Parquet: {shorten(str(error), 300)}") from error


def _read_array(path: Path) -> Iterator[tuple[NDArray[Any], None]]:
    """Read a .npy file in parts; a memory map would count as memory of this process."""
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(
            f"{path.name} cannot be read as an array of numbers: {shorten(str(error), 300)}"
        ) from error
    if mapped.ndim != 2 or not mapped.flags.c_contiguous:
        raise DataError(
            f"{path.name} holds an array of shape {mapped.shape}, but a 2-D array whose rows lie one after"
            " the other is needed. Save numpy.ascontiguousarray(array)."
        )
    (n_rows, width), dtype, start = mapped.shape, mapped.dtype, mapped.offset
    del mapped
    for at in range(0, n_rows, BLOCK):
        count = min(BLOCK, n_rows - at) * width
        part = np.fromfile(path, dtype, count, offset=start + at * width * dtype.itemsize)
        if len(part) < count:
            raise DataError(f"{path.name} has become shorter while it was read. Copy it again.")
        yield part.reshape(-1, width), None
