"""The command line on a real pseudo-terminal: wait for words, press keys."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from contextlib import contextmanager

from patience import patience

CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """A process on a pseudo-terminal: wait for words, press keys."""

    def __init__(self, pid, fd):
        self.pid, self.fd, self.text = pid, fd, ""
        self.seen = 0

    def wait_for(self, words):
        """What was written up to `words`, from where the last wait ended."""
        begun = time.monotonic()
        while words not in CONTROL.sub("", self.text)[self.seen :]:
            assert time.monotonic() - begun < patience(), f"no {words!r} in {self.text!r}"
            self._take()
        plain = CONTROL.sub("", self.text)
        start, self.seen = self.seen, plain.index(words, self.seen) + len(words)
        return plain[start : self.seen]

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def ended(self):
        """Exit code, after everything written was taken in."""
        while self._take():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def plain(self):
        return CONTROL.sub("", self.text)

    def _take(self):
        assert select.select([self.fd], [], [], patience())[0], f"silent after {self.text!r}"
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += chunk.decode(errors="replace")
        return bool(chunk)


@contextmanager
def on_terminal(*arguments, columns=80, lines=24, **environment):
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "linkwise", *map(str, arguments)]
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(sys.executable, command, {**known, "TERM": "xterm-256color", **environment})
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    try:
        yield Terminal(pid, fd)
    finally:
        os.close(fd)
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


PROMPT = "help, reason\r\n> "
