"""Which rows answers moved: those before the session was opened, and the last ones of several people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from linkwise.session.journal.events import Event
from linkwise.session.session import Session
from linkwise.session.state.moves import describe_moves, find_moves, measure_change
from linkwise.types import Labels
from linkwise.wording import count_noun

MOST_EVENTS = 256  # that are remembered
MOST_LISTED = 4  # answers of a person; a page waits for what its last one moved


class EarlierMoves:
    """Shares of moved rows by the number of the event, computed from the history while there is time."""

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
            self._steps = self._session.replay_labels()
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


class RecentMoves:
    """What moved by each event, in words; events that came together moved it together.

    An answer of one of several people is confirmed before that is known.
    """

    def __init__(self) -> None:
        self._found: dict[int, str] = {}  # by the number of an event

    def note(self, numbers: Sequence[int], before: Labels, after: Labels, names: Mapping[int, str]) -> None:
        """Remember which rows moved by some new events; `names` are those of the clusters."""
        if numbers:
            moves, n_others = find_moves(before, after), len(numbers) - 1
            text = describe_moves(moves, names)
            if moves.n_rows and n_others:
                text += f" {count_noun(n_others, 'other answer')} came at the same moment."
            self._found |= dict.fromkeys(numbers, text)
            for number in list(self._found)[:-MOST_EVENTS]:
                del self._found[number]

    def list_of(self, history: Sequence[Event], person: str) -> list[dict[str, int | str]]:
        """List which rows the last answers of a person moved."""
        own = [e.number for e in history if e.kind == "answer" and e.source == person]
        return [
            {"event": number, "moved": self._found[number]}
            for number in own[-MOST_LISTED:]
            if number in self._found
        ]
