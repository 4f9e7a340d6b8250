"""The store: every event of one session in one SQLite file.

An event is acknowledged after its commit (write-ahead log, ``synchronous=FULL``), so neither a killed
process nor a power cut loses an acknowledged answer. The file is plain SQLite without pickles:
tables `meta` (what the session was begun with, as JSON values by key), `row_id` (the id of every row),
`event`, `imported` (the pairs of each import) and `snapshot` (the labels and the words of the learner as of
some event). A session begins in memory and is copied to a file as a whole, so a session file is never
incomplete.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import SessionDamagedError, SessionError, SessionLockedError
from linkwise.session.journal import deserialize, schema
from linkwise.session.journal.events import Event, EventKind, beside_answer, has_value
from linkwise.session.journal.file_image import read_image
from linkwise.session.journal.stored_clustering import StoredClustering
from linkwise.text_files import is_unicode
from linkwise.whole_files import flush_folder

PATIENCE_S = 5.0  # how long to wait for another process's write

UNWRITABLE = (  # errors of SQLite if it cannot write beside a file, or its disk is full
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)

SAVE_CLUSTERING = """
INSERT OR REPLACE INTO snapshot SELECT 1, ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (
    SELECT * FROM snapshot WHERE event > ?1 AND event <= (SELECT coalesce(max(number), 0) FROM event)
)
"""


class WriteConflict(Exception):  # not an error: the caller reads again and repeats
    """Another client has written since this one last read."""


class Store:
    """The tables of one session, in a file or in memory: see `Store.new` and `Store.open`.

    If the file can only be read, this shows it as it was when it was opened.
    """

    def __init__(self, database: str, path: Path | None) -> None:
        self.path = path
        self.name = "the session in memory" if path is None else str(path)
        self._n_rows: int  # set by `new` and `open`
        self._n_recoded: int | None = None  # how often the data were replaced; None: not yet read
        self._closed = self.is_read_only = False
        self._after_close = ExitStack()
        with self._translate_errors():
            self._db = sqlite3.connect(
                database, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False, uri=True
            )
        if path is None:  # nobody needs to close a session in memory, and Python 3.13 warns if nobody does
            weakref.finalize(self, self._db.close)

    @classmethod
    def new(cls, meta: dict[str, Any], ids: Sequence[str] | None) -> Store:
        """Begin a session in memory; `copy_to` writes it to a file."""
        store = cls(":memory:", None)
        schema.create_tables(store._db)
        with store._transaction():
            store._db.executemany("INSERT INTO row_id VALUES (?, ?)", enumerate(ids or ()))
        store.put_meta(meta)
        store._n_rows = meta["data"]["shape"][0]
        return store

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Open a session file; its schema is checked before anything in it is read.

        A file that cannot be written to, or whose disk is full, can be read all the same.
        """
        found = Path(path)
        if not found.exists():
            raise FileNotFoundError(f"There is no session file {found}.")
        if found.is_dir():
            raise IsADirectoryError(f"{found} is a folder. Pass a session file.")
        if not found.is_file():
            raise SessionDamagedError(f"{found} is not a regular file. Pass a session file.")
        schema.check_header(found)
        store = cls(f"{found.absolute().as_uri()}?mode=rw", found)
        try:
            if not os.access(found, os.W_OK) or not store._is_writable():
                store._read_into_memory(found)
        except BaseException:
            store._db.close()
            raise
        return store

    def _is_writable(self) -> bool:
        """Check the form of the file; False if SQLite cannot read it without writing beside it."""
        try:
            self._check_form()
        except SessionError as error:
            cause = error.__cause__
            if not (isinstance(cause, sqlite3.DatabaseError) and _code_of(cause) in UNWRITABLE):
                raise
            return False
        return True

    def _read_into_memory(self, path: Path) -> None:
        """Take a copy in memory in place of the file."""
        self._db.close()
        with self._translate_errors():
            image = read_image(path)
            self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            self._db.deserialize(image)
        self._check_form()
        self.is_read_only = True
        self._db.execute("PRAGMA query_only=ON")  # from now on who writes gets an error

    def _check_form(self) -> None:
        with self._translate_errors():
            schema.restrict(self._db)
            page = self._db.execute("PRAGMA page_size").fetchone()[0]
            if not _file_size(f"{self.path}-wal") and _file_size(f"{self.path}") % page:
                raise schema.Damage("The file is truncated")
            self._migrate()
            with self._read_transaction():
                schema.check_version(self._db, self.name)
                schema.check_schema(self._db)
                schema.check_pages(self._db)
                self._n_rows = deserialize.read_meta(self._db)["data"]["shape"][0]
                deserialize.check_size(self._db, self._n_rows)
                deserialize.read_clustering(self._db, self._n_rows, last=0)
                self._n_recoded = deserialize.read_n_recoded(self._db)
            self._db.execute("PRAGMA foreign_keys=ON")

    def _migrate(self) -> None:
        """Bring a file of an earlier format to the present one."""
        if schema.check_version(self._db, self.name) < schema.find_version():
            with self._transaction():
                schema.migrate(self._db, schema.check_version(self._db, self.name))

    # ------------------------------------------------------------ reading
    def meta(self) -> dict[str, Any]:
        """All settings of the session."""
        with self._translate_errors():
            return deserialize.read_meta(self._db)

    def ids(self) -> list[str] | None:
        """The id of every row, or None if the session has no ids."""
        with self._translate_errors():
            return deserialize.read_ids(self._db, self._n_rows)

    def version(self) -> int:
        """A number that changes when another client writes."""
        with self._translate_errors():
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def last(self) -> int:
        """Number of the last event, 0 before the first."""
        with self._translate_errors():
            return int(self._db.execute("SELECT coalesce(max(number), 0) FROM event").fetchone()[0])

    def events(self, *, after: int = 0) -> list[Event]:
        """The events after a number, in order, as of one moment even if others write meanwhile."""
        with self._translate_errors(), self._read_transaction():
            schema.check_schema(self._db)
            return list(deserialize.read_events(self._db, self._n_rows, after))

    def clustering(self) -> StoredClustering | None:
        """The labels that were stored last."""
        with self._translate_errors(), self._read_transaction():
            return deserialize.read_clustering(self._db, self._n_rows, self.last())

    # ------------------------------------------------------------ writing
    def append(self, kind: EventKind, *, after: int, **fields: Any) -> Event:
        """Commit one event of now durably if `after` is still the last one, as `append_all`."""
        return self.append_all([Event(0, kind, read_time(), **fields)], after=after)[0]

    def append_all(self, events: Sequence[Event], *, after: int) -> list[Event]:
        """Commit events durably, all or none, if `after` is still the last one; number them from there on.

        Raises `WriteConflict` if another client wrote first; nothing is written.
        """
        numbered = [replace(event, number=number) for number, event in enumerate(events, after + 1)]
        with self._translate_errors(), self._transaction():
            if self.last() != after:
                raise WriteConflict
            for event in numbered:
                self._insert_event(event)
        return numbered

    def _insert_event(self, event: Event) -> None:
        columns = ("number", "kind", "when", "first", "second", "answer", "target", "source")
        start, position = (None, None) if event.place is None else event.place
        own = "note" if event.kind == "note" else None  # whose empty text removes a note
        values = (
            *(getattr(event, name) for name in columns),
            *(start, position),
            *(None if value == "" and name != own else value for name, value in beside_answer(event).items()),
            _to_json(event.value) if has_value(event) else None,
        )
        self._db.execute(f"INSERT INTO event VALUES ({', '.join('?' * len(values))})", values)
        self._db.executemany(
            "INSERT INTO imported VALUES (?, ?, ?, ?)",
            ((event.number, *fact.pair, fact.answer) for fact in event.facts),
        )

    def put_meta(self, meta: dict[str, Any]) -> None:
        """Set some settings."""
        with self._translate_errors(), self._transaction():
            self._insert_meta(meta)

    def _insert_meta(self, meta: dict[str, Any]) -> None:
        values = [(key, _to_json(value)) for key, value in meta.items()]
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

    def replace_data(
        self,
        meta: dict[str, Any],
        ids: Sequence[str] | None,
        events: Sequence[Event],
        clustering: StoredClustering,
        n_new: int = 0,
    ) -> None:
        """Commit another encoding of the rows, with all that names rows, or nothing.

        Clients that have the file open get an error at their next call. `meta` are the settings that
        change, among them the fingerprint of the data. `events` are all events of the file, with the
        rows by their new positions, and `n_new` events that come after them. Raises `WriteConflict` if
        another client wrote first.
        """
        n_recoded = (self._n_recoded or 0) + 1
        if not deserialize.are_labels(clustering.labels):  # others keep the file as large as its rows need
            clustering = StoredClustering(0, None, np.zeros_like(clustering.labels))
        with self._translate_errors(), self._transaction():
            n_before = len(events) - n_new
            if self.last() != n_before:
                raise WriteConflict
            for event in events[n_before:]:
                self._insert_event(event)
            self._insert_meta(meta | {deserialize.RECODED_KEY: n_recoded})
            self._db.execute("DELETE FROM row_id")
            self._db.executemany("INSERT INTO row_id VALUES (?, ?)", enumerate(ids or ()))
            self._db.executemany(
                "UPDATE event SET first = ?, second = ? WHERE number = ?",
                ((event.first, event.second, event.number) for event in events),
            )
            self._db.executemany(
                "UPDATE event SET value = ? WHERE number = ?",
                ((_to_json(event.value), event.number) for event in events if has_value(event)),
            )
            self._db.execute("DELETE FROM imported")
            self._db.executemany(
                "INSERT INTO imported VALUES (?, ?, ?, ?)",
                ((event.number, *fact.pair, fact.answer) for event in events for fact in event.facts),
            )
            self._db.execute("DELETE FROM snapshot")
            self._insert_clustering(clustering)
        self._n_recoded, self._n_rows = n_recoded, len(clustering.labels)

    def put_clustering(self, clustering: StoredClustering) -> None:
        """Store the labels as of an event, unless the file holds later ones.

        Labels of a custom learner that are not cluster numbers are not stored: no session file may hold them.
        """
        if not deserialize.are_labels(clustering.labels):
            return
        with self._translate_errors(), self._transaction(durable=False):  # labels can be computed again
            self._insert_clustering(clustering)

    def _insert_clustering(self, clustering: StoredClustering) -> None:
        blob = np.ascontiguousarray(clustering.labels, dtype="<i4").tobytes()
        words = (
            [str(sentence) for sentence in clustering.description],
            None if clustering.doubts is None else clustering.doubts._asdict(),
            None if clustering.advice is None else asdict(clustering.advice),
        )
        certain = None if clustering.confidence is None else clustering.confidence.astype("<f8").tobytes()
        self._db.execute(
            SAVE_CLUSTERING, (clustering.event, clustering.reason, blob, *map(_to_json, words), certain)
        )

    def copy_to(self, path: str | os.PathLike[str]) -> None:
        """Write a complete copy, including the write-ahead log, or nothing."""
        target = Path(path)
        if not target.parent.is_dir():
            raise FileNotFoundError(
                f"There is no folder {target.parent} to write {target.name} into. Create it first."
            )
        log = f"{target}-wal"  # SQLite would use it as the log of the new file
        if _file_size(log) and not target.exists():
            raise SessionError(f"{log} belongs to another session. Move it away, or choose another name.")
        try:
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}-") as folder:
                # absolute, because SQLite may read a name that begins with file: as a URI
                part = Path(folder, target.name).absolute()
                with self._translate_errors(target), closing(sqlite3.connect(part)) as copy:
                    self._db.backup(copy)
                    copy.execute("PRAGMA journal_mode=WAL")
                _put_in_place(part, target)
        except FileExistsError:
            raise SessionError(f"{target} exists already. Open it, or choose another name.") from None
        except OSError as error:
            raise SessionError(
                f"{target} cannot be written: {error.strerror}. Choose another place."
            ) from error

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def close(self) -> None:
        """Move the log into the file, as far as other clients allow, and close the file."""
        if self._closed:
            return
        self._closed = True
        try:
            with suppress(sqlite3.Error):  # the log keeps the rest
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            self._db.close()
            self._after_close.close()

    def call_after_close(self, callback: Callable[[], object]) -> None:
        """Call something once the file is closed."""
        self._after_close.callback(callback)

    # ------------------------------------------------------------ SQLite
    @contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[None]:
        """Commit all statements or none; if durable, they are on the disk at the end."""
        self._db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._check_encoding()
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _read_transaction(self) -> Iterator[None]:
        """Read everything as of one moment."""
        self._db.execute("BEGIN")
        try:
            self._check_encoding()
            yield
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _check_encoding(self) -> None:
        """Check that no client has replaced the data since the file was opened."""
        if self._n_recoded is not None and deserialize.read_n_recoded(self._db) != self._n_recoded:
            raise SessionError(
                f"Another process has changed the data of {self.name}. Its answers are there. Open it again."
            )

    @contextmanager
    def _translate_errors(self, copy: Path | None = None) -> Iterator[None]:
        """Turn errors of SQLite, and damage in the file, into errors of a session.

        `copy` is a copy that is being written: if a disk is full, it is the disk of the copy.
        """
        if self._closed:
            raise SessionError(f"{self.name} is closed. Open it again.")
        try:
            yield
        except schema.Damage as damage:
            raise SessionDamagedError(
                f"{self.name} is damaged. {damage}. Restore a copy of the file."
            ) from None
        except UnicodeDecodeError:  # SQLite's message quotes a name from the file
            raise SessionDamagedError(
                f"{self.name} is damaged. A name in it is not UTF-8. Restore a copy of the file."
            ) from None
        except sqlite3.DatabaseError as error:
            is_copy_full = copy is not None and _code_of(error) == sqlite3.SQLITE_FULL
            raise _session_error(str(copy) if is_copy_full else self.name, error) from error


def read_time() -> str:
    """The present time in UTC, as events have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _file_size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _to_json(value: Any) -> str:
    """Write JSON with plain characters; escape them if a file name is not valid Unicode."""
    text = json.dumps(value, ensure_ascii=False)
    return text if is_unicode(text) else json.dumps(value)


def _put_in_place(part: Path, target: Path) -> None:
    """Give a complete file its name, unless the name is taken, and flush the name to the disk."""
    try:
        os.link(part, target)  # unlike a rename, this never overwrites
    except FileExistsError:
        raise
    except OSError:  # without hard links: take the name first, then fill the file
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        part.rename(target)
    flush_folder(target.parent)


def _code_of(error: sqlite3.DatabaseError) -> int:
    """The kind of an error, without the extended part of its code."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF


def _session_error(name: str, error: sqlite3.DatabaseError) -> SessionError:
    code = _code_of(error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return SessionLockedError(f"{name} is in use by another process. Close that process, or try again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return SessionError(
            f"{name} cannot be written: {error}. Copy it into a folder that you can write to."
        )
    if code == sqlite3.SQLITE_FULL:
        return SessionError(
            f"The disk that holds {name} is full: {error}. The last step is not stored; all earlier "
            "answers are safe. Delete or move other files from that disk, then repeat the last step."
        )
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM):
        return SessionError(
            f"{name} cannot be read or written: {error}. The last step is not stored. Check that its disk "
            "is connected and has free space, then repeat the last step."
        )
    return SessionDamagedError(
        f"{name} is not a linkwise session, or it is damaged: {error}. Restore a copy of it."
    )
