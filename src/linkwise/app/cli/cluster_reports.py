"""What ``linkwise cluster`` reports of its clusters: for people, and in JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from linkwise.app.cli.cobs_report import cluster_sizes, report_choice, summarize_choice
from linkwise.app.terminal import screen
from linkwise.cluster.trees.clusilc import ClusILC
from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded
from linkwise.errors import InfeasibleConstraintsError
from linkwise.methods import Method
from linkwise.reasons.explanation import explain
from linkwise.reasons.sentences import describe_cluster, describe_shares, headline, shares_by_column
from linkwise.select.cobs import COBS
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
