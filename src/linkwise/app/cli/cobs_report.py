"""What ``linkwise cluster --method cobs`` reports: which clustering was chosen, and what came next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from linkwise.app.terminal import screen
from linkwise.constraints.constraints import Constraints
from linkwise.select.cobs import COBS
from linkwise.select.ranking import Choice
from linkwise.select.summary import format_choice, format_parameters
from linkwise.wording import count_noun


def cluster_sizes(model: Any) -> list[int]:
    """Rows of each cluster; those in none are left out."""
    found: list[int] = np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    return found


def report_choice(model: COBS, pairs: Constraints, *, width: int) -> list[RenderableType]:
    """What was chosen and how sure that is: nothing about single rows."""
    chosen = Choice(model.algorithm_, model.parameters_, model.n_clusters_, 0.0, -1)
    parts: list[RenderableType] = [
        Text(f"Chosen: {format_choice(chosen)}.", style="bold"),
        Text(_fit(model, pairs)),
        Text(_count_tried(model)),
    ]
    if model.approximation_:
        parts.append(Text(f"Approximate: {model.approximation_}."))
    parts.append(screen.draw_cluster_bars(cluster_sizes(model), width=width))
    if pairs.n_constraints == 0 or not model.alternatives_:  # without pairs there is no order among them
        return parts
    return [*parts, Text("Next best:"), _list_alternatives(model, pairs)]


def _fit(model: COBS, pairs: Constraints) -> str:
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
