"""FOSC, compared with its figures in Van Craenendonck and Blockeel (2017), Table III.

    python -m bench run fosc [--data DIR] [--runs N]

Each run draws 50 random constraints between rows out of 70 % of a set and clusters all rows. The ARI covers
the rows that are in no constraint. minPts is 4, and features are in [0, 1]. The paper does not say how it
treats ties and noise, so every combination runs, also with fewer constraints. Remaining noise counts as one
cluster. The verdict is about the way that comes nearest to the printed figures: larger clusters in ties, and
noise to the nearest cluster.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from bench import data
from bench.figures import Figure
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target
from bench.papers.cobs_runs import TASKS, draw_pairs
from bench.results import write_csv
from bench.suites.constraint_sets import label_pairs
from bench.suites.scores import score_elsewhere
from bench.suites.summaries import mean_of
from linkwise import FOSC

PAIRS, RUNS = (5, 25, 50), 25
WAYS: tuple[tuple[Any, Any, Any], ...] = tuple(
    product(("optics", "hdbscan"), ("stability", "larger"), ("label", "nearest"))
)
OF_PAPER = WAYS.index(("optics", "larger", "nearest"))  # the way that comes nearest to the printed figures
FIELDS = ("task", "pairs", "paper", *(", ".join(way) for way in WAYS), "verdict")


def measure_ways(task: data.LabelledTask, n_pairs: int, runs: int) -> list[float]:
    """Mean ARI of every way."""
    found = []
    for hierarchy, ties, noise in WAYS:
        model = FOSC(hierarchy=hierarchy, ties=ties, noise=noise)
        scores = []
        for run in range(runs):
            pairs = draw_pairs(len(task.X), run)[1][:n_pairs]
            with warnings.catch_warnings(action="ignore"):  # of identical rows that are apart
                labels = model.fit_predict(task.X, constraints=label_pairs(task.y, pairs))
            scores.append(score_elsewhere(task.y, labels, pairs))
        found.append(mean_of(scores).value)
    return found


def build_lines(names: Sequence[str], where: data.Source, runs: int) -> list[tuple[str, ...]]:
    """A line for each set and number of constraints, and the means over the sets."""
    theirs = {row["task"]: row["fosc"] for row in read_target("cobs_table3.csv")}
    found = {}
    for name in names:
        task = data.load(name, where)
        found[name] = {n_pairs: measure_ways(task, n_pairs, runs) for n_pairs in PAIRS}
    over_all = {n: np.mean([of_set[n] for of_set in found.values()], axis=0).tolist() for n in PAIRS}
    lines = []
    for name, of_set in {**found, "mean": over_all}.items():
        for n, values in of_set.items():
            figure = theirs.get(name, "") if n == PAIRS[-1] else ""
            verdict = ""
            if figure:
                verdict = Figure("Table III", name, "fosc", "", float(figure), values[OF_PAPER]).verdict
            lines.append((name, str(n), figure, *(f"{value:.2f}" for value in values), verdict))
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run fosc", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    options = parser.parse_args(arguments)
    where = find_source(options)
    lines = build_lines([name for name in TASKS if name in data.names(where)], where, options.runs)
    write_csv(out_folder(options, "fosc") / "fosc.csv", FIELDS, lines)
    print(format_table(FIELDS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
