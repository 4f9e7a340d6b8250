"""Which rows the last answers of several people moved: an answer is confirmed before that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linkwise.session.journal.events import Event
from linkwise.session.state.moves import describe_moves, find_moves
from linkwise.types import Labels
from linkwise.wording import count_noun

MOST_EVENTS = 256  # that are remembered
MOST_LISTED = 4  # answers of a person; a page waits for what its last one moved


class RecentMoves:
    """What moved by each event, in words; events that came together moved it together."""

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
