"""The tables of a session file, value by value: what is read, and what is refused in which words."""

import json

import numpy as np
import pytest

from linkwise.learn.advice import StopAdvice
from linkwise.session.journal.deserialize import (
    MOST_JSON,
    are_labels,
    check_size,
    read_clustering,
    read_ids,
    read_meta,
)
from linkwise.session.journal.stored_clustering import Doubts, ErrorRate, StoredClustering
from session.tables_by_hand import DATA, META, damage, put, tables

TOO_LONG = "Table meta has no text of a length that a session stores for 'source'"


@pytest.fixture
def db():
    with tables() as found:
        yield found


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


@pytest.mark.parametrize(
    ("key", "what"), [("known", "events about earlier data"), ("moves", "times that rows moved")]
)
def test_counts_of_changes(db, key, what):
    put(db, key, json.dumps(2**53 - 1))
    assert read_meta(db)[key] == 2**53 - 1
    for value in ("-1", "true", "1e3", '"1"', "[]", "null", "9007199254740992"):
        put(db, key, value)
        assert damage(read_meta, db) == f"The number of {what} is not an integer of at least 0"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        *(
            (value, "The numbers of its clusters are not a list of integers")
            for value in ({}, None, 1, [0.0], [True, 0], [0, 1, 2, 3])
        ),
        *((value, "A number of a cluster is given twice") for value in ([0, 0], [1], [-1, 0])),
    ],
)
def test_numbers_of_clusters(db, value, words):
    put(db, "numbers", "[1, 0]")
    assert read_meta(db)["numbers"] == (1, 0)
    put(db, "numbers", json.dumps(value))
    assert damage(read_meta, db) == words


@pytest.mark.parametrize("rate", [None, 0.25, {"anna": 0.1, "": None}])
def test_the_rate_that_a_session_was_begun_with(db, rate):
    put(db, "error_rate", json.dumps(rate))
    assert read_meta(db)["error_rate"] == rate


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
    assert damage(read_meta, db) == TOO_LONG


def test_the_sums_of_many_columns_may_be_longer(db):
    put(db, "data", json.dumps(DATA) + " " * MOST_JSON)
    assert read_meta(db)["data"] == DATA


def test_lists_and_objects_are_read_up_to_a_number(db):
    put(db, "source", json.dumps({"a": [[]] * 499_997, "b": {}}))
    assert len(read_meta(db)["source"]["a"]) == 499_997
    put(db, "source", json.dumps({"a": [[]] * 499_998, "b": {}}))
    assert damage(read_meta, db) == TOO_LONG


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
def keep(db, labels, event=4, reason=None, one=1, **words):
    blob = np.array(labels, "<i4").tobytes() if isinstance(labels, list) else labels
    said = {"description": "[]", "doubts": "null", "advice": "null", "confidence": None} | words
    db.execute(
        "INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (one, event, reason, blob, *said.values())
    )


def test_labels_are_read_with_what_was_said_of_them(db):
    assert read_clustering(db, 3, 9) is None
    keep(db, [1, -1, 2], reason="exhausted", description='["Done.", "Well."]')
    found = read_clustering(db, 3, 4)
    assert (found.event, found.reason, found.description) == (4, "exhausted", ("Done.", "Well."))
    assert found.labels.tolist() == [1, -1, 2]
    assert found.labels.dtype == np.int32


def test_confidences_are_a_share_a_row(db):
    keep(db, [0, 0, 0], confidence=np.array([0, 0.25, 1]).tobytes())
    assert read_clustering(db, 3, 9).confidence.tolist() == [0, 0.25, 1]


@pytest.mark.parametrize("wrong", [b"", b"x" * 23, b"x" * 25, "x" * 24, 0.5])
def test_confidences_of_other_rows_are_damage(db, wrong):
    keep(db, [0, 0, 0], confidence=wrong)
    assert damage(read_clustering, db, 3, 9) == "Its confidences are not 3 numbers"


@pytest.mark.parametrize("wrong", [-0.1, 1.1, np.inf, np.nan])
def test_confidences_are_shares(db, wrong):
    keep(db, [0, 0, 0], confidence=np.array([0.5, wrong, 0.5]).tobytes())
    assert damage(read_clustering, db, 3, 9) == "Its confidences are not numbers from 0 to 1"


def test_labels_from_before_the_first_event(db):
    keep(db, [0, 0, 0], event=0)
    found = read_clustering(db, 3, 0)
    assert (found.event, found.reason, found.description) == (0, None, ())


def test_labels_of_an_event_that_is_not_there_are_of_no_known_event(db):
    keep(db, [0, 0, 0])
    assert read_clustering(db, 3, 3).event == -1
    assert read_clustering(db, 3, 5).event == 4


@pytest.mark.parametrize("wrong", [{"event": "x"}, {"event": 1.5}, {"event": -1}, {"reason": "tired"}])
def test_labels_say_after_which_event_they_were_kept(db, wrong):
    keep(db, [0, 0, 0], **wrong)
    assert damage(read_clustering, db, 3, 9) == "The event of its labels is missing"


def test_labels_are_kept_once(db):
    keep(db, [0, 0, 0])
    keep(db, [0, 0, 0], one=2)
    assert damage(read_clustering, db, 3, 9) == "The event of its labels is missing"


@pytest.mark.parametrize("labels", [[0, 0], [0, 0, 0, 0], "x" * 12, b"x" * 11])
def test_labels_are_a_number_a_row(db, labels):
    keep(db, labels)
    assert damage(read_clustering, db, 3, 9) == "Its labels are not 3 numbers"


@pytest.mark.parametrize("labels", [[0, 0, 3], [-2, 0, 0]])
def test_labels_are_numbers_of_clusters(db, labels):
    keep(db, labels)
    assert damage(read_clustering, db, 3, 9) == "Its labels are not cluster numbers, -1 to 2"


@pytest.mark.parametrize(
    ("labels", "right"),
    [([0], True), ([-1, 1], True), ([1, -1, 2], True), ([0, 2], False), ([-2, 0], False), ([-2, 5], False)],
)
def test_there_are_no_more_clusters_than_rows(labels, right):
    assert are_labels(np.array(labels)) is right


def test_a_snapshot_may_have_no_description():
    assert StoredClustering(0, None, np.zeros(1)).description == ()


# ---------------------------------------------------------------- what the learner said
DESCRIPTION = "The description of its learner is not a list of sentences"
DOUBTS = "The list of answers that are probably wrong is"
ADVICE = "The advice of its learner is"
RIGHT_ADVICE = {"stop": True, "wrong": 0.1, "most_wrong": None, "n_open": 0}
RIGHT_DOUBTS = {"error_rate": [0.1, 0.0, 0.2], "suspects": [[3, "likely wrong"]], "parts": [[2, 0], [1]]}


def test_what_the_learner_said_is_read(db):
    keep(db, [0, 0, 0], advice=json.dumps(RIGHT_ADVICE), doubts=json.dumps(RIGHT_DOUBTS))
    found = read_clustering(db, 3, 9)
    assert found.advice == StopAdvice(True, 0.1, None, 0)
    assert found.doubts == Doubts(ErrorRate(0.1, 0.0, 0.2), ((3, "likely wrong"),), ((2, 0), (1,)))


@pytest.mark.parametrize("said", [None, {}, "One.", ["One.", 2], [["One."]], 5])
def test_what_the_learner_said_is_a_list_of_sentences(db, said):
    keep(db, [0, 0, 0], description=json.dumps(said))
    assert damage(read_clustering, db, 3, 9) == DESCRIPTION


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        *(
            ({key: value for key, value in RIGHT_ADVICE.items() if key != lost}, "incomplete")
            for lost in RIGHT_ADVICE
        ),
        *((said, "incomplete") for said in ([], "stop", 3, True)),
        *(
            (RIGHT_ADVICE | wrong, "not a choice with shares from 0 to 1 and a count")
            for wrong in (
                {"stop": 1},
                {"stop": None},
                {"wrong": 2},
                {"wrong": float("nan")},
                {"wrong": float("inf")},
                {"most_wrong": 2},
                {"most_wrong": 0.05},
                {"most_wrong": "0.2"},
                {"most_wrong": True},
                {"n_open": -1},
                {"n_open": 1.0},
                {"n_open": True},
                {"n_open": None},
                {"n_open": 2**53},
            )
        ),
    ],
)
def test_advice_that_no_learner_gives_is_damage(db, changed, words):
    keep(db, [0, 0, 0], advice=json.dumps(changed))
    assert damage(read_clustering, db, 3, 9) == f"{ADVICE} {words}"


@pytest.mark.parametrize(
    "said",
    [
        5,
        [],
        {},
        "x",
        {"error_rate": None},
        {"suspects": []},
        RIGHT_DOUBTS | {"error_rate": [0.1]},
        RIGHT_DOUBTS | {"error_rate": 0.1},
        RIGHT_DOUBTS | {"suspects": [3]},
        RIGHT_DOUBTS | {"suspects": None},
        RIGHT_DOUBTS | {"suspects": [[3]]},
        RIGHT_DOUBTS | {"parts": None},
        RIGHT_DOUBTS | {"parts": [0, 1]},
    ],
)
def test_incomplete_doubts_are_damage(db, said):
    keep(db, [0, 0, 0], doubts=json.dumps(said))
    assert damage(read_clustering, db, 3, 9) == f"{DOUBTS} incomplete"


@pytest.mark.parametrize("wrong", [-0.1, 2.0, "0.1", True, None, float("nan")])
def test_doubts_have_a_rate_that_can_be(db, wrong):
    keep(db, [0, 0, 0], doubts=json.dumps(RIGHT_DOUBTS | {"error_rate": [0.1, 0.0, wrong]}))
    assert damage(read_clustering, db, 3, 9) == "Its error rate is not a number from 0 up to 0.5"


@pytest.mark.parametrize(
    "wrong", [[0, "likely wrong"], [1.0, "likely wrong"], [True, "likely wrong"], [3, "x"], [3, ["x"]]]
)
def test_doubts_are_about_answers(db, wrong):
    keep(db, [0, 0, 0], doubts=json.dumps(RIGHT_DOUBTS | {"suspects": [wrong]}))
    words = "The list of answers that are probably wrong has an entry that is not an answer"
    assert damage(read_clustering, db, 3, 9) == words


@pytest.mark.parametrize(
    "wrong", [[[3]], [[-1]], [[0, 0]], [[0], [1, 0]], [[0.0]], [[True]], [["0"]], [[[0]]]]
)
def test_what_is_believed_is_about_rows(db, wrong):
    keep(db, [0, 0, 0], doubts=json.dumps(RIGHT_DOUBTS | {"parts": wrong}))
    words = "What is believed of its answers is not about rows 0 to 2, each in one part"
    assert damage(read_clustering, db, 3, 9) == words


@pytest.mark.parametrize("word", ["description", "doubts", "advice"])
@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        (b"null", "text"),
        ("", "JSON"),
        ("{", "JSON"),
        ("[" * 100_000, "JSON"),
        ("[" * 500_001, "text of a length that a session stores"),
        (" " * (MOST_JSON + 1), "text of a length that a session stores"),
    ],
    ids=["bytes", "empty", "open", "deep", "many", "long"],
)
def test_the_words_of_the_learner_are_json(db, word, text, lacking):
    keep(db, [0, 0, 0], **{word: text})
    assert damage(read_clustering, db, 3, 9).endswith(f" is no {lacking}")
