"""Examples of pairs: kept with the session beside its guidelines, and no answers."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import linkwise as lw
from linkwise import Session
from linkwise.errors import ConstraintError, DataMismatchError, SessionDamagedError, SessionError
from linkwise.session.journal.events import MOST_EXAMPLES, Example
from linkwise.session.state.event_lists import write_guidelines

X = np.random.default_rng(0).normal(size=(12, 2))


def begin():
    return Session(X, lw.KIN(random_state=0), ids=[f"r{row}" for row in range(12)])


def test_examples_stay_with_the_session_and_reach_other_clients(tmp_path):
    with begin() as session:
        assert session.examples == ()
        session.set_examples([(0, 1, True, " both \r\n round "), [1, 2, "no"]])
        session.save(tmp_path / "s")
    with Session.open(tmp_path / "s") as one, Session.open(tmp_path / "s") as other:
        assert one.examples == (Example(0, 1, "yes", "both\n round"), Example(1, 2, "no"))
        other.add_example(3, 4, "yes")
        assert one.examples[2:] == (Example(3, 4, "yes"),)
        one.remove_example(1, 0)
        one.remove_example(7, 8)
        assert other.examples == (Example(1, 2, "no"), Example(3, 4, "yes"))
        other.set_examples([])
        assert one.examples == ()


def test_two_clients_that_add_at_the_same_time_lose_no_example(tmp_path):
    with begin() as session:
        session.save(tmp_path / "s")
    with Session.open(tmp_path / "s") as one, Session.open(tmp_path / "s") as other:
        reads = iter([lambda: other.add_example(0, 1, "yes")])  # just after the first reading
        catch_up = one._state.catch_up
        one._state.catch_up = lambda: (catch_up(), next(reads, bool)())
        one.add_example(2, 3, "no")
        assert other.examples == one.examples == (Example(0, 1, "yes"), Example(2, 3, "no"))


def test_a_later_example_replaces_that_about_the_same_pair():
    session = begin()
    session.add_example(0, 1, "yes", "first")
    session.add_example(2, 3, "yes")
    session.add_example(1, 0, False, "second")
    assert session.examples == (Example(2, 3, "yes"), Example(1, 0, "no", "second"))


def test_examples_are_no_answers():
    session, other = begin(), begin()
    session.set_examples([(0, 1, "yes"), (1, 2, "no")])
    assert [event.kind for event in session.events] == ["examples"]
    assert session.history == []
    assert len(session.evidence) == 0
    assert session.question_id == other.question_id


def test_an_undo_brings_the_examples_of_before_back():
    session = begin()
    session.set_examples([(0, 1, "yes")])
    session.add_example(1, 2, "no")
    assert session.undo().kind == "examples"
    assert session.examples == (Example(0, 1, "yes"),)
    session.undo()
    assert session.examples == ()
    assert session.undo() is None


@pytest.mark.parametrize(
    ("example", "error", "words"),
    [
        ((0, 1), TypeError, "tuple of three or four"),
        ("yes", TypeError, "tuple of three or four"),
        ((0, 1, "unsure"), TypeError, "shows nothing"),
        ((0, 1, "maybe"), TypeError, "unknown"),
        ((0, 1, True, 3), TypeError, "note is not text"),
        ((0, 1, True, "x" * 2001), SessionError, "2001 characters"),
        ((0, 0, True), ConstraintError, "compared with itself"),
        ((0, 12, True), ConstraintError, "12"),
    ],
)
def test_wrong_examples_are_not_stored(example, error, words):
    session = begin()
    session.set_examples([(4, 5, True)])
    with pytest.raises(error, match=words):
        session.set_examples([(0, 1, True), example])
    assert session.examples == (Example(4, 5, "yes"),)


def test_there_are_not_too_many():
    session = begin()
    pairs = [(i, j, True) for i in range(12) for j in range(i)]
    session.set_examples(pairs[:MOST_EXAMPLES])
    with pytest.raises(SessionError, match=f"31 examples, and a session has up to {MOST_EXAMPLES}"):
        session.add_example(10, 11, "no")
    assert len(session.examples) == MOST_EXAMPLES


def test_other_data_options_move_the_examples(tmp_path):
    path, ids = tmp_path / "s", [f"r{row}" for row in range(12)]
    with begin() as session:
        session.set_examples([(0, 1, True, "why"), (2, 3, False)])
        session.save(path)
    with Session.open(path, X[::-1] * 2, ids=ids[::-1], recode=True) as session:
        moved = (Example(11, 10, "yes", "why"), Example(9, 8, "no"))
        assert session.examples == moved
    with Session.open(path) as session:
        assert session.examples == moved
    with pytest.raises(DataMismatchError, match="has an example about rows"):
        Session.open(path, X[1:], ids=ids[1:], recode=True)
    with Session.open(path) as session:
        assert session.examples == moved


@pytest.mark.parametrize(
    "value",
    [
        3,
        [3],
        [[0, 1]],
        [[0, 1, "unsure", ""]],
        [[0, 0, "yes", ""]],
        [[0, 12, "yes", ""]],
        [[0, 1, "yes", 5]],
        [[0, 1, "yes", "x" * 2001]],
        [[0, 1, "yes", "\ud800"]],
        [[0, 1, "yes", "", ""]],
        [[0, 1, "yes", ""]] * 31,
        [[0, 1, "yes", ""], [1, 0, "no", ""]],
        {},
    ],
)
def test_examples_that_no_session_writes_are_damage(tmp_path, value):
    path = tmp_path / "s"
    with begin() as session:
        session.add_example(0, 1, "yes")
        session.save(path)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE event SET value = ?", (json.dumps(value),))
    with pytest.raises(SessionDamagedError, match="Event 1 of the session is wrong"):
        Session.open(path)


def test_guidelines_and_examples_as_a_text():
    examples = [Example(0, 1, "yes", "both are\nround."), Example(1, 2, "no")]
    expected = "Same shape.\n\nExamples:\nr0 and r1: same (both are round)\nr1 and r2: different"
    assert write_guidelines("Same shape.", examples, "r{}".format) == expected
    assert write_guidelines("", examples[1:], "r{}".format) == "Examples:\nr1 and r2: different"
    assert write_guidelines("Same shape.", [], "r{}".format) == "Same shape."
    assert write_guidelines("", [], "r{}".format) == ""
