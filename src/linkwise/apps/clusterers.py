"""What clusters without asking, as the command line names it, and what it says of its clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from linkwise.apps import screen
from linkwise.apps.exits import WrongUse
from linkwise.constraints import Constraints
from linkwise.errors import InfeasibleConstraintsError

METHODS = {
    "cobs": "COBS",
    "copkmeans": "COPKMeans",
    "pckmeans": "PCKMeans",
    "mpckmeans": "MPCKMeans",
    "weights": "FeatureWeightClustering",
    "seededkmeans": "SeededKMeans",
    "constrainedkmeans": "ConstrainedKMeans",
    "ckm": "CKM",
    "rckm": "RCKM",
    "bckm": "BCKM",
}
OF_COBS = {"preset": "paper", "noise": "cluster", "cache": None}  # options of cobs alone, and their defaults


@dataclass(frozen=True, slots=True)
class Clustering:
    """What clusters; None where the command line says nothing."""

    method: str = "cobs"
    clusters: int | None = None
    preset: str | None = None
    noise: str | None = None
    cache: Path | None = None
    seed: int | None = None

    @property
    def finds_clusters(self) -> bool:
        """Whether the method finds the number of clusters itself."""
        return self.method == "cobs"

    def check(self) -> None:
        """Refuse options that do not go together."""
        if self.finds_clusters:
            if self.clusters is not None:
                others = "|".join(name for name in METHODS if name != "cobs")
                raise WrongUse(
                    f"cobs finds the number of clusters itself; leave --clusters {self.clusters} out, "
                    f"or choose --method {others}"
                )
            return
        for option in OF_COBS:
            if getattr(self, option) is not None:
                raise WrongUse(f"--{option} belongs to --method cobs; what clusters here is {self.method}")
        if self.clusters is None:
            raise WrongUse(
                f"{self.method} must be told how many clusters there are: add --clusters K; "
                "or take --method cobs, which finds the number itself"
            )

    def settings(self) -> dict[str, Any]:
        """Parameters of the clusterer."""
        if not self.finds_clusters:
            return {"n_clusters": self.clusters, "random_state": self.seed or 0}
        given = {name: getattr(self, name) for name in OF_COBS if getattr(self, name) is not None}
        if self.cache is not None:
            given["cache"] = str(self.cache.absolute())
        return {**OF_COBS, **given, "random_state": self.seed or 0}

    def model(self, n_rows: int) -> Any:
        """The clusterer for so many rows."""
        import linkwise

        if self.clusters is not None and self.clusters > n_rows:
            there = screen.count(n_rows, "row")
            raise WrongUse(f"--clusters {self.clusters}, but there are {there}; give fewer clusters")
        return getattr(linkwise, METHODS[self.method])(**self.settings())


# ---------------------------------------------------------------- in words
@contextmanager
def told_by_id(ids: Sequence[str] | None) -> Iterator[None]:
    """Say of pairs that cannot all be satisfied what the person at the command line can do."""
    try:
        yield
    except InfeasibleConstraintsError as error:
        if not error.reason:
            raise
        names = [str(row) if ids is None else ids[row] for row in error.rows]
        rows = f": {', '.join(names)}" if names else ""
        raise InfeasibleConstraintsError(
            f"{error.reason}{rows}; want more --clusters, remove a pair, or take --method pckmeans, "
            "which may break pairs"
        ) from None


def report(model: Any, pairs: Constraints, *, width: int) -> list[RenderableType]:
    """What a clusterer made that was told the number of clusters."""
    made = f"Clustered by {type(model).__name__} (n_clusters = {model.n_clusters})."
    parts: list[RenderableType] = [Text(made, style="bold"), Text(_fit(model, pairs))]
    if getattr(model, "fell_back_", False):
        parts.append(Text("These are the clusters of plain k-means, which satisfy more pairs than its own."))
    return [*parts, screen.cluster_bars(sizes(model), width=width)]


def _fit(model: Any, pairs: Constraints) -> str:
    n = pairs.n_constraints
    if n == 0:
        return "No pairs were given, so the features alone decide."
    return f"It satisfies {n - model.violations_} of {screen.count(n, 'pair')}."


def sizes(model: Any) -> list[int]:
    """Rows of each cluster."""
    found: list[int] = np.unique(model.labels_, return_counts=True)[1].tolist()
    return found


def summary(model: Any, pairs: Constraints) -> dict[str, Any]:
    """What `report` says, in JSON."""
    return {
        "method": type(model).__name__,
        "parameters": {"n_clusters": model.n_clusters, "random_state": model.random_state},
        "rows": len(model.labels_),
        "clusters": sizes(model),
        "pairs": pairs.n_constraints,
        "satisfied": pairs.n_constraints - model.violations_,
        "fell_back": getattr(model, "fell_back_", None),
    }
