"""The time of a run of NPU, and of scikit-learn's k-means and random forest on the same rows.

    python -m bench run speed_npu [--questions N] [--repeats N]

Iris, wine, the first 400 digits and 1000 blobs in [0, 1], with MPCKMeans, on one thread; times are medians of
processor times. "forests" is how many forests of 50 trees scikit-learn grows in the time of one question.
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
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import minmax_scale

from linkwise import NPU, TruthOracle


def load_blobs(*, return_X_y: bool = True) -> Any:
    """1000 rows of 10 columns in 10 clusters that overlap."""
    return make_blobs(1000, 10, centers=10, cluster_std=4.0, random_state=0)[: 2 if return_X_y else 1]


SETS: dict[str, tuple[Callable[..., Any], int]] = {
    "iris": (load_iris, 150),
    "wine": (load_wine, 178),
    "digits": (load_digits, 400),
    "blobs": (load_blobs, 1000),
}
FIELDS = ("set", "rows", "questions", "question_ms", "kmeans_ms", "forest_ms", "times_kmeans", "forests")


def milliseconds(call: Callable[[], Any]) -> float:
    start = process_time()
    call()
    return 1000 * (process_time() - start)


def measure_line(name: str, questions: int, repeats: int) -> tuple[str, ...]:
    """A line of the table."""
    load, n = SETS[name]
    X, y = load(return_X_y=True)
    X, y = minmax_scale(X[:n]), y[:n]
    k, questions = len(set(y)), min(questions, n)
    calls: list[Callable[[], Any]] = [
        lambda: NPU(k, random_state=0).fit(X, oracle=TruthOracle(y), budget=questions),
        lambda: KMeans(k, n_init=10, random_state=0).fit(X),
        lambda: RandomForestClassifier(50, random_state=0).fit(X, y),
    ]
    turns = [[milliseconds(call) for call in calls] for _ in range(repeats)]
    run, k_means, forest = (median(times) for times in zip(*turns, strict=True))
    found = (run / questions, k_means, forest, run / questions / k_means, run / questions / forest)
    return (name, str(n), str(questions), *(f"{value:.3g}" for value in found))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_npu", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--questions", type=int, default=200, metavar="N", help="at most the rows of a set")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    options = parser.parse_args(arguments)
    lines = [measure_line(name, options.questions, options.repeats) for name in SETS]
    write_csv(out_folder(options, "speed_npu") / "times.csv", FIELDS, lines)
    print(format_table(FIELDS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
