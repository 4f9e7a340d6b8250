"""The client behind a socket: updates and replies as frames.

Text frames carry JSON. The first byte of a binary frame says what it carries: 0 places, 1 labels of one byte,
2 labels of two, 3 a file behind the JSON of its reply.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections import deque
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any

from linkwise.app.page.hub import Update
from linkwise.app.page.requests import Reply

SEND_S = 30.0  # a browser that takes nothing for so long is disconnected
PLACES, LABELS, WIDE_LABELS, FILE = 0, 1, 2, 3

Frame = str | bytes


class SocketClient:
    """What one socket has still to be sent: places and labels before the state, the state before replies."""

    def __init__(self, person: str = "", machine: str = "") -> None:
        self.person, self.owner = person, person or machine
        self.n_open = 0
        self._news = asyncio.Event()
        self._newest: dict[str, Frame] = {}
        self._replies: deque[Frame] = deque()

    def show(self, update: Update) -> None:
        """Replace what is to be sent by the newest."""
        self._newest |= encode_update(update)
        self._news.set()

    def reply(self, reply: Reply) -> None:
        """Send a reply, after all updates before it."""
        self._replies.append(encode_reply(reply))
        self._news.set()

    def next(self) -> Frame | None:
        """Return what to send next; None if there is nothing."""
        for name in ("places", "labels", "state"):
            if name in self._newest:
                return self._newest.pop(name)
        return self._replies.popleft() if self._replies else None

    @property
    def is_sending(self) -> bool:
        """Whether something has not been sent yet."""
        return bool(self._newest or self._replies)

    @property
    def n_unsent(self) -> int:
        """Replies that have not been sent yet."""
        return len(self._replies)

    async def send_all(self, send: Callable[[Frame], Awaitable[None]]) -> None:
        """Send what comes, until a frame is not taken in time."""
        while True:
            while (frame := self.next()) is None:
                self._news.clear()
                await self._news.wait()
            async with asyncio.timeout(SEND_S):
                await send(frame)


@lru_cache(maxsize=8)  # all clients of a person get the same update
def encode_update(update: Update) -> dict[str, Frame]:
    """Return the frames of an update, by what they carry."""
    frames: dict[str, Frame] = {"state": encode_json({"state": update.state})}
    if update.places is not None:
        frames["places"] = bytes([PLACES, 0, 0, 0]) + update.places
    if update.labels is not None:
        kind = WIDE_LABELS if update.state["two_bytes"] else LABELS
        frames["labels"] = bytes([kind, 0, 0, 0]) + update.labels
    return frames


def encode_reply(reply: Reply) -> Frame:
    """Return the frame of a reply, with its file if it has one."""
    body = encode_json(reply.body)
    if reply.file is None:
        return body
    head = body.encode()
    return struct.pack("<B3xI", FILE, len(head)) + head + reply.file


def encode_json(content: dict[str, Any]) -> str:
    """Return JSON for any browser: without NaN, and with a mark where a file name is not valid Unicode."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()
