"""The events of a session file, value by value: what is read, and what is refused in which words."""

import json

import pytest

from linkwise.constraints.facts import Fact
from linkwise.session.journal.deserialize import read_events
from linkwise.session.journal.events import Event, Place
from session.tables_by_hand import (
    ADD,
    ANSWER,
    AUDIT,
    COST,
    DONE,
    IMPORT,
    LEARNER,
    N_ROWS,
    NAME,
    SETTING_EVENTS,
    WHEN,
    bring,
    change,
    damage,
    happen,
    note,
    reason,
    tables,
    undo,
)


@pytest.fixture
def db():
    with tables() as found:
        yield found


def test_every_kind_of_event_is_read(db):
    happen(db, ANSWER, ADD, IMPORT, DONE, NAME, change(2, "yes"), undo(6), undo(3))
    for pair in ((4, 3, 2, "yes"), (3, 0, 2, "yes"), (3, 1, 3, "unsure")):
        bring(db, *pair)
    story = [
        Event(1, "answer", WHEN, 0, 1, "yes"),
        Event(2, "add", WHEN, 3, 0, "no"),
        Event(3, "import", WHEN, facts=(Fact(0, 2, "yes"), Fact(1, 3, "unsure")), source="pairs.csv"),
        Event(4, "done", WHEN, 3, facts=(Fact(3, 2, "yes"),)),
        Event(5, "name", WHEN, 0, source="ripe"),
        Event(6, "change", WHEN, answer="yes", target=2),
        Event(7, "undo", WHEN, target=6),
        Event(8, "undo", WHEN, target=3),
    ]
    for after in range(9):  # a later event may be about an earlier one, whenever that was read
        assert list(read_events(db, N_ROWS, after)) == story[after:]


def test_what_stands_beside_an_answer_is_read(db):
    beside = {"start": 0, "position": 2, "seconds": 1.5, "note": "n", "reliability": 0.5}
    happen(db, ANSWER | beside, ADD | {"seconds": 0, "reliability": 1}, note(2, ""))
    answer, added, noted = read_events(db, N_ROWS, 0)
    assert (answer.place, answer.seconds, answer.note, answer.reliability) == (Place(0, 2), 1.5, "n", 0.5)
    assert (added.place, added.seconds, added.note, added.reliability) == (None, 0, "", 1)
    assert (noted.target, noted.note, noted.source) == (2, "", "ben")


def test_every_kind_of_setting_is_read(db):
    happen(db, *SETTING_EVENTS)
    found = list(read_events(db, N_ROWS, 0))
    assert [(event.kind, event.source) for event in found] == [
        (each["kind"], each.get("source", "")) for each in SETTING_EVENTS
    ]
    assert [event.value for event in found] == [json.loads(each["value"]) for each in SETTING_EVENTS]


def test_a_chosen_learner_has_no_parameters_of_the_machine(db):
    happen(db, LEARNER | {"value": '{"name": "ActiveCOBS", "parameters": {"cache": "/tmp"}}'})
    (event,) = read_events(db, N_ROWS, 0)
    assert event.value == {"name": "ActiveCOBS", "parameters": {}}


def test_events_are_numbered_without_gaps(db):
    happen(db, ANSWER, ADD, {"number": 4} | NAME)
    assert damage(read_events, db, N_ROWS, 0) == "Event 3 of the session is missing"
    assert damage(read_events, db, N_ROWS, 2) == "Event 3 of the session is missing"


@pytest.mark.parametrize("number", [0, -1, -(2**63)])
def test_no_event_hides_before_the_first(db, number):
    happen(db, ANSWER, {"number": number} | ADD)
    assert damage(read_events, db, N_ROWS, 0) == "Event 1 of the session is missing"


def test_pairs_belong_to_an_event_that_is_there(db):
    happen(db, ANSWER, IMPORT)
    bring(db, 5, 0, 2, "yes")
    bring(db, 4, 0, 2, "yes")
    assert damage(read_events, db, N_ROWS, 0) == "Event 4 has pairs, but it is not an import"


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (("x", 0, 2, "yes"), "Imported pairs have no event"),
        ((1, 0, 4, "yes"), "Event 1 of the session is wrong. '4' is not one of its rows, 0 to 3"),
        ((1, 2, 2, "yes"), "Event 1 of the session is wrong. Both rows of a pair are 2"),
        ((1, 0, 2, "y" * 30), f"Event 1 of the session is wrong. '{'y' * 20}' is not an answer"),
    ],
)
def test_imported_pairs_are_checked(db, pair, words):
    happen(db, IMPORT)
    bring(db, *pair)
    assert damage(read_events, db, N_ROWS, 0) == words


def test_an_unknown_kind_of_event(db):
    assert reason(db, ANSWER, ADD | {"kind": "a" * 25}) == f"'{'a' * 20}' is not a kind of event"


@pytest.mark.parametrize(
    "wrong",
    [
        ANSWER | {"first": None},
        ANSWER | {"second": None},
        ANSWER | {"answer": None},
        ANSWER | {"target": 1},
        ADD | {"second": None},
        IMPORT | {"first": 0},
        DONE | {"second": 1},
        DONE | {"first": None},
        NAME | {"answer": "yes"},
        change(None),
        change(1, None),
        undo(None),
        undo(1) | {"answer": "yes"},
        note(None),
        note(1) | {"answer": "yes"},
        note(1) | {"first": 0},
        *(each | {"first": 0} for each in SETTING_EVENTS),
        *(each | {"answer": "yes"} for each in SETTING_EVENTS),
        *(each | {"target": 1} for each in SETTING_EVENTS),
    ],
)
def test_an_event_names_what_its_kind_names(db, wrong):
    words = f"It has more or fewer fields than an event of its kind ({wrong['kind']})"
    assert reason(db, ANSWER, wrong) == words


@pytest.mark.parametrize("event", [ANSWER, ADD, NAME, *SETTING_EVENTS])
def test_only_imports_and_done_clusters_bring_pairs(db, event):
    bring(db, 1, 0, 2, "yes")
    assert reason(db, event) == f"It has pairs, but its kind is {event['kind']}"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (ANSWER | {"first": 4}, "'4' is not one of its rows, 0 to 3"),
        (ANSWER | {"second": 4}, "'4' is not one of its rows, 0 to 3"),
        (ANSWER | {"second": -1}, "'-1' is not one of its rows, 0 to 3"),
        (ANSWER | {"second": 1.5}, "'1.5' is not one of its rows, 0 to 3"),
        (ANSWER | {"first": "r" * 25}, f"'{'r' * 20}' is not one of its rows, 0 to 3"),
        (ANSWER | {"second": 0}, "Both rows of a pair are 0"),
        (NAME | {"first": 4}, "'4' is not one of its rows, 0 to 3"),
        (DONE | {"first": -1}, "'-1' is not one of its rows, 0 to 3"),
        (ANSWER | {"answer": "m" * 25}, f"'{'m' * 20}' is not an answer"),
        (ANSWER | {"happened": b"now"}, "Its time is missing or wrong"),
        (NAME | {"source": b"ripe"}, "Its source is not text"),
    ],
)
def test_a_value_that_no_event_has(db, wrong, words):
    assert reason(db, wrong) == words


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((ANSWER, undo(2)), "Its target is not an earlier event"),
        ((ANSWER, undo(3)), "Its target is not an earlier event"),
        ((ANSWER, undo("x")), "Its target is not an earlier event"),
        ((ANSWER, undo(1), undo(2)), "Event 2 has a kind (undo) that has no undo"),
        ((ANSWER, undo(1), change(2)), "Event 2 has a kind (undo) that has no change"),
        ((IMPORT, change(1)), "Event 1 has a kind (import) that has no change"),
        ((NAME, change(1)), "Event 1 has a kind (name) that has no change"),
        ((ANSWER, change(1), change(2)), "Event 2 has a kind (change) that has no change"),
        ((COST, undo(1)), "Event 1 has a kind (cost) that has no undo"),
        ((AUDIT, undo(1)), "Event 1 has a kind (audit) that has no undo"),
        ((NAME, note(1)), "Event 1 has a kind (name) that has no note"),
        ((ANSWER, note(1), note(2)), "Event 2 has a kind (note) that has no note"),
        *(
            ((each, note(1)), f"Event 1 has a kind ({each['kind']}) that has no note")
            for each in SETTING_EVENTS
        ),
        *(
            ((each, change(1)), f"Event 1 has a kind ({each['kind']}) that has no change")
            for each in SETTING_EVENTS
        ),
    ],
)
def test_what_cannot_be_changed_or_undone(db, events, words):
    assert reason(db, *events) == words


@pytest.mark.parametrize(
    "when",
    [
        WHEN,
        "1970-01-01T00:00:00+00:00",
        "2026-12-31T23:59:59.999999+00:00",
        "9999-12-31T23:59:59.1+00:00",
    ],
)
def test_moments_are_in_utc(db, when):
    happen(db, ANSWER | {"happened": when})
    assert [e.when for e in read_events(db, N_ROWS, 0)] == [when]


@pytest.mark.parametrize(
    "when",
    [
        "",
        "yesterday",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00+01:00",
        "2026-01-01T00:00:00.1234567+00:00",
        "1969-12-31T23:59:59+00:00",
        "2026-02-30T00:00:00+00:00",
        f"{WHEN} and more",
    ],
)
def test_other_moments_are_damage(db, when):
    assert reason(db, ANSWER | {"happened": when}) == "Its time is missing or wrong"
