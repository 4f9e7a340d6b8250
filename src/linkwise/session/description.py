"""A learner and a data set as a session file describes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.learner import Learner
from linkwise.constraints.checks import is_sequence
from linkwise.constraints.files import index_ids
from linkwise.errors import ConstraintError, SessionError, short_repr
from linkwise.session import registry
from linkwise.session.tables import MOST_JSON, MOST_PARTS

BLOCK_ROWS = 65_536  # rows that are summed up at once
NARROWING = 2.0**-24  # of a value: the most by which rounding to float32 changes it
LEAST_FLOAT32 = 2.0**-149  # the most by which it changes values near 0
ROUNDING = 1e-12  # of the sum of a column: far above the rounding of a sum, far below one changed value


# ---------------------------------------------------------------- learners
def described(learner: Learner) -> dict[str, Any]:
    """Name and parameters of a learner, in JSON."""
    if isinstance(learner, type) or not (hasattr(learner, "prepare") and hasattr(learner, "ask")):
        raise TypeError(f"{short_repr(learner)} is no learner; give one, for example COBRAS(random_state=0)")
    kind = type(learner)
    ours = kind.__module__.startswith("linkwise.")
    parameters = {name: _kept(name, value) for name, value in _parameters(learner).items()}
    state = parameters.get("random_state")
    if state is not None and not isinstance(state, (int, np.integer)):
        parameters["random_state"] = None  # the seed that was drawn from it is kept instead
    return {
        "name": kind.__name__ if ours else f"{kind.__module__}.{kind.__qualname__}",
        "parameters": in_json(parameters, f"the parameters of {kind.__name__}"),
    }


def _parameters(estimator: object) -> dict[str, Any]:
    """All parameters that a session keeps."""
    given = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return registry.of_the_learner(given)


def _kept(name: str, value: object) -> Any:
    """A parameter as it is, or the name and parameters of a clusterer of linkwise."""
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return value
    kind = type(value)
    ours = registry.CLUSTERERS.get(kind.__name__)
    if ours is None or ours.module != kind.__module__:
        raise SessionError(
            f"{name}={value!r} is no part of linkwise, so a session file cannot keep it; "
            "give a clusterer of linkwise, or its name"
        )
    return {"name": kind.__name__, "parameters": _parameters(value)}


def seed_of_learner(learner: Learner, stored: int | None = None) -> int:
    """The learner's own seed if it names one, else the stored one, else one drawn as it says."""
    from linkwise.validation import resolve_seed

    state = getattr(learner, "random_state", None)
    return stored if stored is not None and not isinstance(state, (int, np.integer)) else resolve_seed(state)


def in_json(value: Any, what: str) -> Any:
    """`value` as it comes back from JSON; NumPy's numbers become plain ones."""
    try:
        kept = json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SessionError(f"{what} cannot be kept as JSON ({error}); give numbers, text and lists") from None
    if len(kept) > MOST_JSON or kept.count("[") + kept.count("{") > MOST_PARTS:
        raise SessionError(
            f"{what} cannot be kept: as JSON it takes {len(kept)} characters. A session keeps up to "
            f"{MOST_JSON} characters and {MOST_PARTS} lists and objects; give less."
        )
    return json.loads(kept)


def is_unicode(text: str) -> bool:
    """Whether text can be written as UTF-8; half characters (lone surrogates) cannot."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _plain(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__}")


# ---------------------------------------------------------------- data
def checked_ids(ids: Sequence[object] | None, n_rows: int) -> list[str] | None:
    """One id a row, as text, all different."""
    if ids is None:
        return None
    if not is_sequence(ids):
        raise TypeError(f"ids is {short_repr(ids)}; give a sequence with the id of every row")
    missing = [row for row, i in enumerate(ids) if i is None or i != i]
    if missing:
        raise ConstraintError(f"row {missing[0]} has no id ({ids[missing[0]]!r}); give each row its own")
    if len(ids) != n_rows:
        raise ConstraintError(f"{len(ids)} ids for {n_rows} rows; give each row its own")
    names = [str(i) for i in ids]
    broken = next((row for row, name in enumerate(names) if not is_unicode(name)), None)
    if broken is not None:
        raise ConstraintError(
            f"The id of row {broken} is not valid Unicode: {names[broken]!a} holds half a character. "
            "Give the row another id."
        )
    return list(index_ids(names))


def fingerprint(X: NDArray[Any]) -> dict[str, Any]:
    """Shape, width of the floats, and a few weighted sums of every column.

    The sums change when rows change, move or are exchanged, but not with the last bits of a float, so a
    session is not lost to another version of a library. The width tells how exactly they can be compared:
    see `difference`.
    """
    sketch, scale = np.zeros((2, X.shape[1])), np.zeros(X.shape[1])
    for start in range(0, len(X), BLOCK_ROWS):
        block = X[start : start + BLOCK_ROWS].astype(np.float64)
        phase = np.arange(start + 1, start + len(block) + 1, dtype=np.float64)
        sketch += np.stack([np.cos(phase), np.sin(phase * 1.7)]) @ block
        scale += np.abs(block).sum(axis=0)
    width = "float32" if X.dtype == np.float32 else "float64"
    return {"shape": list(X.shape), "width": width, "sketch": sketch.tolist(), "scale": scale.tolist()}


def difference_from(stored: dict[str, Any], X: NDArray[Any]) -> str | None:
    """How X differs from the data of a stored fingerprint, in words; None where it is the same data.

    Floats of another width are the same data: where the stored ones were narrower, X is rounded as they were;
    where X is narrower, the sums may differ by as much as rounding can change them.
    """
    if stored.get("width") == "float32":
        with np.errstate(over="ignore", invalid="ignore"):  # values beyond float32 are other data
            return difference(stored, fingerprint(X.astype(np.float32)))
    return difference(stored, fingerprint(X))


def difference(one: dict[str, Any], other: dict[str, Any]) -> str | None:
    """How the data of two fingerprints differ, in words; None when they are the same up to rounding."""
    if one["shape"] != other["shape"]:
        shapes = [f"{rows} rows, {columns} columns" for rows, columns in (one["shape"], other["shape"])]
        return f"{shapes[0]}, not {shapes[1]}"
    tolerance = ROUNDING * (np.array(one["scale"]) + np.array(other["scale"]))
    if one.get("width", "float64") != other.get("width", "float64"):
        tolerance += NARROWING * np.array(one["scale"]) + LEAST_FLOAT32 * one["shape"][0]
    same = np.abs(np.array(one["sketch"]) - np.array(other["sketch"])) <= tolerance
    same &= np.abs(np.array(one["scale"]) - np.array(other["scale"])) <= tolerance
    wrong = np.flatnonzero(~same.all(axis=0))
    if len(wrong) == 0:
        return None
    more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return f"as many rows and columns, but other values or another order of rows (column {wrong[0]}{more})"
