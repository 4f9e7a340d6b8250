"""What asks, as the command line and the session file name it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.apps.exits import WrongUse
from linkwise.apps.screen import count
from linkwise.errors import SessionError

if TYPE_CHECKING:
    from linkwise.learner import Learner

METHODS = {"cobras": "COBRAS", "cobra": "COBRA", "cobs": "ActiveCOBS"}
OWNER = {  # parameter -> its option, and the method that it belongs to
    "n_super_instances": ("--super-instances", "cobra"),
    "preset": ("--preset", "cobs"),
    "noise": ("--noise", "cobs"),
    "cache": ("--cache", "cobs"),
}


@dataclass(frozen=True, slots=True)
class Asking:
    """What asks; None where the command line says nothing."""

    method: str | None = None
    super_instances: int | None = None
    preset: str | None = None
    noise: str | None = None
    cache: Path | None = None
    seed: int | None = None

    def parameters(self) -> dict[str, Any]:
        """What belongs to one method alone, under the names of its parameters."""
        given = {
            "n_super_instances": self.super_instances,
            "preset": self.preset,
            "noise": self.noise,
            "cache": None if self.cache is None else str(self.cache.absolute()),
        }
        return {name: value for name, value in given.items() if value is not None}


def first_learner(asking: Asking) -> Learner:
    """The learner that a session begins with."""
    seed = 0 if asking.seed is None else asking.seed
    return _learner(asking.method or "cobras", {"random_state": seed}, asking)


def other_learner(asking: Asking, described: dict[str, Any]) -> Learner | None:
    """The learner that takes over; None when the stored one goes on."""
    if asking == Asking():
        return None
    stored = next((method for method, name in METHODS.items() if name == described["name"]), None)
    method = asking.method or stored
    if method is None:
        raise SessionError(
            f"the session was made with {described['name']}; name what goes on: --method {'|'.join(METHODS)}"
        )
    kept = described["parameters"]
    parameters = dict(kept) if method == stored else {"random_state": kept.get("random_state", 0)}
    if asking.seed is not None:
        parameters["random_state"] = asking.seed
    learner = _learner(method, parameters, asking)
    from linkwise.session.described import described as as_stored

    return None if as_stored(learner) == described else learner


def _learner(method: str, parameters: dict[str, Any], asking: Asking) -> Learner:
    import linkwise

    for option, owner in (OWNER[name] for name in asking.parameters()):
        if owner != method:
            raise WrongUse(f"{option} belongs to --method {owner}; what asks here is {method}")
    learner: Learner = getattr(linkwise, METHODS[method])(**{**parameters, **asking.parameters()})
    return learner


def learner_in_words(described: dict[str, Any]) -> str:
    """``COBRA, 25 super-instances, seed 0``."""
    parameters = described["parameters"]
    words = [described["name"]]
    if "n_super_instances" in parameters:
        words.append(count(parameters["n_super_instances"], "super-instance"))
    if described["name"] == "ActiveCOBS":
        words += [f"preset {parameters['preset']}", f"noise {parameters['noise']}"]
    if parameters.get("random_state") is not None:
        words.append(f"seed {parameters['random_state']}")
    return ", ".join(words)
