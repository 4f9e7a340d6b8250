"""Which processes that a program under test has started are still alive.

Each holds the writing end of a named pipe, so their end is seen whoever their parent is.
"""

from __future__ import annotations

import os
from pathlib import Path

from patience import wait_until


class Living:
    """Processes that a program starts by running the code of `start_child`."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._n_started, self._path = 0, path

    def start_child(self, seconds: float = 1000, more: str = "") -> str:
        """Return a line of Python that starts a child, which inherits the output and does nothing."""
        start = f"subprocess.Popen(['sleep', '{seconds}'], pass_fds=[held]{more})"
        return f"import os, subprocess; held = os.open({str(self._path)!r}, 1); os.write(held, b'x'); {start}"

    def has_any(self) -> bool:
        """Whether a child is alive."""
        try:
            letters = os.read(self._end, 1000)
        except BlockingIOError:
            return True
        self._n_started += len(letters)
        return bool(letters)

    def count_until_none(self) -> int:
        """Wait until none is alive, and return how many were started."""
        wait_until(lambda: not self.has_any(), "a child is still alive")
        return self._n_started

    def __enter__(self) -> Living:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._end)
