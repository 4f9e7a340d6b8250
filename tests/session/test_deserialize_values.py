"""What stands beside answers and the values of settings in a session file: what is read and refused."""

import json

import pytest

from linkwise.session.journal.deserialize import MOST_JSON, read_events
from linkwise.session.journal.events import MOST_GUIDELINES
from session.tables_by_hand import (
    ADD,
    ANSWER,
    AUDIT,
    COST,
    EXAMPLES,
    GUIDELINES,
    LEARNER,
    N_ROWS,
    OTHERS,
    PLAN,
    RATE,
    SETTING_EVENTS,
    happen,
    note,
    reason,
    tables,
)


@pytest.fixture
def db():
    with tables() as found:
        yield found


# ---------------------------------------------------------------- what stands beside an answer
def beside(**wrong):
    return ANSWER | wrong


PLACE = "The place of its question is wrong"
SECONDS, NOTE, RELIABILITY = (
    f"Its value in the column {name!r} is wrong" for name in ("seconds", "note", "reliability")
)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *(
            (beside(start=start, position=position), PLACE)
            for start, position in (
                (0, None),
                (None, 0),
                (0, -1),
                (-1, 0),
                (0.5, 0),
                (0, 0.5),
                ("x", 0),
                (0, "x"),
                (b"0", 0),
                (0, b"0"),
                (10**15, 0),
                (0, 10**15),
                (float("inf"), 0),
            )
        ),
        *((beside(start=start, position=0), "Its question was chosen after its answer") for start in (1, 9)),
        *(
            (beside(seconds=seconds), SECONDS)
            for seconds in (-1, -0.5, 1e9 + 1, float("inf"), -float("inf"), "x", "", b"1", 2**62)
        ),
        *((beside(note=text), NOTE) for text in ("x" * 2001, b"why", b"")),
        *(
            (beside(reliability=share), RELIABILITY)
            for share in (0.4, 1.5, -1, 0, float("inf"), "x", b"0.8", 2**62)
        ),
        (
            beside(answer="unsure", reliability=0.8),
            "It has a reliability, but its answer is neither yes nor no",
        ),
    ],
)
def test_a_value_that_stands_beside_no_answer(db, wrong, words):
    assert reason(db, wrong) == words


@pytest.mark.parametrize("event", [ADD, *OTHERS, note(1), *SETTING_EVENTS], ids=lambda event: event["kind"])
def test_only_an_answer_has_a_place(db, event):
    assert reason(db, ANSWER, event | {"start": 0, "position": 0}) == PLACE


@pytest.mark.parametrize("beside", [{"seconds": 1.0}, {"note": "why"}, {"note": ""}, {"reliability": 0.8}])
@pytest.mark.parametrize("event", [*OTHERS, *SETTING_EVENTS], ids=lambda event: event["kind"])
def test_only_answers_and_pairs_have_seconds_a_note_and_a_reliability(db, event, beside):
    (name,) = beside
    words = f"An event of its kind ({event['kind']}) has no value in the column {name!r}"
    assert reason(db, ANSWER, event | beside) == words


@pytest.mark.parametrize("beside", [{"seconds": 1.0}, {"reliability": 0.8}])
def test_a_later_note_has_neither_seconds_nor_a_reliability(db, beside):
    (name,) = beside
    words = f"An event of its kind (note) has no value in the column {name!r}"
    assert reason(db, ANSWER, note(1) | beside) == words


@pytest.mark.parametrize(
    ("text", "words"), [(None, "Its note is missing"), (b"why", NOTE), ("x" * 2001, NOTE)]
)
def test_a_later_note_has_a_text(db, text, words):
    assert reason(db, ANSWER, note(1, text)) == words


# ---------------------------------------------------------------- values of events
@pytest.mark.parametrize("event", [ANSWER, ADD, *OTHERS, note(1)], ids=lambda event: event["kind"])
@pytest.mark.parametrize("value", ["null", "0.5", "", b"null"])
def test_an_event_about_pairs_has_no_value(db, event, value):
    assert reason(db, ANSWER, event | {"value": value}) == f"It has a value, but its kind is {event['kind']}"


@pytest.mark.parametrize("event", SETTING_EVENTS, ids=lambda event: event["kind"])
@pytest.mark.parametrize(
    ("value", "lacking"),
    [
        (None, "text"),
        (b"0", "text"),
        ("", "JSON"),
        ("{", "JSON"),
        ("[1,]", "JSON"),
        ("9" * 10_000, "JSON"),
        ("[" * 100_000, "JSON"),
        ("[" * 500_001, "text of a length that a session stores"),
        (" " * (MOST_JSON + 1), "text of a length that a session stores"),
    ],
    ids=["none", "bytes", "empty", "open", "comma", "digits", "deep", "many", "long"],
)
def test_a_setting_has_a_value_in_json(db, event, value, lacking):
    assert reason(db, event | {"value": value}) == f"Its value is no {lacking}"


def audit(**changed):
    return AUDIT, PLAN | changed


def without(key):
    return AUDIT, {name: part for name, part in PLAN.items() if name != key}


NO_RATE = "Its error rate is not a number from 0 up to 0.5"
NO_RATES = "Its error rates of sources are not numbers from 0 up to 0.5"
NO_GUIDELINES = "Its guidelines are not a text of at most 10000 characters"
NO_COST = "Its cost is not a number of at least 0"
NO_EXAMPLES = "Its list of examples is incomplete"
NO_REASON = "The reason of an example is not a text of at most 2000 characters"
NO_AUDIT = "Its audit is incomplete"
NO_AUDITED_PAIR = "Its audit has an entry that is no pair"
NO_LEARNER = "Its learner has no name or no parameters"
INFINITE = float("inf")


@pytest.mark.parametrize(
    ("event", "value", "words"),
    [
        *(
            (GUIDELINES, value, NO_GUIDELINES)
            for value in (None, 7, ["a"], {}, True, "a" * (MOST_GUIDELINES + 1), "\ud800")
        ),
        *(
            (COST, value, NO_COST)
            for value in (None, -1, -0.5, "1", True, [], {}, INFINITE, float("nan"), 2**53)
        ),
        *(
            (RATE, value, NO_RATE)
            for value in (0.5, -0.1, 1, INFINITE, float("nan"), True, "much", [], [0.1])
        ),
        *(
            (RATE, value, NO_RATES)
            for value in ({}, {"anna": 0.5}, {"anna": "often"}, {"anna": {"bot": 0.1}}, {"anna": True})
        ),
        *(
            (LEARNER, value, NO_LEARNER)
            for value in (
                None,
                5,
                "KIN",
                ["KIN"],
                {},
                {"name": "KIN"},
                {"name": ["KIN"], "parameters": {}},
                {"name": "KIN", "parameters": [1]},
                {"name": "KIN", "parameters": {}, "more": 1},
            )
        ),
        (
            LEARNER,
            {"name": "COBRAS", "parameters": {"n_init": [1]}},
            "Its learner has a wrong parameter: n_init=[1] is not a kind of value that n_init takes",
        ),
        *(
            (EXAMPLES, value, NO_EXAMPLES)
            for value in (None, 3, "", "0123", {}, {"0123": 1}, [3], [[0]], [[0, 1]], [[0, 1, "yes", "", ""]])
        ),
        *((EXAMPLES, value, NO_EXAMPLES) for value in (["0123"], [{"0": 0, "1": 1, "2": 2}])),
        (EXAMPLES, [[0, 1, "unsure", ""]], "An example is neither yes nor no"),
        (EXAMPLES, [[0, 1, True, ""]], "An example is neither yes nor no"),
        (EXAMPLES, [[0, 1, ["yes"], ""]], "An example is neither yes nor no"),
        (EXAMPLES, [[0, 0, "yes", ""]], "Both rows of a pair are 0"),
        (EXAMPLES, [[0, 4, "yes", ""]], "'4' is not one of its rows, 0 to 3"),
        (EXAMPLES, [[-1, 1, "yes", ""]], "'-1' is not one of its rows, 0 to 3"),
        (EXAMPLES, [[0, 1.0, "yes", ""]], "'1.0' is not one of its rows, 0 to 3"),
        (EXAMPLES, [[[0], 1, "yes", ""]], "'[0]' is not one of its rows, 0 to 3"),
        *((EXAMPLES, [[0, 1, "yes", text]], NO_REASON) for text in (5, None, "x" * 2001, "\ud800")),
        (EXAMPLES, [[0, 1, "yes", ""], [1, 0, "no", ""]], "It has two examples about one pair"),
        (EXAMPLES, [[0, 1, "yes", ""]] * 31, "It has more than 30 examples"),
        *((AUDIT, value, NO_AUDIT) for value in (None, 3, "by", [], {}, [["anna", [[0, 2]], [True]]])),
        *((*without(key), NO_AUDIT) for key in PLAN),
        *(
            (*audit(pairs=pairs), NO_AUDIT)
            for pairs in (None, 3, "02", {}, [0, 2], [[0]], [[0, 1, 2]], [None], ["02", "13"])
        ),
        *((*audit(doubtful=doubtful), NO_AUDIT) for doubtful in (None, True, "", {}, "ab")),
        *(
            (*audit(pairs=[pair, [1, 3]]), NO_AUDITED_PAIR)
            for pair in ([2, 0], [0, 0], [0, 4], [-1, 0], [0, 1.0], [False, True], [0, "1"], [[0], [1]])
        ),
        (*audit(pairs=[[1, 3], [1, 3]]), NO_AUDITED_PAIR),
        *(
            (*audit(doubtful=doubtful), NO_AUDITED_PAIR)
            for doubtful in ([], [True], [True] * 3, [True, 1], [True, None])
        ),
        *((*audit(by=by), NO_AUDITED_PAIR) for by in (7, None, ["anna"], "\ud800")),
    ],
)
def test_a_setting_that_no_session_writes(db, event, value, words):
    assert reason(db, event | {"value": json.dumps(value)}) == words


def test_longest_values_are_read(db):
    happen(
        db,
        GUIDELINES | {"value": json.dumps("a" * MOST_GUIDELINES)},
        COST | {"value": "1e308"},
        AUDIT | {"value": '{"by": "", "pairs": [], "doubtful": []}'},
        EXAMPLES | {"value": "[]"},
        ANSWER | {"seconds": 10**9, "note": "x" * 2000},
    )
    assert len(list(read_events(db, N_ROWS, 0))) == 5
