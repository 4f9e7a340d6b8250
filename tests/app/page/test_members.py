"""The rows of a cluster on the page: how they are listed, moved and split."""

import json

import numpy as np
import pytest

import linkwise as lw
from app.page.test_presenter import IRIS, answer, ask, make_presenter, refused
from linkwise.app.page import cluster_members
from linkwise.app.page.auth import MAX_BODY
from linkwise.app.page.cards import RowView
from linkwise.app.page.presenter import Presenter
from linkwise.data.show.items import text_items
from linkwise.session.session import Session


@pytest.fixture
def presenter():
    made = make_presenter(learner=lw.KIN(random_state=0))
    answer(made, 12)
    return made


def largest(presenter):
    return presenter.state()["clusters"][0]["cluster"]


def test_the_least_certain_rows_come_first(presenter):
    cluster = largest(presenter)
    session = presenter._session
    found = ask(presenter, "members", cluster=cluster).body
    assert sorted(found["rows"]) == np.flatnonzero(session.labels == cluster).tolist()
    assert found["certainty"] == sorted(found["certainty"])
    assert np.allclose(session.confidence[found["rows"]], found["certainty"], atol=0.001)
    assert found["more"] == 0


def test_learners_without_confidence_list_the_farthest_rows_first():
    presenter = make_presenter()
    answer(presenter, 12)
    found = ask(presenter, "members", cluster=largest(presenter)).body
    X = IRIS.X[found["rows"]]
    distance = np.linalg.norm(X - X.mean(axis=0), axis=1)
    assert found["certainty"] is None
    assert (np.diff(distance) <= 1e-9).all()


def test_a_filter_finds_values_by_column_and_texts(presenter):
    cluster, name = largest(presenter), IRIS.names[0]
    rows = ask(presenter, "members", cluster=cluster).body["rows"]
    value = f"{IRIS.X[rows[0], 0]:g}"
    found = ask(presenter, "members", cluster=cluster, text=f"{name}: {value}").body["rows"]
    assert found == [row for row in rows if f"{IRIS.X[row, 0]:g}" == value]
    assert ask(presenter, "members", cluster=cluster, text="nowhere").body["rows"] == []
    X = np.repeat([[0.0], [5.0]], 3, axis=0)
    texts = ["a red door", "a blue door", "a RED roof", "b", "c", "d"]
    presenter = Presenter(Session(X, lw.COBRAS(random_state=0)), X, RowView(text_items(texts)), title="t")
    assert sorted(ask(presenter, "members", cluster=0, text="red").body["rows"]) == [0, 2]


def test_more_rows_than_are_listed(presenter, monkeypatch):
    monkeypatch.setattr(cluster_members, "MOST_MEMBERS", 5)
    cluster = largest(presenter)
    found = ask(presenter, "members", cluster=cluster).body
    size = int((presenter._session.labels == cluster).sum())
    assert (len(found["rows"]), found["more"]) == (5, size - 5)


def test_page_and_presenter_have_one_limit_of_rows_that_move(presenter):
    request = {"id": "a" * 64, "do": "move", "to": "cluster", "cluster": 10**6, "labels": 10**6}
    longest = json.dumps({**request, "rows": [10**9] * cluster_members.MOST_MOVED}, separators=(",", ":"))
    assert len(longest) < MAX_BODY
    first, second = (each["cluster"] for each in presenter.state()["clusters"][:2])
    listed = ask(presenter, "members", cluster=first).body
    assert listed["most_moved"] == cluster_members.MOST_MOVED
    rows = [0] * (listed["most_moved"] + 1)
    error = refused(presenter, do="move", to="cluster", cluster=second, rows=rows, labels=listed["labels"])
    assert error["text"] == f"rows is list. Pass a list of 1 to {listed['most_moved']} rows."


def test_rows_move_as_one_event_and_back(presenter):
    first, second = (each["cluster"] for each in presenter.state()["clusters"][:2])
    before = presenter._session.labels
    listed = ask(presenter, "members", cluster=first).body
    rows = [row for row in listed["rows"] if row not in presenter._session.evidence.groups().row][:2]
    reply = ask(presenter, "move", to="cluster", cluster=second, rows=rows, labels=listed["labels"])
    assert reply.changed
    assert "moved" in reply.body["moved"]
    assert len(set(presenter._session.labels[rows].tolist())) == 1
    assert presenter.state()["undo"]["kind"] == "move"
    ask(presenter, "undo")
    assert presenter._session.labels.tolist() == before.tolist()


@pytest.mark.parametrize("to", ["new", "out"])
def test_rows_leave(presenter, to):
    cluster = largest(presenter)
    listed = ask(presenter, "members", cluster=cluster).body
    rows = [row for row in listed["rows"] if row not in presenter._session.evidence.groups().row][:2]
    assert ask(presenter, "move", to=to, rows=rows, labels=listed["labels"]).body["pairs"] > 0
    assert not set(presenter._session.labels[rows].tolist()) & {
        int(presenter._session.labels[fact.second])
        for fact in presenter._session.events[-1].facts
        if fact.answer == "no"
    }


def test_nobody_moves_rows_of_clusters_that_have_changed(presenter):
    listed = ask(presenter, "members", cluster=largest(presenter)).body
    rows = listed["rows"][:1]
    for wrong in ({"labels": listed["labels"] + 1}, {"labels": None}):
        assert refused(presenter, do="move", to="out", rows=rows, **wrong)["kind"] in ("stale", "bad")
    for wrong in ({"to": "away"}, {"rows": []}, {"rows": [10**6]}, {"to": "cluster"}):
        request = {"to": "out", "rows": rows, "labels": listed["labels"], **wrong}
        assert refused(presenter, do="move", **request)["kind"] == "bad"
    assert refused(presenter, do="members", cluster=10**6)["kind"] == "bad"


def test_a_cluster_is_cut_in_two(presenter):
    cluster = largest(presenter)
    members = set(np.flatnonzero(presenter._session.labels == cluster).tolist())
    halves = ask(presenter, "halves", cluster=cluster).body["halves"]
    assert [half["size"] for half in halves] == sorted((half["size"] for half in halves), reverse=True)
    assert sum(half["size"] for half in halves) == len(members)
    first, second = (half["rows"] for half in halves)
    assert {*first, *second} <= members
    assert not {*first} & {*second}
    assert ask(presenter, "split", first=first[0], second=second[0]).changed
    labels = presenter._session.labels
    assert labels[first[0]] != labels[second[0]]
    assert refused(presenter, do="split", first=first[0], second=second[0])["kind"] == "stale"


def test_the_halves_keep_the_answers():
    X = np.array([[0.0], [0.2], [9.0], [9.1], [0.1], [9.2]])
    session = Session(X, lw.COBRAS(random_state=0))
    for other in (1, 2, 3):
        session.add(0, other, "must-link")
    presenter = Presenter(session, X, RowView(text_items(list("abcdef"))), title="t")
    cluster = int(session.labels[0])
    if len({*session.labels.tolist()}) == 1:
        halves = ask(presenter, "halves", cluster=cluster).body["halves"]
        assert sum({0, 1, 2, 3} <= {*half["rows"]} for half in halves) == 1
    session.set_done(0)
    assert "known to belong together" in refused(presenter, do="halves", cluster=cluster)["text"]


def test_rows_that_are_alike_are_not_cut():
    X = np.zeros((4, 1))
    presenter = Presenter(
        Session(X, lw.COBRAS(random_state=0)), X, RowView(text_items(list("abcd"))), title="t"
    )
    assert "all alike" in refused(presenter, do="halves", cluster=0)["text"]
