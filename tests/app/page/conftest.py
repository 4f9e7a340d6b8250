"""A page served for real, and clients to it."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from websockets.sync.client import ClientConnection, connect

from commands import fruit, linkwise, no_screen, process
from linkwise.app.page.auth import AccessControl, Password
from linkwise.app.page.cards import view_numbers
from linkwise.app.page.hub import Hub
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.server import open_socket, serve_hub
from linkwise.learn.cobras.cobras import COBRAS
from linkwise.session.session import Session
from patience import patience

__all__ = ["fruit", "linkwise", "no_screen", "process"]


def small_presenter(n_rows: int = 12) -> Presenter:
    """Three clear groups."""
    rng = np.random.default_rng(3)
    kind = np.arange(n_rows) % 3
    X = np.column_stack([10.0 * kind, 5.0 * (kind == 1)]) + rng.normal(0, 0.2, (n_rows, 2))
    session = Session(X, COBRAS(random_state=0))
    return Presenter(session, X, view_numbers(X, ("length", "width")), title="leaves.csv")


@dataclass
class View:
    """A page's side of the socket."""

    socket: ClientConnection
    asked: int = 0
    log: list[str] = field(default_factory=list)  # what came, in order
    state: dict[str, Any] = field(default_factory=dict)
    labels: bytes = b""
    places: bytes = b""
    replies: dict[str | None, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def hear(self) -> None:
        """Take one frame."""
        frame = self.socket.recv(patience())
        if isinstance(frame, str):
            said = json.loads(frame)
            self.log.append("state" if "state" in said else "reply")
            if "state" in said:
                self.state = said["state"]
            else:
                self.replies[said["re"]] = said
            return
        kind = frame[0]
        self.log.append(("places", "labels", "labels", "file")[kind])
        if kind == 0:
            self.places = frame[4:]
        elif kind in (1, 2):
            self.labels = frame[4:]
        else:
            (length,) = struct.unpack("<I", frame[4:8])
            reply = json.loads(frame[8 : 8 + length])
            self.replies[reply["re"]] = reply
            self.files[reply["re"]] = frame[8 + length :]

    def until(self, there: Callable[[View], bool]) -> View:
        """Take frames until something is so."""
        while not there(self):
            self.hear()
        return self

    def ready(self) -> View:
        """Wait for the first question, or the end."""
        return self.until(lambda view: "event" in view.state)

    def say(self, do: str, **more: Any) -> str:
        """Send a request; its id."""
        self.asked += 1
        self.socket.send(json.dumps({"id": f"v{self.asked}", "do": do, **more}))
        return f"v{self.asked}"

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        """Send a request and wait for its reply."""
        name = self.say(do, **more)
        self.until(lambda view: name in view.replies)
        return self.replies[name]

    def answer(self, said: str) -> dict[str, Any]:
        """Answer the question that is shown, and wait for what follows if the reply came before it."""
        reply = self.ask("answer", question=self.state["question"]["id"], answer=said)
        if "follows" in reply:
            self.until(lambda view: view.state["event"] >= reply["follows"])
        return reply


class Page:
    """A server on a thread of its own."""

    def __init__(self, begin: Callable[[], Any], password: str | None = None) -> None:
        self.sock = open_socket("127.0.0.1", 0)
        self.port = self.sock.getsockname()[1]
        self.access = AccessControl("127.0.0.1", self.port, Password(password) if password else None)
        self.address = self.access.new_address()
        self.error: BaseException | None = None
        self._begin, self._started = begin, threading.Event()
        self._clients = ExitStack()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._started.wait(patience())

    async def _run(self) -> None:
        self._loop, self._stop, self.hub = (
            asyncio.get_running_loop(),
            asyncio.Event(),
            Hub("reading leaves.csv"),
        )
        self._started.set()
        try:
            await serve_hub(self.hub, self.access, self.sock, self._begin, self._stop)
        except BaseException as error:
            self.error = error
        await self.hub.close()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        return f"{self.access.cookie}={self.access.secret}"

    def view(self, **headers: str) -> View:
        """A socket of a browser that was let in; headers override what it sends."""
        sent = {"Origin": self.origin, "Cookie": self.cookie, **headers}
        sent = {name: value for name, value in sent.items() if value}
        return View(
            self._clients.enter_context(
                connect(
                    f"ws://127.0.0.1:{self.port}/ws",
                    additional_headers=sent,
                    max_size=None,
                    compression=None,
                    proxy=None,
                    open_timeout=patience(),
                )
            )
        )

    def send(self, request: str | bytes) -> bytes:
        """What comes back for some bytes sent as they are."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=patience()) as raw:
            raw.sendall(request.encode() if isinstance(request, str) else request)
            got = b""
            while (part := raw.recv(65536)) and not _whole(got + part):
                got += part
            return got + part

    def get(
        self, path: str = "/", method: str = "GET", body: str = "", **headers: str
    ) -> tuple[int, str, str]:
        """Status, head and body of a response; header None: not sent."""
        sent = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        if body:
            sent.setdefault("Content-Length", str(len(body)))
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value is not None)
        head, _, text = self.send(f"{method} {path} HTTP/1.1\r\n{lines}\r\n{body}").partition(b"\r\n\r\n")
        status = re.match(rb"HTTP/1.1 (\d+)", head)
        assert status is not None, head
        return int(status[1]), head.decode("latin-1"), text.decode()

    def close(self) -> None:
        self._clients.close()
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(patience())
        assert not self._thread.is_alive()


def _whole(got: bytes) -> bool:
    """Whether a response is complete by its length; bodies of HEAD never come."""
    head, gap, body = got.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return bool(gap and length and len(body) >= int(length[1]))


@pytest.fixture
def pages() -> Iterator[Callable[..., Page]]:
    """Serve pages, each until the end of the test."""
    with ExitStack() as stack:

        def serve(begin: Callable[[], Any] = small_presenter, password: str | None = None) -> Page:
            page = Page(begin, password)
            stack.callback(page.close)
            return page

        yield serve


@pytest.fixture(scope="module")
def still(request: pytest.FixtureRequest) -> Iterator[Page]:
    """One page for tests that change nothing in it."""
    page = Page(small_presenter)
    yield page
    page.close()


@pytest.fixture
def page(pages: Callable[..., Page]) -> Page:
    """A page about twelve leaves."""
    return pages()
