"""A program with all processes that it starts: they end together, however linkwise ends.

The processes form a group. When the program ends, what it has left running ends too, so nothing keeps its
pipes open. The end of linkwise itself, by an error or otherwise, ends all groups; only a kill does not.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

GRACE_S = 2.0  # to end by itself when its input ends, and for the machine to end what was killed

_running: set[ProcessGroup] = set()


class ProcessGroup:
    """A program that was started, with pipes as its input and output. One thread must call `wait`.

    Raises OSError if the program cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},  # a print without flush=True is a reply, too
            start_new_session=True,  # Ctrl-C is for linkwise, which then ends the program
        )
        self._lock = threading.Lock()  # the number of the group may have a new owner after the last wait
        self._has_ended = threading.Event()
        _running.add(self)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def stdin(self) -> IO[bytes]:
        """The input of the program."""
        assert self._process.stdin is not None  # a pipe
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The output of the program."""
        assert self._process.stdout is not None  # a pipe
        return self._process.stdout

    def wait(self) -> int:
        """Wait until the program ends, end what it has started, and return its exit code."""
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._process.wait()
        with self._lock:
            self._kill()
            code = self._process.wait()
            self._has_ended.set()
        _running.discard(self)
        return code

    def end(self, grace: float = 0.0) -> None:
        """End the program and what it has started, unless it ends by itself within so many seconds."""
        if self._has_ended.wait(grace):
            return
        with self._lock:
            if not self._has_ended.is_set():
                self._kill()
        self._has_ended.wait(GRACE_S)

    def _kill(self) -> None:
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        else:
            self._process.kill()


@atexit.register
def end_all() -> None:
    """End all groups that are left."""
    for group in list(_running):
        group.end()
