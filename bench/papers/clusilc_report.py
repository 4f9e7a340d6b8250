"""Write the results for ClusILC as CSV files, printed tables and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench.harness import format_table
from bench.papers.clusilc_claims import FACTOR, ONE, check_claims
from bench.papers.clusilc_curves import (
    CLEAR,
    Found,
    average_curve,
    counts_in,
    format_difference,
    judge_difference,
    largest_tree,
    less,
    longest_fit,
    mean,
    means,
    methods_in,
    refused_share,
    tasks_in,
    values,
)
from bench.papers.clusilc_data import SETS
from bench.papers.clusilc_plot import plot_curves
from bench.papers.clusilc_runs import TREES, VERSIONS
from bench.results import write_csv
from bench.suites.cell_store import read_rows

Line = tuple[str, ...]
CURVES = (
    "task", "method", "constraints", "sets", "rand", "rand_error", "cv", "cv_error", "nodes", "refused",
    "failed",
)  # fmt: skip
BESIDE = (
    "task", "paper", "letter", "letter_verdict", "default", "default_verdict", "authors", "authors_verdict",
)  # fmt: skip
DIFFERENCES = (
    "task", "version", "constraints", "sets", "cv", "cv_error", "cv_verdict", "rand", "rand_error",
)  # fmt: skip
TREE_FIELDS = ("task", *(f"{name}{unit}" for unit in ("", "_seconds") for name in VERSIONS))
CLAIM_FIELDS = ("claim", *(f"{name}{holds}" for name in VERSIONS for holds in ("", "_holds")))


def write_report(found: Found, folder: Path) -> str:
    """Write all, and tell it in words."""
    tasks = tasks_in(found)
    write_csv(folder / "curves.csv", CURVES, [line for task in tasks for line in curve_lines(found, task)])
    n_sets = max(len(rows) for rows in found.values())
    parts = [f"Rand index, {n_sets} sets of constraints: {folder / 'curves.csv'}"]
    if {method for methods in VERSIONS.values() for method in methods} == set(methods_in(found)):
        lines = [line for task in tasks for line in difference_lines(found, task)]
        write_csv(folder / "differences.csv", DIFFERENCES, lines)
        beside = [comparison_line(found, task) for task in tasks]
        write_csv(folder / "beside.csv", BESIDE, beside)
        head = f"ClusILC less COP-k-means on the tenth fold; {CLEAR} and two standard errors are clear"
        parts.append(f"{head}\n{format_table(BESIDE, beside)}")
        trees = [tree_line(found, task) for task in tasks]
        write_csv(folder / "trees.csv", TREE_FIELDS, trees)
        parts.append(
            f"Nodes of the largest trees, and seconds of the longest fits\n{format_table(TREE_FIELDS, trees)}"
        )
        rules = (("clear", CLEAR), ("one", ONE), ("factor", FACTOR))
        write_csv(folder / "rules.csv", ("rule", "value"), rules)
        claims = check_claims(found, {name: read_rows(folder / f"{name}.csv") for name in ("ends", "draws")})
        write_csv(folder / "claims.csv", CLAIM_FIELDS, claims)
        parts.append(f"The paper's claims\n{format_table(CLAIM_FIELDS, claims)}")
    if find_spec("matplotlib"):
        plot_curves(folder / "curves.png", found)
    return "\n\n".join(["", *parts])


def curve_lines(found: Found, task: str) -> list[Line]:
    """One line for each method and number of constraints."""
    lines = []
    for method in methods_in(found):
        if task not in tasks_in(found, (method,)):
            continue
        of = {field: means(values(found, task, method, field)) for field in ("rand", "cv", "nodes")}
        failed, share = values(found, task, method, "failed").sum(axis=0), refused_share(found, task, method)
        for at, count in enumerate(counts_in(found, task)):
            rand, held_out, nodes = (of[field][at] for field in ("rand", "cv", "nodes"))
            numbers = (rand.value, rand.error, held_out.value, held_out.error)
            pair = ["" if np.isnan(x) else f"{x:.4f}" for x in numbers]
            tree = f"{nodes.value:.1f}" if method in TREES else ""
            n_sets = str(len(found[task, method, count]))
            lines.append(
                (task, method, str(count), n_sets, *pair, tree, f"{share[at]:.4f}", f"{failed[at]:.0f}")
            )
    return lines


def difference_lines(found: Found, task: str) -> list[Line]:
    """ClusILC less COP-k-means for each version and number of constraints."""
    lines: list[Line] = []
    for version, methods in VERSIONS.items():
        if task not in tasks_in(found, methods):
            continue
        held_out, everywhere = (less(found, task, *methods, field) for field in ("cv", "rand"))
        for count, fold, rows in zip(counts_in(found, task), held_out.T, everywhere.T, strict=True):
            lines.append((task, version, str(count), *difference_fields(fold), *difference_fields(rows)[1:3]))
    return lines


def difference_fields(differences: Sequence[float]) -> Line:
    """Number of sets of constraints, mean, error and verdict."""
    known = np.asarray(differences)
    known = known[~np.isnan(known)]
    if len(known) == 0:
        return "0", "", "", ""
    found = mean(known)
    error = "" if np.isnan(found.error) else f"{found.error:.4f}"
    return str(len(known)), f"{found.value:.4f}", error, judge_difference(found)


def comparison_line(found: Found, task: str) -> Line:
    """ClusILC less COP-k-means on the tenth fold, over the curve."""
    texts: list[str] = []
    for methods in VERSIONS.values():
        if task in tasks_in(found, methods):
            difference = average_curve(less(found, task, *methods, "cv"))
            texts += [format_difference(difference), judge_difference(difference)]
        else:
            texts += ["", ""]
    return (task, SETS[task]["in_words"], *texts)


def tree_line(found: Found, task: str) -> Line:
    """The nodes of the largest tree, and the seconds of the longest fit."""
    most: list[str] = []
    for measure, form in ((largest_tree, ".0f"), (longest_fit, ".3f")):
        for tree, _ in VERSIONS.values():
            known = task in tasks_in(found, (tree,))
            most.append(f"{measure(found, task, tree):{form}}" if known else "")
    return (task, *most)
