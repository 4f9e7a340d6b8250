"""Compare active learners: mean ARI by number of questions, on groups of data sets.

    python -m bench run active --data DIR
    python -m bench run active --data DIR --groups many --runs 3
    python -m bench run active --data DIR --runs 3 --learners KIN COBRAS --tasks iris glass

KIN and COBRAS find the number of clusters; MinMax and NPU with MPCKMeans are given it, and ActiveCOBS
chooses from a pool. KIN was developed on the first group of sets, of which "few" is a part, and on "many",
which has sets with 10 to 36 classes, and on sets like those of "groups"; the second group is used for one
final test. "made" has made-up sets with 20 to 200 classes (`bench.made_sets`), and "others" a regular grid
and two sets with 10 and 15 classes. In "groups" a class consists of several groups of rows that lie far apart
(`bench.multi_group_sets`). The results of these groups have names of their own, which start with ``many_``,
``made_`` and ``groups_``; ``curves.png`` shows the first and the second group and "groups". The ARI covers
all rows, also those in questions. A group is compared with its aims if all its sets are present, and a set if
it has aims. `bench.papers.active_report` computes quartiles, ranks, wins and losses.

A cell of KIN also holds its advice, and ``calibration.csv`` compares it with the truth
(`bench.papers.active_calibration`): all groups of which all cells are finished, by whichever command.

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
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.made_sets import SHAPES
from bench.multi_group_sets import MULTI_GROUP_SETS
from bench.papers.active_calibration import (
    CALIBRATED_AT,
    CALIBRATION_HEAD,
    build_calibration,
    describe_advice,
)
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
from bench.suites.cell_store import Cell, Row, read_cells
from linkwise import COBRAS, KIN, NPU, ActiveCOBS, MinMax, TruthOracle
from linkwise.constraints.evidence import Evidence
from linkwise.learn.abilities import SupportsAdvise
from linkwise.learn.run import Run
from linkwise.validation import check_rows, resolve_seed

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
    "groups": tuple(MULTI_GROUP_SETS),
}  # fmt: skip


class Part(NamedTuple):
    """Groups that are measured after the same numbers of questions, and share their tables."""

    prefix: str
    """How the names of its results start."""
    groups: tuple[str, ...]
    at: tuple[int, ...]
    """Numbers of questions, without 0."""
    drawn: tuple[str, ...] = ()
    """The groups of its picture; by default its own. A group of another part needs the same numbers there."""
    learners: tuple[str, ...] | None = None
    """Those that take part at most; None: all."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The numbers of questions as columns of its tables, from 0 on."""
        return ("0", *map(str, self.at))


PARTS = (
    Part(
        "",
        ("first", "second", "few"),
        (3, 5, 10, 15, 25, 50, 100, 200),
        drawn=("first", "second", "groups"),
    ),
    Part("many_", ("many",), (3, 5, 10, 15, 25, 50, 100, 200, 400)),
    Part("made_", ("made", "others"), (3, 5, 10, 15, 25, 50, 100, 200, 400)),
    # the others take half a minute for a run
    Part("groups_", ("groups",), (3, 5, 10, 15, 25, 50, 100, 200, 400), learners=("KIN", "COBRAS")),
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
    """ARI of one run after each number of questions, and after some of them what the learner advises."""
    name, learner, number = cell
    task = data.load(name, where)
    model, oracle = LEARNERS[learner](len(set(task.y)), int(number)), TruthOracle(task.y)
    X = check_rows(task.X, model)
    run = Run(model, X, Evidence(len(X)), resolve_seed(model.random_state), budget=max(at))
    row: Row = {}
    for n in at:
        while run.evidence.n_questions < n and (question := run.question) is not None:
            run.answer(oracle(question.first, question.second))
        row[str(n)] = f"{adjusted_rand_score(task.y, run.labels):.4f}"
        if n in CALIBRATED_AT and isinstance(model, SupportsAdvise):
            row |= describe_advice(model.advise(run.state), task.y, run.labels, n)
    return row


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
        allowed = learners if part.learners is None else part.learners
        ours = [learner for learner in options.learners if learner in learners and learner in allowed]
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
        figures = *format_means(means, aims), format_bands(values)
        lines.append((name, learner, *figures, shown, check_aims(means, aims)))
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


def format_means(means: np.ndarray, aims: Sequence[str]) -> list[str]:
    """Means with two digits, or with as many as their aim has."""
    return [f"{mean:.{max(2, count_digits(aim))}f}" for mean, aim in zip(means, aims, strict=True)]


def find_aims(name: str, learner: str, columns: Sequence[str]) -> list[str]:
    """The aims for a group or set by number of questions; empty where there is none."""
    for row in read_target("active.csv"):
        if (row["group"], row["learner"], row["of"]) == (name, learner, "aim"):
            return [row.get(n) or "" for n in columns]
    return [""] * len(columns)


def check_aims(means: np.ndarray, aims: Sequence[str]) -> str:
    """Whether no mean is below its aim, both to the digits of the aim."""
    if not any(aims):
        return ""
    pairs = [(mean, aim) for mean, aim in zip(means.tolist(), aims, strict=True) if aim]
    return "no" if any(round(mean, count_digits(aim)) < float(aim) for mean, aim in pairs) else "yes"


def count_digits(aim: str) -> int:
    """The number of digits after the point."""
    return len(aim.partition(".")[2])


def report_part(part: Part, rows: Sequence[Row], runs: int, folder: Path) -> bool:
    """Write and print the tables of a part; return whether an aim is missed."""
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
    return any(line[-1] == "no" for line in lines)


def draw_part(part: Part, rows: Sequence[Row], folder: Path) -> None:
    """Draw the curves of a part, out of the rows of all parts; do nothing without matplotlib."""
    if find_spec("matplotlib") is None:
        return
    groups = {group: GROUPS[group] for group in part.drawn or part.groups}
    tasks = {task for group in groups.values() for task in group}
    runs = group_runs([row for row in rows if row["task"] in tasks], part.columns)
    draw_curves(folder / f"{part.prefix}curves.png", runs, groups, ALL, tuple(map(int, part.columns)))


def report_calibration(options: argparse.Namespace, folder: Path) -> None:
    """Write and print how well the advice of KIN agrees with the truth, for all groups that are finished."""
    rows = []
    for part in PARTS:
        tasks = dict.fromkeys(task for group in part.groups for task in GROUPS[group])
        cells = [(task, OURS, str(run)) for task in tasks for run in range(options.runs)]
        file = folder / f"{part.prefix}runs.csv"
        rows += read_cells(file, FIELDS, cells, uses=entries, reuse=options.reuse)
    if lines := build_calibration(rows, GROUPS):
        write_csv(folder / "calibration.csv", CALIBRATION_HEAD, lines)
        print(f"\nThe advice of {OURS} beside the truth")
        print(format_table(CALIBRATION_HEAD, lines))


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
    there = {*data.names(where), *data.LOADERS}
    in_groups = dict.fromkeys(t for group in options.groups for t in GROUPS[group] if t in there)
    chosen = options.tasks or list(in_groups)
    folder = out_folder(options, "active")
    program = a3s.find_program(options)
    if program is None and set(options.learners) & set(a3s.LEARNERS):
        print("A3S is left out, since its program was not found. Pass its folder with --a3s.")
    missed, measured = False, dict[Part, list[Row]]()
    for part in PARTS:
        if tasks := [task for task in chosen if find_part(task) is part]:
            measured[part] = measure_part(part, tasks, options, where, folder, program)
            missed |= report_part(part, measured[part], options.runs, folder)
    for part in measured:
        draw_part(part, list(chain.from_iterable(measured.values())), folder)
    report_calibration(options, folder)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
