"""How much the answers moved that were given before a session was opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from linkwise.asking.learner import Labels
from linkwise.page.stopping import moved_share
from linkwise.session.session import Session


class EarlierMoves:
    """Worked out from the history, one answer after the other, when there is time for it.

    Attributes
    ----------
    shares : dict of int to float
        Share of the rows that moved, by the number of the event; all of them when `whole`.
    whole : bool
    """

    def __init__(self, session: Session) -> None:
        self.shares: dict[int, float] = {}
        self.whole = False
        self._session = session
        self._steps: Iterator[tuple[int, Labels]] | None = None
        self._labels: Labels | None = None

    def go_on(self, stop: Callable[[], bool]) -> bool:
        """Go on where it stopped, until `stop` says to stop; whether this brought it to its end."""
        if self.whole:
            return False
        if self._steps is None:
            self._steps = self._session.retold()
        while not stop():
            step = next(self._steps, None)
            if step is None:
                self.whole = True
                return True
            number, labels = step
            if self._labels is not None:
                self.shares[number] = moved_share(self._labels, labels)
            self._labels = labels
        return False
