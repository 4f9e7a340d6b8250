"""Read tables from files of all kinds; an ending tells the kind, and where there is none the content does."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.data.read.arrays import array_frame, read_array
from linkwise.data.read.attribute_files import read_arff, read_ts
from linkwise.data.read.columnar import read_columnar
from linkwise.data.read.databases import read_database
from linkwise.data.read.dates import check_dates
from linkwise.data.read.delimited import read_delimited
from linkwise.data.read.endings import (
    ARCHIVE,
    ARFF,
    ARRAYS,
    COLUMNAR,
    DATABASES,
    DELIMITED,
    ENDINGS,
    JSON,
    MATRIX,
    OLD_SHEET,
    OTHER_SHEETS,
    PACKED,
    PLAIN,
    SHEET,
    TEXTS,
    TS,
    TYPED,
    WITH_TEXTS,
    check_is_no_page,
    ending_of_content,
    ending_of_text,
)
from linkwise.data.read.frames import to_polars
from linkwise.data.read.json_lines import read_json
from linkwise.data.read.packed import unpack_file
from linkwise.data.read.parse import parse_columns
from linkwise.data.read.reshape import empty_cells, find_rows, transpose
from linkwise.data.read.sparse_files import read_matrix
from linkwise.data.read.spreadsheets import read_sheet
from linkwise.data.read.text_lines import read_text_lines
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.limits import check_name_lengths, too_large_for_memory
from linkwise.text_encodings import to_utf8
from linkwise.text_files import read_bytes
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


class Frames(NamedTuple):
    """A table as a file holds it, and the same with numbers and dates parsed.

    As a text file holds it, all columns are text. `encoding` is that of a text file; None if it is UTF-8.
    """

    written: nw.DataFrame[Any]
    typed: nw.DataFrame[Any]
    encoding: str | None


def read_frame(
    path: Path, *, keep: Callable[[nw.DataFrame[Any]], Collection[str | None]] = lambda frame: ()
) -> Frames:
    """Read the columns of a file without a decision on their use.

    ``keep(written)`` returns the columns to leave as they are written.
    """
    check_ending(path)
    try:
        contents = read_file(path, Reading())
        written = typed = contents.frame
        check_name_lengths(written.columns)
        check_dates(written, ())
        if contents.ending in WITH_TEXTS:
            typed, *_ = parse_text(written, keep(written), contents.ending, contents.reading.delimiter)
            check_dates(typed, ())
        return Frames(written, typed, contents.reading.encoding)
    except MemoryError as error:
        raise DataError(f"{path.name}: {too_large_for_memory()}") from error
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error


def check_ending(path: Path) -> None:
    """Raise if a file is a spreadsheet of another kind."""
    if path.suffix.lower() in OTHER_SHEETS:
        raise DataError(
            f"The ending of '{path.name}' is unknown. Known endings are {join_names(ENDINGS, 30)}. Save the"
            " sheet as .xlsx or CSV (UTF-8) and name that file."
        )


class FileContents(NamedTuple):
    """What a file holds.

    `frame` has columns of text alone if the file is text; `written` is the same before values that mean
    missing were emptied. `reading` tells how it was read: with its delimiter, its encoding unless it is
    UTF-8 that was not named, the lines that were skipped, whether it has no header, whether nested
    objects stay as they are if there are any, its part if there is a choice, and the column that the file
    itself calls ids. `ending` names the kind of the contents, such as ``.csv`` of ``a.csv.gz``.
    `is_plain` tells whether a row of the table is a line, or an object, of the file itself. `n_below` is the
    number of lines below the table.
    """

    frame: nw.DataFrame[Any]
    reading: Reading
    notes: list[str]
    ending: str
    written: pl.DataFrame
    is_plain: bool
    n_below: int = 0


_OF_FILES = {  # options, and the files that they are for
    "delimiter": DELIMITED,
    "encoding": TEXTS,
    "keep_nested": (*JSON, *COLUMNAR),
    "sheet": (SHEET, ARCHIVE, ".npz", *DATABASES),
    "no_header": (*DELIMITED, SHEET),
    "skip_lines": (*DELIMITED, SHEET),
}


def read_file(path: Path, reading: Reading) -> FileContents:
    """Read what a file holds; the cells of text files as they are written."""
    import narwhals as nw

    raw = read_bytes(path)
    if not raw:
        raise DataError("The file is empty, but at least 2 rows are needed to compare.")
    _require_polars()
    ending = _find_kind(raw, path.name)
    notes: list[str] = []
    part, is_packed, member = reading.sheet, ending in PACKED, None
    if is_packed:
        if part is not None and ending != ARCHIVE:
            raise DataError(_describe_misfit("sheet", ending))
        raw, name, member, notes = unpack_file(raw, path.name, ending, part, ENDINGS)
        part, ending = None, _find_kind(raw, name)
        if not raw or ending in PACKED:
            what = "is empty" if not raw else "is packed, too"
            raise DataError(f"The file {name!r} within it {what}. Unpack it, and pass what it holds.")
    for option, endings in _OF_FILES.items():
        is_used = option == "sheet" and is_packed
        if getattr(reading, option) not in (None, False) and ending not in endings and not is_used:
            raise DataError(_describe_misfit(option, endings[0]))
    table = _read_table(raw, ending, replace(reading, sheet=part))
    chosen = replace(table.reading, sheet=member) if is_packed else table.reading
    suffix = PurePath(path.name).suffix.lower()
    is_unknown = ending in DELIMITED and suffix not in ENDINGS
    if is_unknown and len(table.frame.columns) < 2 and not (table.is_of_lines and not suffix):
        raise DataError(
            f"The ending of '{path.name}' is unknown, and its content is no table. Known endings are"
            f" {join_names(ENDINGS, 30)}."
        )
    frame, more = _reshape(table.frame, reading, ending, chosen.delimiter)
    is_reshaped = reading.transpose or reading.where is not None or is_packed
    is_plain = table.is_plain and not is_reshaped and not chosen.skip_lines and not chosen.no_header
    emptied = frame
    if reading.missing:
        emptied, said = empty_cells(frame, reading.missing)
        more += said
    return FileContents(
        nw.from_native(emptied, eager_only=True),
        chosen,
        [*notes, *table.notes, *more],
        ending,
        frame,
        is_plain and chosen.delimiter != " ",
        table.n_below,
    )


def _describe_misfit(option: str, ending: str) -> str:
    flag = "--" + option.replace("_", "-")
    return f"{flag} is for files such as {ending}. Remove it (in Python, {option}=)."


def _find_kind(raw: bytes, name: str) -> str:
    """The ending that names the kind of a file: its own, unless its first bytes tell another one."""
    own = PurePath(name).suffix.lower()
    is_other = own == SHEET and not raw.startswith((b"PK", OLD_SHEET))  # text that is called .xlsx
    if own in ENDINGS and own not in TEXTS and not is_other:
        return own
    found = ending_of_content(raw)
    if own in TEXTS:
        if found is None:
            check_is_no_page(raw)
        return found if found is not None and not raw[:4].isalpha() else own
    return found or ending_of_text(raw, name)


class _Table(NamedTuple):
    """A table as one of the readers returns it."""

    frame: pl.DataFrame
    reading: Reading
    notes: list[str]
    is_plain: bool = False
    is_of_lines: bool = False
    n_below: int = 0


def _read_table(raw: bytes, ending: str, reading: Reading) -> _Table:
    """Read the contents of a file that is not packed."""
    if ending in COLUMNAR:
        columns = read_columnar(raw, ending, bool(reading.keep_nested))
        return _Table(columns.frame, *_note_nested(columns.nested, columns.has_objects, reading, []))
    if ending in ARRAYS:
        array = read_array(raw, reading.sheet)
        used = {*(reading.drop or ()), *(reading.show or ()), *(reading.hide or ())}
        if reading.id_column is None and array.id_column not in used:
            reading = replace(reading, id_column=array.id_column)
        reading = replace(reading, sheet=array.part)
        return _Table(to_polars(array.frame), reading, array.notes)
    if ending == MATRIX:
        return _Table(to_polars(array_frame(read_matrix(raw))), reading, [])
    if ending in DATABASES:
        rows = read_database(raw, reading.sheet)
        return _Table(rows.frame, replace(reading, sheet=rows.part), rows.notes)
    if ending == SHEET:
        page = read_sheet(raw, reading.sheet, skip_lines=reading.skip_lines, no_header=reading.no_header)
        reading = replace(reading, skip_lines=page.skip_lines, no_header=page.no_header)
        if not page.is_only or reading.sheet is not None:
            reading = replace(reading, sheet=page.name)
        return _Table(page.frame, reading, page.notes, n_below=page.n_below)
    raw, encoding, notes = to_utf8(raw, reading.encoding)
    reading = replace(reading, encoding=encoding)
    if ending in (ARFF, TS):
        read = read_arff if ending == ARFF else read_ts
        frame, more = read(raw)
        return _Table(frame, reading, [*notes, *more])
    may_be_lines = ending == PLAIN and reading.delimiter is None and reading.skip_lines is None
    if may_be_lines and (lines := read_text_lines(raw, no_header=bool(reading.no_header))) is not None:
        return _Table(lines.frame, reading, [*notes, *lines.notes], is_of_lines=True)
    if ending in DELIMITED:
        text = read_delimited(
            raw,
            reading.delimiter,
            ending in (".tsv", ".tab"),
            skip_lines=reading.skip_lines,
            no_header=reading.no_header,
        )
        reading = replace(
            reading, delimiter=text.delimiter, skip_lines=text.skip_lines, no_header=text.no_header
        )
        return _Table(text.frame, reading, [*notes, *text.notes], text.is_plain, n_below=text.n_below)
    table = read_json(raw, bool(reading.keep_nested))
    return _Table(
        table.frame,
        *_note_nested(table.nested, table.has_objects, reading, notes),
        not table.is_one_object,
    )


def _note_nested(
    nested: list[str], has_objects: bool, reading: Reading, notes: list[str]
) -> tuple[Reading, list[str]]:
    """How nested objects were read."""
    reading = replace(reading, keep_nested=bool(reading.keep_nested) if has_objects else None)
    if nested:
        notes = [
            *notes,
            f"Nested fields are columns of their own: {join_names(nested)}."
            " Add --keep-nested to leave them as they are (in Python, keep_nested=True).",
        ]
    return reading, notes


def _reshape(
    frame: pl.DataFrame, reading: Reading, ending: str, delimiter: str | None
) -> tuple[pl.DataFrame, list[str]]:
    """Transpose a table, and keep the rows that meet a condition."""
    import narwhals as nw

    notes: list[str] = []
    if reading.transpose:
        frame, notes = transpose(frame)
    if reading.where is None:
        return frame, notes
    typed = empty_cells(frame, reading.missing)[0] if reading.missing else frame
    typed = to_polars(
        parse_plain(nw.from_native(typed, eager_only=True), ending=ending, delimiter=delimiter)[0]
    )
    is_kept, more = find_rows(typed, reading.where)
    return frame.filter(is_kept), [*notes, *more]


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
        numbers=ending not in TYPED,
        comma_free=ending not in DELIMITED or delimiter not in (None, ","),
    )
    forms = {series.name: nw.from_native(series, series_only=True) for series in written}
    return nw.from_native(parsed, eager_only=True), notes, forms


def parse_plain(
    frame: nw.DataFrame[Any], *, ending: str, delimiter: str | None
) -> tuple[nw.DataFrame[Any], list[str]]:
    """Parse all columns of text."""
    return parse_text(frame, (), ending, delimiter)[:2] if ending in WITH_TEXTS else (frame, [])
