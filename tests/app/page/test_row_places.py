"""The plot by axes or by neighbours: what a page asks for, and what it gets."""

import threading

import numpy as np
import pytest

from app.page.conftest import Page, small_presenter
from linkwise.app.page import row_places
from linkwise.app.page.cards import view_numbers
from linkwise.app.page.presenter import Presenter
from linkwise.app.page.row_places import FAILED, NO_AXES, RowPlaces
from linkwise.learn.kin.kin import KIN
from linkwise.session.session import Session
from patience import patience, wait_until

X = np.random.default_rng(0).normal(size=(40, 5))
LABELS = (np.arange(40) % 2).astype(np.int32)


def finish(places):
    wait_until(lambda: places.has_new)
    return places.take_new()


def test_a_map_is_shown_once_it_is_taken():
    places = RowPlaces(X, "record")
    first, axes = places.current, places.axes
    assert places.describe() == {"by": "axes", "running": False, "proposed": True}
    places.start(LABELS, np.ones(40), [])
    assert places.describe() == {"by": "axes", "running": True, "proposed": False}
    assert places.current is first
    assert finish(places)
    assert places.describe() == {"by": "neighbours", "running": False, "proposed": False}
    assert places.axes == NO_AXES
    assert np.abs(places.current).max() == 1
    assert not places.take_new()
    places.show_axes()
    assert (places.current is first, places.axes) == (True, axes)


def test_axes_in_between_forget_the_map(monkeypatch):
    places = RowPlaces(X, "record", given=X[:, :2])
    assert places.axes == ""
    places.start(LABELS, np.ones(40), [])
    places.show_axes()
    places.start(LABELS, np.ones(40), [])
    assert finish(places)
    assert not places.take_new()
    monkeypatch.setattr(row_places, "map_by_neighbours", lambda *_, **__: 1 / 0)
    places.start(LABELS, np.ones(40), [])
    assert finish(places)
    assert places.axes == f"{FAILED}: division by zero"
    assert places.describe() == {"by": "neighbours", "running": False, "proposed": False}


@pytest.mark.parametrize(
    ("rows", "is_proposed"),
    [
        pytest.param(X, True, id="five directions"),
        pytest.param(np.c_[X[:, :2], X[:, 2:] / 9], False, id="two that hold nearly all"),
        pytest.param(np.zeros((40, 3)), False, id="rows that are all the same"),
        pytest.param(X[:9], False, id="few rows"),
    ],
)
def test_neighbours_are_proposed_where_two_axes_hold_little(rows, is_proposed):
    places = RowPlaces(rows)
    assert bool((places.describe() or {}).get("proposed")) == is_proposed
    places.show_axes()
    assert not (places.describe() or {}).get("proposed")


def test_one_map_at_a_time_is_computed(monkeypatch):
    places, may_go, begun = RowPlaces(X, "record"), threading.Event(), []

    def compute(X, *_, named):
        begun.append(list(named))
        assert may_go.wait(patience())
        return X[:, :2]

    monkeypatch.setattr(row_places, "map_by_neighbours", compute)
    for asked in ([1], [2], [3]):
        places.start(LABELS, np.ones(40), asked)
        wait_until(lambda: begun)
        places.show_axes()
    places.start(LABELS, np.ones(40), [4])
    assert begun == [[1]]
    may_go.set()
    assert finish(places)
    assert begun == [[1], [4]]


def test_few_rows_have_no_map():
    presenter = small_presenter(9)
    assert presenter.state()["map"] is None
    reply = presenter.handle({"id": "1", "do": "map", "by": "neighbours"})
    assert "at least 10 rows" in reply.body["error"]["text"]
    presenter.close()


def test_several_people_share_a_plot_by_axes():
    presenter = small_presenter(24)
    assert presenter.state(["anna"])["map"] is None
    reply = presenter.handle({"id": "1", "do": "map", "by": "neighbours"}, "anna")
    assert not reply.body["ok"]
    presenter.close()


@pytest.mark.parametrize("answers", [0, 4])
def test_clusters_pull_by_their_confidence(monkeypatch, answers):
    session = Session(X, KIN(random_state=0))
    for _ in range(answers):
        session.answer(bool(LABELS[session.question.first] == LABELS[session.question.second]))
    presenter = Presenter(session, X, view_numbers(X, "abcde"), title="t")
    given = []
    monkeypatch.setattr(
        row_places, "map_by_neighbours", lambda *some, **more: given.append((some, more)) or X[:, :2]
    )
    presenter.handle({"id": "1", "do": "map", "by": "neighbours"})
    wait_until(lambda: presenter.take_new_places() is not None)
    (_, labels, confidence, _), more = given[0]
    assert (labels == session.labels).all()
    assert (confidence.max() > 0) == bool(answers)
    assert len(more["named"]) >= answers // 2
    presenter.close()


def test_a_page_gets_the_map_when_it_is_done():
    page = Page(lambda: small_presenter(24))
    try:
        view = page.view().ready()
        before = view.places
        assert view.state["map"] == {"by": "axes", "running": False, "proposed": False}
        assert view.ask("map", by="neighbours")["ok"]
        view.until(lambda view: view.state["map"]["by"] == "neighbours")
        assert view.places != before
        assert view.state["axes"] == NO_AXES
        assert view.ask("map", by="axes")["ok"]
        view.until(lambda view: view.state["map"]["by"] == "axes")
        view.until(lambda view: view.places == before)
        assert not view.ask("map", by="fortune")["ok"]
    finally:
        page.close()
