"""Rows of numbers that are read in chunks from arrays, files and functions, never all in memory at once.

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
from linkwise.large.array_files import ARRAY, array_form, read_array_file
from linkwise.large.ranges import Lengths
from linkwise.large.table_files import TABLES, TableFiles
from linkwise.validation import MAX_VALUE
from linkwise.wording import join_names

BLOCK = 65_536  # rows
NO_ROWS = "The data have no rows, but at least 2 rows are needed to compare."
ENDINGS = (ARRAY, *TABLES)


class Partitioned(Protocol):
    """A dask array or DataFrame."""

    def to_delayed(self) -> Any:
        """Return its partitions."""
        ...


Source = (
    str
    | os.PathLike[str]
    | Sequence[str | os.PathLike[str]]
    | NDArray[Any]
    | Callable[[], Iterable[Any]]
    | Partitioned
)


class Chunk(NamedTuple):
    """Some consecutive rows of a stream."""

    first: int
    """Number of the first row, counted from 0 at the beginning of the data."""
    rows: NDArray[Any]
    """(n, n_columns) float32 or float64, C-contiguous, all finite."""
    ids: NDArray[Any] | None
    """(n,) ids of the rows; None if they have none."""
    frame: Any = None
    """The rows with all columns, a polars.DataFrame; None if they come without."""


class RowStream(Protocol):
    """Rows that are read in chunks."""

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[Chunk]:
        """Read the rows from `start` to `stop` in order, in chunks of any size."""
        ...

    def lengths(self) -> Lengths | None:
        """Count the rows; None if they are known only when they are read."""
        ...

    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; None if they have none."""
        ...


def open_stream(
    rows: Source, *, columns: Sequence[str] | None = None, id_column: str | None = None
) -> RowStream:
    """Make a stream of an array, of files, or of a function that returns arrays.

    Rows are a 2-D array (a memory map, too); a .npy, .parquet, .csv or .tsv file, a folder of them, a
    pattern such as "events/*.parquet", or several paths, where files of a folder or pattern are read in
    the order of their names; a dask array or DataFrame, whose partitions are computed one after the other
    and pass through this process; or a function without parameters that returns an iterator of arrays, or
    of tables such as Arrow batches, each time anew. Raises TypeError if `columns` or `id_column` is given
    for rows without named columns.
    """
    names = None if columns is None else tuple(columns)
    if isinstance(rows, (str, os.PathLike)) or _are_paths(rows):
        paths = find_files(rows)
        if paths[0].suffix.lower() != ARRAY:
            return _NumericTables(paths, names, id_column)
        if names is not None or id_column is not None:
            raise TypeError(
                f"columns and id_column name columns of tables, but {paths[0].name} has no named columns."
                " Remove them."
            )
        return _ArrayFiles(paths)
    if type(rows).__module__.partition(".")[0] == "dask" and hasattr(rows, "to_delayed"):
        return _Batches(partial(_compute_partitions, rows), names, id_column)
    if callable(rows):
        return _Batches(rows, names, id_column)
    if isinstance(rows, np.ndarray):
        if names is not None or id_column is not None:
            raise TypeError("columns and id_column name columns of tables. Remove them for arrays.")
        return _ArrayRows(rows)
    raise TypeError(
        f"rows={short_repr(rows)} cannot be read twice, or not at all. Pass an array, paths of files, a dask"
        " array or DataFrame, or a function that returns an iterator of arrays each time it is called."
    )


def read_blocks(stream: RowStream, first: int = 0, stop: int | None = None) -> Iterator[Chunk]:
    """Cut a stream into blocks of `BLOCK` rows, from row `first` to `stop`; the last one may be shorter.

    `first` is a multiple of `BLOCK`.
    """
    waiting: list[Chunk] = []
    n_waiting = 0
    for chunk in stream.chunks(first, stop):
        at = 0
        while at < len(chunk.rows):
            waiting.append(_cut(chunk, slice(at, at + BLOCK - n_waiting)))
            n_waiting += len(waiting[-1].rows)
            at += len(waiting[-1].rows)
            if n_waiting == BLOCK:
                yield _join(waiting, first)
                waiting, n_waiting, first = [], 0, first + BLOCK
    if waiting:
        yield _join(waiting, first)
    elif first == 0:
        raise DataError(NO_ROWS)


def _cut(chunk: Chunk, part: slice) -> Chunk:
    ids, frame = chunk.ids, chunk.frame
    return Chunk(
        0, chunk.rows[part], None if ids is None else ids[part], None if frame is None else frame[part]
    )


def _join(parts: list[Chunk], first: int) -> Chunk:
    if len(parts) == 1 or parts[0].frame is not None:  # those with a frame are whole blocks
        return parts[0]._replace(first=first)
    ids = (
        None if parts[0].ids is None else np.concatenate([part.ids for part in parts if part.ids is not None])
    )
    return Chunk(first, np.concatenate([part.rows for part in parts]), ids)


# ---------------------------------------------------------------- arrays and batches
class _ArrayRows:
    """The rows of an array."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self._rows = rows

    def columns(self) -> tuple[str, ...] | None:
        return None

    def lengths(self) -> Lengths | None:
        return Lengths((len(self._rows),), is_seekable=True)

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[Chunk]:
        end = len(self._rows) if stop is None else min(stop, len(self._rows))
        for at in range(start, end, BLOCK):
            yield Chunk(at, _to_rows(self._rows[at : min(at + BLOCK, end)], "The array", at, None), None)


def _compute_partitions(rows: Any) -> Iterator[Any]:
    """Compute the partitions of a dask array or DataFrame, one after the other."""
    is_array = hasattr(rows, "rechunk")
    parts = rows.rechunk({1: -1}).to_delayed().ravel() if is_array else rows.to_delayed()
    for part in parts:
        yield part.compute()


class _Batches:
    """Arrays, or tables such as Arrow batches, that a function returns, each time anew."""

    def __init__(
        self,
        read: Callable[[], Iterable[Any]],
        columns: tuple[str, ...] | None = None,
        id_column: str | None = None,
    ) -> None:
        self._read, self._columns, self._id_column = read, columns, id_column
        self._names: tuple[str, ...] | None = None

    def columns(self) -> tuple[str, ...] | None:
        return self._names

    def lengths(self) -> Lengths | None:
        return None

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[Chunk]:
        assert start == 0  # as there are no lengths
        assert stop is None
        first, width, picked = 0, None, None
        for number, given in enumerate(self._read()):
            where = f"Chunk {number}"
            frame = to_frame(given)
            if frame is None:
                self._check_unnamed(where)
                chunk = Chunk(first, _to_rows(given, where, first, None), None)
            else:
                if picked is None:
                    picked = _Picked.choose(dict(frame.schema), where, self._columns, self._id_column)
                    self._names = picked.columns
                chunk = _Picked.choose(dict(frame.schema), where, *picked).pick(frame, where, first)
            width = chunk.rows.shape[1] if width is None else width
            _check_width(chunk.rows.shape[1], width, where)
            yield chunk
            first += len(chunk.rows)

    def _check_unnamed(self, where: str) -> None:
        if self._columns is not None or self._id_column is not None:
            raise TypeError(
                f"columns and id_column name columns of tables, but {where.lower()} is an array. Remove them."
            )


def to_frame(given: Any) -> Any:
    """Wrap a table in memory, such as an Arrow batch or that of pandas, in polars; None if it is no table."""
    is_arrow = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    is_pandas = is_arrow and hasattr(given, "iloc")
    if isinstance(given, np.ndarray) or not (is_pandas or (is_arrow and hasattr(given, "schema"))):
        return None
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError('Reading tables needs polars: pip install "linkwise[app]"') from error
    if isinstance(given, pl.DataFrame):
        return given
    return pl.from_pandas(given) if is_pandas else pl.DataFrame(given)


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
            f"{where} has {width} columns, but the rows before have {expected}. Use one number for all."
        )


# ---------------------------------------------------------------- files
def find_files(rows: object) -> tuple[Path, ...]:
    """Find the files that a path, a folder, a pattern such as "events/*.parquet" or a list of these names.

    Of a folder, all files with a known ending are meant; those of a folder or pattern are in the order of
    their names.
    """
    if isinstance(rows, (list, tuple)):
        return tuple(path for each in rows for path in find_files(each))
    path = Path(str(rows))
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix.lower() in ENDINGS)
    elif is_pattern(path):
        found = sorted(map(Path, glob(str(rows), recursive=True)))
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
    arrays = [each.name for each in found if each.suffix.lower() == ARRAY]
    if arrays and len(arrays) < len(found):
        raise DataError(
            f"{arrays[0]} is an array, and other files are tables. Use files of one kind, since only"
            " tables have named columns."
        )
    return tuple(found)


def is_pattern(path: Path) -> bool:
    """Whether a path is a pattern such as "events/*.parquet", and not the name of a file."""
    return has_magic(str(path)) and not path.exists()


def _are_paths(rows: object) -> bool:
    return (
        isinstance(rows, (list, tuple))
        and len(rows) > 0
        and all(isinstance(each, (str, os.PathLike)) for each in rows)
    )


class _ArrayFiles:
    """The rows of .npy files, one file after the other."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._paths = paths

    def columns(self) -> tuple[str, ...] | None:
        return None

    def lengths(self) -> Lengths | None:
        return Lengths(tuple(array_form(path)[0][0] for path in self._paths), is_seekable=True)

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[Chunk]:
        before, width = 0, array_form(self._paths[0])[0][1]
        for path in self._paths:
            if stop is not None and before >= stop:
                return
            (n_rows, mine), *_ = array_form(path)
            _check_width(mine, width, path.name)
            at = max(0, start - before)
            for given in read_array_file(path, at, None if stop is None else stop - before):
                yield Chunk(before + at, _to_rows(given, path.name, before + at, None), None)
                at += len(given)
            before += n_rows


class _NumericTables:
    """The numbers of tables in files, one file after the other."""

    def __init__(
        self, paths: tuple[Path, ...], columns: tuple[str, ...] | None, id_column: str | None
    ) -> None:
        self._tables = TableFiles(paths, as_text=() if id_column is None else (id_column,))
        self._picked = _Picked.choose(self._tables.schema, paths[0].name, columns, id_column)

    def columns(self) -> tuple[str, ...] | None:
        return self._picked.columns

    def lengths(self) -> Lengths | None:
        return self._tables.lengths()

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[Chunk]:
        first, wanted = start, self._picked.all_names
        for number, frame in self._tables.frames(wanted, start, stop):
            chunk = self._picked.pick(frame, self._tables.files[number].path.name, first)
            yield chunk
            first += len(chunk.rows)


class _Picked(NamedTuple):
    """The columns of a table that are used."""

    columns: tuple[str, ...]
    id_column: str | None

    @classmethod
    def choose(
        cls, schema: dict[str, Any], where: str, columns: tuple[str, ...] | None, id_column: str | None
    ) -> _Picked:
        """Choose the columns that were named, or all but the ids, which must be numbers."""
        wanted = columns or tuple(name for name in schema if name != id_column)
        wrong = [name for name in wanted if name in schema and not _holds_numbers(schema[name])]
        if wrong:
            raise DataError(
                f"{where} has columns that hold no numbers: {join_names(wrong)}. Set those to use by"
                " columns=[...], and ids by id_column=..."
            )
        found = cls(wanted, id_column)
        missing = [name for name in found.all_names if name not in schema]
        if missing:
            raise DataError(f"{where} has no column {join_names(missing)}. It has {join_names(schema)}.")
        return found

    @property
    def all_names(self) -> tuple[str, ...]:
        return self.columns if self.id_column is None else (*self.columns, self.id_column)

    def pick(self, frame: Any, where: str, first: int) -> Chunk:
        """The numbers and ids of some rows, the first of which has number `first`."""
        ids = None if self.id_column is None else frame[self.id_column]
        if ids is not None and ids.null_count():
            raise DataError(f"{where}: a cell of the ids in column '{self.id_column}' is empty.")
        rows = _to_rows(frame.select(self.columns).to_numpy(), where, first, self.columns)
        return Chunk(first, rows, None if ids is None else ids.to_numpy())


def _holds_numbers(kind: Any) -> bool:
    return bool(kind.is_numeric()) or str(kind) == "Boolean"
