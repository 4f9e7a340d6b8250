"""COBS and active COBS: the paper's Table IV, Table III and figures beside ours.

    python -m bench.papers.cobs table4 --data DIR
    python -m bench.papers.cobs table3 --data DIR
    python -m bench.papers.cobs active --data DIR
    python -m bench.papers.cobs sweeps --data DIR

Van Craenendonck and Blockeel (2017), "Constraint-based clustering selection". ``--quick`` takes sets
that come with scikit-learn, and five runs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench import data
from bench.harness import (
    Row,
    add_common_options,
    out_folder,
    read_target,
    run_cells,
    source,
    table,
    write_csv,
)
from bench.papers.cobs_runs import (
    ASKING_FIELDS,
    BEST_FIELDS,
    CHOICE_FIELDS,
    CURVE,
    GRID,
    TASKS,
    asking_cells,
    choice_cells,
    measure_asking,
    measure_best,
    measure_choice,
    measuring,
)
from bench.plots import Panel, plot_panels

CONSTRAINTS, RUNS, QUICK_RUNS = 50, 25, 5
TOLERANCE = 0.05  # of ARI
QUICK_TASKS = ("iris", "wine", "breast_cancer")
SWEPT = ("wine", "dermatology")
FACTORS = ("1.05", "1.5", "2", "5", "10")
SAMPLES = ("50", "200", "1000", "5000")
FACTOR, SAMPLE = "2", "1000"  # the paper's choice
RANDOM = ("random", "", "")
SHOWN = (10, 25, 50, 100)


class Setting(NamedTuple):
    """What the options of a command amount to."""

    tasks: list[str]
    where: data.Source
    folder: Path
    runs: int
    jobs: int


def setting(options: argparse.Namespace, wanted: Sequence[str] = TASKS) -> Setting:
    where = data.Source() if options.quick else source(options)
    there = data.names(where)
    tasks = [t for t in (QUICK_TASKS if options.quick else wanted) if t in there]
    missing = [t for t in wanted if t not in there]
    if missing and not options.quick:
        print(f"without {len(missing)} of the paper's sets: {', '.join(missing)}")
    if not tasks:
        raise SystemExit("None of these sets is here; give their folder with --data, or try --quick.")
    folder = out_folder(options, "cobs_quick" if options.quick else "cobs")
    return Setting(tasks, where, folder, QUICK_RUNS if options.quick else options.runs, options.jobs)


# ---------------------------------------------------------------- means
class Mean(NamedTuple):
    """Mean of some runs and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.2f}" if np.isnan(self.error) else f"{self.value:.2f} ± {self.error:.2f}"


def mean_of(values: Sequence[float]) -> Mean:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Mean(float(np.mean(values)), float(error))


class Chosen(NamedTuple):
    """What COBS chose in all runs with one set."""

    ari: Mean
    algorithms: str
    """How often k-means, DBSCAN and spectral clustering."""


def chosen_by(rows: Iterable[Row]) -> dict[tuple[str, str, str], Chosen]:
    """For each (task, algorithms, tie)."""
    gathered: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        gathered.setdefault((row["task"], row["algorithms"], row["tie"]), []).append(row)
    return {
        key: Chosen(mean_of([float(r["ari"]) for r in of]), counts(r["algorithm"] for r in of))
        for key, of in gathered.items()
    }


def counts(algorithms: Iterable[str]) -> str:
    found = Counter(name.partition(",")[0] for name in algorithms)
    return "/".join(str(found[name]) for name in ("k-means", "DBSCAN", "spectral"))


def reaches(ours: float, theirs: float) -> bool:
    """Not below the printed figure by more than the tolerance, both to two digits."""
    return round(ours, 2) >= round(theirs - TOLERANCE, 2)


def printed(name: str) -> dict[str, Row]:
    return {row["task"]: row for row in read_target(name)}


# ---------------------------------------------------------------- Table IV
def table4(options: argparse.Namespace) -> int:
    """Best ARI in the pool, ARI of COBS after 50 constraints, and what it chose; 1 if over a tenth is lower."""
    s = setting(options)
    best_work = measuring(measure_best, s.where, s.folder)
    cells = [(task, "all") for task in s.tasks]
    best = run_cells(s.folder / "best.csv", BEST_FIELDS, cells, best_work, jobs=s.jobs)
    ours = chosen_by(choices(s, ["all"], ["random", "fewest"]))
    theirs = printed("cobs_table4.csv")
    lines = [table4_line(float(row["ari"]), row["task"], ours, theirs.get(row["task"])) for row in best]
    fields = (
        "task", "best", "paper", "ties at random", "paper", "K/D/S", "paper", "fewest clusters", "K/D/S",
        "reached",
    )  # fmt: skip
    write_csv(s.folder / "table4.csv", fields, lines)
    print(f"\nTable IV: {CONSTRAINTS} constraints, {s.runs} runs, mean ARI ± standard error")
    print(table(fields, lines))
    missed = sum(line[-1] not in ("both", "") for line in lines)
    print(f"\n{len(lines) - missed} of {len(lines)} sets within {TOLERANCE} of the paper or above, by both rules")
    return int(10 * missed > len(lines))


def choices(s: Setting, algorithms: Sequence[str], ties: Sequence[str]) -> list[Row]:
    cells = choice_cells(s.tasks, algorithms, ties, CONSTRAINTS, s.runs)
    work = measuring(measure_choice, s.where, s.folder)
    return run_cells(s.folder / "choices.csv", CHOICE_FIELDS, cells, work, jobs=s.jobs)


def table4_line(
    best: float, task: str, ours: dict[tuple[str, str, str], Chosen], theirs: Row | None
) -> tuple[str, ...]:
    at_random, fewest = ours[task, "all", "random"], ours[task, "all", "fewest"]
    told = ("", "", "", "") if theirs is None else (
        theirs["best"], theirs["cobs"], "/".join(theirs[a] for a in ("k-means", "DBSCAN", "spectral")),
        reached(at_random.ari.value, fewest.ari.value, float(theirs["cobs"])),
    )  # fmt: skip
    return (
        task, f"{best:.2f}", told[0], str(at_random.ari), told[1], at_random.algorithms, told[2],
        str(fewest.ari), fewest.algorithms, told[3],
    )  # fmt: skip


def reached(at_random: float, fewest: float, theirs: float) -> str:
    """By which rule for ties the printed figure is reached."""
    by = {"random": reaches(at_random, theirs), "fewest": reaches(fewest, theirs)}
    return "both" if all(by.values()) else next((name for name, holds in by.items() if holds), "none")


# ---------------------------------------------------------------- active COBS
def active(options: argparse.Namespace) -> int:
    """ARI after 1 to 100 questions of active COBS, and after as many random constraints."""
    s = setting(options)
    strategies = {"active": ("active", FACTOR, SAMPLE), "random": RANDOM}
    curves = asking(s, strategies)
    write_curves(s.folder / "active.csv", s.tasks, curves)
    draw(s.folder / "active.png", s.tasks, curves, columns=5)
    print(f"\nMean ARI of {s.runs} runs after so many questions: active / random constraints")
    lines = [
        (task, *(f"{curves[task, 'active'][n].value:.2f} / {curves[task, 'random'][n].value:.2f}" for n in SHOWN))
        for task in s.tasks
    ]
    means = [
        "{:.3f} / {:.3f}".format(
            *(np.mean([curves[task, name][n].value for task in s.tasks]) for name in strategies)
        )
        for n in SHOWN
    ]
    print(table(("task", *map(str, SHOWN)), [*lines, ("mean", *means)]))
    return 0


Curves = dict[tuple[str, str], dict[int, Mean]]


def asking(s: Setting, strategies: dict[str, tuple[str, str, str]]) -> Curves:
    """Mean ARI at each number of questions, for each task and each name of a strategy."""
    cells = asking_cells(s.tasks, dict.fromkeys(strategies.values()), s.runs)
    work = measuring(measure_asking, s.where, s.folder)
    rows = run_cells(s.folder / "asking.csv", ASKING_FIELDS, cells, work, jobs=s.jobs)
    gathered: dict[tuple[str, ...], list[np.ndarray]] = {}
    for row in rows:
        key = (row["task"], row["strategy"], row["factor"], row["sample"])
        gathered.setdefault(key, []).append(np.array(row[CURVE].split(), float))
    return {
        (task, name): {
            n: mean_of([curve[at] for curve in gathered[task, *strategy]]) for at, n in enumerate(GRID)
        }
        for task in s.tasks
        for name, strategy in strategies.items()
    }


def write_curves(path: Path, tasks: Sequence[str], curves: Curves) -> None:
    rows = (
        (task, name, n, f"{mean.value:.4f}", f"{mean.error:.4f}")
        for (task, name), by_number in curves.items()
        for n, mean in by_number.items()
        if task in tasks
    )
    write_csv(path, ("task", "strategy", "questions", "ari", "standard_error"), rows)


def draw(path: Path, tasks: Sequence[str], curves: Curves, columns: int | None = None) -> None:
    if find_spec("matplotlib") is None:
        return
    panels = []
    for task in tasks:
        of = {name: list(by.values()) for (t, name), by in curves.items() if t == task}
        values = {name: np.array([m.value for m in means]) for name, means in of.items()}
        errors = {name: np.array([m.error for m in means]) for name, means in of.items()}
        panels.append(Panel(task, "ARI", values, at=GRID, errors=errors))
    plot_panels(path, panels, columns=columns and min(columns, len(panels)))


def sweeps(options: argparse.Namespace) -> int:
    """Active COBS with other update factors (Figure 2) and other sizes of the sample (Figure 3)."""
    s = setting(options, SWEPT)
    swept = {
        "factors": {f"m = {m}": ("active", m, SAMPLE) for m in FACTORS},
        "samples": {f"s = {size}": ("active", FACTOR, size) for size in SAMPLES},
    }
    for name, strategies in swept.items():
        curves = asking(s, {**strategies, "random": RANDOM})
        write_curves(s.folder / f"{name}.csv", s.tasks, curves)
        draw(s.folder / f"{name}.png", s.tasks, curves)
        print(f"\nMean ARI of {s.runs} runs after so many questions")
        lines = [(task, of, *(str(by[n]) for n in SHOWN)) for (task, of), by in curves.items()]
        print(table(("task", "strategy", *map(str, SHOWN)), lines))
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.papers.cobs", description="COBS and active COBS")
    commands = parser.add_subparsers(required=True)
    for command in (table4, active, sweeps):
        sub = commands.add_parser(command.__name__, help=command.__doc__)
        add_common_options(sub)
        sub.add_argument("--runs", type=int, default=RUNS, metavar="N")
        sub.add_argument("--quick", action="store_true", help=f"scikit-learn's sets, {QUICK_RUNS} runs")
        sub.set_defaults(command=command)
    options = parser.parse_args(arguments)
    return int(options.command(options))


if __name__ == "__main__":
    sys.exit(main())
