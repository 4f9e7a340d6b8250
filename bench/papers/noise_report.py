"""Summarise the results of `bench.papers.noise`: losses, estimated error rates, suspects, waits, curves.

Means over a group are means over its sets of the means over runs; a group is shown if all its sets were
measured. Counts of answers and of suspects are added over sets and runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.papers.noise_runs import EDGES, INDEPENDENT, KINDS, LEARNERS, read_bins
from bench.plots import Panel, plot_panels
from bench.suites.cell_store import Row

Way = tuple[str, str, str]
"""Learner, kind of errors and share of wrong answers."""
Runs = Mapping[tuple[str, Way], Sequence[Row]]
"""Rows by task and way, in the order of runs."""
Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Header and lines."""

PLAIN = "-plain"
LONG = ("KIN", "KIN-plain")
AIMED = 100  # answers after which losses are compared with aims, and suspects put into bins
DEEPEST = -0.05  # the lowest ARI that is aimed at, less the ARI before the first question
LARGEST_FALL = 0.02


def gather_runs(rows: Iterable[Row]) -> dict[tuple[str, Way], list[Row]]:
    """Rows by task and way."""
    found: dict[tuple[str, Way], list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["run"])):
        found.setdefault((row["task"], (row["learner"], row["kind"], row["noise"])), []).append(row)
    return found


def find_ways(runs: Runs, tasks: Sequence[str]) -> list[Way]:
    """The ways that were measured on all of some tasks, by learner, kind and share."""
    ways = {way for _, way in runs if all((task, way) in runs for task in tasks)}
    return sorted(ways, key=_order)


def _order(way: Way) -> tuple[int, int, float]:
    learner, kind, noise = way
    return list(LEARNERS).index(learner), KINDS.index(kind), float(noise)


def _read(rows: Sequence[Row], columns: Iterable[object]) -> np.ndarray:
    """(n_runs, n_columns) numbers of some rows."""
    columns = [str(column) for column in columns]
    return np.array([[float(row[column]) for column in columns] for row in rows])


# ---------------------------------------------------------------- ARI
def build_means(runs: Runs, at: Sequence[int], targets: Sequence[Row]) -> Table:
    """A line for each task and way with the mean ARI, then what others reach on the task."""
    head = ("task", "learner", "kind", "noise", "0", *map(str, at), "lowest")
    lines = []
    for task in dict.fromkeys(task for task, _ in runs):
        for way in find_ways(runs, (task,)):
            means = _read(runs[task, way], (0, *at)).mean(axis=0)
            lowest = min(float(row["lowest"]) for row in runs[task, way])
            lines.append((task, *way, *(f"{value:.3f}" for value in means), f"{lowest:.3f}"))
        for row in targets:
            if row["of"] == "theirs" and row["group"] == task:
                theirs = (row.get(str(n), "") for n in at)
                lines.append((task, row["learner"], INDEPENDENT, row["noise"], "", *theirs, ""))
    return head, lines


def find_losses(runs: Runs, tasks: Sequence[str], way: Way, at: Sequence[int]) -> np.ndarray | None:
    """Mean loss after each number of answers, run by run; None if the plain learner was not measured."""
    plain = LEARNERS[way[0]].family + PLAIN, INDEPENDENT, "0"
    losses = []
    for task in tasks:
        if (task, plain) not in runs:
            return None
        ours, best = _read(runs[task, way], at), _read(runs[task, plain], at)
        n_runs = min(len(ours), len(best))
        losses.append((best[:n_runs] - ours[:n_runs]).mean(axis=0))
    return np.asarray(np.mean(losses, axis=0))


def build_summary(
    runs: Runs, groups: Mapping[str, Sequence[str]], at: Sequence[int], targets: Sequence[Row]
) -> Table:
    """A line for each whole group and way: runs of each set, losses, falls below the start, waits, aims.

    "lowest" is the lowest ARI of a run less that before its first question: of all runs, and on average.
    "reached" is about the loss after 100 answers, and "held" about the lowest ARI of all runs.
    "median_ms" is the median of the runs' medians, and "longest_ms" the longest wait of all.
    """
    numbers = tuple(map(str, at))
    head = ("group", "learner", "kind", "noise", "runs", *numbers, "lowest", "mean_lowest", "median_ms",
            "longest_ms", "aim", "reached", "held")  # fmt: skip
    lines = []
    for group, tasks in groups.items():
        for way in find_ways(runs, tasks):
            losses = find_losses(runs, tasks, way, at)
            rows = [row for task in tasks for row in runs[task, way]]
            depths = _read(rows, ("lowest",))
            lowest = float(depths.min())
            asked = [row for row in rows if row["median_ms"]]
            waits = _read(asked, ("median_ms", "longest_ms")) if asked else np.full((1, 2), np.nan)
            aim = find_aim(group, way, targets, AIMED)
            lines.append(
                (
                    group,
                    *way,
                    str(min(len(runs[task, way]) for task in tasks)),
                    *(("",) * len(at) if losses is None else (f"{loss:.3f}" for loss in losses)),
                    f"{lowest:.3f}",
                    f"{depths.mean():.3f}",
                    f"{np.median(waits[:, 0]):.1f}",
                    f"{waits[:, 1].max():.1f}",
                    aim,
                    *check_aims(aim, at, losses, lowest),
                )
            )
    return head, lines


def find_aim(group: str, way: Way, targets: Sequence[Row], number: int) -> str:
    """What is aimed at after a number of answers; empty for most ways."""
    learner, kind, noise = way
    wanted = group, learner, noise, "aim"
    for row in targets if kind == INDEPENDENT else ():
        if (row["group"], row["learner"], row["noise"], row["of"]) == wanted:
            return row.get(str(number), "")
    return ""


def check_aims(aim: str, at: Sequence[int], losses: np.ndarray | None, lowest: float) -> tuple[str, str]:
    """Whether the loss is not above its aim, and whether no run falls too far below its start."""
    if not aim or losses is None or AIMED not in at:
        return "", ""
    loss = round(float(losses[list(at).index(AIMED)]), 3)
    return "yes" if loss <= float(aim) else "no", "yes" if round(lowest, 3) >= DEEPEST else "no"


# ---------------------------------------------------------------- what is believed
def build_answers(runs: Runs, groups: Mapping[str, Sequence[str]], at: Sequence[int]) -> Table:
    """For each whole group, way and number of answers: estimated and true error rates, and suspects."""
    head = ("group", "learner", "kind", "noise", "answers", "wrong", "estimated", "low", "high", "inside",
            "suspects", "precision", "recall")  # fmt: skip
    lines = []
    for group, tasks in groups.items():
        for way in find_ways(runs, tasks):
            rows = [row for task in tasks for row in runs[task, way]]
            if LEARNERS[way[0]].rate != "none" and all(row["rate " + str(at[0])] for row in rows):
                lines += [(group, *way, str(n), *describe_answers(rows, n)) for n in at]
    return head, lines


def describe_answers(rows: Sequence[Row], n: int) -> tuple[str, ...]:
    """The columns from "wrong" on.

    Mean shares of wrong answers, estimated rates and bounds of their intervals; the share of runs in whose
    interval the share of wrong answers is; suspects in a run, how many of all are wrong, and how many of the
    wrong answers are among them.
    """
    names = ("answers", "wrong", "rate", "low", "high", "suspects", "hits")
    answers, wrong, rate, low, high, suspects, hits = _read(rows, (f"{name} {n}" for name in names)).T
    truth = wrong / np.maximum(answers, 1)
    inside = (low - 1e-9 <= truth) & (truth <= high + 1e-9)
    return (
        f"{truth.mean():.3f}",
        f"{rate.mean():.3f}",
        f"{low.mean():.3f}",
        f"{high.mean():.3f}",
        f"{inside.mean():.2f}" if (high > low).any() else "",
        f"{suspects.mean():.1f}",
        _format_share(hits.sum(), suspects.sum()),
        _format_share(hits.sum(), wrong.sum()),
    )


def _format_share(part: float, whole: float) -> str:
    return f"{part / whole:.2f}" if whole else ""


def build_calibration(runs: Runs, groups: Mapping[str, Sequence[str]], at: Sequence[int]) -> Table:
    """For each whole group and way: suspects in bins of the chance that they are wrong, and how many are."""
    head = ("group", "learner", "kind", "noise", "answers", "chance", "suspects", "mean_chance", "wrong")
    number = AIMED if AIMED in at else at[-1]
    bounds = ("0", *map(str, EDGES), "1")
    lines = []
    for group, tasks in groups.items():
        for way in find_ways(runs, tasks):
            texts = [row[f"chances {number}"] for task in tasks for row in runs[task, way]]
            if LEARNERS[way[0]].rate == "none" or not all(texts):
                continue
            total = np.sum([read_bins(text) for text in texts], axis=0)
            for low, high, (n, chances, hits) in zip(bounds[:-1], bounds[1:], total, strict=True):
                if n:
                    shares = f"{chances / n:.3f}", f"{hits / n:.3f}"
                    lines.append((group, *way, str(number), f"{low}-{high}", f"{n:.0f}", *shares))
    return head, lines


# ---------------------------------------------------------------- long runs
def build_long(rows: Sequence[Row], at: Sequence[int], targets: Sequence[Row]) -> Table:
    """A line for each task and way of long runs, then what others reach on the task."""
    head = ("task", "learner", "noise", "0", *map(str, at), "questions", "fall",
            *(f"ms {n}" for n in at), "longest_ms", "aim", "met")  # fmt: skip
    runs = gather_runs(rows)
    lines = []
    for task in dict.fromkeys(task for task, _ in runs):
        for way in find_ways(runs, (task,)):
            found = runs[task, way]
            means = _read(found, (0, *at)).mean(axis=0)
            fall = max(float(row["fall"]) for row in found)
            aim = find_aim(task, way, targets, at[-1])
            is_met = aim and round(float(means[-1]), 2) >= float(aim) and round(fall, 3) <= LARGEST_FALL
            lines.append(
                (
                    task,
                    way[0],
                    way[2],
                    *(f"{value:.3f}" for value in means),
                    f"{np.mean([float(row['questions']) for row in found]):.0f}",
                    f"{fall:.3f}",
                    *(_median([row[f"ms {n}"] for row in found]) for n in at),
                    _median([row["longest_ms"] for row in found]),
                    aim,
                    "" if not aim else "yes" if is_met else "no",
                )
            )
    for row in targets:
        if row["of"] == "theirs" and any(row["group"] == task for task, _ in runs):
            theirs = (row.get(str(n), "") for n in (0, *at))
            lines.append((row["group"], row["learner"], row["noise"], *theirs, *("",) * (len(at) + 5)))
    return head, lines


def _median(texts: Sequence[str]) -> str:
    """The median of the texts that are numbers; empty if there are none: the runs ended before."""
    values = [float(text) for text in texts if text]
    return f"{np.median(values):.1f}" if values else ""


# ---------------------------------------------------------------- curves
def draw_curves(path: Path, runs: Runs, tasks: Sequence[str], at: Sequence[int]) -> bool:
    """Draw mean curves on a group, one panel for each way of errors; whether the whole group was there."""
    found = find_ways(runs, tasks)
    panels = []
    for kind, noise in sorted({way[1:] for way in found}, key=lambda e: (KINDS.index(e[0]), float(e[1]))):
        curves = {
            way[0]: np.mean([_read(runs[task, way], (0, *at)).mean(axis=0) for task in tasks], axis=0)
            for way in found
            if way[1:] == (kind, noise)
        }
        title = f"{float(noise):.0%} wrong" + ("" if kind == INDEPENDENT else f", {kind}")
        panels.append(Panel(title, "mean ARI", curves, at=(0, *at)))
    if panels:
        plot_panels(path, panels, "answers", columns=min(3, len(panels)))
    return bool(panels)
