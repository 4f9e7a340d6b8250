"""Where the data of a session come from: the source in the session file, checked before it is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any

from linkwise.app.project.offered_weights import EARLIER
from linkwise.data.read.formats import JSON_ENDINGS
from linkwise.errors import SessionDamagedError
from linkwise.session.session import Session

LONGEST_PATH = 4096
LONGEST_ENCODING = 40
SCALES = (None, "unit", "standard", "none")
IMPUTES = (None, "median", "category")
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


def _are_earlier(value: object, choices: dict[str, Any]) -> bool:
    return isinstance(choices.get("weights"), dict) and (value is None or _are_weights(value))


def _is_side_file(value: object) -> bool:
    if not isinstance(value, dict) or value.keys() != {"file", "sha256"}:
        return False
    digest = value["sha256"]
    return _is_path(value["file"]) and isinstance(digest, str) and SHA256.fullmatch(digest) is not None


def _are_items(value: object) -> bool:
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
    "weights": _are_weights,
    "text_by": lambda value: isinstance(value, str) and value == "letters",
    "metric": lambda value: value in ("euclidean", "cosine"),
}
OF_FOLDERS: dict[str, Callable[[Any], bool]] = {  # the arguments of `read_folder`
    "kind": lambda value: value in ("image", "text"),
    "skip_broken": lambda value: isinstance(value, bool),
}


def origin_of(session: Session, path: Path) -> dict[str, Any]:
    """Read and check the source of a session.

    Raises
    ------
    SessionDamagedError
        A part of it has a value that linkwise never writes.
    """
    source = session.source
    wrong = _wrong_part(source)
    if wrong is not None:
        raise SessionDamagedError(
            f"{path} is damaged: {wrong!r} in the source of its data is nothing that linkwise writes. "
            "Restore a copy of the file."
        )
    choices = source.get("choices")
    if choices is None or Path(source.get("file", "")).suffix.lower() not in JSON_ENDINGS:
        return source
    # sessions begun before linkwise had these choices do not name them
    before = {"keep_nested": True, "weights": "none", "metric": "euclidean"}
    texts = {"text": [choices["text"]]} if isinstance(choices.get("text"), str) else {}
    return {**source, "choices": {**before, **choices, **texts}}


def _wrong_part(source: dict[str, Any]) -> str | None:
    """The first part that linkwise never writes; None if there is none."""
    for name, right in (("file", _is_path), ("demo", _is_name)):
        if name in source and not right(source[name]):
            return name
    if "choices" not in source:
        return None
    choices = source["choices"]
    if not isinstance(choices, dict):
        return "choices"
    if "show" in source and not _is_side_file(source["show"]):
        return "show"
    if "items" in source and not _are_items(source["items"]):
        return "items"
    if EARLIER in source and not _are_earlier(source[EARLIER], choices):
        return EARLIER
    known = OF_FOLDERS if choices.keys() & OF_FOLDERS.keys() else OF_FILES
    for name, value in choices.items():
        if name not in known or not known[name](value):
            return str(name)[:60]
    for name, allowed in (("scale", SCALES), ("impute", IMPUTES)):
        if name not in source or not any(source[name] is value or source[name] == value for value in allowed):
            return name
    return _misfit(source, choices, folder=known is OF_FOLDERS)


def _misfit(source: dict[str, Any], choices: dict[str, Any], *, folder: bool) -> str | None:
    """The first choice that does not fit the kind of rows; None if all fit."""
    has_blocks = choices.get("text") is not None or bool(choices.get("image"))
    are_texts = has_blocks and choices.get("columns") is None
    if source["impute"] is not None and (folder or are_texts or choices.get("series")):
        return "impute"
    if source["scale"] is not None and (folder or are_texts):
        return "scale"
    for name in ("merge_variants", "as_categories", "log", "cycles"):
        if choices.get(name) and (are_texts or choices.get("series")):
            return name
    for name in ("series_by", "warp"):
        if choices.get(name) and not choices.get("series"):
            return name
    for name in ("text", "image"):
        if choices.get(name) and choices.get("series"):
            return name
    if choices.get("text_by") is not None and choices.get("text") is None:
        return "text_by"
    if choices.get("metric") == "cosine" and (are_texts or choices.get("series")):
        return "metric"
    if choices.get("weights") not in (None, "none", {}) and choices.get("series"):
        return "weights"
    return None
