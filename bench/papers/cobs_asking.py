"""The figures of the COBS paper: ARI by number of constraints, from questions or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.data import Source
from bench.harness import format_table, run_cells
from bench.papers.cobs_runs import (
    ASKING_FIELDS,
    GRID,
    TIES,
    asking_cells,
    asking_entries,
    bind_place,
    measure_asking,
)
from bench.plots import Panel, plot_panels
from bench.results import write_csv
from bench.suites.cell_store import read_rows
from bench.suites.summaries import Mean, mean_of

SHOWN = (10, 25, 50, 100)
Strategy = tuple[str, str, str]  # name, update factor, size of the sample
Curves = dict[tuple[str, str, str], list[Mean]]  # by task, name and rule for ties; at each of GRID


class Setting(NamedTuple):
    """What is measured, and where it goes."""

    tasks: list[str]
    where: Source
    folder: Path
    runs: int
    jobs: int = 1
    reuse: bool = False


def measure_curves(s: Setting, strategies: Mapping[str, Strategy]) -> Curves:
    """Mean ARI at each number of constraints, for each task, name of a strategy and rule for ties."""
    cells = asking_cells(s.tasks, strategies.values(), s.runs)
    work = bind_place(measure_asking, s.where, s.folder)
    rows = run_cells(
        s.folder / "asking.csv", ASKING_FIELDS, cells, work, uses=asking_entries, jobs=s.jobs, reuse=s.reuse
    )
    gathered: dict[tuple[str, ...], list[np.ndarray]] = {}
    for row in rows:
        for tie in TIES:
            key = (row["task"], row["strategy"], row["factor"], row["sample"], tie)
            gathered.setdefault(key, []).append(np.array(row[tie].split(), float))
    return {
        (task, name, tie): [mean_of(values) for values in np.array(gathered[task, *strategy, tie]).T]
        for task in s.tasks
        for name, strategy in strategies.items()
        for tie in TIES
    }


def write_curves(path: Path, curves: Curves, at: Sequence[int] = GRID) -> None:
    rows = (
        (*key, n, *(f"{value:.4f}" for value in mean))
        for key, means in curves.items()
        for n, mean in zip(at, means, strict=True)
    )
    write_csv(path, ("task", "strategy", "ties", "constraints", "ari", "standard_error", "lowest"), rows)


def read_curves(path: Path, names: Mapping[str, str], at: Sequence[int]) -> Curves:
    """Curves that `write_curves` has written, under other names; none where there is no such file."""
    found: dict[tuple[str, str, str], dict[int, Mean]] = {}
    for row in read_rows(path):
        if row["strategy"] in names:
            mean = Mean(*(float(row[field]) for field in ("ari", "standard_error", "lowest")))
            key = row["task"], names[row["strategy"]], row["ties"]
            found.setdefault(key, {})[int(row["constraints"])] = mean
    return {key: [means[n] for n in at] for key, means in found.items()}


def draw_curves(
    path: Path,
    tasks: Sequence[str],
    curves: Curves,
    columns: int | None = None,
    at: Sequence[int] = GRID,
    tie: str = TIES[0],
) -> None:
    """One panel for each task, with standard errors. Nothing without matplotlib."""
    if find_spec("matplotlib") is None:
        return
    panels = []
    for task in tasks:
        of = {name: means for (t, name, broken), means in curves.items() if (t, broken) == (task, tie)}
        values = {name: np.array([mean.value for mean in means]) for name, means in of.items()}
        errors = {name: np.array([mean.error for mean in means]) for name, means in of.items()}
        panels.append(Panel(task, "ARI", values, at=at, errors=errors))
    plot_panels(path, panels, "constraints", columns=columns and min(columns, len(panels)))


def format_curves(tasks: Sequence[str], curves: Curves) -> str:
    """The strategies at each number of constraints: by task with our rule for ties, in the mean with both."""
    names, heads = list(dict.fromkeys(name for _, name, _ in curves)), tuple(map(str, SHOWN))

    def ari(task: str, name: str, tie: str) -> np.ndarray:
        return np.array([curves[task, name, tie][GRID.index(n)].value for n in SHOWN])

    by_task = []
    for task in tasks:
        columns = zip(*(ari(task, name, TIES[0]) for name in names), strict=True)
        by_task.append((task, *(" / ".join(f"{value:.2f}" for value in values) for values in columns)))
    means = []
    for name, tie in product(names, TIES):
        mean = np.mean([ari(task, name, tie) for task in tasks], axis=0)
        means.append((name, tie, *(f"{value:.3f}" for value in mean)))
    of_means = format_table(("mean of the sets", "ties", *heads), means)
    return f"{format_table((' / '.join(names), *heads), by_task)}\n\n{of_means}"


def format_sweeps(tasks: Sequence[str], curves: Curves) -> str:
    """One line for each task and strategy; ties by our rule."""
    rows = [
        (task, name, *(str(means[GRID.index(n)]) for n in SHOWN))
        for task in tasks
        for (t, name, tie), means in curves.items()
        if (t, tie) == (task, TIES[0])
    ]
    return format_table(("task", "strategy", *map(str, SHOWN)), rows)
