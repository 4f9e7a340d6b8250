"""What Van Craenendonck and Blockeel (2017) leave open about their rivals: readings, beside Table III, Q2.

    python -m bench run cobs_readings --data DIR [--tasks TASK,TASK] [--only "CLUSTERER;CLUSTERER"] [--runs N]
        [--first N]

A clusterer is fitted for each number of clusters, and the number is chosen in several ways. The paper names
the program of MPCKMeans, which is WekaUT: by default it learns one metric for all clusters, and draws the
centres that are left over near the mean of all rows ("perturbed mean"). "WekaUT" is `MPCKMeans.authors`,
which does so and more, and "COSC 1.1" is `COSC.authors`. The paper does not say whether the folds of CVCP are
made of rows or of pairs, nor of which pairs the F-measure is, nor what its eigengap is. It says that ties of
NumSat go to the smallest number of clusters; "largest of ties" and "random of ties" show what depends on it.

Each reading changes one thing of the letter (`bench.papers.cobs_peers`), or two, joined by "+". It
draws the same constraints. The gap is the mean distance to the printed figures. The tables have all cells
that are finished. ``--first 5`` leaves the first five runs out, by which readings were chosen.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench import data
from bench.figures import TOLERANCE
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.cobs_choices import CHOICES, LETTER, Fit, Problem, choose_by_folds, join_parts
from bench.papers.cobs_runs import TASKS, draw_pairs
from bench.results import add_earlier, write_csv
from bench.suites.cell_store import Cell, Row, read_rows
from bench.suites.code_keys import fingerprint
from bench.suites.constraint_sets import label_pairs
from bench.suites.scores import score_elsewhere
from bench.suites.summaries import mean_of
from bench.suites.tasks import Source
from linkwise import COSC, Constraints, MPCKMeans
from linkwise.cluster.kmeans.starts import neighbourhood_means
from linkwise.rng import rng_at

PAIRS, RUNS = 50, 10
PERTURBATION = 0.7  # of the mean, in WekaUT
ONE_METRIC, WEKA, COSC_PROGRAM = "one metric", "WekaUT", "COSC 1.1"
PROGRAMS = (WEKA, COSC_PROGRAM)
MUST = "F of must-links"
WHOLE, FOLDED = "all constraints", "folds"
FIELDS = ("task", "clusterer", "kind", "run")
COLUMNS = ("task", "method", "reading", "runs", "printed", "ari", "error", "clusters")
GAPS = ("method", "reading", "runs", "figures", "within", "gap")
USES = ("MPCKMeans", "COSC", "Constraints", "linkwise.select.cvcp", "linkwise.cluster.validity.silhouette")


# ---------------------------------------------------------------- clusterers
def fit_mpck(
    X: np.ndarray, constraints: Constraints, k: int, seed: int, *, perturbed: bool = False, **changed: Any
) -> MPCKMeans:
    """MPCKMeans as printed, with some parameters changed."""
    if perturbed:
        changed["init"] = draw_perturbed_centres(X, constraints, k, seed)
    model = MPCKMeans.paper(k, random_state=seed, **changed)
    with warnings.catch_warnings(action="ignore"):
        return model.fit(X, constraints=constraints)


def fit_weka(X: np.ndarray, constraints: Constraints, k: int, seed: int) -> MPCKMeans:
    """MPCKMeans as WekaUT runs it."""
    with warnings.catch_warnings(action="ignore"):
        return MPCKMeans.authors(k, random_state=seed).fit(X, constraints=constraints)


def draw_perturbed_centres(X: np.ndarray, constraints: Constraints, k: int, seed: int) -> np.ndarray:
    """The means of the neighbourhoods; the centres that are left over lie near the mean of all rows."""
    given = neighbourhood_means(X, constraints, k)
    noise = rng_at(seed, k).random((k - len(given), X.shape[1])) - 0.5
    near = X.mean(axis=0) * (1 + PERTURBATION * noise)
    return np.vstack([given, near]) if len(given) else near


def fit_cosc(X: np.ndarray, constraints: Constraints, k: int, seed: int) -> COSC:
    """COSC with whole graphs and few starts."""
    with warnings.catch_warnings(action="ignore"):
        return COSC(k, n_init=2, n_runs=1, max_nodes=None, random_state=seed).fit(X, constraints=constraints)


def fit_cosc_program(X: np.ndarray, constraints: Constraints, k: int, seed: int) -> COSC:
    """COSC as its authors' program."""
    with warnings.catch_warnings(action="ignore"):
        return COSC.authors(k, random_state=seed).fit(X, constraints=constraints)


CLUSTERERS: dict[str, Fit] = {
    "mpck: letter": fit_mpck,
    f"mpck: {ONE_METRIC}": partial(fit_mpck, per_cluster=False),
    "mpck: full metrics": partial(fit_mpck, metric="full"),
    "mpck: one full metric": partial(fit_mpck, metric="full", per_cluster=False),
    "mpck: only given constraints": partial(fit_mpck, implied=False),
    "mpck: ten starts": partial(fit_mpck, n_init=10),
    "mpck: start of k-means": partial(fit_mpck, init="k-means++"),
    "mpck: perturbed mean": partial(fit_mpck, perturbed=True),
    "mpck: one metric, perturbed mean": partial(fit_mpck, per_cluster=False, perturbed=True),
    f"mpck: {WEKA}": fit_weka,
    "cosc: letter": fit_cosc,
    f"cosc: {COSC_PROGRAM}": fit_cosc_program,
}


SLOW = ("mpck: ten starts",)
"""Too slow for folds."""


# ---------------------------------------------------------------- cells
def measure(cell: Cell, where: Source) -> Row:
    """ARI and number of clusters of each method and choice, on the rows in no constraint."""
    name, clusterer, kind, run = cell
    task, fit = data.load(name, where), CLUSTERERS[clusterer]
    pairs = draw_pairs(len(task.y), int(run))[1][:PAIRS]
    constraints = label_pairs(task.y, pairs)
    problem = Problem(task.X, constraints, fit, int(run), {})
    found: dict[str, list[Any]] = {}
    for method, choose in CHOICES.items():
        if method.startswith(clusterer.partition(":")[0]) and (choose is choose_by_folds) == (kind == FOLDED):
            if kind == FOLDED and clusterer.endswith(PROGRAMS):
                choose = partial(choose_by_folds, with_pairs=False)
            for choice, k in (*choose(problem), ("true number", len(np.unique(task.y)))):
                score = score_elsewhere(task.y, problem.model(k).labels_, pairs)
                found[f"{method}|{choice}"] = [round(score, 4), k]
    return {"found": json.dumps(found)}


def list_cells(tasks: list[str], clusterers: list[str], kinds: list[str], runs: range) -> list[Cell]:
    """Run after run, so that an interrupted experiment has whole runs."""
    return [
        (task, name, kind, str(run))
        for run in runs
        for name in clusterers
        for kind in kinds
        for task in tasks
        if not (kind == FOLDED and name in SLOW)
    ]


# ---------------------------------------------------------------- tables
def is_told(change: str, choice: str) -> bool:
    """Whether a reading is in the tables: of those that change two things, only some with one metric are."""
    if change == ONE_METRIC:
        return choice not in ("2 to 9 clusters", "true number")
    return LETTER in (change, choice) or (change in PROGRAMS and choice == MUST)


def build_lines(found: list[Row]) -> list[tuple[str, ...]]:
    """Mean ARI by data set, method and reading, beside the printed figure."""
    groups: dict[tuple[str, str, str], list[list[float]]] = {}
    for row in found:
        for key, values in json.loads(row["found"]).items():
            method, choice = key.split("|")
            change = row["clusterer"].partition(": ")[2]
            if is_told(change, choice):
                groups.setdefault((row["task"], method, join_parts(change, choice)), []).append(values)
    printed = {row["task"]: row for row in read_target("cobs_table3.csv")}
    lines: list[tuple[str, ...]] = []
    for (task, method, reading), values in sorted(groups.items(), key=_place):
        ari, clusters = zip(*values, strict=True)
        lines.append((
            task, method, reading, str(len(values)), printed[task][method],
            *mean_of(list(ari)).texts(3), f"{np.mean(clusters):.1f}",
        ))  # fmt: skip
    return lines


def _place(group: tuple[tuple[str, str, str], Any]) -> tuple[int, int]:
    task, method, _ = group[0]
    return list(CHOICES).index(method), TASKS.index(task)


def build_gaps(lines: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Figures within the tolerance, and the mean distance to the printed ones, by method and reading.

    The number of runs is the least of its figures.
    """
    far: dict[tuple[str, str], list[float]] = {}
    least: dict[tuple[str, str], int] = {}
    for _, method, reading, runs, printed, ari, *_ in lines:
        far.setdefault((method, reading), []).append(abs(round(float(ari), 2) - float(printed)))
        least[method, reading] = min(int(runs), least.get((method, reading), int(runs)))
    return [
        (
            *key,
            str(least[key]),
            str(len(gaps)),
            str(sum(gap <= TOLERANCE + 1e-9 for gap in gaps)),
            f"{np.mean(gaps):.3f}",
        )
        for key, gaps in far.items()
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run cobs_readings", description="Readings")
    add_common_options(parser)
    parser.add_argument("--tasks", metavar="A,B", help=f"sets, of {', '.join(TASKS)}")
    parser.add_argument("--only", metavar="A;B", help=f"clusterers, of {'; '.join(CLUSTERERS)}")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help="sets of constraints")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first one")
    parser.add_argument(
        "--kind", choices=(WHOLE, FOLDED), help="only without, or only with, cross-validation"
    )
    options = parser.parse_args(arguments)
    where = find_source(options)
    wanted = options.tasks.split(",") if options.tasks else TASKS
    tasks = [task for task in wanted if task in data.names(where)]
    if not tasks:
        raise SystemExit("None of the paper's sets is there. Pass their folder with --data.")
    clusterers = options.only.split(";") if options.only else list(CLUSTERERS)
    kinds = [options.kind] if options.kind else [WHOLE, FOLDED]
    cells = list_cells(tasks, clusterers, kinds, range(options.first, options.first + options.runs))
    out = out_folder(options, "cobs")
    path = out / "readings_runs.csv"
    work: Callable[[Cell], Row] = partial(measure, where=where)
    run_cells(path, FIELDS, cells, work, uses=USES, jobs=options.jobs, reuse=options.reuse)
    code = fingerprint(*USES)
    trials = [row for row in read_rows(path) if options.reuse or row["code"] == code]
    lines = add_earlier(out / "readings.csv", build_lines(trials), 3)
    lines.sort(key=lambda line: _place(((line[0], line[1], line[2]), None)))
    write_csv(out / "readings.csv", COLUMNS, lines)
    gaps = build_gaps(lines)
    write_csv(out / "readings_gaps.csv", GAPS, gaps)
    print(format_table(GAPS, gaps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
