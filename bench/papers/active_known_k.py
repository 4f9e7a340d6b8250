"""Compare learners with a known number of clusters, and COBRAS: mean ARI by number of questions.

    python -m bench run active_known_k
    python -m bench run active_known_k --runs 3 --tasks iris wine

Explore and Consolidate (Basu, Banerjee and Mooney 2004), MinMax (Mallapragada, Jin and Jain 2008) and NPU
(Xiong, Azimi and Fern 2014) run with PCKMeans and with MPCKMeans, on sets that come with scikit-learn. The
ARI covers all rows, also those in questions. COBRAS finds the number of clusters itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bench import data
from bench.harness import add_common_options, format_table, out_folder, read_target, run_cells
from bench.results import write_csv
from bench.suites.cell_store import Cell, Row
from bench.suites.scores import score_curve
from bench.suites.summaries import Mean, mean_of
from linkwise import COBRAS, NPU, ExploreConsolidate, MinMax, TruthOracle

TASKS = ("iris", "wine", "breast_cancer", "digits")
LEARNERS = {"ExploreConsolidate": ExploreConsolidate, "MinMax": MinMax, "NPU": NPU}
ESTIMATORS = ("pckmeans", "mpckmeans")
AT = (10, 25, 50, 100)  # questions
RUNS = 10
FIELDS = ("task", "learner", "estimator", "run")


def make_learner(learner: str, estimator: str, n_clusters: int, seed: int) -> Any:
    """A learner by its name; COBRAS has no estimator."""
    if learner == "COBRAS":
        return COBRAS(random_state=seed)
    return LEARNERS[learner](n_clusters, estimator=estimator, random_state=seed)


def measure(cell: Cell, where: data.Source) -> Row:
    """ARI of one run after each number of questions."""
    name, learner, estimator, run = cell
    task = data.load(name, where)
    model = make_learner(learner, estimator, len(set(task.y)), int(run))
    model.fit(task.X, oracle=TruthOracle(task.y), budget=max(AT))
    curve = score_curve(task.y, model.history_, max(AT))
    return {str(n): f"{curve[n - 1]:.4f}" for n in AT}


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    estimators = {"pckmeans": ("PCKMeans",), "mpckmeans": ("MPCKMeans",)}
    return cell[1], *estimators.get(cell[2], ()), "TruthOracle"


def list_cells(tasks: Sequence[str], runs: int) -> list[Cell]:
    ways = [*((learner, e) for learner in LEARNERS for e in ESTIMATORS), ("COBRAS", "")]
    return [(task, *way, str(run)) for task in tasks for way in ways for run in range(runs)]


def build_lines(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """For each task and learner the means, what is aimed at, and whether it is met."""
    gathered: dict[tuple[str, str, str], list[list[float]]] = {}
    for row in rows:
        key = (row["task"], row["learner"], row["estimator"])
        gathered.setdefault(key, []).append([float(row[str(n)]) for n in AT])
    lines = []
    for key, runs in gathered.items():
        means = [mean_of(column) for column in np.array(runs).T]
        aims = find_aims(key)
        lines.append((*key, *(f"{m.value:.2f}" for m in means), format_aims(aims), check_aims(means, aims)))
    return lines


def find_aims(key: tuple[str, str, str]) -> Row:
    """What is aimed at for a task, learner and estimator; nothing for most."""
    rows = read_target("active_known_k.csv")
    return next((r for r in rows if (r["task"], r["learner"], r["estimator"]) == key), {})


def format_aims(aims: Row) -> str:
    return " / ".join(aims[str(n)] or "-" for n in AT) if aims else ""


def check_aims(means: Sequence[Mean], aims: Row) -> str:
    """Whether no mean is below its aim, both to two digits."""
    if not aims:
        return ""
    wanted = [
        (round(m.value, 2), float(aims[str(n)])) for m, n in zip(means, AT, strict=True) if aims[str(n)]
    ]
    return "yes" if all(ours >= aim for ours, aim in wanted) else "no"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run active_known_k", description="Learners for a known number of clusters."
    )
    add_common_options(parser)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, metavar="TASK")
    options = parser.parse_args(arguments)
    folder = out_folder(options, "active_known_k")
    cells = list_cells(options.tasks, options.runs)
    work = partial(measure, where=data.Source())
    lines = build_lines(
        run_cells(
            folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
        )
    )
    fields = ("task", "learner", "estimator", *map(str, AT), "aim", "met")
    write_csv(folder / "table.csv", fields, lines)
    print(f"\nMean ARI on all rows by number of questions, {options.runs} runs")
    print(format_table(fields, lines))
    return int(any(line[-1] == "no" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
