"""A page that vanishes with an answer in flight: what was confirmed is kept, and nothing counts twice."""

import asyncio
import json
import socket as sockets
import sqlite3
import struct
from collections import Counter
from contextlib import asynccontextmanager, closing, suppress

import numpy as np
import pytest

from linkwise.app.page.cards import view_numbers
from linkwise.app.page.hub import Hub, read_news
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.socket_client import SocketClient
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session
from patience import patience

from .conftest import small_presenter


class Tab:
    """A page of one person that can vanish: from then on nothing reaches anybody."""

    is_sending = False

    def __init__(self, person):
        self.person, self.owner, self.n_open, self.is_gone = person, person, 0, False
        self.replies, self.state, self.reached = [], {}, asyncio.Event()

    def show(self, update):
        if not self.is_gone:
            self.state = update.state
            self.reached.set()

    def reply(self, reply):
        if not self.is_gone:
            self.replies.append(reply.body)
            self.reached.set()

    async def wait(self, condition):
        """Wait until something holds, which is checked whenever something reaches this page."""
        async with asyncio.timeout(patience()):
            while not condition():
                self.reached.clear()
                await self.reached.wait()


async def open_tab(hub, person):
    tab = Tab(person)
    hub.join(tab)
    await tab.wait(lambda: tab.state.get("team") and tab.state["question"])
    return tab


def vanish(hub, tab):
    tab.is_gone = True
    hub.leave(tab)


def ask(hub, tab, answer="yes", question=None):
    question = question or tab.state["question"]["id"]
    hub.ask(tab, {"id": "1", "do": "answer", "question": question, "answer": answer})
    return question


def stored(path):
    """The answers in the file, as another program reads them."""
    with closing(sqlite3.connect(path)) as file:
        return file.execute("SELECT source, first, second FROM event WHERE kind = 'answer'").fetchall()


@asynccontextmanager
async def open_hub(path):
    rng = np.random.default_rng(0)
    X = np.array([[0.0], [5.0]])[np.arange(20) % 2] + rng.normal(0, 0.1, (20, 1))
    session = Session.open(path, X, KIN(random_state=0), error_rate=0.1)
    presenter = Presenter(session, X, view_numbers(X, ["x"]), title="things")
    hub = Hub("reading")
    hub.start(presenter, read_news(presenter), presenter.places())
    work = asyncio.create_task(hub.work())
    try:
        yield hub
    finally:
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        await hub.close()


def test_an_answer_in_flight_is_stored_once_although_its_page_has_gone(tmp_path):
    path = tmp_path / "team.linkwise"

    async def run():
        async with open_hub(path) as hub:
            anna, ben = await open_tab(hub, "anna"), await open_tab(hub, "ben")
            question = ask(hub, anna)
            vanish(hub, anna)
            await ben.wait(lambda: ben.state["event"] >= 1)
            again = await open_tab(hub, "anna")
            return question, anna.replies, again.state

    question, replies, state = asyncio.run(run())
    assert replies == []
    assert [source for source, *_ in stored(path)] == ["anna"]
    assert state["question"]["id"] != question
    assert (state["team"]["own"], state["team"]["all"]) == (1, 1)


@pytest.mark.parametrize("answer", ["yes", "no", "unsure"])
def test_whoever_answers_again_after_the_connection_broke_counts_once(tmp_path, answer):
    """The page does not know whether its answer was stored, and sends it again from another tab."""
    path = tmp_path / "team.linkwise"

    async def run():
        async with open_hub(path) as hub:
            anna, ben = await open_tab(hub, "anna"), await open_tab(hub, "ben")
            question = ask(hub, anna, answer)
            vanish(hub, anna)
            again = Tab("anna")
            hub.join(again)
            ask(hub, again, answer, question)  # before anything was handled
            await again.wait(lambda: again.replies)
            ask(hub, again, answer, question)  # and after
            await again.wait(lambda: len(again.replies) == 2)
            ask(hub, ben, answer)  # others are not disturbed
            await ben.wait(lambda: ben.replies)
            return again.replies, ben.replies

    replies, (other,) = asyncio.run(run())
    assert [reply["error"]["kind"] for reply in replies] == ["stale", "stale"]
    assert other["ok"]
    assert Counter(source for source, *_ in stored(path)) == {"anna": 1, "ben": 1}


def test_pages_that_come_and_go_lose_no_confirmed_answer(tmp_path):
    path = tmp_path / "team.linkwise"
    rng = np.random.default_rng(0)

    async def run():
        confirmed, sent = Counter(), Counter()
        async with open_hub(path) as hub:
            tabs = {person: await open_tab(hub, person) for person in ("anna", "ben", "carl")}
            for _ in range(24):
                person = str(rng.choice(list(tabs)))
                tab = tabs[person]
                await tab.wait(lambda tab=tab: tab.state.get("question"))
                ask(hub, tab, str(rng.choice(["yes", "no"])))
                sent[person] += 1
                if rng.random() < 0.4:
                    vanish(hub, tab)
                    confirmed[person] += sum(reply["ok"] for reply in tab.replies)
                    tabs[person] = await open_tab(hub, person)
                else:
                    n = len(tab.replies)
                    await tab.wait(lambda tab=tab, n=n: len(tab.replies) > n)
                    last = tab.replies[-1].get("follows", 0)
                    await tab.wait(lambda tab=tab, last=last: tab.state["event"] >= last)
            for person, tab in tabs.items():
                confirmed[person] += sum(reply["ok"] for reply in tab.replies)
            shown = {person: tab.state["team"]["own"] for person, tab in tabs.items()}
            return confirmed, sent, shown

    confirmed, sent, shown = asyncio.run(run())
    rows = stored(path)
    count = Counter(source for source, *_ in rows)
    assert sum(sent.values()) > sum(confirmed.values()) > 0
    for person in sent:
        assert confirmed[person] <= count[person] <= sent[person]
        assert shown[person] <= count[person]
    pairs = Counter((source, frozenset((first, second))) for source, first, second in rows)
    assert max(pairs.values()) == 1


def test_a_reply_to_a_page_that_has_gone_stays_unsent():
    async def run():
        client = SocketClient("anna")
        hub = Hub("reading")
        hub.presenter = small_presenter()
        hub.join(client)
        hub.leave(client)
        work = asyncio.create_task(hub.work())
        hub.ask(client, {"id": "1", "do": "item", "rows": [0]})
        async with asyncio.timeout(patience()):
            while client.n_open:
                await asyncio.sleep(0.01)
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        await hub.close()
        return client.is_sending

    assert asyncio.run(run())


def test_an_answer_on_a_connection_that_is_reset_counts_at_most_once(page):
    """The connection is dropped as soon as the answer has left; whether it arrives is open."""
    other = page.view().ready()
    for n in range(1, 4):
        view = page.view().until(lambda v, n=n: v.state.get("event") == n - 1)
        question = view.state["question"]["id"]
        view.socket.send(json.dumps({"id": "1", "do": "answer", "question": question, "answer": "no"}))
        raw = view.socket.socket
        raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))  # reset, not end
        raw.close()
        again = page.view().ready()
        reply = again.ask("answer", question=question, answer="no")
        assert reply["ok"] or reply["error"]["kind"] == "stale"
        other.until(lambda v, n=n: v.state["event"] == n)
        assert other.state["counts"]["answers"] == n
