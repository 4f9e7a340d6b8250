"""A chat endpoint on this machine that replies as such services do: well, late, broken, or not at all."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

import numpy as np

Reply = tuple[int, dict[str, str], bytes]
CARD = re.compile(r"^Card (\d+):\n(.*)$", re.MULTILINE)


@dataclass
class ChatRequest:
    """What a server got."""

    path: str
    key: str | None
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])


@dataclass
class ChatServer:
    """Replies in turn, the last one for ever; `requests` are those that came.

    A reply is a tuple, a function of the request that returns one, or None, which breaks the connection.
    """

    base_url: str = ""
    replies: list[Any] = field(default_factory=list)
    requests: list[ChatRequest] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, request: ChatRequest) -> Reply | None:
        with self.lock:
            self.requests.append(request)
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply(request) if callable(reply) else reply


def completion(text: str | None, *, n_read: int = 100, n_written: int = 20, **message: Any) -> Reply:
    """What a server replies if its model writes a text."""
    ending = message.pop("finish_reason", "stop")
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": ending}
    usage = {"prompt_tokens": n_read, "completion_tokens": n_written}
    return 200, {}, json.dumps({"choices": [choice], "usage": usage}).encode()


def failure(status: int, message: str = "", **headers: str) -> Reply:
    """An error, as services send it."""
    return status, headers, json.dumps({"error": {"message": message}}).encode()


def answering(is_same: Callable[[Any, Any], bool], **fields: Any) -> Callable[[ChatRequest], Reply]:
    """A model that compares the two rows of each question."""

    def reply(request: ChatRequest) -> Reply:
        first, second = (json.loads(part.split("\n", 1)[1]) for part in request.prompt.split("\n\n"))
        answer = "same" if is_same(first, second) else "different"
        return completion(json.dumps({"reason": "by sight", "answer": answer, **fields}))

    return reply


def read_cards(request: ChatRequest) -> dict[int, Any]:
    """The rows of a screen by the numbers of their cards."""
    return {int(number): json.loads(row) for number, row in CARD.findall(request.prompt)}


def sorting(group_of: Callable[[Any], Any]) -> Callable[[ChatRequest], Reply]:
    """A model that sorts the cards of each screen by a function of their rows."""

    def reply(request: ChatRequest) -> Reply:
        piles: dict[Any, list[int]] = {}
        for number, row in read_cards(request).items():
            piles.setdefault(group_of(row), []).append(number)
        return completion(json.dumps({"reason": "by sight", "piles": list(piles.values()), "unsure": []}))

    return reply


def list_pictures(request: ChatRequest) -> list[Any]:
    """The pictures of the last message, as arrays."""
    from PIL import Image

    urls = [
        part["image_url"]["url"] for part in request.body["messages"][-1]["content"] if "text" not in part
    ]
    return [np.asarray(Image.open(BytesIO(base64.b64decode(url.partition(",")[2])))) for url in urls]


@contextmanager
def serve_chat(*replies: Any) -> Iterator[ChatServer]:
    """Run a server until the end of the block."""
    chat = ChatServer(replies=list(replies))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            listed = json.dumps({"data": [{"id": name} for name in chat.models]}).encode()
            self.send((200, {}, listed) if chat.models else (404, {}, b""))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send(chat.take(ChatRequest(self.path, self.headers.get("Authorization"), body)))

        def send(self, reply: Reply | None) -> None:
            self.close_connection = True
            if reply is None:
                return
            status, headers, content = reply
            pause = float(headers.pop("Pause", 0))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            try:
                for at in range(0, len(content), 8) if pause else ():
                    self.wfile.write(content[at : at + 8])
                    self.wfile.flush()
                    time.sleep(pause)
                if not pause:
                    self.wfile.write(content)
            except OSError:  # nobody waits any more
                pass

        def log_message(self, *_: Any) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    chat.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield chat
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
