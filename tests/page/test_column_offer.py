"""Columns that the answers do not depend on: proposed, left out and taken in again on the page."""

import pytest

from cli.test_column_proposal import write_orders
from linkwise.metric.column_choice import ColumnProposal
from linkwise.page.opening import present_project
from linkwise.session.session import Session
from linkwise.workspace import column_offer
from linkwise.workspace.method_choice import MethodChoice
from linkwise.workspace.options import Reading, SessionOptions
from linkwise.workspace.project import open_project
from linkwise.workspace.recoding import leave_out, take_in
from page.test_presenter import ask

PATIENT = bool  # a `stop` that is never true


@pytest.fixture
def orders(tmp_path):
    """The presenter of a table with two columns that do not matter, after forty answers."""
    data = tmp_path / "orders.csv"
    groups = write_orders(data)
    project = open_project(data, tmp_path / "orders.csv.linkwise", Reading(), MethodChoice())
    presenter = present_project(project)
    ids = project.session.ids
    for _ in range(40):
        q = project.session.question
        project.session.answer(groups[ids[q.first]] == groups[ids[q.second]])
    yield presenter, project
    presenter.close()


def refuse(presenter, action, columns=("shop", "day")):
    request = {"id": "a1", "do": "columns", "action": action, "columns": list(columns)}
    return presenter.handle(request).body["error"]


def test_the_columns_are_left_out_and_taken_in_again(orders):
    presenter, project = orders
    assert presenter.state()["columns"] is None
    assert refuse(presenter, "leave_out")["text"] == "There is no proposal any more."
    presenter.look_ahead(PATIENT)
    assert presenter.has_changed()
    state = presenter.state()
    assert not presenter.has_changed()
    assert state["columns"] == {"drop": ["shop", "day"], "left_out": []}
    places, events, X = presenter.places(), project.session.events, project.session.X
    reply = ask(presenter, "columns", action="leave_out", columns=["shop", "day"])
    assert reply.body["backup"] == "orders.csv-before.linkwise"
    assert (reply.changed, reply.moves_places) == (True, True)
    after = presenter.state()
    assert after["columns"] == {"drop": [], "left_out": ["shop", "day"]}
    assert after["counts"]["answers"] == 40
    assert after["labels"] > state["labels"]
    assert presenter.places() != places
    assert project.session.events == events
    assert project.session.X.shape[1] == 1
    with Session.open(project.path.with_name("orders.csv-before.linkwise"), X) as copy:
        assert copy.events == events
    with Session.open(project.path) as stored:
        assert stored.source["choices"]["drop"] == ["shop", "day"]
    assert ask(presenter, "columns", action="restore", columns=["shop", "day"]).moves_places
    assert presenter.places() == places
    assert presenter.state()["columns"] is None
    assert refuse(presenter, "restore")["text"] == "No columns are left out that could come back."
    assert project.session.X.tolist() == X.tolist()
    assert sorted(one.suffix for one in project.path.parent.glob("*before*")) == [".linkwise"] * 2


def test_answers_go_on_after_the_change(orders):
    presenter, project = orders
    presenter.look_ahead(PATIENT)
    ask(presenter, "columns", action="leave_out", columns=["shop", "day"])
    question = presenter.state()["question"]
    assert question is not None
    ask(presenter, "answer", question=question["id"], answer="unsure")
    assert presenter.state()["counts"]["answers"] == 41
    project.session.close()
    again = open_project(project.data, project.path, Reading(), MethodChoice())
    assert again.session.X.shape[1] == 1
    assert again.session.status.n_answers == 41
    again.session.close()


def test_columns_come_back_after_the_session_was_reopened(orders):
    presenter, project = orders
    X, data, path = project.session.X, project.data, project.path
    presenter.look_ahead(PATIENT)
    ask(presenter, "columns", action="leave_out", columns=["shop", "day"])
    project.session.close()
    again = open_project(data, path, Reading(), MethodChoice())
    with again.session as session:
        page = present_project(again)
        assert page.state()["columns"] == {"drop": [], "left_out": ["shop", "day"]}
        assert ask(page, "columns", action="restore", columns=["shop", "day"]).moves_places
        assert page.state()["columns"] is None
        assert session.X.tolist() == X.tolist()
        assert session.status.n_answers == 40
        assert session.source["choices"]["drop"] == []
        assert "left_out" not in session.source
        page.close()
    third = open_project(data, path, Reading(), MethodChoice())
    assert (
        refuse(present_project(third), "restore")["text"] == "No columns are left out that could come back."
    )
    third.session.close()


@pytest.mark.parametrize(("drop", "left_out"), [(("shop",), ["shop"]), (("size",), [])])
def test_other_options_keep_what_they_leave_out(orders, drop, left_out):
    presenter, project = orders
    presenter.look_ahead(PATIENT)
    ask(presenter, "columns", action="leave_out", columns=["shop", "day"])
    project.session.close()
    again = open_project(
        project.data, project.path, Reading(scale="none"), MethodChoice(), SessionOptions(replay=True)
    )
    assert again.session.source["left_out"].keys() == {"shop", "day"}
    again.session.close()
    with open_project(
        project.data, project.path, Reading(drop=drop), MethodChoice(), SessionOptions(replay=True)
    ).session as session:
        assert list(session.source.get("left_out", ())) == left_out
        assert session.source["scale"] == "none"


def test_columns_come_back_as_the_options_named_them(tmp_path):
    data = tmp_path / "orders.csv"
    write_orders(data)
    reading = Reading(
        columns=("size", "shop", "day"), as_categories=("shop",), hide=("shop",), weights={"day": 2.0}
    )
    project = open_project(data, tmp_path / "orders.csv.linkwise", reading, MethodChoice())
    X, choices = project.session.X, project.session.source["choices"]
    left = leave_out(project, ["day", "shop"]).project
    assert left.session.X.shape[1] == 1
    project = take_in(left, left.table).project
    assert project.session.X.tolist() == X.tolist()
    now = project.session.source["choices"]
    assert {name: sorted(value) if isinstance(value, list) else value for name, value in now.items()} == {
        name: sorted(value) if isinstance(value, list) else value for name, value in choices.items()
    }
    project.session.close()


@pytest.mark.parametrize("change", ["another order", "a row more"])
def test_rows_that_changed_meanwhile_are_not_taken_for_those_shown(orders, change):
    presenter, project = orders
    presenter.look_ahead(PATIENT)
    head, *lines = project.data.read_text(encoding="utf-8").splitlines()
    lines = lines[::-1] if change == "another order" else [*lines, "r900,1.5,shop 1,0.5"]
    project.data.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    assert (
        "orders.csv holds other rows than when the session was opened"
        in refuse(presenter, "leave_out")["text"]
    )
    assert presenter.state()["counts"]["answers"] == 40
    assert not list(project.path.parent.glob("*before*"))


def test_a_click_on_an_older_proposal_leaves_nothing_out(orders):
    presenter, project = orders
    presenter.look_ahead(PATIENT)
    for columns in (["shop"], ["day", "shop"], []):
        error = refuse(presenter, "leave_out", columns)
        assert error["kind"] == "bad"
        assert "it is now to leave out shop, day. Nothing was left out." in error["text"]
    request = {"id": "a1", "do": "columns", "action": "leave_out"}
    assert "columns is missing. Give a list of names." in presenter.handle(request).body["error"]["text"]
    assert presenter.handle(request | {"columns": [5]}).body["error"]["kind"] == "bad"
    assert project.session.X.shape[1] > 1
    assert not list(project.path.parent.glob("*before*"))
    ask(presenter, "columns", action="leave_out", columns=["shop", "day"])
    assert "left out by now: shop, day." in refuse(presenter, "restore", ["shop"])["text"]
    assert project.session.X.shape[1] == 1


def test_all_columns_come_back_that_were_left_out_in_turn(orders, monkeypatch):
    presenter, project = orders
    X = project.session.X
    for columns in (["day"], ["shop"]):
        proposal = ColumnProposal(tuple(columns), (), {}, 1.0, 40)
        monkeypatch.setattr(column_offer, "propose_columns", lambda _, proposal=proposal: proposal)
        presenter._columns_offer._asked = -1
        presenter.look_ahead(PATIENT)
        ask(presenter, "columns", action="leave_out", columns=columns)
    assert project.session.X.shape[1] == 1
    assert presenter.state()["columns"] == {"drop": [], "left_out": ["day", "shop"]}
    ask(presenter, "columns", action="restore", columns=["day", "shop"])
    assert project.session.X.tolist() == X.tolist()
    with Session.open(project.path) as stored:
        assert stored.source["choices"]["drop"] == []


@pytest.mark.parametrize("action", ["leave_out", "restore"])
def test_values_that_changed_meanwhile_are_named(orders, action):
    presenter, project = orders
    presenter.look_ahead(PATIENT)
    if action == "restore":
        left_out = ask(presenter, "columns", action="leave_out", columns=["shop", "day"])
        assert left_out.body["changed"] == ""
    head, *lines = project.data.read_text(encoding="utf-8").splitlines()
    cells = lines[7].split(",")
    lines[7] = ",".join([cells[0], "99.5", *cells[2:]])
    project.data.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    reply = ask(presenter, "columns", action=action, columns=["shop", "day"])
    assert reply.body["changed"] == (
        "The file has changed since the session was opened, and its new values count: r7."
    )


def test_without_a_data_file_nothing_is_offered():
    from page.test_presenter import answer, make_presenter

    presenter = make_presenter()
    answer(presenter, 25)
    presenter.look_ahead(PATIENT)
    assert presenter.state()["columns"] is None
    assert refuse(presenter, "leave_out")["kind"] == "bad"
