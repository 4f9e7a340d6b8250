"""Commands of a person: single keys on a terminal, lines from anywhere else."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from types import TracebackType
from typing import Literal, NamedTuple, Protocol, Self, TextIO, get_args

from linkwise.constraints.facts import ANSWERS

Command = Literal["yes", "no", "unsure", "undo", "later", "quit", "help"]
COMMANDS: dict[str, Command] = {
    "y": "yes",
    "n": "no",
    "s": "unsure",
    "u": "undo",
    "l": "later",
    "q": "quit",
    "?": "help",
    "yes": "yes",
    "no": "no",
    "unsure": "unsure",
    "same": "yes",
    "different": "no",
    "not sure": "unsure",
    "undo": "undo",
    "later": "later",
    "quit": "quit",
    "help": "help",
}
POLL_S = 0.25  # a blocking read would miss a Ctrl-C whose signal reaches a thread of a library
LONGEST_LINE = 4096  # bytes that a terminal hands over at once
SUSPECTS = "suspects"  # the command with words after it: what to do with which suspect
SUSPECT_KEY = "w"  # for wrong
SuspectAction = Literal["list", "back", "turn", "sure"]
COLUMNS_KEY = "d"  # weighs columns by the answers, or takes the weights back
GUIDELINES_KEY, GUIDELINES = "g", "guidelines"
NOTE_KEY, NOTE = "a", "note"  # the command with the note after it; n means different
CLUSTERS = "clusters"  # the command with words after it: which clusters
NEITHER_KEY = "x"  # in a review of a card
END_OF_TEXT = "\x04"  # Ctrl-D, which arrives as a key when the terminal sends keys one by one


def parse_command(text: str) -> Command | None:
    """Parse a key or a line; None if it is not a command."""
    return COMMANDS.get(text.strip().lower())


def parse_cluster_command(text: str) -> str | None:
    """Return what follows ``c`` or ``clusters``; None if the line begins with another word."""
    first, _, wanted = text.strip().partition(" ")
    return wanted.strip() if first.lower() in ("c", CLUSTERS) else None


def parse_note(text: str) -> str | None:
    """Return what follows ``a`` or ``note``; None if the line begins with another word."""
    first, _, note = text.strip().partition(" ")
    return note.strip() if first.lower() in (NOTE_KEY, NOTE) else None


def asks_for_guidelines(text: str) -> bool:
    """Whether a key or a line asks for the guidelines of the session."""
    return text.strip().lower() in (GUIDELINES_KEY, GUIDELINES)


class SuspectCommand(NamedTuple):
    """What to do about answers that are probably wrong: list them.

    Or take one back, turn it round, or confirm it. `number` is that of the suspect's event; 0 for the
    list.
    """

    action: SuspectAction
    number: int = 0


def parse_suspect_command(text: str) -> SuspectCommand | str | None:
    """Parse ``suspects``, or ``suspects back 3``; None if the line begins with another word.

    Returns a text if the words after ``suspects`` are unknown.
    """
    first, _, rest = text.strip().lower().partition(" ")
    if first not in (SUSPECT_KEY, SUSPECTS):
        return None
    words = rest.split()
    if not words:
        return SuspectCommand("list")
    for action in get_args(SuspectAction)[1:]:
        if words[0] == action and len(words) == 2 and words[1].isdecimal() and len(words[1]) < 10:
            return SuspectCommand(action, int(words[1]))
    return rest


class Reader(Protocol):
    """Reads commands.

    With `is_timed` each answer is given after its question is shown, so that its seconds mean something.
    """

    @property
    def is_timed(self) -> bool: ...  # noqa: D102  # see above

    def forget(self) -> None:
        """Drop answers that were typed before the question was shown: they are not about it."""

    def read(self) -> str | None:
        """Read the next key or line; None at the end of input."""


class LineReader:
    """Reads the lines of a stream; `is_timed` says whether a person types them."""

    def __init__(self, stream: TextIO, *, is_timed: bool = False) -> None:
        self.stream = stream
        self.is_timed = is_timed

    def forget(self) -> None:
        """Drop nothing: a script may send all answers at once."""

    def read(self) -> str | None:
        """Read one line; None at the end."""
        line = self.stream.readline()
        return line.strip() if line else None


class KeyReader:
    """Reads single keys of a terminal; restores the terminal at the end."""

    is_timed = True

    def __init__(self, terminal: int, *, with_suspects: bool = False) -> None:
        self.terminal = terminal
        self._lines = {"c": CLUSTERS, NOTE_KEY: NOTE} | ({SUSPECT_KEY: SUSPECTS} if with_suspects else {})
        self._early: list[str] = []

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self.terminal)
        self._on_resuming = signal.signal(
            signal.SIGCONT, lambda *_: self._send_single_keys()
        )  # after Ctrl-Z and fg
        self._send_single_keys()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGCONT, self._on_resuming)
        termios.tcsetattr(self.terminal, termios.TCSADRAIN, self._before)

    def _send_single_keys(self) -> None:
        tty.setcbreak(self.terminal, termios.TCSANOW)

    def forget(self) -> None:
        """Drop answers and "later" that were pressed early; keep undo and quit."""
        early = list(self._early)
        while self._has_input(0):
            early.append(self._key())
        answers = (*ANSWERS, "later")
        self._early = [key for key in early if parse_command(key) not in answers and key != NEITHER_KEY]

    def read(self) -> str | None:
        """Read one key; an arrow or a function key is the whole sequence that it sends.

        Enter and space are passed over: many people press Enter after each key. After ``c`` the person types
        which clusters, as a line, and after ``a`` a note; after ``w`` what to do with which suspect, if
        answers may be wrong.
        """
        key = self._next_key()
        while key.isspace():
            key = self._next_key()
        command = self._lines.get(key.lower())
        if command is not None:
            return f"{command} {self._line(f'{command} ')}"
        return None if key in ("", END_OF_TEXT) else key

    def _next_key(self) -> str:
        return self._early.pop(0) if self._early else self._key()

    def _line(self, prompt: str) -> str:
        """Read a line, which the terminal lets the person edit."""
        single = termios.tcgetattr(self.terminal)
        termios.tcsetattr(self.terminal, termios.TCSANOW, self._before)
        try:
            os.write(self.terminal, prompt.encode())
            while not self._has_input(POLL_S):
                pass
            return os.read(self.terminal, LONGEST_LINE).decode("utf-8", errors="replace").strip()
        finally:
            termios.tcsetattr(self.terminal, termios.TCSANOW, single)

    def _key(self) -> str:
        while not self._has_input(POLL_S):
            pass
        sent = os.read(self.terminal, 1)
        if sent == b"\x1b" or sent >= b"\x80":
            while self._has_input(0.01):
                sent += os.read(self.terminal, 1)
        return sent.decode("utf-8", errors="replace")

    def _has_input(self, seconds: float) -> bool:
        return bool(select.select([self.terminal], [], [], seconds)[0])


def is_interactive() -> bool:
    """Whether input and output are both a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()
