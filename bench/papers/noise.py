"""Compare learners whose answers may be wrong: loss of ARI, error rates, suspects, time of a question.

    python -m bench run noise --data DIR
    python -m bench run noise --data DIR --groups development --learners KIN KIN-plain --noise 0 0.1 --runs 2
    python -m bench run noise --data DIR --kinds independent border
    python -m bench run noise --data DIR --acc
    python -m bench run noise --data DIR --team

KIN, COBRAS and MinMax (which is given the number of clusters) estimate the error rate and check doubtful
answers. ``KIN-told`` is given the rate. The learners with ``-plain`` take every answer as right, and so does
``KIN-majority``, which gets the majority of three answers to each question, with errors that are drawn
independently of each other: it asks a third of the questions. KIN was developed on the first group.

Errors are independent, or of the kinds that `TruthOracle` calls `hard`; those are measured with one answer
in ten wrong. The loss is the ARI of the plain learner without errors, less the ARI of the learner, in the
same run and after the same number of answers. The ARI covers all rows. The share of wrong answers is that
among the answers of a run, and the bounds of its estimate are those of the 95 % interval.

``--acc`` follows the experiments with active correlation clustering: ecoli with one answer in ten wrong, up
to 5000 questions. Their other set, 1000 rows of MNIST, is not among ours.

``--team`` lets several sources answer, see `bench.papers.noise_team`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from bench import data
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target, run_cells
from bench.papers import active
from bench.papers.noise_report import (
    LONG,
    PLAIN,
    Table,
    build_answers,
    build_calibration,
    build_long,
    build_means,
    build_summary,
    draw_curves,
    gather_runs,
)
from bench.papers.noise_runs import FIELDS, INDEPENDENT, KINDS, LEARNERS, find_tasks, measure, measure_long
from bench.papers.noise_team import AT as TEAM_AT
from bench.papers.noise_team import FIELDS as TEAM_FIELDS
from bench.papers.noise_team import (
    build_team,
    build_team_summary,
    choose_tasks,
    list_team_cells,
    measure_team,
)
from bench.results import write_csv
from bench.suites.cell_store import Cell

DEVELOPMENT = (
    "iris", "wine", "ionosphere", "ecoli", "dermatology", "parkinsons", "optdigits389", "segmentation",
    "digits",
)  # fmt: skip
GROUPS = {
    "development": DEVELOPMENT,
    "others": tuple(
        task for group in ("first", "second") for task in active.GROUPS[group] if task not in DEVELOPMENT
    ),
}
NOISE = ("0", "0.05", "0.1", "0.2")
HARD_NOISE = "0.1"  # of the kinds of errors that are not independent
AT = (25, 50, 100, 200, 400)  # answers
ACC_TASKS = ("ecoli",)
ACC_AT = (100, 200, 500, 1000, 2000, 5000)
RUNS = 5


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    family = LEARNERS[cell[1]].family
    checks = "linkwise.learn.run", "linkwise.constraints.fallible"
    return family, *(("MPCKMeans",) if family == "MinMax" else ()), *checks, "TruthOracle"


def team_entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell of a team enters linkwise."""
    evidence = "evidence" if cell[1] == "exact" else "fallible"
    return "KIN", "linkwise.learn.run", f"linkwise.constraints.{evidence}", "TruthOracle"


def list_cells(
    tasks: Sequence[str], learners: Sequence[str], kinds: Sequence[str], noise: Sequence[str], runs: int
) -> list[Cell]:
    """The cells of some choices, and those of the plain learners without errors; first run 0 of all sets."""
    errors = [(INDEPENDENT, share) for share in noise if INDEPENDENT in kinds or float(share) == 0]
    errors += [(kind, HARD_NOISE) for kind in kinds if kind != INDEPENDENT]
    families = {LEARNERS[learner].family: None for learner in learners}
    ways = [(family + PLAIN, INDEPENDENT, "0") for family in families]
    for learner in learners:
        # without errors, the learner that is told the rate is the plain one
        ways += [(learner, *way) for way in errors if learner != "KIN-told" or float(way[1]) > 0]
    ways = sorted(dict.fromkeys(ways), key=lambda way: list(families).index(LEARNERS[way[0]].family))
    return [(task, *way, str(run)) for run in range(runs) for task in tasks for way in ways]


def report(tables: dict[str, tuple[str, Table]], folder: Path) -> None:
    """Write and print tables."""
    for name, (title, (head, lines)) in tables.items():
        write_csv(folder / f"{name}.csv", head, lines)
        if lines:
            print(f"\n{title}")
            print(format_table(head, lines))


def run_short(options: argparse.Namespace, where: data.Source, folder: Path) -> bool:
    """Measure up to 400 answers; return whether an aim is missed."""
    there = find_tasks(where)
    tasks = options.tasks or [t for group in options.groups for t in GROUPS[group] if t in there]
    cells = list_cells(tasks, options.learners, options.kinds, options.noise, options.runs)
    work = partial(measure, where=where, at=AT)
    rows = run_cells(
        folder / "runs.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
    )
    runs, targets = gather_runs(rows), read_target("noise.csv")
    summary = build_summary(runs, GROUPS, AT, targets)
    title = f"{options.runs} runs, by the number of answers"
    report(
        {
            "table": (f"Mean ARI on all rows, {title}", build_means(runs, AT, targets)),
            "summary": (f"Mean loss of ARI to the plain learner without errors, {title}", summary),
            "answers": (
                f"Estimated error rates and suspects, {title}",
                build_answers(runs, GROUPS, AT),
            ),
            "calibration": (
                "Suspects by the chance that they are wrong",
                build_calibration(runs, GROUPS, AT),
            ),
        },
        folder,
    )
    if find_spec("matplotlib") is not None:
        for group, members in GROUPS.items():
            draw_curves(folder / f"{group}.png", runs, members, AT)
    return any("no" in line[-2:] for line in summary[1])


def run_long(options: argparse.Namespace, where: data.Source, folder: Path) -> bool:
    """Measure up to 5000 answers; return whether an aim is missed."""
    there = find_tasks(where)
    tasks = options.tasks or [task for task in ACC_TASKS if task in there]
    cells = [
        (task, name, INDEPENDENT, HARD_NOISE, str(run))
        for run in range(options.runs)
        for task in tasks
        for name in options.learners
    ]
    work = partial(measure_long, where=where, at=ACC_AT)
    rows = run_cells(
        folder / "acc_runs.csv", FIELDS, cells, work, uses=entries, jobs=options.jobs, reuse=options.reuse
    )
    table = build_long(rows, ACC_AT, read_target("noise_acc.csv"))
    title = "Mean ARI after many answers of which one in ten is wrong, its largest fall, and median waits"
    report({"acc": (f"{title}, {options.runs} runs", table)}, folder)
    return any(line[-1] == "no" for line in table[1])


def run_team(options: argparse.Namespace, where: data.Source, folder: Path) -> bool:
    """Measure teams that answer the questions; they have no aims."""
    groups = {group: GROUPS[group] for group in options.groups}
    cells = list_team_cells(choose_tasks(options.tasks, groups, where), options.runs)
    work = partial(measure_team, where=where, at=TEAM_AT)
    rows = run_cells(
        folder / "team_runs.csv", TEAM_FIELDS, cells, work, uses=team_entries, jobs=options.jobs,
        reuse=options.reuse,
    )  # fmt: skip
    title = "Mean ARI with a team, and for each member the estimated rate and its share of wrong answers"
    summary = "Mean ARI with teams, and the loss to one person without errors"
    report(
        {
            "team": (f"{title}, {options.runs} runs", build_team(rows, TEAM_AT)),
            "team_summary": (f"{summary}, {options.runs} runs", build_team_summary(rows, groups, TEAM_AT)),
        },
        folder,
    )
    return False


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run noise", description="Wrong answers")
    add_common_options(parser)
    parser.add_argument("--runs", "--seeds", type=int, default=RUNS, metavar="N", help="run r has seed r")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=tuple(GROUPS), metavar="GROUP")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks [default: all that are there]")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, metavar="LEARNER")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND", help="kinds of errors"
    )
    parser.add_argument(
        "--noise", nargs="+", choices=NOISE, default=NOISE, metavar="SHARE", help="shares of wrong answers"
    )
    parser.add_argument(
        "--acc", action="store_true", help="up to 5000 questions, as active correlation clustering"
    )
    parser.add_argument(
        "--team", action="store_true", help="three people and a program answer, with an adversary and without"
    )
    options = parser.parse_args(arguments)
    options.learners = options.learners or (LONG if options.acc else tuple(LEARNERS))
    where, folder = find_source(options), out_folder(options, "noise")
    run = run_team if options.team else run_long if options.acc else run_short
    return int(run(options, where, folder))


if __name__ == "__main__":
    sys.exit(main())
