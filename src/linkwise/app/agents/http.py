"""Serve agents over HTTP on this machine, to clients that know a token."""

from __future__ import annotations

import hmac
import os
import secrets
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.responses import PlainTextResponse

from linkwise.app.project.exit_codes import UsageError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette.types import ASGIApp, Receive, Scope, Send

HOST, PATH = "127.0.0.1", "/mcp"
TOKEN_VARIABLE = "LINKWISE_AGENT_TOKEN"


def serve_over_http(server: MCPServer[Any], port: int, tell: Callable[[str, str], None]) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    server : MCPServer
        The tools of the agents.
    port : int
        A port of this machine; 0 for one that is free.
    tell : callable
        Gets the address and the token before the first request. The token is that of the environment variable
        LINKWISE_AGENT_TOKEN, or a new one.

    Raises
    ------
    UsageError
        The port cannot be used, or no header can have the token.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip() or secrets.token_urlsafe(32)
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError(f"{TOKEN_VARIABLE} has spaces or special characters. Set it to letters and digits.")
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(f"Port {port} cannot be used: {why}. Pass another --port.") from None
    with listening:
        tell(f"http://{HOST}:{listening.getsockname()[1]}{PATH}", token)
        app = require_token(server.streamable_http_app(streamable_http_path=PATH, host=HOST), token)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


def require_token(app: ASGIApp, token: str) -> ASGIApp:
    """Answer requests without the token by 401; other pages of a browser do not know it."""
    wanted = token.encode()

    async def check(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scheme, _, given = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(given, wanted):
                refused = PlainTextResponse("Send the header 'Authorization: Bearer TOKEN'.", 401)
                await refused(scope, receive, send)
                return
        await app(scope, receive, send)

    return check
