"""The store: every event of one session in one SQLite file.

An event is acknowledged after its commit (write-ahead log, ``synchronous=FULL``), so neither a killed
process nor a power cut loses an acknowledged answer. The file is plain SQLite without pickles:
tables `meta` (JSON values by key), `row_id` (the id of every row), `event`, `imported` (the pairs of
each import) and `snapshot` (the labels as of some event).
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import SessionDamagedError, SessionError, SessionLockedError
from linkwise.evidence import Answer, Fact
from linkwise.learner import Labels
from linkwise.session.events import Event, EventKind

APPLICATION_ID = 0x6C6E6B77  # "lnkw"
SCHEMA_VERSION = 1
PATIENCE_S = 5.0  # how long to wait for another process's write

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE row_id (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);
CREATE TABLE event (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, happened TEXT NOT NULL, first INTEGER, second INTEGER,
    answer TEXT CHECK (answer IN ('yes', 'no', 'unsure')), target INTEGER REFERENCES event, source TEXT NOT NULL
);
CREATE TABLE imported (
    event INTEGER NOT NULL REFERENCES event, first INTEGER NOT NULL, second INTEGER NOT NULL, answer TEXT NOT NULL
);
CREATE INDEX imported_event ON imported (event);
CREATE TABLE snapshot (
    one INTEGER PRIMARY KEY CHECK (one = 1), event INTEGER NOT NULL, reason TEXT, labels BLOB NOT NULL
);
"""


class Changed(Exception):  # no error: another client was first
    """Another client wrote since this one last read."""


class Store:
    """Open session file, or the same tables in memory.

    Parameters
    ----------
    path : path or None
        None: in memory.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        with self._explained():
            self._db = sqlite3.connect(
                ":memory:" if path is None else os.fspath(path),
                timeout=PATIENCE_S,
                isolation_level=None,
                check_same_thread=False,
            )

    @classmethod
    def create(
        cls, path: str | os.PathLike[str] | None, meta: dict[str, Any], ids: Sequence[str] | None
    ) -> Store:
        """A new session file; an existing file is never overwritten."""
        if path is not None and Path(path).exists():
            raise SessionError(f"{os.fspath(path)} exists already; open it, or choose another name")
        store = cls(path)
        with store._explained():
            if path is not None:
                store._db.execute("PRAGMA journal_mode=WAL")
            store._settings()
            with store._transaction():
                for statement in SCHEMA.split(";"):
                    store._db.execute(statement)
                store._db.execute(f"PRAGMA application_id={APPLICATION_ID}")
                store._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
                if ids is not None:
                    store._db.executemany("INSERT INTO row_id VALUES (?, ?)", enumerate(ids))
                store._put_meta(meta)
        return store

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """An existing session file."""
        if not Path(path).exists():
            raise FileNotFoundError(f"there is no session file {os.fspath(path)}")
        store = cls(path)
        with store._explained():
            if store._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise SessionDamagedError(f"{os.fspath(path)} is not a linkwise session")
            version = store._db.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise SessionError(
                    f"{os.fspath(path)} has format {version}, this linkwise reads up to {SCHEMA_VERSION}; "
                    "update linkwise"
                )
            store._settings()
        return store

    def _settings(self) -> None:
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("PRAGMA foreign_keys=ON")

    # ------------------------------------------------------------ reading
    def meta(self) -> dict[str, Any]:
        """All settings of the session."""
        with self._explained():
            return {key: json.loads(value) for key, value in self._db.execute("SELECT key, value FROM meta")}

    def ids(self) -> list[str] | None:
        """The id of every row, or None when rows are named by position."""
        with self._explained():
            return [i for (i,) in self._db.execute("SELECT id FROM row_id ORDER BY row")] or None

    def last(self) -> int:
        """Number of the last event, 0 before the first."""
        with self._explained():
            return int(self._db.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()[0])

    def events(self) -> list[Event]:
        """Everything that happened, in order."""
        with self._explained():
            imported: dict[int, list[Fact]] = {}
            for number, first, second, answer in self._db.execute("SELECT * FROM imported ORDER BY rowid"):
                imported.setdefault(number, []).append(Fact(first, second, answer))
            rows = self._db.execute(
                "SELECT number, kind, happened, first, second, answer, target, source FROM event ORDER BY number"
            )
            return [
                Event(
                    number, kind, when, first, second, answer, target, tuple(imported.get(number, ())), source
                )
                for number, kind, when, first, second, answer, target, source in rows
            ]

    def snapshot(self) -> tuple[int, str | None, Labels] | None:
        """Number of the event after which labels were last kept, why asking had ended, and the labels."""
        with self._explained():
            row = self._db.execute("SELECT event, reason, labels FROM snapshot").fetchone()
        return None if row is None else (row[0], row[1], np.frombuffer(row[2], dtype="<i4").astype(np.int32))

    # ------------------------------------------------------------ writing
    def append(
        self,
        kind: EventKind,
        *,
        after: int,
        first: int | None = None,
        second: int | None = None,
        answer: Answer | None = None,
        target: int | None = None,
        facts: Sequence[Fact] = (),
        source: str = "",
    ) -> Event:
        """Commit one event, durably, if `after` is still the last one.

        Raises
        ------
        Changed
            Another client was first; nothing was written.
        """
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        event = Event(after + 1, kind, when, first, second, answer, target, tuple(facts), source)
        with self._explained(), self._transaction():
            if self.last() != after:
                raise Changed
            self._db.execute(
                "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (event.number, kind, when, first, second, answer, target, source),
            )
            self._db.executemany(
                "INSERT INTO imported VALUES (?, ?, ?, ?)", ((event.number, *fact) for fact in facts)
            )
        return event

    def put_meta(self, meta: dict[str, Any]) -> None:
        """Set some settings."""
        with self._explained(), self._transaction():
            self._put_meta(meta)

    def put_snapshot(self, event: int, reason: str | None, labels: Labels) -> None:
        """Keep the labels as they are after an event."""
        blob = np.ascontiguousarray(labels, dtype="<i4").tobytes()
        with self._explained(), self._transaction():
            self._db.execute("INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?, ?)", (event, reason, blob))

    def copy_to(self, path: str | os.PathLike[str]) -> None:
        """A complete copy, also of what still stands in the write-ahead log."""
        if Path(path).exists():
            raise SessionError(f"{os.fspath(path)} exists already; choose another name")
        with self._explained():
            target = sqlite3.connect(os.fspath(path))
            try:
                self._db.backup(target)
                target.execute("PRAGMA journal_mode=WAL")
            finally:
                target.close()

    def close(self) -> None:
        """Move the log into the file and let go of it."""
        with self._explained():
            if self.path is not None:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.close()

    # ------------------------------------------------------------ SQLite
    def _put_meta(self, meta: dict[str, Any]) -> None:
        values = ((key, json.dumps(value, ensure_ascii=False)) for key, value in meta.items())
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in words what SQLite complains of."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise SessionLockedError(
                    f"{self.path} is held by another process; close that one, or try again"
                ) from error
            raise SessionError(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise SessionDamagedError(
                f"{self.path} is not a linkwise session, or is damaged ({error}); restore a copy of it"
            ) from error
