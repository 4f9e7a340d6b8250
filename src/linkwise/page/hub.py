"""One desk, many views: requests are worked off in order, and every view sees the newest state.

The desk works on a thread of its own, so the event loop answers whatever happens there. A view that is
slow never makes another one wait: of states and labels it gets the newest, those before are dropped.
"""

from __future__ import annotations

import asyncio
import json
import queue
import struct
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from linkwise.errors import SessionLockedError

if TYPE_CHECKING:
    from linkwise.page.presenter import Desk
    from linkwise.page.requests import Reply

BUSY_S = 0.15  # from then on the views are told that the desk is at work
POLL_S = 1.0  # how often to look whether another process wrote to the session
SEEN_S = 5.0  # how long a page that is about to open is waited for, to be told why it cannot
SEND_S = 30.0  # a view that takes nothing for so long is let go
MOST_VIEWS = 64
MOST_REQUESTS = 32  # of one view, not yet replied to

Frame = str | bytes
News = tuple[dict[str, Any], tuple[int, bytes]]
"""A state, and the labels that belong to it with their number."""


class Worker:
    """A thread that does one thing after the other.

    It does not hold up the end of the program: what it has stored is stored, the rest can be computed again.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="linkwise desk", daemon=True).start()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, function = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

    def call(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """What `function` returns, when its turn has come."""
        future: Future[Any] = Future()
        self._tasks.put((future, function))
        return asyncio.wrap_future(future)

    @property
    def waited_for(self) -> bool:
        """Whether something is to be done after what is being done."""
        return not self._tasks.empty()

    def end(self) -> None:
        """No more after what is waiting."""
        self._tasks.put(None)


class View:
    """What one socket has still to be sent: places and labels before the state, the state before replies."""

    def __init__(self) -> None:
        self.asked = 0  # requests without a reply
        self._news = asyncio.Event()
        self._newest: dict[str, Frame] = {}
        self._replies: deque[Frame] = deque()

    def show(self, **frames: Frame | None) -> None:
        """The newest `places`, `labels`, `state`; None: as before."""
        self._newest.update({name: frame for name, frame in frames.items() if frame is not None})
        self._news.set()

    def reply(self, frame: Frame) -> None:
        """One reply, after all that was shown before."""
        self._replies.append(frame)
        self._news.set()

    def next(self) -> Frame | None:
        """What goes out next; None: nothing waits."""
        for name in ("places", "labels", "state"):
            if name in self._newest:
                return self._newest.pop(name)
        return self._replies.popleft() if self._replies else None

    @property
    def waits(self) -> bool:
        """Whether something has still to be sent."""
        return bool(self._newest or self._replies)

    async def sent_by(self, send: Callable[[Frame], Awaitable[None]]) -> None:
        """Send what comes, until a frame is not taken in time."""
        while True:
            while (frame := self.next()) is None:
                self._news.clear()
                await self._news.wait()
            async with asyncio.timeout(SEND_S):
                await send(frame)


class Room:
    """The desk and the views on it.

    Parameters
    ----------
    loading : str
        What is done until there is a desk, in words.
    """

    def __init__(self, loading: str) -> None:
        self.worker = Worker()
        self.desk: Desk | None = None
        self.views: set[View] = set()
        self.awaited = False  # whether a page was just opened, and comes as soon as the browser does
        self._requests: asyncio.Queue[tuple[View, dict[str, Any]]] = asyncio.Queue()
        self._places: bytes | None = None
        self._labels: tuple[int, bytes] | None = None
        self._due = False  # whether the views have still to see the newest state
        self._ahead: asyncio.Future[Any] | None = None  # what is worked out while the person reads
        self._foreseen = -1  # the event after which that was begun
        self._state: dict[str, Any] = {"protocol": 1, "loading": loading}

    @property
    def n_answers(self) -> int | None:
        """Answers in the session; None as long as it is not open."""
        counts = self._state.get("counts")
        return None if counts is None else int(counts["answers"])

    # ------------------------------------------------------------ views
    def join(self, view: View) -> None:
        """Show a new view all there is."""
        self.views.add(view)
        self.awaited = False
        labels = None if self._labels is None else self._labels[1]
        view.show(places=self._places, labels=labels, state=in_json({"state": self._state}))

    def leave(self, view: View) -> None:
        """Forget a view; what it asked is done all the same."""
        self.views.discard(view)

    def ask(self, view: View, request: dict[str, Any]) -> None:
        """Put a request in the row; it has an ``id``, and a few may wait."""
        if self.desk is None:
            view.reply(refusal(request["id"], "failed", "the data are not read yet; wait for a question"))
        elif view.asked >= MOST_REQUESTS:
            view.reply(refusal(request["id"], "failed", "too much was asked at once; wait for the replies"))
        else:
            view.asked += 1
            self._requests.put_nowait((view, request))

    # ------------------------------------------------------------ the desk
    async def open(self, begin: Callable[[], Desk]) -> None:
        """Read the data and let all views see them; raises what `begin` raises."""
        await self.worker.call(lambda: self._take(begin()))
        self._places = bytes(4) + await self.worker.call(self._desk().places)
        for view in self.views:
            view.show(places=self._places)
        await self._show()
        self._look_ahead()

    def _take(self, desk: Desk) -> None:
        self.desk = desk

    async def work(self) -> None:
        """Work off requests, one after the other; look for what others did in between. Never returns."""
        while True:
            try:
                async with asyncio.timeout(POLL_S):  # unlike wait_for of 3.11 it loses no cancellation
                    view, request = await self._requests.get()
            except TimeoutError:
                await self._look()
            else:
                await self._answer(view, request)

    async def _answer(self, view: View, request: dict[str, Any]) -> None:
        desk, due = self._desk(), self._due
        with self._busy_when_long():
            reply, news = await self.worker.call(lambda: _handled(desk, request, due))
            self._due = news is None and (due or reply.changed)
            if news is not None:
                self._take_in(*news)
        view.asked -= 1
        view.reply(reply_frame(reply))
        self._look_ahead()

    def _look_ahead(self) -> None:
        """Have the next questions worked out while the person reads."""
        desk = self._desk()
        if self._requests.empty() and self._foreseen != self._state["event"]:
            self._foreseen = self._state["event"]
            self._ahead = self.worker.call(lambda: desk.look_ahead(self._interrupting))
            self._ahead.add_done_callback(_let_be)

    def _interrupting(self) -> bool:
        """Whether looking ahead has to stop, to begin again later; asked on the thread of the worker."""
        if self.worker.waited_for:
            self._foreseen = -1
            return True
        return False

    async def _look(self) -> None:
        """Show what another process did."""
        if self._ahead is not None and not self._ahead.done():
            return  # a look would end it
        with self._busy_when_long(), suppress(SessionLockedError):  # they are writing; look again later
            self._due = await self.worker.call(self._desk().moved) or self._due
        await self._show_what_is_due()

    async def _show_what_is_due(self) -> None:
        if self._due:
            with self._busy_when_long(), suppress(SessionLockedError):  # it is stored; shown later
                await self._show()
                self._due = False

    async def close(self) -> None:
        """Let go of the session, after what is being done."""
        await self.worker.call(self._let_go)
        self.worker.end()

    def _let_go(self) -> None:
        if self.desk is not None:
            self.desk.close()

    def _desk(self) -> Desk:
        assert self.desk is not None, "no desk yet"
        return self.desk

    # ------------------------------------------------------------ what is shown
    async def _show(self) -> None:
        """Send the newest state to all, with the labels if they are new."""
        self._take_in(*await self.worker.call(lambda: _together(self._desk())))

    def _take_in(self, state: dict[str, Any], labels_now: tuple[int, bytes]) -> None:
        self._state = state
        counter, labels = labels_now
        frame = None
        if self._labels is None or self._labels[0] != counter:
            frame = bytes([2 if state["wide"] else 1, 0, 0, 0]) + labels
            self._labels = counter, frame
        self._show_all(labels=frame)

    def fail(self, text: str) -> None:
        """Say on every view that it cannot go on, and why."""
        self._state = {"protocol": 1, "failed": text}
        self._show_all()

    async def seen(self) -> None:
        """Wait a moment until all views have what they were shown, also one that is about to open."""
        ends = asyncio.get_running_loop().time() + SEEN_S
        while asyncio.get_running_loop().time() < ends:
            await asyncio.sleep(0.05)
            if not any(view.waits for view in self.views) and (self.views or not self.awaited):
                break

    def _show_all(self, labels: Frame | None = None) -> None:
        state = in_json({"state": self._state})
        for view in self.views:
            view.show(labels=labels, state=state)

    @contextmanager
    def _busy_when_long(self) -> Iterator[None]:
        """Tell the views when something takes long, and when it is over."""
        timer = asyncio.get_running_loop().call_later(BUSY_S, self._set_busy, True)
        try:
            yield
        finally:
            timer.cancel()
            if self._state.get("busy"):
                self._set_busy(False)

    def _set_busy(self, busy: bool) -> None:
        if "busy" in self._state:
            self._state = {**self._state, "busy": busy}
            self._show_all()


def _let_be(ahead: asyncio.Future[Any]) -> None:
    """What fails while looking ahead fails again, and is told, when it is asked for."""
    if not ahead.cancelled():
        ahead.exception()


def _handled(desk: Desk, request: dict[str, Any], due: bool) -> tuple[Reply, News | None]:
    """A reply, and what there is to show then; None: nothing, or another process holds the session now."""
    reply = desk.handle(request)
    if due or reply.changed:
        with suppress(SessionLockedError):  # it is stored; shown later
            return reply, _together(desk)
    return reply, None


def _together(desk: Desk) -> News:
    """A state and the labels that belong to it, whatever another process writes in between."""
    while True:
        state, labels = desk.state(), desk.labels()
        if state["labels"] == labels[0]:
            return state, labels


# ---------------------------------------------------------------- frames
def in_json(what: dict[str, Any]) -> str:
    """JSON that any browser reads: without NaN, and with a mark for what is no Unicode (names of files)."""
    text = json.dumps(what, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def reply_frame(reply: Reply) -> Frame:
    """What the desk says to a request, with the file that belongs to it."""
    body = in_json(reply.body)
    if reply.file is None:
        return body
    head = body.encode()
    return struct.pack("<B3xI", 3, len(head)) + head + reply.file


def refusal(name: str | None, kind: str, text: str) -> str:
    """The answer to a request that did not come to the desk."""
    return in_json({"re": name, "ok": False, "error": {"kind": kind, "text": text}})
