"""Summarise the results of `bench.papers.active`: quartiles over runs, ranks, wins and losses, curves.

Runs are paired: run r of every learner has the same seed. A learner wins on a set if its mean is higher and
a permutation test of the paired differences (all signs, or 9999 of them) gives p < 0.05.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.plots import Panel, plot_panels
from bench.suites.cell_store import Row
from bench.suites.comparison import SIGNIFICANT, p_value_of_pairs, rank_aligned_scores
from bench.suites.summaries import quartiles

Runs = Mapping[tuple[str, str], np.ndarray]
"""(n_runs, n_budgets) ARI by task and learner, in order of runs."""

TITLES = {
    "many": "many classes",
    "few": "few classes",
    "made": "made-up sets, 20 to 200 classes",
    "others": "other sets",
    "groups": "classes of several groups",
}


def group_runs(rows: Sequence[Row], at: Sequence[str]) -> dict[tuple[str, str], np.ndarray]:
    """ARI of all runs by task and learner."""
    gathered: dict[tuple[str, str], list[tuple[int, list[float]]]] = {}
    for row in rows:
        values = int(row["run"]), [float(row[n]) for n in at]
        gathered.setdefault((row["task"], row["learner"]), []).append(values)
    return {key: np.array([values for _, values in sorted(runs)]) for key, runs in gathered.items()}


def find_learners(runs: Runs, tasks: Sequence[str], learners: Sequence[str]) -> list[str]:
    """The learners that were measured on all of some tasks."""
    return [name for name in learners if all((task, name) in runs for task in tasks)]


def average_tasks(runs: Runs, tasks: Sequence[str], learner: str) -> np.ndarray:
    """(n_runs, n_budgets) mean over the tasks, run by run."""
    n_runs = min(len(runs[task, learner]) for task in tasks)
    return np.mean([runs[task, learner][:n_runs] for task in tasks], axis=0)


def ranks(runs: Runs, tasks: Sequence[str], learners: Sequence[str]) -> np.ndarray:
    """(n_learners, n_budgets) mean aligned rank over the tasks; the lowest is the best."""
    means = np.array([[runs[task, name].mean(axis=0) for name in learners] for task in tasks])
    return np.stack([rank_aligned_scores(means[:, :, at]) for at in range(means.shape[2])], axis=1)


def duel(runs: Runs, tasks: Sequence[str], one: str, other: str) -> np.ndarray:
    """(2, n_budgets) on how many tasks `one` is better than `other`, and worse, beyond chance."""
    counts = []
    for task in tasks:
        n_runs = min(len(runs[task, one]), len(runs[task, other]))
        apart = runs[task, one][:n_runs] - runs[task, other][:n_runs]
        sure = np.array([p_value_of_pairs(column) < SIGNIFICANT for column in apart.T])
        counts.append([sure & (apart.mean(axis=0) > 0), sure & (apart.mean(axis=0) < 0)])
    return np.sum(counts, axis=0, dtype=np.int64)


def draw_curves(
    path: Path, runs: Runs, groups: Mapping[str, Sequence[str]], learners: Sequence[str], at: Sequence[int]
) -> bool:
    """Draw mean curves, half the distance of the quartiles around them; whether a whole group was there."""
    panels = []
    for group, tasks in groups.items():
        found = {name: average_tasks(runs, tasks, name) for name in find_learners(runs, tasks, learners)}
        if found:
            curves = {name: values.mean(axis=0) for name, values in found.items()}
            half = {name: np.ptp(quartiles(values), axis=0) / 2 for name, values in found.items()}
            title = TITLES.get(group, f"{group} group")
            panels.append(Panel(title, "mean ARI", curves, at=at, errors=half))
    if panels:
        plot_panels(path, panels)
    return bool(panels)
