"""Sessions that were written once: they open with every answer, name and import."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from linkwise.app.project.data_source import describe_source, read_rows, recall_reading
from linkwise.data.reading import Reading
from linkwise.session.session import Session

GOLDEN = Path(__file__).parents[1] / "golden" / "sessions"
CUSTOMERS = Path(__file__).parents[2] / "examples" / "data" / "customers.csv"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
each = pytest.mark.parametrize("name", sorted(EXPECTED))


def rows_of(name):
    if name.startswith("iris"):
        return load_iris().data
    return minmax_scale(load_wine().data)


@pytest.fixture
def path(tmp_path, request):
    """A copy of a session file."""
    name = request.node.callspec.params["name"]
    copy = tmp_path / f"{name}.linkwise"
    shutil.copy(GOLDEN / copy.name, copy)
    return copy


def told_by_sqlite(path):
    """Every event with its pairs, read without linkwise."""
    with closing(sqlite3.connect(path)) as db:
        events = db.execute("SELECT * FROM event ORDER BY number").fetchall()
        pairs = db.execute("SELECT * FROM imported ORDER BY rowid").fetchall()
    return [
        (*event[:7], tuple(fact for number, *fact in map(tuple, pairs) if number == event[0]), *event[7:13])
        for event in events
    ]


@each
def test_nothing_that_was_said_is_lost(name, path):
    wanted = EXPECTED[name]
    said = told_by_sqlite(path)
    with Session.open(path) as session:
        found = [
            (
                e.number,
                e.kind,
                e.when,
                e.first,
                e.second,
                e.answer,
                e.target,
                tuple([*fact.pair, fact.answer] for fact in e.facts),
                e.source,
                *(e.place or (None, None)),
                e.seconds,
                e.note or None,
                e.reliability,
            )
            for e in session.events
        ]
        assert found == said
        told_kinds = {"answer", "add", "import", "name", "undo", "guidelines", "examples", "cost"}
        assert {e.kind for e in session.events} == told_kinds
        assert (session.guidelines, session.costs) == ("Of one kind.", {"judge": 0.25})
        assert [example.reason for example in session.examples] == ["alike", ""]
        assert len(session.history) == wanted["events"]
        pairs = lw.Constraints(wanted["rows"], wanted["must_link"], wanted["cannot_link"])
        assert session.constraints == pairs
        assert session.names == {0: "first"}
        assert session.learner["name"] == wanted["learner"]
        assert session.labels_are_current
        assert session.labels.tolist() == wanted["labels"]
        assert len(session.status.cluster_sizes) == wanted["n_clusters"]


@each
def test_it_goes_on_with_its_data(name, path):
    wanted = EXPECTED[name]
    with Session.open(path, rows_of(name)) as session:
        assert session.labels.tolist() == wanted["labels"]
        n_answers = session.status.n_answers
        if session.question is not None:
            session.answer("unsure")
            assert session.status.n_answers == n_answers + 1
        else:
            assert session.status.reason == "exhausted"
    with Session.open(path) as session:
        assert session.names == {0: "first"}


def test_a_session_of_the_command_line(tmp_path):
    path = tmp_path / "customers.csv.linkwise"
    shutil.copy(GOLDEN / path.name, path)
    shutil.copy(CUSTOMERS, tmp_path / "customers.csv")
    with Session.open(path) as kept:
        source, ids, constraints = kept.source, kept.ids, kept.constraints
        exported = lw.Constraints.read_csv(GOLDEN / "customers-constraints.csv", ids=ids)
        assert constraints == exported
        labels = [line.split(",") for line in (GOLDEN / "customers-labels.csv").read_text().split()[1:]]
        assert [i for i, _ in labels] == ids
        assert [int(cluster) for _, cluster in labels] == kept.labels.tolist()
    rows = read_rows(tmp_path / source["file"], recall_reading(source))
    assert describe_source(Reading(), tmp_path / "customers.csv")["scale"] == source["scale"]
    with Session.open(path, rows.X, ids=rows.ids) as session:
        assert session.constraints == constraints
        assert session.question is not None


def test_seconds_and_notes_stay_with_their_answers(tmp_path):
    """Several notes on one answer, one that was taken back, and one on a pair that nobody asked about."""
    path, wanted = tmp_path / "notes.linkwise", json.loads((GOLDEN / "expected-notes.json").read_text())
    shutil.copy(GOLDEN / "iris-cobras-notes.linkwise", path)
    for X in (None, load_iris().data):
        with Session.open(path, X) as session:
            found = [
                [e.number, e.kind, e.answer, e.source, e.seconds, e.note, e.note_author, e.reliability]
                for e in session.history
            ]
            assert found == wanted


# ---------------------------------------------------------------- answers that may be wrong
def show_errors(session):
    """What a session shows whose answers may be wrong."""
    return {
        "suspects": [
            [
                s.number,
                s.first,
                s.second,
                s.answer,
                s.grade,
                [[f.first, f.second, f.answer] for f in s.because],
            ]
            for s in session.suspects
        ],
        "error_rate": list(session.error_rate),
        "labels": session.labels.tolist(),
        "sure": [event.number for event in session.history if event.is_sure],
        "must_link": session.constraints.must_link.tolist(),
        "cannot_link": session.constraints.cannot_link.tolist(),
        "history": len(session.history),
    }


def test_a_session_with_wrong_answers_is_replayed_to_the_bit(tmp_path):
    """It has suspects, a confirmed answer, one turned round, a certain pair, an import and an undo."""
    path, wanted = tmp_path / "errors.linkwise", json.loads((GOLDEN / "expected-errors.json").read_text())
    shutil.copy(GOLDEN / "iris-kin-errors.linkwise", path)
    question = wanted.pop("question")
    with Session.open(path) as kept:
        assert show_errors(kept) == wanted
        kinds = {event.kind for event in kept.events}
        assert kinds == {"answer", "add", "import", "name", "change", "sure", "undo", "learner", "rate"}
        written = kept.events
    with Session.open(path, load_iris().data) as session:
        assert show_errors(session) == wanted
        assert session.events == written
        asked = session.question
        assert [asked.first, asked.second, asked.why] == question
