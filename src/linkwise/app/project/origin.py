"""Where the data of a session come from: the source in the session file, checked before it is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from linkwise.data.columns.proposals import PROPOSED, WHYS
from linkwise.data.encoding.meaning import ENCODER_HASH
from linkwise.data.reading import recall_reading
from linkwise.errors import SessionDamagedError
from linkwise.session.session import Session

LONGEST_PATH = 4096
LONGEST_ENCODING = 40
SCALES = (None, "unit", "standard", "none")
IMPUTES = (None, "median")
SHA256 = re.compile("[0-9a-f]{64}")
HASH = re.compile("[0-9a-f]{32}")


def _is_name(value: object) -> bool:
    return isinstance(value, str)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_name, value))


def _is_path(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_PATH and "\0" not in value


def _are_weights(value: object) -> bool:
    if value == "none":
        return True
    return isinstance(value, dict) and all(
        isinstance(weight, float) and isfinite(weight) and weight >= 0 for weight in value.values()
    )


def _are_proposals(value: object) -> bool:
    return isinstance(value, dict) and value.keys() <= set(WHYS) and all(map(_are_names, value.values()))


def _are_earlier(value: object, choices: dict[str, Any]) -> bool:
    return isinstance(choices.get("weights"), dict) and (value is None or _are_weights(value))


def _is_before(value: object) -> bool:
    if not isinstance(value, dict) or value.keys() != {"task", "reading", "learner"}:
        return False
    reading, learner = value["reading"], value["learner"]
    are_parts = isinstance(reading, dict) and "choices" in reading and reading.keys() <= set(OF_READING)
    return (
        are_parts
        and _wrong_part(reading) is None
        and _is_name(value["task"])
        and isinstance(learner, dict)
        and _is_name(learner.get("name"))
        and isinstance(learner.get("parameters"), dict)
    )


def _is_side_file(value: object) -> bool:
    if not isinstance(value, dict) or value.keys() != {"file", "sha256"}:
        return False
    return _is_path(value["file"]) and _is_checksum(value["sha256"])


def _is_checksum(value: object) -> bool:
    return isinstance(value, str) and SHA256.fullmatch(value) is not None


def _are_groups(value: object) -> bool:
    if not isinstance(value, dict) or value.keys() - {"n_border"} != {"n", "n_rows", "hash"}:
        return False
    are_counts = all(type(value[name]) is int and value[name] > 0 for name in ("n", "n_rows"))
    are_counts &= type(n_border := value.get("n_border", 0)) is int and n_border >= 0
    return are_counts and isinstance(value["hash"], str) and HASH.fullmatch(value["hash"]) is not None


OF_FILES: dict[str, Callable[[Any], bool]] = {  # the arguments of `read_table`
    "id_column": lambda value: value is None or _is_name(value),
    "columns": lambda value: value is None or _are_names(value),
    "drop": _are_names,
    "delimiter": lambda value: value is None or (_is_name(value) and len(value) == 1 and value.isascii()),
    "text": lambda value: _is_name(value) or (_are_names(value) and len(value) > 0),
    "image": _are_names,
    "series": lambda value: isinstance(value, bool),
    "warp": lambda value: isinstance(value, bool),
    "series_by": lambda value: _are_names(value) and len(value) == 3,
    "show": _are_names,
    "hide": _are_names,
    "merge_variants": lambda value: isinstance(value, bool),
    "as_categories": _are_names,
    "log": _are_names,
    "cycles": _are_names,
    "keep_nested": lambda value: isinstance(value, bool),
    "encoding": lambda value: _is_name(value) and len(value) <= LONGEST_ENCODING,
    "sheet": _is_name,
    "no_header": lambda value: isinstance(value, bool),
    "skip_lines": lambda value: type(value) is int and value >= 0,
    "transpose": lambda value: isinstance(value, bool),
    "where": _is_name,
    "missing": _are_names,
    "weights": _are_weights,
    "text_by": lambda value: isinstance(value, str) and value in ("letters", "meaning", "words,meaning"),
    "metric": lambda value: value in ("euclidean", "cosine"),
}
OF_FOLDERS: dict[str, Callable[[Any], bool]] = {  # the arguments of `read_folder`
    "kind": lambda value: value in ("image", "text"),
    "skip_broken": lambda value: isinstance(value, bool),
}


def origin_of(session: Session, path: Path) -> dict[str, Any]:
    """Read and check the source of a session; it has no value that linkwise never writes."""
    source = session.source
    wrong = _wrong_part(source)
    if wrong is not None:
        raise SessionDamagedError(
            f"{path} is damaged: {wrong!r} in the source of its data is nothing that linkwise writes. "
            "Restore a copy of the file."
        )
    return source


def _wrong_part(source: dict[str, Any]) -> str | None:
    """The first part that linkwise never writes; None if there is none."""
    parts = (("file", _is_path), ("sha256", _is_checksum), ("demo", _is_name), (ENCODER_HASH, _is_checksum))
    for name, right in parts:
        if name in source and not right(source[name]):
            return name
    if "choices" not in source:
        return None
    choices = source["choices"]
    if not isinstance(choices, dict):
        return "choices"
    earlier = {
        "show": _is_side_file,
        "groups": _are_groups,
        PROPOSED: _are_proposals,
        EARLIER: lambda value: _are_earlier(value, choices),
        BEFORE: _is_before,
    }
    for name, right in earlier.items():
        if name in source and not right(source[name]):
            return name
    known = OF_FOLDERS if choices.keys() & OF_FOLDERS.keys() else OF_FILES
    for name, value in choices.items():
        if name not in known or not known[name](value):
            return str(name)[:60]
    for name, allowed in (("scale", SCALES), ("impute", IMPUTES)):
        if name not in source or not any(source[name] is value or source[name] == value for value in allowed):
            return name
    return _find_misfit(source)


def _find_misfit(source: dict[str, Any]) -> str | None:
    """The first choice that does not fit the kind of rows; None if all fit."""
    reading = recall_reading(source)
    if reading.kind is not None:
        return next((name for name in ("impute", "scale") if source[name] is not None), None)
    if reading.series_by is not None and not reading.series:
        return "series_by"
    misfit = reading.find_misfit()
    return None if misfit is None else misfit.name


# ---------------------------------------------------------------- weights from an offer
# Under EARLIER the source holds the weights from before the first offer that a person took over, None
# if there were none. So they come back after the session was closed, too.
EARLIER = "earlier_weights"


# Under BEFORE it holds the task that a person has chosen, how the rows were read before, and the learner.
BEFORE = "before_task"
OF_READING = ("choices", "scale", "impute", PROPOSED, EARLIER)


def multiply_weights(source: dict[str, Any], factors: Mapping[str, float]) -> dict[str, Any]:
    """The source with other weights, which remembers those from before."""
    choices = source["choices"]
    given = choices.get("weights")
    weights = dict(given) if isinstance(given, dict) else {}
    for name, factor in factors.items():
        weights[name] = float(f"{weights.get(name, 1.0) * factor:.3g}")  # as a person can type it
    earlier = source.get(EARLIER, given)
    return {**source, "choices": {**choices, "weights": weights}, EARLIER: earlier}


def restore_weights(source: dict[str, Any]) -> dict[str, Any]:
    """The source with the weights from before the first offer; the same source if none was taken."""
    if EARLIER not in source:
        return source
    choices = {name: value for name, value in source["choices"].items() if name != "weights"}
    if source[EARLIER] is not None:
        choices["weights"] = source[EARLIER]
    return {name: value for name, value in source.items() if name != EARLIER} | {"choices": choices}


def remember_reading(source: dict[str, Any], task: str, learner: dict[str, Any]) -> dict[str, Any]:
    """What the source of a session remembers when a person chooses a task."""
    reading = {name: source[name] for name in OF_READING if name in source}
    return {BEFORE: {"task": task, "reading": reading, "learner": learner}}


def restore_reading(source: dict[str, Any]) -> dict[str, Any]:
    """The source as it was before the task."""
    kept = {name: value for name, value in source.items() if name not in (*OF_READING, BEFORE)}
    return {**kept, **source[BEFORE]["reading"]}


def list_weighed(source: dict[str, Any]) -> tuple[str, ...]:
    """The names that have another weight than before the first offer."""
    if EARLIER not in source:
        return ()
    earlier = source[EARLIER] if isinstance(source[EARLIER], dict) else {}
    weights = source["choices"]["weights"]
    return tuple(name for name, weight in weights.items() if weight != earlier.get(name, 1.0))
