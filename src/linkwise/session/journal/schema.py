"""The form of a session file: its tables, and the checks that a file passes before anything in it is read.

A session file may come from anywhere. No session has views, triggers, virtual tables, expressions in the
schema or pages that are used twice, all of which could make SQLite act on behalf of the file. A file with any
of them raises an error.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from linkwise.errors import SessionDamagedError, SessionError
from linkwise.session.journal import migrations

APPLICATION_ID = 0x6C6E6B77  # "lnkw"
FIRST_VERSION = 1

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE row_id (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE TABLE event (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, happened TEXT NOT NULL, first INTEGER, second INTEGER,
    answer TEXT CHECK (answer IN ('yes', 'no', 'unsure')), target INTEGER REFERENCES event,
    source TEXT NOT NULL, start INTEGER, position INTEGER, seconds REAL, note TEXT, reliability REAL,
    value TEXT
);
CREATE TABLE imported (
    event INTEGER NOT NULL REFERENCES event, first INTEGER NOT NULL, second INTEGER NOT NULL,
    answer TEXT NOT NULL
);
CREATE INDEX imported_event ON imported (event);
CREATE TABLE snapshot (
    one INTEGER PRIMARY KEY CHECK (one = 1), event INTEGER NOT NULL, reason TEXT, labels BLOB NOT NULL,
    description TEXT NOT NULL, doubts TEXT NOT NULL, advice TEXT NOT NULL, confidence BLOB
);
"""
MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100

Entry = tuple[object, ...]


class Damage(Exception):
    """The file holds something that no session writes; the text is a sentence without its full stop."""


def check_header(path: Path) -> None:
    """Check the first bytes of a file before SQLite opens it.

    SQLite would roll back an unfinished transaction of any database, from a journal beside it that can name
    further files. Sessions have a write-ahead log instead.
    """
    with open(path, "rb") as file:
        header = file.read(HEADER_BYTES)
    if not header:
        raise SessionDamagedError(f"{path} is empty. Restore a copy of it, or delete it and begin again.")
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        raise SessionDamagedError(
            f"{path} is not a linkwise session, or it is damaged. Restore a copy of it."
        )
    if not is_of_session(header):
        raise SessionDamagedError(f"{path} is a database, but not a linkwise session. Pass a session file.")
    journal = f"{path}-journal"
    if os.path.exists(journal):
        raise SessionError(
            f"{journal} does not belong to a linkwise session. Move it away, then open {path}."
        )


def is_of_session(header: bytes) -> bool:
    """Whether the first bytes of a database are those of a session."""
    return int.from_bytes(header[68:72], "big") == APPLICATION_ID


def restrict(db: sqlite3.Connection) -> None:
    """Let SQLite run nothing that is in a file, and check each page that it reads."""
    db.execute("PRAGMA trusted_schema=OFF")
    db.execute("PRAGMA cell_size_check=ON")


def find_version() -> int:
    """The format that this linkwise writes."""
    return FIRST_VERSION + len(migrations.MIGRATIONS)


def check_version(db: sqlite3.Connection, name: str) -> int:
    """Check that this linkwise can read the format of a file; return it."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > find_version():
        raise SessionError(
            f"{name} has format {version}, and this linkwise reads formats up to {find_version()}. "
            "Update linkwise."
        )
    if version < FIRST_VERSION:
        raise Damage(f"It has format {version}, and the first format is {FIRST_VERSION}")
    return version


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Give the tables of a file the present format, within the transaction of the caller."""
    for migration in migrations.MIGRATIONS[version - FIRST_VERSION :]:
        check_schema(db, migration.schema)
        migration.change(db)
    db.execute(f"PRAGMA user_version={find_version()}")


def check_schema(db: sqlite3.Connection, schema: str = SCHEMA) -> None:
    """Check that the tables, columns and indices of a file are exactly those of a session."""
    wanted = _schema_of_new(schema)
    found = _schema_of(db, len(wanted) + 1)
    missing = sorted(str(entry[1]) for entry in wanted - found)
    if missing:
        raise Damage(f"It has no table or index {missing[0]}")
    if found != wanted:
        raise Damage(f"{min(str(entry[1])[:60] for entry in found - wanted)!r} is not part of a session")


def check_pages(db: sqlite3.Connection) -> None:
    """Check for damaged pages, and for pages that are used twice, which could hide or repeat rows."""
    (report,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if report != "ok":
        raise Damage(" ".join(report.split())[:200])


def create_tables(db: sqlite3.Connection) -> None:
    """Create the tables of a new session."""
    db.executescript(SCHEMA)
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")
    db.execute(f"PRAGMA user_version={find_version()}")


@cache
def _schema_of_new(schema: str) -> frozenset[Entry]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(schema)
        return _schema_of(db, 100)


def _schema_of(db: sqlite3.Connection, most: int) -> frozenset[Entry]:
    """The entries of a schema, up to a number of them."""
    return frozenset(db.execute(f"SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT {most}"))
