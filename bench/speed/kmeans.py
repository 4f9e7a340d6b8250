"""The time of Lloyd's iteration in linkwise and in scikit-learn, from the same start.

Both get the same rows and the same start, and iterate until no label changes (``tol=0``, so neither
computes a variance). The time of scikit-learn's ``KMeans`` includes its checks. OMP_NUM_THREADS is set to 1
and to 2, in a process each.

    python -m bench run speed_kmeans [--quick] [--out DIR]
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from bench.results import RESULTS, write_table
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from linkwise import native
from linkwise.parallel import n_threads

FIELDS = ("n", "d", "k", "dtype", "threads", "ours_s", "sklearn_s", "ratio", "same_labels")
CASES = [(2000, 19, range(2, 11)), (100_000, 10, (2, 8, 16)), (1_000_000, 10, (2, 8, 16))]
QUICK = [(2000, 19, (2, 5, 10)), (100_000, 10, (2, 8))]


def seconds(*tasks: Callable[[], Any], repeats: int) -> list[float]:
    """Median seconds of each task; they take turns, so that a busy machine slows all alike."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(repeats):
        for task, taken in zip(tasks, times, strict=True):
            begin = perf_counter()
            task()
            taken.append(perf_counter() - begin)
    return [median(taken) for taken in times]


def measure(X: np.ndarray, k: int, seed: int, repeats: int) -> dict[str, Any]:
    start = X[np.random.default_rng(seed).choice(len(X), k, replace=False)]
    theirs = KMeans(k, init=start, n_init=1, tol=0, max_iter=300)
    wide = start.astype(np.float64)
    threads = n_threads()

    def ours() -> np.ndarray:
        if k == 2:
            return native.two_means(X, wide, 300, 0.0, threads).labels
        return native.lloyd(X, wide[None], 300, 0.0, threads).labels[0]

    same = float(np.mean(ours() == theirs.fit(X).labels_))  # also warms both up
    ours_s, sklearn_s = seconds(ours, lambda: theirs.fit(X), repeats=repeats)
    return {
        "n": len(X), "d": X.shape[1], "k": k, "dtype": X.dtype.name, "threads": threads,
        "ours_s": f"{ours_s:.3g}", "sklearn_s": f"{sklearn_s:.3g}",
        "ratio": f"{sklearn_s / ours_s:.2f}", "same_labels": f"{same:.6f}",
    }  # fmt: skip


def cases(quick: bool) -> Iterator[dict[str, Any]]:
    for n, d, ks in QUICK if quick else CASES:
        wide, _ = make_blobs(n, d, centers=20, cluster_std=2.0, random_state=0)
        for dtype in (np.float64, np.float32):
            X = wide.astype(dtype)
            for k in ks:
                yield measure(X, k, seed=1, repeats=25 if n <= 2000 else 7 if n <= 100_000 else 3)


def worker(quick: bool) -> None:
    """Print one CSV line per case, for the number of threads that the environment sets."""
    writer = csv.DictWriter(sys.stdout, FIELDS)
    for row in cases(quick):
        writer.writerow(row)
        sys.stdout.flush()


def collect(quick: bool) -> Iterator[dict[str, str]]:
    for threads in ("1", "2"):
        command = [sys.executable, "-m", "bench.speed.kmeans", "--worker", *(["--quick"] if quick else [])]
        environment = {**os.environ, "OMP_NUM_THREADS": threads}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            yield from csv.DictReader(process.stdout, FIELDS)
        if process.returncode:
            raise SystemExit(process.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_kmeans", description="Time k-means and scikit-learn's."
    )
    parser.add_argument("--quick", action="store_true", help="fewer and smaller cases")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.quick)
    rows = []
    print("".join(f"{field:>12}" for field in FIELDS))
    for row in collect(options.quick):
        rows.append(row)
        print("".join(f"{row[field]:>12}" for field in FIELDS), flush=True)
    write_table(options.out / "speed_kmeans.csv", FIELDS, rows)
    return None


if __name__ == "__main__":
    main()
