"""The form of a session file: its tables, and the checks that a file passes before anything in it is read.

A session file may come from anywhere. What SQLite would do on behalf of a file (views, triggers, virtual
tables, expressions in the schema, pages that are used twice) no session has, so a file with any of it is
refused.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from linkwise.errors import SessionDamagedError, SessionError

APPLICATION_ID = 0x6C6E6B77  # "lnkw"
SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE row_id (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE TABLE event (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, happened TEXT NOT NULL, first INTEGER, second INTEGER,
    answer TEXT CHECK (answer IN ('yes', 'no', 'unsure')), target INTEGER REFERENCES event,
    source TEXT NOT NULL
);
CREATE TABLE imported (
    event INTEGER NOT NULL REFERENCES event, first INTEGER NOT NULL, second INTEGER NOT NULL,
    answer TEXT NOT NULL
);
CREATE INDEX imported_event ON imported (event);
CREATE TABLE snapshot (
    one INTEGER PRIMARY KEY CHECK (one = 1), event INTEGER NOT NULL, reason TEXT, labels BLOB NOT NULL
);
"""
MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100

Entry = tuple[object, ...]


class Damage(Exception):
    """The file holds what no session writes."""


def check_header(path: Path) -> None:
    """Refuse what is no session by its first bytes, before SQLite opens it.

    SQLite would roll back an unfinished transaction of any database, by a journal beside it that can name
    further files. Sessions have a write-ahead log instead.
    """
    with open(path, "rb") as file:
        header = file.read(HEADER_BYTES)
    if not header:
        raise SessionDamagedError(f"{path} is empty; restore a copy of it, or delete it and begin anew")
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        raise SessionDamagedError(f"{path} is not a linkwise session, or is damaged; restore a copy of it")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise SessionDamagedError(f"{path} is a database, but no linkwise session")
    journal = f"{path}-journal"
    if os.path.exists(journal):
        raise SessionError(f"{journal} belongs to no linkwise session; move it away, then open {path}")


def distrust(db: sqlite3.Connection) -> None:
    """Let SQLite run nothing that a file brings along, and check each page that it reads."""
    db.execute("PRAGMA trusted_schema=OFF")
    db.execute("PRAGMA cell_size_check=ON")


def check_version(db: sqlite3.Connection, name: str) -> None:
    """Refuse formats that this linkwise does not know."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise SessionError(
            f"{name} has format {version}, this linkwise reads up to {SCHEMA_VERSION}; update linkwise"
        )
    if version < 1:
        raise Damage(f"it has format {version}, and the first format is 1")


def check_schema(db: sqlite3.Connection) -> None:
    """Refuse a file whose tables, columns or indices are not exactly those of a session."""
    wanted = _schema_of_new()
    found = _schema_of(db, len(wanted) + 1)
    missing = sorted(str(entry[1]) for entry in wanted - found)
    if missing:
        raise Damage(f"no such table or index as in a session: {missing[0]}")
    if found != wanted:
        raise Damage(f"{min(str(entry[1])[:60] for entry in found - wanted)!r} is no part of a session")


def check_pages(db: sqlite3.Connection) -> None:
    """Refuse damaged pages, and pages that are used twice, which could hide rows or repeat them."""
    (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise Damage(" ".join(said.split())[:200])


def create_tables(db: sqlite3.Connection) -> None:
    """The tables of a new session."""
    db.executescript(SCHEMA)
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")
    db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


@cache
def _schema_of_new() -> frozenset[Entry]:
    with closing(sqlite3.connect(":memory:")) as db:
        create_tables(db)
        return _schema_of(db, 100)


def _schema_of(db: sqlite3.Connection, most: int) -> frozenset[Entry]:
    """What stands in the schema, up to a number of entries."""
    return frozenset(db.execute(f"SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT {most}"))
