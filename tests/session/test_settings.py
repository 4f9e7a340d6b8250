"""What a session says beside pairs is an event like any other: it is undone, listed and combined."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InfeasibleConstraintsError, SessionError
from linkwise.learn.kin.kin_learner import KINLearner
from linkwise.session.journal.events import Example
from linkwise.session.session import Session
from linkwise.session.state.session_state import SessionState

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
        start, done = SessionState.start, []

        def start_later(state, *given):
            start(state, *given)
            if not done:
                done.append(other.set_name(0, "first"))

        monkeypatch.setattr(SessionState, "start", start_later)
        with Session.open(path, X, cobras()) as session:
            assert kinds(session) == ["name", "learner"]
            assert other.learner["name"] == "COBRAS"


def contradicted(path):
    """A session whose answers agree only because one of them was changed."""
    with Session.open(path, X, cobras(), error_rate=None) as session:
        session.add(0, 1, "must-link")
        session.add(1, 2, "must-link")
        session.add(0, 2, "cannot-link")
        session.change(3, "yes")
    Session.open(path, X, error_rate=0).close()


@pytest.mark.parametrize("rows", [X, None])
def test_a_change_on_which_the_error_rate_rests_is_not_undone(tmp_path, rows):
    path = tmp_path / "s"
    contradicted(path)
    with Session.open(path, rows) as session:
        assert kinds(session)[-2:] == ["change", "rate"]
        with pytest.raises(InfeasibleConstraintsError, match="cannot all be right"):
            session.undo()
    with Session.open(path, X) as session:
        assert kinds(session)[-1] == "rate"


def test_a_rate_is_checked_again_if_somebody_answers_meanwhile(tmp_path, monkeypatch):
    path = keep(begin(error_rate=None), tmp_path / "s")
    start, done = SessionState.start, []

    def start_later(state, *given):
        start(state, *given)
        if not done:
            done.append(True)
            with Session.open(path, X) as other:
                other.add(0, 1, "must-link")
                other.add(0, 1, "cannot-link")

    monkeypatch.setattr(SessionState, "start", start_later)
    with pytest.raises(InfeasibleConstraintsError, match="cannot all be right"):
        Session.open(path, X, error_rate=0)
    with Session.open(path, X) as session:
        assert session.assumed_error_rate is None


def test_what_another_client_chose_meanwhile_stays_unless_it_was_asked_for(tmp_path, monkeypatch):
    path = keep(begin(), tmp_path / "s")
    start, done = SessionState.start, []

    def start_later(state, *given):
        start(state, *given)
        if not done:
            done.append(True)
            Session.open(path, X, error_rate=None).close()

    monkeypatch.setattr(SessionState, "start", start_later)
    with Session.open(path, X, cobras()) as session:
        assert kinds(session) == ["rate", "learner"]
        assert session.assumed_error_rate is None
        assert session.error_rates is not None
    with Session.open(path, X) as session:
        assert (session.learner["name"], session.assumed_error_rate) == ("COBRAS", None)


class Own(lw.COBRAS):
    """A learner that no file can build."""


def test_another_rate_keeps_a_learner_of_ones_own(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, X, Own(random_state=0)) as session:
        session.add(0, 1, "must-link")
    with Session.open(path, X, Own(random_state=0), error_rate=None) as session:
        session.undo(2)
        assert session.assumed_error_rate == 0
        assert session.labels[0] == session.labels[1]
        with pytest.raises(InfeasibleConstraintsError):
            session.add(0, 1, "cannot-link")


def test_an_undo_of_a_learner_that_cannot_be_built_is_not_stored(tmp_path):
    path = tmp_path / "s"
    Session.open(path, X, Own(random_state=0)).close()
    with Session.open(path, X, cobras()) as session:
        with pytest.raises(SessionError, match="not part of linkwise"):
            session.undo(1)
        assert kinds(session) == ["learner"]
        session.answer("no")
        assert session.labels_are_current


def test_an_undo_that_is_interrupted_while_the_learner_prepares_is_not_stored(tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    path = keep(begin(), tmp_path / "s")
    with Session.open(path, X, cobras()) as session:
        with monkeypatch.context() as patch:
            patch.setattr(KINLearner, "prepare", interrupt)
            with pytest.raises(KeyboardInterrupt):
                session.undo(1)
        assert kinds(session) == ["learner"]
        assert session.learner["name"] == "COBRAS"


def test_a_client_follows_answers_and_a_rate_that_come_together(tmp_path):
    path = tmp_path / "s"
    with Session.open(path, X, cobras(), error_rate=None) as watcher:
        watcher.add(0, 1, "must-link")
        watcher.add(0, 1, "cannot-link")
        assert watcher.labels is not None
        with Session.open(path, X) as other:
            other.undo(2)
        Session.open(path, X, error_rate=0).close()
        assert watcher.labels[0] == watcher.labels[1]
        assert watcher.assumed_error_rate == 0


@pytest.mark.parametrize("odd", [1 + 1e-12, -1e-12, 1.5, np.nan, "short"])
def test_confidences_that_are_no_shares_leave_the_file_whole(tmp_path, odd):
    class Sure(lw.COBRAS):
        def confidence(self, state):
            return np.ones(2) if odd == "short" else np.full(len(X), odd)

    with Session.open(tmp_path / "s", X, Sure(random_state=0)) as session:
        session.answer("no")
    with Session.open(tmp_path / "s") as kept:
        known = None if kept.confidence is None else kept.confidence.tolist()
        assert known == ({1 + 1e-12: [1.0] * len(X), -1e-12: [0.0] * len(X)}.get(odd))


def test_an_undo_of_what_matters_to_no_question_leaves_questions_and_labels(tmp_path):
    path = keep(begin(), tmp_path / "s")
    with Session.open(path, X) as session:
        session.answer("no")
        session.set_guidelines("By colour.")
        asked = session.question_id
        session.undo()
        assert session.question_id == asked
        session.answer("no", question_id=asked)
        session.set_name(0, "first")
    with Session.open(path) as kept:
        kept.undo()
        assert kept.labels_are_current
        assert kept.status.description


# ---------------------------------------------------------------- questions and costs
def test_a_cost_stores_no_labels(monkeypatch):
    session = begin()
    stored = []
    monkeypatch.setattr(session._journal.store, "put_clustering", stored.append)
    for _ in range(3):
        session.add_cost("judge", 1)
    assert stored == []


@pytest.mark.parametrize("cost", [10**400, np.inf, -1])
def test_costs_that_are_no_costs(cost):
    with pytest.raises(ValueError, match="The cost is out of range"):
        begin().add_cost("judge", cost)


def test_a_cost_that_comes_meanwhile_does_not_make_an_answer_stale(tmp_path, monkeypatch):
    path = keep(begin(), tmp_path / "s")
    with Session.open(path, X) as session, Session.open(path, X) as other:
        assert session.question is not None
        append, done = session._journal.store.append, []

        def append_later(*given, **named):
            if not done:
                done.append(other.add_cost("judge", 1))
            return append(*given, **named)

        monkeypatch.setattr(session._journal.store, "append", append_later)
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


def test_events_that_name_no_row_bind_no_rows(tmp_path):
    path = keep(Session(X, lw.KIN(random_state=0)), tmp_path / "s")
    with Session.open(path, X, cobras()) as session:
        session.set_guidelines("By colour.")
        session.add_cost("judge", 1)
    with Session.open(path, X[:4], recode=True) as session:
        assert session.n_rows == 4


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


def test_people_without_a_name_get_it_everywhere(tmp_path):
    with begin(error_rate=None) as other:
        other.answer("yes", source="judge")
        other.audit("judge")
        other.add_cost("", 2)
        other.answer("no")
        keep(other, tmp_path / "unnamed")
    with begin(error_rate=None) as session:
        for _ in range(2):
            session.combine(tmp_path / "unnamed", source="anna")
            assert session.costs == {"anna": 2}
            assert session.audit_report("judge", by="anna").n_answers == 1
            assert [e.kind for e in session.events].count("audit") == 1


def test_as_many_examples_as_a_session_holds_come_once(tmp_path):
    many = np.arange(80.0).reshape(40, 2)
    other = Session(many, lw.KIN(random_state=0))
    other.set_examples([(row, 39, "no") for row in range(20)])
    path = keep(other, tmp_path / "theirs")
    with Session(many, lw.KIN(random_state=0)) as session:
        session.set_examples([(row, 38, "no") for row in range(30)])
        session.combine(path)
        assert kinds(session) == ["examples"]
        assert len(session.examples) == 30
