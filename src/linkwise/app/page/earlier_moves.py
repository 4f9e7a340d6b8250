"""How many rows each answer moved that was given before the session was opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from linkwise.session.session import Session
from linkwise.session.state.moves import measure_change
from linkwise.types import Labels


class EarlierMoves:
    """Shares of moved rows, computed from the history answer by answer while there is time.

    Attributes
    ----------
    shares : dict of int to float
        Share of the rows that moved, by the number of the event; complete when `is_complete`.
    is_complete : bool
    """

    def __init__(self, session: Session) -> None:
        self.shares: dict[int, float] = {}
        self.is_complete = False
        self._session = session
        self._steps: Iterator[tuple[int, Labels]] | None = None
        self._labels: Labels | None = None

    def advance(self, stop: Callable[[], bool]) -> bool:
        """Continue until `stop` returns True; return whether this completed the shares."""
        if self.is_complete:
            return False
        if self._steps is None:
            self._steps = self._session.retold()
        while not stop():
            step = next(self._steps, None)
            if step is None:
                self.is_complete = True
                return True
            number, labels = step
            if self._labels is not None:
                self.shares[number] = measure_change(self._labels, labels)
            self._labels = labels
        return False
