"""The session file: plain SQLite, durable, no larger than it has to be."""

import gc
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.constraints.facts import Fact
from linkwise.learn.learner import Question
from linkwise.session.journal.schema import APPLICATION_ID, find_version
from linkwise.session.journal.store import Store
from linkwise.session.recorder import MOST_STORED_ROWS
from linkwise.session.session import Session
from session.session_examples import LEARNERS, N_ROWS, TRUTH, X, answer_by, image, true_pairs

MANY = 100_000


class Side(lw.COBRAS):
    """Compares rows with their neighbours; a question costs nothing."""

    fork = None  # it has a state of its own

    def prepare(self, X, seed, *, progress=None):
        return {}

    def start(self, problem):
        return problem.X

    def ask(self, X):
        labels = np.arange(len(X), dtype=np.int32) % 7
        for row in range(len(X) - 1):
            yield Question(row, row + 1, labels, "")
        return labels


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "s.linkwise"
    with Session.open(found, X, LEARNERS["COBRAS"](), source={"file": "ä.csv"}) as session:
        answer_by(session, TRUTH, 5)
        session.import_constraints(true_pairs([(0, 3), (0, 1)]), source="pairs.csv")
        session.change(1, "unsure")
        session.undo()
    return found


@pytest.fixture(scope="module")
def many():
    return np.random.default_rng(0).normal(size=(MANY, 2))


def query(path, sql):
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


# ---------------------------------------------------------------- format
def test_a_session_is_a_plain_database(path):
    for pragma, value in (
        ("application_id", APPLICATION_ID),
        ("user_version", find_version()),
        ("journal_mode", "wal"),
        ("integrity_check", "ok"),
    ):
        assert query(path, f"PRAGMA {pragma}") == [(value,)]
    assert query(path, "PRAGMA foreign_key_check") == []
    meta = {key: json.loads(value) for key, value in query(path, "SELECT key, value FROM meta")}
    assert meta.pop("data")["shape"] == [N_ROWS, 2]
    assert meta == {
        "learner": {"name": "COBRAS", "parameters": LEARNERS["COBRAS"]().get_params()},
        "seed": 0,
        "source": {"file": "ä.csv"},
    }
    ((description, *words),) = query(path, "SELECT description, doubts, advice FROM snapshot")
    assert json.loads(description) == [
        "The rows are split into 4 parts, which form 2 clusters.",
        "A finer split may show more.",
    ]
    assert words == ["null", "null"]
    kinds = query(path, "SELECT number, kind, target, source FROM event")
    assert [kind for _, kind, _, _ in kinds] == ["answer"] * 5 + ["import", "change", "undo"]
    assert kinds[5:] == [(6, "import", None, "pairs.csv"), (7, "change", 1, ""), (8, "undo", 7, "")]
    assert query(path, "SELECT * FROM imported") == [(6, 0, 3, "yes"), (6, 0, 1, "no")]


def test_nothing_in_it_is_a_pickle(path):
    """The only binary value is the labels: four bytes a row."""
    for (table,) in query(path, "SELECT name FROM sqlite_master WHERE type = 'table'"):
        for row in query(path, f"SELECT * FROM {table}"):
            for value in row:
                assert value is None or isinstance(value, (int, str)) or table == "snapshot"
    with Session.open(path, X) as session:
        labels = session.labels
    ((event, blob),) = query(path, "SELECT event, labels FROM snapshot")
    assert event == 8
    assert np.frombuffer(blob, "<i4").tolist() == labels.tolist()


def test_times_are_utc_and_in_order(path):
    times = [when for (when,) in query(path, "SELECT happened FROM event ORDER BY number")]
    assert times == sorted(times)
    assert all(when.endswith("+00:00") for when in times)


def test_any_name_of_a_file_will_do(tmp_path):
    folder = tmp_path / "a b#c?d=1&%20"
    folder.mkdir()
    for name in ("s.linkwise", "ä ö?mode=memory", "100%.db", "-x", "it's", "a;b"):
        with Session.open(folder / name, X, LEARNERS["COBRAS"]()) as session:
            session.answer("no")
        with Session.open(str(folder / name), X) as session:
            assert session.status.n_answers == 1
    assert len(list(folder.iterdir())) == 6


def test_a_path_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Session.open("s.linkwise", X, LEARNERS["COBRAS"]()) as session:
        session.answer("no")
    with Session.open(Path("s.linkwise"), X) as session:
        assert session.status.n_answers == 1


# ---------------------------------------------------------------- durability
def test_every_event_waits_for_the_disk(path):
    """Before each event is begun, SQLite is told to wait; only labels need not."""
    with Session.open(path, X) as session:
        said = []
        session._journal.store._db.set_trace_callback(said.append)
        answer_by(session, TRUTH, 2)
        session.add(1, 4, "must-link")
        session.undo()
        session._journal.store._db.set_trace_callback(None)
    levels, level = {"event": [], "snapshot": []}, None
    for words in (statement.split() for statement in said):
        if words[0] == "PRAGMA" and words[1].startswith("synchronous="):
            level = words[1].removeprefix("synchronous=")
        elif words[0] == "INSERT":
            levels[words[words.index("INTO") + 1]].append(level)
    assert levels == {"event": ["FULL"] * 4, "snapshot": ["NORMAL"] * 3}  # a pair waits for a reader


def test_an_event_is_whole_or_not_there(path):
    """A fact that cannot be stored takes its whole import with it."""
    with Session.open(path, X) as session:
        was = image(session)
        facts = [Fact(0, 1, "no"), Fact(0, 2, "no"), Fact(None, 3, "no")]
        with pytest.raises(lw.SessionError):
            session._journal.store.append("import", after=len(session.events), facts=facts)
        assert query(path, "SELECT max(event), count(*) FROM imported") == [(6, 2)]
        assert image(session) == was
        session.answer("no")
    assert query(path, "SELECT max(number) FROM event") == [(9,)]


def test_events_are_read_as_of_one_moment(path):
    """An import that is stored while another client reads is there with its pairs, or not at all."""
    with Session.open(path, X) as session, Session.open(path) as reader:
        read = []

        def import_between(statement):
            if "FROM event" in statement and "ORDER BY" in statement and not read:
                read.append(statement)
                session.import_constraints(true_pairs([(2, 5), (1, 4)]))

        reader._journal.store._db.set_trace_callback(import_between)
        known = reader._journal.store.events()
        reader._journal.store._db.set_trace_callback(None)
        assert read
        assert all(e.facts for e in known if e.kind == "import")
        assert reader.events == session.events


# ---------------------------------------------------------------- size
@pytest.mark.slow
def test_many_rows_and_answers_make_a_small_file(tmp_path, many):
    """Labels of so many rows are kept on closing only; a file of labels for each answer would be 120 MB."""
    assert MANY > MOST_STORED_ROWS
    path = tmp_path / "s.linkwise"
    with Session.open(path, many, Side(random_state=0)) as session:
        asked = answer_by(session, lambda first, second: "unsure", 300)
        assert path.stat().st_size + Path(f"{path}-wal").stat().st_size < 4 * MANY + 4_000_000
    assert len(asked) == 300
    assert path.stat().st_size < 2 * 4 * MANY + 200_000
    with Session.open(path) as kept:
        assert kept.labels_are_current
        assert kept.labels.tolist() == (np.arange(MANY) % 7).tolist()
        assert kept.status.n_unsure == 300


@pytest.mark.slow
def test_an_import_of_many_pairs(tmp_path, many):
    path, rows = tmp_path / "s.linkwise", many[: MANY // 4]
    classes = np.arange(len(rows)) % 9
    pairs = lw.Constraints.from_labels(classes)
    with Session.open(path, rows, Side(random_state=0)) as session:
        assert session.import_constraints(pairs) == pairs.n_constraints == len(rows) - 9 + 36
        assert len(session.events) == 1
        assert session.question is None
        assert len(np.unique(session.labels * 9 + classes)) == 9
        session.undo()
        assert session.constraints.n_constraints == 0
        assert session.import_constraints(pairs) == pairs.n_constraints
    assert path.stat().st_size < 2_000_000
    with Session.open(path) as kept:
        assert kept.constraints == pairs


def test_a_store_in_memory_closes_when_nobody_uses_it():
    store = Store(":memory:", None)
    database = store._db
    del store
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        database.execute("SELECT 1")
