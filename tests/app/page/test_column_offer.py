"""Weights of columns by the answers: proposed, applied and taken back on the page."""

import json

import numpy as np
import pytest

from app.cli.test_answers_follow import COMPARED, write_requests
from app.cli.test_column_proposal import write_orders
from app.page.test_presenter import ask
from linkwise.app.page.opening import present_project
from linkwise.app.project import column_offer, recoding
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import open_project
from linkwise.app.project.recoding import take_back, weigh_columns
from linkwise.cluster.metric.column_choice import ColumnProposal
from linkwise.constraints.constraints import Constraints
from linkwise.data.encoding.encoded import block_of
from linkwise.data.reading import Reading
from linkwise.session.session import Session

PATIENT = bool  # a `stop` that is never true
SHOWN = ["shop", "day", "size"]
WEIGHTS = {"size": 5.14, "shop": 0.5, "day": 0.5}


@pytest.fixture
def orders(tmp_path):
    """The presenter of a table with two columns that do not matter, after 35 answers."""
    data = tmp_path / "orders.csv"
    groups = write_orders(data)
    project = open_project(data, tmp_path / "orders.csv.linkwise", Reading(), MethodChoice())
    presenter = present_project(project)
    ids = project.session.ids
    for _ in range(35):
        q = project.session.question
        project.session.answer(groups[ids[q.first]] == groups[ids[q.second]])
    yield presenter, project
    presenter.close()


def refuse(presenter, action, columns=tuple(SHOWN)):
    request = {"id": "a1", "do": "columns", "action": action, "columns": list(columns)}
    return presenter.handle(request).body["error"]


def weigh(presenter):
    presenter.look_ahead(PATIENT)
    return ask(presenter, "columns", action="weigh", columns=SHOWN)


def test_the_weights_are_applied_and_taken_back(orders):
    presenter, project = orders
    assert presenter.state()["columns"] is None
    assert refuse(presenter, "weigh")["text"] == "There is no proposal any more."
    presenter.look_ahead(PATIENT)
    assert presenter.has_changed()
    state = presenter.state()
    assert not presenter.has_changed()
    assert state["columns"] == {
        "follows": "",
        "less": ["shop", "day"],
        "more": ["size"],
        "weighed": [],
        "task": "",
    }
    places, events, X = presenter.places(), project.session.events, project.session.X
    reply = ask(presenter, "columns", action="weigh", columns=SHOWN)
    assert reply.body["backup"] == "orders.csv-before.linkwise"
    assert (reply.changed, reply.moves_places) == (True, True)
    after = presenter.state()
    assert after["columns"] == {
        "follows": "",
        "less": [],
        "more": [],
        "weighed": ["size", "shop", "day"],
        "task": "",
    }
    assert after["counts"]["answers"] == 35
    assert after["labels"] > state["labels"]
    assert presenter.places() != places
    assert project.session.events == events
    assert project.session.X.shape == X.shape
    spans = (project.session.X**2).sum(axis=0) / (X**2).sum(axis=0)
    assert spans.round(3).tolist() == [5.14] + [0.5] * 9  # no column is left out
    with Session.open(project.path.with_name("orders.csv-before.linkwise"), X) as copy:
        assert copy.events == events
    with Session.open(project.path) as stored:
        assert stored.source["choices"]["weights"] == WEIGHTS
        assert stored.source["earlier_weights"] is None
    assert ask(presenter, "columns", action="restore", columns=["size", "shop", "day"]).moves_places
    assert presenter.places() == places
    assert presenter.state()["columns"] is None
    assert refuse(presenter, "restore")["text"] == "Nothing can be taken back."
    assert project.session.X.tolist() == X.tolist()
    assert sorted(one.suffix for one in project.path.parent.glob("*before*")) == [".linkwise"] * 2


@pytest.mark.parametrize(("more", "is_offered"), [(-0.01, True), (0.01, False)])
def test_nothing_is_offered_if_most_rows_are_right(orders, monkeypatch, more, is_offered):
    presenter, project = orders
    monkeypatch.setattr(recoding, "MOST_RIGHT", project.session.status.advice.wrong + more)
    presenter.look_ahead(PATIENT)
    assert (presenter.state()["columns"] is not None) == is_offered


def test_nothing_is_offered_if_the_learner_does_not_estimate_wrong_rows(orders):
    _, project = orders
    project.session.close()
    choice = MethodChoice("minmax", {"n_clusters": 3})
    again = open_project(project.data, project.path, Reading(), choice)
    with again.session as session:
        assert session.status.advice is None
        assert session.propose_columns([one.source for one in again.encoded.features]) is not None
        assert recoding.propose_columns(again) is None


def test_answers_go_on_after_the_change(orders):
    presenter, project = orders
    weigh(presenter)
    question = presenter.state()["question"]
    assert question is not None
    ask(presenter, "answer", question=question["id"], answer="unsure")
    assert presenter.state()["counts"]["answers"] == 36
    X = project.session.X
    project.session.close()
    with open_project(project.data, project.path, Reading(), MethodChoice()).session as again:
        assert again.X.tolist() == X.tolist()
        assert again.status.n_answers == 36


def test_weights_come_back_after_the_session_was_reopened(orders):
    presenter, project = orders
    X, data, path = project.session.X, project.data, project.path
    weigh(presenter)
    project.session.close()
    again = open_project(data, path, Reading(), MethodChoice())
    with again.session as session:
        page = present_project(again)
        assert page.state()["columns"]["weighed"] == ["size", "shop", "day"]
        assert ask(page, "columns", action="restore", columns=["size", "shop", "day"]).moves_places
        assert page.state()["columns"] is None
        assert session.X.tolist() == X.tolist()
        assert session.status.n_answers == 35
        assert "weights" not in session.source["choices"]
        assert "earlier_weights" not in session.source
        page.close()


@pytest.mark.parametrize(
    "reading", [Reading(scale="none"), Reading(weights={"day": 2.0}), Reading(drop=("shop",))]
)
def test_other_options_take_the_weights_back_and_say_so(orders, reading):
    presenter, project = orders
    weigh(presenter)
    project.session.close()
    again = open_project(project.data, project.path, reading, MethodChoice(), SessionOptions(replay=True))
    with again.session as session:
        assert any("and without the weights by your answers" in note for note in again.notes)
        assert "earlier_weights" not in session.source
        assert session.source["choices"].get("weights") == reading.weights
        assert session.status.n_answers == 35


def test_given_weights_are_multiplied_and_come_back(tmp_path):
    data = tmp_path / "orders.csv"
    write_orders(data)
    reading = Reading(hide=("shop",), weights={"day": 2.0})
    project = open_project(data, tmp_path / "orders.csv.linkwise", reading, MethodChoice())
    X, choices = project.session.X, project.session.source["choices"]
    weighed = weigh_columns(project, {"size": 1.2345, "shop": 0.5, "day": 0.7}).project
    assert weighed.session.source["choices"]["weights"] == {"day": 1.4, "size": 1.23, "shop": 0.5}
    again = weigh_columns(weighed, {"size": 1.0, "shop": 0.5, "day": 1.0}).project
    assert again.session.source["choices"]["weights"] == {"day": 1.4, "size": 1.23, "shop": 0.25}
    assert again.session.source["earlier_weights"] == {"day": 2.0}
    project = take_back(again).project
    assert project.session.X.tolist() == X.tolist()
    assert project.session.source["choices"] == choices
    project.session.close()


def test_blocks_get_weights_under_their_names(tmp_path):
    draw = np.random.default_rng(0)
    rows = [
        {
            "id": f"r{at}",
            "size": 10 * (at % 3) + float(draw.normal()),
            "shop": f"shop {draw.integers(5)}",
            "place": draw.normal(size=3).tolist(),
        }
        for at in range(90)
    ]
    data = tmp_path / "rows.json"
    data.write_text(json.dumps(rows), encoding="utf-8")
    reading = Reading(columns=("size", "shop", "place"))
    project = open_project(data, tmp_path / "rows.linkwise", reading, MethodChoice())
    must = [(at, at + 3) for at in range(15)]
    cannot = [(at, at + 1) for at in range(15)]
    project.session.import_constraints(Constraints(90, must_link=must, cannot_link=cannot))
    proposal = recoding.propose_columns(project)
    assert proposal is not None
    assert proposal.weights.keys() == {"size", "shop", "place"}
    before = spans_by_source(project)
    weighed = weigh_columns(project, proposal.weights).project
    now = spans_by_source(weighed)
    shares = {name: proposal.weights[name] * before[name] for name in before}
    ratios = [now[name] / shares[name] for name in shares]
    assert ratios == pytest.approx([ratios[0]] * len(ratios), rel=0.02)  # weights have three digits
    assert weighed.session.source["choices"]["weights"].keys() == {*proposal.weights, "columns"}
    assert recoding.list_weighed_columns(weighed) == ("size", "shop", "place")
    weighed.session.close()


def spans_by_source(project):
    spans, features = project.session.X.var(axis=0), project.encoded.features
    names = [block_of(one) or one.source for one in features]
    return {name: sum(spans[at] for at in range(len(names)) if names[at] == name) for name in names}


@pytest.mark.parametrize("change", ["another order", "a row more"])
def test_rows_that_changed_meanwhile_are_not_taken_for_those_shown(orders, change):
    presenter, project = orders
    presenter.look_ahead(PATIENT)
    head, *lines = project.data.read_text(encoding="utf-8").splitlines()
    lines = lines[::-1] if change == "another order" else [*lines, "r900,1.5,shop 1,0.5"]
    project.data.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    text = refuse(presenter, "weigh")["text"]
    assert "orders.csv holds other rows than when the session was opened" in text
    assert presenter.state()["counts"]["answers"] == 35
    assert not list(project.path.parent.glob("*before*"))


def test_a_click_on_an_older_proposal_weighs_nothing(orders):
    presenter, project = orders
    presenter.look_ahead(PATIENT)
    for columns in (["shop"], ["day", "shop", "size"], []):
        error = refuse(presenter, "weigh", columns)
        assert error["kind"] == "bad"
        assert "would count less: shop, day. Columns that would count more: size." in error["text"]
        assert "No weight has changed." in error["text"]
    request = {"id": "a1", "do": "columns", "action": "weigh"}
    assert "columns is missing. Pass a list of names." in presenter.handle(request).body["error"]["text"]
    assert presenter.handle(request | {"columns": [5]}).body["error"]["kind"] == "bad"
    assert presenter.handle(request | {"action": "leave_out"}).body["error"]["kind"] == "bad"
    assert "weights" not in project.session.source["choices"]
    assert not list(project.path.parent.glob("*before*"))
    weigh(presenter)
    assert (
        "By now you can take back size, shop, day instead." in refuse(presenter, "restore", ["shop"])["text"]
    )
    assert project.session.source["choices"]["weights"] == WEIGHTS


def test_all_weights_come_back_that_were_applied_in_turn(orders, monkeypatch):
    presenter, project = orders
    X = project.session.X
    for name in ("day", "shop"):
        weights = {"size": 1.0, "shop": 1.0, "day": 1.0} | {name: 0.5}
        proposal = ColumnProposal(weights, (name,), (), 1.0, 40)
        monkeypatch.setattr(column_offer, "propose_columns", lambda _, proposal=proposal: proposal)
        presenter._content.offer._asked = -1
        presenter.look_ahead(PATIENT)
        ask(presenter, "columns", action="weigh", columns=[name])
    assert presenter.state()["columns"] == {
        "follows": "",
        "less": [],
        "more": [],
        "weighed": ["shop", "day"],
        "task": "",
    }
    ask(presenter, "columns", action="restore", columns=["shop", "day"])
    assert project.session.X.tolist() == X.tolist()
    with Session.open(project.path) as stored:
        assert "weights" not in stored.source["choices"]


@pytest.mark.parametrize("action", ["weigh", "restore"])
def test_values_that_changed_meanwhile_are_named(orders, action):
    presenter, project = orders
    presenter.look_ahead(PATIENT)
    if action == "restore":
        assert weigh(presenter).body["changed"] == ""
    head, *lines = project.data.read_text(encoding="utf-8").splitlines()
    cells = lines[7].split(",")
    lines[7] = ",".join([cells[0], "99.5", *cells[2:]])
    project.data.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    columns = SHOWN if action == "weigh" else ["size", "shop", "day"]
    reply = ask(presenter, "columns", action=action, columns=columns)
    assert reply.body["changed"] == (
        "The file has changed since the session was opened, and its new values count: r7."
    )


def test_a_session_that_left_columns_out_still_does(orders):
    _, project = orders
    source = project.session.source
    source["choices"]["drop"] = ["shop", "day"]  # as an earlier linkwise left columns out
    source["left_out"] = {"shop": {"lists": []}, "day": {"lists": ["hide"], "weight": 2.0}}
    recoding.encode_by(project, source)
    data, path = project.data, project.path
    project.session.close()
    again = open_project(data, path, Reading(), MethodChoice())
    with again.session as session:
        assert session.X.shape[1] == 1
        assert session.status.n_answers == 35
        assert session.source["choices"]["drop"] == ["shop", "day"]
        page = present_project(again)
        page.look_ahead(PATIENT)
        assert page.state()["columns"] is None  # a single column has nothing to weigh
        page.close()


def test_without_a_data_file_nothing_is_offered():
    from app.page.test_presenter import answer, make_presenter

    presenter = make_presenter()
    answer(presenter, 25)
    presenter.look_ahead(PATIENT)
    assert presenter.state()["columns"] is None
    assert refuse(presenter, "weigh")["kind"] == "bad"


@pytest.fixture
def requests(tmp_path):
    """The presenter of requests whose message is shown and not compared, after 24 answers about it."""
    data = tmp_path / "requests.csv"
    topics = write_requests(data)
    project = open_project(data, tmp_path / "r.linkwise", Reading(columns=COMPARED), MethodChoice())
    presenter, ids = present_project(project), project.session.ids
    for _ in range(24):
        q = project.session.question
        project.session.answer(topics[ids[q.first]] == topics[ids[q.second]])
    yield presenter, project
    presenter.close()


def test_the_page_says_what_the_answers_follow_and_the_columns_have_it_as_a_task(requests):
    presenter, project = requests
    assert presenter.state()["columns"] is None, "it is found while nobody waits"
    presenter.look_ahead(PATIENT)
    assert presenter.has_changed()
    found = presenter.state()
    assert found["columns"]["follows"].startswith("Your answers do not follow the compared columns")
    assert found["columns"]["less"] == found["columns"]["more"] == []
    assert found["n_suspects"] == 0
    table = ask(presenter, "table").body
    assert table["tasks"][0] == {
        "name": "answers",
        "label": "Compare by what your answers follow",
        "uses": {**dict.fromkeys(COMPARED, "show"), "message": "compare"},
        "kinds": {},
        "changes_learner": False,
    }
    changed = [
        {"name": one["name"], "use": table["tasks"][0]["uses"][one["name"]], "kind": one["kind"]}
        for one in table["columns"]
        if one["name"] != "customer"
    ]
    reply = ask(presenter, "read", columns=changed)
    assert reply.body["backup"] == "r-before.linkwise"
    assert project.session.source["choices"]["text"] == "message"
    assert presenter.state()["columns"] is None
    assert [one["name"] for one in ask(presenter, "table").body["tasks"]] == ["texts", "records"]
    presenter.look_ahead(PATIENT)
    assert presenter.state()["columns"] is None


def test_in_python_a_session_finds_it_too(requests):
    project = requests[1]
    found = project.session.find_predictors(project.rows)
    assert (found.names, found.compared, found.n_pairs) == (("message",), COMPARED, 24)
    assert project.session.find_predictors() == found, "the session has all columns"
