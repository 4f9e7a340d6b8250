"""How many rows the last answers of several people moved: an answer is confirmed before that is known."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.asking.learner import Labels
from linkwise.page.stopping import count_moved_rows
from linkwise.session.events import Event

MOST_EVENTS = 256  # that are remembered
MOST_LISTED = 4  # answers of a person; a page waits for what its last one moved


class RecentMoves:
    """What moved by each event; events that came together count together."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[int, int]] = {}  # by the number of an event: rows, and other events

    def note(self, numbers: Sequence[int], before: Labels, after: Labels) -> None:
        """Remember what moved by some new events."""
        if numbers:
            moved = count_moved_rows(before, after)
            self._found |= dict.fromkeys(numbers, (moved, len(numbers) - 1))
            for number in list(self._found)[:-MOST_EVENTS]:
                del self._found[number]

    def list_of(self, history: Sequence[Event], person: str) -> list[dict[str, int]]:
        """List what the last answers of a person moved, and how many other events moved it with them."""
        own = [e.number for e in history if e.kind == "answer" and e.source == person]
        return [
            {"event": number, "moved": self._found[number][0], "others": self._found[number][1]}
            for number in own[-MOST_LISTED:]
            if number in self._found
        ]
