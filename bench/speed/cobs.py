"""The time of the pool of COBS, and of scikit-learn's clusterers one after the other, for each algorithm.

Both make the clusterings of Van Craenendonck and Blockeel (2017), Table II, on one thread, by turns, in
one process: 180 of k-means, 400 of DBSCAN, 171 of spectral clustering on graphs of neighbours, and 171 on
Gaussian graphs. sigma = 0.01 is left out, because scikit-learn's solver hangs there. Times are processor
times, on which other programs on the machine have little effect. Rows are the segmentation set, 2100 x 19,
in [0, 1]; with --quick, or without a folder of data, the first 400 of scikit-learn's digits.

"same" is the share of clusterings on which both agree (adjusted Rand index of at least 0.95). Both draw the
starts of k-means at random, each from its own random numbers, so runs of k-means are not compared.

    python -m bench run speed_cobs [--quick] [--data DIR] [--out DIR]
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from bench.results import RESULTS, write_table
from bench.suites.tasks import scale_rows
from sklearn.cluster import DBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from bench import data, harness
from linkwise.select.clusterings import PRESETS, Preset
from linkwise.select.pool import Pool, build_pool

PAPER = replace(PRESETS["paper"], sigmas=PRESETS["paper"].sigmas[1:])
FIELDS = ("algorithm", "clusterings", "ours_s", "sklearn_s", "ratio", "same")
Theirs = Callable[[np.ndarray, dict[str, Any]], np.ndarray]


def k_means(X: np.ndarray, p: dict[str, Any]) -> np.ndarray:
    return KMeans(p["K"], n_init=1, random_state=p["run"]).fit_predict(X)


def dbscan(X: np.ndarray, p: dict[str, Any]) -> np.ndarray:
    return DBSCAN(eps=p["eps"], min_samples=p["minPts"]).fit_predict(X)


def of_neighbours(X: np.ndarray, p: dict[str, Any]) -> np.ndarray:
    model = SpectralClustering(p["K"], affinity="nearest_neighbors", n_neighbors=p["k"], random_state=0)
    return model.fit_predict(X)


def gaussian(X: np.ndarray, p: dict[str, Any]) -> np.ndarray:
    return SpectralClustering(p["K"], gamma=0.5 / p["sigma"] ** 2, random_state=0).fit_predict(X)


def algorithms(preset: Preset) -> dict[str, tuple[Preset, Theirs]]:
    """What of a preset each algorithm makes, and who makes the same in scikit-learn."""
    return {
        "k-means": (replace(preset, n_eps=0, neighbours=(), sigmas=()), k_means),
        "DBSCAN": (replace(preset, clusters=(), neighbours=(), sigmas=()), dbscan),
        "spectral, nearest neighbours": (replace(preset, n_runs=0, n_eps=0, sigmas=()), of_neighbours),
        "spectral, Gaussian": (replace(preset, n_runs=0, n_eps=0, neighbours=()), gaussian),
    }


def measure(X: np.ndarray, algorithm: str, preset: Preset, theirs: Theirs) -> dict[str, Any]:
    """One algorithm: our pool of it, then the same clusterings from scikit-learn, each by itself."""
    pool, ours_s = time_pool(X, preset)
    made = [c for c in pool.candidates if c.algorithm == algorithm]
    begin = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # graphs in several parts, of which it tells each time
        labels = [theirs(X, c.parameters) for c in made]
    sklearn_s = process_time() - begin
    if algorithm == "k-means":
        return build_row(algorithm, len(made), ours_s, sklearn_s, None)
    same = [adjusted_rand_score(pool.clustering(c.clustering), t) for c, t in zip(made, labels, strict=True)]
    return build_row(algorithm, len(made), ours_s, sklearn_s, float(np.mean(np.array(same) >= 0.95)))


def build_row(
    algorithm: str, count: int, ours_s: float, sklearn_s: float, same: float | None
) -> dict[str, Any]:
    return {
        "algorithm": algorithm, "clusterings": count, "ours_s": f"{ours_s:.3g}",
        "sklearn_s": f"{sklearn_s:.3g}", "ratio": f"{sklearn_s / ours_s:.1f}",
        "same": "" if same is None else f"{same:.2f}",
    }  # fmt: skip


def time_pool(X: np.ndarray, preset: Preset) -> tuple[Pool, float]:
    begin = process_time()
    pool = build_pool(X, preset, n_threads=1)
    return pool, process_time() - begin


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_cobs", description="Time the pool of COBS and scikit-learn."
    )
    parser.add_argument("--quick", action="store_true", help="a small set that comes with scikit-learn")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of data sets (or LINKWISE_DATA)")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    options = parser.parse_args(arguments)
    source = harness.find_source(argparse.Namespace(data=options.data, openml=False))
    if options.quick or source.folder is None:
        X = np.ascontiguousarray(scale_rows(data.load("digits", data.Source()).X[:400]))
    else:
        X = np.ascontiguousarray(data.load("segmentation", source).X)
    build_pool(X[:50], PAPER, n_threads=1)  # warms up
    print(f"{X.shape[0]} rows, {X.shape[1]} features, one thread")
    print("".join(f"{field:>30}" if field == "algorithm" else f"{field:>12}" for field in FIELDS))
    rows = []
    for algorithm, (preset, theirs) in algorithms(PAPER).items():
        rows.append(measure(X, algorithm, preset, theirs))
        print_line(rows[-1])
    pool, seconds = time_pool(X, PAPER)
    rows.append(
        build_row("all", len(pool.candidates), seconds, sum(float(r["sklearn_s"]) for r in rows), None)
    )
    print_line(rows[-1])
    write_table(options.out / "speed_cobs.csv", FIELDS, rows)


def print_line(line: dict[str, Any]) -> None:
    print("".join(f"{line[f]:>30}" if f == "algorithm" else f"{line[f]:>12}" for f in FIELDS), flush=True)


if __name__ == "__main__":
    main()
