"""Remarks on an answer: seconds and a note, which no learner sees, and how reliable its source calls it."""

from __future__ import annotations

from numbers import Real
from typing import Any, NotRequired, TypedDict

from linkwise.errors import SessionError, short_repr
from linkwise.text_files import is_unicode

MOST_NOTE = 2_000  # characters
MOST_SECONDS = 1_000_000_000  # thirty years


class Remark(TypedDict):
    """What is stored beside an answer."""

    seconds: float | None
    note: str
    reliability: NotRequired[float | None]


def check_note(note: object) -> str:
    """Check a note, and return it without spaces around it and with plain line breaks."""
    if not isinstance(note, str):
        raise TypeError(f"The note is not text: {short_repr(note)}. Pass text.")
    if not is_unicode(note):
        raise SessionError("The note is not valid Unicode: it holds half a character. Type it again.")
    lines = _plain_lines(note)
    if len(lines) > MOST_NOTE:
        raise SessionError(f"The note has {len(lines)} characters. Shorten it to {MOST_NOTE} or fewer.")
    return lines


def check_seconds(seconds: object) -> float | None:
    """Check the seconds that an answer took, and round them to milliseconds; None if they are unknown."""
    if seconds is None:
        return None
    if not isinstance(seconds, Real) or isinstance(seconds, bool):
        raise TypeError(f"seconds is not a number: {short_repr(seconds)}. Pass a number, or None.")
    if not is_duration(seconds):
        raise ValueError(
            f"seconds is {short_repr(seconds)}. Pass a number from 0 to {MOST_SECONDS}, or None."
        )
    return round(float(seconds), 3)


def is_duration(seconds: Any) -> bool:
    """Whether a number can be the seconds that an answer took; NaN and infinities cannot."""
    return bool(0 <= seconds <= MOST_SECONDS)


def shorten_note(text: str) -> str:
    """Make a note of any text of a program: escape half characters, and cut what is too long."""
    plain = _plain_lines(text.encode(errors="backslashreplace").decode())
    return plain if len(plain) <= MOST_NOTE else f"{plain[: MOST_NOTE - 2].rstrip()} …"


def _plain_lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
