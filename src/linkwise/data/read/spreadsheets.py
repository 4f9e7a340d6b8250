"""Read and write spreadsheets (.xlsx), whose cells have types of their own."""

from __future__ import annotations

import datetime
import io
import math
import warnings
import zipfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.data.read.delimited import (
    LOOK,
    Record,
    describe_below,
    describe_skipped,
    describe_unnamed,
    find_layout,
    name_columns,
    name_unnamed,
)
from linkwise.data.read.endings import OLD_SHEET
from linkwise.data.read.merged_cells import MergedRange, fill_merged_ranges, find_merged_ranges, join_header
from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns, check_expansion
from linkwise.wording import count_noun, join_names, shorten

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of one sheet, in every program for spreadsheets
MOST_IN_CELL = 32_767  # characters
MOST_DIGITS = 10**15  # spreadsheets round integers that are larger
MOST_SEARCHED = 100  # rows in which to look for formulas
_LEAST_ROWS = 3  # with several cells: names of columns, and two rows
FIRST_YEAR = 1900  # spreadsheets have no earlier dates
ERRORS = ("#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


class Sheet(NamedTuple):
    """One sheet of a spreadsheet; a column that mixes texts with other cells is text."""

    frame: pl.DataFrame
    name: str
    is_only: bool
    notes: list[str]
    skip_lines: int | None
    no_header: bool | None
    n_below: int = 0  # rows below the table


def require_openpyxl() -> None:
    """Raise an ImportError that says how to install openpyxl, if it is missing."""
    if find_spec("openpyxl") is None:
        raise ImportError('Reading and writing .xlsx needs openpyxl: pip install "linkwise[tables]"')


# ---------------------------------------------------------------- reading
def read_sheet(
    raw: bytes, sheet: str | None = None, *, skip_lines: int | None = None, no_header: bool | None = None
) -> Sheet:
    """Read one sheet of a spreadsheet, by default the first that is a table.

    The first row that is not empty has the names of the columns, and other empty rows are skipped, unless
    `skip_lines` rows are to be skipped or there is `no_header`; what is not given is detected as in a file of
    text. Formulas count with the values that the spreadsheet stored.
    """
    require_openpyxl()
    if raw.startswith(OLD_SHEET):
        raise DataError(
            "The file has a password, or it is an older .xls file. Save it as .xlsx without a password."
        )
    import openpyxl

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as parts:
            check_expansion(sum(part.file_size for part in parts.infolist()), len(raw))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on styles and other parts that are not read
            book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
            names = [one.title for one in book.worksheets]
            _check_sheet(names, sheet)
            pages = book.worksheets if sheet is None else [book.worksheets[names.index(sheet)]]
            name, page, (rows, numbers, n_empty) = _find_sheet(pages, len(raw))
        with zipfile.ZipFile(io.BytesIO(raw)) as parts:
            ranges = find_merged_ranges(parts.read(page._worksheet_path))
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of a damaged file openpyxl may raise anything
        raise DataError(f"This cannot be read as .xlsx: {shorten(str(error), 300)}") from error
    others = [one for one in names if one != name]
    rows, below = _cut_below(rows, numbers)
    begin = _find_table(rows, numbers[: len(rows)], ranges, skip_lines, no_header)
    frame, notes = _build_table(begin.rows, begin.numbers, ranges, name, others)
    notes[:0] = begin.notes
    empty = [one for one in frame.columns if frame[one].null_count() == len(frame)]
    if empty and _has_formulas(raw, name):
        notes.append(
            f"The spreadsheet stored no values for the formulas in {join_names(empty)}. To use them, open the"
            " file in a spreadsheet program and save it."
        )
    if len(names) > 1 and sheet is None:
        first = "first" if name == names[0] else "first table"
        notes.insert(
            0,
            f"Sheet {name!r} is read, the {first} of {len(names)}. Add --sheet NAME to"
            f' read another one (in Python, sheet="..."), such as {join_names(map(repr, others))}.',
        )
    if n_empty:
        notes.append(f"{count_noun(n_empty, 'empty row')} skipped.")
    notes += [describe_below(below)] if below else []
    return Sheet(frame, name, len(names) == 1, notes, begin.skip_lines, begin.no_header, len(below))


def _check_sheet(names: Sequence[str], sheet: str | None) -> None:
    if not names:
        raise DataError("The file has no sheet with cells. Save the table as CSV and use that file.")
    if sheet is not None and sheet not in names:
        raise DataError(
            f"There is no sheet {sheet!r}. The sheets are {join_names(map(repr, names), 20)}."
            " Use one of them: --sheet NAME"
        )


class _SheetRows(NamedTuple):
    """The rows that are not empty, their numbers in the sheet, and how many empty ones are between them."""

    rows: list[tuple[Any, ...]]
    numbers: list[int]
    n_empty: int


def _find_sheet(pages: Sequence[Any], n_bytes: int) -> tuple[str, Any, _SheetRows]:
    """The first sheet that is a table, else the first one; a sheet with an explanation often comes first."""
    first = None
    for page in pages:
        page.reset_dimensions()  # those in the file may be wrong
        found = _read_rows(page.iter_rows(values_only=True), n_bytes)
        first = first or (page.title, page, found)
        if sum(_count_cells(row) > 1 for row in found.rows[:LOOK]) >= _LEAST_ROWS:
            return page.title, page, found
    assert first is not None
    return first


def _count_cells(row: tuple[Any, ...]) -> int:
    return sum(cell not in (None, "") for cell in row)


def _cut_below(rows: list[tuple[Any, ...]], numbers: list[int]) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Cut off rows of one cell behind the last complete one, from an empty row on, and return their texts."""
    end = next((at for at in range(len(rows), 0, -1) if _count_cells(rows[at - 1]) > 1), 0)
    start = next((at for at in range(end, len(rows)) if numbers[at] > numbers[at - 1] + 1), len(rows))
    if not end or start < end:
        return rows, []
    texts = [_to_text(next(cell for cell in row if cell not in (None, ""))) for row in rows[start:]]
    return rows[:start], texts


def _read_rows(given: Iterator[tuple[Any, ...]], n_bytes: int) -> _SheetRows:
    rows: list[tuple[Any, ...]] = []
    numbers: list[int] = []
    n_cells = n_empty = n_between = 0
    for number, row in enumerate(given, 1):
        if number > MOST_ROWS:
            raise DataError(f"The sheet has more than {MOST_ROWS} rows, which no spreadsheet can have.")
        n_cells += len(row)
        check_expansion(8 * n_cells, n_bytes)
        if all(cell is None or cell == "" for cell in row):
            n_empty += bool(rows)
            continue
        n_between = n_empty
        rows.append(row)
        numbers.append(number)
    return _SheetRows(rows, numbers, n_between)


class _Beginning(NamedTuple):
    """The rows of a table, the first of them with the names of columns, and how they were found."""

    rows: list[tuple[Any, ...]]
    numbers: list[int]
    skip_lines: int | None
    no_header: bool | None
    notes: list[str]


def _find_table(
    rows: list[tuple[Any, ...]],
    numbers: list[int],
    ranges: Sequence[MergedRange],
    skip_lines: int | None,
    no_header: bool | None,
) -> _Beginning:
    """Skip the rows before the table, and name its columns if it has no header."""
    notes, is_given = [], skip_lines is not None or bool(no_header)
    if rows and not is_given:
        layout = find_layout(_write_records(rows, numbers, ranges))
        if not layout.has_row_names:
            skip_lines, no_header = layout.skip_lines or None, layout.no_header or None
        notes += [describe_skipped(skip_lines)] if skip_lines else []
    first = bisect_right(numbers, skip_lines or 0)
    if rows and first == len(rows):
        raise DataError(
            f"The sheet has {count_noun(numbers[-1], 'row')}, and {skip_lines} are to be skipped. Set a"
            " smaller number: --skip-lines N"
        )
    rows, numbers = rows[first:], numbers[first:]
    if no_header and rows:
        names, has_classes = name_unnamed([row for _, row in _write_records(rows, numbers, ranges)])
        notes.append(describe_unnamed(names, has_classes, is_given))
        is_used = [
            any(at < len(row) and row[at] not in (None, "") for row in rows) for at in range(len(names))
        ]
        header = tuple(name if used else None for name, used in zip(names, is_used, strict=True))
        rows, numbers = [header, *rows], [0, *numbers]
    return _Beginning(rows, numbers, skip_lines, no_header, notes)


def _write_records(
    rows: Sequence[tuple[Any, ...]], numbers: Sequence[int], ranges: Sequence[MergedRange]
) -> list[Record]:
    """The first rows as a file of text would hold them, with empty cells from the first complete row on.

    Merged cells fill their row, unless they are a heading over all columns.
    """
    texts = [["" if cell is None else _to_text(cell) for cell in row] for row in rows[:LOOK]]
    widths = [max((at for at, cell in enumerate(row, 1) if cell), default=0) for row in texts]
    width, records = max(widths, default=0), []
    for merged in ranges:
        if len(merged.columns) < width >= merged.columns.stop - 1:
            for at, number in enumerate(numbers[: len(widths)]):
                if number in merged.rows:
                    widths[at] = max(widths[at], merged.columns.stop - 1)
    start = widths.index(width) if widths else 0
    for at, (number, row) in enumerate(zip(numbers, texts, strict=False)):
        padded = [*row, *[""] * (width - len(row))]
        records.append((number, padded[: width if at >= start else widths[at]]))
    return records


def _has_formulas(raw: bytes, name: str) -> bool:
    """Whether a sheet has formulas; a file written by a program may lack their values."""
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = openpyxl.load_workbook(io.BytesIO(raw), read_only=True)[name]
    page.reset_dimensions()
    return any(cell.data_type == "f" for row in page.iter_rows(max_row=MOST_SEARCHED) for cell in row)


def _build_table(
    rows: list[tuple[Any, ...]],
    numbers: list[int],
    ranges: Sequence[MergedRange],
    name: str,
    others: Sequence[str],
) -> tuple[pl.DataFrame, list[str]]:
    """The columns of a table whose first row has their names, with merged cells filled."""
    import polars as pl

    if not rows:
        way_out = (
            f"Read another sheet, such as {join_names(map(repr, others))}: --sheet NAME"
            if others
            else "Write a row of column names, then a row for each row."
        )
        raise DataError(f"Sheet {name!r} is empty. {way_out}")
    width = max(map(len, rows))
    check_columns(width)
    check_cells(len(rows), width)
    cells = [[row[at] if at < len(row) else None for row in rows] for at in range(width)]
    places = [at for at, column in enumerate(cells, 1) if any(cell not in (None, "") for cell in column)]
    cells = [cells[at - 1] for at in places]
    titles = [_to_text(column[0]) for column in cells if column[0] not in (None, "")]
    is_merged = any(
        merged.rows.start == numbers[0] and places[0] in merged.columns and places[-1] in merged.columns
        for merged in ranges
    )
    if len(titles) == 1 < len(cells) - (not is_merged):
        raise DataError(
            f"The first row of sheet {name!r} has one cell, {shorten(titles[0], 60)!r}, for {len(cells)}"
            " columns. Use --skip-lines N to skip the rows above the column names (in Python, skip_lines=N)."
        )
    cells, n_header, copies, notes = fill_merged_ranges(cells, places, numbers, ranges)
    header = [["" if cell is None else _to_text(cell) for cell in column[:n_header]] for column in cells]
    joined, of_header = join_header(header, copies)
    names, of_names = name_columns(joined)
    notes += [*of_header, *of_names]
    columns, wrong = [], []
    for called, column in zip(names, cells, strict=True):
        values = [None if cell == "" or cell in ERRORS else cell for cell in column[n_header:]]
        if any(isinstance(cell, str) and cell in ERRORS for cell in column[n_header:]):
            wrong.append(called)
        columns.append(_type_column(called, values))
    if wrong:
        notes.append(f"Errors of formulas, such as #N/A, count as missing in {join_names(wrong)}.")
    return pl.DataFrame(columns), notes


def _type_column(name: str, values: list[Any]) -> pl.Series:
    """A column with the type that all of its cells share, else of texts."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} and all(abs(value) < 2**63 for value in values if value is not None):
        return pl.Series(name, values, pl.Int64 if kinds else pl.String)
    if kinds <= {int, float}:
        return pl.Series(name, values, pl.Float64, strict=False)
    if kinds <= {datetime.datetime, datetime.date}:
        return _type_dates(name, values)
    if len(kinds) == 1 and kinds <= {bool, str, datetime.time, datetime.timedelta}:
        return pl.Series(name, values)
    return pl.Series(name, [None if value is None else _to_text(value) for value in values], pl.String)


def _type_dates(name: str, values: list[Any]) -> pl.Series:
    """Dates, or moments if one of them has a time of the day."""
    import polars as pl

    midnight = datetime.time()
    moments = [
        value if value is None or isinstance(value, datetime.datetime)
        else datetime.datetime.combine(value, midnight)
        for value in values
    ]  # fmt: skip
    if all(moment is None or moment.time() == midnight for moment in moments):
        return pl.Series(name, [moment and moment.date() for moment in moments], pl.Date)
    return pl.Series(name, moments, pl.Datetime("us"))


def _to_text(value: Any) -> str:
    """A cell among texts, written as a file of text would hold it."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < MOST_DIGITS:
        return str(int(value))
    return str(value)


# ---------------------------------------------------------------- writing
def write_sheet(columns: Mapping[str, Sequence[Any]], title: str) -> bytes:
    """Write a table, None where a value is missing, as a spreadsheet of one sheet.

    Texts stay texts, also those that begin with ``=``. Integers of 16 and more digits, dates before 1900
    and moments with a time zone become texts, because a spreadsheet would change them.
    """
    require_openpyxl()
    import openpyxl

    n_rows = max(map(len, columns.values()), default=0)
    if n_rows + 1 > MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise DataError(
            f"A sheet has at most {MOST_ROWS} rows and {MOST_COLUMNS} columns, but the table has"
            f" {n_rows + 1} and {len(columns)}. Use a file that ends in .parquet."
        )
    checked = [[_to_value(value, name) for value in (name, *cells)] for name, cells in columns.items()]
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet(title)
    for row in zip(*checked, strict=True):
        page.append([_to_cell(page, value) for value in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _to_value(value: Any, name: str) -> Any:
    """A value that a cell can hold as it is."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return None
        raise DataError(
            f"A spreadsheet cannot hold infinity, which is in {name!r}. Use a file that ends in .parquet."
        )
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= MOST_DIGITS:
        return str(value)
    if isinstance(value, datetime.date) and (value.year < FIRST_YEAR or getattr(value, "tzinfo", None)):
        return value.isoformat()
    if not isinstance(value, str):
        return value
    if len(value) > MOST_IN_CELL:
        raise DataError(
            f"A cell of a spreadsheet holds at most {MOST_IN_CELL} characters, and a text in {name[:40]!r}"
            f" has {len(value)}. Use a file that ends in .parquet."
        )
    if ILLEGAL_CHARACTERS_RE.search(value):
        raise DataError(
            f"A spreadsheet cannot hold control characters, which are in {name!r}. Use a file that ends in"
            " .parquet."
        )
    return value


def _to_cell(page: Any, value: Any) -> Any:
    """A cell of a sheet, in which a text never becomes a formula."""
    from openpyxl.cell import WriteOnlyCell

    if not isinstance(value, str):
        return value
    cell = WriteOnlyCell(page, value)
    cell.data_type = "s"
    return cell
