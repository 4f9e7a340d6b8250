"""Write the results for ClusILC as CSV files, printed tables and a picture."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench.harness import format_table
from bench.papers.clusilc_claims import check_claims
from bench.papers.clusilc_curves import (
    CLEAR,
    Found,
    average_curve,
    counts_in,
    format_difference,
    judge_difference,
    mean,
    means,
    methods_in,
    refused_share,
    tasks_in,
    values,
)
from bench.papers.clusilc_data import SETS
from bench.papers.clusilc_plot import plot_curves
from bench.papers.clusilc_runs import COP, COP_PRINTED, METHODS, OURS, PRINTED
from bench.results import write_csv

Line = tuple[str, ...]
CURVES = (
    "task", "method", "constraints", "rand", "rand_error", "cv", "cv_error", "nodes", "refused", "failed",
)  # fmt: skip
BESIDE = (
    "task", "paper", "as printed", "", "defaults", "", "both as printed", "", "at the end",
    "all rows, at the end",
)  # fmt: skip
COSTS = ("task", "constraints", "nodes", "seconds", "nodes, defaults", "seconds, defaults")
CLAIM_FIELDS = ("claim", "letter", "letter_holds", "default", "default_holds")


def write_report(found: Found, folder: Path) -> str:
    """Write all, and tell it in words."""
    write_csv(
        folder / "curves.csv", CURVES, [line for task in tasks_in(found) for line in curve_lines(found, task)]
    )
    n_sets = len(next(iter(found.values())))
    parts = [f"Rand index, {n_sets} sets of constraints: {folder / 'curves.csv'}"]
    if set(METHODS) == set(methods_in(found)):
        beside = [comparison_line(found, task) for task in tasks_in(found)]
        write_csv(folder / "beside.csv", name_columns(BESIDE), beside)
        head = f"ClusILC less COP-k-means on the tenth fold; {CLEAR} and two standard errors are clear"
        parts.append(f"{head}\n{format_table(BESIDE, beside)}")
        costs = [cost_line(found, task) for task in tasks_in(found)]
        write_csv(folder / "costs.csv", COSTS, costs)
        parts.append(f"Largest trees and longest fits\n{format_table(COSTS, costs)}")
        claims = check_claims(found)
        write_csv(folder / "claims.csv", CLAIM_FIELDS, claims)
        parts.append(f"The paper's claims\n{format_table(CLAIM_FIELDS, claims)}")
    if find_spec("matplotlib"):
        plot_curves(folder / "curves.png", found)
    return "\n\n".join(["", *parts])


def name_columns(fields: Line) -> Line:
    """No column of a CSV file without a name of its own."""
    return tuple(field or f"{before}, verdict" for before, field in zip(("", *fields), fields, strict=False))


def curve_lines(found: Found, task: str) -> list[Line]:
    """One line for each method and number of constraints."""
    lines = []
    for method in methods_in(found):
        of = {field: means(values(found, task, method, field)) for field in ("rand", "cv", "nodes")}
        failed, share = values(found, task, method, "failed").sum(axis=0), refused_share(found, task, method)
        for at, count in enumerate(counts_in(found, task)):
            rand, held_out, nodes = (of[field][at] for field in ("rand", "cv", "nodes"))
            numbers = (rand.value, rand.error, held_out.value, held_out.error)
            pair = ["" if np.isnan(x) else f"{x:.4f}" for x in numbers]
            tree = f"{nodes.value:.1f}" if method in (PRINTED, OURS) else ""
            lines.append((task, method, str(count), *pair, tree, f"{share[at]:.4f}", f"{failed[at]:.0f}"))
    return lines


def comparison_line(found: Found, task: str) -> Line:
    """ClusILC less COP-k-means: on the tenth fold over the curve, then with the most constraints."""

    def less(method: str, rival: str, field: str = "cv") -> np.ndarray:
        return values(found, task, method, field) - values(found, task, rival, field)

    texts: list[str] = []
    for method, rival in ((PRINTED, COP), (OURS, COP), (PRINTED, COP_PRINTED)):
        difference = average_curve(less(method, rival))
        texts += [format_difference(difference), judge_difference(difference)]
    ends = [mean(less(PRINTED, COP, field)[:, -1]) for field in ("cv", "rand")]
    return (task, SETS[task]["in_words"], *texts, *map(format_difference, ends))


def cost_line(found: Found, task: str) -> Line:
    """Over all fits of all trials."""
    texts = []
    for method in (PRINTED, OURS):
        nodes, seconds = (np.nanmax(values(found, task, method, f)) for f in ("most_nodes", "most_seconds"))
        texts += [f"{nodes:.0f}", f"{seconds:.3f}"]
    return (task, str(counts_in(found, task)[-1]), *texts)
