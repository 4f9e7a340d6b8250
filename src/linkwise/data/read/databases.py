"""Read a table of an SQLite database, or the rows of a query."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from linkwise.data.read.delimited import name_columns
from linkwise.data.read.json_lines import to_series
from linkwise.data.read.packed import describe_choice
from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns, check_expansion
from linkwise.wording import count_noun, join_names, shorten

if TYPE_CHECKING:
    import polars as pl

_MOST_STEPS = 2_000  # calls of `_count_steps`, each after a million steps of the database
_AT_ONCE = 10_000  # rows
_ALLOWED = {  # what a query may do; all else, such as to write or to open another file, fails
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


class DatabaseTable(NamedTuple):
    """A table of a database, in which a column of texts and other values is text.

    `part` is the name of the table, or the query; None if the database has one table only.
    """

    frame: pl.DataFrame
    part: str | None
    notes: list[str]


def read_database(raw: bytes, part: str | None = None) -> DatabaseTable:
    """Read a table or a view, the result of a query, or by default the table with most cells."""
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            # a database in WAL mode cannot be opened in memory; the mode changes nothing that is in the file
            database.deserialize(raw[:18] + b"\1\1" + raw[20:] if raw[18:20] == b"\2\2" else raw)
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            steps = [0]

            def count_steps() -> bool:
                steps[0] += 1
                return steps[0] > _MOST_STEPS

            database.set_progress_handler(count_steps, 1_000_000)
            database.set_authorizer(lambda action, *_: 0 if action in _ALLOWED else 1)
            tables = _list_tables(database)
            is_query = part is not None and part.split(maxsplit=1)[:1] != [] and part not in tables
            is_query = is_query and str(part).split(maxsplit=1)[0].upper() in ("SELECT", "WITH")
            name, notes = (None, list[str]()) if is_query else _choose_table(database, tables, part)
            query = str(part) if name is None else f"SELECT * FROM {_quote(name)}"
            part = part if name is None else name if len(tables) > 1 else None
            found = _read_rows(database, query, part, len(raw))
            return found._replace(notes=[*notes, *found.notes])
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        way_out = "Fix the query in --sheet." if part else "Save the table as CSV and use that file."
        raise DataError(f"The database cannot be read: {shorten(str(error), 200)}. {way_out}") from None


def _list_tables(database: sqlite3.Connection) -> list[str]:
    rows = database.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    )
    return [name for (name,) in rows]


def _choose_table(
    database: sqlite3.Connection, tables: Sequence[str], part: str | None
) -> tuple[str, list[str]]:
    """The table that was asked for, or the one with most cells, and a note if there are others."""
    if not tables:
        raise DataError("The database has no table. Pass a database that has one.")
    if part in tables:
        return str(part), []
    if part is not None:
        raise DataError(
            f"There is no table {part!r}. Its tables are {join_names(map(repr, tables), 20)}. Add --sheet"
            ' NAME to read one of them, or --sheet "SELECT ..." to join some (in Python, sheet="...").'
        )
    if len(tables) == 1:
        return tables[0], []
    chosen = max(tables, key=partial(_count_cells, database))
    note = describe_choice(f"Table {chosen!r}", len(tables), [name for name in tables if name != chosen])
    return chosen, [f'{note} --sheet "SELECT ..." joins some.']


def _count_cells(database: sqlite3.Connection, name: str) -> int:
    found = database.execute(f"SELECT * FROM {_quote(name)} LIMIT 0")
    (n_rows,) = database.execute(f"SELECT COUNT(*) FROM {_quote(name)}").fetchone()
    return int(n_rows) * len(found.description)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _read_rows(database: sqlite3.Connection, query: str, part: str | None, n_bytes: int) -> DatabaseTable:
    import polars as pl

    found = database.execute(query)
    if found.description is None:
        raise DataError('The query returns no rows. Pass one that selects columns: --sheet "SELECT ..."')
    names, notes = name_columns([str(column[0]) for column in found.description])
    check_columns(len(names))
    rows = []
    while some := found.fetchmany(_AT_ONCE):
        rows += some
        check_cells(len(rows), len(names))
        check_expansion(8 * len(rows) * len(names), n_bytes)
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    cells = {name: list(column) for name, column in zip(names, columns, strict=True)}
    blobs = [name for name, column in cells.items() if any(isinstance(cell, bytes) for cell in column)]
    if blobs:
        notes.append(f"{count_noun(len(blobs), 'column')} of bytes left out: {join_names(blobs)}.")
    frame = pl.DataFrame([to_series(name, cells[name]) for name in names if name not in blobs])
    return DatabaseTable(frame, part, notes)
