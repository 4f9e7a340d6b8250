"""A learner and a data set as a session file describes them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import SessionError
from linkwise.learner import Learner

LEARNERS = ("COBRA", "COBRAS", "ActiveCOBS")


def described(learner: Learner) -> dict[str, Any]:
    """Name and parameters of a learner, in JSON."""
    parameters = dict(getattr(learner, "get_params", dict)())
    state = parameters.get("random_state")
    if state is not None and not isinstance(state, (int, np.integer)):
        parameters["random_state"] = None  # the seed that was drawn from it is kept instead
    try:
        return {"name": type(learner).__name__, "parameters": json.loads(json.dumps(parameters, default=int))}
    except TypeError:
        raise SessionError(
            f"{type(learner).__name__} has parameters that JSON cannot hold: {parameters}"
        ) from None


def rebuilt(stored: dict[str, Any]) -> Learner:
    """The learner that was described."""
    import linkwise

    if stored["name"] not in LEARNERS:
        raise SessionError(
            f"the session was made with {stored['name']}, which is no learner of linkwise; "
            "pass it: Session.open(path, X, learner)"
        )
    learner: Learner = getattr(linkwise, stored["name"])(**stored["parameters"])
    return learner


def seed_of_learner(learner: Learner, stored: int | None) -> int:
    """The learner's own seed if it has one, else the stored one, else a fresh one."""
    from linkwise.active.base import seed_of

    state = getattr(learner, "random_state", None)
    return stored if state is None and stored is not None else seed_of(state)


def fingerprint(X: NDArray[Any]) -> dict[str, Any]:
    """Shape and a few weighted sums of every column.

    The sums change when rows change, move or are exchanged, but not with the last bits of a float,
    so a session is not lost to another version of a library.
    """
    phase = np.arange(1, len(X) + 1, dtype=np.float64)
    sketch = np.stack([np.cos(phase) @ X, np.sin(phase * 1.7) @ X])
    return {"shape": list(X.shape), "sketch": sketch.tolist(), "scale": np.abs(X).sum(axis=0).tolist()}


def same_data(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two fingerprints are of the same data, up to rounding."""
    if one["shape"] != other["shape"]:
        return False
    tolerance = 1e-12 * (np.array(one["scale"]) + np.array(other["scale"])) + 1e-300
    return bool((np.abs(np.array(one["sketch"]) - np.array(other["sketch"])) <= tolerance).all())
