"""``linkwise serve``: the page on which people answer, for a browser on this machine or elsewhere.

The address is printed before anything heavy is imported, let alone read.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from getpass import getpass
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from linkwise.app.project.exit_codes import INTERRUPTED, Interrupted, UsageError, break_line, say

if TYPE_CHECKING:
    from linkwise.app.page.auth import AccessControl
    from linkwise.app.page.hub import Hub
    from linkwise.app.page.presenter import Presenter
    from linkwise.app.page.start_page import StartPage
    from linkwise.app.project.method_choice import MethodChoice
    from linkwise.app.project.options import SessionOptions
    from linkwise.app.project.project import Project
    from linkwise.data.reading import Reading

OPEN_AFTER_S = 1.0  # what goes wrong sooner is said on the terminal alone
CLOSE_S = 2.0  # how long Ctrl-C waits for what is being computed
PASSWORD = "LINKWISE_PASSWORD"
PACKAGES = ("starlette", "uvicorn", "websockets")  # the extra "page"


@dataclass(frozen=True, slots=True)
class PageAddress:
    """Where the page is served, whether a browser opens it, and the names of the people who answer."""

    host: str = "127.0.0.1"
    port: int = 0
    browser: bool = True
    password_file: Path | None = None
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtraQuestions:
    """Questions that tell how reliable people are.

    `overlap` is the share of questions that a second person gets, too, and `gold` a file of pairs that
    are known.
    """

    overlap: float = 0.0
    gold: Path | None = None

    def check(self, people: tuple[str, ...], kept: SessionOptions) -> None:
        """Check that the options go together."""
        for flag, needed in (("--overlap", 2 * bool(self.overlap)), ("--gold", self.gold is not None)):
            if len(people) < needed:
                who = "several people" if needed > 1 else "people"
                raise UsageError(f"{flag} is for {who} who answer. Add --annotators ANNA,BEN.")
            if needed:
                self.check_errors(flag, is_fallible=kept.error_rate != 0)

    def check_errors(self, flag: str, *, is_fallible: bool) -> None:
        """Check that the session can learn from the answers."""
        if not is_fallible:
            raise UsageError(
                f"{flag} shows how often answers are wrong, and this session takes all of them as right. "
                "Add --error-rate estimate."
            )

    def options(self) -> tuple[object, ...]:
        """The options that say the same."""
        return (
            *(("--overlap", f"{self.overlap:g}") if self.overlap else ()),
            *(("--gold", self.gold) if self.gold else ()),
        )


NO_EXTRA = ExtraQuestions()


@dataclass(frozen=True, slots=True)
class PageSource:
    """What is served.

    ``begin()`` reads the data and gives the presenter; in its place there may be the page on which a person
    chooses the data. ``ended(n_answers)`` says what to print on Ctrl-C; None means that the session was not
    open yet.
    """

    title: str
    begin: Callable[[], Presenter] | StartPage
    ended: Callable[[int | None], str]


def serve(
    file: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions,
    where: PageAddress,
    extra: ExtraQuestions = NO_EXTRA,
) -> None:
    """Serve the page about the rows of `file` until Ctrl-C."""
    extra.check(where.people, kept)
    serve_page(prepare_file(file, reading, choice, kept, where.people, extra), where)


def prepare_file(
    file: Path,
    reading: Reading,
    choice: MethodChoice,
    kept: SessionOptions,
    people: tuple[str, ...] = (),
    extra: ExtraQuestions = NO_EXTRA,
) -> PageSource:
    """The page about the rows of `file`, which is read later."""
    file = file if file.name not in ("", "..") else file.resolve()  # the folder . has no name
    found: list[Project] = []
    names = ("--annotators", ",".join(people)) if people else ()

    def begin() -> Presenter:
        from linkwise.app.project.project import choose_files, open_project
        from linkwise.app.project.recent_sessions import note_opening

        data, path = choose_files(file, kept.session)
        more = (*names, *extra.options())
        project = open_project(data, path, reading, choice, kept, verb="serve", more=more)
        try:
            presenter = _present(project, kept.budget, extra)
        except BaseException:
            project.session.close()
            raise
        found.append(project)
        note_opening(path)
        return presenter

    def ended(n_answers: int | None) -> str:
        from linkwise.wording import count_noun, quote_command, strip_controls

        session = () if kept.session is None else ("--session", kept.session)
        again = quote_command("linkwise", "serve", file, *session, *names, *extra.options())
        if not found:
            return f"Interrupted before the first question. Every answer is saved. Go on with: {again}"
        saved = f"{count_noun(n_answers or 0, 'answer')} saved in {strip_controls(str(found[0].path))}"
        return f"Interrupted: {saved}. Go on with: {again}"

    return PageSource(file.name, begin, ended)


def _present(project: Project, budget: int | None, extra: ExtraQuestions) -> Presenter:
    from linkwise.app.page.opening import present_project
    from linkwise.app.project.project import import_gold

    _print_opening(project)
    for flag in ["--overlap"] * bool(extra.overlap) + ["--gold"] * bool(extra.gold):
        extra.check_errors(flag, is_fallible=project.session.status.is_fallible)
    gold = "" if extra.gold is None else import_gold(project, extra.gold)
    return present_project(project, budget=budget, overlap=extra.overlap, gold=gold)


def _print_opening(project: Project) -> None:
    """What was opened, and what was chosen on the way."""
    from linkwise.app.cli.commands.ask import say_opening

    say_opening(project)


# ---------------------------------------------------------------- whether there is a browser
def can_open() -> bool:
    """Whether a person sits here before a screen with a browser, and the page is installed."""
    return sys.stdin.isatty() and sys.stdout.isatty() and has_browser() and not _missing_packages()


def _missing_packages() -> list[str]:
    """Packages of the extra "page" that are not installed."""
    return [name for name in PACKAGES if find_spec(name) is None]


def check_packages() -> None:
    """Check that the page is installed."""
    if missing := _missing_packages():
        raise UsageError(
            f'The page needs {", ".join(missing)}, not installed here. Run pip install "linkwise[page]".'
        )


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
def serve_page(subject: PageSource, where: PageAddress) -> None:
    """Serve one subject until Ctrl-C, which ends in words."""
    check_packages()
    password = _choose_password(where) if callable(subject.begin) else None
    sock = _open_socket(where)
    with sock:
        asyncio.run(_serve_until_stopped(subject, where, sock, password))


def _open_socket(where: PageAddress) -> socket.socket:
    from linkwise.app.page.server import open_socket

    try:
        return open_socket(where.host, where.port)
    except OSError as error:
        way_out = "Remove --port to use a free one." if where.port else "Use another --host."
        raise UsageError(
            f"Nothing can listen on {where.host} port {where.port}: {error.strerror or error}. {way_out}"
        ) from None


def _choose_password(where: PageAddress) -> str | None:
    """The password; None where only this machine can come and none is wanted."""
    from linkwise.app.page.auth import LEAST_PASSWORD, is_loopback

    if where.people:
        if where.password_file is not None:
            raise UsageError(
                "With --annotators each person has an address of their own, and there is no password. "
                "Remove --password-file."
            )
        return None
    if where.password_file is not None:
        lines = where.password_file.read_text(encoding="utf-8").splitlines()
        given, place = lines[0] if lines else "", f"The first line of {where.password_file}"
    elif os.environ.get(PASSWORD):
        given, place = os.environ[PASSWORD], PASSWORD
    elif is_loopback(where.host):
        return None
    elif sys.stdin.isatty():
        given, place = getpass("Password for the page: "), "The password"
    else:
        raise UsageError(
            f"--host {where.host} lets other machines in, so the page needs a password. "
            f"Set one with --password-file FILE or in {PASSWORD}."
        )
    if len(given) < LEAST_PASSWORD:
        raise UsageError(f"{place} is too short. A password has {LEAST_PASSWORD} letters or more.")
    return given


async def _serve_until_stopped(
    subject: PageSource, where: PageAddress, sock: socket.socket, password: str | None
) -> None:
    from linkwise.app.page.auth import AccessControl, Password
    from linkwise.app.page.hub import Hub
    from linkwise.app.page.server import serve_hub

    port = sock.getsockname()[1]
    access = AccessControl(
        _host_to_open(where.host),
        port,
        Password(password) if password is not None else None,
        people=where.people,
    )
    hub, stop = Hub(f"reading {subject.title}"), asyncio.Event()
    address = "" if where.people else access.new_address()
    loop = asyncio.get_running_loop()
    with call_on_signal(lambda: loop.call_soon_threadsafe(stop.set)):
        _print_addresses(access, address)
        say(_describe_access(access))
        _print_addresses_on_enter(loop, access)
        opening = asyncio.create_task(_open_browser(address, hub)) if where.browser and address else None
        try:
            await serve_hub(hub, access, sock, subject.begin, stop)
        finally:
            if opening is not None:
                opening.cancel()
            await _close_hub(hub, subject)
    raise _describe_end(subject, hub)


def _print_addresses(access: AccessControl, address: str = "") -> None:
    """Print an address; if several people answer, one for each of them, after the name."""
    if not access.people:
        print(address or access.new_address(), flush=True)
        return
    width = max(map(len, access.people))
    for person, own in access.new_addresses().items():
        print(f"{person:<{width}}  {own}", flush=True)


def _host_to_open(host: str) -> str:
    """The name to open: that of this machine where linkwise listens on all its addresses."""
    return socket.gethostname() if host in ("0.0.0.0", "::") else host


def _describe_access(access: AccessControl) -> str:
    from linkwise.app.page.auth import is_loopback

    if access.password is not None:
        return "The page asks for the password. Traffic is not encrypted; see the docs. Ctrl-C ends."
    if access.people:
        more = " Press Enter for new ones." if sys.stdin.isatty() else ""
        plain = "" if is_loopback(access.host) else " Traffic is not encrypted; see the docs."
        return (
            "Send each person their own address; it works once, and answers are stored under that name."
            f"{more}{plain} Ctrl-C ends; every answer is saved."
        )
    more = "; press Enter for another one" if sys.stdin.isatty() else ""
    return f"This address works once{more}. Ctrl-C ends; every answer is saved."


async def _close_hub(hub: Hub, subject: PageSource) -> None:
    """Let go of the session. A thread deep in a computation cannot be stopped, but left: all is stored."""
    from linkwise.app.page.row_places import MAP_THREAD

    try:
        await asyncio.wait_for(hub.close(), CLOSE_S)
    except TimeoutError:
        _end_at_once(subject, hub)
    if any(thread.name == MAP_THREAD for thread in threading.enumerate()):
        _end_at_once(subject, hub)  # native code in a thread aborts where Python ends around it


def _end_at_once(subject: PageSource, hub: Hub) -> None:
    say(str(_describe_end(subject, hub)))
    os._exit(INTERRUPTED)


def _describe_end(subject: PageSource, hub: Hub) -> Interrupted:
    """The end in words, on a line below the ^C of a terminal."""
    break_line()
    return Interrupted(subject.ended(hub.n_answers))


async def _open_browser(address: str, hub: Hub) -> None:
    """Open the browser when there is something to see, or after a second."""
    ends = asyncio.get_running_loop().time() + OPEN_AFTER_S
    while hub.n_answers is None and hub.start_page is None and asyncio.get_running_loop().time() < ends:
        await asyncio.sleep(0.02)
    hub.awaited = not hub.clients
    # some browsers hold up whoever opens them
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _print_addresses_on_enter(loop: asyncio.AbstractEventLoop, access: AccessControl) -> None:
    """Print another address whenever Enter is pressed."""
    if access.password is not None or not sys.stdin.isatty():
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
            _print_addresses(access)
        else:
            loop.remove_reader(terminal)

    with suppress(OSError, NotImplementedError):
        loop.add_reader(terminal, pressed)


# ---------------------------------------------------------------- signals
# The first signal asks a program that serves to end, and it cannot be put off for long: from then on
# the kernel itself sees to the end, by a second signal at once or by an alarm after LIMIT_S. Neither
# needs a thread that runs, an output that takes words, or a lock that is free.
SIGNALS = (signal.SIGINT, signal.SIGTERM)
LIMIT_S = 20.0  # longest time from the first signal to the end; usually it takes less than one second


@contextmanager
def call_on_signal(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` at the first SIGINT or SIGTERM within the block; only the main thread may enter it."""
    caught = False

    def catch(_number: int, _frame: FrameType | None) -> None:
        nonlocal caught
        caught = True
        for each in (*SIGNALS, signal.SIGALRM):
            signal.signal(each, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
        stop()

    before = {each: signal.signal(each, catch) for each in SIGNALS}
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # whoever started us may have blocked them
    try:
        yield
    finally:
        if not caught:  # else the rest of the program may not take long either
            for each, handler in before.items():
                signal.signal(each, handler)
