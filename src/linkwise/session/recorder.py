"""The recorder: stores events that were checked, and takes the learner there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.error_rates import AssumedRate
from linkwise.errors import InfeasibleConstraintsError, SessionDamagedError, SessionError
from linkwise.session.journal.events import Event, EventKind
from linkwise.session.journal.journal import Journal
from linkwise.session.journal.store import WriteConflict
from linkwise.session.state.event_lists import CONTRADICTION, evidence_of, name_rows_by_id
from linkwise.session.state.session_state import SessionState

ROUNDING = 1e-9  # of confidences
MOST_STORED_ROWS = 50_000  # up to this number labels are stored after every answer, above it only on close


class Recorder:
    """Stores events in a journal, and keeps the state and the stored labels up to date."""

    def __init__(self, journal: Journal, state: SessionState) -> None:
        self._journal, self._state = journal, state

    def write(self, kind: EventKind, **event: Any) -> None:
        """Store an event, then take the learner there unless it can wait until somebody reads."""
        if not self._journal.append(kind, **event).can_wait:
            self.follow()

    def write_all(self, events: Sequence[Event]) -> None:
        """Store several events, all or none, and take the learner there."""
        self._journal.append_all(events)
        self.follow()

    def write_checked(
        self, kind: EventKind, check: Callable[[], dict[str, Any] | None], message: str = CONTRADICTION
    ) -> None:
        """Check and store an event; when another client writes first, check again.

        `check` returns the fields of the event, or None when there is nothing to store. `message` is
        what an error says about a contradiction.
        """
        while True:
            self._state.catch_up()
            with name_rows_by_id(self._journal.ids, message):
                event = check()
            with suppress(WriteConflict):
                return None if event is None else self.write(kind, **event)

    def follow(self) -> None:
        """Take the learner to the last event, and store its labels."""
        if self._state.replay is not None:
            self._state.follow()
            self.save_clustering()

    def save_clustering(self, *, always: bool = False) -> None:
        """Store the labels, for reading without data; if that fails now, a later call does it."""
        state, n_rows = self._state, self._journal.n_rows
        if state.replay is not None and (always or n_rows <= MOST_STORED_ROWS):
            with suppress(SessionError):
                replay = state.follow() if state.is_behind else state.replay
                clustering = replay.clustering()
                if always:  # it costs time and room
                    clustering = clustering._replace(confidence=_read_shares(replay.confidence(), n_rows))
                self._journal.store.put_clustering(clustering)

    def check_agreement(self, settled: Sequence[Event], rate: AssumedRate) -> None:
        """Check that the answers agree that count as right at an error rate."""
        if 0 not in (rate.values() if isinstance(rate, Mapping) else [rate]):
            return
        try:
            evidence_of(self._journal.n_rows, settled, rate)
        except SessionDamagedError:
            raise InfeasibleConstraintsError(
                "Some answers contradict each other, so they cannot all be right (error_rate=0). "
                "Undo or change the suspects first."
            ) from None

    # ------------------------------------------------------------ the file
    def save(self, path: str | os.PathLike[str]) -> None:
        """Move a session from memory to a file; later answers are stored there.

        Parameters
        ----------
        path : path
            The new file.

        Raises
        ------
        SessionError
            The session has a file already.
        """
        self.save_clustering(always=True)
        self._journal.save(path)

    def save_copy(self, path: str | os.PathLike[str]) -> None:
        """Write a complete copy; the session continues with its own file.

        Parameters
        ----------
        path : path
            The new file.
        """
        self.save_clustering(always=True)
        self._journal.store.copy_to(path)

    def close(self) -> None:
        """Store the labels and close the file; calling it again does nothing."""
        try:
            self.save_clustering(always=True)
        finally:
            self._journal.store.close()


def _read_shares(values: Any, n_rows: int) -> NDArray[np.float64] | None:
    """The confidences of a learner as a file may hold them; None if they are no shares, one for each row."""
    if values is None:
        return None
    shares = np.asarray(values, dtype=np.float64)
    is_right = shares.shape == (n_rows,) and ((shares > -ROUNDING) & (shares < 1 + ROUNDING)).all()
    return shares.clip(0, 1) if is_right else None
