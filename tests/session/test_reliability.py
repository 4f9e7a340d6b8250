"""The reliability of an answer: stored beside it, replayed, and the same in whatever order answers come."""

import random
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import linkwise as lw
from linkwise import Session
from linkwise.app.project.output import list_answers
from linkwise.errors import SessionDamagedError

X = np.random.default_rng(0).normal(size=(15, 2)) + np.repeat([[0, 0], [4, 0], [0, 4]], 5, axis=0)
Y = np.repeat([0, 1, 2], 5)


def begin(error_rate=None):
    return Session(X, lw.KIN(random_state=0), error_rate=error_rate)


def reliability_of(question):
    """A number from 0.5 to 1 that depends on the pair alone."""
    return 0.5 + (7 * question.first + 11 * question.second) % 6 / 10


def is_same(question):
    """The answer of a program, which is wrong now and then."""
    is_wrong = (question.first + 3 * question.second) % 7 == 0
    return bool(Y[question.first] == Y[question.second]) != is_wrong


def belief(session):
    found = session.evidence.belief
    return session.labels.tolist(), found.rows.tolist(), found.net.tobytes(), found.error_rate


def ask_all(session, n=12):
    for _ in range(n):
        q = session.question
        session.answer(is_same(q), source="judge", reliability=reliability_of(q))


def test_a_reliability_is_stored_and_read_again(tmp_path):
    with begin() as session:
        ask_all(session)
        session.save(tmp_path / "s")
        expected, facts = belief(session), [fact.reliability for fact in session.evidence]
    assert len(set(facts)) > 3
    with Session.open(tmp_path / "s", X) as session:
        assert [event.reliability for event in session.history] == facts
        assert [record["reliability"] for record in list_answers(session)] == facts
        assert belief(session) == expected
    with Session.open(tmp_path / "s") as session:
        assert [fact.reliability for fact in session.evidence] == facts


def test_the_belief_follows_from_reliabilities():
    plain, own = begin(0.1), begin(0.1)
    for session, reliability in ((plain, None), (own, 0.6)):
        session.answer(True, source="judge", reliability=reliability)
    assert 0 < own.evidence.belief.net.max() < plain.evidence.belief.net.max()


def test_answers_in_any_order_give_the_same_belief():
    found = []
    for seed in range(4):
        session = begin()
        for _ in range(3):
            questions = session.questions(4, to="judge")
            random.Random(seed).shuffle(questions)
            for q in questions:
                session.answer(is_same(q), question_id=q.id, source="judge", reliability=reliability_of(q))
        found.append(belief(session))
    assert all(other == found[0] for other in found[1:])


@pytest.mark.parametrize("error_rate", [0, {"": None, "judge": 0}])
def test_a_program_that_is_always_right_is_so_whatever_it_says(error_rate):
    sessions = begin(error_rate), begin(error_rate)
    for session, share in zip(sessions, (None, 0.5), strict=True):
        for _ in range(8):
            q = session.question
            session.answer(bool(Y[q.first] == Y[q.second]), source="judge", reliability=share)
    assert sessions[0].labels.tolist() == sessions[1].labels.tolist()
    assert sessions[0].question_id == sessions[1].question_id


def test_unsure_has_no_reliability_and_a_changed_answer_loses_it():
    session = begin()
    session.answer("unsure", reliability=0.8)
    session.answer("yes", reliability=0.8)
    assert [event.reliability for event in session.history] == [None, 0.8]
    session.set_sure(2)
    assert session.history[1].reliability == 0.8
    session.change(2, "no")
    assert session.history[1].reliability is None
    session.undo()
    assert session.history[1].reliability == 0.8


@pytest.mark.parametrize(
    ("reliability", "error"),
    [(0.4, ValueError), (1.5, ValueError), (10**400, ValueError), (True, TypeError), ("1", TypeError)],
)
def test_a_wrong_reliability_stores_nothing(reliability, error):
    session = begin()
    for answer in ("yes", "unsure"):
        with pytest.raises(error, match="reliability"):
            session.answer(answer, reliability=reliability)
    assert session.events == []


@pytest.mark.parametrize(
    ("value", "answer", "words"),
    [
        (0.4, "yes", "column 'reliability' is wrong"),
        (1.5, "yes", "column 'reliability' is wrong"),
        (float("inf"), "yes", "column 'reliability' is wrong"),
        ("much", "yes", "column 'reliability' is wrong"),
        (b"0.8", "yes", "column 'reliability' is wrong"),
        (0.8, "unsure", "answer is neither yes nor no"),
    ],
)
def test_a_wrong_reliability_in_a_file_is_damage(tmp_path, value, answer, words):
    path = tmp_path / "s"
    with begin() as session:
        session.answer("yes", reliability=0.8)
        session.save(path)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE event SET answer = ?, reliability = ?", (answer, value))
    with pytest.raises(SessionDamagedError, match=f"Event 1 of the session is wrong.*{words}"):
        Session.open(path)
