"""One presenter, many clients: the loop that both hosts of the page run.

The server has a client for each socket, a notebook has one for its widget. The requests of a client are
handled in order, those of several people in turns, and every client sees the newest state. The presenter
works on a thread of its own, so that the event loop stays responsive, and a slow client never makes another
one wait.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from linkwise.app.page.requests import PERSONAL, Reply, refuse
from linkwise.app.page.turns import Turns
from linkwise.app.project.exit_codes import error_sentence, exit_code
from linkwise.errors import SessionError, SessionLockedError

if TYPE_CHECKING:
    from linkwise.app.page.presenter import Presenter
    from linkwise.app.page.start_page import Opening, StartPage

BUSY_S = 0.15  # after this time clients are told that the presenter is busy
POLL_S = 1.0  # how often to check whether another process wrote to the session
GATHER_S = 0.005  # how long to wait for answers of others that may come at the same time
SEEN_S = 5.0  # how long to wait for a page that is about to open, so that it shows an error
MOST_REQUESTS = 32  # open requests of one client
MOST_GATHERED = 16  # answers that are followed up together

News = tuple[dict[str, Any], tuple[int, bytes]]
"""A state, and the labels that belong to it with their number."""


@dataclass(frozen=True, eq=False)  # the same update is recognised, not an equal one
class Update:
    """What clients are to show.

    `labels` and `places` are None where they are the same as before.
    """

    state: dict[str, Any]
    labels: bytes | None = None
    places: bytes | None = None


def show_to(person: str, update: Update) -> Update:
    """Return an update as one person is shown it; without people as it is."""
    personal = update.state.get(PERSONAL)
    if personal is None:
        return update
    if person not in personal:  # who has just arrived
        return Update({"protocol": 1, "loading": "Choosing your first question"})
    common = {name: value for name, value in update.state.items() if name != PERSONAL}
    return Update({**common, **personal[person]}, update.labels, update.places)


class Client(Protocol):
    """One page that shows what the hub sends, which also counts its requests without a reply.

    `owner` is whose turn its requests take: the person, else the machine.
    """

    n_open: int
    person: str
    owner: str

    def show(self, update: Update) -> None:
        """Show an update, sooner or later; only the newest one matters."""

    def reply(self, reply: Reply) -> None:
        """Send a reply, after all updates before it."""

    @property
    def is_sending(self) -> bool:
        """Whether something has not been sent yet."""


class Worker:
    """A thread that runs one function after the other.

    It does not delay the end of the program: what it has stored is stored, the rest can be computed again.
    """

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="linkwise presenter", daemon=True).start()

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, function = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

    def call(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Return what `function` returns, once its turn has come."""
        future: Future[Any] = Future()
        self._tasks.put((future, function))
        return asyncio.wrap_future(future)

    @property
    def has_tasks(self) -> bool:
        """Whether another function is waiting for its turn."""
        return not self._tasks.empty()

    def end(self) -> None:
        """End the thread after the functions that are waiting."""
        self._tasks.put(None)


class Hub:
    """A presenter and its clients.

    `loading` says what happens until there is a presenter. After errors of the type `tolerated` the hub
    tries again later: by default only after that of a session that another process holds.
    """

    def __init__(self, loading: str, tolerated: type[SessionError] = SessionLockedError) -> None:
        self.worker = Worker()
        self.presenter: Presenter | None = None
        self.start_page: StartPage | None = None  # while a person chooses there
        self.clients: set[Client] = set()
        self.awaited = False  # whether a page was just opened, and joins as soon as the browser does
        self._tolerated = tolerated
        self._requests: Turns[Client] = Turns()  # None: people have come or gone
        self._n_gathered = 0  # answers that are stored and not followed up
        self._places: bytes | None = None
        self._has_new_places = False
        self._labels: tuple[int, bytes] | None = None
        self._greeted: set[str] = set()  # people who were shown everything
        self._is_due = False  # whether clients have not seen the newest state
        self._ahead: asyncio.Future[Any] | None = None  # what is computed while the person reads
        self._foreseen = -1  # the event after which that was started
        self._state: dict[str, Any] = {"protocol": 1, "loading": loading}

    @property
    def n_answers(self) -> int | None:
        """Answers in the session; None as long as it is not open."""
        counts = self._state.get("counts")
        return None if counts is None else int(counts["answers"])

    # ------------------------------------------------------------ clients
    def join(self, client: Client) -> None:
        """Add a client, and show it everything."""
        self.clients.add(client)
        self.awaited = False
        client.show(show_to(client.person, self._whole_update()))
        self._notice_people(client)

    def leave(self, client: Client) -> None:
        """Forget a client; its requests are handled nevertheless."""
        self.clients.discard(client)
        self._notice_people(client)

    @property
    def people(self) -> list[str]:
        """Who looks at a page now."""
        return sorted({client.person for client in self.clients if client.person})

    def _notice_people(self, client: Client) -> None:
        """Show soon who is here, and a question to whoever has arrived."""
        if client.person and self.presenter is not None:
            self._is_due = True
            self._requests.put_nowait(None)

    def _whole_update(self) -> Update:
        labels = None if self._labels is None else self._labels[1]
        return Update(self._state, labels, self._places)

    def ask(self, client: Client, request: Any) -> None:
        """Queue a request; a client may have a few open."""
        if self.presenter is None and self.start_page is None:
            client.reply(refuse(request, "failed", "The data are still being read. Wait for a question."))
        elif client.n_open >= MOST_REQUESTS:
            client.reply(refuse(request, "failed", "Too many requests are open. Wait for the replies."))
        else:
            client.n_open += 1
            self._requests.put_nowait((client, request))

    # ------------------------------------------------------------ the loop
    async def open(self, begin: Callable[[], Presenter]) -> None:
        """Read the data and show them to all clients; raises what `begin` raises."""
        await self.worker.call(lambda: self._set_presenter(begin()))
        self._places = await self.worker.call(self._get_presenter().places)
        await self._show()
        self._look_ahead()

    def _set_presenter(self, presenter: Presenter) -> None:
        self.presenter = presenter

    async def open_by_choice(self, start: StartPage) -> None:
        """Show the start page until something that a person chose there is open."""
        await self._show_start(start)
        while self.presenter is None:
            entry = await self._requests.get()
            assert entry is not None, "there are no people at the start page"
            client, request = entry
            chosen = await self.worker.call(partial(start.handle, request))
            reply = chosen if isinstance(chosen, Reply) else await self._open_choice(start, chosen, request)
            client.n_open -= 1
            client.reply(reply)

    async def _show_start(self, start: StartPage) -> None:
        self._state = await self.worker.call(start.state)
        self.start_page = start
        self._show_all()

    async def _open_choice(self, start: StartPage, chosen: Opening, request: Any) -> Reply:
        """Open what was chosen; show the start page again if the person can choose better."""
        self.start_page = None
        self._state = {"protocol": 1, "loading": f"reading {chosen.title}"}
        self._show_all()
        try:
            await self.open(chosen.begin)
        except Exception as error:
            if exit_code(error) is None:
                raise
            await self.worker.call(self._close_presenter)
            self.presenter = None
            await self._show_start(start)
            return refuse(request, "bad", error_sentence(error))
        return Reply({"re": request["id"], "ok": True})

    def start(self, presenter: Presenter, news: News, places: bytes) -> None:
        """Take a presenter that is open already, and what its clients show; needs a running event loop."""
        self.presenter, self._places = presenter, places
        self._state, self._labels = news
        self._look_ahead()

    async def work(self) -> None:
        """Handle requests in turns, and show what others wrote in between. Never returns."""
        while True:
            try:
                async with asyncio.timeout(POLL_S):  # unlike wait_for of 3.11 it loses no cancellation
                    asked = await self._requests.get()
            except TimeoutError:
                await self._poll()
            else:
                await (self._show_due() if asked is None else self._handle(*asked))

    async def _handle(self, client: Client, request: Any) -> None:
        if client.person and isinstance(request, dict) and request.get("do") == "answer":
            await self._handle_answer(client, request)
            return
        presenter, is_due, people = self._get_presenter(), self._is_due, self.people
        self._is_due = False  # until somebody comes meanwhile
        with self._busy_when_long():
            reply, news = await self.worker.call(
                lambda: self._handle_now(presenter, request, is_due, client.person, people)
            )
            self._is_due = self._is_due or (news is None and (is_due or reply.changed))
            if reply.moves_places:
                self._places = await self.worker.call(presenter.places)
                self._has_new_places = True
            if news is not None:
                self._take_in(*news)
        client.n_open -= 1
        client.reply(reply)
        self._look_ahead()

    async def _handle_answer(self, client: Client, request: Any) -> None:
        """Confirm the answer of one of several people as soon as it is stored, then show what follows.

        Some answers that wait are stored first, so that all are followed up together.
        """
        presenter = self._get_presenter()
        reply = await self.worker.call(lambda: presenter.handle(request, client.person))
        self._is_due = self._is_due or reply.changed
        self._n_gathered += 1
        client.n_open -= 1
        client.reply(reply)
        if self._requests.empty():
            await asyncio.sleep(GATHER_S)
        if self._requests.empty() or self._n_gathered >= MOST_GATHERED:
            self._n_gathered = 0
            await self._show_due()
            self._look_ahead()

    def _handle_now(
        self, presenter: Presenter, request: Any, is_due: bool, person: str, people: list[str]
    ) -> tuple[Reply, News | None]:
        """Return a reply and what to show then; None: nothing, or the session cannot be read now."""
        reply = presenter.handle(request, person)
        if is_due or reply.changed:
            with suppress(self._tolerated):  # it is stored; shown later
                return reply, read_news(presenter, people)
        return reply, None

    def _look_ahead(self) -> None:
        """Start to compute the next questions while the person reads."""
        presenter = self._get_presenter()
        if self._requests.empty() and self._foreseen != self._state["event"]:
            self._foreseen = self._state["event"]
            self._ahead = self.worker.call(lambda: presenter.look_ahead(self._must_stop))
            self._ahead.add_done_callback(_ignore_error)

    def _must_stop(self) -> bool:
        """Whether to interrupt looking ahead; asked on the thread of the worker."""
        if self.worker.has_tasks:
            self._foreseen = -1
            return True
        return False

    async def _poll(self) -> None:
        """Show what another process wrote."""
        if self._ahead is not None and not self._ahead.done():
            return  # a check would interrupt it
        with self._busy_when_long(), suppress(self._tolerated):  # try again later
            presenter = self._get_presenter()
            places = await self.worker.call(presenter.take_new_places)
            if places is not None:
                self._places, self._has_new_places, self._is_due = places, True, True
            self._is_due = await self.worker.call(presenter.has_changed) or self._is_due
        await self._show_due()

    async def _show_due(self) -> None:
        """Show the newest state if clients have not seen it."""
        if self._is_due:
            self._is_due = False  # until somebody comes meanwhile
            with self._busy_when_long():
                try:
                    await self._show()
                except self._tolerated:  # it is stored; shown later
                    self._is_due = True

    async def close(self) -> None:
        """Close the session, after what the worker is doing."""
        await self.worker.call(self._close_presenter)
        self.worker.end()

    def _close_presenter(self) -> None:
        if self.presenter is not None:
            self.presenter.close()

    def _get_presenter(self) -> Presenter:
        assert self.presenter is not None, "the hub has no presenter yet"
        return self.presenter

    # ------------------------------------------------------------ what clients show
    async def _show(self) -> None:
        """Show the newest state to all, with the labels if they are new."""
        presenter, people = self._get_presenter(), self.people
        self._take_in(*await self.worker.call(lambda: read_news(presenter, people)))

    def _take_in(self, state: dict[str, Any], labels: tuple[int, bytes]) -> None:
        is_first = self._labels is None
        are_new = self._labels is None or self._labels[0] != labels[0]
        self._state, self._labels = state, labels
        has_places = is_first or self._has_new_places
        self._show_all(labels[1] if are_new else None, self._places if has_places else None)
        self._has_new_places = False

    def fail(self, text: str) -> None:
        """Show all clients that the hub stops, and why."""
        self._state = {"protocol": 1, "failed": text}
        self._show_all()

    async def seen(self) -> None:
        """Wait a moment until all clients were sent their updates, also one that is about to open."""
        ends = asyncio.get_running_loop().time() + SEEN_S
        while asyncio.get_running_loop().time() < ends:
            await asyncio.sleep(0.05)
            is_sending = any(client.is_sending for client in self.clients)
            if not is_sending and (self.clients or not self.awaited):
                break

    def _show_all(self, labels: bytes | None = None, places: bytes | None = None) -> None:
        update = Update(self._state, labels, places)
        shown: dict[str, Update] = {}  # the clients of a person share one update
        for client in self.clients:
            if client.person not in shown:
                is_new = client.person in self._state.get(PERSONAL, {}) and client.person not in self._greeted
                whole = self._whole_update() if is_new else update
                shown[client.person] = show_to(client.person, whole)
            client.show(shown[client.person])
        self._greeted = set(self._state.get(PERSONAL, {}))

    @contextmanager
    def _busy_when_long(self) -> Iterator[None]:
        """Tell clients when something takes long, and when it is over."""
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


def _ignore_error(ahead: asyncio.Future[Any]) -> None:
    """Leave an error of looking ahead: it occurs again, and is reported, when the result is needed."""
    if not ahead.cancelled():
        ahead.exception()


def read_news(presenter: Presenter, people: Sequence[str] = ()) -> News:
    """Return a state and the labels that belong to it, whatever another process writes in between.

    The state has a part for each person who looks at a page now.
    """
    while True:
        state, labels = presenter.state(people), presenter.labels()
        if state["labels"] == labels[0]:
            return state, labels
