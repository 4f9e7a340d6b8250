"""What a session says beside pairs is an event like any other: it is undone, listed and combined."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InfeasibleConstraintsError, SessionError
from linkwise.session.examples import Example
from linkwise.session.session import Session

X = np.array([[0.0, 0], [0, 1], [9, 9], [9, 8], [0, 9], [1, 9]])
IDS = list("abcdef")


def cobras():
    return lw.COBRAS(random_state=0)


def begin(X=X, ids=IDS, **options):
    return Session(X, lw.KIN(random_state=0), ids=ids, **options)


def keep(session, path):
    session.save(path)
    session.close()
    return path


def kinds(session):
    return [event.kind for event in session.events]


# ---------------------------------------------------------------- undo
def test_an_undo_brings_the_guidelines_of_before_back():
    session = begin()
    session.set_guidelines("By colour.")
    session.answer("no")
    session.set_guidelines("By shape.")
    assert kinds(session) == ["guidelines", "answer", "guidelines"]
    assert session.undo().kind == "guidelines"
    assert session.guidelines == "By colour."
    assert session.undo(1).value == "By colour."
    assert session.guidelines == ""
    assert session.status.n_answers == 1


def test_costs_and_audits_have_happened(tmp_path):
    session = begin(error_rate=None)
    session.add_cost("judge", 0.5)
    session.answer("yes", source="judge")
    session.add_cost("judge", 0.25)
    assert len(session.audit("judge", by="eva")) == 1
    assert kinds(session) == ["cost", "answer", "cost", "audit"]
    assert session.undo().kind == "answer"
    assert session.costs == {"judge": 0.75}
    for number in (1, 4):
        with pytest.raises(SessionError, match=f"no event {number} that can be undone"):
            session.undo(number)


def test_another_learner_is_an_event_that_is_undone_by_its_number(tmp_path):
    path = keep(begin(), tmp_path / "s")
    with Session.open(path, X) as watcher:
        with Session.open(path, X, cobras()) as session:
            assert kinds(session) == ["learner"]
            assert session.undo() is None  # it is not what somebody said last
            session.answer("no")
            assert watcher.learner == session.learner
            assert session.undo(1).kind == "learner"
            assert session.learner["name"] == "KIN"
            assert watcher.question_id == session.question_id
        assert watcher.learner["name"] == "KIN"
    with Session.open(path, X) as session:
        assert session.learner["name"] == "KIN"
        assert session.status.n_answers == 1


def test_another_error_rate_is_undone_only_if_the_answers_agree(tmp_path):
    path = keep(begin(), tmp_path / "s")
    with Session.open(path, X, error_rate=0.1) as session:
        assert kinds(session) == ["rate"]
        session.add(0, 1, "must-link")
        session.add(0, 1, "cannot-link")
        with pytest.raises(InfeasibleConstraintsError, match="cannot all be right"):
            session.undo(1)
        assert session.assumed_error_rate == 0.1
        session.undo()
        session.undo(1)
        assert session.assumed_error_rate == 0
        with pytest.raises(InfeasibleConstraintsError):
            session.add(0, 1, "cannot-link")


def test_a_learner_and_a_rate_come_together_without_an_answer_between(tmp_path):
    path = keep(begin(), tmp_path / "s")
    with Session.open(path, X, cobras(), error_rate=None) as session:
        assert kinds(session) == ["learner", "rate"]
        assert session.labels_are_current
    with Session.open(path, X, cobras(), error_rate=None) as session:
        assert kinds(session) == ["learner", "rate"]


def test_a_learner_that_another_client_chose_is_not_chosen_twice(tmp_path, monkeypatch):
    path = keep(begin(), tmp_path / "s")
    with Session.open(path, X) as other:
        start, done = Session._start_learner, []

        def start_later(session, *given):
            start(session, *given)
            if not done:
                done.append(other.set_name(0, "first"))

        monkeypatch.setattr(Session, "_start_learner", start_later)
        with Session.open(path, X, cobras()) as session:
            assert kinds(session) == ["name", "learner"]
            assert other.learner["name"] == "COBRAS"


# ---------------------------------------------------------------- questions and costs
def test_a_cost_that_comes_meanwhile_does_not_make_an_answer_stale(tmp_path, monkeypatch):
    path = keep(begin(), tmp_path / "s")
    with Session.open(path, X) as session, Session.open(path, X) as other:
        assert session.question is not None
        append, done = session._store.append, []

        def append_later(*given, **named):
            if not done:
                done.append(other.add_cost("judge", 1))
            return append(*given, **named)

        monkeypatch.setattr(session._store, "append", append_later)
        session.answer("no")
        assert kinds(other) == ["cost", "answer"]


# ---------------------------------------------------------------- other rows
def test_examples_and_audits_follow_their_rows(tmp_path):
    session = begin(error_rate=None)
    session.add(0, 5, "cannot-link", source="judge")
    session.set_examples([(0, 1, "yes"), (2, 4, "no", "far")])
    session.remove_example(0, 1)
    (asked,) = session.audit("judge", by="eva")
    order = [5, 4, 3, 2, 0]  # row b is gone, and only an earlier example names it
    session.recode(X[order], ids=[IDS[row] for row in order])
    assert session.examples == (Example(3, 1, "no", "far"),)
    assert {(q.first, q.second) for q in session.audit("judge", by="eva")} == {(0, 4)}
    assert (asked.first, asked.second) == (0, 5)
    session.undo()
    assert session.examples == (Example(3, 1, "no", "far"),)  # that with the lost row does not come back


# ---------------------------------------------------------------- another session
@pytest.fixture
def theirs(tmp_path):
    """The file of another session, with the rows in another order."""
    other = begin(X[::-1], IDS[::-1], error_rate=None)
    other.set_guidelines("By shape.")
    other.set_examples([(0, 1, "yes"), (5, 2, "no", "far")])  # f, e; a, d
    other.answer("yes", source="judge")
    other.add_cost("judge", 0.5)
    other.add_cost("judge", 0.5)
    other.audit("judge", by="eva")
    return keep(other, tmp_path / "theirs.linkwise")


def test_what_another_session_says_beside_pairs_comes_once(theirs):
    with begin(error_rate=None) as session:
        session.add_example(3, 0, "yes")
        session.add_cost("judge", 1)
        for _ in range(2):
            session.combine(theirs)
            assert session.guidelines == "By shape."
            assert session.examples == (Example(3, 0, "yes"), Example(5, 4, "yes"))
            assert session.costs == {"judge": 2}
            assert session.learner["name"] == "KIN"
        (open_question,) = session.audit("judge", by="eva")
        answered = session.history[0]
        assert {open_question.first, open_question.second} == {answered.first, answered.second}
        assert session.audit_report("judge", by="eva").n_open == 1


def test_own_guidelines_and_audits_stay(theirs):
    with begin(error_rate=None) as session:
        session.set_guidelines("By colour.")
        session.add(0, 1, "must-link", source="judge")
        (own,) = session.audit("judge", by="eva")
        session.combine(theirs)
        assert session.guidelines == "By colour."
        assert [q.id.split(":")[1] for q in session.audit("judge", by="eva")] == [own.id.split(":")[1]]
