"""The time of agglomerative clustering with constraints, and of scikit-learn's without, and of its k-means.

    python -m bench run speed_agglomerative [--sizes 1000 5000] [--repeats N]

Rows are blobs around ten centres in ten features, on one thread each; times are medians of processor times.
Constraints are 100 random pairs.
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Any

from bench.harness import add_common_options, format_table, out_folder
from bench.results import write_csv
from bench.suites.constraint_sets import draw_constraints
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs

from linkwise import ConstrainedAgglomerative
from linkwise.native.agglomerate import LINKAGES

SIZES = (1000, 2000, 5000)
K, PAIRS = 10, 100
FIELDS = ("rows", "linkage", "seconds", "constrained_s", "scikit_learn_s", "kmeans_s", "times_scikit_learn")


def seconds(call: Callable[[], Any]) -> float:
    start = process_time()
    call()
    return process_time() - start


def measure_line(n: int, linkage: Any, repeats: int) -> tuple[str, ...]:
    """A line of the table."""
    X, y = make_blobs(n, 10, centers=K, cluster_std=3.0, random_state=0)
    pairs = draw_constraints(y, PAIRS, random_state=0)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: ConstrainedAgglomerative(K, linkage=linkage).fit(X),
        lambda: ConstrainedAgglomerative(K, linkage=linkage).fit(X, constraints=pairs),
        lambda: AgglomerativeClustering(K, linkage=linkage).fit(X),
        lambda: KMeans(K, n_init=10, random_state=0).fit(X),
    )
    turns = [[seconds(call) for call in calls] for _ in range(repeats)]
    found = [median(times) for times in zip(*turns, strict=True)]
    return str(n), linkage, *(f"{value:.3f}" for value in found), f"{found[0] / found[2]:.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_agglomerative", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    options = parser.parse_args(arguments)
    lines = [measure_line(n, linkage, options.repeats) for n in options.sizes for linkage in LINKAGES]
    write_csv(out_folder(options, "speed_agglomerative") / "times.csv", FIELDS, lines)
    print(format_table(FIELDS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
