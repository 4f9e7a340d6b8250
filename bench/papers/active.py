"""Compare active learners: mean ARI by number of questions, on two groups of data sets.

    python -m bench run active --data DIR
    python -m bench run active --data DIR --runs 3 --learners KIN COBRAS --tasks iris glass

KIN and COBRAS find the number of clusters; MinMax and NPU with MPCKMeans are given it, and ActiveCOBS
chooses from a pool. KIN was developed on the first group of sets; the second group is used for one final
test. The ARI covers all rows, also those in questions. A group is compared with its aims if all its sets
are present. `bench.papers.active_report` computes quartiles, ranks, wins and losses.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers.active_report import (
    Runs,
    average_tasks,
    draw_curves,
    duel,
    find_learners,
    group_runs,
    quartiles,
    ranks,
)
from bench.results import write_csv
from linkwise import COBRAS, KIN, NPU, ActiveCOBS, MinMax, TruthOracle
from linkwise.experiments.cell_store import Cell, Row
from linkwise.experiments.scores import score_curve

GROUPS = {
    "first": (
        "iris", "ionosphere", "optdigits389", "ecoli", "segmentation", "glass", "sonar", "faces_identity",
        "news_similar3",
    ),
    "second": (
        "wine", "dermatology", "breast-cancer-wisconsin", "hepatitis", "column_2C", "parkinsons", "yeast",
        "faces_pose", "news_different3",
    ),
}  # fmt: skip
LEARNERS: dict[str, Callable[[int, int], Any]] = {
    "KIN": lambda k, seed: KIN(random_state=seed),
    "COBRAS": lambda k, seed: COBRAS(random_state=seed),
    "MinMax": lambda k, seed: MinMax(k, estimator="mpckmeans", random_state=seed),
    "NPU": lambda k, seed: NPU(k, estimator="mpckmeans", random_state=seed),
    "ActiveCOBS": lambda k, seed: ActiveCOBS(random_state=seed),
}
USUAL = ("KIN", "COBRAS", "MinMax")
AT = (10, 25, 50, 100, 200)  # questions
RUNS = 10
FIELDS = ("task", "learner", "run")
OURS = "KIN"
HEAD = ("task", "learner", *map(str, AT), "quartiles", "aim", "met")


def measure(cell: Cell, where: data.Source) -> Row:
    """ARI of one run after each number of questions."""
    name, learner, run = cell
    task = data.load(name, where)
    model = LEARNERS[learner](len(set(task.y)), int(run))
    model.fit(task.X, oracle=TruthOracle(task.y), budget=max(AT))
    curve = score_curve(task.y, model.history_, max(AT))
    return {str(n): f"{curve[n - 1]:.4f}" for n in AT}


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    learner = cell[1]
    return learner, *(("MPCKMeans",) if learner in ("MinMax", "NPU") else ()), "TruthOracle"


def build_lines(runs: Runs) -> list[tuple[str, ...]]:
    """A line for each task and learner, then for each group of which all tasks are there."""
    lines = []
    for (task, learner), found in runs.items():
        lines.append((task, learner, *format_values(found.mean(axis=0)), format_bands(found), "", ""))
    for group, tasks in GROUPS.items():
        for learner in find_learners(runs, tasks, tuple(LEARNERS)):
            found, aims = average_tasks(runs, tasks, learner), find_aims(group, learner)
            values = found.mean(axis=0)
            lines.append(
                (
                    group,
                    learner,
                    *format_values(values),
                    format_bands(found),
                    " ".join(format_values(aims)),
                    check_aims(values, aims),
                )
            )
    return lines


def format_bands(found: np.ndarray) -> str:
    """Quartiles over the runs after each number of questions."""
    return " ".join(f"{low:.2f}-{high:.2f}" for low, high in quartiles(found).T)


def build_rank_lines(runs: Runs) -> list[tuple[str, ...]]:
    """Mean aligned ranks of the learners that were measured on a whole group."""
    lines = []
    for group, tasks in GROUPS.items():
        found = find_learners(runs, tasks, tuple(LEARNERS))
        if len(found) > 1:
            placed = ranks(runs, tasks, found)
            lines += [
                (group, name, *(f"{r:.1f}" for r in row)) for name, row in zip(found, placed, strict=True)
            ]
    return lines


def build_duel_lines(runs: Runs) -> list[tuple[str, ...]]:
    """On how many sets KIN is better than each other learner, and worse."""
    lines = []
    for group, tasks in GROUPS.items():
        found = find_learners(runs, tasks, tuple(LEARNERS))
        for other in found if OURS in found else ():
            if other != OURS:
                counts = duel(runs, tasks, OURS, other).T
                lines.append((group, f"{OURS} : {other}", *(f"{won}:{lost}" for won, lost in counts)))
    return lines


def format_values(values: Sequence[float] | np.ndarray) -> list[str]:
    return [f"{value:.2f}" for value in values]


def find_aims(group: str, learner: str) -> list[float]:
    """What is aimed at for a group; nothing for most learners."""
    for row in read_target("active.csv"):
        if (row["group"], row["learner"], row["of"]) == (group, learner, "aim"):
            return [float(row[str(n)]) for n in AT]
    return []


def check_aims(values: np.ndarray, aims: Sequence[float]) -> str:
    """Whether no mean is below its aim, both to two digits."""
    if not aims:
        return ""
    return "yes" if all(round(v, 2) >= aim for v, aim in zip(values.tolist(), aims, strict=True)) else "no"


def _write_and_print(
    folder: Path, name: str, title: str, fields: Sequence[str], lines: list[tuple[str, ...]]
) -> None:
    write_csv(folder / f"{name}.csv", fields, lines)
    if lines:
        print(f"\n{title}")
        print(format_table(fields, lines))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run active", description="Active learners")
    add_common_options(parser)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks [default: all that are there]")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=USUAL, metavar="LEARNER")
    options = parser.parse_args(arguments)
    where = find_source(options)
    there = [task for group in GROUPS.values() for task in group if task in data.names(where)]
    folder = out_folder(options, "active")
    cells = [
        (task, learner, str(run))
        for task in options.tasks or there
        for learner in options.learners
        for run in range(options.runs)
    ]
    rows = run_cells(
        folder / "runs.csv",
        FIELDS,
        cells,
        partial(measure, where=where),
        uses=entries,
        jobs=options.jobs,
        reuse=options.reuse,
    )
    runs = group_runs(rows, AT)
    lines = build_lines(runs)
    at = tuple(map(str, AT))
    show = partial(_write_and_print, folder)
    show("table", f"Mean ARI on all rows by number of questions, {options.runs} runs", HEAD, lines)
    show(
        "ranks",
        "Mean aligned ranks, the lowest is the best",
        ("group", "learner", *at),
        build_rank_lines(runs),
    )
    show("duels", "Sets won and lost (paired runs, p < 0.05)", ("group", "duel", *at), build_duel_lines(runs))
    if find_spec("matplotlib") is not None:
        draw_curves(folder / "curves.png", runs, GROUPS, tuple(LEARNERS), AT)
    return int(any(line[-1] == "no" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
