"""Learners beside each other: mean ARI after so many questions, on two groups of data sets.

    python -m bench.papers.active --data DIR
    python -m bench.papers.active --data DIR --runs 3 --learners KIN COBRAS --tasks iris glass

KIN and COBRAS find the number of clusters; MinMax and NPU with MPCKMeans are told it, and ActiveCOBS chooses
from a pool. The first group of sets is the one on which KIN may be changed, the second one is looked
at once. The ARI is that on all rows, those that were asked about included. A group is held against its aims
where all its sets are there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench import data
from bench.harness import (
    Cell,
    Row,
    add_common_options,
    out_folder,
    read_target,
    run_cells,
    source,
    table,
    write_csv,
)
from bench.scores import ari_curve
from linkwise import COBRAS, KIN, NPU, ActiveCOBS, MinMax, TruthOracle

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


def measure(cell: Cell, where: data.Source) -> Row:
    """ARI of one run after each number of questions."""
    name, learner, run = cell
    task = data.load(name, where)
    model = LEARNERS[learner](len(set(task.y)), int(run))
    model.fit(task.X, oracle=TruthOracle(task.y), budget=max(AT))
    curve = ari_curve(task.y, model.history_, max(AT))
    return {str(n): f"{curve[n - 1]:.4f}" for n in AT}


def means_of(rows: Sequence[Row]) -> dict[tuple[str, str], np.ndarray]:
    """Mean over the runs, by task and learner."""
    gathered: dict[tuple[str, str], list[list[float]]] = {}
    for row in rows:
        gathered.setdefault((row["task"], row["learner"]), []).append([float(row[str(n)]) for n in AT])
    return {key: np.mean(runs, axis=0) for key, runs in gathered.items()}


def lines_of(means: dict[tuple[str, str], np.ndarray]) -> list[tuple[str, ...]]:
    """A line for each task and learner, then for each group of which all tasks are there."""
    lines = [(task, learner, *texts(values), "", "") for (task, learner), values in means.items()]
    for group, tasks in GROUPS.items():
        for learner in LEARNERS:
            if all((task, learner) in means for task in tasks):
                values = np.mean([means[task, learner] for task in tasks], axis=0)
                aims = aims_of(group, learner)
                lines.append((group, learner, *texts(values), " ".join(texts(aims)), met(values, aims)))
    return lines


def texts(values: Sequence[float] | np.ndarray) -> list[str]:
    return [f"{value:.2f}" for value in values]


def aims_of(group: str, learner: str) -> list[float]:
    """What is aimed at for a group; nothing for most learners."""
    for row in read_target("active.csv"):
        if (row["group"], row["learner"], row["of"]) == (group, learner, "aim"):
            return [float(row[str(n)]) for n in AT]
    return []


def met(values: np.ndarray, aims: Sequence[float]) -> str:
    """Whether no mean is below its aim, both to two digits."""
    if not aims:
        return ""
    return "yes" if all(round(v, 2) >= aim for v, aim in zip(values.tolist(), aims, strict=True)) else "no"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.papers.active", description="Active learners")
    add_common_options(parser)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="all that are there otherwise")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=USUAL, metavar="LEARNER")
    options = parser.parse_args(arguments)
    where = source(options)
    there = [task for group in GROUPS.values() for task in group if task in data.names(where)]
    folder = out_folder(options, "active")
    cells = [
        (task, learner, str(run))
        for task in options.tasks or there
        for learner in options.learners
        for run in range(options.runs)
    ]
    rows = run_cells(folder / "runs.csv", FIELDS, cells, partial(measure, where=where), jobs=options.jobs)
    lines = lines_of(means_of(rows))
    fields = ("task", "learner", *map(str, AT), "aim", "met")
    write_csv(folder / "table.csv", fields, lines)
    print(f"\nMean ARI on all rows after so many questions, {options.runs} runs")
    print(table(fields, lines))
    return int(any(line[-1] == "no" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
