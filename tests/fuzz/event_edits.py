"""Edits of the events of a session file: what stands beside an answer, and the values of settings."""

from __future__ import annotations

import json

LAST = 17  # number of the last event of the good session
NOW = "'2026-01-01T00:00:00.000+00:00'"


def quote(text: str) -> str:
    """Write a text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def event(number: int, fields: str) -> tuple[str, ...]:
    """One more event without the columns that may be empty; `fields` are the others, from its kind on."""
    return (
        "INSERT INTO event (number, kind, happened, first, second, answer, target, source) "
        f"VALUES ({number}, {fields})",
    )


def setting(kind: str, value: object, number: int = LAST + 1) -> tuple[str, ...]:
    """One more event that is not about pairs, with JSON, or text as it is."""
    text = value if isinstance(value, str) else json.dumps(value)
    return (
        "INSERT INTO event (number, kind, happened, source, value) "
        f"VALUES ({number}, '{kind}', {NOW}, 'judge', {quote(text)})",
    )


def beside(column: str, value: str, where: str = "number = 3") -> tuple[str, ...]:
    """Put a value of SQL into a column of some events; the third one is an answer."""
    return (f"UPDATE event SET {column} = {value} WHERE {where}",)


# ---------------------------------------------------------------- beside an answer
BESIDE_ANSWER = {
    "start": ("0", "-1", "'x'"),  # a place without a position
    "position": ("0", "x'00'", "9e999"),
    "start = 0, position": ("-1", "0.5", "'x'", "x'00'", "9e999", "9223372036854775807"),
    "position = 0, start": ("-1", "0.5", "'x'", "x'00'", "9e999", "3", "9223372036854775807"),
    "seconds": ("-1", "'x'", "x'00'", "9e999", "-9e999", "1e10"),
    "note": ("x'00'", "CAST(x'ff' AS TEXT)", "printf('%02001d', 0)", "printf('%09000000d', 0)"),
    "reliability": ("0.4", "1.5", "-1", "'x'", "x'00'", "9e999"),
}
WRONG_COLUMNS = {
    **{
        f"{column} = {value}": beside(column, value)
        for column, values in BESIDE_ANSWER.items()
        for value in values
    },
    "a reliability of a doubt": beside("reliability", "0.8", "number = 13"),
    "a place of a name": beside("start = 0, position", "0", "kind = 'name'"),
    "a note on a name": beside("note", "'why'", "kind = 'name'"),
    "seconds of an import": beside("seconds", "1", "kind = 'import'"),
    "seconds of a cost": beside("seconds", "1", "kind = 'cost'"),
    "seconds of a note": beside("seconds", "1", "kind = 'note'"),
    "a reliability of a note": beside("reliability", "0.8", "kind = 'note'"),
    "a note without a text": beside("note", "NULL", "kind = 'note'"),
    "a note on an import": beside("target", "7", "kind = 'note'"),
    "an undo of a cost": event(LAST + 1, f"'undo', {NOW}, NULL, NULL, NULL, {LAST}, ''"),
    "a note on the future": beside("target", str(LAST), "kind = 'note'"),
}

# ---------------------------------------------------------------- values of settings
WRONG = {
    "guidelines": ("null", "5", "[]", '"\\ud800"', json.dumps("x" * 10_001), f'"{"x" * 9_000_000}"'),
    "examples": (
        "null",
        "5",
        '"x"',
        "{}",
        "[3]",
        "[[0, 1]]",
        '["0123"]',
        '[[0, 1, "unsure", ""]]',
        '[[0, 14, "yes", ""]]',
        '[[0, 0, "yes", ""]]',
        '[[0, 1, "yes", 5]]',
        json.dumps([[0, 1, "yes", "x" * 2001]]),
        json.dumps([[0, 1, "yes", ""]] * 31),
        "[" + "[]," * 600_000 + "[]]",
    ),
    "audit": (
        "null",
        "5",
        "[]",
        "{}",
        '{"by": "", "pairs": [[0, 1]]}',
        '{"by": "", "pairs": [[1, 0]], "doubtful": [true]}',
        '{"by": "", "pairs": [[0, 14]], "doubtful": [true]}',
        '{"by": "", "pairs": [[0, [1]]], "doubtful": [true]}',
        '{"by": "", "pairs": [[0, 1]], "doubtful": [1]}',
        '{"by": "", "pairs": [[0, 1]], "doubtful": []}',
        '{"by": "", "pairs": {}, "doubtful": ""}',
        '{"by": 5, "pairs": [[0, 1]], "doubtful": [true]}',
    ),
    "cost": ("null", "-1", "1e999", "NaN", "true", "[]", '{"a": 1}', '"1"', "9" * 100_000),
    "learner": (
        "null",
        "5",
        "[]",
        '"x"',
        "NaN",
        "{}",
        '{"name": "COBRAS"}',
        '{"name": ["COBRAS"], "parameters": {}}',
        '{"name": "COBRAS", "parameters": [1]}',
        '{"name": "COBRAS", "parameters": {"n_init": {"a": 1}}}',
    ),
    "rate": ("0.5", "-0.1", "1e999", "NaN", "true", "[]", "{}", '"x"', '{"a": 0.5}', '{"a": {"b": 0.1}}'),
}
NO_JSON = {
    "none": "NULL",
    "empty": "''",
    "open": "'{'",
    "deep": quote("[" * 200_000),
    "bytes": "x'00'",
    "no UTF-8": "CAST(x'ff' AS TEXT)",
}
WRONG_VALUES = {
    **{
        f"a value of {kind}": beside("value", "'null'", f"kind = '{kind}'")
        for kind in ("answer", "add", "import", "done", "name", "change", "note", "undo")
    },
    **{
        f"{kind} number {at}: {value[:60]}": setting(kind, value)
        for kind, values in WRONG.items()
        for at, value in enumerate(values)
    },
    **{
        f"{kind} without JSON: {name}": (
            *setting(kind, "null"),
            *beside("value", value, f"number = {LAST + 1}"),
        )
        for kind in WRONG
        for name, value in NO_JSON.items()
    },
}
