"""Run ``linkwise``, or code that uses it, in another process, with pipes as its streams."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path
from signal import SIGKILL

from warm_start import WarmProcess, warm_process


class WarmProgram:
    """A command in a copy of a process that has imported linkwise; its methods are those of `Popen`."""

    def __init__(
        self, starter: WarmProcess, arguments: list[str], environment: dict[str, str], cwd: Path | None
    ) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        ours_err, theirs_err = os.pipe()
        streams = (theirs_in, theirs_out, theirs_err)
        self._starter = starter
        self.pid = starter.start(arguments, environment, streams, cwd)
        self._ending = os.pidfd_open(self.pid)
        for stream in streams:
            os.close(stream)
        self.stdin = os.fdopen(ours_in, "w", encoding="utf-8", errors="surrogateescape")
        self.stdout = os.fdopen(ours_out, encoding="utf-8")
        self.stderr = os.fdopen(ours_err, encoding="utf-8")
        self.returncode: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(SIGKILL)

    def poll(self) -> int | None:
        """Return its exit code, None while it runs."""
        return self._end_within(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends; its exit code."""
        code = self._end_within(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"linkwise, process {self.pid}", timeout or 0.0)
        return code

    def communicate(self, said: str = "", timeout: float | None = None) -> tuple[str, str]:
        """Say the last words, wait for the end, and take what was written; a pipe holds that of a test."""
        self.stdin.write(said)
        self.stdin.close()
        self.wait(timeout)
        written = tuple("" if stream.closed else stream.read() for stream in (self.stdout, self.stderr))
        self._close()
        return written

    def _end_within(self, seconds: float | None) -> int | None:
        """Return its exit code if it ends in time."""
        if self.returncode is None and select.select([self._ending], [], [], seconds)[0]:
            self.returncode = self._starter.wait(self.pid)
            os.close(self._ending)
        return self.returncode

    def _close(self) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            stream.close()

    def __enter__(self) -> WarmProgram:
        return self

    def __exit__(self, *error: object) -> None:
        self._close()
        if self.poll() is None and error[0] is not None:
            self.kill()
        self.wait()


def start_command(
    *arguments: object, cwd: Path | None = None, is_cold: bool = False, **environment: str
) -> WarmProgram | subprocess.Popen[str]:
    """Start ``linkwise``; cold, as a new Python, and warm, as a copy of one that has imported it."""
    words, environment = [*map(str, arguments)], {**os.environ, **environment}
    if not is_cold and sys.platform == "linux":  # only there a process with such imports forks safely
        return WarmProgram(warm_process(), words, environment, cwd)
    return subprocess.Popen(
        [sys.executable, "-m", "linkwise", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="surrogateescape",
        cwd=cwd,
        env=environment,
    )


def start_code(code: str, *arguments: object) -> WarmProgram | subprocess.Popen[str]:
    """Start ``python -c code``, in a copy of a process that has imported linkwise where that is safe."""
    words = ["-c", code, *map(str, arguments)]
    if sys.platform == "linux":
        return WarmProgram(warm_process(), words, {**os.environ}, None)
    return subprocess.Popen(
        [sys.executable, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
