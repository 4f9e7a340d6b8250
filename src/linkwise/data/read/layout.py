"""Find where a table begins in a text file: lines before it, and whether its first line holds names.

A choice is made only where the other one is no table: lines before a table have another number of fields than
all that follow, and a first line is a row only if its numbers cannot be names.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

LOOK = 1000  # records that are looked at
MOST_LINES = 60  # before a table
_LEAST_ROWS = 3  # of a table behind other lines
_LEAST_SAMPLES = 12  # of a curve
_MOST_CLASSES = 60
LEAST_WORDS = 4  # of a sentence; a name of a column has fewer
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

    Names may be numbers that rise, such as years. Texts of a row are found again in other rows, or are
    sentences among sentences.
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
    again = sum(first[at] in columns[at] or _is_sentence(first[at], columns[at]) for at in texts)
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


def _is_sentence(text: str, below: Sequence[str]) -> bool:
    """Whether a text has many words, as the texts below it have."""
    n_words = sum(len(other.split()) for other in below) / len(below)
    return min(n_words, len(text.split())) >= LEAST_WORDS


def _may_be_names(numbers: Sequence[float]) -> bool:
    """Whether numbers rise or fall evenly, or are whole and rise, as names of columns do."""
    steps = [b - a for a, b in pairwise(numbers)]
    if not all(step > 0 for step in steps):
        return bool(steps) and all(step < 0 for step in steps) and len(steps) > 1
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
    if len(rows) < 2 or len(rows[0]) <= _LEAST_SAMPLES:
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
