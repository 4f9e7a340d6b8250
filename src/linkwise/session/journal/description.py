"""A learner and a data set as a session file describes them."""

from __future__ import annotations

import json
from collections.abc import Sequence, Sized
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import check_ids as list_ids
from linkwise.constraints.checks import index_ids
from linkwise.constraints.error_rates import AssumedRate
from linkwise.data.columns.table import Table
from linkwise.data.show.items import Items
from linkwise.data.show.rows import Rows
from linkwise.errors import ConstraintError, DataError, SessionError, short_repr
from linkwise.learn.learner import Learner
from linkwise.session.journal import registry
from linkwise.session.journal.deserialize import MOST_JSON, MOST_PARTS
from linkwise.text_files import is_unicode
from linkwise.wording import count_noun

BLOCK_ROWS = 65_536  # rows that are summed at once
NARROWING = 2.0**-24  # the largest relative change of a value by rounding to float32
LEAST_FLOAT32 = 2.0**-149  # the largest change of a value near 0
ROUNDING = 1e-12  # relative, of a column sum: far above its rounding error, far below one changed value
ITEMS_WANTED = (
    "a table (pandas, polars, linkwise.data.Table), a list of texts, of pictures or of their paths (Path), "
    "an array of pictures of shape (n_rows, height, width) or (n_rows, height, width, 3), one of curves "
    "(n_rows, n_samples), or Items"
)


def describe_session(
    X: NDArray[Any], learner: Learner, source: dict[str, Any], error_rate: AssumedRate
) -> dict[str, Any]:
    """Describe with what a session begins."""
    meta = {
        "data": fingerprint(X),
        "learner": describe_learner(learner),
        "seed": seed_of_learner(learner),
        "source": to_json_value(source, "source"),
    }
    return meta if error_rate == 0 else {**meta, "error_rate": error_rate}


# ---------------------------------------------------------------- learners
def describe_learner(learner: Learner) -> dict[str, Any]:
    """Describe a learner by name and parameters, in JSON."""
    if isinstance(learner, type) or not (hasattr(learner, "prepare") and hasattr(learner, "ask")):
        raise TypeError(
            f"{short_repr(learner)} is not a learner. Pass one, for example COBRAS(random_state=0)."
        )
    kind = type(learner)
    name = registry.name_learner(kind) or f"{kind.__module__}.{kind.__qualname__}"
    parameters = {name: _stored_value(name, value) for name, value in _parameters(learner).items()}
    state = parameters.get("random_state")
    if state is not None and not isinstance(state, (int, np.integer)):
        parameters["random_state"] = None  # the seed that was drawn from it is stored instead
    return {
        "name": name,
        "parameters": to_json_value(parameters, f"the parameters of {name.rpartition('.')[2]}"),
    }


def _parameters(estimator: object) -> dict[str, Any]:
    """All parameters that a session stores."""
    given = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return registry.drop_machine_parameters(given)


def _stored_value(name: str, value: object) -> Any:
    """A parameter as it is, or the name and parameters of a clusterer of linkwise."""
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return value
    kind = type(value)
    ours = registry.CLUSTERERS.get(kind.__name__)
    if ours is None or ours.module != kind.__module__:
        raise SessionError(
            f"A session file cannot store {name}={value!r}, which is not part of linkwise. "
            "Pass a clusterer of linkwise, or its name."
        )
    return {"name": kind.__name__, "parameters": _parameters(value)}


def seed_of_learner(learner: Learner, stored: int | None = None) -> int:
    """The learner's own integer seed, else the stored seed, else one drawn from its random state."""
    from linkwise.validation import resolve_seed

    state = getattr(learner, "random_state", None)
    return stored if stored is not None and not isinstance(state, (int, np.integer)) else resolve_seed(state)


def to_json_value(value: Any, what: str) -> Any:
    """Convert a value to what comes back from JSON; NumPy numbers become plain ones."""
    try:
        text = json.dumps(value, default=_plain_number, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SessionError(
            f"A session cannot store {what} as JSON ({error}). Pass numbers, text and lists."
        ) from None
    if len(text) > MOST_JSON or text.count("[") + text.count("{") > MOST_PARTS:
        raise SessionError(
            f"A session cannot store {what}: as JSON it has {len(text)} characters. A session stores up to "
            f"{MOST_JSON} characters and {MOST_PARTS} lists and objects. Store less."
        )
    return json.loads(text)


def _plain_number(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a type of JSON")


# ---------------------------------------------------------------- data
def check_items(items: object, n_rows: int) -> None:
    """Check that there is one item for each row, of a kind that can be shown."""
    if items is None or isinstance(items, Items):
        return
    if isinstance(items, Rows):
        items = items.table
    is_table = isinstance(items, Sized) and (isinstance(items, Table) or hasattr(items, "columns"))
    values = to_item_list(items)
    is_list = isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim > 0)
    if not isinstance(items, Sized) or not (is_table or is_list):
        raise DataError(
            f"items is {short_repr(items)}, of type {type(items).__name__}, but a person needs one item for"
            f" each of {count_noun(n_rows, 'row')}. Pass {ITEMS_WANTED}."
        )
    if len(items) != n_rows:
        raise DataError(
            f"There {'is' if len(items) == 1 else 'are'} {count_noun(len(items), 'item')} for"
            f" {count_noun(n_rows, 'row')}."
            " Pass one for each row, in the order of the rows."
        )
    if not is_table and getattr(values, "ndim", 1) == 1:
        _check_item_kinds(values)


def to_item_list(items: Any) -> Any:
    """A column of pandas or polars as a list; other items as they are."""
    return items.to_list() if hasattr(items, "to_list") and not hasattr(items, "columns") else items


def _check_item_kinds(items: Any) -> None:
    """Check that items are all texts, all paths, or all pictures and curves."""
    single = (bytes, Number, np.generic, type(None))
    kinds = [next((kind for kind in (str, Path, single) if isinstance(item, kind)), None) for item in items]
    if len(set(kinds)) == 1 and kinds[0] != single:
        return
    row = kinds.index(single) if single in kinds else [kind == kinds[0] for kind in kinds].index(False)
    raise DataError(
        "items holds values that are neither texts, pictures nor curves, or that mix them, such as"
        f" {short_repr(items[row])} for row {row}. Pass {ITEMS_WANTED}."
    )


def check_ids(ids: Sequence[object] | None, n_rows: int) -> list[str] | None:
    """Check that every row has an id and that all differ; return the ids as text."""
    if ids is None:
        return None
    names = list_ids(ids)
    if len(names) != n_rows:
        raise ConstraintError(f"There are {len(names)} ids for {n_rows} rows. Pass one id for each row.")
    broken = next((row for row, name in enumerate(names) if not is_unicode(name)), None)
    if broken is not None:
        raise ConstraintError(
            f"The id of row {broken} is not valid Unicode: {names[broken]!a} holds half a character. "
            "Use another id for the row."
        )
    return list(index_ids(names))


def fingerprint(X: NDArray[Any]) -> dict[str, Any]:
    """Shape, width of the floats, and a few weighted sums of every column.

    The sums change when rows change or move, but not with the last bits of a float, so that a session fits
    the same data from another version of a library. The width determines how exactly they can be compared:
    see `fingerprint_difference`.
    """
    sketch, scale = np.zeros((2, X.shape[1])), np.zeros(X.shape[1])
    for start in range(0, len(X), BLOCK_ROWS):
        block = X[start : start + BLOCK_ROWS].astype(np.float64)
        phase = np.arange(start + 1, start + len(block) + 1, dtype=np.float64)
        sketch += np.stack([np.cos(phase), np.sin(phase * 1.7)]) @ block
        scale += np.abs(block).sum(axis=0)
    width = "float32" if X.dtype == np.float32 else "float64"
    return {"shape": list(X.shape), "width": width, "sketch": sketch.tolist(), "scale": scale.tolist()}


def data_difference(stored: dict[str, Any], X: NDArray[Any]) -> str | None:
    """Describe how X differs from the data of a stored fingerprint; None if they are the same data.

    Floats of another width are the same data: if the stored ones were narrower, X is rounded in the same way;
    if X is narrower, the sums may differ by as much as rounding can change them.
    """
    if stored.get("width") == "float32":
        with np.errstate(over="ignore", invalid="ignore"):  # values beyond float32 are other data
            return fingerprint_difference(stored, fingerprint(X.astype(np.float32)))
    return fingerprint_difference(stored, fingerprint(X))


def fingerprint_difference(one: dict[str, Any], other: dict[str, Any]) -> str | None:
    """Describe how the data of two fingerprints differ; None if they are the same up to rounding."""
    if one["shape"] != other["shape"]:
        shapes = [
            f"{count_noun(rows, 'row')}, {count_noun(columns, 'column')}"
            for rows, columns in (one["shape"], other["shape"])
        ]
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
