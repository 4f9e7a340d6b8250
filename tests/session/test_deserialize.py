"""The tables of a session file, value by value: what is read, and what is refused in which words."""

import json
import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from linkwise.constraints.facts import Fact
from linkwise.session.deserialize import (
    MOST_JSON,
    Snapshot,
    are_labels,
    check_size,
    read_description,
    read_events,
    read_ids,
    read_meta,
    read_snapshot,
)
from linkwise.session.events import Event
from linkwise.session.schema import Damage, create_tables

WHEN = "2026-01-01T00:00:00.000+00:00"
DATA = {
    "shape": [3, 2],
    "width": "float32",
    "sketch": [[0.5, 1.5], [-2.5, 3]],
    "scale": [4.0, 5.0],
}
META = {
    "data": DATA,
    "learner": {"name": "COBRAS", "parameters": {"n_init": 1}},
    "seed": 7,
    "source": {"file": "a.csv"},
}


@pytest.fixture
def db():
    """Tables in memory with settings; a test may write into them what SQLite itself would refuse."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as found:
        create_tables(found)
        found.execute("PRAGMA ignore_check_constraints=ON")
        for key, value in META.items():
            put(found, key, json.dumps(value))
        yield found


def put(db, key, value):
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def damage(read, *given):
    """What the error says."""
    with pytest.raises(Damage) as refused:
        list(read(*given) or ())
    return str(refused.value)


# ---------------------------------------------------------------- settings
def test_settings_come_back_as_they_were_kept(db):
    assert read_meta(db) == META


def test_parameters_of_the_machine_are_not_read(db):
    learner = {"name": "ActiveCOBS", "parameters": {"cache": "/tmp", "preset": "quick", "backend": ["x"]}}
    put(db, "learner", json.dumps(learner))
    assert read_meta(db)["learner"] == {"name": "ActiveCOBS", "parameters": {"preset": "quick"}}


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_the_least_and_the_largest_seed(db, seed):
    put(db, "seed", json.dumps(seed))
    assert read_meta(db)["seed"] == seed


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("learner", ["COBRAS"], "Its learner has no name or no parameters"),
        ("learner", {"name": "COBRAS"}, "Its learner has no name or no parameters"),
        (
            "learner",
            {"name": "COBRAS", "parameters": {"n_init": [1]}},
            "Its learner has a wrong parameter: n_init=[1] is not a kind of value that n_init takes",
        ),
        ("seed", -1, "Its seed is not an integer of at least 0"),
        ("seed", 2**64, "Its seed is not an integer of at least 0"),
        ("seed", 7.0, "Its seed is not an integer of at least 0"),
        ("seed", True, "Its seed is not an integer of at least 0"),
        ("seed", None, "Its seed is not an integer of at least 0"),
        ("source", ["a.csv"], "The source of its data is not an object"),
    ],
)
def test_a_setting_of_another_kind_is_damage(db, key, value, words):
    put(db, key, json.dumps(value))
    assert damage(read_meta, db) == words


@pytest.mark.parametrize("key", META)
def test_a_setting_that_is_missing_or_no_text_is_damage(db, key):
    put(db, key, b"{}")
    assert damage(read_meta, db) == f"Table meta has no text for {key!r}"
    db.execute("DELETE FROM meta WHERE key = ?", (key,))
    assert damage(read_meta, db) == f"Table meta has no text for {key!r}"


@pytest.mark.parametrize("text", ["", "{", "[1,]", "[" * 400_000], ids=["empty", "open", "comma", "deep"])
def test_a_setting_that_is_no_json_is_damage(db, text):
    put(db, "source", text)
    assert damage(read_meta, db) == "Table meta has no JSON for 'source'"


def test_a_text_is_read_up_to_a_length(db):
    put(db, "source", json.dumps({"a": "x" * (MOST_JSON - 9)}))
    assert len(read_meta(db)["source"]["a"]) == MOST_JSON - 9
    assert MOST_JSON == 8_388_608
    put(db, "source", json.dumps({"a": "x" * (MOST_JSON - 8)}))
    assert damage(read_meta, db) == "Table meta holds more for 'source' than a session stores"


def test_the_sums_of_many_columns_may_be_longer(db):
    put(db, "data", json.dumps(DATA) + " " * MOST_JSON)
    assert read_meta(db)["data"] == DATA


def test_lists_and_objects_are_read_up_to_a_number(db):
    put(db, "source", json.dumps({"a": [[]] * 499_997, "b": {}}))
    assert len(read_meta(db)["source"]["a"]) == 499_997
    put(db, "source", json.dumps({"a": [[]] * 499_998, "b": {}}))
    assert damage(read_meta, db) == "Table meta holds more for 'source' than a session stores"


def test_a_fingerprint_has_few_lists(db):
    put(db, "data", json.dumps(DATA | {"more": [{}] * 9}))
    assert len(read_meta(db)["data"]["more"]) == 9
    put(db, "data", json.dumps(DATA | {"more": [{}] * 10}))
    assert damage(read_meta, db) == "Table meta holds more for 'data' than a session stores"


@pytest.mark.parametrize(
    "changed",
    [
        {"width": "float64"},
        {"shape": [1, 2]},
        {"scale": [2**53 - 1, 1 - 2**53]},
        {"shape": [3, 1], "sketch": [[0.0], [0.0]], "scale": [0.0]},
    ],
)
def test_fingerprints_that_a_session_writes(db, changed):
    put(db, "data", json.dumps(DATA | changed))
    assert read_meta(db)["data"] == DATA | changed


def test_a_fingerprint_may_lack_the_width(db):
    without = {key: value for key, value in DATA.items() if key != "width"}
    put(db, "data", json.dumps(without))
    assert read_meta(db)["data"] == without


@pytest.mark.parametrize(
    "data",
    [
        None,
        [1, 2],
        {"shape": [3, 2]},
        *(
            {key: value for key, value in DATA.items() if key != lost}
            for lost in ("shape", "sketch", "scale")
        ),
        DATA | {"shape": [3]},
        DATA | {"shape": 3},
    ],
)
def test_an_incomplete_fingerprint_is_damage(db, data):
    put(db, "data", json.dumps(data))
    assert damage(read_meta, db) == "The fingerprint of its data is incomplete"


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": [0, 2]},
        {"shape": [-1, 2]},
        {"shape": [True, 2]},
        {"shape": [3.0, 2]},
        {"shape": ["3", 2]},
        {"shape": [3, 2.0]},
        {"shape": [3, 3]},
        {"shape": [3, 0], "sketch": [[], []], "scale": []},
        {"sketch": {"a": [0.5, 1.5], "b": [0.5, 1.5]}},
        {"sketch": [[0.5, 1.5]]},
        {"sketch": [[0.5, 1.5]] * 3},
        {"sketch": [[0.5, 1.5], "ab"]},
        {"sketch": [[0.5, 1.5], [0.5]]},
        {"sketch": [[0.5, 1.5], [0.5, None]]},
        {"scale": [0.5, "1"]},
        {"scale": [0.5, True]},
        {"scale": [0.5, float("inf")]},
        {"scale": [0.5, float("nan")]},
        {"scale": [0.5, 2**53]},
        {"scale": [0.5, -(2**53)]},
        {"width": "float16"},
    ],
)
def test_a_fingerprint_of_another_form_is_damage(db, changed):
    put(db, "data", json.dumps(DATA | changed))
    assert damage(read_meta, db) == "The fingerprint of its data is not a shape with sums of the columns"


# ---------------------------------------------------------------- what the learner said
def test_what_the_learner_said_is_read(db):
    assert read_description(db) == ()
    put(db, "description", '["One.", "Two."]')
    assert read_description(db) == ("One.", "Two.")


@pytest.mark.parametrize("said", ["{}", '"One."', '["One.", 2]'])
def test_what_the_learner_said_is_a_list_of_sentences(db, said):
    put(db, "description", said)
    assert damage(read_description, db) == "The description of its learner is not a list of sentences"


# ---------------------------------------------------------------- rows
def test_a_file_has_a_byte_or_more_for_each_row(db):
    (pages,), (size,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    assert pages > 1
    check_size(db, pages * size)
    assert damage(check_size, db, pages * size + 1) == f"It is too small for {pages * size + 1} rows"


def test_ids_are_read_in_order_of_the_rows(db):
    assert read_ids(db, 3) is None
    db.executemany("INSERT INTO row_id VALUES (?, ?)", [(2, "a"), (0, "c"), (1, "b")])
    assert read_ids(db, 3) == ["c", "b", "a"]
    assert damage(read_ids, db, 4) == "Its 3 ids are not those of rows 0 to 3"


@pytest.mark.parametrize("rows", [(1, 2, 3), (-1, 0, 1), (0, 1, 3)])
def test_every_row_has_an_id_or_none_has(db, rows):
    db.executemany("INSERT INTO row_id VALUES (?, ?)", zip(rows, "abc", strict=True))
    assert damage(read_ids, db, 3) == "Its 3 ids are not those of rows 0 to 2"


def test_a_single_row_may_have_an_id(db):
    db.execute("INSERT INTO row_id VALUES (0, 'a')")
    assert read_ids(db, 1) == ["a"]


@pytest.mark.parametrize("ids", [("a", "b", b"c"), ("a", "b", "a")])
def test_ids_are_different_texts(db, ids):
    db.execute("DROP TABLE row_id")
    db.execute("CREATE TABLE row_id (row INTEGER PRIMARY KEY, id TEXT)")  # as if its index were damaged
    db.executemany("INSERT INTO row_id VALUES (?, ?)", enumerate(ids))
    assert damage(read_ids, db, 3) == "Its ids are not a different text for each row"


# ---------------------------------------------------------------- labels
def keep(db, labels, event=4, reason=None, one=1):
    blob = np.array(labels, "<i4").tobytes() if isinstance(labels, list) else labels
    db.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?)", (one, event, reason, blob))


def test_labels_are_read_with_what_was_said_of_them(db):
    assert read_snapshot(db, 3, 9) is None
    keep(db, [1, -1, 2], reason="exhausted")
    put(db, "description", '["Done."]')
    found = read_snapshot(db, 3, 4)
    assert (found.event, found.reason, found.description) == (4, "exhausted", ("Done.",))
    assert found.labels.tolist() == [1, -1, 2]
    assert found.labels.dtype == np.int32


def test_labels_from_before_the_first_event(db):
    keep(db, [0, 0, 0], event=0)
    found = read_snapshot(db, 3, 0)
    assert (found.event, found.reason, found.description) == (0, None, ())


def test_labels_of_an_event_that_is_not_there_are_of_no_known_event(db):
    keep(db, [0, 0, 0])
    assert read_snapshot(db, 3, 3).event == -1
    assert read_snapshot(db, 3, 5).event == 4


@pytest.mark.parametrize("wrong", [{"event": "x"}, {"event": 1.5}, {"event": -1}, {"reason": "tired"}])
def test_labels_say_after_which_event_they_were_kept(db, wrong):
    keep(db, [0, 0, 0], **wrong)
    assert damage(read_snapshot, db, 3, 9) == "The event of its labels is missing"


def test_labels_are_kept_once(db):
    keep(db, [0, 0, 0])
    keep(db, [0, 0, 0], one=2)
    assert damage(read_snapshot, db, 3, 9) == "The event of its labels is missing"


@pytest.mark.parametrize("labels", [[0, 0], [0, 0, 0, 0], "x" * 12, b"x" * 11])
def test_labels_are_a_number_a_row(db, labels):
    keep(db, labels)
    assert damage(read_snapshot, db, 3, 9) == "Its labels are not 3 numbers"


@pytest.mark.parametrize("labels", [[0, 0, 3], [-2, 0, 0]])
def test_labels_are_numbers_of_clusters(db, labels):
    keep(db, labels)
    assert damage(read_snapshot, db, 3, 9) == "Its labels are not cluster numbers, -1 to 2"


@pytest.mark.parametrize(
    ("labels", "right"),
    [([0], True), ([-1, 1], True), ([1, -1, 2], True), ([0, 2], False), ([-2, 0], False), ([-2, 5], False)],
)
def test_there_are_no_more_clusters_than_rows(labels, right):
    assert are_labels(np.array(labels)) is right


def test_a_snapshot_may_have_no_description():
    assert Snapshot(0, None, np.zeros(1)).description == ()


# ---------------------------------------------------------------- events
N_ROWS = 4
ANSWER = {"kind": "answer", "first": 0, "second": 1, "answer": "yes"}
ADD = {"kind": "add", "first": 3, "second": 0, "answer": "no"}
IMPORT = {"kind": "import", "source": "pairs.csv"}
DONE = {"kind": "done", "first": 3}
NAME = {"kind": "name", "first": 0, "source": "ripe"}


def change(target, answer="unsure"):
    return {"kind": "change", "answer": answer, "target": target}


def undo(target):
    return {"kind": "undo", "target": target}


def happen(db, *events):
    """Store events, numbered from 1 unless they say their number."""
    for number, event in enumerate(events, 1):
        row = {"number": number, "happened": WHEN, "source": ""} | event
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO event ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def bring(db, event, first, second, answer):
    db.execute("INSERT INTO imported VALUES (?, ?, ?, ?)", (event, first, second, answer))


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


def reason(db, *events):
    """Why the last of the events cannot hold."""
    happen(db, *events)
    found = re.fullmatch(r"Event (\d+) of the session is wrong. (.*)", damage(read_events, db, N_ROWS, 0))
    assert int(found[1]) == len(events)
    return found[2]


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
    ],
)
def test_an_event_names_what_its_kind_names(db, wrong):
    words = f"It has more or fewer fields than an event of its kind ({wrong['kind']})"
    assert reason(db, ANSWER, wrong) == words


@pytest.mark.parametrize("event", [ANSWER, ADD, NAME])
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
