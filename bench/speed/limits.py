"""How near kernels come to what the machine does best, on one thread.

A kernel needs some time for its steps of arithmetic, and for the bytes that it reads. Both are measured in
the same run: steps by a product of matrices in BLAS (a fused product is one), reading by a scalar product of
long vectors. Kernels have no fused products, since results are to be the same on every machine; so a
difference, a product and a sum are three steps. Times are the best of several.

    python -m bench run speed_limits [--repeats N] [--out DIR]

`share` is the time of the yardstick in that of the kernel: at 1 the kernel is as fast as BLAS.
"""

# ruff: noqa: E402  # threads are set before NumPy is loaded
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from bench.results import RESULTS, write_table

from linkwise import native

FIELDS = ("kernel", "work", "bound", "seconds", "yardstick_s", "share")
ROWS, COLUMNS, CENTERS = 200_000, 10, 1000


class Machine(NamedTuple):
    """What one thread can do."""

    steps: float
    """Sums, products or fused products of float64 a second."""
    bytes: float
    """Bytes a second that are read from memory."""


def best(call: Callable[[], Any], repeats: int) -> float:
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def measure_machine(repeats: int) -> Machine:
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(1500, 1500)), rng.normal(size=2**25)
    steps = len(A) ** 3 / best(lambda: A @ A, repeats)
    return Machine(steps, x.nbytes / best(lambda: x @ x, repeats))


def prepare_passes(rng: np.random.Generator) -> tuple[Any, ...]:
    """A million rows of 16 columns, 10 centres, the mean, and a million pairs with their order and shares."""
    n = 1_000_000
    X, pairs = rng.normal(size=(n, 16)), rng.integers(0, n, (n, 2), np.int32)
    must, order = (rng.random(n) < 0.1).astype(np.uint8), rng.permutation(n).astype(np.int32)
    return X, X[:10].copy(), X.mean(axis=0), pairs, must, order, np.full(n, 1 / n)


def measure_kernels(machine: Machine, repeats: int) -> list[dict[str, str]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    centers, wide = rng.normal(size=(CENTERS, COLUMNS)), rng.normal(size=(20_000, 100))
    far = rng.normal(size=(CENTERS, 100))
    labels = rng.integers(0, 20, 10_000_000).astype(np.int32)
    others = np.where(rng.random(len(labels)) < 0.01, 3, labels).astype(np.int32)
    K, of = rng.random((5000, 5000)), rng.integers(0, 10, 5000).astype(np.int32)
    tall = rng.normal(size=(2_000_000, COLUMNS))
    passes = prepare_passes(rng)
    covariance = np.eye(2000, dtype=np.float32)
    cases: list[tuple[str, str, str, float, Callable[[], Any]]] = [
        (
            "nearest_points", f"{ROWS} rows, {COLUMNS} columns, {CENTERS} points", "arithmetic",
            3 * ROWS * COLUMNS * CENTERS, lambda: native.nearest_points(X, centers, 1),
        ),
        (
            "nearest_points", f"20000 rows, 100 columns, {CENTERS} points", "arithmetic",
            3 * wide.size * CENTERS, lambda: native.nearest_points(wide, far, 1),
        ),
        (
            "squared_distances", f"20000 rows, 100 columns, {CENTERS} points", "arithmetic",
            3 * wide.size * CENTERS, lambda: native.squared_distances(wide, far, 1),
        ),
        (
            "label_sums", f"2000000 rows, {COLUMNS} columns, 20 clusters", "memory",
            tall.nbytes + 4 * len(tall), lambda: native.label_sums(tall, labels[: len(tall)], 20, None, 1),
        ),
        (
            "shared_rows", "10000000 rows, 20 clusters twice", "memory",
            2 * labels.nbytes, lambda: native.shared_rows(labels, others, 1000, 1),
        ),
        (
            "similarity_sums", "5000 rows, 10 clusters", "memory",
            K.nbytes, lambda: native.similarity_sums(K, of, 10, 1),
        ),
        (
            "smallest_columns", "10 of 5000 columns in 5000 rows", "memory",
            K.nbytes, lambda: native.smallest_columns(K, 10, 1),
        ),
        (
            "vector_passes", "5 passes, 1000000 rows and constraints, 16 columns, 10 clusters", "arithmetic",
            5 * 3 * 1_000_000 * 16 * 10, lambda: native.vector_passes(*passes, 5, 0, 0, 1),
        ),
        (
            "condition_on", "one of 2000 items", "memory",
            covariance.nbytes,  # half of it is read, and written again
            lambda: native.condition_on(covariance, 7, 1.0, np.ones(2000), 1),
        ),
    ]  # fmt: skip
    rows = []
    for kernel, work, bound, amount, call in cases:
        seconds = best(call, repeats)
        yardstick = amount / (machine.steps if bound == "arithmetic" else machine.bytes)
        row = {"kernel": kernel, "work": work, "bound": bound, "seconds": f"{seconds:.3g}"}
        rows.append(row | {"yardstick_s": f"{yardstick:.3g}", "share": f"{yardstick / seconds:.2f}"})
        print("  ".join(f"{field}={rows[-1][field]}" for field in FIELDS), flush=True)
    return rows


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_limits", description="Compare kernels with BLAS."
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    options = parser.parse_args(arguments)
    machine = measure_machine(options.repeats)
    print(f"{machine.steps / 1e9:.2f} thousand million steps and {machine.bytes / 1e9:.1f} GB a second")
    write_table(options.out / "speed_limits.csv", FIELDS, measure_kernels(machine, options.repeats))
    return 0


if __name__ == "__main__":
    sys.exit(main())
