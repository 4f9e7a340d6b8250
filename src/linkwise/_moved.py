"""Modules under the names that they had before, for programs that import them.

Each gives what it held, with a DeprecationWarning that names the new module.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_LEARNER = "linkwise.asking.learner"
MOVED = {  # old module -> each of its public names -> new module, with ":name" for a new name
    "linkwise.evidence": {
        "Evidence": "linkwise.constraints.evidence",
        **dict.fromkeys(("ANSWERS", "Answer", "Fact", "Groups", "Relation"), "linkwise.constraints.facts"),
    },
    "linkwise.learner": {
        "Asking": _LEARNER,
        "Describing": _LEARNER,
        "Grouped": _LEARNER,
        "History": "linkwise.asking.history",
        "Labels": _LEARNER,
        "Learner": _LEARNER,
        "Oracle": _LEARNER,
        "Problem": _LEARNER,
        "Progress": _LEARNER,
        "Question": _LEARNER,
        "Reason": _LEARNER,
        "Run": "linkwise.asking.run",
        "StandingIn": _LEARNER,
        "TruthOracle": "linkwise.asking.oracles",
        "Weighing": _LEARNER,
        "checked_answer": f"{_LEARNER}:check_answer",
        "respecting": "linkwise.asking.consistency:enforce_answers",
        "rng_at": _LEARNER,
    },
    "linkwise.cluster.common": {},
    "linkwise.cluster.common.base": {"ConstrainedClusterer": "linkwise.cluster.base"},
}


class _Moved:
    """Finds the old modules, after all others."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        if name not in MOVED:
            return None
        is_package = any(other.startswith(f"{name}.") for other in MOVED)
        return ModuleSpec(name, self, is_package=is_package)  # type: ignore[arg-type]  # it has a loader's methods

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        places = MOVED[old]

        def find(name: str) -> Any:
            if name not in places:
                raise AttributeError(f"module {old!r} has no attribute {name!r}")
            place, _, new_name = places[name].partition(":")
            renamed = f", where its name is {new_name}" if new_name else ""
            text = f"{old}.{name} has moved. Import it from {place}{renamed}."
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # one is enough
                return getattr(import_module(place), new_name or name)

        module.__getattr__ = find  # type: ignore[method-assign]  # as PEP 562 allows


def keep_old_names() -> None:
    """Let old module names be imported."""
    sys.meta_path.append(_Moved())
