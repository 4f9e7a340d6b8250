"""The store: every event of one session in one SQLite file.

An event is acknowledged after its commit (write-ahead log, ``synchronous=FULL``), so neither a killed
process nor a power cut loses an acknowledged answer. The file is plain SQLite without pickles:
tables `meta` (JSON values by key), `row_id` (the id of every row), `event`, `imported` (the pairs of
each import) and `snapshot` (the labels as of some event). A session begins in memory and comes to a
file as a complete copy, so there is no such thing as half a session file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import SessionDamagedError, SessionError, SessionLockedError
from linkwise.evidence import Answer, Fact
from linkwise.learner import Labels
from linkwise.session.events import Event, EventKind

APPLICATION_ID = 0x6C6E6B77  # "lnkw"
SCHEMA_VERSION = 1
PATIENCE_S = 5.0  # how long to wait for another process's write
KEYS = {"data", "learner", "seed", "source"}  # of the table meta

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

KEEP_LABELS = """
INSERT INTO snapshot VALUES (1, ?, ?, ?) ON CONFLICT DO
UPDATE SET event = excluded.event, reason = excluded.reason, labels = excluded.labels
WHERE excluded.event >= snapshot.event
"""

READ_LABELS = """
SELECT event, reason, labels, coalesce((SELECT value FROM meta WHERE key = 'description'), '[]') FROM snapshot
"""


class Changed(Exception):  # no error: another client was first
    """Another client wrote since this one last read."""


class Snapshot(NamedTuple):
    """Labels as they were after some event, why asking had ended by then, what the learner said."""

    event: int
    reason: str | None
    labels: Labels
    description: tuple[str, ...] = ()


class Store:
    """The tables of one session, in a file or in memory: see `Store.new` and `Store.open`.

    Attributes
    ----------
    path : Path or None
        None: in memory.
    """

    def __init__(self, database: str, path: Path | None) -> None:
        self.path = path
        self._name = "the session in memory" if path is None else str(path)
        self._closed = False
        with self._explained():
            self._db = sqlite3.connect(
                database, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False, uri=True
            )

    @classmethod
    def new(cls, meta: dict[str, Any], ids: Sequence[str] | None) -> Store:
        """A new session, in memory; `copy_to` takes it to a file."""
        store = cls(":memory:", None)
        store._db.executescript(SCHEMA)
        store._db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        store._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        with store._transaction():
            store._db.executemany("INSERT INTO row_id VALUES (?, ?)", enumerate(ids or ()))
        store.put_meta(meta)
        return store

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """An existing session file."""
        found = Path(path)
        if not found.exists():
            raise FileNotFoundError(f"there is no session file {found}")
        if found.is_dir():
            raise IsADirectoryError(f"{found} is a folder; name a session file")
        if found.stat().st_size == 0:
            raise SessionDamagedError(f"{found} is empty; restore a copy of it, or delete it and begin anew")
        store = cls(f"{found.absolute().as_uri()}?mode=rw", found)
        try:
            with store._explained():
                store._check_format()
                store._db.execute("PRAGMA foreign_keys=ON")
        except BaseException:
            store._db.close()
            raise
        return store

    def _check_format(self) -> None:
        if self._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise SessionDamagedError(f"{self._name} is a database, but no linkwise session")
        page = self._db.execute("PRAGMA page_size").fetchone()[0]
        if not _size(f"{self.path}-wal") and _size(f"{self.path}") % page:
            raise SessionDamagedError(f"{self._name} is cut off; restore a copy of it")
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise SessionError(
                f"{self._name} has format {version}, this linkwise reads up to {SCHEMA_VERSION}; "
                "update linkwise"
            )

    # ------------------------------------------------------------ reading
    def meta(self) -> dict[str, Any]:
        """All settings of the session."""
        with self._explained():
            rows = self._db.execute("SELECT key, value FROM meta").fetchall()
        try:
            meta = {key: json.loads(value) for key, value in rows}
        except json.JSONDecodeError:
            meta = {}
        if not meta.keys() >= KEYS:
            raise SessionDamagedError(f"{self._name} is damaged (table meta); restore a copy of it")
        return meta

    def ids(self) -> list[str] | None:
        """The id of every row, or None when rows are named by position."""
        with self._explained():
            return [i for (i,) in self._db.execute("SELECT id FROM row_id ORDER BY row")] or None

    def version(self) -> int:
        """A number that is another one after another client wrote."""
        with self._explained():
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def last(self) -> int:
        """Number of the last event, 0 before the first."""
        with self._explained():
            return int(self._db.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()[0])

    def events(self, *, after: int = 0) -> list[Event]:
        """Everything that happened after an event, in order."""
        imported: dict[int, list[Fact]] = {}
        with self._explained():
            facts = "SELECT event, first, second, answer FROM imported WHERE event > ? ORDER BY rowid"
            for number, *fact in self._db.execute(facts, (after,)):
                imported.setdefault(number, []).append(Fact(*fact))
            events = (
                "SELECT number, kind, happened, first, second, answer, target, source "
                "FROM event WHERE number > ? ORDER BY number"
            )
            return [
                Event(
                    number, kind, when, first, second, answer, target, tuple(imported.get(number, ())), source
                )
                for number, kind, when, first, second, answer, target, source in self._db.execute(
                    events, (after,)
                )
            ]

    def snapshot(self) -> Snapshot | None:
        """The labels that were last kept."""
        with self._explained():
            row = self._db.execute(READ_LABELS).fetchone()
        if row is None:
            return None
        event, reason, labels, description = row
        return Snapshot(
            event, reason, np.frombuffer(labels, "<i4").astype(np.int32), tuple(json.loads(description))
        )

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
        values = ((key, json.dumps(value, ensure_ascii=False)) for key, value in meta.items())
        with self._explained(), self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

    def put_snapshot(self, kept: Snapshot) -> None:
        """Keep the labels as they are after an event, unless later ones are there already."""
        blob = np.ascontiguousarray(kept.labels, dtype="<i4").tobytes()
        with self._explained(), self._transaction(durable=False):  # labels can be computed again
            if self._db.execute(KEEP_LABELS, (kept.event, kept.reason, blob)).rowcount:
                said = json.dumps(kept.description, ensure_ascii=False)
                self._db.execute("INSERT OR REPLACE INTO meta VALUES ('description', ?)", (said,))

    def copy_to(self, path: str | os.PathLike[str]) -> None:
        """A complete copy, also of what still stands in the write-ahead log; all of it or nothing."""
        target = Path(path)
        if not target.parent.is_dir():
            raise FileNotFoundError(
                f"there is no folder {target.parent} to write {target.name} into; make it first"
            )
        log = f"{target}-wal"  # SQLite would take it for the log of the new file
        if _size(log) and not target.exists():
            raise SessionError(f"{log} is left of another session; move it away, or choose another name")
        try:
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}-") as folder:
                part = Path(folder, target.name)
                with self._explained(), closing(sqlite3.connect(part)) as copy:
                    self._db.backup(copy)
                    copy.execute("PRAGMA journal_mode=WAL")
                _put_in_place(part, target)
        except FileExistsError:
            raise SessionError(f"{target} exists already; open it, or choose another name") from None
        except OSError as error:
            raise SessionError(
                f"{target} cannot be written ({error.strerror}); choose another place"
            ) from error

    def close(self) -> None:
        """Move the log into the file, as far as other clients let it, and let go of it."""
        if self._closed:
            return
        self._closed = True
        try:
            with suppress(sqlite3.Error):  # what stays in the log is not lost
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            self._db.close()

    # ------------------------------------------------------------ SQLite
    @contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[None]:
        """All or nothing; when durable, it is on the disk at the end."""
        self._db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in words what SQLite complains of."""
        if self._closed:
            raise SessionError(f"{self._name} is closed; open it again")
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise _in_words(self._name, error) from error


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _put_in_place(part: Path, target: Path) -> None:
    """Give a finished file its name, unless the name is taken."""
    try:
        os.link(part, target)  # unlike a renaming, never overwrites
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if target.exists():
            raise FileExistsError from None
        part.rename(target)


def _in_words(name: str, error: sqlite3.DatabaseError) -> SessionError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without the extended part
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return SessionLockedError(f"{name} is held by another process; close that one, or try again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return SessionError(f"{name} cannot be written ({error}); copy it into a folder where you may write")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM):
        return SessionError(f"{name} cannot be read or written ({error}); nothing was stored just now")
    return SessionDamagedError(
        f"{name} is not a linkwise session, or is damaged ({error}); restore a copy of it"
    )
