"""The columns of a table as a page lists them, and the rows read by what a person chose for them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.page.test_presenter import WILD, ask, make_presenter, refused
from linkwise.app.page.opening import present_project
from linkwise.app.project.method_choice import MethodChoice
from linkwise.app.project.project import open_project
from linkwise.data.columns.proposals import NOTHING_GIVEN
from linkwise.data.reading import Reading
from linkwise.data.show.column_views import KINDS, USES
from linkwise.session.session import Session

N = 60


def write_people(path):
    """People of two kinds, with an id, amounts, codes, a sparse column and a counter."""
    rng = np.random.default_rng(0)
    kind = np.arange(N) % 2
    pl.DataFrame(
        {
            "person": [f"P{n:03}" for n in range(N)],
            "code": [f"X{7 * n:03}" for n in range(N)],
            "age": 20 + 40 * kind + rng.integers(0, 9, N),
            "income": np.exp(np.linspace(1, 5, N) ** 1.3).round(2),
            "plan": np.where(kind, "pro", "basic").tolist(),
            "zip": [8001, 8002, 8001, 8004] * (N // 4),
            "bonus": [None, None, None, 5, 6] * (N // 5),
        }
    ).write_csv(path)


@pytest.fixture
def opened(tmp_path):
    """A function that opens the page of the people; every page is closed in the end."""
    data, presenters = tmp_path / "people.csv", []
    write_people(data)

    def open_page(reading=NOTHING_GIVEN):
        project = open_project(data, tmp_path / "people.csv.linkwise", reading, MethodChoice())
        presenters.append(present_project(project))
        return presenters[-1], project.session

    yield open_page
    for presenter in presenters:
        presenter.close()


def look(presenter):
    return {one["name"]: one for one in ask(presenter, "table").body["columns"]}


def choose(presenter, **columns):
    """Use some columns otherwise: name=(use, kind)."""
    chosen = [{"name": name, "use": use, "kind": kind} for name, (use, kind) in columns.items()]
    return ask(presenter, "read", columns=chosen)


def answer(session, n):
    for _ in range(n):
        question = session.question
        session.answer(question.first % 2 == question.second % 2)


def list_files(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(("-shm", "-wal")))


# ---------------------------------------------------------------- what is listed
def test_the_columns_with_two_rows(opened):
    presenter, session = opened()
    found = ask(presenter, "table").body
    columns = {one["name"]: one for one in found["columns"]}
    assert {name: (one["kind"], one["use"]) for name, one in columns.items()} == {
        "person": ("text", "id"), "code": ("text", "show"), "age": ("number", "compare"),
        "income": ("amount", "compare"), "plan": ("category", "compare"), "zip": ("category", "compare"),
        "bonus": ("number", "show"),
    }  # fmt: skip
    assert {name for name, one in columns.items() if one["is_proposed"]} == {
        "person",
        "income",
        "zip",
        "bonus",
    }
    assert columns["income"]["otherwise"] == ("compare", "number")
    shown = presenter.state()["question"]
    assert (found["first"], found["second"]) == (shown["first"], shown["second"])
    fields = {one["name"]: one["value"] for one in found["first"]["fields"]}
    assert fields == {name: columns[name]["values"][0] for name in fields}
    assert found["first"]["name"] == columns["person"]["values"][0]
    assert (found["facts"], found["backup"], found["has_side_table"]) == ("", None, False)
    assert "Columns are separated by commas." in found["reading"]
    assert not any("'person'" in note for note in found["reading"]), "the line of the column says it"
    answer(session, 3)
    found = ask(presenter, "table").body
    assert (found["facts"], found["backup"]) == ("3 answers", "people.csv-before.linkwise")


def test_the_screen_opens_by_itself_until_there_are_answers(opened):
    presenter, session = opened()
    assert presenter.state()["table"] == {"is_new": True, "encoding": 0}
    choose(presenter, zip=("show", "number"))
    assert presenter.state()["table"] == {"is_new": True, "encoding": 1}
    answer(session, 1)
    assert presenter.state()["table"] == {"is_new": False, "encoding": 1}


def test_rows_without_a_table_have_no_columns_to_choose():
    presenter = make_presenter()
    assert presenter.state()["table"] is None
    for request in ({"do": "table"}, {"do": "read", "columns": []}):
        assert "no columns that could be changed" in refused(presenter, **request)["text"]


# ---------------------------------------------------------------- what is chosen
def test_before_the_first_answer_everything_can_be_chosen(opened, tmp_path):
    presenter, session = opened()
    files, notes = list_files(tmp_path), presenter.state()["notes"]
    reply = choose(
        presenter,
        person=("ignore", "text"),
        code=("id", "text"),
        income=("compare", "number"),
        plan=("show", "category"),
        zip=("compare", "number"),
        bonus=("compare", "number"),
    )
    assert (reply.body["backup"], reply.changed, reply.moves_places) == (None, True, True)
    assert list_files(tmp_path) == files
    assert session.ids[1] == "X007"
    assert session.X.shape == (N, 4)  # age, income, zip, bonus
    columns = look(presenter)
    assert {name: (one["kind"], one["use"]) for name, one in columns.items()} == {
        "person": ("text", "ignore"), "code": ("text", "id"), "age": ("number", "compare"),
        "income": ("number", "compare"), "plan": ("category", "show"), "zip": ("number", "compare"),
        "bonus": ("number", "compare"),
    }  # fmt: skip
    assert not any(one["is_proposed"] for one in columns.values())
    state = presenter.state()
    assert [field["name"] for field in state["question"]["first"]["fields"]] == [
        "age", "income", "zip", "bonus", "plan",
    ]  # fmt: skip
    assert state["question"]["first"]["name"].startswith("X")
    assert state["notes"] != notes
    assert not any("The values suggest" in note for note in state["notes"])
    assert any("Missing values were filled in: bonus" in note for note in state["notes"])


def test_what_is_chosen_holds_after_a_restart(opened):
    presenter, session = opened()
    choose(presenter, person=("show", "text"), income=("compare", "number"), bonus=("ignore", "number"))
    answer(session, 4)
    X, columns, events = session.X, look(presenter), session.events
    presenter.close()
    presenter, again = opened()
    assert again.X.tolist() == X.tolist()
    assert again.events == events
    assert not again.has_ids
    assert look(presenter) == columns


def test_answers_are_replayed_and_a_copy_is_kept(opened, tmp_path):
    presenter, session = opened()
    answer(session, 6)
    X, events, source = session.X, session.events, session.source
    reply = choose(presenter, age=("show", "number"), income=("compare", "number"))
    assert reply.body == {"re": "a1", "ok": True, "backup": "people.csv-before.linkwise", "changed": ""}
    assert (reply.changed, reply.moves_places) == (True, True)
    assert presenter.state()["counts"]["answers"] == 6
    assert session.events == events
    assert session.X.shape[1] == X.shape[1] - 1
    with Session.open(tmp_path / "people.csv-before.linkwise", X) as copy:
        assert (copy.events, copy.source) == (events, source)
    choose(presenter, age=("compare", "number"), income=("compare", "amount"))
    assert session.X.tolist() == X.tolist()
    assert len(list_files(tmp_path)) == 4  # the data, the session, and a copy of each


def test_how_two_rows_differ_follows_the_columns(opened):
    presenter, _ = opened()
    choose(presenter, age=("show", "number"), income=("compare", "number"), bonus=("ignore", "number"))
    question = presenter.state()["question"]
    assert question["only_shown"] == ["code", "age"]
    assert question["differing"]["age"] == "slight"
    choose(presenter, age=("compare", "number"), plan=("show", "category"))
    question = presenter.state()["question"]
    assert question["only_shown"] == ["code", "plan"]
    assert "most" in question["differing"].values()


def test_another_id_keeps_the_answers_apart(opened, tmp_path):
    presenter, session = opened()
    answer(session, 2)
    for choice in (
        {"person": ("show", "text")},
        {"code": ("id", "text"), "person": ("show", "text")},
    ):
        columns = [{"name": name, "use": use, "kind": kind} for name, (use, kind) in choice.items()]
        error = refused(presenter, do="read", columns=columns)
        assert "The answers find their rows by their ids" in error["text"]
    assert list_files(tmp_path) == ["people.csv", "people.csv.linkwise"]


def test_an_id_that_is_undone_is_free_again(opened):
    presenter, session = opened()
    choose(presenter, person=("show", "text"))
    assert not session.has_ids
    assert presenter.state()["question"]["first"]["name"].startswith("row ")
    choose(presenter, person=("id", "text"))
    assert session.ids[3] == "P003"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([{"name": "sex", "use": "show", "kind": "number"}], "'sex' is not in the table"),
        ([{"name": "age", "use": "id", "kind": "number"}], "'person' and 'age' are both to be the id"),
        ([{"name": "age", "use": "compare", "kind": "date"}], "'age' cannot be a date"),
        ([{"name": "code", "use": "compare", "kind": "category"}], "'code' cannot be a feature"),
        (
            [{"name": name, "use": "show", "kind": "number"} for name in ("age", "bonus")]
            + [{"name": name, "use": "ignore", "kind": "category"} for name in ("plan", "zip")]
            + [{"name": "income", "use": "show", "kind": "amount"}],
            "No column is left to compare",
        ),
        (
            [{"name": "age", "use": "sort", "kind": "number"}],
            "use is 'sort'. Pass compare, show, id, ignore.",
        ),
        ([{"name": "age", "use": "show"}], "kind is missing. Pass number, amount"),
        ([{"name": ["age"], "use": "show", "kind": "number"}], "name is list. Pass each column once"),
        ([{"name": "age", "use": "show", "kind": "number"}] * 2, "name is 'age'. Pass each column once"),
        (["age"], "columns is list. Pass a list of columns."),
        (None, "columns is missing. Pass a list of columns."),
    ],
)
def test_what_cannot_be_chosen_changes_nothing(opened, tmp_path, columns, message):
    presenter, session = opened()
    answer(session, 2)
    source, X, files = session.source, session.X, list_files(tmp_path)
    error = refused(presenter, do="read", columns=columns)
    assert error["kind"] == "bad"
    assert message in error["text"]
    assert (session.source, list_files(tmp_path)) == (source, files)
    assert session.X is X


def test_people_with_names_keep_their_columns(opened):
    presenter, _ = opened()
    state = presenter.state(["ann", "bob"])
    assert state["table"] is None
    reply = presenter.handle({"id": "a1", "do": "read", "columns": []}, "ann")
    assert "People answer here under their names" in reply.body["error"]["text"]


def test_weights_by_the_answers_stay_with_their_columns(opened):
    presenter, session = opened(Reading(weights={"age": 2.0, "zip": 0.5}))
    choose(presenter, zip=("show", "category"))
    assert session.source["choices"]["weights"] == {"age": 2.0}


def test_a_table_beside_the_data_is_still_shown(opened, tmp_path):
    side = tmp_path / "titles.csv"
    side.write_text("person,title\n" + "".join(f"P{n:03},title {n}\n" for n in range(N)), encoding="utf-8")
    presenter, _ = opened(Reading(show=str(side)))
    assert ask(presenter, "table").body["has_side_table"]
    choose(presenter, plan=("ignore", "category"))
    assert presenter.state()["question"]["first"]["text"].startswith("title ")
    presenter.close()
    presenter, _ = opened()
    assert look(presenter)["plan"]["use"] == "ignore"


ONE = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["person", "code", "age", "income", "plan", "zip", "bonus"]) | WILD,
        "use": st.sampled_from(USES) | WILD,
        "kind": st.sampled_from(KINDS) | WILD,
    }
)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=st.lists(ONE, max_size=5) | WILD)
def test_whatever_is_chosen_is_answered(opened, columns):
    """A choice is applied as it was made, or refused without a change."""
    presenter, _ = opened()
    before, state = look(presenter), presenter.state()
    reply = presenter.handle({"id": "w", "do": "read", "columns": columns})
    after = look(presenter)
    if reply.body["ok"]:
        chosen = {one["name"]: one["use"] for one in columns}
        uses = {name: one["use"] for name, one in before.items()} | chosen
        assert {name: one["use"] for name, one in after.items()} == uses
    else:
        assert reply.body["error"]["kind"] == "bad"
        assert (after, presenter.state()) == (before, state)
    presenter.close()
