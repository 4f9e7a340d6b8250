"""Read tables from files of delimited text, Parquet, JSON lines, spreadsheets and NumPy arrays."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.data.read.arrays import read_array
from linkwise.data.read.dates import check_dates
from linkwise.data.read.delimited import read_delimited
from linkwise.data.read.json_lines import read_json
from linkwise.data.read.parse import parse_columns
from linkwise.data.read.spreadsheets import read_sheet
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.limits import (
    check_cells,
    check_columns,
    check_expansion,
    check_name_lengths,
    too_large_for_memory,
)
from linkwise.text_encodings import to_utf8
from linkwise.text_files import read_bytes
from linkwise.wording import join_names, shorten

if TYPE_CHECKING:
    import narwhals as nw

DELIMITED = (".csv", ".tsv", ".tab", ".txt")
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_ARRAYS = (".npy", ".npz")
SHEET = ".xlsx"
_OTHER_SHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
WITH_TEXTS = (*DELIMITED, *JSON_ENDINGS, SHEET)  # whose columns of text may hold numbers or dates
ENDINGS = (*DELIMITED, ".parquet", *JSON_ENDINGS, *_ARRAYS, SHEET)


class Frames(NamedTuple):
    """A table as it is written in a file, and with types.

    Attributes
    ----------
    written : narwhals.DataFrame of shape (n_rows, n_columns)
        The table as the file holds it; of text files with columns of text alone.
    typed : narwhals.DataFrame of shape (n_rows, n_columns)
        The same with numbers and dates parsed.
    encoding : str or None
        The encoding of a text file; None if it is UTF-8.
    """

    written: nw.DataFrame[Any]
    typed: nw.DataFrame[Any]
    encoding: str | None


def read_frame(
    path: Path, *, keep: Callable[[nw.DataFrame[Any]], Collection[str | None]] = lambda frame: ()
) -> Frames:
    """Read the columns of a file without a decision on their use.

    Parameters
    ----------
    path : Path
        As for `read_table`.
    keep : callable, optional
        ``keep(written)`` returns the columns to leave as they are written. None by default.

    Returns
    -------
    Frames
        The table as it is written, and with types.

    Raises
    ------
    DataError
        The file cannot be read.
    FileNotFoundError
        There is no such file.
    """
    ending = check_ending(path)
    try:
        written, reading, _ = read_file(path, ending, Reading())
        check_name_lengths(written.columns)
        check_dates(written, ())
        typed = written
        if ending in WITH_TEXTS:
            typed, *_ = parse_text(written, keep(written), ending, reading.delimiter)
            check_dates(typed, ())
        return Frames(written, typed, reading.encoding)
    except MemoryError as error:
        raise DataError(f"{path.name}: {too_large_for_memory()}") from error
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error


def check_ending(path: Path) -> str:
    """The ending of a file that can be read."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        way_out = (
            " Save the sheet as .xlsx or CSV (UTF-8) and name that file." if ending in _OTHER_SHEETS else ""
        )
        raise DataError(
            f"The ending of '{path.name}' is unknown. Known endings are {join_names(ENDINGS, 20)}.{way_out}"
        )
    return ending


class FileContents(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table; of text files with columns of text alone.
    reading : Reading
        How it was read: with its delimiter, its encoding unless it is UTF-8 that was not named, whether
        nested objects in JSON stay as they are if there are any, and its sheet if there is a choice; and with
        the column that the file itself calls ids.
    notes : list of str
        Sentences about the choices that were made.
    """

    frame: nw.DataFrame[Any]
    reading: Reading
    notes: list[str]


_OF_FILES = {  # options, and the files that they are for
    "delimiter": DELIMITED,
    "encoding": (*DELIMITED, *JSON_ENDINGS),
    "keep_nested": JSON_ENDINGS,
    "sheet": (SHEET,),
}


def read_file(path: Path, ending: str, reading: Reading) -> FileContents:
    """Read what a file holds; the cells of text files as they are written."""
    import narwhals as nw

    for option, endings in _OF_FILES.items():
        if getattr(reading, option) not in (None, False) and ending not in endings:
            flag = "--" + option.replace("_", "-")
            raise DataError(f"{flag} is for files such as {endings[0]}. Remove it (in Python, {option}=).")
    raw = read_bytes(path)
    if not raw:
        raise DataError("The file is empty, but at least 2 rows are needed to compare.")
    _require_polars()
    if ending == ".parquet":
        return FileContents(_read_parquet(raw), reading, [])
    if ending in _ARRAYS:
        frame, own_ids, notes = read_array(raw)
        if reading.id_column is None and own_ids not in {
            *(reading.drop or ()),
            *(reading.show or ()),
            *(reading.hide or ()),
        }:
            reading = replace(reading, id_column=own_ids)
        return FileContents(frame, reading, notes)
    if ending == SHEET:
        page = read_sheet(raw, reading.sheet)
        if not page.is_only or reading.sheet is not None:
            reading = replace(reading, sheet=page.name)
        return FileContents(nw.from_native(page.frame, eager_only=True), reading, page.notes)
    raw, encoding, notes = to_utf8(raw, reading.encoding)
    reading = replace(reading, encoding=encoding)
    if ending in DELIMITED:
        text, delimiter, more = read_delimited(raw, reading.delimiter, ending in (".tsv", ".tab"))
        reading = replace(reading, delimiter=delimiter)
        return FileContents(nw.from_native(text, eager_only=True), reading, [*notes, *more])
    table = read_json(raw, bool(reading.keep_nested))
    reading = replace(reading, keep_nested=bool(reading.keep_nested) if table.has_objects else None)
    if table.nested:
        notes.append(
            f"Nested fields are columns of their own: {join_names(table.nested)}."
            " Add --keep-nested to leave them as they are (in Python, keep_nested=True)."
        )
    return FileContents(nw.from_native(table.frame, eager_only=True), reading, notes)


def _require_polars() -> None:
    try:
        import polars  # noqa: F401  # only whether it is installed
    except ImportError as error:
        raise ImportError('Reading tables from files needs polars: pip install "linkwise[app]"') from error


def parse_text(
    frame: nw.DataFrame[Any], keep: Collection[str | None], ending: str, delimiter: str | None
) -> tuple[nw.DataFrame[Any], list[str], dict[str, nw.Series[Any]]]:
    """Parse all columns of text but those to keep as they are written, and return the forms of numbers."""
    import narwhals as nw

    parsed, notes, written = parse_columns(
        frame.to_native(),
        keep=keep,
        numbers=ending not in JSON_ENDINGS,
        comma_free=ending == SHEET or delimiter not in (None, ","),
    )
    forms = {series.name: nw.from_native(series, series_only=True) for series in written}
    return nw.from_native(parsed, eager_only=True), notes, forms


def parse_plain(
    frame: nw.DataFrame[Any], *, ending: str, delimiter: str | None
) -> tuple[nw.DataFrame[Any], list[str]]:
    """Parse all columns of text."""
    return parse_text(frame, (), ending, delimiter)[:2] if ending in WITH_TEXTS else (frame, [])


def _read_parquet(raw: bytes) -> nw.DataFrame[Any]:
    import narwhals as nw
    import polars as pl

    try:
        lazy = pl.scan_parquet(io.BytesIO(raw))
        n_columns = len(lazy.collect_schema())
        check_columns(n_columns)
        n_rows = int(lazy.select(pl.len()).collect().item())
        check_cells(n_rows, n_columns)
        check_expansion(8 * n_rows * n_columns, len(raw))
        return nw.from_native(pl.read_parquet(raw), eager_only=True)
    except (DataError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # of a damaged file polars may raise anything
        raise DataError(f"This cannot be read as Parquet: {shorten(str(error), 300)}") from error
