"""A session goes on with another encoding of its rows, and every event stays."""

import random
import sqlite3
import time
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from linkwise.errors import DataMismatchError, InfeasibleConstraintsError, SessionDamagedError, SessionError
from linkwise.session.data import SessionData
from linkwise.session.session import Session
from session.session_examples import LEARNERS, N_ROWS, TRUTH, X, answer_by, image, told
from session.workers import Workers

IDS = [f"r{row}" for row in range(N_ROWS)]
OTHER = np.column_stack([X[:, 0], X[:, 1] ** 2, np.arange(N_ROWS) % 4])


def begin(path, ids=IDS, **more):
    """A session that has every kind of event."""
    session = Session.open(path, X, LEARNERS["COBRAS"](), ids=ids, **more)
    session.import_constraints(lw.Constraints(N_ROWS, [(0, 3)], [(0, 1)]), source="pairs.csv")
    answer_by(session, TRUTH, 4)
    session.undo()
    session.add(2, 5, "must-link")
    session.set_name(4, "herons")
    session.set_guidelines("the same bird")
    session.change(next(e.number for e in session.history if e.kind == "answer"), "unsure")
    session.set_done(7)
    session.close()
    return path


class OfTwoColumns(lw.COBRA):
    """A learner that cannot work with other data."""

    def prepare(self, X, seed, *, progress=None):
        if X.shape[1] != 2:
            raise ValueError("number of columns")
        return super().prepare(X, seed, progress=progress)


def by_id(session):
    """All events with the ids of their rows in place of positions, and times."""
    ids = session.ids

    def name(row):
        return None if row is None else ids[row]

    return [
        (
            *(event.number, event.kind, event.when, name(event.first), name(event.second), event.answer),
            *(event.target, event.source, event.place),
            [(name(fact.first), name(fact.second), fact.answer) for fact in event.facts],
        )
        for event in session.events
    ]


@settings(deadline=None, max_examples=8)
@given(order=st.permutations(range(N_ROWS)), rate=st.sampled_from([0, None]))
def test_all_events_stay_with_their_rows(tmp_path_factory, order, rate):
    path = begin(tmp_path_factory.mktemp("s") / "s.linkwise", error_rate=rate)
    with Session.open(path) as stored:
        before, names = by_id(stored), {stored.ids[row]: name for row, name in stored.names.items()}
    moved = OTHER[list(order)]
    ids = [IDS[row] for row in order]
    with Session.open(path, moved, ids=ids, source={"file": "b.csv"}, recode=True) as session:
        assert by_id(session) == before
        assert {session.ids[row]: name for row, name in session.names.items()} == names
        assert (session.guidelines, session.source) == ("the same bird", {"file": "b.csv"})
        now, labels = image(session), session.labels.tolist()
        with Session.open(path, moved, ids=ids) as again:
            assert image(again) == now
    with Session.open(path) as stored:
        assert by_id(stored) == before
        assert stored.labels_are_current
        assert stored.labels.tolist() == labels


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_asks_on_as_if_it_had_begun_with_these_data(tmp_path, learner):
    """The answers of the old session count for a learner that saw only the new data."""
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, LEARNERS["COBRAS"](), ids=IDS) as session:
        answer_by(session, TRUTH, 3)
        facts = session.constraints
    with Session.open(path, OTHER, LEARNERS[learner](), recode=True) as session:
        assert session.learner["name"] == learner
        assert np.array_equal(session.constraints.must_link, facts.must_link)
        answer_by(session, TRUTH)
        assert session.question is None
        after = session.labels
    with Session.open(path, OTHER) as session:
        assert (session.labels.tolist(), session.learner["name"]) == (after.tolist(), learner)


def test_the_copy_is_the_session_as_it_was(tmp_path):
    path, copy = begin(tmp_path / "s.linkwise"), tmp_path / "before.linkwise"
    with Session.open(path, X) as session:
        before, events = image(session), by_id(session)
    Session.open(path, OTHER, recode=True, backup=copy).close()
    with Session.open(copy, X) as session:
        assert image(session) == before
    with pytest.raises(SessionError, match="exists already"):
        Session.open(path, X, recode=True, backup=copy)
    with Session.open(path, OTHER) as session:
        assert by_id(session) == events


def test_the_same_data_change_nothing(tmp_path):
    path = begin(tmp_path / "s.linkwise")
    with Session.open(path, X) as other:
        Session.open(path, X, ids=IDS, recode=True, backup=tmp_path / "b.linkwise").close()
        answer_by(other, TRUTH, 1)  # which may go on
    assert not (tmp_path / "b.linkwise").exists()


def test_rows_that_are_gone_are_named(tmp_path):
    path = tmp_path / "s.linkwise"
    with Session.open(path, X, LEARNERS["COBRAS"](), ids=IDS) as session:
        session.add(0, 3, "must-link")
        session.add(5, 0, "cannot-link")
        session.undo()
    content = path.read_bytes()
    left = [1, 2, 3, 4, 9]
    gone = r"answers about 2 rows that the data lack: 'r0', 'r5'\. Pass"  # also of what was undone
    with pytest.raises(DataMismatchError, match=gone):
        Session.open(path, OTHER[left], ids=[IDS[row] for row in left], recode=True)
    assert path.read_bytes() == content
    left = [9, 5, 3, 0]  # rows of no event may be gone
    Session.open(path, OTHER[left], ids=[IDS[row] for row in left], recode=True).close()
    with Session.open(path) as stored:
        assert (stored.n_rows, stored.constraints.must_link.tolist()) == (4, [[2, 3]])


def test_without_ids_positions_identify_the_rows(tmp_path):
    path = begin(tmp_path / "s.linkwise", ids=None)
    with pytest.raises(DataMismatchError, match=r"has 14 rows, and the data have 13\. Without ids"):
        Session.open(path, OTHER[1:], recode=True)
    with Session.open(path) as stored:
        before = [told(event) for event in stored.events]
    with Session.open(path, OTHER, ids=IDS, recode=True) as session:
        assert [told(event) for event in session.events] == before
        assert session.ids == IDS


def test_a_learner_that_cannot_start_leaves_the_file_as_it_was(tmp_path):
    path = begin(tmp_path / "s.linkwise")
    content = path.read_bytes()
    with pytest.raises(ValueError, match="number of columns"):
        Session.open(path, OTHER, OfTwoColumns(6), recode=True, backup=tmp_path / "b.linkwise")
    with pytest.raises(SessionError, match="needs the data"):
        Session.open(path, recode=True)
    assert (path.read_bytes(), (tmp_path / "b.linkwise").exists()) == (content, False)


def test_contradictions_stay_contradictions(tmp_path):
    path = begin(tmp_path / "s.linkwise")
    with (
        Session.open(path, OTHER[::-1], ids=IDS[::-1], recode=True) as session,
        pytest.raises(InfeasibleConstraintsError, match="r0"),
    ):
        session.add(session.ids.index("r0"), session.ids.index("r3"), "cannot-link")


# ---------------------------------------------------------------- other clients
def test_other_clients_must_open_the_file_again(tmp_path):
    path = begin(tmp_path / "s.linkwise")
    with Session.open(path, X) as reader, Session.open(path, X) as writer:
        held = writer.question_id
        Session.open(path, OTHER[::-1], ids=IDS[::-1], recode=True).close()
        for call in (
            lambda: writer.answer("yes", question_id=held),
            lambda: writer.add(0, 9, "must-link"),
            lambda: writer.set_guidelines("other"),
            lambda: reader.labels,
            lambda: reader.question,
        ):
            with pytest.raises(SessionError, match=r"changed the data of.*Open it again"):
                call()
    with Session.open(path, OTHER[::-1]) as session:
        assert session.labels_are_current
        assert session.guidelines == "the same bird"


def test_a_write_between_reading_and_storing_is_kept(tmp_path, monkeypatch):
    path = begin(tmp_path / "s.linkwise")
    resume = SessionData.resume

    def write_first(data, *given):
        monkeypatch.undo()
        with Session.open(path, X) as other:
            other.set_name(0, "owls")
        resume(data, *given)

    monkeypatch.setattr(SessionData, "resume", write_first)
    with pytest.raises(SessionError, match="in use by another process"):
        Session.open(path, OTHER, recode=True)
    with Session.open(path, X) as session:
        assert "owls" in session.names.values()


@pytest.mark.parametrize("value", ["-1", "true", "1e3", '"1"', "[]", "null", "9007199254740992"])
@pytest.mark.parametrize(
    ("key", "what"), [("recoded", "encodings of its data"), ("known", "events about earlier data")]
)
def test_a_wrong_count_of_changes_is_damage(tmp_path, key, what, value):
    path = begin(tmp_path / "s.linkwise")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
    with pytest.raises(SessionDamagedError, match=f"number of {what}"):
        Session.open(path)


# ---------------------------------------------------------------- what the answers are worth
@pytest.mark.parametrize("error_rate", [0, None])
def test_right_answers_keep_their_worth_with_other_columns(tmp_path, error_rate):
    rows, classes = load_wine(return_X_y=True)
    rows = minmax_scale(rows)

    def answer(session, n):
        for _ in range(n):
            question = session.question
            session.answer(bool(classes[question.first] == classes[question.second]))

    with Session.open(tmp_path / "s", rows, lw.KIN(random_state=1), error_rate=error_rate) as session:
        answer(session, 50)
        session.recode(rows[:, :-1])
        assert adjusted_rand_score(classes, session.labels) > 0.95
        question, labels = session.question_id, session.labels
    with Session.open(tmp_path / "s", rows[:, :-1]) as session:
        assert (session.question_id, session.labels.tolist()) == (question, labels.tolist())
        answer(session, 3)
        for _ in range(5):  # three new answers, and two of before
            session.undo()
        assert session.status.n_answers == 48
        assert adjusted_rand_score(classes, session.labels) > 0.9


# ---------------------------------------------------------------- killed in the middle
def test_a_killed_process_leaves_the_old_encoding_or_the_new_one(tmp_path):
    workers, moments = Workers(), random.Random(3)
    try:
        template = begin(tmp_path / "s.linkwise")
        with Session.open(template) as stored:
            before = by_id(stored)
        found, longest = [], 0.0
        for number in range(24):
            path, copy = tmp_path / f"{number}.linkwise", tmp_path / f"{number}-before.linkwise"
            path.write_bytes(template.read_bytes())
            worker = workers.start("recode", path, OTHER[::-1].tolist(), IDS[::-1], str(copy))
            assert workers.hear(worker) == "ready"
            begun, acknowledged = time.perf_counter(), number == 0
            if acknowledged:  # the first one ends, which tells how long the others may take at this load
                assert workers.hear(worker) == "done"
                longest = 1.5 * (time.perf_counter() - begun)
            until = begun + moments.uniform(0, longest)
            while time.perf_counter() < until:
                pass  # a sleep is too coarse
            acknowledged |= "done" in workers.end(worker, kill=True)
            with Session.open(path) as stored:
                is_new = stored.ids == IDS[::-1]
                assert is_new or (stored.ids == IDS and not acknowledged)
                assert by_id(stored) == before
            with Session.open(path, OTHER[::-1] if is_new else X) as session:
                assert session.labels_are_current
            assert copy.exists() or not is_new  # the copy comes first
            if copy.exists():
                with Session.open(copy, X, ids=IDS) as kept:
                    assert by_id(kept) == before
            found.append(is_new)
        assert set(found) == {False, True}  # the moments were such that it could have gone wrong
    finally:
        workers.close()


def test_another_learner_comes_with_another_encoding_or_without(tmp_path):
    path = begin(tmp_path / "a.linkwise")
    with Session.open(path, X, ids=IDS) as session:
        before = session.events
        session.recode(OTHER, ids=IDS, learner=lw.KIN(random_state=3))
        assert session.events[:-1] == before
        assert (session.events[-1].kind, session.events[-1].number) == ("learner", len(before) + 1)
        assert session.learner == {"name": "KIN", "parameters": {"random_state": 3}}
        session.recode(OTHER, ids=IDS, learner=lw.KIN(random_state=3))
        assert len(session.events) == len(before) + 1, "the same learner is no event"
        session.recode(OTHER, ids=IDS, learner=LEARNERS["COBRAS"]())
        assert session.learner["name"] == "COBRAS"
        kept, labels = session.events, session.labels
    with Session.open(path, OTHER, ids=IDS) as again:
        assert again.events == kept
        assert again.learner["name"] == "COBRAS"
        assert np.array_equal(again.labels, labels)
        again.undo(kept[-1].number)
        assert again.learner["name"] == "KIN"


def test_a_learner_that_cannot_work_with_the_data_changes_nothing(tmp_path):
    path = begin(tmp_path / "a.linkwise")
    with Session.open(path, X, ids=IDS) as session:
        before = session.events, session.learner, session.labels.tolist()
        with pytest.raises(ValueError, match="number of columns"):
            session.recode(OTHER, ids=IDS, learner=OfTwoColumns(random_state=0))
        assert (session.events, session.learner, session.labels.tolist()) == before
        session.answer("no")
