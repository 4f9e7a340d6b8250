"""The time and peak memory of COBS on many rows, to the first clustering.

Rows are drawn from 20 Gaussian clusters in 10 dimensions, in [0, 1]; 50 constraints come from their labels.

- 10 000 rows, all of them in the pool, with and without the Gaussian graphs (which are approximated by
  landmarks above 5000 rows);
- 1 000 000 rows, of which a sample of 5000 is clustered; the chosen clustering is then extended to all rows.

    python -m bench run speed_cobs_large [--rows N ...] [--out DIR]
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import argparse
import csv
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from bench.results import RESULTS, write_table
from bench.suites.constraint_sets import draw_constraints

import linkwise as lw
from linkwise.select.clusterings import PRESETS

FIELDS = ("rows", "pool", "seconds", "peak_MiB", "algorithm", "approximation")
CASES = {
    "10000": ((10_000, 10_000, "paper"), (10_000, 10_000, "no Gaussian graphs")),
    "1000000": ((1_000_000, 5_000, "paper"),),
}


def rows_of(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 20, n)
    X = rng.normal(size=(20, 10))[truth] * 3 + rng.normal(size=(n, 10))
    return np.ascontiguousarray((X - X.min(axis=0)) / np.ptp(X, axis=0)), truth


def measure(n: int, max_rows: int, pool: str) -> dict[str, Any]:
    """One fit, in a process of its own so that the peak of memory is its own."""
    X, truth = rows_of(n)
    constraints = draw_constraints(truth, 50, random_state=0)
    preset = PRESETS["paper"] if pool == "paper" else replace(PRESETS["paper"], sigmas=())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = perf_counter()
    model = lw.COBS(preset=preset, max_rows=max_rows, random_state=0).fit(X, constraints=constraints)
    seconds = perf_counter() - begin
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {
        "rows": n, "pool": pool, "seconds": f"{seconds:.1f}", "peak_MiB": f"{peak:.0f}",
        "algorithm": model.algorithm_, "approximation": model.approximation_ or "",
    }  # fmt: skip


def measure_apart(*case: int | str) -> dict[str, str]:
    command = [sys.executable, "-m", "bench.speed.cobs_large", "--case", *map(str, case)]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    return dict(zip(FIELDS, next(csv.reader([line])), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_cobs_large", description="Time COBS on many rows."
    )
    parser.add_argument("--rows", nargs="*", choices=CASES, default=list(CASES), help="which sizes")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        n, max_rows, pool = options.case
        csv.writer(sys.stdout).writerow(measure(int(n), int(max_rows), pool).values())
        return
    rows = []
    for size in options.rows:
        for case in CASES[size]:
            rows.append(measure_apart(*case))
            print("  ".join(f"{field}={value}" for field, value in rows[-1].items()), flush=True)
    write_table(options.out / "speed_cobs_large.csv", FIELDS, rows)


if __name__ == "__main__":
    main()
