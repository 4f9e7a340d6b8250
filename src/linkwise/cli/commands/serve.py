"""``linkwise serve``: the page on which people answer, for a browser on this machine or elsewhere.

The address is printed before anything heavy is imported, let alone read.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING

from linkwise.cli.shutdown import call_on_signal
from linkwise.workspace.exit_codes import INTERRUPTED, Interrupted, UsageError, say

if TYPE_CHECKING:
    from linkwise.page.auth import Door
    from linkwise.page.hub import Room
    from linkwise.page.presenter import Desk
    from linkwise.workspace.learners import Asking
    from linkwise.workspace.project import Project
    from linkwise.workspace.reading import Reading

OPEN_AFTER_S = 1.0  # what goes wrong sooner is said on the terminal alone
CLOSE_S = 2.0  # how long Ctrl-C waits for what is being computed
PASSWORD = "LINKWISE_PASSWORD"


@dataclass(frozen=True, slots=True)
class Where:
    """Where the page is served, and whether a browser opens it."""

    host: str = "127.0.0.1"
    port: int = 0
    browser: bool = True
    password_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """What is served: how it is opened, and what to say of it.

    Attributes
    ----------
    title : str
    begin : callable
        ``begin()`` reads the data and gives the desk.
    ended : callable
        ``ended(n_answers)``: what to say on Ctrl-C; None: the session was not open yet.
    """

    title: str
    begin: Callable[[], Desk]
    ended: Callable[[int | None], str]


def serve(
    file: Path,
    options: Callable[[], tuple[Reading, Asking]],
    where: Where,
    *,
    session: Path | None = None,
    constraints: Path | None = None,
    old: Path | None = None,
    budget: int | None = None,
) -> None:
    """Serve the page about the rows of `file`, until Ctrl-C; `options` are made after the address is out."""
    file = file if file.name not in ("", "..") else file.resolve()  # the folder . has no name
    found: list[Project] = []

    def begin() -> Desk:
        from linkwise.page.opening import of_project
        from linkwise.workspace.project import data_of_session, is_session, new_session_path, open_project

        data, path = file, session
        if session is None and is_session(file):
            data, path = data_of_session(file), file
        path = new_session_path(data, path)
        found.append(open_project(data, path, *options(), constraints=constraints, old=old))
        _tell(found[0])
        return of_project(found[0], budget=budget)

    def ended(n_answers: int | None) -> str:
        from linkwise.wording import count_noun, quote_command, strip_controls

        again = quote_command("linkwise", "serve", file, *(() if session is None else ("--session", session)))
        if not found:
            return f"interrupted before the first question; everything said is saved; go on with: {again}"
        saved = f"{count_noun(n_answers or 0, 'answer')} saved in {strip_controls(str(found[0].path))}"
        return f"interrupted; {saved}; go on with: {again}"

    hold_page(Subject(file.name, begin, ended), where)


def _tell(project: Project) -> None:
    """What was opened, and what was chosen on the way."""
    from linkwise.cli.commands.ask import first_words

    for words in first_words(project):
        for line in [words] if isinstance(words, str) else words:
            say(line)


# ---------------------------------------------------------------- whether there is a browser
def can_open() -> bool:
    """Whether a person sits here before a screen with a browser."""
    return sys.stdin.isatty() and sys.stdout.isatty() and has_browser()


def has_browser() -> bool:
    """Whether there is a screen with a browser."""
    screen = sys.platform in ("darwin", "win32") and "SSH_CONNECTION" not in os.environ
    if not (screen or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


# ---------------------------------------------------------------- holding a page
def hold_page(subject: Subject, where: Where) -> None:
    """Serve one subject until Ctrl-C, which ends in words."""
    password = _password(where)
    sock = _listening(where)
    with sock:
        asyncio.run(_held(subject, where, sock, password))


def _listening(where: Where) -> socket.socket:
    from linkwise.page.server import listening

    try:
        return listening(where.host, where.port)
    except OSError as error:
        way_out = "leave --port out to take a free one" if where.port else "choose another --host"
        raise UsageError(
            f"nothing can listen on {where.host} port {where.port} ({error.strerror or error}); {way_out}"
        ) from None


def _password(where: Where) -> str | None:
    """The password; None where only this machine can come and none is wanted."""
    from linkwise.page.auth import LEAST_PASSWORD, is_loopback

    if where.password_file is not None:
        lines = where.password_file.read_text(encoding="utf-8").splitlines()
        given, place = lines[0] if lines else "", f"the first line of {where.password_file}"
    elif os.environ.get(PASSWORD):
        given, place = os.environ[PASSWORD], PASSWORD
    elif is_loopback(where.host):
        return None
    elif sys.stdin.isatty():
        given, place = getpass("Password for the page: "), "the password"
    else:
        raise UsageError(
            f"--host {where.host} lets other machines in, so the page needs a password; "
            f"give one by --password-file FILE or in {PASSWORD}"
        )
    if len(given) < LEAST_PASSWORD:
        raise UsageError(f"{place} has {len(given)} letters; a password has {LEAST_PASSWORD} or more")
    return given


async def _held(subject: Subject, where: Where, sock: socket.socket, password: str | None) -> None:
    from linkwise.page.auth import Door, Password
    from linkwise.page.hub import Room
    from linkwise.page.server import host

    port = sock.getsockname()[1]
    door = Door(_called(where.host), port, Password(password) if password is not None else None)
    room, stop = Room(f"reading {subject.title}"), asyncio.Event()
    address = door.new_address()
    loop = asyncio.get_running_loop()
    with call_on_signal(lambda: loop.call_soon_threadsafe(stop.set)):
        print(address, flush=True)
        say(_how_to_end(door))
        _new_addresses(loop, door)
        opening = asyncio.create_task(_open_soon(address, room)) if where.browser else None
        try:
            await host(room, door, sock, subject.begin, stop)
        finally:
            if opening is not None:
                opening.cancel()
            await _closed(room, subject)
    raise _interrupted(subject, room)


def _called(host: str) -> str:
    """The name to open: that of this machine where linkwise listens on all its addresses."""
    return socket.gethostname() if host in ("0.0.0.0", "::") else host


def _how_to_end(door: Door) -> str:
    if door.password is not None:
        return "the password is asked for there; traffic is not encrypted, see the docs; Ctrl-C ends"
    more = "; Enter prints one for another browser" if sys.stdin.isatty() else ""
    return f"this address works once{more}; Ctrl-C ends, everything said is saved"


async def _closed(room: Room, subject: Subject) -> None:
    """Let go of the session. A thread deep in a computation cannot be stopped, but left: all is stored."""
    try:
        await asyncio.wait_for(room.close(), CLOSE_S)
    except TimeoutError:
        _leave(subject, room)


def _leave(subject: Subject, room: Room) -> None:
    say(str(_interrupted(subject, room)))
    os._exit(INTERRUPTED)


def _interrupted(subject: Subject, room: Room) -> Interrupted:
    """The end in words, on a line below the ^C of a terminal."""
    with suppress(OSError):
        print(file=sys.stderr)
    return Interrupted(subject.ended(room.n_answers))


async def _open_soon(address: str, room: Room) -> None:
    """Open the browser when there is something to see, or after a second."""
    ends = asyncio.get_running_loop().time() + OPEN_AFTER_S
    while room.n_answers is None and asyncio.get_running_loop().time() < ends:
        await asyncio.sleep(0.02)
    room.awaited = not room.views
    # some browsers hold up whoever opens them
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _new_addresses(loop: asyncio.AbstractEventLoop, door: Door) -> None:
    """Print another address whenever Enter is pressed."""
    if door.password is not None or not sys.stdin.isatty():
        return
    terminal = sys.stdin.fileno()

    def pressed() -> None:
        try:
            if os.tcgetpgrp(terminal) != os.getpgrp():  # in the background a read would stop us
                return
            line = os.read(terminal, 1024)
        except OSError:  # the terminal is gone
            line = b""
        if line:
            print(door.new_address(), flush=True)
        else:
            loop.remove_reader(terminal)

    with suppress(OSError, NotImplementedError):
        loop.add_reader(terminal, pressed)
