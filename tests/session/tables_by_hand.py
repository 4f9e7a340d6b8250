"""The tables of a session in memory, into which tests write what no session writes."""

import json
import re
import sqlite3
from contextlib import closing, contextmanager

import pytest

from linkwise.session.journal.deserialize import read_events
from linkwise.session.journal.schema import Damage, create_tables

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
N_ROWS = 4
ANSWER = {"kind": "answer", "first": 0, "second": 1, "answer": "yes"}
ADD = {"kind": "add", "first": 3, "second": 0, "answer": "no"}
IMPORT = {"kind": "import", "source": "pairs.csv"}
DONE = {"kind": "done", "first": 3}
NAME = {"kind": "name", "first": 0, "source": "ripe"}
GUIDELINES = {"kind": "guidelines", "value": '"Same flavour."'}
EXAMPLES = {"kind": "examples", "value": '[[0, 1, "yes", "round"], [3, 2, "no", ""]]'}
PLAN = {"by": "anna", "pairs": [[0, 2], [1, 3]], "doubtful": [True, False]}
AUDIT = {"kind": "audit", "source": "judge", "value": json.dumps(PLAN)}
COST = {"kind": "cost", "source": "judge", "value": "0.25"}
LEARNER = {"kind": "learner", "value": '{"name": "KIN", "parameters": {"random_state": 0}}'}
RATE = {"kind": "rate", "value": '{"anna": 0.1, "": null}'}
SETTING_EVENTS = (GUIDELINES, EXAMPLES, AUDIT, COST, LEARNER, RATE)


@contextmanager
def tables():
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


# ---------------------------------------------------------------- events
def note(target, text="why"):
    return {"kind": "note", "target": target, "note": text, "source": "ben"}


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


def reason(db, *events):
    """Why the last of the events cannot hold."""
    happen(db, *events)
    found = re.fullmatch(r"Event (\d+) of the session is wrong. (.*)", damage(read_events, db, N_ROWS, 0))
    assert int(found[1]) == len(events)
    return found[2]


OTHERS = [IMPORT, DONE, NAME, change(1), {"kind": "sure", "answer": "no", "target": 1}, undo(1)]
