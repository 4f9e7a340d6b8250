"""Files of pairs: read and written, one pair a line, rows by id or by position."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import TextIO

from linkwise.constraints.checks import CONSTRAINT_KINDS, ConstraintKind
from linkwise.errors import (
    ConstraintError,
    DataError,
)
from linkwise.text_files import read_records
from linkwise.wording import shorten

FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a cell begins that a spreadsheet would compute
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def index_ids(ids: Sequence[str]) -> dict[str, int]:
    """Row position of every id; ids must be unique."""
    position = {name: row for row, name in enumerate(ids)}
    if len(position) < len(ids):
        row = next(r for r, name in enumerate(ids) if position[name] != r)
        raise ConstraintError(
            f"the id {ids[row]!r} stands in rows {row} and {position[ids[row]]}; ids are unique"
        )
    return position


def escape_cell(text: str) -> str:
    """`text` for a cell of CSV: behind an apostrophe where a spreadsheet would take it for a formula."""
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def find_row(cell: str, position: Mapping[str, int]) -> int | None:
    """The row that a cell names, as `escape_cell` wrote it or plain; None if there is none."""
    if cell.startswith("'") and FORMULA.match(cell) and cell[1:] in position:
        return position[cell[1:]]
    return position.get(cell)


def write_pairs(
    target: str | os.PathLike[str] | TextIO, rows: Iterable[Sequence[str]], *, weighted: bool = False
) -> None:
    """Write ``id_a,id_b,kind`` lines, with a column of weights when there are any."""
    rows = [[escape_cell(cell) for cell in row] for row in rows]
    # up to Python 3.12 the writer leaves a carriage return bare, and the reader then ends the line there
    bare = any("\r" in cell for row in rows for cell in row)
    with ExitStack() as stack:
        if isinstance(target, (str, os.PathLike)):
            target = stack.enter_context(open(target, "w", newline="", encoding="utf-8"))
        writer = csv.writer(target, lineterminator="\n", quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL)
        writer.writerow(["id_a", "id_b", "kind", *(["weight"] if weighted else [])])
        writer.writerows(rows)


def read_pairs(
    path: str | os.PathLike[str], position: dict[str, int]
) -> Iterator[tuple[int, int, int, ConstraintKind, float]]:
    """Line number, row, row, kind and weight of every line of a CSV file of pairs."""
    name = os.fspath(path)
    try:
        records = read_records(path)
    except DataError as error:
        raise ConstraintError(f"{name}: {error}") from error
    if not records:
        raise ConstraintError(f"{name} is empty; its first line must be id_a,id_b,kind")
    header = [cell.strip() for cell in records[0][1]]
    missing = [h for h in ("id_a", "id_b", "kind") if h not in header]
    if missing:
        there = shorten(",".join(header), 200)
        raise ConstraintError(f"{name} line 1: no column {missing[0]!r} in {there!r}; wanted id_a,id_b,kind")
    for number, line in records[1:]:
        if not line:
            continue
        if len(line) != len(header):
            raise ConstraintError(f"{name} line {number}: {len(line)} values, {len(header)} columns")
        cells = dict(zip(header, line, strict=True))
        yield number, *_parse_pair(name, number, cells, position)


def _parse_pair(
    name: str, number: int, cells: dict[str, str], position: dict[str, int]
) -> tuple[int, int, ConstraintKind, float]:
    rows = []
    for column in ("id_a", "id_b"):
        row = find_row(cells[column], position)
        row = find_row(cells[column].strip(), position) if row is None else row
        if row is None:
            some = ", ".join(repr(shorten(known)) for known in islice(position, 2))
            raise ConstraintError(
                f"{name} line {number}: {column} {shorten(cells[column])!r} is not among the rows, which"
                f" are called {some}, …; mend the id, or name the column of such ids (--id, in Python ids=)"
            )
        rows.append(row)
    kind = next((k for k in CONSTRAINT_KINDS if k == cells["kind"].strip()), None)
    if kind is None:
        raise ConstraintError(
            f"{name} line {number}: kind {shorten(cells['kind'])!r};"
            f" allowed are {' and '.join(CONSTRAINT_KINDS)}"
        )
    written = cells.get("weight", "").strip() or "1"
    try:
        weight = float(written)
    except ValueError:
        raise ConstraintError(f"{name} line {number}: weight {shorten(written)!r} is no number") from None
    if not 0 < weight < float("inf"):
        raise ConstraintError(
            f"{name} line {number}: weight {shorten(written)!r}; weights are finite and above 0"
        )
    return rows[0], rows[1], kind, weight
