"""What holds of the events of a session, what is known by them, and how a contradiction is told."""

import pytest

from linkwise.constraints.facts import Fact
from linkwise.errors import ConstraintError, InfeasibleConstraintsError, SessionDamagedError
from linkwise.session.journal.events import Event
from linkwise.session.state.event_lists import (
    drop_undone,
    evidence_of,
    facts_of,
    name_rows_by_id,
    names_of,
    settle_events,
)

WHEN = "2026-01-01T00:00:00.000+00:00"


def event(number, kind, first=None, second=None, answer=None, target=None, facts=(), source=""):
    return Event(number, kind, WHEN, first, second, answer, target, facts, source)


FACTS = (Fact(4, 5, "yes"), Fact(4, 6, "no"))
STORY = [
    event(1, "answer", 0, 1, "yes"),
    event(2, "add", 1, 2, "no"),
    event(3, "change", answer="unsure", target=1),
    event(4, "name", first=0, source="ripe"),
    event(5, "import", facts=FACTS, source="pairs.csv"),
    event(6, "change", answer="no", target=1),
]


def numbers(events):
    return [e.number for e in events]


# ---------------------------------------------------------------- what holds
def test_everything_holds_that_was_not_undone():
    assert numbers(drop_undone(STORY)) == [1, 2, 3, 4, 5, 6]
    assert numbers(drop_undone([*STORY, event(7, "undo", target=2)])) == [1, 3, 4, 5, 6]


def test_undoing_an_answer_undoes_its_changes():
    assert numbers(drop_undone([*STORY, event(7, "undo", target=1)])) == [2, 4, 5]


def test_undoing_a_change_leaves_the_answer_and_other_changes():
    undone = [*STORY, event(7, "undo", target=6)]
    assert numbers(drop_undone(undone)) == [1, 2, 3, 4, 5]
    assert settle_events(undone)[0].answer == "unsure"


def test_settled_events_are_about_pairs_and_have_their_latest_answer():
    left = settle_events(STORY)
    assert numbers(left) == [1, 2, 5]
    assert [e.answer for e in left] == ["no", "no", None]
    assert left[1] is STORY[1]  # what was never changed stays the same event
    assert (left[0].first, left[0].second, left[0].kind) == (0, 1, "answer")


def test_the_latest_name_of_a_row_comes_last():
    named = [
        event(1, "name", first=3, source="a"),
        event(2, "name", first=5, source="b"),
        event(3, "name", first=3, source="c"),
        event(4, "name", first=5, source=""),
    ]
    assert list(names_of(named).items()) == [(3, "c"), (5, "")]
    assert list(names_of(named[:3]).items()) == [(5, "b"), (3, "c")]
    assert names_of([*named, event(5, "undo", target=4), event(6, "undo", target=3)]) == {3: "a", 5: "b"}
    assert names_of(STORY) == {0: "ripe"}
    assert names_of([event(1, "name", source="nobody")]) == {}


# ---------------------------------------------------------------- what is known
def test_facts_of_an_event():
    assert facts_of(STORY[0]) == (Fact(0, 1, "yes"),)
    assert facts_of(STORY[1]) == (Fact(1, 2, "no"),)
    assert facts_of(STORY[4]) == FACTS
    assert facts_of(event(9, "done", first=4, facts=FACTS)) == FACTS


@pytest.mark.parametrize("lacking", ["first", "second", "answer"])
def test_an_event_without_a_pair_or_an_answer_is_damage(lacking):
    parts = {"first": 0, "second": 1, "answer": "yes", lacking: None}
    with pytest.raises(SessionDamagedError, match=r"Event 8 of the session \(answer\) has no pair"):
        facts_of(event(8, "answer", **parts))


def test_only_answers_count_as_questions():
    known = evidence_of(8, settle_events(STORY))
    assert known.n_questions == 1
    assert list(known) == [Fact(0, 1, "no"), Fact(1, 2, "no"), *FACTS]
    assert len(evidence_of(8, [])) == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (event(7, "add", 0, 1, "yes"), "Event 7 of the session is wrong. .*contradicts"),
        (event(7, "add", 0, 8, "yes"), "Event 7 of the session is wrong. There is no row 8"),
        (event(7, "add", 0, 1.0, "yes"), "Event 7 of the session is wrong. A row position is not an integer"),
        (event(7, "add", 0, 2, "perhaps"), "Event 7 of the session is wrong. .*'perhaps'"),
    ],
)
def test_an_event_that_cannot_hold_is_damage(wrong, words):
    with pytest.raises(SessionDamagedError, match=words):
        evidence_of(8, [*settle_events(STORY), wrong])


# ---------------------------------------------------------------- contradictions
@pytest.mark.parametrize(
    ("ids", "words"), [(None, "3 = 7 = 9, but 3 ≠ 9"), (list("abcdefghij"), "d = h = j, but d ≠ j")]
)
def test_a_contradiction_is_reported_in_ids(ids, words):
    with pytest.raises(InfeasibleConstraintsError) as told, name_rows_by_id(ids):
        raise InfeasibleConstraintsError("rows 3, 7, 9", (3, 7, 9))
    assert str(told.value) == (
        f"This contradicts earlier answers: {words}. Remove it, or undo or change one of these answers."
    )
    assert told.value.chain == (3, 7, 9)
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__


def test_other_errors_pass_as_they_are():
    plain = InfeasibleConstraintsError("too many clusters", ())
    with pytest.raises(InfeasibleConstraintsError) as told, name_rows_by_id(None):
        raise plain
    assert told.value is plain
    with pytest.raises(ConstraintError, match="row 9"), name_rows_by_id(None):
        raise ConstraintError("row 9")
