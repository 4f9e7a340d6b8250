"""The command line on a real pseudo-terminal: wait for words, press keys."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from contextlib import contextmanager

from patience import patience
from warm_start import find_starter

CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """A process on a pseudo-terminal: wait for words, press keys."""

    def __init__(self, starter, pid, fd):
        self.starter, self.pid, self.fd, self.text = starter, pid, fd, ""
        self.seen, self.code = 0, None

    def wait_for(self, words):
        """What was written up to `words`, from where the last wait ended."""
        begun = time.monotonic()
        while words not in CONTROL.sub("", self.text)[self.seen :]:
            assert time.monotonic() - begun < patience(), f"no {words!r} in {self.text!r}"
            self._take()
        plain = CONTROL.sub("", self.text)
        start, self.seen = self.seen, plain.index(words, self.seen) + len(words)
        return plain[start : self.seen]

    def start(self):
        """Start with the columns as they are."""
        self.wait_for("number of a column] ")
        self.press("\n")

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def ended(self):
        """Exit code, after everything written was taken in."""
        while self._take():
            pass
        return self.end()

    def end(self):
        """Wait for the process; its exit code."""
        if self.code is None:
            self.code = self.starter.wait(self.pid)
        return self.code

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
def on_terminal(*arguments, columns=80, lines=24, is_cold=False, **environment):
    """Run ``linkwise``; cold, as a new Python, and warm, as a copy of one that has imported it."""
    starter = find_starter(is_cold=is_cold)
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    fd, slave = pty.openpty()
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    try:
        environment = {**known, "TERM": "xterm-256color", **environment}
        pid = starter.start([*map(str, arguments)], environment, [slave] * 3)
    finally:
        os.close(slave)
    screen = Terminal(starter, pid, fd)
    try:
        yield screen
    finally:
        os.close(fd)
        if screen.code is None:
            os.kill(pid, signal.SIGKILL)
            screen.end()


PROMPT = "help, reason\r\n> "
