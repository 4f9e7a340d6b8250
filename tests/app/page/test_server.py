"""The socket: what is sent in which order, to whom, and that nobody has to wait for anybody."""

from __future__ import annotations

import asyncio
import socket
import threading

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import linkwise as lw
from linkwise.app.page.cards import view_numbers
from linkwise.app.page.hub import MOST_REQUESTS, Hub, Update
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.requests import Reply
from linkwise.app.page.server import _depth, read_request
from linkwise.app.page.socket_client import SocketClient, encode_reply
from linkwise.errors import DataError, SessionLockedError
from patience import patience, wait_until

from .conftest import small_presenter


class Slow:
    """A presenter that works until it is told to go on."""

    def __init__(self, presenter):
        self.presenter, self.go_on = presenter, threading.Event()

    def __getattr__(self, name):
        return getattr(self.presenter, name)

    def handle(self, request, person=""):
        if request["do"] == "why":
            assert self.go_on.wait(patience())
        return self.presenter.handle(request, person)


# ---------------------------------------------------------------- what is sent
def test_a_new_view_gets_places_labels_and_state_in_this_order(page):
    view = page.view().ready()
    told = [what for what in view.log if what != "state"]
    assert told == ["places", "labels"]
    assert view.log[-1] == "state"
    assert np.frombuffer(view.places, "<f4").reshape(12, 2).min() >= -1
    assert len(view.labels) == 12
    assert view.state["title"] == "leaves.csv"


def test_an_answer_reaches_all_views_before_its_reply(page):
    one, other = page.view().ready(), page.view().ready()
    one.log.clear()
    assert one.answer("no")["ok"]
    assert one.log[-2:] == ["state", "reply"]
    other.until(lambda view: view.state["event"] == 1)
    assert other.state == one.state
    assert other.labels == one.labels


def test_labels_come_before_the_state_that_counts_them_and_only_when_new(page):
    view = page.view().ready()
    counted = view.state["labels"]
    view.log.clear()
    view.ask("name", cluster=view.state["clusters"][0]["cluster"], name="first")
    assert "labels" not in view.log
    assert view.state["labels"] == counted
    while view.state["labels"] == counted:
        view.log.clear()
        assert view.answer("no")["ok"]
    assert view.log == ["labels", "state", "reply"]


def test_a_whole_session_finds_what_was_meant(page):
    view = page.view().ready()
    while view.state["question"] is not None:
        question = view.state["question"]
        same = (question["first"]["row"] - question["second"]["row"]) % 3 == 0
        assert view.answer("yes" if same else "no")["ok"]
    assert view.state["ended"] == "exhausted"
    found = np.frombuffer(view.labels, "u1")
    assert len(set(zip(found.tolist(), (np.arange(12) % 3).tolist(), strict=True))) == 3


def test_wide_labels_take_two_bytes(pages):
    X = np.arange(300.0)[:, None]

    def begin():
        learner = lw.MinMax(n_clusters=290, random_state=0)
        return Presenter(lw.Session(X, learner), X, view_numbers(X, ("x",)), title="wide")

    presenter = begin()
    if not presenter.state()["two_bytes"]:
        pytest.fail("the clustering has too few clusters to need two bytes")
    view = pages(begin).view().ready()
    assert len(view.labels) == 600
    assert np.frombuffer(view.labels, "<u2").max() >= 255


def test_a_file_comes_behind_the_json_of_its_reply(page):
    view = page.view().ready()
    reply = view.ask("export", what="labels")
    assert reply["name"] == "leaves-clusters.csv"
    assert view.files[reply["re"]].startswith(b"id,cluster\n")
    assert view.log[-1] == "file"


def test_the_frame_of_a_file_says_how_long_its_json_is():
    frame = encode_reply(Reply({"re": "ü", "ok": True}, b"\0\1\2"))
    length = int.from_bytes(frame[4:8], "little")
    assert frame[:4] == b"\3\0\0\0"
    assert frame[8 : 8 + length].decode() == '{"re":"ü","ok":true}'
    assert frame[8 + length :] == b"\0\1\2"


# ---------------------------------------------------------------- several views
def test_an_answer_to_a_question_that_moved_on_is_refused(page):
    one, other = page.view().ready(), page.view().ready()
    assert one.answer("no")["ok"]
    reply = other.ask("answer", question="0:0-1", answer="yes")
    assert reply["error"]["kind"] == "stale"
    assert other.state["counts"]["answers"] == 1
    assert other.state["question"] == one.state["question"]


def test_of_many_answers_to_one_question_one_is_stored(page):
    views = [page.view().ready() for _ in range(5)]
    question = views[0].state["question"]["id"]
    names = [view.say("answer", question=question, answer="no") for view in views]
    for view, name in zip(views, names, strict=True):
        view.until(lambda v, name=name: name in v.replies)
    kinds = [view.replies[name]["ok"] for view, name in zip(views, names, strict=True)]
    assert sorted(kinds) == [False] * 4 + [True]
    assert all(view.state["counts"]["answers"] == 1 for view in views)


def test_requests_are_worked_off_in_order(page):
    view = page.view().ready()
    names = [view.say("name", cluster=0, name=f"n{i}") for i in range(8)]
    view.until(lambda v: len(v.replies) == 8)
    assert list(view.replies) == names


@pytest.mark.slow
def test_a_view_that_takes_nothing_does_not_hold_up_the_others(pages):
    page = pages(lambda: small_presenter(600))
    dead = page.view()  # reads nothing
    view = page.view().ready()
    for _ in range(30):
        assert view.answer("unsure")["ok"]
    assert view.state["counts"]["unsure"] == 30
    dead.socket.socket.shutdown(socket.SHUT_RDWR)  # no closing handshake: it would wait for this view to read


def test_what_a_view_has_not_taken_is_replaced_by_the_newest():
    view = SocketClient()
    view.show(Update({"n": 1, "two_bytes": False}, labels=b"1", places=b"p"))
    view.show(Update({"n": 2, "two_bytes": True}, labels=b"2"))
    view.reply(Reply({"re": "r"}))
    view.show(Update({"n": 3, "two_bytes": True}))
    sent = [view.next() for _ in range(5)]
    newest = '{"state":{"n":3,"two_bytes":true}}'
    assert sent == [b"\0\0\0\0p", b"\2\0\0\0002", newest, '{"re":"r"}', None]


def test_a_view_that_stops_taking_is_let_go(monkeypatch):
    monkeypatch.setattr("linkwise.app.page.socket_client.SEND_S", 0.01)
    view = SocketClient()
    view.show(Update({}))

    async def never(frame):
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(view.send_all(never))


def test_too_many_pages_are_refused(page, monkeypatch):
    monkeypatch.setattr("linkwise.app.page.server.MOST_CLIENTS", 2)
    views = [page.view().ready() for _ in range(2)]
    with pytest.raises(InvalidStatus):
        page.view()
    assert views[0].ask("item", rows=[0])["ok"]


# ---------------------------------------------------------------- long work
def test_pings_are_answered_and_views_are_informed_while_the_presenter_works(pages):
    presenter = Slow(small_presenter())
    page = pages(lambda: presenter)
    one, other = page.view().ready(), page.view().ready()
    name = one.say("why", first=0, second=1)
    other.until(lambda view: view.state["busy"])
    assert other.socket.ping().wait(patience()), "a pong"
    assert page.view().ready().state["busy"], "a new view comes in"
    assert name not in one.replies
    presenter.go_on.set()
    one.until(lambda view: name in view.replies)
    other.until(lambda view: not view.state["busy"])


def test_too_many_requests_at_once_are_refused(pages):
    presenter = Slow(small_presenter())
    view = pages(lambda: presenter).view().ready()
    names = [view.say("why", first=0, second=1) for _ in range(MOST_REQUESTS + 1)]
    view.until(lambda v: names[-1] in v.replies)
    assert view.replies[names[-1]]["error"]["kind"] == "failed"
    presenter.go_on.set()
    view.until(lambda v: len(v.replies) == len(names))
    assert view.ask("item", rows=[0])["ok"]


def test_what_follows_is_worked_out_while_nobody_asks(pages):
    presenter = Slow(small_presenter())
    seen = []
    presenter.look_ahead = lambda stop: seen.append(stop())
    view = pages(lambda: presenter).view().ready()
    wait_until(lambda: len(seen) == 1)
    view.answer("no")
    wait_until(lambda: len(seen) == 2)
    view.ask("item", rows=[0])
    assert seen == [False, False], "a request that changes nothing is no reason to begin again"


def test_working_ahead_stops_as_soon_as_somebody_asks(pages):
    presenter = Slow(small_presenter())
    begun, stopped = [], []

    def ahead(stop):
        begun.append(1)
        if len(begun) == 1:
            wait_until(stop)
            stopped.append(1)

    presenter.look_ahead = ahead
    view = pages(lambda: presenter).view().ready()
    wait_until(lambda: begun)
    assert view.ask("item", rows=[0])["ok"]
    assert stopped
    wait_until(lambda: len(begun) == 2)


# ---------------------------------------------------------------- loading, and what goes wrong
def test_until_the_data_are_read_the_page_says_so(pages):
    go_on = threading.Event()

    def begin():
        assert go_on.wait(patience())
        return small_presenter()

    view = pages(begin).view()
    view.hear()
    assert view.state == {"protocol": 1, "loading": "reading leaves.csv"}
    assert view.ask("undo")["error"]["kind"] == "failed"
    go_on.set()
    view.ready()
    assert view.log[-3:] == ["places", "labels", "state"]


def test_what_cannot_be_read_is_reported_on_the_page_and_ends_the_server(pages):
    go_on = threading.Event()

    def begin():
        assert go_on.wait(patience())
        raise DataError("leaves.csv: there is no row")

    page = pages(begin)
    view = page.view()
    view.hear()
    go_on.set()
    view.until(lambda v: "failed" in v.state)
    assert view.state == {"protocol": 1, "failed": "leaves.csv: there is no row"}
    wait_until(lambda: page.error is not None)
    assert isinstance(page.error, DataError)


def test_a_fault_of_ours_is_not_told_to_the_browser(pages):
    def begin():
        raise ZeroDivisionError("secret detail")

    page = pages(begin)
    wait_until(lambda: page.error is not None)
    assert isinstance(page.error, ZeroDivisionError)
    assert "secret" not in str(page.hub._state)


def test_the_end_of_the_server_closes_sockets(pages):
    page = pages()
    view = page.view().ready()
    page._loop.call_soon_threadsafe(page._stop.set)
    with pytest.raises(ConnectionClosed):
        view.until(lambda v: False)
    assert view.socket.close_code in (1001, 1012)


def test_closing_lets_go_of_the_session_even_while_it_is_being_opened():
    begun, go_on = threading.Event(), threading.Event()

    def begin():
        begun.set()
        assert go_on.wait(patience())
        return small_presenter()

    async def cut_short():
        hub = Hub("reading")
        opening = asyncio.create_task(hub.open(begin))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        opening.cancel()
        closing = asyncio.create_task(hub.close())
        go_on.set()
        await closing
        return hub.presenter

    presenter = asyncio.run(cut_short())
    with pytest.raises(lw.SessionError, match="closed"):
        presenter.state()


# ---------------------------------------------------------------- other programs
@pytest.mark.slow
def test_what_another_program_does_is_shown(pages, tmp_path):
    path = tmp_path / "leaves.linkwise"
    X = np.repeat([[0.0], [5.0], [9.0]], 4, axis=0) + np.arange(12)[:, None] / 100

    def begin():
        session = lw.Session.open(path, X, lw.COBRAS(random_state=0))
        return Presenter(session, X, view_numbers(X, ("x",)), title="leaves.csv", place=str(path))

    view = pages(begin).view().ready()
    assert view.answer("no")["ok"]
    with lw.Session.open(path) as other:
        other.undo()
    view.until(lambda v: v.state["counts"]["answers"] == 0)
    with lw.Session.open(path) as other:
        other.add(0, 11, "cannot-link")
    view.until(lambda v: v.state["counts"]["added"] == 1)


@pytest.mark.slow
def test_a_session_that_is_held_by_another_program_is_shown_later(pages, monkeypatch):
    presenter = Slow(small_presenter())
    state, held = presenter.presenter.state, threading.Event()

    def sometimes(people):
        if held.is_set():
            raise SessionLockedError("held")
        return state(people)

    presenter.state = sometimes
    view = pages(lambda: presenter).view().ready()
    held.set()
    assert view.answer("no")["ok"], "it is stored"
    assert view.state["event"] == 0
    held.clear()
    view.until(lambda v: v.state["event"] == 1)


# ---------------------------------------------------------------- markup
MARKUP = "<img src=x onerror=alert(1)>\"'&</script>"


def test_what_people_and_data_say_comes_as_data(pages):
    X = np.arange(12.0)[:, None]
    names = [f"{MARKUP}{i}" for i in range(12)]

    def begin():
        session = lw.Session(X, lw.COBRAS(random_state=0), ids=names)
        return Presenter(session, X, view_numbers(X, (MARKUP,), names), title=MARKUP, place=MARKUP)

    page = pages(begin)
    view = page.view().ready()
    assert view.ask("name", cluster=view.state["clusters"][0]["cluster"], name=MARKUP)["ok"]
    assert view.state["title"] == view.state["place"] == view.state["clusters"][0]["name"] == MARKUP
    assert view.state["question"]["first"]["fields"][0]["name"] == MARKUP
    assert view.state["question"]["first"]["name"] in names
    for path in ("/", "/widget.js", f"/{MARKUP.replace(' ', '%20')}", f"/?token={MARKUP.replace(' ', '+')}"):
        for cookie in (page.cookie, None):
            assert "onerror=alert(1)" not in page.get(path, Cookie=cookie)[2]


# ---------------------------------------------------------------- requests as they are read
@pytest.mark.parametrize(
    ("value", "depth"),
    [({}, 1), ({"a": 1}, 1), ({"a": []}, 2), ({"a": [{}], "b": 1}, 3), ([[[[]]], {}], 4)],
)
def test_depth_is_counted(value, depth):
    assert _depth(value) == depth


def test_a_request_is_read():
    assert read_request('{"id":"a1","do":"undo"}') == {"id": "a1", "do": "undo"}
