"""Start ``linkwise`` without its imports, which take most of the time of a short test.

A process of its own imports what the commands import, does nothing else, and forks once for each command that
it is asked to run. So a command begins where ``python -m linkwise`` is after its imports. If its first words
are ``-c`` and code, this code runs instead.
"""

from __future__ import annotations

import atexit
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

IMPORTED = (
    "linkwise.app.cli.main",
    "linkwise.app.cli.commands.ask",
    "linkwise.app.cli.commands.demo",
    "linkwise.learn.kin.kin",
    "linkwise.app.page.opening",
    "linkwise.app.page.server",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
)
LONGEST = 1 << 20  # bytes of a request


class WarmProcess:
    """Python with linkwise imported, which forks for each command."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        master, slave = pty.openpty()  # so that its streams are those of a terminal
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        os.close(slave)
        self.master = master

    def start(
        self,
        arguments: list[str],
        environment: dict[str, str],
        streams: Sequence[int],
        cwd: Path | None = None,
    ) -> int:
        """Run a command with these three file descriptors as its standard streams; its process id."""
        request = json.dumps({"argv": arguments, "env": environment, "cwd": str(cwd or os.getcwd())}).encode()
        socket.send_fds(self.socket, [request], streams)
        return self._reply()

    def wait(self, pid: int) -> int:
        """Wait until a command ends; its exit code, or minus the signal that ended it."""
        self.socket.send(json.dumps({"wait": pid}).encode())
        return os.waitstatus_to_exitcode(self._reply())

    def _reply(self) -> int:
        reply = self.socket.recv(LONGEST)
        assert reply, "the process that starts commands ended"
        return int(reply)

    def close(self) -> None:
        """End it; commands that run go on."""
        self.socket.close()
        self.process.wait()
        os.close(self.master)


class ColdStarts:
    """The same without a process that is prepared: each command is a new Python."""

    def __init__(self) -> None:
        self.processes: dict[int, subprocess.Popen[bytes]] = {}

    def start(self, arguments: list[str], environment: dict[str, str], streams: Sequence[int]) -> int:
        """Run a command with these three file descriptors as its standard streams; its process id."""
        process = subprocess.Popen(
            [sys.executable, "-m", "linkwise", *arguments],
            pass_fds=streams,
            env=environment,
            preexec_fn=lambda: take_streams(streams),
        )
        self.processes[process.pid] = process
        return process.pid

    def wait(self, pid: int) -> int:
        """Wait until a command ends; its exit code, or minus the signal that ended it."""
        return self.processes.pop(pid).wait()


@cache
def warm_process() -> WarmProcess:
    """Return the one of this process, which ends with it."""
    process = WarmProcess()
    atexit.register(process.close)
    return process


def find_starter(*, is_cold: bool) -> WarmProcess | ColdStarts:
    """Return what starts commands; only Linux forks a process with such imports safely."""
    return ColdStarts() if is_cold or sys.platform != "linux" else warm_process()


# ---------------------------------------------------------------- in the process that forks
def serve(connection: socket.socket) -> list[str]:
    """Fork for each request; returns the arguments of a command in its own process, and ends in the first."""
    while True:
        request, streams, *_ = socket.recv_fds(connection, LONGEST, 3)
        if not request:
            os._exit(0)
        asked = json.loads(request)
        if "wait" in asked:
            connection.send(str(os.waitpid(asked["wait"], 0)[1]).encode())
            continue
        with warnings.catch_warnings():  # BLAS has threads, but it prepares them for a fork
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            connection.close()
            take_streams(streams)
            sys.stdout.reconfigure(line_buffering=os.isatty(1))
            os.chdir(asked["cwd"])
            os.environ.clear()
            os.environ.update(asked["env"])
            return list(asked["argv"])
        for stream in streams:
            os.close(stream)
        connection.send(str(pid).encode())


def take_streams(streams: Sequence[int]) -> None:
    """Let these be the standard streams of this process; a terminal among them sends it signals."""
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in {*streams}:
        os.close(stream)
    if os.isatty(0):
        os.close(os.open(os.ttyname(0), os.O_RDWR))  # a leader of a session gets the first that it opens


if __name__ == "__main__":
    import gc
    import importlib
    import runpy

    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # no copy searches for garbage among what all of them share, which would copy its pages
    signal.signal(signal.SIGINT, signal.default_int_handler)
    words = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.path.pop(0)  # the folder of this file
    if words[:1] == ["-c"]:
        sys.argv = ["-c", *words[2:]]
        exec(words[1], {"__name__": "__main__"})
    else:
        sys.argv = ["linkwise", *words]
        runpy.run_module("linkwise", run_name="__main__", alter_sys=True)
