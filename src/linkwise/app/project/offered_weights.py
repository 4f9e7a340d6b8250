"""Weights of columns that a person took over from an offer, in the source of a session.

``source["earlier_weights"]`` holds the weights from before the first offer that was taken, None if there were
none. So they come back after the session was closed, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EARLIER = "earlier_weights"


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


def list_weighed(source: dict[str, Any]) -> tuple[str, ...]:
    """The names that have another weight than before the first offer."""
    if EARLIER not in source:
        return ()
    earlier = source[EARLIER] if isinstance(source[EARLIER], dict) else {}
    weights = source["choices"]["weights"]
    return tuple(name for name, weight in weights.items() if weight != earlier.get(name, 1.0))
