"""The classes that a session file may name, and the values that it may give to their parameters.

A session file comes from anywhere, so it chooses from these tables alone: nothing else is imported or
called because a file says so, and nothing in a file names a folder or starts processes.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from math import isfinite
from typing import Any

from linkwise import methods
from linkwise.errors import SessionError
from linkwise.methods import Method
from linkwise.wording import strip_full_stop

LEARNERS = {method.class_name: method for method in methods.LEARNERS.values()}
CLUSTERERS = {  # that a learner can refit
    method.class_name: method for method in methods.CLUSTERERS.values() if method.is_refitted
}
MACHINE_PARAMETERS = frozenset({"backend", "cache"})  # about the machine: never stored, ignored in a file
NESTED = frozenset({"estimator"})  # parameters that may hold a clusterer
COLUMNS = frozenset({"nominal"})  # parameters that hold positions of columns
ARRAYS = frozenset({"init"})  # parameters that may hold rows: stored, but not taken from a file
MOST_WORK = 1000  # largest integer from a file, for parameters that multiply the work
MOST = {  # limits of parameters that the number of rows or convergence bounds anyway
    **dict.fromkeys(("n_clusters", "n_super_instances", "max_split", "max_leaves"), 2**31 - 1),
    **dict.fromkeys(("max_iter", "max_passes", "max_inner_iter", "max_evals"), 10_000),
    "max_rows": 32_767,
    "n_candidates": 1_000_000,
    "n_runs": 100,
    "random_state": 2**32 - 1,
}
MOST_NAME = 300  # characters shown of a class of another library
MOST_TEXT = 100  # characters of a text parameter, all of which are names


def name_learner(kind: type) -> str | None:
    """The name of a class, or of what asks in it, if it is one of the registry."""
    path = f"{kind.__module__}.{kind.__qualname__}"
    return next((name for name, m in LEARNERS.items() if path in (f"{m.module}.{name}", m.asking)), None)


def is_described(value: object) -> bool:
    """Whether a value from a file has the form of a class with parameters."""
    return (
        isinstance(value, dict)
        and value.keys() == {"name", "parameters"}
        and isinstance(value["name"], str)
        and isinstance(value["parameters"], dict)
    )


def drop_machine_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Drop the parameters that concern only the machine."""
    return {name: value for name, value in parameters.items() if name not in MACHINE_PARAMETERS}


def build_learner(described: dict[str, Any], n_columns: int | None = None) -> Any:
    """Build the learner that a session file describes: ``{"name": ..., "parameters": {...}}``.

    Raises `SessionError` if the file names a class or a value that the registry does not allow.
    """
    name = described["name"]
    if name not in LEARNERS:
        shown = "".join(c if c.isprintable() else "·" for c in name[:MOST_NAME])
        raise SessionError(
            f"The learner of the session is not part of linkwise: {shown}. "
            "Pass it to Session.open(path, X, learner)."
        )
    try:
        return _build(LEARNERS[name], described["parameters"], n_columns)
    except (TypeError, ValueError) as error:
        raise SessionError(
            f"The stored parameters of {name} do not fit this version of linkwise: {strip_full_stop(error)}. "
            "Pass the learner to Session.open(path, X, learner)."
        ) from None


def estimates_confidence(described: dict[str, Any]) -> bool:
    """Whether the learner that a session file describes can tell how certain the cluster of each row is."""
    name = described["name"]
    return name not in LEARNERS or hasattr(LEARNERS[name].load_learner(), "confidence")


def _build(method: Method, parameters: dict[str, Any], n_columns: int | None) -> Any:
    """Build one estimator of the registry; check its parameters by name and value."""
    kind = method.load_learner()
    given = drop_machine_parameters(parameters)
    unknown = sorted(given.keys() - signature(kind).parameters.keys())
    if unknown:
        raise ValueError(f"{method.class_name} has no parameter {unknown[0][:MOST_TEXT]!r}")
    estimator = kind(**{key: _value(key, value, n_columns) for key, value in given.items()})
    if hasattr(estimator, "_validate_params"):
        estimator._validate_params()
    return estimator


def _value(name: str, value: Any, n_columns: int | None) -> Any:
    """Check the value of one parameter; build a clusterer from its description."""
    if name in NESTED and is_described(value):
        kind = value["name"]
        if kind not in CLUSTERERS:
            raise ValueError(f"{name} names {kind[:MOST_TEXT]!r}, which is not a clusterer of linkwise")
        return _build(CLUSTERERS[kind], value["parameters"], n_columns)
    check_kind(name, value)
    if isinstance(value, str):
        _check_choice(name, value)
    elif isinstance(value, list) and n_columns is not None and any(column >= n_columns for column in value):
        raise ValueError(f"{name} names column {max(value)}, and the columns are 0 to {n_columns - 1}")
    elif isinstance(value, int) and not 0 <= value <= MOST.get(name, MOST_WORK):
        raise ValueError(f"{name} is {value}, and in a file it must be 0 to {MOST.get(name, MOST_WORK)}")
    return value


def _check_choice(name: str, value: str) -> None:
    """Check the names that a class checks only when it fits."""
    by_name = import_module("linkwise.learn.known_k.estimators").clusterers_by_name
    if name in NESTED and value.lower() not in by_name():
        raise ValueError(f"{name}={value!r} is not a clusterer of linkwise")
    if name == "preset":
        import_module("linkwise.select.pool").resolve_preset(value)
    if value == "precomputed":
        raise ValueError(f"{name}='precomputed' needs similarities, and a session has rows")


def check_kind(name: str, value: Any) -> None:
    """Check that a value is a number, a name, a choice or, for some parameters, a list of columns."""
    if name in COLUMNS:
        columns = value if isinstance(value, list) else [None]
        right = all(type(column) is int and column >= 0 for column in columns)
    elif name in MOST:
        right = type(value) is int or value is None
    elif isinstance(value, str):
        right = len(value) <= MOST_TEXT
    elif isinstance(value, float):
        right = isfinite(value)
    else:
        right = value is None or isinstance(value, (bool, int))
    if not right:
        raise ValueError(f"{name}={repr(value)[:MOST_TEXT]} is not a kind of value that {name} takes")


def check_kinds(described: dict[str, Any]) -> None:
    """Check the types of the parameters of a learner of linkwise."""
    if described["name"] in (*LEARNERS, *CLUSTERERS):
        for name, value in described["parameters"].items():
            if name in NESTED and is_described(value):
                check_kinds(value)
            elif name not in MACHINE_PARAMETERS and name not in ARRAYS:
                check_kind(name, value)
