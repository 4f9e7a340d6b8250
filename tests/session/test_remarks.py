"""The seconds and the note of an answer: kept beside it, seen by no learner, and refused in plain words."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import SessionDamagedError, SessionError
from linkwise.session.journal.events import MOST_NOTE, MOST_SECONDS, check_note, check_seconds, shorten_note
from linkwise.session.session import Session
from linkwise.session.team.agreement import count_by_source, describe_pace, describe_source
from session.session_examples import remark

X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.2]])


@pytest.fixture
def session():
    with lw.Session(X, lw.COBRAS(random_state=0)) as found:
        yield found


@pytest.fixture
def path(tmp_path):
    """A file with an answer that took 2.5 seconds and has a note, and a later note on it."""
    found = tmp_path / "s.linkwise"
    with Session.open(found, X, lw.COBRAS(random_state=0)) as session:
        session.answer("no", seconds=2.5, note="first", source="anna")
        session.note(1, "second", source="ben")
    return found


def execute(path, statement, *values):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement, values)


# ---------------------------------------------------------------- texts and numbers
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("", ""),
        ("  plain ", "plain"),
        ("two \r\n lines", "two\n lines"),
        ("=SUM(A1)\x00\u202e😀", "=SUM(A1)\x00\u202e😀"),
        (" " + "x" * MOST_NOTE + "\n", "x" * MOST_NOTE),
    ],
)
def test_a_note_keeps_its_text(given, kept):
    assert check_note(given) == kept
    assert check_note(kept) == kept


def test_a_note_that_is_too_long():
    with pytest.raises(SessionError, match=r"has 2001 characters\. Shorten it to 2000 or fewer\."):
        check_note("x" * (MOST_NOTE + 1))


@pytest.mark.parametrize(("note", "kind"), [(None, TypeError), (3, TypeError), ("\ud800", SessionError)])
def test_no_note(note, kind):
    with pytest.raises(kind, match="note"):
        check_note(note)


@pytest.mark.parametrize(
    ("given", "kept"),
    [(None, None), (0, 0.0), (1.23456, 1.235), (np.float32(2), 2.0), (MOST_SECONDS, MOST_SECONDS)],
)
def test_seconds_are_rounded_to_milliseconds(given, kept):
    assert check_seconds(given) == kept


@pytest.mark.parametrize(
    ("seconds", "kind"),
    [
        (-0.1, ValueError),
        (float("nan"), ValueError),
        (float("inf"), ValueError),
        (2 * MOST_SECONDS, ValueError),
        (10**400, ValueError),
        ("1", TypeError),
        (True, TypeError),
    ],
)
def test_no_seconds(seconds, kind):
    with pytest.raises(kind, match="seconds"):
        check_seconds(seconds)


def test_the_reason_of_a_program_becomes_a_note_whatever_it_is():
    assert shorten_note(" same \n name ") == "same\n name"
    long = shorten_note("x" * 5000)
    assert len(long) == MOST_NOTE
    assert long.endswith("x …")
    assert check_note(shorten_note("half \ud800")) == "half \\ud800"
    assert check_note(long) == long


# ---------------------------------------------------------------- in a session
def test_an_answer_without_remarks(session):
    session.answer("no")
    assert remark(session.history[0]) == (None, "", "")


def test_a_wrong_remark_stores_nothing(session):
    for wrong in ({"note": "x" * 2001}, {"note": None}, {"seconds": -1}, {"seconds": "1"}):
        with pytest.raises((SessionError, TypeError, ValueError)):
            session.answer("no", **wrong)
    assert session.events == []


def test_remarks_change_neither_facts_nor_questions():
    plain, noted = lw.Session(X, lw.KIN(random_state=0)), lw.Session(X, lw.KIN(random_state=0))
    for answer in ("no", "unsure", "yes"):
        plain.answer(answer)
        noted.answer(answer, seconds=3, note=f"why {answer}")
    assert list(plain.evidence) == list(noted.evidence)
    assert plain.question_id == noted.question_id
    asked = noted.question_id
    before = noted.history
    noted.note(2, "later")
    assert noted.history == before  # so that the learner need not begin anew
    assert noted.question_id == asked
    assert noted.status == plain.status
    assert noted.labels.tolist() == plain.labels.tolist()


def test_others_may_answer_although_a_note_is_written_meanwhile(path):
    with Session.open(path, X) as one, Session.open(path, X) as other:
        assert one.question is not None
        other.note(1, "third")
        one.answer("no")
        assert [event.kind for event in one.events] == ["answer", "note", "note", "answer"]


def test_a_change_keeps_the_note_and_an_undo_brings_the_earlier_note_back(path):
    with Session.open(path, X) as session:
        session.change(1, "unsure")
        assert remark(session.history[0]) == (2.5, "second", "ben")
        session.undo()
        session.undo()
        assert remark(session.history[0]) == (2.5, "first", "anna")
        session.note(1, "")
        assert remark(session.history[0]) == (2.5, "", "")
        session.undo()
        assert session.history[0].note == "first"


def test_an_answer_that_is_taken_back_keeps_its_note_in_the_events(path):
    with Session.open(path, X) as session:
        session.undo(1)
        assert session.history == session.remaining_events == []
        assert [event.note for event in session.events] == ["first", "second", ""]
        assert session.undo() is None


def test_what_has_a_note_is_an_answer_or_a_volunteered_pair(session):
    session.add(0, 1, "must-link")
    session.note(1, "twins")
    session.set_name(0, "A")
    for number in (2, 3, 99):
        with pytest.raises(SessionError, match=f"Event {number} is not an answer that can have a note"):
            session.note(number, "no")
    assert session.history[0].note == "twins"


def test_the_note_of_a_decision():
    with lw.Session(X, lw.KIN(random_state=0), error_rate=None) as session:
        number = session.decide(0, 1, "yes", source="chief", note="the same shop")
        event = session.history[-1]
        assert (event.number, event.note, event.note_author) == (number, "the same shop", "chief")


def test_an_open_question_keeps_its_remarks(session):
    first, *_ = session.questions(2, to="anna")
    session.answer("no")
    for question in session.questions(2, to="ben"):
        session.answer("no", question_id=question.id, source="ben", seconds=1, note="open")
    noted = [event for event in session.history if event.source == "ben"]
    assert noted
    assert {remark(event)[:2] for event in noted} == {(1.0, "open")}
    assert first is not None


def test_the_median_of_each_person(session):
    for source, seconds in (("anna", 3), ("anna", 60.4), ("ben", None), ("anna", 9)):
        session.answer("unsure", source=source, seconds=seconds)
    anna, ben = count_by_source(session.history)
    assert (anna.median_seconds, ben.median_seconds) == (9, None)
    assert describe_source(anna).endswith(", 3 not sure; median 9.0 seconds per answer")
    assert "median" not in describe_source(ben)
    assert describe_pace(61.5) == "median 62 seconds per answer"


# ---------------------------------------------------------------- in a file
def test_remarks_are_columns_of_their_event(path):
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT number, seconds, note FROM event").fetchall() == [
            (1, 2.5, "first"),
            (2, None, "second"),
        ]


def test_clusters_are_not_older_than_a_note_or_a_name(path):
    with Session.open(path) as session:
        session.note(1, "third")
        session.set_name(0, "A")
        assert session.labels_are_current
        session.add(0, 1, "must-link")
        assert not session.labels_are_current


def test_other_data_options_keep_the_remarks(path):
    with Session.open(path, X * 2, recode=True) as session:
        assert remark(session.history[0]) == (2.5, "second", "ben")
    with Session.open(path) as session:
        assert remark(session.history[0]) == (2.5, "second", "ben")


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("seconds", -1, "column 'seconds' is wrong"),
        ("seconds", float("inf"), "column 'seconds' is wrong"),
        ("seconds", "long", "column 'seconds' is wrong"),
        ("seconds", b"1", "column 'seconds' is wrong"),
        ("note", b"why", "column 'note' is wrong"),
        ("note", "x" * 2001, "column 'note' is wrong"),
    ],
)
def test_a_wrong_remark_is_damage(path, column, value, words):
    execute(path, f"UPDATE event SET {column} = ? WHERE number = 1", value)
    with pytest.raises(SessionDamagedError, match=f"Event 1 of the session is wrong.*{words}"):
        Session.open(path)


def test_a_note_that_is_no_unicode_is_damage(path):
    execute(path, "UPDATE event SET note = CAST(? AS TEXT) WHERE number = 1", b"\xff")
    with pytest.raises(SessionDamagedError, match="is damaged"):
        Session.open(path)


def test_a_name_has_no_note(path):
    with Session.open(path) as session:
        session.set_name(0, "A")
    execute(path, "UPDATE event SET note = ? WHERE number = 3", "a")
    with pytest.raises(SessionDamagedError, match="Event 3 of the session is wrong"):
        Session.open(path)


def test_a_note_without_its_text_is_damage(path):
    execute(path, "UPDATE event SET note = ? WHERE number = 2", None)
    with pytest.raises(SessionDamagedError, match="Event 2 of the session is wrong"):
        Session.open(path)


def test_a_later_note_has_no_seconds(path):
    execute(path, "UPDATE event SET seconds = ? WHERE number = 2", 1)
    with pytest.raises(SessionDamagedError, match="Event 2 of the session is wrong"):
        Session.open(path)


def test_a_note_on_what_is_no_answer_is_damage(path):
    with Session.open(path) as session:
        session.set_name(0, "A")
        session.note(1, "third")
    execute(path, "UPDATE event SET target = 3 WHERE number = 4")
    with pytest.raises(SessionDamagedError, match=r"Event 3 has a kind \(name\) that has no note"):
        Session.open(path)
