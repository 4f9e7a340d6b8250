"""Comma- or otherwise separated text as a table of text columns, strictly.

Files in which no field is quoted and all lines are alike go through polars' parser; any other file
goes through the standard library's, which can say in which line something is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns
from linkwise.text_files import allow_long_cells, cut_separator_line, decode, split_records
from linkwise.wording import count_noun, join_names, shorten

if TYPE_CHECKING:
    import polars as pl

# ---------------------------------------------------------------- where the table begins
# Find where a table begins in a text file: lines before it, and whether its first line holds names.
#
# A choice is made only where the other one is no table: lines before a table have another number of fields
# than all that follow, and a first line is a row only if its numbers cannot be names.
LOOK = 1000  # records that are looked at
MOST_LINES = 60  # before a table
_LEAST_ROWS = 3  # of a table behind other lines
LEAST_SAMPLES = 12  # of a curve
_MOST_CLASSES = 60
LEAST_WORDS = 4  # of a sentence; a name of a column has fewer
_DIGIT = re.compile(r"\d+")
_MOMENT = re.compile(r"\d{1,4}([-/.:]\d{1,2}){2}\.?([ T]\d.*)?")  # a date, with or without a time, or a time
_SMOOTH = 0.4  # neighbouring samples differ by less than this share of any two
_GAPS = ("", "?", "na", "nan", "n/a", "null", "none", "-")

Record = tuple[int, list[str]]  # the number of its first line, and its fields


class Layout(NamedTuple):
    """Where the table of a text file begins, and whether its first line is a row.

    With `has_row_names` each row begins with a name that has no column name, as R writes tables.
    """

    skip_lines: int
    no_header: bool
    has_row_names: bool


def first_records(text: str, delimiter: str) -> list[Record]:
    """The first records that are not empty, with the numbers of their first lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    found: list[Record] = []
    line = 1
    try:
        for row in islice(reader, LOOK):
            if row:
                found.append((line, row))
            line = reader.line_num + 1
    except csv.Error:  # reading the table says what is wrong
        pass
    return found


def find_layout(records: Sequence[Record]) -> Layout:
    """Find where a table begins in its first records that are not empty. Only certain choices are made."""
    start = _find_start(records)
    if start is None:
        return Layout(0, False, True)
    line, first = records[start]
    return Layout(line - 1 if start else 0, is_row(first, [row for _, row in records[start + 1 :]]), False)


def _find_start(records: Sequence[Record]) -> int | None:
    """The record with which the table begins; None if it is the first one, without a name for row names."""
    if len(records) < _LEAST_ROWS + 1:
        return 0
    widths = [len(row) for _, row in records]
    width = Counter(widths).most_common(1)[0][0]
    start = widths.index(width)
    if start == 0 or start > MOST_LINES or width < 2 or len(widths) - start < _LEAST_ROWS:
        return 0
    if any(one != width for one in widths[start:]) or max(widths[:start]) > width:
        return 0
    rows = [row for _, row in records[start:]]
    if start == 1 and widths[0] == width - 1 > 1:  # R writes no name above the names of rows
        names = [row[0] for row in rows]
        return None if len(set(names)) == len(names) and all(names) else 0
    return 0 if is_row(rows[0], rows[1:]) and max(widths[:start]) >= width / 2 else start


def is_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is certainly a row: its numbers lie among those below, and are no names.

    Names may be numbers that rise, such as years. Texts of a row are found again in other rows, are dates
    among dates, or sentences among sentences.
    """
    rows = [row for row in rows if len(row) == len(first)]
    if len(rows) < _LEAST_ROWS:
        return False
    columns = list(zip(*rows, strict=True))
    below = [_read_numbers(column) for column in columns]
    numeric = [at for at, numbers in enumerate(below) if numbers is not None]
    texts = [at for at in range(len(first)) if at not in numeric and first[at].strip()]
    names = [_read_number(first[at]) for at in numeric if first[at].strip().casefold() not in _GAPS]
    known = [name for name in names if name is not None]
    again = sum(_is_like(first[at], columns[at]) for at in texts)
    if not numeric:
        has_class = any(first[at] in columns[at] for at in texts)
        return has_class and again == len(texts) == len(first) > 1
    if not known or len(known) < len(names):
        return False
    for at, name in zip([at for at in numeric if _read_number(first[at]) is not None], known, strict=True):
        low, high = min(below[at] or [name]), max(below[at] or [name])
        if not low - (high - low) <= name <= high + (high - low):
            return False
    if _may_be_names(known):
        return bool(texts) and again == len(texts) and len(known) < 3
    if any("." in first[at] for at in numeric):
        return len(known) > 1 or again == len(texts)
    return again == len(texts)


def _is_like(text: str, below: Sequence[str]) -> bool:
    """Whether a text is found again below, or is a date or a sentence as the texts there are."""
    if text in below or _is_sentence(text, below):
        return True
    form = _DIGIT.sub("0", text.strip())
    is_moment = _MOMENT.fullmatch(text.strip()) is not None
    return is_moment and all(_DIGIT.sub("0", other.strip()) == form for other in below)


def _is_sentence(text: str, below: Sequence[str]) -> bool:
    """Whether a text has many words, as the texts below it have."""
    n_words = sum(len(other.split()) for other in below) / len(below)
    return min(n_words, len(text.split())) >= LEAST_WORDS


def _may_be_names(numbers: Sequence[float]) -> bool:
    """Whether numbers rise or fall, as names of columns do: whole ones, or in even steps."""
    steps = [b - a for a, b in pairwise(numbers)]
    if len(steps) > 1 and steps[0] < 0:
        steps = [-step for step in steps]
    if not all(step > 0 for step in steps):
        return False
    return all(number == int(number) for number in numbers) or (
        len(steps) > 1 and max(steps) < min(steps) * 1.01
    )


def _read_number(text: str) -> float | None:
    text = text.strip()
    try:
        number = float(text.replace(",", ".")) if text.count(",") == 1 else float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) and "_" not in text else None


def _read_numbers(cells: Sequence[str]) -> list[float] | None:
    """The numbers of a column; None if a cell is something else or there are fewer than two."""
    known = [cell for cell in cells if cell.strip().casefold() not in _GAPS]
    numbers = [number for cell in known if (number := _read_number(cell)) is not None]
    return numbers if len(numbers) == len(known) > 1 else None


def name_unnamed(rows: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """Names for columns without any, and whether the first holds the class of the curve in the others.

    Archives of time series write the class of each curve first.
    """
    width = len(rows[0])
    if is_labelled_curves(rows):
        return ["class", *(f"t{number}" for number in range(1, width))], True
    return [f"field {number}" for number in range(1, width + 1)], False


def is_labelled_curves(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row is the number of a class, and then a smooth curve."""
    rows = [row for row in rows if len(row) == len(rows[0])]
    if len(rows) < 2 or len(rows[0]) <= LEAST_SAMPLES:
        return False
    labels = Counter(_read_number(row[0]) for row in rows)
    if None in labels or any(label != int(label) for label in labels if label is not None):
        return False
    if len(labels) > min(_MOST_CLASSES, len(rows) / 2):
        return False
    try:
        X = np.array([[float(cell) for cell in row[1:]] for row in rows])
    except ValueError:
        return False
    return are_smooth(X[np.isfinite(X).all(axis=1)])


def are_smooth(X: np.ndarray) -> bool:
    """Whether neighbouring values in the rows of `X` are far more alike than any two values of a row."""
    if len(X) < 2:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        between_neighbours, between_any = np.square(np.diff(X, axis=1)).mean(), 2 * X.var(axis=1).mean()
    return bool(between_neighbours < _SMOOTH * between_any < np.inf)


# ---------------------------------------------------------------- text with a delimiter
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
_DETECTION_CHARACTERS = 1_000_000  # characters looked at to find the delimiter
_CHUNK = 1_000_000  # cells turned into columns at a time, to bound the memory that Python texts take
_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")
_LINE_REST = re.compile(r"[ \t]+(?=\r|\n|\Z)")
_SPACES = re.compile(r'"(?:[^"]|"")*"|[ \t]*(\r\n|\r|\n)[ \t]*|[ \t]+')
_LEAST_WRAPPED = 3  # lines
_MOST_UNEVEN = 0.9  # share of lines that another delimiter may cut into the same number of fields


class DelimitedTable(NamedTuple):
    """A table from a text file, all cells as text, null where a field is empty; and how it was read.

    A space as the delimiter stands for any number of spaces and tabs. `no_header` is True if the first
    line is a row. `is_plain` tells whether each row is a line of the file, and each column has its name
    there.
    """

    frame: pl.DataFrame
    delimiter: str
    notes: list[str]
    skip_lines: int | None = None
    no_header: bool | None = None
    is_plain: bool = True
    n_below: int = 0  # lines below the table


def read_delimited(
    raw: bytes,
    delimiter: str | None,
    tabs_first: bool,
    *,
    skip_lines: int | None = None,
    no_header: bool | None = None,
) -> DelimitedTable:
    """Parse delimited text in UTF-8, with or without a byte order mark.

    What is not given is detected: the delimiter, where tabs win among equals if `tabs_first`; the lines
    before the table, which have another width; and whether the first line is a row, where that is
    certain. Raises `DataError` with the number of a line that does not fit.
    """
    named, text = cut_separator_line(decode(raw))
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    text = skip_text(text, skip_lines) if skip_lines else text
    if not text.strip():
        raise DataError("The file is empty. Write a line of column names, then a line for each row.")
    notes = [] if named is None else [f"The first line names the delimiter: {named!r}."]
    is_wrapped = (bare := _unwrap_lines(text)) is not None
    if bare is not None:
        text = bare
        raw = bare.encode()
        notes.append("Each line is a single quoted field, so it is read without these quotes.")
    delimiter = _choose_delimiter(text, named if delimiter is None else delimiter, tabs_first)
    text = _unify_spaces(text) if delimiter == " " else text
    with allow_long_cells():
        header = _find_header(text, delimiter, skip_lines, no_header)
    layout, names = header.layout, header.names
    check_columns(len(names))
    if len(names) > 1:
        notes.append(f"Columns are separated by {DELIMITERS.get(delimiter, repr(delimiter))}.")
    notes += header.notes
    n_skipped = skip_lines or layout.skip_lines
    if layout.skip_lines:
        text = skip_text(text, n_skipped)
    check_cells(raw.count(b"\n") - raw.endswith(b"\n"), len(names))

    def finish(whole: pl.DataFrame, below: list[str]) -> DelimitedTable:
        frame, more = _cut_below(whole)
        if n_empty := len(whole) - len(frame) - len(more):
            notes.append(f"{count_noun(n_empty, 'empty row')} at the end skipped.")
        if below := [*more, *below]:
            notes.append(describe_below(below))
        is_plain = not (layout.has_row_names or is_wrapped or below) and len(frame) == len(whole)
        skipped, unnamed = n_skipped or skip_lines, layout.no_header or no_header
        return DelimitedTable(frame, delimiter, notes, skipped, unnamed, is_plain, len(below))

    if header.line == n_skipped + 1 and not layout.has_row_names and delimiter != " ":
        rest = text[n_skipped:].encode() if n_skipped else raw
        if _is_plain(rest, delimiter, len(names)):
            return finish(_plain_frame(rest, delimiter, names, with_first=layout.no_header), [])
    with allow_long_cells():
        frame, n_blank, below = _careful_frame(text, delimiter, names, with_first=layout.no_header)
    n_blank -= n_skipped + (named is not None and not n_skipped)
    if n_blank > 0:
        notes.append(f"{count_noun(n_blank, 'empty line')} skipped.")
    return finish(frame, below)


def _cut_below(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Cut off the rows behind the last complete one, from an empty row on, if only the first column goes on.

    Returns the texts that stand there, such as a source. Spreadsheet programs write them with all delimiters.
    """
    import polars as pl

    if frame.width < 2 or not len(frame):
        return frame, []
    n_cells = frame.select(pl.sum_horizontal(pl.all().is_not_null())).to_series().to_numpy()
    is_alone = (n_cells == 1) & frame.to_series(0).is_not_null().to_numpy()
    start = int(np.flatnonzero((n_cells > 0) & ~is_alone).max(initial=-1)) + 1
    empty = np.flatnonzero(n_cells[start:] == 0)
    if not start or not len(empty):
        return frame, []
    end = start + int(empty[0])
    return frame.head(end), frame.to_series(0)[end:].drop_nulls().to_list()


def describe_below(texts: Sequence[str]) -> str:
    """Say what stands below a table and is no row of it."""
    verb = "is" if len(texts) == 1 else "are"
    shown = join_names((repr(shorten(text, 60)) for text in texts), 3)
    return f"{count_noun(len(texts), 'line')} below the table {verb} left out: {shown}."


def _unwrap_lines(text: str) -> str | None:
    """The text without the quotes around whole lines; None if some line is not quoted as a whole.

    Spreadsheet programs write such lines if they opened a file with another delimiter. Within the quotes some
    delimiter cuts all lines into the same number of fields, the line of names too.
    """
    lines = [line for line in _LINE_END.split(text) if line]
    if not all(len(line) > 2 and line[0] == line[-1] == '"' for line in lines):
        return None
    bare = [line[1:-1] for line in lines]
    if any('"' in line.replace('""', "") for line in bare):
        return None
    bare = [line.replace('""', '"') for line in bare]
    whole = "\n".join(bare)
    with allow_long_cells():
        is_cut = any(_evenness(whole, mark)[0] == 1 for mark in _order(tabs_first=False))
    return whole if is_cut and len(lines) > _LEAST_WRAPPED else None


def _choose_delimiter(text: str, given: str | None, tabs_first: bool) -> str:
    """The delimiter that is given, or the one that cuts the text best."""
    if given is None:
        with allow_long_cells():
            found = detect_delimiter(text, tabs_first)
            bare = _LINE_REST.sub("", _first_lines(text))
            return " " if _is_spaced(text, *_evenness(bare, found)) else found
    if len(given) != 1 or given in '"\r\n':
        raise DataError(f"delimiter={given!r} is not one character. Use a comma, a tab or another character.")
    return given


class _Header(NamedTuple):
    """The names of the columns, where the table begins, and sentences about both."""

    names: list[str]
    line: int  # the first line of the table, counted from 1
    layout: Layout
    notes: list[str]


def _find_header(text: str, delimiter: str, skip_lines: int | None, no_header: bool | None) -> _Header:
    """Find the names of the columns; call it within `allow_long_cells`."""
    records = first_records(text[:_DETECTION_CHARACTERS], delimiter)
    layout = Layout(0, bool(no_header), False)
    if skip_lines is None and not no_header:
        layout = find_layout(records)
    notes = [describe_skipped(layout.skip_lines)] if layout.skip_lines else []
    header, line = _read_header(text, delimiter, layout.skip_lines)
    if layout.has_row_names:
        header = ["row" if "row" not in header else "row name", *header]
        notes.append(f"The first column has no name: it is called '{header[0]}'.")
    if layout.no_header:
        rows = [row for at, row in records if at >= line]
        names, has_classes = name_unnamed(rows or [header])
        return _Header(names, line, layout, [*notes, describe_unnamed(names, has_classes, bool(no_header))])
    names, more = name_columns(header)
    return _Header(names, line, layout, [*notes, *more])


def skip_text(text: str, n_lines: int) -> str:
    """The text with empty lines in place of its first lines, so that line numbers stay."""
    ends = [end.end() for end in islice(_LINE_END.finditer(text), n_lines)]
    if len(ends) < n_lines:
        raise DataError(
            f"The file has {count_noun(len(ends) + 1, 'line')}, and {n_lines} are to be skipped. Set a"
            " smaller number: --skip-lines N"
        )
    return "\n" * n_lines + text[ends[-1] :]


def describe_skipped(n_lines: int) -> str:
    """Say which lines before a table are skipped."""
    lines = "Line 1 is" if n_lines == 1 else f"Lines 1 to {n_lines} are"
    return (
        f"{lines} skipped, because the table begins in line {n_lines + 1}. Add --skip-lines 0 to begin at the"
        " first line (in Python, skip_lines=0)."
    )


def describe_unnamed(names: list[str], has_classes: bool, was_given: bool) -> str:
    """Say what columns without names are called."""
    called = f"The columns are called {names[0]!r}" + (f" to {names[-1]!r}." if len(names) > 1 else ".")
    if has_classes:
        called = "The first column is called 'class', because the others are curves."
    if was_given:
        return called
    return (
        f"The first line is a row, because its values are like those below it. {called} Add --skip-lines 0 if"
        " it holds names (in Python, skip_lines=0)."
    )


def _unify_spaces(text: str) -> str:
    """One space for any number of spaces and tabs between fields, and none at the ends of lines."""

    def shorten_spaces(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else found[1] or " "

    return _SPACES.sub(shorten_spaces, text).strip(" ")


def _is_spaced(text: str, evenness: float, width: int) -> bool:
    """Whether spaces cut the text better than a delimiter that cuts it so evenly, into so many fields.

    They cut all lines into the same number of fields, of which one is always a number.
    """
    some = _first_lines(text)
    if evenness >= _MOST_UNEVEN and not ("\t" in some and "  " in some):
        return False
    rows = [row for _, row in first_records(_unify_spaces(some), " ")][:100]
    widths = {len(row) for row in rows[1:]}
    if len(rows) < 2 or len(widths) != 1 or min(len(rows[0]), len(rows[1])) < 2:
        return False
    if len(rows[1]) == 2 and "  " not in some and "\t" not in some:  # such as streets with their numbers
        return all(_is_number(cell) for row in rows[1:] for cell in row)
    if len(rows[0]) != len(rows[1]) and (evenness >= _MOST_UNEVEN or len(rows[0]) != len(rows[1]) - 1):
        return False
    if evenness >= _MOST_UNEVEN and len(rows[1]) <= width:
        return False
    return any(all(_is_number(cell) for cell in column) for column in zip(*rows[1:], strict=True))


def _first_lines(text: str) -> str:
    if len(text) <= _DETECTION_CHARACTERS:
        return text
    return text[: text.rfind("\n", 0, _DETECTION_CHARACTERS) + 1 or _DETECTION_CHARACTERS]


def detect_delimiter(text: str, tabs_first: bool) -> str:
    """The delimiter that cuts the first hundred lines most evenly, and into most fields."""
    return max(_order(tabs_first), key=partial(_evenness, _first_lines(text)))


def cuts_evenly(text: str) -> bool:
    """Whether a delimiter, or spaces, cut most lines into the same number of fields."""
    with allow_long_cells():
        evenness, width = max(_evenness(_first_lines(text), mark) for mark in _order(tabs_first=False))
        return evenness >= _MOST_UNEVEN or _is_spaced(text, evenness, width)


def _order(tabs_first: bool) -> list[str]:
    marks = [mark for mark in DELIMITERS if mark != " "]
    return sorted(marks, key=lambda mark: mark != "\t") if tabs_first else marks


def _evenness(text: str, delimiter: str) -> tuple[float, int]:
    """The share of lines with the usual number of fields, and that number; zeros if it is 1."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        widths = Counter(len(row) for row in islice(reader, 100) if row)
    except csv.Error:
        return 0.0, 0
    width, n_alike = max(widths.items(), key=lambda one: (one[1], one[0]), default=(0, 0))
    return (n_alike / widths.total(), width) if width > 1 else (0.0, 0)


def _read_header(text: str, delimiter: str, n_skipped: int) -> tuple[list[str], int]:
    records = split_records(text, delimiter)
    line, row = next((line, row) for line, row in records if row and line > n_skipped)
    return row, line


def name_columns(header: list[str]) -> tuple[list[str], list[str]]:
    """Column names in one line, with one made up where there is none, and numbers where one occurs twice."""
    header = [_LINE_BREAK.sub(" ", name) for name in header]
    notes = []
    names: list[str] = []
    given_names = {name.strip() for name in header}
    taken: set[str] = set()
    counts: Counter[str] = Counter()
    for number, given in enumerate(header, 1):
        name = usual = given.strip() or f"column {number}"
        while name in taken or (name != usual and name in given_names):
            counts[usual] += 1
            name = f"{usual}_{counts[usual] + 1}"
        taken.add(name)
        names.append(name)
        if not given.strip():
            notes.append(f"Column number {number} has no name: it is called '{name}'.")
    again = [name for name, given in zip(names, header, strict=True) if given.strip() not in ("", name)]
    if again:
        notes.append(
            f"Names that occur twice have a number: {join_names(again)}. If the first line is a row, add"
            " --no-header (in Python, no_header=True)."
        )
    if all(_is_number(name) for name in names) and names != [str(number) for number in range(len(names))]:
        notes.append(
            "The first line is taken as column names, but it is all numbers. If it is a row, add --no-header"
            " (in Python, no_header=True)."
        )
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


def _plain_frame(raw: bytes, delimiter: str, names: list[str], *, with_first: bool = False) -> pl.DataFrame:
    import polars as pl

    if not with_first and (raw.count(b"\n") == 0 or not raw.partition(b"\n")[2]):
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    frame = pl.read_csv(
        raw,
        has_header=False,
        skip_rows=0 if with_first else 1,
        separator=delimiter,
        quote_char=None,
        infer_schema=False,
    )
    frame.columns = names
    return frame


def _careful_frame(
    text: str, delimiter: str, names: list[str], *, with_first: bool = False
) -> tuple[pl.DataFrame, int, list[str]]:
    """The rows, the number of empty lines between them, and the texts below the table."""
    import polars as pl

    blank: list[int] = []
    below: list[tuple[int, list[str]]] = []
    is_header = not with_first

    def refuse(line: int, row: list[str]) -> DataError:
        return DataError(
            f"Line {line} has {count_noun(len(row), 'field')}, but the first line names"
            f" {count_noun(len(names), 'column')}. Fix the line, or set --delimiter."
        )

    def checked() -> Iterator[list[str | None]]:
        nonlocal is_header
        for line, row in split_records(text, delimiter):
            if not row:
                blank.append(line)
            elif is_header:
                is_header = False
            elif len(row) == 1 < len(names) and (below or line - 1 in blank[-1:]):
                below.append((line, row))
            elif below or len(row) != len(names):
                raise refuse(*(below[0] if below else (line, row)))
            else:
                yield [field or None for field in row]

    records = checked()
    schema = dict.fromkeys(names, pl.String)
    parts = [pl.DataFrame(schema=schema)]
    while chunk := list(islice(records, max(1, _CHUNK // len(names)))):
        parts.append(pl.DataFrame(dict(zip(names, zip(*chunk, strict=True), strict=True)), schema=schema))
    end = below[0][0] - 1 if below else text.rstrip("\r\n").count("\n") + 1
    n_blank = sum(line < end for line in blank)
    frame = pl.concat(parts)
    if below and not len(frame):
        raise refuse(*below[0])
    return frame, n_blank, [row[0] for _, row in below]
