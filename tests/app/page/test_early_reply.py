"""When the answer of one of several people is confirmed: once stored, before the next state is computed."""

import asyncio
import sqlite3
from contextlib import asynccontextmanager, closing, suppress

import numpy as np
import pytest

from linkwise.app.page.cards import view_numbers
from linkwise.app.page.hub import Hub, read_news
from linkwise.app.page.presenter import Presenter
from linkwise.errors import SessionLockedError
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session
from patience import patience

PEOPLE = ("anna", "ben")


class Journal(Presenter):
    """A presenter that notes when it computes a state."""

    def __init__(self, path):
        rng = np.random.default_rng(0)
        X = np.array([[0.0], [5.0]])[np.arange(20) % 2] + rng.normal(0, 0.1, (20, 1))
        self.path, self.log = path, []
        super().__init__(
            Session.open(path, X, KIN(random_state=0), error_rate=0.1),
            X,
            view_numbers(X, ["x"]),
            title="things",
        )

    def state(self, people=()):
        self.log.append("compute")
        return super().state(people)

    def count_stored(self):
        """Answers that another program can read in the file now."""
        with closing(sqlite3.connect(self.path)) as file:
            return file.execute("SELECT count(*) FROM event WHERE kind = 'answer'").fetchone()[0]


class FakeClient:
    """A page that notes what reaches it, and when."""

    is_sending = False

    def __init__(self, person, presenter):
        self.person, self.owner, self.n_open, self.reached = person, person, 0, asyncio.Event()
        self.replies, self.state, self._presenter = [], {}, presenter

    def show(self, update):
        self.state = update.state
        self._presenter.log.append(f"show {self.person}")
        self.reached.set()

    def reply(self, reply):
        self.replies.append(reply.body)
        outcome = "confirm" if reply.body["ok"] else "refuse"
        self._presenter.log.append(f"{outcome} {self.person}, {self._presenter.count_stored()} stored")
        self.reached.set()

    async def wait(self, condition):
        """Wait until something holds, which is checked whenever something reaches this page."""
        async with asyncio.timeout(patience()):
            while not condition():
                self.reached.clear()
                await self.reached.wait()


@asynccontextmanager
async def open_pages(path):
    """Two people at the pages of one hub, each with a question."""
    presenter = Journal(path)
    hub = Hub("reading")
    clients = [FakeClient(person, presenter) for person in PEOPLE]
    hub.start(presenter, read_news(presenter), presenter.places())
    work = asyncio.create_task(hub.work())
    for client in clients:
        hub.join(client)
    for client in clients:
        await client.wait(lambda client=client: client.state.get("team") and client.state["question"])
    presenter.log.clear()
    try:
        yield hub, presenter, clients
    finally:
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        await hub.close()


def create_answer(client, question=None):
    return {
        "id": "1",
        "do": "answer",
        "question": question or client.state["question"]["id"],
        "answer": "yes",
    }


def test_an_answer_is_confirmed_when_it_is_stored_and_before_the_state_that_follows(tmp_path):
    async def run():
        async with open_pages(tmp_path / "team.linkwise") as (hub, presenter, (anna, ben)):
            before = anna.state["event"]
            hub.ask(anna, create_answer(anna))
            await ben.wait(lambda: ben.state["event"] > before)
            await anna.wait(lambda: anna.state["event"] > before)
            return anna.replies, anna.state["event"], presenter.log

    (reply,), event, log = asyncio.run(run())
    assert reply["follows"] == event
    assert log[:2] == ["confirm anna, 1 stored", "compute"]
    assert {"show anna", "show ben"} <= set(log[2:])
    assert sum(entry.startswith("confirm") for entry in log) == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (SessionLockedError("Another program writes to team.linkwise."), "locked"),
        (OSError("No space left on device"), "failed"),
    ],
)
def test_an_answer_that_cannot_be_stored_is_refused_and_never_confirmed(tmp_path, monkeypatch, error, kind):
    def fail(*_, **__):
        raise error

    async def run():
        async with open_pages(tmp_path / "team.linkwise") as (hub, presenter, (anna, ben)):
            with monkeypatch.context() as patch:
                patch.setattr(Session, "answer", fail)
                hub.ask(anna, create_answer(anna))
                await anna.wait(lambda: anna.replies)
            hub.ask(ben, create_answer(ben))  # an answer after it is stored as ever
            await ben.wait(lambda: ben.replies)
            return anna.replies, presenter.log

    (reply,), log = asyncio.run(run())
    assert (reply["ok"], reply["error"]["kind"], reply["error"]["text"]) == (False, kind, str(error))
    assert "follows" not in reply
    answered = [entry for entry in log if entry.startswith(("confirm", "refuse"))]
    assert answered == ["refuse anna, 0 stored", "confirm ben, 1 stored"]
