"""The journal: what one client has read and stored of a session."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from linkwise.errors import SessionDamagedError, SessionError, SessionLockedError
from linkwise.session.journal.events import Event, EventKind
from linkwise.session.journal.store import Store, WriteConflict
from linkwise.session.journal.stored_clustering import StoredClustering


class Journal:
    """The events of a session as this client knows them, in the order in which they were stored.

    It checks nothing of what they say and derives nothing from them. `meta` is what the session was begun
    with, and `ids` has the id of every row; None if no ids were given.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._version = store.version()
        self.meta = store.meta()
        self.ids = store.ids()
        self.events: list[Event] = store.events()

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return int(self.meta["data"]["shape"][0])

    @property
    def names(self) -> list[str]:
        """The id of every row; its position, as text, if no ids were given."""
        return list(self.ids) if self.ids is not None else [str(row) for row in range(self.n_rows)]

    @property
    def last(self) -> int:
        """Number of the last event that this client knows of; 0 before the first."""
        return self.events[-1].number if self.events else 0

    def catch_up(self, follow: Callable[[list[Event]], None]) -> None:
        """Read new events: those of other clients, and those that this one did not see stored.

        `follow` takes up the new events, if anything was written. If it raises, they count as not yet
        read.
        """
        version = self.store.version()
        if version == self._version and self.store.last() == self.last:
            return
        new, before = self.store.events(after=self.last), self.events
        self.events = [*before, *new]
        try:
            follow(new)
        except BaseException:
            self.events = before
            raise
        if self.store.last() < self.last:  # no client deletes events
            raise SessionDamagedError(
                f"{self.store.path} is an older file than the one that was opened. Open it again."
            )
        self._version = version

    def append(self, kind: EventKind, **fields: Any) -> Event:
        """Store one event of now; `WriteConflict` if another client wrote first."""
        event = self.store.append(kind, after=self.last, **fields)
        self.events.append(event)
        return event

    def append_all(self, events: Sequence[Event]) -> None:
        """Store several events, all or none; `WriteConflict` if another client wrote first."""
        self.events = [*self.events, *self.store.append_all(events, after=self.last)]

    def replace_data(
        self,
        changes: dict[str, Any],
        clustering: StoredClustering,
        backup: str | os.PathLike[str] | None,
        n_new: int = 0,
    ) -> None:
        """Store the events with the rows that they name now, after a copy of the file if one is wanted.

        The last `n_new` events are not in the file yet.
        """
        if backup is not None:
            self.store.copy_to(backup)
        try:
            self.store.replace_data(changes, self.ids, self.events, clustering, n_new)
        except WriteConflict:
            raise SessionLockedError(
                f"{self.store.path} is in use by another process. Close that process, or try again."
            ) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Move a session from memory to a file."""
        if self.store.path is not None:
            raise SessionError(f"The session is stored in {self.store.path} already. Use save_copy(path).")
        self.store.copy_to(path)
        memory, self.store = self.store, Store.open(path)
        self._version = -1  # other clients may write from now on
        memory.close()
