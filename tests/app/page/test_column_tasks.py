"""Tasks that columns look like: a click changes the columns and the learner, before answers and after."""

import json

import numpy as np
import polars as pl
import pytest

from app.page.test_presenter import ask
from data.columns.test_near_copies import records
from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.options import SessionOptions
from linkwise.app.project.project import open_project
from linkwise.data.reading import Reading
from linkwise.session.session import Session


def write_contacts(path):
    """People with a name and a street, about half of them twice, and two categories beside them."""
    frame = records([2] * 60 + [1] * 40)
    draw = np.random.default_rng(0)
    kinds = {
        "region": draw.choice(["north", "south"], len(frame)),
        "plan": draw.choice(["a", "b"], len(frame)),
    }
    frame.with_columns(**{name: pl.Series(values) for name, values in kinds.items()}).with_row_index(
        "id"
    ).write_csv(path)


@pytest.fixture
def contacts(tmp_path):
    """The presenter of contacts that are read without proposals, and their session."""
    data = tmp_path / "contacts.csv"
    write_contacts(data)
    given = Reading(id_column="id", columns=("region", "plan"))
    project = open_project(data, tmp_path / "c.linkwise", given, MethodChoice(), SessionOptions(as_is=True))
    presenter = present_project(project)
    yield presenter, project.session
    presenter.close()


def tasks_of(presenter):
    return {one["name"]: one for one in ask(presenter, "table").body["tasks"]}


def choose(presenter, name):
    """Do what the page does: send the columns that a task changes, and its name."""
    table = ask(presenter, "table").body
    task = next(one for one in table["tasks"] if one["name"] == name)
    columns = []
    for one in table["columns"]:
        use, kind = task["uses"].get(one["name"], one["use"]), task["kinds"].get(one["name"], one["kind"])
        if (use, kind) != (one["use"], one["kind"]):
            columns.append({"name": one["name"], "use": use, "kind": kind})
    return ask(presenter, "read", columns=columns, task=name)


def test_duplicates_are_a_task_with_a_learner_of_their_own(contacts):
    presenter, session = contacts
    found = tasks_of(presenter)
    assert list(found) == ["duplicates", "texts", "records"]
    assert found["duplicates"]["label"] == "Find duplicates"
    assert found["duplicates"]["uses"] == {
        "name": "compare",
        "street": "compare",
        "region": "show",
        "plan": "show",
    }
    assert [one["changes_learner"] for one in found.values()] == [True, False, False]
    assert choose(presenter, "duplicates").body["backup"] is None
    assert session.learner["name"] == "RecordLinkage"
    choices = session.source["choices"]
    assert (choices["text"], choices["text_by"]) == (["name", "street"], "letters")
    assert [event.kind for event in session.events] == ["learner"]
    assert presenter.state()["learner"].startswith("RecordLinkage")
    assert [one["changes_learner"] for one in tasks_of(presenter).values()] == [False, True, True]


def test_answers_stay_and_the_way_back_is_another_task(contacts, tmp_path):
    presenter, session = contacts
    for _ in range(6):
        session.answer("no")
    before = session.events
    assert choose(presenter, "duplicates").body["backup"] == "c-before.linkwise"
    assert session.events[:-1] == before
    assert session.events[-1].kind == "learner"
    assert session.status.n_answers == 6
    assert session.question is not None
    choose(presenter, "records")
    assert session.learner["name"] == "KIN"
    assert not {"text", "text_by"} & session.source["choices"].keys()
    presenter.close()
    with Session.open(tmp_path / "c.linkwise") as stored:
        assert [event.kind for event in stored.events[6:]] == ["learner", "learner"]
        assert stored.learner["name"] == "KIN"


def test_the_learner_of_a_task_is_undone_by_its_number(contacts):
    presenter, session = contacts
    session.answer("no")
    choose(presenter, "duplicates")
    session.undo(session.events[-1].number)
    assert session.learner["name"] == "KIN"
    assert session.status.n_answers == 1
    assert session.question is not None


def test_a_task_is_taken_back_as_a_whole(contacts, tmp_path):
    presenter, session = contacts
    for _ in range(3):
        session.answer("no")
    before, learner = session.source, session.learner
    assert presenter.state()["columns"] is None
    choose(presenter, "duplicates")
    assert presenter.state()["columns"]["task"] == "Find duplicates"
    refused = presenter.handle({"id": "a", "do": "columns", "action": "restore", "columns": ["Group texts"]})
    assert "By now you can take back" in refused.body["error"]["text"]
    presenter.close()
    project = open_project(tmp_path / "contacts.csv", tmp_path / "c.linkwise", Reading(), MethodChoice())
    again = present_project(project)
    assert again.state()["columns"]["task"] == "Find duplicates"
    ask(again, "columns", action="restore", columns=["Find duplicates"])
    session = project.session
    assert session.source == before
    assert session.learner == learner
    assert session.status.n_answers == 3
    assert again.state()["columns"] is None
    again.close()


def test_a_task_that_does_not_exist_is_refused(contacts):
    presenter, session = contacts
    request = {"id": "a", "do": "read", "columns": [], "task": "sums"}
    assert presenter.handle(request).body["error"]["kind"] == "bad"
    assert json.dumps(session.learner).count("KIN") == 1


def test_an_error_leaves_columns_and_learner_as_they_were(contacts, monkeypatch):
    presenter, session = contacts
    session.answer("no")
    before = session.events, session.learner, session.source
    monkeypatch.setattr(
        "linkwise.session.journal.store.Store.replace_data",
        lambda *args: (_ for _ in ()).throw(OSError("no space is left")),
    )
    with pytest.raises(AssertionError):
        choose(presenter, "duplicates")
    assert (session.events, session.learner, session.source) == before
    assert session.question is not None


def test_tables_without_copies_have_no_duplicates(tmp_path):
    data = tmp_path / "plain.csv"
    pl.DataFrame({"size": np.arange(150.0) ** 2, "kind": ["a", "b", "c"] * 50}).write_csv(data)
    presenter = present_project(open_project(data, tmp_path / "p.linkwise", Reading(), MethodChoice()))
    assert tasks_of(presenter) == {}
    presenter.close()
