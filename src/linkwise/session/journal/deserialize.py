"""Read the tables of a session file, with every value checked.

A value that no session writes raises `Damage`. Memory is allocated only for data that the file holds.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from math import isfinite
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.error_rates import AssumedRate
from linkwise.constraints.facts import ANSWERS, Fact
from linkwise.constraints.fallible import check_error_rate
from linkwise.constraints.sorting import MOST_SORTED, read_sorting
from linkwise.errors import SessionError
from linkwise.learn.advice import StopAdvice
from linkwise.learn.learner import Reason
from linkwise.session.journal.events import (
    ANSWERS_QUESTION,
    BESIDE,
    LASTING,
    MOST_EXAMPLES,
    MOST_GUIDELINES,
    MOST_NOTE,
    SETTINGS,
    WITH_FACTS,
    Event,
    EventKind,
    Place,
    read_examples,
    read_plan,
)
from linkwise.session.journal.registry import check_kinds, drop_machine_parameters, is_described
from linkwise.session.journal.schema import Damage
from linkwise.session.journal.stored_clustering import GRADES, MOST_RATE, Doubts, ErrorRate, StoredClustering
from linkwise.text_files import is_unicode
from linkwise.types import Labels

KEYS = ("data", "learner", "seed", "source")  # of the table meta
MOST_JSON = 8 * 2**20  # characters of one JSON value; the fingerprint of many columns may be longer
MOST_PARTS = 500_000  # lists and objects in one
MOST_PARTS_OF_DATA = 16
MOST_SEED = 2**64 - 1
WIDTHS = ("float32", "float64")
KINDS = frozenset(get_args(EventKind))
REASONS = (None, *get_args(Reason))
REQUIRED_FIELDS = {  # whether an event of each kind has (first, second, answer, target)
    "answer": (True, True, True, False),
    "sort": (False, False, False, False),
    "add": (True, True, True, False),
    "import": (False, False, False, False),
    "move": (True, False, False, False),
    "done": (True, False, False, False),
    "name": (True, False, False, False),
    "change": (False, False, True, True),
    "sure": (False, False, True, True),
    "note": (False, False, False, True),
    "undo": (False, False, False, True),
    **dict.fromkeys(SETTINGS, (False, False, False, False)),
}
MOST_PLACE = 10**15
RECODED_KEY = "recoded"  # how often the data were replaced by another encoding of their rows
CHANGEABLE = ("answer", "add")
TIMESTAMP = re.compile(r"[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00", re.ASCII)


# ---------------------------------------------------------------- settings
def read_meta(db: sqlite3.Connection) -> dict[str, Any]:
    """All settings of the session."""
    meta = {key: _read_setting(db, key) for key in KEYS}
    _check_data(meta["data"])
    meta["learner"] = _check_learner(meta["learner"])
    seed: Any = meta["seed"]
    if type(seed) is not int or not 0 <= seed <= MOST_SEED:
        raise Damage("Its seed is not an integer of at least 0")
    if not isinstance(meta["source"], dict):
        raise Damage("The source of its data is not an object")
    if _has_setting(db, "error_rate"):
        meta["error_rate"] = _check_rate(_read_setting(db, "error_rate"))
    if _has_setting(db, "numbers"):
        meta["numbers"] = _read_numbers(db, meta["data"]["shape"][0])
    if _has_setting(db, "known"):
        meta["known"] = _read_count(db, "known", "events about earlier data")
    if _has_setting(db, "moves"):
        meta["moves"] = _read_count(db, "moves", "times that rows moved")
    return meta


def read_n_recoded(db: sqlite3.Connection) -> int:
    """How often the data were replaced by another encoding of their rows."""
    return _read_count(db, RECODED_KEY, "encodings of its data") if _has_setting(db, RECODED_KEY) else 0


def _read_count(db: sqlite3.Connection, key: str, what: str) -> int:
    """A setting that counts something."""
    number: Any = _read_setting(db, key)
    if type(number) is not int or not 0 <= number < 2**53:
        raise Damage(f"The number of {what} is not an integer of at least 0")
    return number


def _has_setting(db: sqlite3.Connection, key: str) -> bool:
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (key,)).fetchone() is not None


def _check_learner(learner: Any) -> dict[str, Any]:
    """The name and the parameters of a learner, without those that are about a machine."""
    if not is_described(learner):
        raise Damage("Its learner has no name or no parameters")
    found = {**learner, "parameters": drop_machine_parameters(learner["parameters"])}
    try:
        check_kinds(found)
    except ValueError as error:
        raise Damage(f"Its learner has a wrong parameter: {error}") from None
    return found


def _check_rate(rate: Any) -> AssumedRate:
    """The share of wrong answers that the session assumes; None to estimate it."""
    try:
        return check_error_rate(rate)
    except ValueError:
        what = "rates of sources are not numbers" if isinstance(rate, dict) else "rate is not a number"
        raise Damage(f"Its error {what} from 0 up to 0.5") from None


def _read_numbers(db: sqlite3.Connection, n_rows: int) -> tuple[int, ...]:
    """The number that people see for each number of a cluster."""
    numbers: Any = _read_setting(db, "numbers")
    if not isinstance(numbers, list) or len(numbers) > n_rows or not all(type(n) is int for n in numbers):
        raise Damage("The numbers of its clusters are not a list of integers")
    if sorted(numbers) != list(range(len(numbers))):
        raise Damage("A number of a cluster is given twice")
    return tuple(numbers)


def _read_setting(db: sqlite3.Connection, key: str) -> Any:
    """One value of the table meta, from JSON."""
    found = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    text = None if found is None else found[0]
    if isinstance(text, str) and key == "data" and text.count("[") + text.count("{") > MOST_PARTS_OF_DATA:
        raise Damage("Table meta holds more for 'data' than a session stores")
    return _parse_json(text, f"Table meta has no {{}} for {key!r}", is_long=key == "data")


def _parse_json(text: Any, message: str, *, is_long: bool = False) -> Any:
    """The value of a JSON text; the message has a place for what it lacks."""
    if not isinstance(text, str):
        raise Damage(message.format("text"))
    if (len(text) > MOST_JSON and not is_long) or text.count("[") + text.count("{") > MOST_PARTS:
        raise Damage(message.format("text of a length that a session stores"))
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Damage(message.format("JSON")) from None


def _check_data(data: Any) -> None:
    """Check the form of a fingerprint, see `linkwise.session.journal.description.fingerprint`."""
    try:
        n_rows, n_columns = data["shape"]
        sketch, scale, width = data["sketch"], data["scale"], data.get("width", "float64")
        whole = type(n_rows) is int and type(n_columns) is int and n_rows >= 1 and n_columns >= 1
        sums = [*sketch, scale] if isinstance(sketch, list) else []
        right = [isinstance(s, list) and len(s) == n_columns and all(map(_is_number, s)) for s in sums]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Damage("The fingerprint of its data is incomplete") from None
    if not (whole and right == [True] * 3 and width in WIDTHS):
        raise Damage("The fingerprint of its data is not a shape with sums of the columns")


def _is_number(value: Any) -> bool:
    return isfinite(value) if type(value) is float else type(value) is int and abs(value) < 2**53


def _read_description(text: Any) -> tuple[str, ...]:
    """The sentences of the learner that were stored with the labels."""
    sentences = _parse_json(text, "The description of its learner is no {}")
    if not (isinstance(sentences, list) and all(isinstance(sentence, str) for sentence in sentences)):
        raise Damage("The description of its learner is not a list of sentences")
    return tuple(sentences)


def _read_advice(text: Any) -> StopAdvice | None:
    """The advice of the learner that was stored with the labels; None if it gave none."""
    advice = _parse_json(text, "The advice of its learner is no {}")
    if advice is None:
        return None
    try:
        stop, wrong, most, n_open = (advice[each] for each in ("stop", "wrong", "most_wrong", "n_open"))
    except (KeyError, TypeError):
        raise Damage("The advice of its learner is incomplete") from None
    are_numbers = all(share is None or _is_number(share) for share in (wrong, most))
    if type(stop) is bool and are_numbers and type(n_open) is int and _is_number(n_open):
        with suppress(ValueError):
            return StopAdvice(stop, wrong, most, n_open)
    raise Damage("The advice of its learner is not a choice with shares from 0 to 1 and a count")


def _read_doubts(text: Any, n_rows: int) -> Doubts | None:
    """What was stored with the labels about answers that are probably wrong; None if nothing was."""
    doubts = _parse_json(text, "The list of answers that are probably wrong is no {}")
    if doubts is None:
        return None
    try:
        rate = doubts["error_rate"]
        suspects = tuple((number, grade, *pair) for number, grade, *pair in doubts["suspects"])
        found = None if rate is None else ErrorRate(*rate)
        parts = tuple(tuple(part) for part in doubts.get("parts", ()))  # release 0.1.0 did not store them
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Damage("The list of answers that are probably wrong is incomplete") from None
    if not all(_is_number(share) and 0 <= share <= MOST_RATE for share in found or ()):
        raise Damage("Its error rate is not a number from 0 up to 0.5")
    if not all(_is_suspect(*suspect) for suspect in suspects):
        raise Damage("The list of answers that are probably wrong has an entry that is not an answer")
    rows = [row for part in parts for row in part]
    if not all(type(row) is int and 0 <= row < n_rows for row in rows) or len(set(rows)) < len(rows):
        raise Damage(f"What is believed of its answers is not about rows 0 to {n_rows - 1}, each in one part")
    return Doubts(found, suspects, parts)


def _is_suspect(number: Any, grade: Any, *pair: Any) -> bool:
    """Whether this is an answer that is probably wrong, or a pair of rows that were sorted."""
    is_pair = len(pair) == 2 and all(type(row) is int and row >= 0 for row in pair)
    return type(number) is int and number > 0 and grade in GRADES and (not pair or is_pair)


# ---------------------------------------------------------------- rows
def check_size(db: sqlite3.Connection, n_rows: int) -> None:
    """Check that the file is large enough for its rows; a session holds four bytes for each."""
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    if n_rows > pages * db.execute("PRAGMA page_size").fetchone()[0]:
        raise Damage(f"It is too small for {n_rows} rows")


def read_ids(db: sqlite3.Connection, n_rows: int) -> list[str] | None:
    """The id of every row, or None if the session has no ids."""
    count, low, high = db.execute("SELECT count(*), min(row), max(row) FROM row_id").fetchone()
    if count == 0:
        return None
    if (count, low, high) != (n_rows, 0, n_rows - 1):
        raise Damage(f"Its {count} ids are not those of rows 0 to {n_rows - 1}")
    ids = [i for (i,) in db.execute("SELECT id FROM row_id ORDER BY row")]
    if not all(isinstance(i, str) for i in ids) or len(set(ids)) != n_rows:
        raise Damage("Its ids are not a different text for each row")
    return ids


def read_clustering(db: sqlite3.Connection, n_rows: int, last: int) -> StoredClustering | None:
    """The labels that were stored last."""
    found = db.execute("SELECT event, reason, typeof(labels), length(labels) FROM snapshot").fetchall()
    if not found:
        return None
    event, reason, kind, length = found[0]
    if len(found) > 1 or type(event) is not int or event < 0 or reason not in REASONS:
        raise Damage("The event of its labels is missing")
    if kind != "blob" or length != 4 * n_rows:
        raise Damage(f"Its labels are not {n_rows} numbers")
    blob, *words, certain = db.execute(
        "SELECT labels, description, doubts, advice, confidence FROM snapshot"
    ).fetchone()
    labels = np.frombuffer(blob, "<i4").astype(np.int32)
    if not are_labels(labels):
        raise Damage(f"Its labels are not cluster numbers, -1 to {n_rows - 1}")
    event = event if event <= last else -1
    description, doubts, advice = words
    return StoredClustering(
        event,
        reason,
        labels,
        _read_description(description),
        _read_doubts(doubts, n_rows),
        _read_advice(advice),
        _read_confidence(certain, n_rows),
    )


def _read_confidence(blob: Any, n_rows: int) -> NDArray[np.float64] | None:
    """How certain the cluster of each row is; None if that was not stored."""
    if blob is None:
        return None
    if not isinstance(blob, bytes) or len(blob) != 8 * n_rows:
        raise Damage(f"Its confidences are not {n_rows} numbers")
    found = np.frombuffer(blob, "<f8")
    if not ((found >= 0) & (found <= 1)).all():
        raise Damage("Its confidences are not numbers from 0 to 1")
    return found


def are_labels(labels: Labels) -> bool:
    """Whether labels are cluster numbers below the number of rows, or -1 for noise."""
    return bool(labels.min() >= -1 and labels.max() < len(labels))


# ---------------------------------------------------------------- events
def read_events(db: sqlite3.Connection, n_rows: int, after: int) -> Iterator[Event]:
    """Read the events after a number, in order."""
    kinds = dict(db.execute("SELECT number, kind FROM event WHERE number <= ?", (after,)))
    pairs = _read_facts(db, n_rows, after)
    rows = db.execute("SELECT * FROM event WHERE number >= ? ORDER BY number", (_lowest_number(after),))
    for expected, row in enumerate(rows, after + 1):
        number, kind, when, first, second, answer, target, source, start, position, *beside, value = row
        if number != expected:
            raise Damage(f"Event {expected} of the session is missing")
        facts = tuple(pairs.pop(number, ()))
        try:
            event = Event(number, kind, when, first, second, answer, target, facts, source)
            _check_event(event, n_rows)
            if (start, position) != (None, None):
                event = replace(event, place=_read_place(start, position, event))
            event = _read_beside(event, beside)
            if value is not None or kind in SETTINGS or is_about_piles(event):
                event = replace(event, value=_read_value(value, event, n_rows))
            if event.target is not None:
                _check_target(event, kinds)
        except Damage as damage:
            raise Damage(f"Event {number} of the session is wrong. {damage}") from None
        kinds[number] = event.kind
        yield event
    if pairs:
        raise Damage(f"Event {min(pairs)} has pairs, but it is not an import")


def _lowest_number(after: int) -> int:
    """The number of the next event; at the start the least of all numbers, so that no event is hidden."""
    return after + 1 if after > 0 else -(2**63)


def _read_facts(db: sqlite3.Connection, n_rows: int, after: int) -> dict[int, list[Fact]]:
    """Read the pairs of each import, without the index, which could leave some out."""
    pairs: dict[int, list[Fact]] = {}
    found = db.execute(
        "SELECT event, first, second, answer FROM imported NOT INDEXED WHERE event >= ? ORDER BY rowid",
        (_lowest_number(after),),
    )
    for event, first, second, answer in found:
        if type(event) is not int:
            raise Damage("Imported pairs have no event")
        try:
            _check_pair(first, second, n_rows)
        except Damage as damage:
            raise Damage(f"Event {event} of the session is wrong. {damage}") from None
        if answer not in ANSWERS:
            raise Damage(f"Event {event} of the session is wrong. {str(answer)[:20]!r} is not an answer")
        pairs.setdefault(event, []).append(Fact(first, second, answer))
    return pairs


def _check_event(event: Event, n_rows: int) -> None:
    """Check that an event has the values of its kind; its facts are checked elsewhere."""
    kind, first, second, answer = event.kind, event.first, event.second, event.answer
    if kind not in KINDS:
        raise Damage(f"{str(kind)[:20]!r} is not a kind of event")
    changes_piles = kind == "change" and len(event.facts) > 0  # which have no single answer
    required = (False, False, False, True) if changes_piles else REQUIRED_FIELDS[kind]
    if tuple(value is not None for value in (first, second, answer, event.target)) != required:
        raise Damage(f"It has more or fewer fields than an event of its kind ({kind})")
    is_certain = kind == "add" and [(*fact.pair, fact.answer) for fact in event.facts] == [
        (first, second, answer)
    ]
    if event.facts and kind not in (*WITH_FACTS, "sort") and not (is_certain or changes_piles):
        raise Damage(f"It has pairs, but its kind is {kind}")
    if second is not None:
        _check_pair(first, second, n_rows)
    elif first is not None:
        _check_row(first, n_rows)
    if answer is not None and answer not in ANSWERS:
        raise Damage(f"{str(answer)[:20]!r} is not an answer")
    if kind == "sure" and answer == "unsure":
        raise Damage("It confirms an answer that is neither yes nor no")
    if not isinstance(event.when, str) or not _is_timestamp(event.when):
        raise Damage("Its time is missing or wrong")
    if not isinstance(event.source, str):
        raise Damage("Its source is not text")


def _read_place(start: Any, position: Any, event: Event) -> Place:
    """The place of the question that an answer answers."""
    are_counts = all(type(each) is int and 0 <= each < MOST_PLACE for each in (start, position))
    if not are_counts or event.kind not in ANSWERS_QUESTION:
        raise Damage("The place of its question is wrong")
    if start >= event.number:
        raise Damage("Its question was chosen after its answer")
    return Place(start, position)


def _read_beside(event: Event, values: Sequence[Any]) -> Event:
    """Give an event what is stored beside its answer, such as the seconds that it took."""
    found = {name: value for name, value in zip(BESIDE, values, strict=True) if value is not None}
    if event.kind == "note" and not found:
        raise Damage("Its note is missing")
    for name, value in found.items():
        is_of_sorted = event.kind == "sort" and name != "reliability"
        if event.kind not in CHANGEABLE and (event.kind, name) != ("note", "note") and not is_of_sorted:
            raise Damage(f"An event of its kind ({event.kind}) has no value in the column {name!r}")
        try:
            is_right = BESIDE[name](value) == value
        except (TypeError, ValueError, SessionError):
            is_right = False
        if not is_right:
            raise Damage(f"Its value in the column {name!r} is wrong")
    if "reliability" in found and event.answer == "unsure":
        raise Damage("It has a reliability, but its answer is neither yes nor no")
    return replace(event, **found) if found else event


def _is_text(text: Any, most: int) -> bool:
    return isinstance(text, str) and len(text) <= most and is_unicode(text)


# ---------------------------------------------------------------- values of events
def _read_value(text: Any, event: Event, n_rows: int) -> Any:
    """What an event that is not about pairs holds."""
    if event.kind not in SETTINGS and not is_about_piles(event):
        raise Damage(f"It has a value, but its kind is {event.kind}")
    value = _parse_json(text, "Its value is no {}")
    if is_about_piles(event):
        return _check_cards(value, event)
    if event.kind == "learner":
        return _check_learner(value)
    if event.kind == "rate":
        return _check_rate(value)
    if event.kind == "guidelines" and not _is_text(value, MOST_GUIDELINES):
        raise Damage(f"Its guidelines are not a text of at most {MOST_GUIDELINES} characters")
    if event.kind == "cost" and not (_is_number(value) and value >= 0):
        raise Damage("Its cost is not a number of at least 0")
    if event.kind == "examples":
        _check_examples(replace(event, value=value), n_rows)
    if event.kind == "audit":
        _check_audit(replace(event, value=value), n_rows)
    return value


def is_about_piles(event: Event) -> bool:
    """Whether an event says into which piles rows were sorted, or are sorted from then on."""
    return event.kind == "sort" or (event.kind == "change" and len(event.facts) > 0)


def _check_cards(value: Any, event: Event) -> list[int]:
    """Check the rows of piles whose place was decided, and that the pairs are those of piles."""
    rows = {row for fact in event.facts for row in fact.pair}
    if not isinstance(value, list) or not all(type(row) is int and row in rows for row in value):
        raise Damage("Its cards are not a list of its rows")
    if len(set(value)) < len(value) or not 2 <= len(rows) <= MOST_SORTED:
        raise Damage("Its cards or its rows are too many, or there twice")
    if read_sorting(event.facts, value).facts() != list(event.facts):
        raise Damage("Its pairs are not those of piles")
    return value


def _check_examples(event: Event, n_rows: int) -> None:
    """Check the pairs that show what belongs together."""
    try:
        _check_lists(event.value)
        examples = read_examples(event)
    except TypeError:
        raise Damage("Its list of examples is incomplete") from None
    for example in examples:
        _check_pair(example.first, example.second, n_rows)
        if example.answer not in ("yes", "no"):
            raise Damage("An example is neither yes nor no")
        if not _is_text(example.reason, MOST_NOTE):
            raise Damage(f"The reason of an example is not a text of at most {MOST_NOTE} characters")
    if len(examples) > MOST_EXAMPLES:
        raise Damage(f"It has more than {MOST_EXAMPLES} examples")
    if len({frozenset(each[:2]) for each in examples}) < len(examples):
        raise Damage("It has two examples about one pair")


def _check_lists(value: Any) -> None:
    """Check that a value is a list of lists, not of texts or objects, which could be read like them."""
    if not isinstance(value, list) or not all(isinstance(each, list) for each in value):
        raise TypeError


def _check_audit(event: Event, n_rows: int) -> None:
    """Check the pairs that somebody is asked to find out how often a source is wrong."""
    try:
        _check_lists(event.value["pairs"])
        _check_lists([event.value["doubtful"]])
        plan = read_plan(event)
    except (KeyError, TypeError, ValueError):
        raise Damage("Its audit is incomplete") from None
    if not (
        _is_text(plan.by, MOST_JSON)
        and all(type(i) is int and type(j) is int and 0 <= i < j < n_rows for i, j in plan.pairs)
        and len(set(plan.pairs)) == len(plan.pairs) == len(plan.is_doubtful)
        and all(type(is_doubtful) is bool for is_doubtful in plan.is_doubtful)
    ):
        raise Damage("Its audit has an entry that is no pair")


def _check_target(event: Event, kinds: dict[int, EventKind]) -> None:
    """Check that the target of an event is an earlier one that it can be about."""
    target = event.target
    if type(target) is not int or (kind := kinds.get(target)) is None:
        raise Damage("Its target is not an earlier event")
    if event.kind == "undo":
        is_possible = kind not in ("undo", *LASTING)
    elif is_about_piles(event):
        is_possible = kind == "sort"
    else:
        is_possible = kind in CHANGEABLE or (event.kind, kind) == ("note", "sort")
    if not is_possible:
        raise Damage(f"Event {target} has a kind ({kind}) that has no {event.kind}")


def _check_row(row: Any, n_rows: int) -> None:
    if type(row) is not int or not 0 <= row < n_rows:
        raise Damage(f"{str(row)[:20]!r} is not one of its rows, 0 to {n_rows - 1}")


def _check_pair(first: Any, second: Any, n_rows: int) -> None:
    _check_row(first, n_rows)
    _check_row(second, n_rows)
    if first == second:
        raise Damage(f"Both rows of a pair are {first}")


def _is_timestamp(text: str) -> bool:
    """Whether a text is a time in UTC, as `datetime.isoformat` writes it."""
    try:
        return TIMESTAMP.fullmatch(text) is not None and datetime.fromisoformat(text).year >= 1970
    except ValueError:
        return False
