"""The time of spectral clustering with constraints, and of scikit-learn's without, and of its k-means.

    python -m bench run speed_spectral [--sizes 1000 3000] [--clusters 2 5] [--repeats N]
    python -m bench run speed_spectral --fits iris segmentation --data DIR --build before

Rows are blobs in ten features, on one thread each; times are medians of processor times. Constraints are
100 random pairs. `--fits` measures COSC as pools of COBS fit it instead: 2 to 10 clusters, whole graphs, two
starts and 50 random pairs. `--build` names the build of linkwise, whose lines replace those of the same name.
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import csv
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import Any

from bench.data import load
from bench.harness import add_common_options, find_source, format_table, out_folder
from bench.results import write_csv
from bench.suites.constraint_sets import draw_constraints
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs

from linkwise import COSC, SPCL

SIZES, CLUSTERS, PAIRS = (1000, 3000), (2, 5), 100
SLOW = 3000  # rows; COSC is left out beyond
FIELDS = (
    "rows", "clusters", "kmeans_s", "spectral_s", "spcl_s", "cosc_s",
    "spcl_times_spectral", "cosc_times_spectral",
)  # fmt: skip
FIT_FIELDS = ("build", "set", "rows", "fit_ms", "mean_cut", "violations")
FIT_CLUSTERS, FIT_PAIRS = range(2, 11), 50


def seconds(call: Callable[[], Any]) -> float:
    start = process_time()
    call()
    return process_time() - start


def measure_line(n: int, k: int, repeats: int) -> tuple[str, ...]:
    """A line of the table."""
    X, y = make_blobs(n, 10, centers=k, cluster_std=4.0, random_state=0)
    pairs = draw_constraints(y, PAIRS, random_state=0)
    calls: list[Callable[[], Any]] = [
        lambda: KMeans(k, n_init=10, random_state=0).fit(X),
        lambda: SpectralClustering(k, affinity="nearest_neighbors", random_state=0).fit(X),
        lambda: SPCL(k, random_state=0).fit(X, constraints=pairs),
    ]
    if n <= SLOW:
        calls.append(lambda: COSC(k, random_state=0).fit(X, constraints=pairs))
    turns = [[seconds(call) for call in calls] for _ in range(repeats)]
    found = [median(times) for times in zip(*turns, strict=True)]
    ratios = [f"{value / found[1]:.2g}" for value in found[2:]]
    blank = [] if n <= SLOW else [""]
    return (str(n), str(k), *(f"{value:.3f}" for value in found), *blank, *ratios, *blank)


def measure_fits(build: str, name: str, options: argparse.Namespace) -> tuple[str, ...]:
    """A line of the table of fits: the mean over numbers of clusters, and the median over repeats."""
    task = load(name, find_source(options))
    times, cuts, broken = [], [], 0
    for repeat in range(options.repeats):
        pairs = draw_constraints(task.y, FIT_PAIRS, random_state=repeat)
        begun = process_time()
        for k in FIT_CLUSTERS:
            model = COSC(k, n_init=2, n_runs=1, max_nodes=None, random_state=repeat)
            model.fit(task.X, constraints=pairs)
            cuts.append(model.cut_)
            broken += model.violations_
        times.append((process_time() - begun) / len(FIT_CLUSTERS))
    milliseconds, cut = 1000 * median(times), sum(cuts) / len(cuts)
    return (build, name, str(len(task.y)), f"{milliseconds:.3g}", f"{cut:.4f}", str(broken))


def write_fits(options: argparse.Namespace) -> list[tuple[str, ...]]:
    """Measure the fits of COSC, and keep the lines of other builds."""
    path = out_folder(options, "speed_spectral") / "fits.csv"
    kept: list[tuple[str, ...]] = []
    if path.exists():
        with path.open(newline="") as file:
            kept = [tuple(line) for line in list(csv.reader(file))[1:] if line[0] != options.build]
    lines = kept + [measure_fits(options.build, name, options) for name in options.fits]
    write_csv(path, FIT_FIELDS, lines)
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_spectral", description=__doc__)
    add_common_options(parser)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--clusters", type=int, nargs="+", default=CLUSTERS, metavar="K")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--fits", nargs="+", default=(), metavar="SET")
    parser.add_argument("--build", default="after", metavar="NAME")
    options = parser.parse_args(arguments)
    if options.fits:
        print(format_table(FIT_FIELDS, write_fits(options)))
        return 0
    lines = [measure_line(n, k, options.repeats) for n in options.sizes for k in options.clusters]
    write_csv(out_folder(options, "speed_spectral") / "times.csv", FIELDS, lines)
    print(format_table(FIELDS, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
