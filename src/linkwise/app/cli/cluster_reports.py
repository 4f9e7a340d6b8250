"""What ``linkwise cluster`` reports of its clusters: for people, and in JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from linkwise.app.terminal import screen
from linkwise.cluster.trees.clusilc import ClusILC
from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded
from linkwise.errors import InfeasibleConstraintsError
from linkwise.methods import Method
from linkwise.reasons.explanation import explain
from linkwise.reasons.sentences import describe_cluster, describe_shares, headline, shares_by_column
from linkwise.select.cobs import COBS
from linkwise.select.ranking import Choice
from linkwise.select.summary import format_choice, format_parameters
from linkwise.wording import count_noun, shorten, strip_controls

MOST_SUSPECTS = 5  # that are named
LIKELY, VERY_LIKELY = 0.5, 0.9  # probabilities from which these words hold


def report_clusters(
    method: Method, model: Any, pairs: Constraints, encoded: Encoded, *, width: int
) -> list[RenderableType]:
    """What there is to say of the clusters, part by part."""
    if isinstance(model, COBS):
        return report_choice(model, pairs, width=width)
    if isinstance(model, ClusILC):
        return _report_rules(model, pairs, encoded, width=width)
    return _report_clusterer(method, model, pairs, encoded, width=width)


def summarize_clusters(method: Method, model: Any, pairs: Constraints, encoded: Encoded) -> dict[str, Any]:
    """What `report_clusters` prints, in JSON."""
    if isinstance(model, COBS):
        return summarize_choice(model, pairs)
    if isinstance(model, ClusILC):
        return _summarize_rules(method, model, pairs, encoded)
    return _summarize_clusterer(method, model, pairs, encoded)


def report_suspects(pairs: Constraints, ids: Sequence[str] | None) -> list[RenderableType]:
    """Name the pairs that were left out because they are probably wrong, the first five."""
    if not pairs.suspects:
        return []
    n = len(pairs.suspects)
    heading = "1 pair is left out:" if n == 1 else f"{n} pairs are left out:"
    parts = [Text(f"The pairs contradict each other. {heading}", style="bold")]
    for first, second, kind, chance in pairs.suspects[:MOST_SUSPECTS]:
        names = " and ".join(strip_controls(shorten(_name_row(row, ids))) for row in (first, second))
        parts.append(Text(f" ·  {names}: {kind}, {_in_words(chance)}"))
    if n > MOST_SUSPECTS:
        parts.append(Text(f" ·  and {n - MOST_SUSPECTS} more"))
    return [*parts]


def _in_words(chance: float) -> str:
    """A probability of being wrong in words, since it is only estimated."""
    if chance >= VERY_LIKELY:
        return "very likely wrong"
    return "likely wrong" if chance >= LIKELY else "this pair or another one is wrong"


def _name_row(row: int, ids: Sequence[str] | None) -> str:
    return str(row) if ids is None else ids[row]


def summarize_suspects(pairs: Constraints, ids: Sequence[str] | None) -> list[dict[str, Any]]:
    """All pairs that were left out, in JSON."""
    return [
        {"id_a": _name_row(first, ids), "id_b": _name_row(second, ids), "kind": kind, "chance": chance}
        for first, second, kind, chance in pairs.suspects
    ]


@contextmanager
def name_rows_in_conflict(ids: Sequence[str] | None) -> Iterator[None]:
    """Say of pairs that cannot all be satisfied what the person at the command line can do."""
    try:
        yield
    except InfeasibleConstraintsError as error:
        if not error.reason:
            raise
        names = [_name_row(row, ids) for row in error.rows]
        rows = f": {', '.join(names)}" if names else ""
        raise InfeasibleConstraintsError(
            f"{error.reason}{rows}. Increase --clusters, remove a pair, or use --method pckmeans, "
            "which may break pairs."
        ) from None


def _report_clusterer(
    method: Method, model: Any, pairs: Constraints, encoded: Encoded, *, width: int
) -> list[RenderableType]:
    """What a clusterer made."""
    parts: list[RenderableType] = [
        Text(f"Clustered by {type(model).__name__}{_list_parameters(method, model)}.", style="bold"),
        Text(_fit(model, pairs)),
    ]
    if getattr(model, "fell_back_", False):
        parts.append(
            Text("These are the clusters of plain k-means: they satisfy more pairs than those of the method.")
        )
    if hasattr(model, "feature_weights_") and len({feature.source for feature in encoded.features}) > 1:
        parts.append(Text(strip_controls(describe_shares(model.feature_weights_, encoded.features))))
    if model.violations_ and getattr(model, "budget_exhausted_", False):
        parts.append(Text("The search for weights ended at its budget; others may satisfy more."))
    parts.append(screen.draw_cluster_bars(cluster_sizes(model), width=width))
    if n_noise := int((model.labels_ < 0).sum()):
        parts.append(Text(f"{count_noun(n_noise, 'row')} in no cluster (label -1)."))
    return parts


def _list_parameters(method: Method, model: Any) -> str:
    """List the options of the method with their values: `` (n_clusters = 3)``."""
    values = {option.parameter: getattr(model, option.parameter) for option in method.options}
    if "n_clusters" in values:
        values["n_clusters"] = values["n_clusters"] or model.n_clusters_
    given = ", ".join(f"{name} = {value}" for name, value in values.items() if value is not None)
    return f" ({given})" if given else ""


def _report_rules(model: Any, pairs: Constraints, encoded: Encoded, *, width: int) -> list[RenderableType]:
    """The clusters of a tree, as rules."""
    found = explain(model, encoded, constraints=pairs)
    parts: list[RenderableType] = [Text(f"Clustered by ClusILC. {headline(found)}", style="bold")]
    parts += [Text(_fit(model, pairs)), screen.draw_cluster_bars(cluster_sizes(model), width=width)]
    for cluster in found.clusters:
        parts += [Text(), screen.draw_rules(describe_cluster(cluster), width=width)]
    return parts


def _fit(model: Any, pairs: Constraints) -> str:
    n = pairs.n_constraints
    if n == 0:
        return "No pairs were given, so the columns alone decide."
    return f"It satisfies {n - model.violations_} of {count_noun(n, 'pair')}."


def _summarize_rules(method: Method, model: Any, pairs: Constraints, encoded: Encoded) -> dict[str, Any]:
    """What `_report_rules` prints, in JSON."""
    return {
        **_summarize_clusterer(method, model, pairs, encoded),
        "explanation": explain(model, encoded, constraints=pairs).to_dict(),
    }


def _summarize_clusterer(method: Method, model: Any, pairs: Constraints, encoded: Encoded) -> dict[str, Any]:
    """What `_report_clusterer` prints, in JSON."""
    reported = {"random_state", *(option.parameter for option in method.options)}
    parameters = {name: value for name, value in model.get_params().items() if name in reported}
    return {
        "method": type(model).__name__,
        "parameters": parameters,
        "rows": len(model.labels_),
        "clusters": cluster_sizes(model),
        "in_none": int((model.labels_ < 0).sum()),
        "pairs": pairs.n_constraints,
        "satisfied": pairs.n_constraints - model.violations_,
        "fell_back": getattr(model, "fell_back_", None),
        "budget_exhausted": getattr(model, "budget_exhausted_", None),
        "columns": shares_by_column(model.feature_weights_, encoded.features)
        if hasattr(model, "feature_weights_")
        else None,
    }


# ---------------------------------------------------------------- of COBS
def cluster_sizes(model: Any) -> list[int]:
    """Rows of each cluster; those in none are left out."""
    found: list[int] = np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    return found


def report_choice(model: COBS, pairs: Constraints, *, width: int) -> list[RenderableType]:
    """What was chosen and how sure that is: nothing about single rows."""
    chosen = Choice(model.algorithm_, model.parameters_, model.n_clusters_, 0.0, -1)
    parts: list[RenderableType] = [
        Text(f"Chosen: {format_choice(chosen)}.", style="bold"),
        Text(_describe_fit_of_cobs(model, pairs)),
        Text(_count_tried(model)),
    ]
    if model.approximation_:
        parts.append(Text(f"Approximate: {model.approximation_}."))
    parts.append(screen.draw_cluster_bars(cluster_sizes(model), width=width))
    if pairs.n_constraints == 0 or not model.alternatives_:  # without pairs there is no order among them
        return parts
    return [*parts, Text("Next best:"), _list_alternatives(model, pairs)]


def _describe_fit_of_cobs(model: COBS, pairs: Constraints) -> str:
    """How many pairs it satisfies, and how many other clusterings satisfy as many."""
    n, others = pairs.n_constraints, model.n_tied_ - 1
    if n == 0:
        return "No pairs were given. This clustering agrees most with all others."
    said = f"It satisfies {n - model.violations_} of {count_noun(n, 'pair')}"
    if others:
        said += f", as {f'do {others} others' if others > 1 else 'does 1 other'}. It was chosen because it"
        said += " agrees most with the clusterings that fit well. More pairs would distinguish them"
    elif model.n_fitting_:
        said += ", and no other does"
    return f"{said}." if model.n_fitting_ else f"{said}. No clustering that was tried satisfies all."


def _count_tried(model: COBS) -> str:
    pool = model.pool_
    made = count_noun(len(pool.candidates), "clustering")
    failed = f"; {pool.n_failed} could not be made" if pool.n_failed else ""
    return f"{made} tried, {len(pool)} of them different{failed}."


def _list_alternatives(model: COBS, pairs: Constraints) -> RenderableType:
    grid = Grid(box=None, padding=(0, 2, 0, 2), pad_edge=False, header_style="dim")
    grid.add_column("algorithm")
    grid.add_column("parameters")
    grid.add_column("clusters", justify="right")
    grid.add_column("pairs satisfied", justify="right")
    for choice, kept in zip(model.alternatives_, _count_satisfied(model, pairs), strict=True):
        parameters = format_parameters(choice.parameters)
        grid.add_row(choice.algorithm, parameters, str(choice.n_clusters), f"{kept} of {pairs.n_constraints}")
    return grid


def _count_satisfied(model: COBS, pairs: Constraints) -> list[int]:
    """How many pairs each of the alternatives satisfies."""
    labels = (model.pool_.clustering(choice.clustering) for choice in model.alternatives_)
    return [pairs.n_constraints - _count_violated(pairs, of_rows) for of_rows in labels]


def _count_violated(pairs: Constraints, labels: NDArray[np.int32]) -> int:
    return int(sum(broken.sum() for broken in pairs.find_violations(labels)))


def summarize_choice(model: COBS, pairs: Constraints) -> dict[str, Any]:
    """What `report_choice` prints, in JSON."""
    return {
        "method": "COBS",
        "algorithm": model.algorithm_,
        "parameters": model.parameters_,
        "rows": len(model.labels_),
        "clusters": cluster_sizes(model),
        "pairs": pairs.n_constraints,
        "satisfied": pairs.n_constraints - model.violations_,
        "tied": model.n_tied_,
        "fitting": model.n_fitting_,
        "tried": len(model.pool_.candidates),
        "different": len(model.pool_),
        "failed": model.pool_.n_failed,
        "approximation": model.approximation_,
        "alternatives": [
            {
                "algorithm": choice.algorithm,
                "parameters": choice.parameters,
                "clusters": choice.n_clusters,
                "satisfied": kept,
            }
            for choice, kept in zip(model.alternatives_, _count_satisfied(model, pairs), strict=True)
        ],
    }
