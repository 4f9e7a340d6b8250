"""Merged cells of a spreadsheet: their value in each of them, and column names in several rows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from linkwise.errors import DataError
from linkwise.wording import count_noun, join_names

MOST_HEADER_ROWS = 4  # a merged cell that is taller stands beside the table

_SPAN = re.compile(
    rb"<(?:\w+:)?mergeCell\s+ref\s*=\s*[\"']([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})[\"']"
)

Columns = list[list[Any]]


class MergedRange(NamedTuple):
    """A range of merged cells such as ``B2:C4``, with its rows and columns in the sheet, counted from 1."""

    name: str
    rows: range
    columns: range


class UnmergedCells(NamedTuple):
    """The columns of a sheet without merged cells, each with its name first.

    The first `n_header` rows have names. `copies` are the columns that have a name of merged cells which
    begin further left.
    """

    columns: Columns
    n_header: int
    copies: set[int]
    notes: list[str]


def find_merged_ranges(part: bytes) -> list[MergedRange]:
    """Find the merged cells in the XML of a sheet, which openpyxl does not report while it streams rows."""
    found = []
    for left, top, right, bottom in _SPAN.findall(part):
        rows = range(int(top), int(bottom) + 1)
        columns = range(_column_number(left), _column_number(right) + 1)
        if len(rows) * len(columns) > 1:
            found.append(
                MergedRange(f"{left.decode()}{int(top)}:{right.decode()}{int(bottom)}", rows, columns)
            )
    return sorted(found, key=lambda merged: (merged.rows.start, merged.columns.start))


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def fill_merged_ranges(
    columns: Columns, places: Sequence[int], numbers: Sequence[int], ranges: Sequence[MergedRange]
) -> UnmergedCells:
    """Put the value of merged cells into each of them, also into column names. The columns are changed.

    `places` and `numbers` are the column and the row of the sheet that each column and row is, counted
    from 1. Merged cells over all columns keep their value in the first one: they are headings. If the
    column names stand in several rows, those of a column are joined.
    """
    parts = [(merged, _cut(numbers, merged.rows), _cut(places, merged.columns)) for merged in ranges]
    parts = [(merged, rows, at) for merged, rows, at in parts if rows and at and len(rows) * len(at) > 1]
    if sum(len(rows) * len(at) for _, rows, at in parts) > len(columns) * len(numbers):
        raise DataError("Merged cells overlap each other. Split them in a spreadsheet program.")
    in_header = [(rows, at) for _, rows, at in parts if rows.start == 0]
    n_header = max((len(rows) for rows, _ in in_header if len(rows) <= MOST_HEADER_ROWS), default=1)
    wide = [at for _, at in in_header if len(at) > 1]
    if n_header == 1 and wide and _has_second_header(columns, [one for at in wide for one in at]):
        n_header = 2
    filled, headings = [], []
    copies: set[int] = set()
    for merged, rows, at in parts:
        if len(at) == len(columns) > 1:
            headings.append(merged.name)
            continue
        if numbers[rows.start] != merged.rows.start or places[at.start] != merged.columns.start:
            continue  # its first cell is in a row or a column without any value
        value = columns[at.start][rows.start]
        if value is None or value == "":
            continue
        for one in at:
            columns[one][rows.start : rows.stop] = [value] * len(rows)
        filled.append(merged.name)
        if rows.start == 0:
            copies.update(at[1:])
    notes = []
    if filled:
        notes.append(f"Merged cells have their value in each cell: {join_names(filled)}.")
    if headings:
        notes.append(
            f"Merged cells over all columns have their value in the first one alone: {join_names(headings)}."
            " If they are headings, delete these rows."
        )
    return UnmergedCells(columns, n_header, copies, notes)


def _cut(numbers: Sequence[int], within: range) -> range:
    """The positions of the ascending numbers that are in a range."""
    return range(bisect_left(numbers, within.start), bisect_left(numbers, within.stop))


def _has_second_header(columns: Columns, merged: Sequence[int]) -> bool:
    """Whether the second row names the merged columns: it has different texts, and numbers stand below."""
    second = [column[1] if len(column) > 1 else None for column in columns]
    names = [cell for cell in second if cell is not None and cell != ""]
    if not all(isinstance(cell, str) for cell in names) or len(set(names)) < len(names):
        return False
    is_number_below = [any(isinstance(cell, (int, float)) for cell in columns[at][2:]) for at in merged]
    return all(second[at] in names for at in merged) and any(is_number_below)


def join_header(header: Sequence[Sequence[str]], copies: Collection[int]) -> tuple[list[str], list[str]]:
    """Join the names of each column from several rows, and number those with the name of another.

    Returns the names, empty if there is none, and sentences about the choices. `copies` is as in
    `UnmergedCells`.
    """
    joined = [" ".join(dict.fromkeys(text for text in texts if text.strip())) for texts in header]
    names: list[str] = []
    for at, name in enumerate(joined):
        number, unique = 2, name
        while at in copies and unique in names:
            unique, number = f"{name} {number}", number + 1
        names.append(unique)
    notes = []
    n_rows = max(map(len, header))
    if n_rows > 1:
        both = next((name for name, texts in zip(names, header, strict=True) if name not in texts), names[0])
        notes.append(
            f"The column names stand in {count_noun(n_rows, 'row')} and are joined, such as {both!r}."
        )
    numbered = [name for name, before in zip(names, joined, strict=True) if name != before]
    if numbered:
        notes.append(f"Columns under one merged name have numbers: {join_names(numbered)}.")
    return names, notes
