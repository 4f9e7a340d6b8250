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
from typing import Any

import numpy as np

from linkwise.constraints.evidence import Answer, Fact
from linkwise.errors import SessionDamagedError, SessionError, SessionLockedError
from linkwise.session import schema, tables
from linkwise.session.description import is_unicode
from linkwise.session.events import Event, EventKind
from linkwise.session.tables import Snapshot

PATIENCE_S = 5.0  # how long to wait for another process's write

KEEP_LABELS = """
INSERT INTO snapshot VALUES (1, ?, ?, ?) ON CONFLICT DO
UPDATE SET event = excluded.event, reason = excluded.reason, labels = excluded.labels
WHERE excluded.event >= snapshot.event OR snapshot.event > (SELECT coalesce(max(number), 0) FROM event)
"""


class Changed(Exception):  # no error: another client was first
    """Another client wrote since this one last read."""


class Store:
    """The tables of one session, in a file or in memory: see `Store.new` and `Store.open`.

    Attributes
    ----------
    path : Path or None
        None: in memory.
    """

    def __init__(self, database: str, path: Path | None) -> None:
        self.path = path
        self.name = "the session in memory" if path is None else str(path)
        self._n_rows: int  # set by `new` and `open`
        self._closed = False
        with self._explained():
            self._db = sqlite3.connect(
                database, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False, uri=True
            )

    @classmethod
    def new(cls, meta: dict[str, Any], ids: Sequence[str] | None) -> Store:
        """A new session, in memory; `copy_to` takes it to a file."""
        store = cls(":memory:", None)
        schema.create_tables(store._db)
        with store._transaction():
            store._db.executemany("INSERT INTO row_id VALUES (?, ?)", enumerate(ids or ()))
        store.put_meta(meta)
        store._n_rows = meta["data"]["shape"][0]
        return store

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """An existing session file, its form checked before anything in it is read."""
        found = Path(path)
        if not found.exists():
            raise FileNotFoundError(f"there is no session file {found}")
        if found.is_dir():
            raise IsADirectoryError(f"{found} is a folder; name a session file")
        if not found.is_file():
            raise SessionDamagedError(f"{found} is no regular file; name a session file")
        schema.check_header(found)
        store = cls(f"{found.absolute().as_uri()}?mode=rw", found)
        try:
            store._check_form()
        except BaseException:
            store._db.close()
            raise
        return store

    def _check_form(self) -> None:
        with self._explained():
            schema.distrust(self._db)
            page = self._db.execute("PRAGMA page_size").fetchone()[0]
            if not _size(f"{self.path}-wal") and _size(f"{self.path}") % page:
                raise schema.Damage("it is cut off")
            with self._reading():
                schema.check_version(self._db, self.name)
                schema.check_schema(self._db)
                schema.check_pages(self._db)
                self._n_rows = tables.read_meta(self._db)["data"]["shape"][0]
                tables.check_size(self._db, self._n_rows)
                tables.read_snapshot(self._db, self._n_rows, last=0)
            self._db.execute("PRAGMA foreign_keys=ON")

    # ------------------------------------------------------------ reading
    def meta(self) -> dict[str, Any]:
        """All settings of the session."""
        with self._explained():
            return tables.read_meta(self._db)

    def ids(self) -> list[str] | None:
        """The id of every row, or None when rows are named by position."""
        with self._explained():
            return tables.read_ids(self._db, self._n_rows)

    def version(self) -> int:
        """A number that is another one after another client wrote."""
        with self._explained():
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def last(self) -> int:
        """Number of the last event, 0 before the first."""
        with self._explained():
            return int(self._db.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()[0])

    def events(self, *, after: int = 0) -> list[Event]:
        """Everything that happened after an event, in order; as of one moment, whatever others write."""
        with self._explained(), self._reading():
            schema.check_schema(self._db)
            return list(tables.read_events(self._db, self._n_rows, after))

    def snapshot(self) -> Snapshot | None:
        """The labels that were last kept."""
        with self._explained(), self._reading():
            return tables.read_snapshot(self._db, self._n_rows, self.last())

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
        values = [(key, _as_json(value)) for key, value in meta.items()]
        with self._explained(), self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

    def put_snapshot(self, kept: Snapshot) -> None:
        """Keep the labels as they are after an event, unless later ones are there already.

        Labels of a learner of one's own that are no numbers of clusters are not kept: no file may hold them.
        """
        if not tables.are_labels(kept.labels):
            return
        blob = np.ascontiguousarray(kept.labels, dtype="<i4").tobytes()
        with self._explained(), self._transaction(durable=False):  # labels can be computed again
            if self._db.execute(KEEP_LABELS, (kept.event, kept.reason, blob)).rowcount:
                said = _as_json([str(sentence) for sentence in kept.description])
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
                # absolute, because SQLite may read a name that begins with file: as a URI
                part = Path(folder, target.name).absolute()
                with self._explained(target), closing(sqlite3.connect(part)) as copy:
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
    def _reading(self) -> Iterator[None]:
        """All that is read is as of one moment."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    @contextmanager
    def _explained(self, copy: Path | None = None) -> Iterator[None]:
        """Say in words what SQLite complains of, and what the file should not hold.

        While a copy is made, only the copy is written, so a full disk is that of the copy.
        """
        if self._closed:
            raise SessionError(f"{self.name} is closed; open it again")
        try:
            yield
        except schema.Damage as damage:
            raise SessionDamagedError(
                f"{self.name} is damaged: {damage}. Restore a copy of the file."
            ) from None
        except UnicodeDecodeError:  # of SQLite's own message, which names what the file does
            raise SessionDamagedError(
                f"{self.name} is damaged: a name in it is not UTF-8. Restore a copy of the file."
            ) from None
        except sqlite3.DatabaseError as error:
            is_copy_full = copy is not None and _code_of(error) == sqlite3.SQLITE_FULL
            raise _in_words(str(copy) if is_copy_full else self.name, error) from error


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _as_json(value: Any) -> str:
    """JSON as people read it; escaped where a name from the file system is no Unicode."""
    text = json.dumps(value, ensure_ascii=False)
    return text if is_unicode(text) else json.dumps(value)


def _put_in_place(part: Path, target: Path) -> None:
    """Give a finished file its name, unless the name is taken; when this returns, the disk knows it."""
    try:
        os.link(part, target)  # unlike a renaming, never overwrites
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: the name is taken first, then filled
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        part.rename(target)
    _flush_folder(target.parent)


def _flush_folder(folder: Path) -> None:
    """Let the disk know the names in a folder, on systems that can be told so."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _code_of(error: sqlite3.DatabaseError) -> int:
    """The kind of an error, without the extended part of its code."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF


def _in_words(name: str, error: sqlite3.DatabaseError) -> SessionError:
    code = _code_of(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return SessionLockedError(f"{name} is held by another process; close that one, or try again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return SessionError(f"{name} cannot be written ({error}); copy it into a folder where you may write")
    if code == sqlite3.SQLITE_FULL:
        return SessionError(
            f"The disk that holds {name} is full ({error}). Nothing was stored just now, and all earlier "
            "answers are safe. Delete or move other files from that disk, then repeat the last step."
        )
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM):
        return SessionError(
            f"{name} cannot be read or written ({error}). Nothing was stored just now. Check that its disk "
            "is connected and has free space, then repeat the last step."
        )
    return SessionDamagedError(
        f"{name} is not a linkwise session, or is damaged ({error}); restore a copy of it"
    )
