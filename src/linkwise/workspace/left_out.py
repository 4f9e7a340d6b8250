"""Columns that a session leaves out because the answers do not depend on them, in the source of its data.

``source["left_out"]`` has an entry for each of them: the choices that named it, and its weight if it had one.
So they can be taken in again after the session was closed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

# choices that may not name a column that is left out
COLUMN_LISTS = ("columns", "as_categories", "log", "hide")


def drop_from_choices(choices: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The choices of a source without some columns."""
    used = {name: some for name in COLUMN_LISTS if (some := choices.get(name))}
    left: dict[str, Any] = {name: [one for one in some if one not in columns] for name, some in used.items()}
    weights = choices.get("weights")
    if isinstance(weights, dict):
        left["weights"] = {name: weight for name, weight in weights.items() if name not in columns}
    return {**choices, **left, "drop": [*(choices.get("drop") or ()), *columns]}


def leave_out_columns(source: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The source without some columns, which it remembers."""
    choices, weights = source["choices"], source["choices"].get("weights")
    entries = {}
    for name in columns:
        entry: dict[str, Any] = {"lists": [one for one in COLUMN_LISTS if name in (choices.get(one) or ())]}
        if isinstance(weights, dict) and name in weights:
            entry["weight"] = weights[name]
        entries[name] = entry
    left_out = {**source.get("left_out", {}), **entries}
    return {**source, "choices": drop_from_choices(choices, columns), "left_out": left_out}


def take_in_columns(source: dict[str, Any]) -> dict[str, Any]:
    """The source with all columns that it left out."""
    choices, left_out = dict(source["choices"]), source["left_out"]
    choices["drop"] = [name for name in choices.get("drop") or () if name not in left_out]
    for one in COLUMN_LISTS:
        names = [name for name, entry in left_out.items() if one in entry["lists"]]
        if names and (one != "columns" or choices.get(one) not in (None, ["all"])):
            choices[one] = [*(choices.get(one) or ()), *names]
    weights = {name: entry["weight"] for name, entry in left_out.items() if "weight" in entry}
    if weights and choices.get("weights") != "none":
        choices["weights"] = {**(choices.get("weights") or {}), **weights}
    return {name: value for name, value in source.items() if name != "left_out"} | {"choices": choices}


def remember_left_out(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The new source of a session, with those columns of the old one that are still left out."""
    dropped = now["choices"].get("drop") or ()
    left_out = {name: entry for name, entry in before.get("left_out", {}).items() if name in dropped}
    return {**now, "left_out": left_out} if left_out else now


def is_left_out(value: object, dropped: Collection[object]) -> bool:
    """Whether a value of a session file is what a source remembers, for the columns that are dropped."""
    return isinstance(value, dict) and all(
        name in dropped
        and isinstance(entry, dict)
        and {"lists"} <= entry.keys() <= {"lists", "weight"}
        and isinstance(entry["lists"], list)
        and all(one in COLUMN_LISTS for one in entry["lists"])
        and isinstance(entry.get("weight", 0.0), float)
        and 0 <= entry.get("weight", 0.0) < float("inf")
        for name, entry in value.items()
    )
