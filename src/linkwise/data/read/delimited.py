"""Comma- or otherwise separated text as a table of text columns, strictly.

Files in which no field is quoted and all lines are alike go through polars' parser; any other file
goes through the standard library's, which can say in which line something is wrong.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns
from linkwise.text_files import allow_long_cells, check_unique, cut_separator_line, decode, split_records
from linkwise.wording import count_noun

if TYPE_CHECKING:
    import polars as pl

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_DETECTION_CHARACTERS = 1_000_000  # characters looked at to find the delimiter
_CHUNK = 1_000_000  # cells turned into columns at a time, to bound the memory that Python texts take


def read_delimited(
    raw: bytes, delimiter: str | None, tabs_first: bool
) -> tuple[pl.DataFrame, str, list[str]]:
    """Parse delimited text.

    Parameters
    ----------
    raw : bytes
        The file, UTF-8 with or without byte order mark.
    delimiter : str or None
        One character; None to detect it.
    tabs_first : bool
        Whether tabs win if several delimiters fit equally well.

    Returns
    -------
    frame : polars.DataFrame of shape (n_rows, n_columns)
        All cells as text, null where a field is empty.
    delimiter : str
        The character between fields.
    notes : list of str
        Sentences on the choices made.

    Raises
    ------
    DataError
        The file is empty or not UTF-8, or a line does not fit the first one.
    """
    named, text = cut_separator_line(decode(raw))
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    if not text.strip():
        raise DataError("The file is empty. Write a line of column names, then a line for each row.")
    notes = []
    if named is not None:
        notes.append(f"The first line names the delimiter: {named!r}.")
        delimiter = delimiter or named
    if delimiter is None:
        with allow_long_cells():
            delimiter = detect_delimiter(text, tabs_first)
    elif len(delimiter) != 1 or delimiter in '"\r\n':
        raise DataError(
            f"delimiter={delimiter!r} is not one character. Use a comma, a tab or another character."
        )
    with allow_long_cells():
        header, header_line = _read_header(text, delimiter)
    check_columns(len(header))
    names, name_notes = name_columns(header)
    if len(names) > 1:
        notes.append(f"Columns are separated by {DELIMITERS.get(delimiter, repr(delimiter))}.")
    notes += name_notes
    check_cells(raw.count(b"\n") - raw.endswith(b"\n"), len(names))
    if header_line == 1 and _is_plain(raw, delimiter, len(names)):
        return _plain_frame(raw, delimiter, names), delimiter, notes
    with allow_long_cells():
        frame, n_blank = _careful_frame(text, delimiter, names)
    n_blank -= named is not None
    if n_blank:
        notes.append(f"{count_noun(n_blank, 'empty line')} skipped.")
    return frame, delimiter, notes


def detect_delimiter(text: str, tabs_first: bool) -> str:
    """The delimiter that cuts the first hundred lines most evenly, and into most fields."""
    if len(text) > _DETECTION_CHARACTERS:
        text = text[: text.rfind("\n", 0, _DETECTION_CHARACTERS) + 1 or _DETECTION_CHARACTERS]
    order = sorted(DELIMITERS, key=lambda mark: mark != "\t") if tabs_first else list(DELIMITERS)

    def evenness(delimiter: str) -> tuple[float, int]:
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
            rows = [row for row in islice(reader, 100) if row]
        except csv.Error:
            return 0.0, 0
        if not rows:
            return 0.0, 0
        width = len(rows[0])
        alike = sum(len(row) == width for row in rows) / len(rows)
        return (alike, width) if width > 1 else (0.0, 0)

    return max(order, key=evenness)


def _read_header(text: str, delimiter: str) -> tuple[list[str], int]:
    line, row = next((line, row) for line, row in split_records(text, delimiter) if row)
    return row, line


def name_columns(header: list[str]) -> tuple[list[str], list[str]]:
    """Column names, with one made up where there is none."""
    names = [name.strip() or f"column {number}" for number, name in enumerate(header, 1)]
    check_unique(names, " The first line must hold the column names; does the file have none?")
    notes = [
        f"Column number {number} has no name: it is called '{name}'."
        for number, (name, given) in enumerate(zip(names, header, strict=True), 1)
        if not given.strip()
    ]
    if all(_is_number(name) for name in names) and names != [str(number) for number in range(len(names))]:
        notes.append("The first line is taken as column names, but it is all numbers: is it one of the rows?")
    return names, notes


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _is_plain(raw: bytes, delimiter: str, width: int) -> bool:
    """Whether lines and delimiters alone cut the text: no quotes, and `width` fields in every line."""
    if width == 1 or b'"' in raw or raw.count(b"\r") != raw.count(b"\r\n") or not delimiter.isascii():
        return False
    marks = np.frombuffer(raw, dtype=np.uint8)
    ends = np.flatnonzero(marks == ord("\n"))
    if not raw.endswith(b"\n"):
        ends = np.append(ends, marks.size)
    up_to_end = np.searchsorted(np.flatnonzero(marks == ord(delimiter)), ends)
    return bool(np.all(np.diff(up_to_end, prepend=0) == width - 1))


def _plain_frame(raw: bytes, delimiter: str, names: list[str]) -> pl.DataFrame:
    import polars as pl

    if raw.count(b"\n") == 0 or not raw.partition(b"\n")[2]:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    frame = pl.read_csv(
        raw, has_header=False, skip_rows=1, separator=delimiter, quote_char=None, infer_schema=False
    )
    frame.columns = names
    return frame


def _careful_frame(text: str, delimiter: str, names: list[str]) -> tuple[pl.DataFrame, int]:
    import polars as pl

    blank = []

    def checked() -> Iterator[list[str | None]]:
        for line, row in split_records(text, delimiter):
            if not row:
                blank.append(line)
            elif len(row) != len(names):
                raise DataError(
                    f"Line {line} has {count_noun(len(row), 'field')}, but the first line names"
                    f" {count_noun(len(names), 'column')}. Fix the line, or set --delimiter."
                )
            else:
                yield [field or None for field in row]

    records = checked()
    next(records)
    schema = dict.fromkeys(names, pl.String)
    parts = [pl.DataFrame(schema=schema)]
    while chunk := list(islice(records, max(1, _CHUNK // len(names)))):
        parts.append(pl.DataFrame(dict(zip(names, zip(*chunk, strict=True), strict=True)), schema=schema))
    n_blank = len(blank) - _trailing_text(text, blank)
    return pl.concat(parts), n_blank


def _trailing_text(text: str, blank: list[int]) -> int:
    """Count the empty lines at the end of the file, which no note mentions."""
    last = text.rstrip("\r\n").count("\n") + 1
    return sum(line > last for line in blank)
