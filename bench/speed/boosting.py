"""The time of BoostCluster, KernelBoost and PCP, and of scikit-learn's k-means and BCKM.

    python -m bench run speed_boosting [--sizes 300 1000 2000] [--repeats N]

Rows are overlapping blobs around five centres in ten features, on one thread each; times are medians of
processor times. There are as many random pairs as rows. PCP is left out above its largest number of rows.
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import sys
import warnings
from collections.abc import Sequence
from statistics import median
from time import process_time
from typing import Any

from bench.harness import add_common_options, format_table, out_folder
from bench.results import write_csv
from bench.suites.constraint_sets import draw_constraints
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import linkwise as lw
from linkwise.cluster.similarity.pcp import MOST

SIZES = (300, 1000, 2000, 10_000)
K = 5
METHODS = (lw.BCKM, lw.BoostCluster, lw.KernelBoost, lw.PCP)
FIELDS = ("rows", "method", "seconds", "times_kmeans", "times_bckm")


def seconds(model: Any, X: Any, pairs: lw.Constraints | None) -> float:
    given = {} if pairs is None else {"constraints": pairs}
    start = process_time()
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, **given)
    return process_time() - start


def measure_lines(n: int, repeats: int) -> list[tuple[str, ...]]:
    """A line for each method."""
    X, y = make_blobs(n, 10, centers=K, cluster_std=4.0, random_state=0)
    pairs = draw_constraints(y, n, random_state=0)
    turns: dict[str, list[float]] = {}
    for _ in range(repeats):
        plain = KMeans(K, n_init=10, random_state=0)
        turns.setdefault("KMeans", []).append(seconds(plain, X, None))
        for method in METHODS:
            if method is lw.PCP and n > MOST:
                continue
            turns.setdefault(method.__name__, []).append(seconds(method(K, random_state=0), X, pairs))
    found = {name: max(median(times), 1e-9) for name, times in turns.items()}
    return [
        (str(n), name, f"{value:.3f}", f"{value / found['KMeans']:.1f}", f"{value / found['BCKM']:.1f}")
        for name, value in found.items()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_boosting", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    options = parser.parse_args(arguments)
    lines = [line for n in options.sizes for line in measure_lines(n, options.repeats)]
    write_csv(out_folder(options, "speed_boosting") / "times.csv", FIELDS, lines)
    print(format_table(FIELDS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
