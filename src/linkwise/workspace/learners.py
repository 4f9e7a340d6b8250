"""What asks, as the command line and the session file name it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.errors import SessionError
from linkwise.wording import count_noun
from linkwise.workspace.exit_codes import UsageError

if TYPE_CHECKING:
    from linkwise.asking.learner import Learner

METHODS = {
    "kin": "KIN",
    "cobras": "COBRAS",
    "cobra": "COBRA",
    "cobs": "ActiveCOBS",
    "explore": "ExploreConsolidate",
    "minmax": "MinMax",
    "npu": "NPU",
    "weights": "ActiveFeatureWeights",
}
USUAL = "kin"
REFITTING = ("explore", "minmax", "npu")  # those that refit a clusterer
KNOWN_K = (*REFITTING, "weights")  # those that are told the number of clusters
OWNERS = {  # parameter -> its option, and the methods that it belongs to
    "n_super_instances": ("--super-instances", ("cobra",)),
    "preset": ("--preset", ("cobs",)),
    "noise": ("--noise", ("cobs",)),
    "cache": ("--cache", ("cobs",)),
    "n_clusters": ("--clusters", KNOWN_K),
    "estimator": ("--estimator", REFITTING),
}


@dataclass(frozen=True, slots=True)
class Asking:
    """What asks; None where the command line says nothing."""

    method: str | None = None
    super_instances: int | None = None
    preset: str | None = None
    noise: str | None = None
    cache: Path | None = None
    clusters: int | None = None
    estimator: str | None = None
    seed: int | None = None

    def parameters(self) -> dict[str, Any]:
        """What belongs to some methods only, under the names of its parameters."""
        given = {
            "n_super_instances": self.super_instances,
            "preset": self.preset,
            "noise": self.noise,
            "cache": None if self.cache is None else str(self.cache.absolute()),
            "n_clusters": self.clusters,
            "estimator": self.estimator,
        }
        return {name: value for name, value in given.items() if value is not None}


def first_learner(asking: Asking) -> Learner:
    """The learner that a session begins with."""
    seed = 0 if asking.seed is None else asking.seed
    return _learner(asking.method or USUAL, {"random_state": seed}, asking)


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
    parameters = dict(kept) if method == stored else _handed_over(method, stored, kept)
    if asking.seed is not None:
        parameters["random_state"] = asking.seed
    learner = _learner(method, parameters, asking)
    from linkwise.session.description import describe_learner as as_stored

    return None if as_stored(learner) == described and asking.cache is None else learner


def _handed_over(method: str, stored: str | None, kept: dict[str, Any]) -> dict[str, Any]:
    """What the next method takes from the one before."""
    shared = {name for name, (_, owners) in OWNERS.items() if method in owners and stored in owners}
    return {"random_state": 0} | {name: kept[name] for name in kept if name in shared | {"random_state"}}


def _learner(method: str, parameters: dict[str, Any], asking: Asking) -> Learner:
    from linkwise.session.registry import build_learner

    for option, owners in (OWNERS[name] for name in asking.parameters()):
        if method not in owners:
            raise UsageError(
                f"{option} belongs to --method {' or '.join(owners)}; what asks here is {method}"
            )
    chosen = {**parameters, **asking.parameters()}
    if method in KNOWN_K and "n_clusters" not in chosen:
        raise UsageError(
            f"--method {method} must know how many clusters there are; say it: --clusters 3 "
            f"({USUAL} finds the number itself)"
        )
    if asking.estimator is not None:
        _check_estimator(asking.estimator)
    learner: Learner = build_learner({"name": METHODS[method], "parameters": chosen})
    if asking.cache is not None:  # no session keeps the folder
        learner.set_params(cache=chosen["cache"])  # type: ignore[attr-defined]
    return learner


def _check_estimator(name: str) -> None:
    from linkwise.active.known_k.estimators import names

    if name not in names():
        raise UsageError(f"--estimator {name}; give one of {', '.join(names())}")


def learner_in_words(described: dict[str, Any]) -> str:
    """``COBRA, 25 super-instances, seed 0``."""
    parameters = described["parameters"]
    words = [described["name"]]
    if "n_super_instances" in parameters:
        words.append(count_noun(parameters["n_super_instances"], "super-instance"))
    if described["name"] == "ActiveCOBS":
        words += [f"{name} {parameters[name]}" for name in ("preset", "noise") if name in parameters]
    if "n_clusters" in parameters:
        words.append(count_noun(parameters["n_clusters"], "cluster"))
    if "estimator" in parameters:
        words.append(_clusterer_in_words(parameters["estimator"]))
    if parameters.get("random_state") is not None:
        words.append(f"seed {parameters['random_state']}")
    return ", ".join(words)


def _clusterer_in_words(estimator: str | dict[str, Any] | None) -> str:
    """``by mpckmeans``."""
    name = estimator["name"] if isinstance(estimator, dict) else estimator or "mpckmeans"
    return f"by {name.lower()}"
