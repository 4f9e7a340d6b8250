"""The time of a fit with constraints, as a multiple of one k-means of scikit-learn.

Rows are blobs in 10 features with 5 clusters. Random constraints agree with them, and both sides have one
start. Times are medians of several fits, by turns, in one process. The multiple should be at most 10. If
the package active-semi-supervised-clustering is installed, its COPKMeans, PCKMeans and MPCKMeans are timed
too, on few rows, each in a process with a time limit. OMP_NUM_THREADS sets the number of threads.

    python -m bench run speed_kmeans_family [--quick] [--out DIR]

Exits with 1 if a multiple is above 10.
"""

from __future__ import annotations

import argparse
import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from bench.results import RESULTS, write_table
from bench.suites.constraint_sets import draw_constraints
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import linkwise as lw
from bench import harness
from linkwise.cluster.base import ConstrainedClusterer

FIELDS = ("n", "constraints", "method", "fit_s", "kmeans_s", "multiple", "missed")
SIZES, QUICK = (500, 2000, 10_000, 100_000), (500, 2000)
CONSTRAINTS = (100, 1000, 10_000)
FEATURES, CLUSTERS, MOST = 10, 5, 10.0
PEERS, PEER_ROWS, PEER_SECONDS = ("COPKMeans", "PCKMeans", "MPCKMeans"), 2000, 60
ELSEWHERE = ("BoostCluster", "KernelBoost", "PCP")  # speed.boosting
PACKAGE = "active_semi_clustering"


def problem(n: int, n_constraints: int) -> tuple[np.ndarray, lw.Constraints]:
    """Rows, and random constraints that fit the blobs."""
    X, y = make_blobs(n, FEATURES, centers=CLUSTERS, cluster_std=4.0, random_state=0)
    return X, draw_constraints(y, n_constraints, random_state=0)


def clusterers() -> dict[str, Callable[[], Any]]:
    """All that make a given number of clusters about centres; for graphs see `speed.spectral`."""
    public = (getattr(lw, name) for name in lw.__all__)
    ours = [c for c in public if inspect.isclass(c) and issubclass(c, ConstrainedClusterer)]
    known = {c: inspect.signature(c).parameters for c in ours}
    return {
        c.__name__: _maker(c)
        for c in ours
        if "n_init" in known[c] and "n_neighbors" not in known[c] and c.__name__ not in ELSEWHERE
    }


def _maker(clusterer: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: clusterer(n_clusters=CLUSTERS, n_init=1, random_state=0)


def seconds(task: Callable[[], Any]) -> float:
    begin = perf_counter()
    task()
    return perf_counter() - begin


def measure(n: int, n_constraints: int, repeats: int) -> Iterator[dict[str, str]]:
    """A line for each clusterer; all take turns, so that a busy machine slows all alike."""
    X, constraints = problem(n, n_constraints)
    tasks: dict[str, Callable[[], Any]] = {
        "": lambda: KMeans(CLUSTERS, n_init=1, random_state=0).fit(X),
        **{name: _bind_fit(make, X, constraints) for name, make in clusterers().items()},
    }
    for task in tasks.values():  # warms up
        task()
    rounds = [{name: seconds(task) for name, task in tasks.items()} for _ in range(repeats)]
    taken = {name: median(times[name] for times in rounds) for name in tasks}
    k_means = taken.pop("")
    for name, fit in taken.items():
        yield build_line(n, n_constraints, name, fit, k_means)
    if n <= PEER_ROWS and find_spec(PACKAGE):
        for name in PEERS:
            fit = peer_seconds(name, n, n_constraints)
            yield build_line(n, n_constraints, f"{name} of {PACKAGE}", fit, k_means, judged=False)


def _bind_fit(make: Callable[[], Any], X: np.ndarray, constraints: lw.Constraints) -> Callable[[], Any]:
    return lambda: make().fit(X, constraints=constraints)


def build_line(
    n: int, n_constraints: int, method: str, fit_s: float, kmeans_s: float, *, judged: bool = True
) -> dict[str, str]:
    """Infinite seconds: it failed, or was not done in time."""
    ours = "" if np.isinf(fit_s) else f"{fit_s:.3g}"
    multiple = fit_s / kmeans_s
    return {
        "n": str(n), "constraints": str(n_constraints), "method": method, "fit_s": ours,
        "kmeans_s": f"{kmeans_s:.3g}", "multiple": f"{multiple:.1f}",
        "missed": "" if not judged else "yes" if multiple > MOST else "-",
    }  # fmt: skip


# ---------------------------------------------------------------- another package
def peer_seconds(method: str, n: int, n_constraints: int) -> float:
    """One fit of the other package, in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "bench.speed.kmeans_family",
        "--peer",
        method,
        str(n),
        str(n_constraints),
    ]
    root = Path(__file__).resolve().parents[2]
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=PEER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return np.inf
    return float(done.stdout) if done.returncode == 0 else np.inf


def time_peer(method: str, n: int, n_constraints: int) -> None:
    from active_semi_clustering.semi_supervised import pairwise_constraints as theirs

    X, c = problem(n, n_constraints)
    must, cannot = ([tuple(pair) for pair in pairs.tolist()] for pairs in (c.must_link, c.cannot_link))
    model = getattr(theirs, method)(n_clusters=CLUSTERS)
    print(seconds(lambda: model.fit(X, ml=must, cl=cannot)))


# ---------------------------------------------------------------- all
def cases(quick: bool) -> Iterator[dict[str, str]]:
    for n in QUICK if quick else SIZES:
        for n_constraints in CONSTRAINTS:
            yield from measure(n, n_constraints, repeats=9 if n <= 2000 else 5)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_kmeans_family",
        description="Time constrained k-means.",
    )
    parser.add_argument("--quick", action="store_true", help="fewer and smaller cases")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.peer:
        method, n, n_constraints = options.peer
        time_peer(method, int(n), int(n_constraints))
        return 0
    rows = list(cases(options.quick))
    print(harness.format_table(FIELDS, [tuple(row.values()) for row in rows]))
    write_table(options.out / "speed_kmeans_family.csv", FIELDS, rows)
    missed = sum(row["missed"] == "yes" for row in rows)
    judged = sum(PACKAGE not in row["method"] for row in rows)
    print(f"\n{judged - missed} of {judged} take at most {MOST:.0f} times as long as scikit-learn's KMeans")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
