"""Why some results on ClusILC differ from the paper's: small experiments.

    python -m bench run clusilc_further --data DIR [--sets N] [--quick] [--jobs N] [--only PART,PART]

``ends``: how many constraints COP-k-means needs until its Rand index on all rows is 0.99 or more. The number
is doubled, from the end of the curves, until it is so. ``trees`` is the Rand index of ClusILC there.

``longer``: ClusILC less COP-k-means on the tenth fold, with more constraints than the curves have.

``refusals``: the share of sets of constraints for which COP-k-means finds no solution, as printed, as in the
authors' program, with the rows in random order, and with 20 starts.

``draws``: how many sets of constraints between any rows the authors' COP-k-means takes for one answer, up to
100001 as in the paper, and with how many of all sets it has an answer at once.

``scaled``: ClusILC less COP-k-means on the tenth fold if both get standardised columns.

``sets``: the share of the widest raw column in the sum of squares, and how many constraints follow from the
largest number of pairs.

``sizes``: the number of nodes of the tree for one set of constraints between any rows, for each version.

``--quick`` runs two sets of constraints, on tables of fewer than 300 rows.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.metrics import rand_score
from sklearn.preprocessing import scale

from bench.harness import add_common_options, find_source, format_table, out_folder, run_cells
from bench.papers.clusilc_claims import ONE
from bench.papers.clusilc_curves import average_curve, judge_difference, mean
from bench.papers.clusilc_data import MANY_ROWS, SETS, Set, counts, load, names
from bench.papers.clusilc_runs import (
    COP,
    COP_AUTHORS,
    COP_LETTER,
    LETTER,
    PASSES,
    TREES,
    VERSIONS,
    cluster_rows,
    measure_rows,
    refuses,
)
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import draw_constraints
from bench.suites.summaries import mean_of
from linkwise import COPKMeans, InfeasibleConstraintsError
from linkwise.cluster.trees.linked_rows import count_implied_pairs, find_linked_rows

QUICK_ROWS, QUICK_SETS = 300, 2
MOST_PER_ROW, END_REDRAWS = 200, 20
LONGER = {"balance": (500, 1000, 2000), "pendig": (2000, 5000, 10000)}
REFUSALS, REFUSAL_COUNTS = ("iris", "wine", "heart-statlog", "balance"), (100, 200, 300, 500)
DRAWN_SETS, MOST_REDRAWS = 60, 100_000  # as in the paper
FEW_SETS, LONG = 10, 10_000  # where one answer takes longer, fewer sets are counted
SCALED = ("wine", "heart-statlog")
SHUFFLED, STARTS = "authors, rows in random order", "letter, 20 starts"
WAYS = ("letter", "authors", SHUFFLED, STARTS)
USES = ("ClusILC", "COPKMeans", "Constraints")
Line = tuple[str, ...]


# ---------------------------------------------------------------- until the Rand index is 1
def measure_end(cell: Cell, folder: Path) -> Row:
    """Double the number of constraints until COP-k-means has found the classes."""
    task, method, number = cell[0], cell[1], int(cell[2])
    rows = load(task, folder)
    count, most = counts(task)[-1], min(MOST_PER_ROW, len(rows.y) // 2) * len(rows.y)
    score = fit_all(rows, method, count, number)
    while score < ONE and 2 * count < most:
        count *= 2
        score = fit_all(rows, method, count, number)
    tree = next(tree for tree, rival in VERSIONS.values() if rival == method)
    slow = tree == LETTER and len(rows.y) > MANY_ROWS  # thousands of leaves
    trees = "" if slow else f"{fit_all(rows, tree, count, number):.4f}"
    return {"needed": str(count), "rand": f"{score:.4f}", "trees": trees}


def fit_all(rows: Set, method: str, count: int, number: int) -> float:
    """Rand index on all rows; 0 where no set of constraints has a solution."""
    for draw in range(1 + END_REDRAWS):
        seed = np.random.default_rng([number, 0, count, draw])
        constraints = draw_constraints(rows.y, count, random_state=seed)
        labels, _ = cluster_rows(method, rows, constraints, number)
        if labels is not None:
            return float(rand_score(rows.y, labels))
    return 0.0


def run_ends(tasks: list[str], n_sets: int, run: Callable[..., list[Row]]) -> tuple[Line, list[Line]]:
    """The greatest number needed, the least Rand index there, and the mean one of ClusILC."""
    cells = [
        (task, method, str(number))
        for number in range(n_sets)
        for task in tasks
        for method in (COP, COP_AUTHORS, COP_LETTER)
    ]
    rows = run("ends", ("task", "method", "set"), cells, measure_end)
    lines = []
    for task, method in dict.fromkeys(cell[:2] for cell in cells):
        own = [row for row in rows if (row["task"], row["method"]) == (task, method)]
        needed, least = max(int(row["needed"]) for row in own), min(float(row["rand"]) for row in own)
        n_rows = int(SETS[task]["rows"])
        trees = "" if not own[0]["trees"] else f"{mean_of([float(row['trees']) for row in own]).value:.4f}"
        per_row = f"{needed / n_rows:.1f}"
        lines.append((task, method, str(len(own)), str(needed), per_row, f"{least:.4f}", trees))
    return ("task", "method", "sets", "constraints", "per_row", "rand", "trees"), lines


# ---------------------------------------------------------------- differences
def measure_trial(cell: Cell, folder: Path, scaled: bool) -> Row:
    """A trial of the experiment, on raw or on standardised columns."""
    rows = load(cell[0], folder)
    rows = Set(scale(rows.X), rows.y, rows.k) if scaled else rows
    return measure_rows(rows, cell[1], int(cell[2]), int(cell[3]))


def run_differences(
    part: str, tasks: list[str], n_sets: int, run: Callable[..., list[Row]]
) -> tuple[Line, list[Line]]:
    """ClusILC less COP-k-means for each number of constraints."""
    wanted = {task: LONGER[task] if part == "longer" else counts(task) for task in tasks}
    methods = [method for pair in VERSIONS.values() for method in pair if method not in (LETTER, COP_LETTER)]
    cells = [
        (task, method, str(count), str(number))
        for number in range(n_sets)
        for task in tasks
        for method in methods
        for count in wanted[task]
    ]
    work = partial(measure_trial, scaled=part == "scaled")
    found = {tuple(row[f] for f in ("task", "method", "constraints", "set")): row for row in run(
        part, ("task", "method", "constraints", "set"), cells, work
    )}  # fmt: skip
    lines = []
    for task in tasks:
        for version in ("default", "authors"):
            gaps = np.array(
                [
                    [_subtract(found, task, version, str(count), str(number)) for count in wanted[task]]
                    for number in range(n_sets)
                ]
            )
            by_count = {str(count): mean(gaps[:, at]) for at, count in enumerate(wanted[task])}
            for count, gap in (by_count | {"all": average_curve(gaps)}).items():
                error = "" if np.isnan(gap.error) else f"{gap.error:.4f}"
                verdict = judge_difference(gap)
                lines.append((task, version, count, str(n_sets), f"{gap.value:.4f}", error, verdict))
    return ("task", "version", "constraints", "sets", "cv", "cv_error", "cv_verdict"), lines


def _subtract(found: dict[Cell, Row], task: str, version: str, count: str, number: str) -> float:
    one, other = (found[task, method, count, number]["cv"] for method in VERSIONS[version])
    return float(one) - float(other) if one and other else np.nan


# ---------------------------------------------------------------- sets without a solution
def measure_refusal(cell: Cell, folder: Path) -> Row:
    """Whether one way finds a solution."""
    task, way, count, number = cell[0], cell[1], int(cell[2]), int(cell[3])
    rows = load(task, folder)
    order = np.random.default_rng(number).permutation(len(rows.y)) if way == SHUFFLED else slice(None)
    X, y = rows.X[order], rows.y[order]
    seed = np.random.default_rng([number, 0, count, 0])
    constraints = draw_constraints(y, count, random_state=seed)
    if way in ("authors", SHUFFLED):
        model = COPKMeans.authors(rows.k, max_iter=PASSES, random_state=number)
    else:
        n_init = 20 if way == STARTS else 1
        model = COPKMeans.paper(rows.k, n_init=n_init, max_iter=PASSES, random_state=number)
    with warnings.catch_warnings(action="ignore"):
        try:
            model.fit(X, constraints=constraints)
        except InfeasibleConstraintsError:
            return {"refused": "1"}
    return {"refused": "0"}


def run_refusals(tasks: list[str], n_sets: int, run: Callable[..., list[Row]]) -> tuple[Line, list[Line]]:
    """Share of the sets of constraints that have no solution, for each way."""
    cells = [
        (task, way, str(count), str(number))
        for task in tasks
        for way in WAYS
        for count in REFUSAL_COUNTS
        for number in range(n_sets)
    ]
    rows = run("refusals", ("task", "way", "constraints", "set"), cells, measure_refusal)
    lines = []
    for task, way, count in dict.fromkeys(cell[:3] for cell in cells):
        own = [
            float(row["refused"])
            for row in rows
            if (row["task"], row["way"], row["constraints"]) == (task, way, count)
        ]
        lines.append((task, way, count, str(len(own)), f"{mean_of(own).value:.3f}"))
    return ("task", "way", "constraints", "sets", "refused"), lines


def measure_draws(cell: Cell, folder: Path) -> Row:
    """How many sets of constraints one answer takes; nothing if there is none."""
    rows, count, number = load(cell[0], folder), int(cell[1]), int(cell[2])
    every = np.arange(len(rows.y))
    draws = range(1 + MOST_REDRAWS)
    first = next((draw for draw in draws if not refuses(rows, every, count, (number, 0, count, draw))), None)
    return {"needed": "" if first is None else str(first + 1)}


def run_draws(tasks: list[str], n_sets: int, run: Callable[..., list[Row]]) -> tuple[Line, list[Line]]:
    """Answers at once, and the mean number of sets of constraints for an answer."""
    places = [(task, str(count)) for task in tasks for count in counts(task)]
    needed: dict[Line, list[int]] = {place: [] for place in places}
    for numbers in (range(min(n_sets, FEW_SETS)), range(FEW_SETS, n_sets)):
        short = [place for place in places if not needed[place] or np.mean(needed[place]) <= LONG]
        cells = [(*place, str(number)) for number in numbers for place in short]
        for row in run("draws", ("task", "constraints", "set"), cells, measure_draws):
            needed[row["task"], row["constraints"]].append(int(row["needed"] or 1 + MOST_REDRAWS))
    lines = []
    for place, of in needed.items():
        found, without = mean_of(of), of.count(1 + MOST_REDRAWS)
        numbers_of = (len(of), of.count(1), f"{found.value:.1f}", f"{found.error:.1f}", without)
        lines.append((*place, *map(str, numbers_of)))
    return ("task", "constraints", "sets", "at_once", "needed", "needed_error", "without"), lines


# ---------------------------------------------------------------- sets and trees
def list_sets(tasks: Iterable[str], folder: Path) -> list[Line]:
    """The raw column with most of the sum of squares and its share; pairs and all constraints that follow."""
    lines = []
    for task in tasks:
        rows, pairs = load(task, folder), counts(task)[-1]
        spread = rows.X.var(axis=0)
        constraints = draw_constraints(rows.y, pairs, random_state=0)
        implied = count_implied_pairs(find_linked_rows(constraints))
        share = f"{spread.max() / spread.sum():.3f}"
        lines.append((task, str(int(spread.argmax()) + 1), share, str(pairs), str(implied)))
    return lines


def measure_size(cell: Cell, folder: Path) -> Row:
    """Nodes of one tree."""
    task, method, count = cell[0], cell[1], int(cell[2])
    rows = load(task, folder)
    seed = np.random.default_rng([0, 0, count, 0])
    constraints = draw_constraints(rows.y, count, random_state=seed)
    return {"nodes": str(cluster_rows(method, rows, constraints, 0)[1])}


def run_sizes(tasks: list[str], run: Callable[..., list[Row]]) -> tuple[Line, list[Line]]:
    """Nodes of the trees of each version."""
    cells = [(task, tree, str(count)) for task in tasks for tree in TREES for count in counts(task)]
    rows = run("sizes", ("task", "method", "constraints"), cells, measure_size)
    nodes = {(row["task"], row["method"], row["constraints"]): row["nodes"] for row in rows}
    lines = [
        (task, str(count), *(nodes[task, tree, str(count)] for tree, _ in VERSIONS.values()))
        for task in tasks
        for count in counts(task)
    ]
    return ("task", "constraints", *VERSIONS), lines


# ---------------------------------------------------------------- all of it
def run_parts(options: argparse.Namespace) -> str:
    """Run what is missing, write and tell."""
    folder = find_source(options).folder
    limit = QUICK_ROWS if options.quick else sys.maxsize
    here = [name for name in names(folder) if int(SETS[name]["rows"]) < limit]
    if folder is None or not here:
        raise SystemExit(f"None of {', '.join(SETS)} is there. Pass the folder of data sets with --data.")
    out = out_folder(options, "clusilc_quick" if options.quick else "clusilc")
    n_sets = min(options.sets, QUICK_SETS) if options.quick else options.sets
    drawn = QUICK_SETS if options.quick else DRAWN_SETS
    small = [name for name in here if int(SETS[name]["rows"]) <= MANY_ROWS]

    def run(part: str, fields: Line, cells: list[Cell], work: Callable[..., Row]) -> list[Row]:
        return run_cells(
            out / f"{part}_cells.csv", fields, cells, partial(work, folder=folder), uses=USES,
            jobs=options.jobs, reuse=options.reuse,
        )  # fmt: skip

    parts: dict[str, Callable[[], tuple[Line, list[Line]]]] = {
        "refusals": lambda: run_refusals(_known(REFUSALS, here), 5 * n_sets, run),
        "draws": lambda: run_draws(small, drawn, run),
        "scaled": lambda: run_differences("scaled", _known(SCALED, here), n_sets, run),
        "sets": lambda: (("task", "column", "share", "pairs", "implied"), list_sets(here, folder)),
        "sizes": lambda: run_sizes(here, run),
        "longer": lambda: run_differences("longer", _known(LONGER, here), n_sets, run),
        "ends": lambda: run_ends(here, n_sets, run),
    }
    texts = []
    for part in parts if options.only is None else options.only.split(","):
        fields, lines = parts[part]()
        write_csv(out / f"{part}.csv", fields, lines)
        texts.append(f"{part}: {out / f'{part}.csv'}\n{format_table(fields, lines)}")
    return "\n\n".join(["", *texts])


def _known(wanted: Iterable[str], here: list[str]) -> list[str]:
    return [task for task in wanted if task in here]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run clusilc_further", description="ClusILC, further"
    )
    add_common_options(parser)
    parser.add_argument("--sets", type=int, default=10, metavar="N", help="sets of constraints")
    parser.add_argument("--quick", action="store_true", help="few sets of constraints, small tables")
    parser.add_argument(
        "--only", metavar="A,B", help="parts: refusals, draws, scaled, sets, sizes, longer, ends"
    )
    print(run_parts(parser.parse_args(arguments)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
