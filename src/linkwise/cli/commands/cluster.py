"""``linkwise cluster``: the clustering of a file that fits the pairs that are known, without asking."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from linkwise.cli import clusterers
from linkwise.cli.clusterers import Clustering, sizes
from linkwise.constraints.constraints import Constraints
from linkwise.data import Encoded, Table
from linkwise.select.cobs import COBS
from linkwise.select.ranking import Choice
from linkwise.select.summary import in_words, parameters_in_words
from linkwise.terminal import screen
from linkwise.terminal.progress import busy
from linkwise.terminal.protocol import emit
from linkwise.wording import count_noun, quote_command
from linkwise.workspace.exit_codes import UsageError
from linkwise.workspace.output import STDOUT, check_apart, check_free, open_output, write_labels
from linkwise.workspace.project import is_session
from linkwise.workspace.reading import Reading, check_exists, read_pairs_file, resolve_name, row_ids


def cluster(
    file: Path,
    reading: Reading,
    clustering: Clustering,
    *,
    constraints: Path | None = None,
    labels: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Cluster the rows of `file`, and say what was made.

    Clusters go to the file `labels`, to stdout without one; words for the person go to stderr.
    """
    clustering.check()
    file = resolve_name(file)
    if is_session(file):
        way_out = quote_command("linkwise", "export", file, "--constraints", "PAIRS.csv")
        raise UsageError(f"{file} is a session; name its data file, and take the pairs along with: {way_out}")
    check_apart([labels], [(check_exists(file), "the data"), (constraints, "the file of pairs")])
    check_free([labels], force=force)
    by_cobs = clustering.method == "cobs"
    with busy(f"reading {file.name}", "clusterings" if by_cobs else "clustering") as progress:
        table, encoded, _ = clustering.read(file, reading, progress)
        pairs = _pairs(table, constraints)
        with clusterers.told_by_id(row_ids(table)):
            model = clustering.model(encoded).fit(encoded.X, constraints=pairs, progress=progress)
    console = Console(stderr=True)
    title = f"{file.name}: {count_noun(len(table), 'row')}, {count_noun(pairs.n_constraints, 'pair')}"
    console.print(screen.draw_opening(title, (*table.notes, *encoded.notes)), highlight=False)
    for part in _report(clustering.method, model, pairs, encoded, console.width):
        console.print(part, highlight=False)
    if by_cobs and model.n_tied_ > 1 and not as_json:
        ask = _ask_instead(file, reading, clustering, constraints)
        console.print(
            *screen.list_next_steps([("be asked what decides", ask)]), soft_wrap=True, highlight=False
        )
    told = _summary(clustering.method, model, pairs, encoded) if as_json else {}
    _write(model.labels_.tolist(), told, row_ids(table) or list(map(str, range(len(table)))), labels, as_json)


def _report(
    method: str, model: Any, pairs: Constraints, encoded: Encoded, width: int
) -> list[RenderableType]:
    """What the method has to say of its clusters."""
    if method == "cobs":
        return report(model, pairs, width=width)
    if method == "clusilc":
        return clusterers.report_rules(model, pairs, encoded, width=width)
    return clusterers.report(model, pairs, encoded, width=width)


def _summary(method: str, model: Any, pairs: Constraints, encoded: Encoded) -> dict[str, Any]:
    if method == "cobs":
        return summary(model, pairs)
    if method == "clusilc":
        return clusterers.summary_of_rules(model, pairs, encoded)
    return clusterers.summary(model, pairs, encoded)


def _ask_instead(file: Path, reading: Reading, clustering: Clustering, pairs: Path | None) -> str:
    """The command that asks the pairs that would decide, with the same clusterings."""
    usual = {**clusterers.OF_COBS, "random_state": 0}
    chosen = [
        ("--seed" if name == "random_state" else f"--{name}", value)
        for name, value in clustering.settings().items()
        if value != usual[name]
    ]
    known = [] if pairs is None else [("--constraints", pairs)]
    options = [word for option in (*chosen, *known) for word in option]
    return quote_command("linkwise", "ask", file, *reading.options(), "--method", "cobs", *options)


def _pairs(table: Table, path: Path | None) -> Constraints:
    return Constraints(len(table)) if path is None else read_pairs_file(path, row_ids(table), len(table))


# ---------------------------------------------------------------- in words
def report(model: COBS, pairs: Constraints, *, width: int) -> list[RenderableType]:
    """What was chosen and how sure that is: nothing about single rows."""
    chosen = Choice(model.algorithm_, model.parameters_, model.n_clusters_, 0.0, -1)
    parts: list[RenderableType] = [
        Text(f"Chosen: {in_words(chosen)}.", style="bold"),
        Text(_fit(model, pairs)),
        Text(_made(model)),
    ]
    if model.approximation_:
        parts.append(Text(f"Approximate: {model.approximation_}."))
    parts.append(screen.draw_cluster_bars(sizes(model), width=width))
    if pairs.n_constraints == 0 or not model.alternatives_:  # without pairs there is no order among them
        return parts
    return [*parts, Text("Next best:"), _runners_up(model, pairs)]


def _fit(model: COBS, pairs: Constraints) -> str:
    """How many pairs it satisfies, and how many other clusterings satisfy as many."""
    n, others = pairs.n_constraints, model.n_tied_ - 1
    if n == 0:
        return "No pairs were given, so nothing decides but agreement: this one is most like all others."
    said = f"It satisfies {n - model.violations_} of {count_noun(n, 'pair')}"
    if others:
        said += f", as {f'do {others} others' if others > 1 else 'does 1 other'}; what decided: most"
        said += " agreement with all that fit well. More pairs would tell them apart"
    elif model.n_fitting_:
        said += ", and no other does"
    return f"{said}." if model.n_fitting_ else f"{said}. No clustering that was tried satisfies all."


def _made(model: COBS) -> str:
    pool = model.pool_
    made = count_noun(len(pool.candidates), "clustering")
    failed = f"; {pool.n_failed} could not be made" if pool.n_failed else ""
    return f"{made} tried, {len(pool)} of them different{failed}."


def _runners_up(model: COBS, pairs: Constraints) -> RenderableType:
    grid = Grid(box=None, padding=(0, 2, 0, 2), pad_edge=False, header_style="dim")
    grid.add_column("algorithm")
    grid.add_column("parameters")
    grid.add_column("clusters", justify="right")
    grid.add_column("pairs satisfied", justify="right")
    for choice, kept in zip(model.alternatives_, _satisfied(model, pairs), strict=True):
        parameters = parameters_in_words(choice.parameters)
        grid.add_row(choice.algorithm, parameters, str(choice.n_clusters), f"{kept} of {pairs.n_constraints}")
    return grid


def _satisfied(model: COBS, pairs: Constraints) -> list[int]:
    """How many pairs each of the alternatives satisfies."""
    labels = (model.pool_.clustering(choice.clustering) for choice in model.alternatives_)
    return [pairs.n_constraints - _n_violated(pairs, of_rows) for of_rows in labels]


def _n_violated(pairs: Constraints, labels: NDArray[np.int32]) -> int:
    return int(sum(broken.sum() for broken in pairs.violated(labels)))


# ---------------------------------------------------------------- for other programs
def _write(
    labels: list[int], told: dict[str, Any], ids: Sequence[str], target: Path | None, as_json: bool
) -> None:
    if target not in (None, STDOUT):
        with open_output(target) as file:
            write_labels(ids, labels, file)
    if as_json:
        if target in (None, STDOUT):
            for name, label in zip(ids, labels, strict=True):
                emit(type="row", id=name, cluster=label)
        emit(type="summary", **told, labels=None if target is None else str(target))
    elif target in (None, STDOUT):
        write_labels(ids, labels, sys.stdout)
    else:
        print(f"linkwise: clusters written to {target}", file=sys.stderr)


def summary(model: COBS, pairs: Constraints) -> dict[str, Any]:
    """What `report` says, in JSON."""
    return {
        "method": "COBS",
        "algorithm": model.algorithm_,
        "parameters": model.parameters_,
        "rows": len(model.labels_),
        "clusters": sizes(model),
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
            for choice, kept in zip(model.alternatives_, _satisfied(model, pairs), strict=True)
        ],
    }
