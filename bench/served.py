"""Serve the page from a thread of its own, for a browser that a program operates."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from linkwise.app.page.auth import AccessControl, Password
from linkwise.app.page.hub import Hub
from linkwise.app.page.server import open_socket, serve_hub
from linkwise.app.page.start_page import StartPage

PATIENCE = 300.0  # only reached when something is wrong


class Served:
    """A server; `address()` is where a browser is let in, once."""

    def __init__(
        self,
        begin: Callable[[], Any] | StartPage,
        *,
        port: int = 0,
        password: str | None = None,
        people: tuple[str, ...] = (),
    ) -> None:
        self._sock = open_socket("127.0.0.1", port)
        self.port = self._sock.getsockname()[1]
        checked = None if password is None else Password(password)
        self._access = AccessControl("127.0.0.1", self.port, checked, people=people)
        self._begin, self._started = begin, threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._started.wait(PATIENCE)

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self.hub = Hub("Reading the data")
        self._started.set()
        try:
            await serve_hub(self.hub, self._access, self._sock, self._begin, self._stop)
        except Exception as error:
            self._error = error
        finally:
            await self.hub.close()

    def wait(self) -> None:
        """Until the presenter is there; raises what hindered it."""
        while self.hub.presenter is None:
            if not self._thread.is_alive():
                raise RuntimeError("no presenter") from self._error
            time.sleep(0.01)

    def address(self) -> str:
        return self._access.new_address()

    def addresses(self) -> dict[str, str]:
        return self._access.new_addresses()

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)
