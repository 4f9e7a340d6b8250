"""What a person says: single keys on a terminal, lines from anywhere else."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from types import TracebackType
from typing import Literal, Protocol, Self, TextIO

from linkwise.constraints.evidence import ANSWERS

Command = Literal["yes", "no", "unsure", "undo", "quit", "help"]
COMMANDS: dict[str, Command] = {
    "y": "yes",
    "n": "no",
    "s": "unsure",
    "u": "undo",
    "q": "quit",
    "?": "help",
    "yes": "yes",
    "no": "no",
    "unsure": "unsure",
    "undo": "undo",
    "quit": "quit",
    "help": "help",
}
POLL_S = 0.25  # a blocking read would miss a Ctrl-C whose signal reached a thread of some library
END_OF_TEXT = "\x04"  # Ctrl-D, which arrives as a key when the terminal sends keys one by one


def parse_command(text: str) -> Command | None:
    """What a key or a line means; None if nothing."""
    return COMMANDS.get(text.strip().lower())


class Reader(Protocol):
    """Where answers come from."""

    def forget(self) -> None:
        """Drop answers that were typed before the question was shown: they cannot be about it."""

    def read(self) -> str | None:
        """The next key or line; None at the end of input."""


class LineReader:
    """Answers as lines of a stream."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def forget(self) -> None:
        """Keep everything: a script may send its answers at once."""

    def read(self) -> str | None:
        """One line; None at the end."""
        line = self.stream.readline()
        return line.strip() if line else None


class KeyReader:
    """Answers as single keys of a terminal; restores the terminal on leaving."""

    def __init__(self, terminal: int) -> None:
        self.terminal = terminal
        self._early: list[str] = []

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self.terminal)
        self._on_resuming = signal.signal(signal.SIGCONT, lambda *_: self._by_key())  # after Ctrl-Z and fg
        self._by_key()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGCONT, self._on_resuming)
        termios.tcsetattr(self.terminal, termios.TCSADRAIN, self._before)

    def _by_key(self) -> None:
        tty.setcbreak(self.terminal, termios.TCSANOW)

    def forget(self) -> None:
        """Drop answers that were pressed early; undo and quit mean what they mean."""
        early = list(self._early)
        while self._waits(0):
            early.append(self._key())
        self._early = [key for key in early if parse_command(key) not in ANSWERS]

    def read(self) -> str | None:
        """One key; an arrow or a function key comes as the whole sequence it sends."""
        key = self._early.pop(0) if self._early else self._key()
        return None if key in ("", END_OF_TEXT) else key

    def _key(self) -> str:
        while not self._waits(POLL_S):
            pass
        sent = os.read(self.terminal, 1)
        if sent == b"\x1b" or sent >= b"\x80":
            while self._waits(0.01):
                sent += os.read(self.terminal, 1)
        return sent.decode("utf-8", errors="replace")

    def _waits(self, seconds: float) -> bool:
        return bool(select.select([self.terminal], [], [], seconds)[0])


def is_interactive() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()
