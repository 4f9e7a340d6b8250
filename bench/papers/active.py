"""Compare active learners: mean ARI by number of questions, on groups of data sets.

    python -m bench run active --data DIR
    python -m bench run active --data DIR --groups many --runs 3
    python -m bench run active --data DIR --runs 3 --learners KIN COBRAS --tasks iris glass

KIN and COBRAS find the number of clusters; MinMax and NPU with MPCKMeans are given it, and ActiveCOBS
chooses from a pool. KIN was developed on the first group of sets, of which "few" is a part, and on "many",
which has sets with 10 to 36 classes; the second group is used for one final test. "made" has made-up sets
with 20 to 200 classes (`bench.made_sets`), and "others" a regular grid and two sets with 10 and 15 classes.
Groups with many classes have results of their own, whose names start with ``many_`` and ``made_``. The ARI
covers all rows, also those in questions. A group is compared with its aims if all its sets are present, and
a set if it has aims. `bench.papers.active_report` computes quartiles, ranks, wins and losses.

The ARI before the first question does not depend on the budget, so it is measured in cells of its own, in
``start.csv``. A3S is a program of others: `bench.peers.a3s` says where to get it. If it is not there, the
experiment says so and leaves it out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.made_sets import SHAPES
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
from bench.peers import a3s
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
    "few": ("iris", "ionosphere", "optdigits389", "ecoli", "segmentation", "glass", "sonar"),
    "many": ("mfeat_fou", "coil20", "yale", "alphadigits", "letter", "cardio"),
    "made": tuple(SHAPES),
    "others": ("balance", "libras", "pendigits2000"),
}  # fmt: skip


class Part(NamedTuple):
    """Groups that are measured after the same numbers of questions, and share their tables."""

    prefix: str
    """How the names of its results start."""
    groups: tuple[str, ...]
    at: tuple[int, ...]
    """Numbers of questions, without 0."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The numbers of questions as columns of its tables, from 0 on."""
        return ("0", *map(str, self.at))


PARTS = (
    Part("", ("first", "second", "few"), (3, 5, 10, 15, 25, 50, 100, 200)),
    Part("many_", ("many",), (3, 5, 10, 15, 25, 50, 100, 200, 400)),
    Part("made_", ("made", "others"), (3, 5, 10, 15, 25, 50, 100, 200, 400)),
)
LEARNERS: dict[str, Callable[[int, int], Any]] = {
    "KIN": lambda k, seed: KIN(random_state=seed),
    "COBRAS": lambda k, seed: COBRAS(random_state=seed),
    "MinMax": lambda k, seed: MinMax(k, estimator="mpckmeans", random_state=seed),
    "NPU": lambda k, seed: NPU(k, estimator="mpckmeans", random_state=seed),
    "ActiveCOBS": lambda k, seed: ActiveCOBS(random_state=seed),
}
ALL = (*LEARNERS, *a3s.LEARNERS)
USUAL = ("KIN", "COBRAS", "MinMax")
RUNS = 10
FIELDS = ("task", "learner", "run")
OURS = "KIN"


def find_part(task: str) -> Part:
    """The part of a task; a task outside all groups is measured as the first two groups are."""
    return next((part for part in PARTS if any(task in GROUPS[g] for g in part.groups)), PARTS[0])


def measure(cell: Cell, where: data.Source, at: Sequence[int]) -> Row:
    """ARI of one run after each number of questions."""
    name, learner, run = cell
    task = data.load(name, where)
    model = LEARNERS[learner](len(set(task.y)), int(run))
    model.fit(task.X, oracle=TruthOracle(task.y), budget=max(at))
    curve = score_curve(task.y, model.history_, max(at))
    return {str(n): f"{curve[n - 1]:.4f}" for n in at}


def measure_start(cell: Cell, where: data.Source) -> Row:
    """ARI before the first question."""
    name, learner, run = cell
    task = data.load(name, where)
    model = LEARNERS[learner](len(set(task.y)), int(run))
    model.fit(task.X, oracle=TruthOracle(task.y), budget=0)
    return {"0": f"{adjusted_rand_score(task.y, model.labels_):.4f}"}


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    learner = cell[1]
    if learner in a3s.LEARNERS:
        return a3s.USES
    return learner, *(("MPCKMeans",) if learner in ("MinMax", "NPU") else ()), "TruthOracle"


def measure_part(
    part: Part,
    tasks: Sequence[str],
    options: argparse.Namespace,
    where: data.Source,
    folder: Path,
    program: a3s.Program | None,
) -> list[Row]:
    """Run the cells of a part that have not been run; return the ARI of each from 0 questions on."""

    def list_cells(learners: Sequence[str]) -> list[Cell]:
        ours = [learner for learner in options.learners if learner in learners]
        return [(task, name, str(run)) for task in tasks for name in ours for run in range(options.runs)]

    cells, others = list_cells(tuple(LEARNERS)), list_cells(a3s.LEARNERS if program else ())
    run = partial(run_cells, uses=entries, jobs=options.jobs, reuse=options.reuse)
    starts = run(folder / "start.csv", FIELDS, cells, partial(measure_start, where=where))
    rows = run(folder / f"{part.prefix}runs.csv", FIELDS, cells, partial(measure, where=where, at=part.at))
    rows = [row | {"0": start["0"]} for row, start in zip(rows, starts, strict=True)]
    if program is None:
        return rows
    work = partial(a3s.measure, where=where, program=program, at=(0, *part.at))
    return rows + run(folder / f"{part.prefix}a3s.csv", FIELDS, others, work)


def build_lines(runs: Runs, part: Part) -> list[tuple[str, ...]]:
    """A line for each task and learner, then for each group of which all tasks are there."""
    lines = []
    found = dict(runs)
    for group in part.groups:
        for learner in find_learners(runs, GROUPS[group], ALL):
            found[group, learner] = average_tasks(runs, GROUPS[group], learner)
    for (name, learner), values in found.items():
        means, aims = values.mean(axis=0), find_aims(name, learner, part.columns)
        shown = " ".join(aim or "-" for aim in aims) if any(aims) else ""
        line = (name, learner, *format_values(means), format_bands(values), shown, check_aims(means, aims))
        lines.append(line)
    return lines


def format_bands(found: np.ndarray) -> str:
    """Quartiles over the runs after each number of questions."""
    return " ".join(f"{low:.2f}-{high:.2f}" for low, high in quartiles(found).T)


def build_rank_lines(runs: Runs, part: Part) -> list[tuple[str, ...]]:
    """Mean aligned ranks of the learners that were measured on a whole group."""
    lines = []
    for group in part.groups:
        tasks = GROUPS[group]
        found = find_learners(runs, tasks, ALL)
        if len(found) > 1:
            placed = ranks(runs, tasks, found)
            lines += [
                (group, name, *(f"{r:.1f}" for r in row)) for name, row in zip(found, placed, strict=True)
            ]
    return lines


def build_duel_lines(runs: Runs, part: Part) -> list[tuple[str, ...]]:
    """On how many sets KIN is better than each other learner, and worse."""
    lines = []
    for group in part.groups:
        tasks = GROUPS[group]
        found = find_learners(runs, tasks, ALL)
        for other in found if OURS in found else ():
            if other != OURS:
                counts = duel(runs, tasks, OURS, other).T
                lines.append((group, f"{OURS} : {other}", *(f"{won}:{lost}" for won, lost in counts)))
    return lines


def format_values(values: Sequence[float] | np.ndarray) -> list[str]:
    return [f"{value:.2f}" for value in values]


def find_aims(name: str, learner: str, columns: Sequence[str]) -> list[str]:
    """The aims for a group or set by number of questions; empty where there is none."""
    for row in read_target("active.csv"):
        if (row["group"], row["learner"], row["of"]) == (name, learner, "aim"):
            return [row.get(n) or "" for n in columns]
    return [""] * len(columns)


def check_aims(values: np.ndarray, aims: Sequence[str]) -> str:
    """Whether no mean is below its aim, both to two digits."""
    if not any(aims):
        return ""
    missed = any(round(v, 2) < float(aim) for v, aim in zip(values.tolist(), aims, strict=True) if aim)
    return "no" if missed else "yes"


def report_part(part: Part, rows: Sequence[Row], runs: int, folder: Path) -> bool:
    """Write and print the tables of a part and draw its curves; return whether an aim is missed."""
    found = group_runs(rows, part.columns)
    lines = build_lines(found, part)
    for name, title, head, shown in (
        (
            "table",
            f"Mean ARI on all rows by number of questions, {runs} runs",
            ("task", "learner", *part.columns, "quartiles", "aim", "met"),
            lines,
        ),
        (
            "aims",
            f"{OURS} beside its aims",
            ("task", "learner", *part.columns, "quartiles", "aim", "met"),
            [line for line in lines if line[1] == OURS and line[-1]],
        ),
        (
            "ranks",
            "Mean aligned ranks, the lowest is the best",
            ("group", "learner", *part.columns),
            build_rank_lines(found, part),
        ),
        (
            "duels",
            "Sets won and lost (paired runs, p < 0.05)",
            ("group", "duel", *part.columns),
            build_duel_lines(found, part),
        ),
    ):
        write_csv(folder / f"{part.prefix}{name}.csv", head, shown)
        if shown:
            print(f"\n{title}")
            print(format_table(head, shown))
    if find_spec("matplotlib") is not None:
        groups = {group: GROUPS[group] for group in part.groups}
        at = tuple(map(int, part.columns))
        draw_curves(folder / f"{part.prefix}curves.png", found, groups, ALL, at)
    return any(line[-1] == "no" for line in lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run active", description="Active learners")
    add_common_options(parser)
    parser.add_argument("--runs", "--seeds", type=int, default=RUNS, metavar="N", help="run r has seed r")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=tuple(GROUPS), metavar="GROUP")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks [default: all that are there]")
    parser.add_argument("--learners", nargs="+", choices=ALL, default=USUAL, metavar="LEARNER")
    a3s.add_options(parser)
    options = parser.parse_args(arguments)
    where = find_source(options)
    there = {*data.names(where), *SHAPES}
    in_groups = dict.fromkeys(t for group in options.groups for t in GROUPS[group] if t in there)
    chosen = options.tasks or list(in_groups)
    folder = out_folder(options, "active")
    program = a3s.find_program(options)
    if program is None and set(options.learners) & set(a3s.LEARNERS):
        print("A3S is left out, since its program was not found. Give its folder with --a3s.")
    missed = False
    for part in PARTS:
        if tasks := [task for task in chosen if find_part(task) is part]:
            rows = measure_part(part, tasks, options, where, folder, program)
            missed |= report_part(part, rows, options.runs, folder)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
