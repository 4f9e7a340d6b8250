"""The draft of an answer: how long its question has been shown, and the note that goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from linkwise.errors import SessionError
from linkwise.session.journal.events import check_note


class Draft:
    """What goes with the answer to the present question.

    `clock` returns the time in seconds; `is_timed` tells whether the seconds of an answer mean something.
    `note` is empty if there is none.
    """

    def __init__(self, clock: Callable[[], float], *, is_timed: bool) -> None:
        self.note = ""
        self._is_timed = is_timed
        self._clock = clock
        self._question_id = ""
        self._shown = 0.0

    def begin(self, question_id: str) -> str:
        """Begin another draft if another question is shown; return the note that the last one leaves."""
        if question_id == self._question_id:
            return ""
        lost, self.note = self.note, ""
        self._question_id, self._shown = question_id, self._clock()
        return lost

    def write(self, note: str) -> None:
        """Check and take a note; an empty one removes the note."""
        self.note = check_note(note)

    def remark(self) -> dict[str, Any]:
        """What is stored beside an answer that is given now."""
        seconds = self._clock() - self._shown if self._is_timed else None
        return {"seconds": seconds, "note": self.note}

    def finish(self) -> None:
        """Forget the note: it is stored."""
        self.note = ""


class NoteDisplay(Protocol):
    """Shows what becomes of a note."""

    def confirm_note(self, note: str) -> None:
        """Show the note that is saved with the answer; empty if it is removed."""

    def reject(self, why: str) -> None:
        """Show why nothing is saved."""


def take_note(display: NoteDisplay, draft: Draft, note: str) -> None:
    """Write a note for the answer that comes next, or show why it cannot be stored."""
    try:
        draft.write(note)
    except SessionError as error:
        display.reject(str(error))
    else:
        display.confirm_note(draft.note)
