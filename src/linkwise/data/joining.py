"""Put the cluster of each row beside the columns of its table.

Text files are not parsed and written anew: the new cells are put at the end of each line, and all that was
there before stays byte for byte.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import write_id
from linkwise.data.columns.table import Table
from linkwise.data.read.endings import DELIMITED as TEXT_ENDINGS
from linkwise.data.read.endings import SHEET
from linkwise.data.read.formats import read_file
from linkwise.data.read.frames import to_narwhals, to_polars
from linkwise.data.read.parse import Parsed, parse_columns, uses_decimal_commas
from linkwise.data.read.spreadsheets import write_sheet
from linkwise.data.reading import Reading
from linkwise.data.show.items import SideTable
from linkwise.data.show.rows import Rows
from linkwise.errors import DataError
from linkwise.text_encodings import to_utf8
from linkwise.text_files import (
    allow_long_cells,
    cut_separator_line,
    decode,
    escape_cell,
    format_record,
    read_bytes,
    refuse_lone_surrogates,
)
from linkwise.wording import count_noun, join_names, shorten

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

COLUMNS = ("cluster", "cluster_name", "confidence")
DELIMITED = (".csv", ".tsv", ".tab", ".txt")
JSON = (".jsonl", ".ndjson", ".json")
ARROW = (".arrow", ".feather")
ENDINGS = (*DELIMITED, ".parquet", *ARROW, *JSON, SHEET)
DIGITS = 4  # of confidences in files
_BETWEEN = re.compile(r"[\s,]*")  # what may stand between two objects
UTF8_NOTE = "The new file is in UTF-8, unlike the data ({})."
BOM = b"\xef\xbb\xbf"


class ClusterColumns(NamedTuple):
    """The cluster of each row, its name (None if it has none), and the probability that the row is in it.

    Without a list of names the labels are the only column.
    """

    labels: NDArray[np.int64]
    names: list[str | None] | None
    confidence: NDArray[np.float64] | None

    @property
    def usual_names(self) -> tuple[str, ...]:
        """The names of the columns, as far as the table has none of these names."""
        return COLUMNS[:1] if self.names is None else COLUMNS

    def take(self, rows: Sequence[int]) -> ClusterColumns:
        """Return the clusters of some rows."""
        share = None if self.confidence is None else self.confidence[rows]
        names = None if self.names is None else [self.names[row] for row in rows]
        return ClusterColumns(self.labels[rows], names, share)

    def escape_names(self) -> ClusterColumns:
        """Return the columns as a spreadsheet reads them from text: names that look like formulas escaped."""
        if self.names is None:
            return self
        return self._replace(names=[name and escape_cell(name) for name in self.names])

    def cells(self) -> Iterator[tuple[int | str | float | None, ...]]:
        """Yield the cells of each row as files hold them."""
        n_rows = len(self.labels)
        if self.names is None:
            return zip(self.labels.tolist(), strict=True)
        shares = [None] * n_rows if self.confidence is None else self.confidence.round(DIGITS).tolist()
        return zip(self.labels.tolist(), self.names, shares, strict=True)


class Joined(NamedTuple):
    """A file with its clusters, and sentences about the choices that were made."""

    content: bytes
    notes: list[str]


# ---------------------------------------------------------------- names of the new columns
def choose_names(columns: ClusterColumns, taken: Collection[object]) -> tuple[list[str], list[str]]:
    """Name the new columns as no other column is named, and say which names differ from the usual ones."""
    names, notes = [], []
    for usual in columns.usual_names:
        name = choose_free_name(usual, taken)
        if name != usual:
            notes.append(f"The table has a column '{usual}' already, so the new one is called '{name}'.")
        names.append(name)
    return names, notes


def choose_free_name(usual: str, taken: Collection[object]) -> str:
    """The usual name of a column, with a number if a column is called so already."""
    name, number = usual, 2
    while name in taken:
        name, number = f"{usual}_{number}", number + 1
    return name


# ---------------------------------------------------------------- tables in memory
def join_frame(frame: Any, columns: ClusterColumns) -> Any:
    """Return a copy of a table, a frame of the same kind, with three more columns."""
    table = to_table(frame)
    check_n_rows(len(table), columns)
    return _append_columns(table, choose_names(columns, table.columns)[0], columns).to_native()


def to_table(frame: Any) -> nw.DataFrame[Any]:
    """Wrap a table without changing a cell."""
    import narwhals as nw

    if isinstance(frame, Table | Rows):
        return (frame.table if isinstance(frame, Rows) else frame).frame
    if isinstance(frame, np.ndarray):
        return to_narwhals(frame)
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"frame is a {type(frame).__name__}. Pass a pandas or polars DataFrame, or a 2-D array."
        ) from error


def find_rows(frame: Any, id_column: str, ids: Sequence[str]) -> list[int]:
    """Find the row of the session that each row of a table is about, by its id."""
    table = to_table(frame)
    columns = {**_read_index(frame), **{name: table[name] for name in table.columns}}
    if id_column not in columns:
        raise DataError(f"There is no column {id_column!r}. The columns are {join_names(table.columns)}.")
    position = {name: row for row, name in enumerate(ids)}
    given = [str(write_id(value)) for value in columns[id_column].to_list()]
    unknown = [value for value in given if value not in position]
    if unknown:
        raise DataError(
            f"The session has no row {join_names(map(repr, unknown))}. Its rows are called {ids[0]!r} …. "
            "Pass the column with these ids, or remove id_column to match rows by position."
        )
    return [position[value] for value in given]


def _read_index(frame: Any) -> dict[str, Any]:
    """The index of pandas by its name, or "index"; none if it only counts the rows."""
    index: Any = getattr(frame, "index", None)
    if not hasattr(frame, "reset_index") or type(index).__name__ == "RangeIndex" or index.nlevels > 1:
        return {}
    return {"index" if index.name is None else str(index.name): index}


def check_order(frame: Any, ids: Sequence[str]) -> None:
    """Raise if a table has the ids of the session in another order, so positions would be other rows."""
    table, order, known = to_table(frame), list(ids), set(ids)
    moved: dict[str, str] = {}  # columns with the ids in another order, and the first row that differs
    columns = {**_read_index(frame), **{name: table[name] for name in table.columns}}
    for name, values in columns.items() if len(table) == len(order) else ():
        if str(write_id(values[0])) in known:
            given = [str(write_id(value)) for value in values.to_list()]
            if given == order:
                return
            if set(given) == known:
                moved[name] = next(one for one, own in zip(given, order, strict=True) if one != own)
    for name, value in moved.items():
        raise DataError(
            f"Column {name!r} has the ids of the session in another order, from {value!r} on. "
            f"Add id_column={name!r} to match the rows by their ids."
        )


def check_n_rows(n_rows: int, columns: ClusterColumns) -> None:
    """Raise if a table has another number of rows than the session."""
    if n_rows != len(columns.labels):
        raise DataError(
            f"The table has {count_noun(n_rows, 'row')}, but the session has {len(columns.labels)}. "
            "Pass the table that the session was begun with."
        )


def _append_columns(
    table: nw.DataFrame[Any], names: Sequence[str], columns: ClusterColumns
) -> nw.DataFrame[Any]:
    import narwhals as nw

    backend = table.implementation
    labels = nw.new_series(names[0], columns.labels.tolist(), nw.Int64, backend=backend)
    if columns.names is None:
        return table.with_columns(labels)
    shares = [None] * len(columns.labels) if columns.confidence is None else columns.confidence.tolist()
    return table.with_columns(
        labels,
        nw.new_series(names[1], columns.names, nw.String, backend=backend),
        nw.new_series(names[2], shares, nw.Float64, backend=backend),
    )


# ---------------------------------------------------------------- files
def needs_table(data: Path, reading: Reading) -> bool:
    """Whether clusters go beside the rows as they were read, and not beside those that stand in the file."""
    return reading.series_by is not None or not data.is_file()


def join_file(
    data: Path, reading: Reading, columns: ClusterColumns, ending: str, frame: nw.DataFrame[Any] | None = None
) -> Joined:
    """Put the clusters beside the columns of a file that was read so; `ending` is that of the new file.

    A file of the same kind keeps all of its bytes. In other kinds the cells of a text file are texts, as
    they stand in it; in a spreadsheet they become numbers and dates where they are plain ones. A
    spreadsheet is written anew, with one sheet and without formats. `frame` has the rows that were read,
    for data of which `needs_table` is true.
    """
    refuse_lone_surrogates(columns.names or (), "the names of clusters")
    if needs_table(data, reading):
        assert frame is not None
        joined = write_frame(to_polars(frame), columns, ending, ",")
        if reading.series_by is None:
            return joined
        return joined._replace(notes=[*joined.notes, "The new file has one row for each curve."])
    contents = read_file(data, read_as_written(reading, ending))
    own, reading = contents.ending, contents.reading
    said = [] if reading.encoding in (None, "utf-8") else [UTF8_NOTE.format(reading.encoding)]
    if contents.is_plain:
        raw, _, damage = to_utf8(read_bytes(data), reading.encoding)
        said = said or damage
        if own in JSON and ending in JSON:
            joined = _join_json(raw, columns)
            return joined._replace(notes=[*joined.notes, *said])
    else:
        raw = None
        said += _note_changes(reading, own, contents.n_below)
    if own in TEXT_ENDINGS:
        joined = join_text(raw, contents.written, reading, columns, ending)
    else:
        joined = write_frame(contents.written, columns, ending, ",")
    return joined._replace(notes=[*joined.notes, *said])


def read_as_written(reading: Reading, ending: str) -> Reading:
    """How to read a file again for the new one, which keeps nested fields where it can."""
    keeps = reading.keep_nested is False and ending in (".parquet", *ARROW)
    return replace(reading, keep_nested=True) if keeps else reading


def _note_changes(reading: Reading, own: str, n_below: int) -> list[str]:
    """What the new file does not have of one that is written anew."""
    notes = []
    if own == SHEET:
        named = "the sheet" if reading.sheet is None else f"sheet {reading.sheet!r}"
        notes.append(f"The new file holds the values of {named}, without its formats and formulas.")
    if reading.no_header and own in (*TEXT_ENDINGS, SHEET):
        notes.append("The new file has a line of column names, unlike the data.")
    if reading.skip_lines:
        notes.append(
            f"The new file is without the first {count_noun(reading.skip_lines, 'line')} of the data."
        )
    if n_below:
        notes.append(f"The new file is without the {count_noun(n_below, 'line')} below the table.")
    if reading.transpose:
        notes.append("The new file is transposed, as the table was read.")
    if reading.where is not None:
        notes.append("The new file holds the rows that meet the condition of --where.")
    return notes


def join_side_table(
    side: SideTable, ids: Sequence[str] | None, columns: ClusterColumns, ending: str
) -> Joined:
    """Put the clusters beside the columns of a side table, with the ids of the rows if it has none."""
    import polars as pl

    refuse_lone_surrogates(columns.names or (), "the names of clusters")
    frame = to_polars(side.frame)
    if ids is not None and not any(list(ids) == [str(v) for v in frame[name]] for name in frame.columns):
        taken = choose_free_name("id", frame.columns)
        frame = frame.select(pl.Series(taken, list(ids)), pl.all())
    return write_frame(frame, columns, ending, ",")


def join_text(
    raw: bytes | None, frame: pl.DataFrame, reading: Reading, columns: ClusterColumns, ending: str
) -> Joined:
    """Put the clusters beside the columns of delimited text, whose bytes stay if `raw` is given."""
    delimiter = reading.delimiter or ","
    is_same_form = raw is not None and ending in DELIMITED and _delimiter_of(ending, delimiter) == delimiter
    if raw is not None and is_same_form and delimiter == ",":  # no number has a decimal comma
        return _join_delimited(raw, delimiter, columns)
    parsed = parse_columns(frame, {reading.id_column}, comma_free=delimiter != ",")
    has_commas = uses_decimal_commas(parsed)
    if raw is not None and is_same_form:
        return _join_delimited(raw, delimiter, columns, has_commas)
    if ending == SHEET:
        note = "Numbers and dates are written as such, and other cells as they stand in the data."
        joined = _write_sheet(_type_cells(frame, parsed), columns)
        return joined._replace(notes=[*joined.notes, note])
    return write_frame(frame, columns, ending, delimiter, has_commas)


def _delimiter_of(ending: str, own: str) -> str:
    """The delimiter of the new file: as far as its ending allows that of the data."""
    if ending in (".tsv", ".tab"):
        return "\t"
    if own == " ":  # an empty cell between spaces would be lost
        return "," if ending == ".csv" else "\t"
    return "," if ending == ".csv" and own == "\t" else own


def _join_delimited(raw: bytes, delimiter: str, columns: ClusterColumns, has_commas: bool = False) -> Joined:
    """Put the new cells at the end of each record; blank lines stay."""
    records = _cut_records(decode(raw), delimiter)
    out = io.StringIO(newline="")
    with allow_long_cells():
        for header, row in records:
            if row and (out.tell() or cut_separator_line(header)[0] is None):
                break
            out.write(header)
        taken = [name.strip() or f"column {number}" for number, name in enumerate(row, 1)]
        names, notes = choose_names(columns, taken)
        out.write(_extend_record(header, delimiter, names))
        cells, n_rows = columns.escape_names().cells(), 0
        for record, row in records:
            if not row:
                out.write(record)
                continue
            n_rows += 1
            new = next(cells, None)
            if new is None:
                break
            if has_commas:
                new = tuple(str(one).replace(".", ",") if isinstance(one, float) else one for one in new)
            out.write(_extend_record(record, delimiter, new))
    check_n_rows(n_rows, columns)
    return Joined((BOM if raw.startswith(BOM) else b"") + out.getvalue().encode(), notes)


def _cut_records(text: str, delimiter: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each record as it stands, with its line end, and its cells."""
    read: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            read.append(line)
            yield line

    for row in csv.reader(lines(), delimiter=delimiter, strict=True):
        yield "".join(read), row
        read.clear()


def _extend_record(record: str, delimiter: str, cells: Sequence[object]) -> str:
    """Put cells between a record and the end of its line."""
    bare = record.rstrip("\r\n")
    return bare + delimiter + format_record(cells, delimiter) + record[len(bare) :]


def _join_json(raw: bytes, columns: ClusterColumns) -> Joined:
    """Put the new keys at the end of each object; all else stays."""
    text = decode(raw)
    objects = list(_find_objects(text))
    check_n_rows(len(objects), columns)
    names, notes = choose_names(columns, {name for record, _ in objects for name in record})
    pieces, done = [], 0
    for (record, end), cells in zip(objects, columns.cells(), strict=True):
        new = json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False)
        pieces += [text[done : end - 1].rstrip(), ", " if record else "", new[1:]]
        done = end
    pieces.append(text[done:])
    return Joined((BOM if raw.startswith(BOM) else b"") + "".join(pieces).encode(), notes)


def _find_objects(text: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each object of JSON lines or of an array, and where it ends."""
    decoder, place = json.JSONDecoder(), 0
    if text.lstrip().startswith("["):
        place = text.index("[") + 1
    while True:
        between = _BETWEEN.match(text, place)
        assert between is not None
        if between.end() == len(text) or text[between.end()] == "]":
            return
        record, place = decoder.raw_decode(text, between.end())
        yield record, place


def _type_cells(frame: pl.DataFrame, parsed: Parsed) -> dict[str, list[Any]]:
    """Cells as numbers and dates where they are plain ones, else as they are written."""
    as_written = {series.name for series in parsed.written}
    cells = {}
    for name in frame.columns:
        texts, values = frame[name].to_list(), parsed.frame[name].to_list()
        pairs = zip(values, texts, strict=True)
        cells[name] = texts if name in as_written else [t if v is None else v for v, t in pairs]
    return cells


def _write_sheet(cells: Mapping[str, Sequence[Any]], columns: ClusterColumns) -> Joined:
    """Write columns with their clusters as a spreadsheet."""
    check_n_rows(len(next(iter(cells.values()))), columns)
    names, notes = choose_names(columns, cells.keys())
    new = zip(names, zip(*columns.cells(), strict=True), strict=True)
    return Joined(write_sheet({**cells, **dict(new)}, "clusters"), notes)


def write_frame(
    frame: pl.DataFrame, columns: ClusterColumns, ending: str, delimiter: str, has_commas: bool = False
) -> Joined:
    """Write a table with its clusters as another kind of file."""
    import narwhals as nw
    import polars as pl

    check_n_rows(len(frame), columns)
    _check_fits(frame, ending)
    if ending == SHEET:
        return _write_sheet(frame.to_dict(as_series=False), columns)
    names, notes = choose_names(columns, frame.columns)
    rounded = None if columns.confidence is None else columns.confidence.round(DIGITS)
    new = (columns.escape_names() if ending in DELIMITED else columns)._replace(confidence=rounded)
    full: pl.DataFrame = _append_columns(nw.from_native(frame, eager_only=True), names, new).to_native()
    out = io.BytesIO()
    try:
        if ending == ".parquet":
            full.write_parquet(out)
        elif ending in ARROW:
            full.write_ipc(out)
        elif ending in JSON:
            full.write_ndjson(out)
        else:
            separator = _delimiter_of(ending, delimiter)
            full.write_csv(out, separator=separator, decimal_comma=has_commas and separator != ",")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"The table cannot be written as {ending}: {shorten(str(error), 300)}") from error
    return Joined(out.getvalue(), notes)


def _check_fits(frame: pl.DataFrame, ending: str) -> None:
    """Raise if a kind of file cannot hold a column."""
    import polars as pl

    kinds = frame.schema.items()
    nested = [name for name, kind in kinds if kind.is_nested() or kind in (pl.Object, pl.Binary)]
    if ending in (*DELIMITED, SHEET) and nested:
        raise DataError(
            f"{ending} cannot hold lists, objects or bytes, which are in {join_names(nested)}. "
            "Use a file that ends in .parquet or .jsonl."
        )
    objects = [name for name, kind in kinds if kind == pl.Object]
    if objects:
        raise DataError(
            f"{ending} cannot hold the lists or objects in {join_names(objects)}. "
            "Use a file that ends in .jsonl, as the data do."
        )
    if ending in JSON:
        odd = [
            name
            for name, kind in kinds
            if kind == pl.Binary or (kind.is_float() and not frame[name].drop_nulls().is_finite().all())
        ]
        if odd:
            raise DataError(
                f"JSON cannot hold NaN, infinity or bytes, which are in {join_names(odd)}. "
                "Use a file that ends in .parquet."
            )
