"""The time of FOSC, and of scikit-learn's HDBSCAN, OPTICS and k-means.

    python -m bench run speed_fosc [--sizes 1000 10000 50000] [--repeats N]

Rows are blobs around ten centres in ten features, on one thread each; times are medians of processor times.
Constraints are 100 random pairs. scikit-learn's OPTICS does not run above 10 000 rows. Where the package
fast_hdbscan is installed, it runs too, after a first run that compiles it.
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import Any

from bench.harness import add_common_options, format_table, out_folder
from bench.results import write_csv
from bench.suites.constraint_sets import draw_constraints
from sklearn.cluster import HDBSCAN, OPTICS, KMeans
from sklearn.datasets import make_blobs

from linkwise import FOSC

SIZES = (1000, 10_000)
MOST_FOR_OPTICS = 10_000
K, PAIRS, MIN_SAMPLES = 10, 100, 4
FIELDS = (
    "rows", "optics_s", "hdbscan_s", "constrained_s", "their_optics_s", "their_hdbscan_s", "fast_hdbscan_s",
    "kmeans_s", "times_optics", "times_hdbscan", "times_fast_hdbscan", "times_kmeans",
)  # fmt: skip


def seconds(call: Callable[[], Any]) -> float:
    start = process_time()
    call()
    return process_time() - start


def measure_line(n: int, repeats: int) -> tuple[str, ...]:
    """A line of the table."""
    X, y = make_blobs(n, 10, centers=K, cluster_std=3.0, random_state=0)
    pairs = draw_constraints(y, PAIRS, random_state=0)
    size = {"min_cluster_size": MIN_SAMPLES, "min_samples": MIN_SAMPLES}
    calls: dict[str, Callable[[], Any]] = {
        "optics_s": lambda: FOSC(**size).fit(X),
        "hdbscan_s": lambda: FOSC(**size, hierarchy="hdbscan").fit(X),
        "constrained_s": lambda: FOSC(**size).fit(X, constraints=pairs),
        "their_hdbscan_s": lambda: HDBSCAN(**size, n_jobs=1, copy=True).fit(X),
        "kmeans_s": lambda: KMeans(K, n_init=10, random_state=0).fit(X),
    }
    if n <= MOST_FOR_OPTICS:
        calls["their_optics_s"] = lambda: OPTICS(**size, n_jobs=1).fit(X)
    if find_spec("fast_hdbscan"):
        calls["fast_hdbscan_s"] = lambda: import_module("fast_hdbscan").HDBSCAN(**size).fit(X)
        calls["fast_hdbscan_s"]()  # compiles it
    turns = [[seconds(call) for call in calls.values()] for _ in range(repeats)]
    found = dict(zip(calls, (median(times) for times in zip(*turns, strict=True)), strict=True))
    line = {"rows": str(n), **{name: f"{value:.3f}" for name, value in found.items()}}
    ratios = {
        "times_optics": ("optics_s", "their_optics_s"),
        "times_hdbscan": ("hdbscan_s", "their_hdbscan_s"),
        "times_fast_hdbscan": ("hdbscan_s", "fast_hdbscan_s"),
        "times_kmeans": ("optics_s", "kmeans_s"),
    }
    for name, (ours, theirs) in ratios.items():
        if theirs in found:
            line[name] = f"{found[ours] / found[theirs]:.2f}"
    return tuple(line.get(name, "") for name in FIELDS)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_fosc", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    options = parser.parse_args(arguments)
    lines = [measure_line(n, options.repeats) for n in options.sizes]
    write_csv(out_folder(options, "speed_fosc") / "times.csv", FIELDS, lines)
    print(format_table(FIELDS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
