"""The page over HTTP: a few fixed files, and a socket for requests, replies and updates."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from itertools import count
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from linkwise.app.page.auth import (
    FILE,
    MAX_BODY,
    MAX_HEADERS,
    PERSON,
    AccessControl,
    is_loopback,
    require_access,
)
from linkwise.app.page.hub import MOST_REQUESTS, Hub
from linkwise.app.page.requests import LONGEST_ID, refuse
from linkwise.app.page.socket_client import Frame, SocketClient
from linkwise.app.page.start_page import StartPage
from linkwise.app.project.exit_codes import error_sentence, exit_code
from linkwise.errors import DataError
from linkwise.parallel import one_blas_thread

if TYPE_CHECKING:
    from linkwise.app.page.presenter import Presenter

STATIC = {
    "/": ("index.html", "text/html"),
    "/host.js": ("host.js", "text/javascript"),
    "/widget.js": ("widget.js", "text/javascript"),
    "/style.css": ("style.css", "text/css"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
MOST_DEEP = 8  # lists and objects within each other; a request needs three
MOST_CLIENTS = 64
MOST_OF_PERSON = 8  # clients of one person who has a name
MOST_UNSENT = 2 * MOST_REQUESTS  # replies that a client does not take
SHUTDOWN_S = 2
SILENT_S = 10.0  # how long a connection may be silent
MOST_SILENT = 100  # of them; the longest silent makes room for a new one
COUNT = count()


def create_app(hub: Hub, access: AccessControl) -> ASGIApp:
    """Return the application that serves the page of a hub to browsers with access."""
    routes = [Route(path, _file(*file)) for path, file in STATIC.items()]

    async def socket_of(web: WebSocket) -> None:
        await _serve_client(hub, web)

    async def take_file(request: Request) -> Response:
        return await _keep_file(hub, request)

    routes.append(Route(FILE, take_file, methods=["POST"]))
    return require_access(Starlette(routes=[*routes, WebSocketRoute("/ws", socket_of)]), access)


async def _keep_file(hub: Hub, request: Request) -> Response:
    """Keep the file that a start page sends, and return its path, or what is wrong with it."""
    if hub.start_page is None:
        return JSONResponse({"text": "Files can be sent to the page on which linkwise starts."}, 409)
    try:
        path = await hub.start_page.keep(request.query_params.get("name", ""), request.stream())
    except (DataError, OSError) as error:
        return JSONResponse({"text": error_sentence(error)}, 400)
    return JSONResponse({"path": str(path)})


def _file(name: str, media_type: str) -> Callable[[Request], Response]:
    content = files("linkwise.app.page").joinpath("static", name)

    def send(_request: Request) -> Response:
        return Response(content.read_bytes(), media_type=media_type)

    return send


# ---------------------------------------------------------------- the socket
async def _serve_client(hub: Hub, web: WebSocket) -> None:
    """Serve one socket from its first frame to its last."""
    client = SocketClient(web.scope.get(PERSON, ""), web.client.host if web.client else "")
    if not has_place(hub, client.person):
        await web.close(1013, "too many pages are open; close one")
        return
    await web.accept()

    async def send(frame: Frame) -> None:
        await (web.send_text(frame) if isinstance(frame, str) else web.send_bytes(frame))

    hub.join(client)
    tasks = [asyncio.create_task(client.send_all(send)), asyncio.create_task(_listen(hub, client, web))]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            with suppress(WebSocketDisconnect, TimeoutError, RuntimeError):
                task.result()
    finally:
        hub.leave(client)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(SHUTDOWN_S):  # it waits until the browser takes what was sent before
                await web.close()


def has_place(hub: Hub, person: str) -> bool:
    """Whether a client may join. One person takes only a few places, and who has a name always gets one."""
    n_own = sum(client.person == person for client in hub.clients)
    if person and (n_own == 0 or n_own >= MOST_OF_PERSON):
        return n_own == 0
    return len(hub.clients) < MOST_CLIENTS


async def _listen(hub: Hub, client: SocketClient, web: WebSocket) -> None:
    """Take requests until the browser leaves, takes no replies, or sends what no page of ours sends."""
    while client.n_unsent <= MOST_UNSENT:
        await asyncio.sleep(0)  # requests that have come already would hold up the other clients
        message = await web.receive()
        if message["type"] == "websocket.disconnect":
            return
        if message.get("text") is None:
            await web.close(1003, "requests are text")
            return
        request = read_request(message["text"])
        if isinstance(request, str):
            client.reply(refuse(None, "bad", request))
        else:
            hub.ask(client, request)


def read_request(text: str) -> dict[str, Any] | str:
    """Return a request, or what is wrong with its form. The presenter checks the rest."""
    try:
        request = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return "a request is JSON, an object with id and do"
    if not isinstance(request, dict) or _depth(request) > MOST_DEEP:
        return "a request is a flat object with id and do"
    name = request.get("id")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_ID:
        return f"the id of a request is a text of 1 to {LONGEST_ID} characters"
    if not isinstance(request.get("do"), str):
        return "the field do of a request is a text"
    return request


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _depth(value: Any) -> int:
    """Return how deep lists and objects are nested, up to just above the limit."""
    depth, level = 0, [value]
    while depth <= MOST_DEEP:
        level = [v for v in level if isinstance(v, (dict, list))]
        if not level:
            break
        depth += 1
        level = [inner for v in level for inner in (v.values() if isinstance(v, dict) else v)]
    return depth


# ---------------------------------------------------------------- the server
class _Listener(H11Protocol):
    """A connection that must send a request soon, so that hundreds of silent ones delay nobody.

    A browser opens some in advance; it opens them again when it needs them.
    """

    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        super().connection_made(transport)
        silent = [other for other in self.connections if isinstance(other, _Listener) and other.silent]
        self._timer = self.loop.call_later(SILENT_S, self._end_silence)
        self._since = next(COUNT)
        if len(silent) > MOST_SILENT:
            min(silent, key=lambda other: other._since)._end_silence()

    @property
    def silent(self) -> bool:
        """Whether no whole request came yet."""
        return self in self.connections and self.cycle is None

    def _end_silence(self) -> None:
        if self.silent:
            self.connections.discard(self)
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, or too long for one.

        A socket that is closed before all was read resets the connection, and then the refusal may be lost.
        So the rest is read and thrown away until the other side has ended, or `SILENT_S` have passed.
        """
        body = msg.encode()
        head = [("content-type", "text/plain"), ("content-length", str(len(body))), ("connection", "close")]
        for event in (h11.Response(status_code=400, headers=head), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.write_eof()
        self._refused = True
        self._timer.cancel()
        self._timer = self.loop.call_later(SILENT_S, self.transport.close)

    def data_received(self, data: bytes) -> None:
        if not self._refused:
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)


class _Socket(WebSocketsSansIOProtocol):
    """A socket that ends soon after its client has been let go, whatever the browser has not taken."""

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(SHUTDOWN_S, self.transport.abort)


class _Server(uvicorn.Server):
    """uvicorn that leaves signals to its caller."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the port of a server just ended is free
        sock.bind((host, port))
        sock.listen(128)
    except BaseException:
        sock.close()
        raise
    return sock


@asynccontextmanager
async def run_server(app: ASGIApp, sock: socket.socket) -> AsyncIterator[None]:
    """Serve on a listening socket while the block runs."""
    config = uvicorn.Config(
        app,
        http=_Listener,
        ws=_Socket,
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,  # it would hold tokens
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws_max_size=MAX_BODY,
        ws_per_message_deflate=False,
        h11_max_incomplete_event_size=MAX_HEADERS,
        timeout_graceful_shutdown=SHUTDOWN_S,
        limit_concurrency=4 * MOST_CLIENTS,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        while not server.started and not running.done():
            await asyncio.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        await running


async def serve_hub(
    hub: Hub,
    access: AccessControl,
    sock: socket.socket,
    begin: Callable[[], Presenter] | StartPage,
    stop: asyncio.Event,
) -> None:
    """Serve a hub until `stop`; raises what makes it fail, after the clients have been told.

    `begin` returns the presenter, or is the page on which a person chooses it.

    Call it in the main thread: OpenBLAS may ignore a limit that another thread sets.
    """
    if isinstance(begin, StartPage):
        if access.is_open_to_others or access.people or not is_loopback(access.host):
            raise ValueError("A start page opens any file of its owner, so nobody else may have access.")
        access.largest_file = begin.largest_file
    with one_blas_thread():
        async with run_server(create_app(hub, access), sock):
            work = asyncio.create_task(_open_and_work(hub, begin))
            stopped = asyncio.create_task(stop.wait())
            await asyncio.wait([work, stopped], return_when=asyncio.FIRST_COMPLETED)
            work.cancel()
            stopped.cancel()
            with suppress(asyncio.CancelledError):
                await work


async def _open_and_work(hub: Hub, begin: Callable[[], Presenter] | StartPage) -> None:
    try:
        await (hub.open_by_choice(begin) if isinstance(begin, StartPage) else hub.open(begin))
        await hub.work()
    except Exception as error:
        is_expected = exit_code(error) is not None
        hub.fail(
            error_sentence(error) if is_expected else "linkwise stopped with an error; the terminal shows it."
        )
        await hub.seen()
        raise
