"""Standard streams that take every character, and that may be closed at any time.

Words for people are spelled with the characters that the stream has. Data keep all of theirs
(`output.write_data`, `protocol.emit`).
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, TextIO, cast

CLOSED = 141  # as shells report of a program that a closed pipe has ended
NEAREST = "linkwise.nearest"  # how characters are written that an encoding does not have
ALIKE = {
    "-": "·─–—−",
    "~": "…",
    "|": "│",
    "+": "├└┌┐┘",
    "#": "█▓▒░▀",
    "'": "‘’",
    '"': "“”",
    "2": "²",
    "3": "³",
    "<=": "≤",
    ">=": "≥",
    "!=": "≠",
}
_SPELLED = {ord(sign): plain for plain, signs in ALIKE.items() for sign in signs}


class Output(io.TextIOWrapper):
    """Stdout that ends the program without a word once its reader has closed it."""

    def write(self, text: str) -> int:
        """Write a text."""
        try:
            return super().write(text)
        except BrokenPipeError:
            return self._end()

    def flush(self) -> None:
        """Write what is held back."""
        try:
            super().flush()
        except BrokenPipeError:
            self._end()

    def _end(self) -> int:
        discard(self)
        raise SystemExit(CLOSED)


class Messages(io.TextIOWrapper):
    """Stderr that forgets what nobody reads, so that the work goes on."""

    def write(self, text: str) -> int:
        """Write a text."""
        try:
            return super().write(text)
        except BrokenPipeError:
            discard(self)
            return len(text)

    def flush(self) -> None:
        """Write what is held back."""
        try:
            super().flush()
        except BrokenPipeError:
            discard(self)


def discard(stream: TextIO) -> None:
    """Let all that goes to a stream from now on, and what it holds back, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def prepare_streams() -> None:
    """Make the standard streams of this process ready; streams that something else has put there stay."""
    codecs.register_error(NEAREST, write_nearest)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever began this process
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - it stays open
        elif mode == "w" and getattr(sys, name) is getattr(sys, f"__{name}__"):
            kind = Output if name == "stdout" else Messages
            setattr(sys, name, _wrap(getattr(sys, name), kind))
            setattr(sys, f"__{name}__", getattr(sys, name))


def _wrap(stream: TextIO, kind: type[io.TextIOWrapper]) -> io.TextIOWrapper:
    """The same stream as another class, which writes each character that its encoding does not have."""
    given = cast("io.TextIOWrapper", stream)
    keep: dict[str, Any] = {"line_buffering": given.line_buffering, "write_through": given.write_through}
    encoding = given.encoding
    return kind(given.detach(), encoding, NEAREST, **keep)


def write_nearest(error: UnicodeError) -> tuple[str, int]:
    """Spell characters that an encoding does not have: signs by a similar one, others by their numbers."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_SPELLED)
    return text.encode("ascii", "backslashreplace").decode(), error.end
