"""The time of ClusILC on the paper's data sets, of a plain transcription, and of scikit-learn's trees.

    python -m bench run speed_clusilc --data DIR [--limit SECONDS] [--repeats N]

All twelve sets run with 100 and 1000 random constraints, and the largest one also as printed, with 1000. A
fit of ClusILC and a fit of scikit-learn's ``DecisionTreeRegressor`` take turns, and times are medians. The
targets of scikit-learn's tree are the standardised columns, and it has as many leaves: it is a tree for the
sum of squares alone. The transcription in ``tests/reference`` lists every constraint and computes every split
anew. It runs once, in a process of its own, and is stopped after `--limit` seconds. ``--large``, which is
part of the whole experiment, adds made-up rows: 100 000 with 100 leaves and a million with 30, once each.
OMP_NUM_THREADS sets linkwise's number of threads; scikit-learn's tree has one.

Ratios compare processor times of all threads, on which other programs on the machine have little effect;
``seconds`` are wall-clock times. On an idle machine the wall-clock time is smaller, so the smaller of the
two is compared with the aim.

The exit status is 1 if an aim of ``targets/clusilc_speed.csv`` is missed.
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from bench.harness import add_common_options, find_source, format_table, out_folder, read_target
from bench.papers.clusilc_data import SETS, Set, load, names
from bench.results import write_csv
from bench.suites.constraint_sets import draw_constraints
from sklearn.datasets import make_blobs
from sklearn.preprocessing import scale
from sklearn.tree import DecisionTreeRegressor

from linkwise import ClusILC

ROOT = Path(__file__).resolve().parents[2]
COUNTS, FEATURES, CLUSTERS = (100, 1000), 16, 10
PRINTED = "pendig"  # the largest set, on which the method as printed grows thousands of leaves
LARGE = ((100_000, 100, 3000), (1_000_000, 30, 1000))  # rows, leaves, constraints
FIELDS = (
    "task", "rows", "columns", "constraints", "leaves", "seconds", "processor", "transcription", "times",
    "sklearn", "ratio", "aim", "missed",
)  # fmt: skip


Time = tuple[float, float]  # on the clock, and of the processor, which other programs change less


def seconds(task: Callable[[], Any]) -> Time:
    clock, processor = perf_counter(), process_time()
    task()
    return perf_counter() - clock, process_time() - processor


def time_in_turns(tasks: list[Callable[[], Any]], repeats: int) -> list[Time]:
    """Medians of each; they take turns, so that a busy machine slows all alike."""
    rounds = [[seconds(task) for task in tasks] for _ in range(repeats)]
    return [(median(t[0] for t in times), median(t[1] for t in times)) for times in zip(*rounds, strict=True)]


def sklearn_tree(X: np.ndarray, leaves: int) -> Callable[[], Any]:
    """A tree of as many leaves for the same sum of squares."""
    targets = scale(X)
    model = DecisionTreeRegressor(max_leaf_nodes=max(leaves, 2), min_samples_leaf=2, random_state=0)
    return lambda: model.fit(X, targets)


def measure_line(
    task: str, rows: Set, n_constraints: int, model: ClusILC, repeats: int, plain: Callable[[], float]
) -> tuple[str, ...]:
    """One measurement; `plain` gives the transcription's seconds, infinite ones where it was given up on."""
    constraints = draw_constraints(rows.y, n_constraints, random_state=0)
    with warnings.catch_warnings(action="ignore"):  # rows that no column tells apart
        model.fit(rows.X, constraints=constraints)  # warms up
        theirs = sklearn_tree(rows.X, model.n_leaves_)
        (own, busy), (_, other) = time_in_turns(
            [lambda: model.fit(rows.X, constraints=constraints), theirs], repeats
        )
    slow, aim = plain(), find_aim(task, n_constraints)
    return (
        task,
        *map(str, rows.X.shape),
        str(n_constraints),
        str(model.n_leaves_),
        f"{own:.3g}",
        f"{busy:.3g}",
        f"{slow:.3g}" if np.isfinite(slow) else "",
        f"{slow / busy:.0f}" if np.isfinite(slow) else "",
        f"{other:.3g}",
        f"{busy / other:.1f}",
        aim,
        "yes" if aim and min(own, busy) > float(aim) else "",
    )


def find_aim(task: str, n_constraints: int) -> str:
    """Seconds that we aim at; an empty text where there is no aim."""
    wanted = [task, str(n_constraints)]
    found = [r for r in read_target("clusilc_speed.csv") if [r["task"], r["constraints"]] == wanted]
    return found[0]["seconds"] if found else ""


# ---------------------------------------------------------------- the transcription
def transcription_seconds(task: str, n_constraints: int, folder: Path, limit: float) -> float:
    """One fit in a process of its own; infinite where it is not done in time."""
    command = [sys.executable, "-m", "bench.speed.clusilc", "--data", str(folder), "--transcribed"]
    paths = [str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    try:
        done = subprocess.run(
            [*command, task, str(n_constraints)],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit, check=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return np.inf
    return float(done.stdout)


def time_transcription(task: str, n_constraints: int, folder: Path) -> float:
    from reference.clusilc import Reference

    rows = load(task, folder)
    c = draw_constraints(rows.y, n_constraints, random_state=0)
    must, cannot = c.must_link.tolist(), c.cannot_link.tolist()
    return seconds(lambda: Reference(rows.X, must, cannot, rows.k, parts=scale(rows.X)))[1]


# ---------------------------------------------------------------- all
def paper_sets(folder: Path, limit: float, repeats: int) -> Iterator[tuple[str, ...]]:
    late: set[str] = set()  # with more constraints it is not faster
    for task in names(folder):
        for count in COUNTS:

            def plain(task: str = task, count: int = count) -> float:
                return np.inf if task in late else transcription_seconds(task, count, folder, limit)

            rows = load(task, folder)
            line = measure_line(task, rows, count, ClusILC(rows.k), repeats, plain)
            if not line[FIELDS.index("transcription")]:
                late.add(task)
            yield line
    if PRINTED in names(folder):
        rows = load(PRINTED, folder)
        model = ClusILC.paper(rows.k)
        yield measure_line(f"{PRINTED}, as printed", rows, max(COUNTS), model, repeats, lambda: np.inf)


def large_sets(cases: tuple[tuple[int, int, int], ...]) -> Iterator[tuple[str, ...]]:
    for n, leaves, count in cases:
        X, y = make_blobs(n, FEATURES, centers=CLUSTERS, cluster_std=6.0, random_state=0)
        model = ClusILC(CLUSTERS, max_leaves=leaves)
        yield measure_line(f"blobs, {leaves} leaves", Set(X, y, CLUSTERS), count, model, 1, lambda: np.inf)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_clusilc", description="Time ClusILC.")
    add_common_options(parser)
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="of the transcription")
    parser.add_argument("--large", action="store_true", help="add the sets with many rows")
    parser.add_argument("--repeats", type=int, default=9, metavar="N")
    parser.add_argument("--transcribed", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    folder = find_source(options).folder
    if folder is None or not names(folder):
        raise SystemExit(f"None of {', '.join(SETS)} is there. Pass the folder of data sets with --data.")
    if options.transcribed:
        task, count = options.transcribed
        print(time_transcription(task, int(count), folder))
        return 0
    lines = list(paper_sets(folder, options.limit, options.repeats))
    lines += large_sets(LARGE) if options.large else []
    write_csv(out_folder(options, "speed_clusilc") / "sets.csv", FIELDS, lines)
    print(format_table(FIELDS, lines))
    print(f"The transcription is empty if it takes more than {options.limit:.0f} s or did not run.")
    missed = [line for line in lines if line[-1]]
    print(f"{len(missed)} of {sum(bool(line[-2]) for line in lines)} aims missed")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
