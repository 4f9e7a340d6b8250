"""Tables in files, read in parts: Parquet, CSV, and arrays whose columns are called x0, x1, ...

All files have the columns of the first one. Every error names the file.

Cells of CSV are text. The first `TYPED_ROWS` rows of the first file decide which columns hold numbers, truth
values or dates, by the rules of `linkwise.data.read.parse`. A later cell that does not fit is an error. Rows
whose cells are all empty are skipped, as empty lines are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from linkwise.data.read.delimited import detect_delimiter, name_columns
from linkwise.data.read.endings import PARQUET
from linkwise.data.read.parse import MARKERS, parse_columns, parse_moments
from linkwise.errors import DataError
from linkwise.large.array_files import ARRAY, array_form, read_array_file
from linkwise.large.ranges import Lengths
from linkwise.text_files import decode, split_records
from linkwise.wording import join_names, shorten

if TYPE_CHECKING:
    import polars as pl

TYPED_ROWS = 262_144  # of a CSV file, which decide the types of its columns
PARQUET_ROWS = 262_144  # that are read at once; fewer would decode pages more than once
BLOCK = 65_536  # rows that are worked on at once
CSV_ROWS = BLOCK  # that are read at once
DELIMITED = (".csv", ".tsv", ".tab")
TABLES = (PARQUET, *DELIMITED)
HEAD = 2**20  # bytes of a CSV file that show its delimiter and the names of its columns


class TableFile(Protocol):
    """A file that holds a table."""

    path: Path

    def schema(self) -> dict[str, Any]:
        """Type of each column."""
        ...

    def count_rows(self) -> int:
        """Count the rows."""
        ...

    def frames(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[pl.DataFrame]:
        """Read some columns in parts, from row `start` to `stop`."""
        ...


class Block(NamedTuple):
    """Some consecutive rows of a table."""

    first: int
    """Number of the first row, counted from 0 at the beginning of the data."""
    frame: pl.DataFrame
    spans: tuple[Span, ...]
    """The files that hold them, in order."""

    def locate(self, row: int) -> str:
        """Say in which row of which file row `row` of this block is."""
        for span in self.spans:
            if row < span.n_rows:
                return f"{span.name}: row {span.start + row} (counted from 0)"
            row -= span.n_rows
        raise IndexError(row)


class Span(NamedTuple):
    """Some consecutive rows of one file."""

    file: int
    """Number of the file."""
    name: str
    start: int
    """Position of the first of them in the file."""
    n_rows: int


class TableFiles:
    """Files that hold one table, the rows of each after those of the one before.

    The columns `as_text` of CSV files stay as they are written. Their `delimiter` is detected by default.
    """

    def __init__(
        self, paths: Sequence[Path], *, as_text: Collection[str] = (), delimiter: str | None = None
    ) -> None:
        _require_polars()
        kinds = {_kind_of(path) for path in paths}
        if len(kinds) > 1:
            names = join_names((path.name for path in paths), 5)
            raise DataError(
                f"Some files are {' and others '.join(sorted(kinds))}: {names}. Use files of one kind."
            )
        self.files: tuple[TableFile, ...]
        if kinds == {"Parquet"}:
            self.files = tuple(map(ParquetFile, paths))
        elif kinds == {"arrays"}:
            self.files = tuple(map(ArrayFile, paths))
        else:
            first = CsvFile(paths[0], None, as_text, delimiter)
            self.files = (first, *(CsvFile(path, first, as_text, delimiter) for path in paths[1:]))
        self.schema = self.files[0].schema()
        self._common: dict[str, Any] = {}

    def check(self, file: TableFile, names: Sequence[str]) -> None:
        """Check that a file has columns of the same types as the first one."""
        schema, first = file.schema(), self.files[0].path.name
        missing = [name for name in names if name not in schema]
        if missing:
            raise DataError(
                f"{file.path.name} has no column {join_names(missing)}. It has {join_names(schema)}. Use a"
                " pattern that names the files of one table, such as 'part-*.csv'."
            )
        for name in names:
            mine, theirs = schema[name], self.schema[name]
            if mine != theirs and not (_is_number(mine) and _is_number(theirs)):
                raise DataError(
                    f"{file.path.name}: column '{name}' has type {mine}, but in {first} it has type {theirs}."
                    " Convert it to one type, or remove the column."
                )

    def count_rows(self) -> list[int]:
        """Count the rows of each file."""
        return [file.count_rows() for file in self.files]

    def frames(
        self, names: Sequence[str], start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[int, pl.DataFrame]]:
        """Read the rows from `start` to `stop`, with the number of the file that holds them."""
        before = 0  # rows of the files before
        for number, file in enumerate(self.files):
            if stop is not None and before >= stop:
                return
            n_rows = file.count_rows() if before < start or stop is not None else 0
            if before < start and before + n_rows <= start:
                before += n_rows
                continue
            end = None if stop is None else stop - before
            for frame in self.file_frames(number, names, max(0, start - before), end):
                yield number, frame
            before = max(before + n_rows, start)

    def file_frames(
        self, number: int, names: Sequence[str], start: int = 0, stop: int | None = None
    ) -> Iterator[pl.DataFrame]:
        """Read the rows of one file from `start` to `stop`, with the types of the first file."""
        import polars as pl

        file, wanted = self.files[number], list(names)
        self.check(file, wanted)
        casts = [pl.col(name).cast(kind) for name in wanted if (kind := self._find_common(name)) is not None]
        for frame in file.frames(wanted, start, stop):
            yield frame.with_columns(casts) if casts else frame

    def _find_common(self, name: str) -> Any:
        """The type that holds the numbers of a column in all files; None if no file needs another type."""
        import polars as pl

        if name not in self._common:
            kinds = {file.schema().get(name, self.schema[name]) for file in self.files}
            is_whole = all(kind.is_integer() for kind in kinds)
            is_kept = len(kinds) == 1 or not all(_is_number(kind) for kind in kinds)
            self._common[name] = None if is_kept else pl.Int64() if is_whole else pl.Float64()
        return self._common[name]

    def stamps(self) -> list[tuple[str, int, int]]:
        """List the path, the size and the time of the last change of each file."""
        files = [(os.path.abspath(file.path), file.path.stat()) for file in self.files]
        return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]

    @property
    def is_seekable(self) -> bool:
        """Whether rows in the middle of a file can be read without those before; not those of CSV."""
        return not isinstance(self.files[0], CsvFile)

    def lengths(self) -> Lengths:
        """Count the rows of each file."""
        return Lengths(tuple(self.count_rows()), self.is_seekable)

    def blocks(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[Block]:
        """Cut the rows from `start`, a multiple of `BLOCK`, into blocks; the last one may be shorter."""
        waiting: list[tuple[int, pl.DataFrame]] = []
        n_waiting, first, done = 0, start, dict[int, int]()
        for number, given in self.frames(names, start, stop):
            if number not in done:
                done[number] = self._count_skipped(number, start) if not done else 0
            frame = given
            while len(frame):
                part = frame[: BLOCK - n_waiting]
                waiting.append((number, part))
                n_waiting += len(part)
                frame = frame[len(part) :]
                if n_waiting == BLOCK:
                    yield self._join(waiting, first, done)
                    waiting, n_waiting, first = [], 0, first + BLOCK
        if waiting:
            yield self._join(waiting, first, done)

    def _count_skipped(self, number: int, start: int) -> int:
        """How many rows of a file are before row `start` of the data."""
        return max(0, start - sum(file.count_rows() for file in self.files[:number])) if start else 0

    def _join(self, parts: list[tuple[int, pl.DataFrame]], first: int, done: dict[int, int]) -> Block:
        import polars as pl

        spans: list[Span] = []
        for number, frame in parts:
            spans.append(Span(number, self.files[number].path.name, done[number], len(frame)))
            done[number] += len(frame)
        frame = parts[0][1] if len(parts) == 1 else pl.concat([frame for _, frame in parts])
        return Block(first, frame, tuple(spans))


def _kind_of(path: Path) -> str:
    ending = path.suffix.lower()
    return "Parquet" if ending == PARQUET else "arrays" if ending == ARRAY else "CSV"


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric())


# ---------------------------------------------------------------- Parquet
class ParquetFile:
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._schema: dict[str, Any] | None = None
        self._n_rows: int | None = None

    def schema(self) -> dict[str, Any]:
        """Type of each column."""
        if self._schema is None:
            found = call_polars(self.path, "Parquet", lambda pl: self._scan(pl).collect_schema())
            self._schema = dict(found)
        return self._schema

    def count_rows(self) -> int:
        """Count the rows."""
        if self._n_rows is None:
            self._n_rows = int(
                call_polars(self.path, "Parquet", lambda pl: self._scan(pl).select(pl.len()).collect().item())
            )
        return self._n_rows

    def frames(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[pl.DataFrame]:
        """Read some columns in parts, from row `start` to `stop`."""
        end = self.count_rows() if stop is None else min(stop, self.count_rows())
        for at in range(start, end, PARQUET_ROWS):
            yield self._slice(list(names), at, min(PARQUET_ROWS, end - at))

    def _slice(self, names: list[str], first: int, n_rows: int) -> pl.DataFrame:
        found: pl.DataFrame = call_polars(
            self.path,
            "Parquet",
            lambda pl: self._scan(pl).slice(first, n_rows).select(names).collect(),
        )
        return found

    def _scan(self, pl: Any) -> Any:
        return pl.scan_parquet(self.path, glob=False)


# ---------------------------------------------------------------- arrays
class ArrayFile:
    """An array in a .npy file, as a table."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def schema(self) -> dict[str, Any]:
        """Type of each column."""
        import polars as pl

        (_, width), dtype, _ = array_form(self.path)
        if dtype.kind not in "fiub":
            raise DataError(f"{self.path.name} holds values of type {dtype}. Save an array of numbers.")
        kind = pl.Series(np.empty(0, dtype)).dtype
        return {f"x{at}": kind for at in range(width)}

    def count_rows(self) -> int:
        """Count the rows."""
        return array_form(self.path)[0][0]

    def frames(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[pl.DataFrame]:
        """Read some columns in parts, from row `start` to `stop`."""
        import polars as pl

        at = [int(name[1:]) for name in names]
        for rows in read_array_file(self.path, start, stop):
            columns = np.asfortranarray(rows[:, at])
            yield pl.DataFrame([pl.Series(n, columns[:, j]) for j, n in enumerate(names)])


# ---------------------------------------------------------------- CSV
class _Layout(NamedTuple):
    """How the cells of CSV files are told apart, and what they hold."""

    delimiter: str
    names: tuple[str, ...]
    types: dict[str, Any]


class CsvFile:
    """A file of delimited text, in UTF-8.

    The `first` of several files decides the types; None if it is this one. Cells of the columns `as_text`
    stay as they are written. The delimiter is detected if it is None.
    """

    def __init__(
        self, path: Path, first: CsvFile | None, as_text: Collection[str], delimiter: str | None
    ) -> None:
        self.path, self._first, self._as_text, self._delimiter = path, first, as_text, delimiter
        self._layout: _Layout | None = None
        self._n_rows: int | None = None

    def schema(self) -> dict[str, Any]:
        """Type of each column."""
        return self._find_layout().types

    def count_rows(self) -> int:
        """Count the rows; the first time this reads the file."""
        if self._n_rows is None:
            layout = self._find_layout()
            self._n_rows = int(
                call_polars(
                    self.path, "CSV", lambda pl: self._scan(pl, layout).select(pl.len()).collect().item()
                )
            )
        return self._n_rows

    def frames(self, names: Sequence[str], start: int = 0, stop: int | None = None) -> Iterator[pl.DataFrame]:
        """Read some columns in parts, from row `start` to `stop`."""
        import polars as pl

        layout, first = self._find_layout(), start
        for text in self._read_text(layout, start, stop):
            columns = [
                self._convert(text[name], layout.types[name], first) if layout.types[name] != pl.String
                else text[name]
                for name in names
            ]  # fmt: skip
            yield pl.DataFrame(columns)
            first += len(text)

    def _find_layout(self) -> _Layout:
        if self._layout is None:
            delimiter, names = self._read_header()
            if self._first is None:
                types = self._choose_types(_Layout(delimiter, names, {}))
            else:
                import polars as pl

                known = self._first.schema()
                types = {name: known.get(name, pl.String()) for name in names}
            self._layout = _Layout(delimiter, names, types)
        return self._layout

    def _read_header(self) -> tuple[str, tuple[str, ...]]:
        with self.path.open("rb") as file:
            raw = file.read(HEAD)
        raw = raw[: raw.rfind(b"\n") + 1] or raw
        try:
            text = decode(raw)
            delimiter = self._delimiter or detect_delimiter(text, self.path.suffix.lower() != ".csv")
            header = next((row for _, row in split_records(text, delimiter) if row), None)
            if header is None:
                raise DataError("The file is empty. Write a line of column names, then a line for each row.")
            return delimiter, tuple(name_columns(header)[0])
        except DataError as error:
            raise DataError(f"{self.path.name}: {error}") from error

    def _scan(self, pl: Any, layout: _Layout) -> Any:
        text = pl.scan_csv(
            self.path,
            separator=layout.delimiter,
            infer_schema=False,
            new_columns=list(layout.names),
            glob=False,
        )
        return text.filter(~pl.all_horizontal(pl.all().is_null()))

    def _read_text(self, layout: _Layout, start: int, stop: int | None) -> Iterator[pl.DataFrame]:
        """Read the cells as text, from row `start` to `stop`."""
        length = None if stop is None else max(0, stop - start)
        batches = call_polars(
            self.path,
            "CSV",
            lambda pl: (
                self._scan(pl, layout)
                .slice(start, length)
                .collect_batches(chunk_size=CSV_ROWS, maintain_order=True)
            ),
        )
        waiting = iter(batches)
        while (batch := call_polars(self.path, "CSV", lambda _: next(waiting, None))) is not None:
            yield batch

    def _choose_types(self, layout: _Layout) -> dict[str, Any]:
        import polars as pl

        parts = list(islice(self._read_text(layout, 0, None), -(-TYPED_ROWS // CSV_ROWS)))
        if not parts:
            return dict.fromkeys(layout.names, pl.String())
        text = pl.concat(parts).head(TYPED_ROWS)
        parsed, *_ = parse_columns(text, keep=self._as_text, comma_free=layout.delimiter != ",")
        return {series.name: _choose_type(text[series.name], series) for series in parsed}

    def _convert(self, text: pl.Series, kind: Any, first: int) -> pl.Series:
        values, lost = convert(text, kind)
        if lost is not None:
            named = self._first or self
            raise DataError(
                f"{self.path.name}: row {first + lost} (counted from 0) has {text[lost]!r:.60} in column"
                f" '{text.name}', but the first {TYPED_ROWS} rows of {named.path.name} hold"
                f" {_NAMES[type(kind).__name__]} there. Fix the cell, or remove the column."
            )
        return values


_NAMES = {"Float64": "numbers", "Boolean": "true or false", "Date": "dates", "Datetime": "times"}


def _choose_type(text: pl.Series, parsed: pl.Series) -> Any:
    """The type of a column; text if its values are written in a form that each part could read otherwise."""
    import polars as pl

    kind = pl.Float64() if parsed.dtype.is_numeric() else parsed.dtype
    if kind == pl.String or type(kind).__name__ not in _NAMES:
        return pl.String()
    values, lost = convert(text, kind)
    return kind if lost is None and values.equals(parsed.cast(kind)) else pl.String()


def convert(text: pl.Series, kind: Any) -> tuple[pl.Series, int | None]:
    """Convert a column of text to a polars type, null where a cell is empty or a marker such as NA.

    Also return the first cell that holds something else.
    """
    import polars as pl

    name = text.name
    stripped = text.str.strip_chars()
    plain = pl.select(
        pl.when((stripped != "") & ~stripped.str.to_lowercase().is_in(MARKERS)).then(stripped).alias(name)
    ).to_series()
    if kind == pl.Float64:
        values = plain.cast(pl.Float64, strict=False)
        is_lost = plain.is_not_null() & (values.is_null() | plain.str.contains(r"^[+-]?0\d+$"))
    elif kind == pl.Boolean:
        low = plain.str.to_lowercase()
        values = low == "true"
        is_lost = ~low.is_in(["true", "false"])
    else:
        moments = parse_moments(plain) if plain.null_count() < len(plain) else plain.cast(kind)
        if moments is None:
            each = (parse_moments(plain[at : at + 1]) is None for at in range(len(plain)))
            return plain, next((at for at, wrong in enumerate(each) if wrong), 0)
        if moments.dtype != kind and kind == pl.Date:
            return plain, int((plain.str.len_chars() > len("2024-02-01")).arg_max() or 0)
        return moments.cast(kind), None
    is_lost = is_lost.fill_null(False)
    return values, int(is_lost.arg_max() or 0) if is_lost.any() else None


# ---------------------------------------------------------------- polars
def _require_polars() -> None:
    try:
        import polars  # noqa: F401
    except ImportError as error:
        raise ImportError('Reading Parquet and CSV needs polars: pip install "linkwise[app]"') from error


def call_polars(path: Path, form: str, read: Callable[[Any], Any]) -> Any:
    """Read from a file by polars, which is given to `read`; an error names the file."""
    import polars as pl

    try:
        return read(pl)
    except (MemoryError, DataError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # of a damaged file polars may raise anything
        raise DataError(
            f"{path.name} cannot be read as {form}: {shorten(' '.join(str(error).split()), 300)}"
        ) from error
