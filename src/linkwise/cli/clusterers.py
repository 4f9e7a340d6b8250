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

from linkwise.asking.learner import Progress
from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded, Rows
from linkwise.errors import InfeasibleConstraintsError
from linkwise.reasons.explanation import explain
from linkwise.reasons.sentences import cluster_lines, headline, shares_by_column, what_counts
from linkwise.terminal import screen
from linkwise.wording import count_noun, strip_controls
from linkwise.workspace.exit_codes import UsageError
from linkwise.workspace.reading import Reading, read_rows

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
    "boostcluster": "BoostCluster",
    "kernelboost": "KernelBoost",
    "pcp": "PCP",
    "agglomerative": "ConstrainedAgglomerative",
    "fosc": "FOSC",
    "cosc": "COSC",
    "spcl": "SPCL",
    "clusilc": "ClusILC",
}
FIND_K = ("cobs", "fosc")  # those that find the number of clusters themselves
MAY_FIND_K = ("clusilc", "cosc")  # those that need not be told
WITHOUT_SEED = ("agglomerative", "fosc", "clusilc")  # those that draw nothing
OF_COBS = {"preset": "paper", "noise": "cluster", "cache": None}  # options of cobs alone, and their defaults
OWNERS = {**dict.fromkeys(OF_COBS, "cobs"), "max_leaves": "clusilc", "min_samples": "fosc"}
SAID = ("n_clusters", "random_state", "max_leaves", "min_samples")  # parameters


@dataclass(frozen=True, slots=True)
class Clustering:
    """What clusters; None where the command line says nothing."""

    method: str = "cobs"
    clusters: int | None = None
    preset: str | None = None
    noise: str | None = None
    cache: Path | None = None
    seed: int | None = None
    max_leaves: int | None = None
    min_samples: int | None = None

    def check(self) -> None:
        """Refuse options that do not go together."""
        for option, owner in OWNERS.items():
            if getattr(self, option) is not None and self.method != owner:
                raise UsageError(
                    f"--{option.replace('_', '-')} belongs to --method {owner}; "
                    f"what clusters here is {self.method}"
                )
        if self.method in WITHOUT_SEED and self.seed is not None:
            raise UsageError(f"{self.method} draws nothing at random; leave --seed out")
        if self.method == "clusilc":
            self._check_clusilc()
        if self.method in FIND_K and self.clusters is not None:
            others = "|".join(name for name in METHODS if name not in FIND_K)
            raise UsageError(
                f"{self.method} finds the number of clusters itself; leave --clusters {self.clusters} out, "
                f"or choose --method {others}"
            )
        if self.method not in (*FIND_K, *MAY_FIND_K) and self.clusters is None:
            raise UsageError(
                f"{self.method} must be told how many clusters there are: add --clusters K; "
                "or take --method cobs, which finds the number itself"
            )

    def _check_clusilc(self) -> None:
        if self.clusters is None and self.max_leaves is None:
            raise UsageError(
                "clusilc goes on to ever smaller clusters: say how many there are at most, --clusters K, "
                "or how many rules, --max-leaves N; or take --method cobs, which finds the number itself"
            )

    def settings(self) -> dict[str, Any]:
        """Parameters of the clusterer."""
        if self.method == "clusilc":
            return {"n_clusters": self.clusters, "max_leaves": self.max_leaves}
        if self.method == "fosc":
            return {} if self.min_samples is None else {"min_samples": self.min_samples}
        if self.method in WITHOUT_SEED:
            return {"n_clusters": self.clusters}
        if self.method != "cobs":
            return {"n_clusters": self.clusters, "random_state": self.seed or 0}
        given = {name: getattr(self, name) for name in OF_COBS if getattr(self, name) is not None}
        if self.cache is not None:
            given["cache"] = str(self.cache.absolute())
        return {**OF_COBS, **given, "random_state": self.seed or 0}

    def read(self, file: Path, reading: Reading, progress: Progress | None = None) -> Rows:
        """The file, as the method takes it: to a tree the scale is nothing, and categories are one column."""
        source = reading.source(file)
        if self.method != "clusilc":
            return read_rows(file, source, progress=progress)
        if file.is_dir() or reading.text is not None or reading.series:
            raise UsageError(
                "clusilc makes rules on columns, which images, texts and curves have not; take another"
                " --method"
            )
        if reading.scale is not None:
            raise UsageError("clusilc counts every column alike, whatever its scale; leave --scale out")
        return read_rows(file, {**source, "scale": "none"}, "codes")

    def model(self, encoded: Encoded) -> Any:
        """The clusterer for these rows."""
        import linkwise

        n_rows = len(encoded.X)
        if self.clusters is not None and self.clusters > n_rows:
            there = count_noun(n_rows, "row")
            raise UsageError(f"--clusters {self.clusters}, but there are {there}; give fewer clusters")
        nominal = {"nominal": encoded.nominal} if self.method == "clusilc" else {}
        return getattr(linkwise, METHODS[self.method])(**self.settings(), **nominal)


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


def report(model: Any, pairs: Constraints, encoded: Encoded, *, width: int) -> list[RenderableType]:
    """What a clusterer made."""
    told = next(name for name in ("n_clusters", "min_samples") if hasattr(model, name))
    value = getattr(model, told)
    made = f"Clustered by {type(model).__name__} ({told} = {model.n_clusters_ if value is None else value})."
    parts: list[RenderableType] = [Text(made, style="bold"), Text(_fit(model, pairs))]
    if getattr(model, "fell_back_", False):
        parts.append(Text("These are the clusters of plain k-means, which satisfy more pairs than its own."))
    if hasattr(model, "feature_weights_") and len({feature.source for feature in encoded.features}) > 1:
        parts.append(Text(strip_controls(what_counts(model.feature_weights_, encoded.features))))
    if model.violations_ and getattr(model, "budget_exhausted_", False):
        parts.append(Text("The search for weights ended at its budget; others may satisfy more."))
    parts.append(screen.draw_cluster_bars(sizes(model), width=width))
    if n_noise := int((model.labels_ < 0).sum()):
        parts.append(Text(f"In no cluster, with the label -1: {count_noun(n_noise, 'row')}."))
    return parts


def report_rules(model: Any, pairs: Constraints, encoded: Encoded, *, width: int) -> list[RenderableType]:
    """The clusters of a tree, as rules."""
    found = explain(model, encoded, constraints=pairs)
    parts: list[RenderableType] = [Text(f"Clustered by ClusILC. {headline(found)}", style="bold")]
    parts += [Text(_fit(model, pairs)), screen.draw_cluster_bars(sizes(model), width=width)]
    for cluster in found.clusters:
        parts += [Text(), screen.draw_rules(cluster_lines(cluster), width=width)]
    return parts


def _fit(model: Any, pairs: Constraints) -> str:
    n = pairs.n_constraints
    if n == 0:
        return "No pairs were given, so the features alone decide."
    return f"It satisfies {n - model.violations_} of {count_noun(n, 'pair')}."


def summary_of_rules(model: Any, pairs: Constraints, encoded: Encoded) -> dict[str, Any]:
    """What `report_rules` says, in JSON."""
    return {
        **summary(model, pairs, encoded),
        "explanation": explain(model, encoded, constraints=pairs).to_dict(),
    }


def sizes(model: Any) -> list[int]:
    """Rows of each cluster; those in none are left out."""
    found: list[int] = np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    return found


def summary(model: Any, pairs: Constraints, encoded: Encoded) -> dict[str, Any]:
    """What `report` says, in JSON."""
    parameters = {name: value for name, value in model.get_params().items() if name in SAID}
    return {
        "method": type(model).__name__,
        "parameters": parameters,
        "rows": len(model.labels_),
        "clusters": sizes(model),
        "in_none": int((model.labels_ < 0).sum()),
        "pairs": pairs.n_constraints,
        "satisfied": pairs.n_constraints - model.violations_,
        "fell_back": getattr(model, "fell_back_", None),
        "budget_exhausted": getattr(model, "budget_exhausted_", None),
        "columns": shares_by_column(model.feature_weights_, encoded.features)
        if hasattr(model, "feature_weights_")
        else None,
    }
