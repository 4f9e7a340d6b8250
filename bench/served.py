"""A server of the page on a thread of its own, for a browser that a program drives."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from linkwise.page.auth import Door, Password
from linkwise.page.hub import Room
from linkwise.page.server import host, listening

PATIENCE = 300.0  # only reached when something is wrong


class Served:
    """A server; `address()` is where a browser is let in, once."""

    def __init__(self, begin: Callable[[], Any], *, port: int = 0, password: str | None = None) -> None:
        self._sock = listening("127.0.0.1", port)
        self.port = self._sock.getsockname()[1]
        self._door = Door("127.0.0.1", self.port, None if password is None else Password(password))
        self._begin, self._started = begin, threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._started.wait(PATIENCE)

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self.room = Room("Reading the data")
        self._started.set()
        try:
            await host(self.room, self._door, self._sock, self._begin, self._stop)
        except Exception as error:
            self._error = error
        finally:
            await self.room.close()

    def wait(self) -> None:
        """Until the desk is there; raises what hindered it."""
        while self.room.desk is None:
            if not self._thread.is_alive():
                raise RuntimeError("no desk") from self._error
            time.sleep(0.01)

    def address(self) -> str:
        return self._door.new_address()

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)
