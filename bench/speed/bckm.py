"""The time of BCKM on the paper's data sets, with the paper's times, and on a million rows.

    python -m bench run speed_bckm [--data DIR] [--rows N] [--constraints N] [--rounds N] [--repeats N]

Without ``--data`` only made-up rows are clustered: blobs with 16 features and 10 clusters, as many
constraints as rows, rounds of at most 5 passes, and one start of the final k-means. Memory is the peak of
the process minus its memory before the fit. The paper's seconds (Table 3) come from MATLAB on another
machine and only give a scale. For comparison one k-means of scikit-learn with one start runs on the same
rows.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median
from time import perf_counter

import numpy as np
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target
from bench.papers.bckm_data import CLUSTERS, load, names
from bench.results import write_csv
from bench.suites.constraint_sets import draw_constraints
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import linkwise as lw

SMALL = ("task", "rows", "constraints", "rounds", "seconds", "paper")
LARGE = (
    "rows",
    "constraints",
    "rounds",
    "seconds",
    "kmeans_seconds",
    "times",
    "mebibytes",
    "bytes_a_row_and_round",
)


def small_sets(folder: Path, repeats: int) -> list[tuple[str, ...]]:
    """10 % of all pairs on every set that is here."""
    paper = {row["task"]: row["seconds"] for row in read_target("bckm_table3.csv") if row["percent"] == "10"}
    lines = []
    for name in names(folder):
        rows = load(name, "raw", folder)
        n = len(rows.y)
        c = draw_constraints(rows.y, percent=10, random_state=0)
        times, rounds = [], []
        for seed in range(repeats):
            model = lw.BCKM(CLUSTERS[name], kernel=rows.kernel, random_state=seed)
            start = perf_counter()
            with warnings.catch_warnings(action="ignore"):
                model.fit(rows.X, constraints=c)
            times.append(perf_counter() - start)
            rounds.append(model.n_rounds_)
        seconds = f"{median(times):.3f}"
        lines.append((name, str(n), str(c.n_constraints), f"{median(rounds):.0f}", seconds, paper[name]))
    return lines


def large_set(n: int, n_constraints: int, n_rounds: int) -> tuple[str, ...]:
    """Blobs that touch, so that no round is consistent."""
    X, y = make_blobs(n, n_features=16, centers=10, cluster_std=6.0, random_state=0)
    first, second = np.random.default_rng(0).integers(0, n, (2, n_constraints))
    apart = first != second
    first, second = first[apart], second[apart]
    same = y[first] == y[second]
    c = lw.Constraints(n, np.c_[first, second][same], np.c_[first, second][~same])
    model = lw.BCKM(10, n_rounds=n_rounds, max_passes=5, n_init=1, random_state=0)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    model.fit(X, constraints=c)
    seconds = perf_counter() - start
    used = (getrusage(RUSAGE_SELF).ru_maxrss - before) * 1024
    start = perf_counter()
    KMeans(10, n_init=1, random_state=0).fit(X)
    plain = perf_counter() - start
    a_row = used / n / model.n_rounds_
    return (
        str(n),
        str(c.n_constraints),
        str(model.n_rounds_),
        f"{seconds:.3g}",
        f"{plain:.3g}",
        f"{seconds / plain:.0f}",
        f"{used / 2**20:.0f}",
        f"{a_row:.2f}",
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_bckm", description="Time BCKM.")
    add_common_options(parser)
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="N", help="rows of the large set")
    parser.add_argument("--constraints", type=int, metavar="N", help="default: as many as rows")
    parser.add_argument("--rounds", type=int, default=100, metavar="N")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    options = parser.parse_args(arguments)
    folder, out = find_source(options).folder, out_folder(options, "speed_bckm")
    if folder is not None:
        lines = small_sets(folder, options.repeats)
        write_csv(out / "sets.csv", SMALL, lines)
        print(format_table(SMALL, lines))
    if options.rows:
        line = large_set(options.rows, options.constraints or options.rows, options.rounds)
        write_csv(out / "large.csv", LARGE, [line])
        print(format_table(LARGE, [line]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
