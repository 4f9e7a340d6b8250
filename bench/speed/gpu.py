"""The nearest centres on a graphics card and on the processor, and the summary of a file with both.

Rows are float32 and normal; there are 1000 centres. Both find the same centres and distances, which is
checked to the bit. Times are medians of three, in turn, with the transfer of the rows. Without a card it says
so and ends.

    python -m bench run speed_gpu [--columns 10 100 384] [--rows 524288] [--threads 2 16] [--out DIR]

The processor uses each number of threads in turn. Summaries are measured up to 100 columns.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from bench.results import RESULTS, write_table

import linkwise as lw
from linkwise import native, parallel
from linkwise.large import nearest
from linkwise.native import cuda

CENTERS, ROWS, COLUMNS = 1000, 2**19, (10, 100, 384)
MOST_COLUMNS = 100  # of summaries, which take longest
FIELDS = ("card", "threads", "work", "rows", "columns", "processor_s", "card_s", "ratio")


def time_in_turn(*works: Callable[[], Any]) -> list[float]:
    """Medians of three."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(3):
        for work, found in zip(works, times, strict=True):
            started = perf_counter()
            work()
            found.append(perf_counter() - started)
    return [median(found) for found in times]


def compare_kernels(gpu: cuda.Gpu, n: int, d: int) -> list[float]:
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(n, d)).astype(np.float32), rng.normal(size=(CENTERS, d))
    wanted, found = (
        native.nearest_points(X, centers, parallel.n_threads()),
        cuda.nearest_points_on_card(gpu, X, centers),
    )
    if not all(map(np.array_equal, wanted, found)):
        raise ArithmeticError("The card and the processor differ")
    return time_in_turn(
        lambda: native.nearest_points(X, centers, parallel.n_threads()),
        lambda: cuda.nearest_points_on_card(gpu, X, centers),
    )


def compare_summaries(n: int, d: int, folder: Path) -> list[float]:
    rng = np.random.default_rng(0)
    rows = np.lib.format.open_memmap(folder / "rows.npy", mode="w+", dtype=np.float32, shape=(n, d))
    centers = rng.uniform(-10, 10, (20, d))
    for at in range(0, n, 2**16):
        part = rows[at : at + 2**16]
        part[:] = centers[rng.integers(0, 20, len(part))] + 3.5 * rng.normal(size=part.shape)
    rows.flush()
    least, found = nearest.LEAST_WORK, []

    def summarize(least_work: int) -> None:
        nearest.LEAST_WORK = least_work
        found.append(lw.summarize(folder / "rows.npy", CENTERS))

    try:
        times = time_in_turn(lambda: summarize(2**62), lambda: summarize(least))
    finally:
        nearest.LEAST_WORK = least
    if not all(np.array_equal(one.sizes, found[0].sizes) for one in found):
        raise ArithmeticError("The card and the processor differ")
    return times


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_gpu", description="Time a graphics card."
    )
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N")
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS, metavar="D")
    parser.add_argument("--threads", type=int, nargs="+", default=[parallel.n_threads()], metavar="N")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    options = parser.parse_args(arguments)
    gpu = cuda.find_gpu()
    if gpu is None:
        print("CuPy finds no graphics card here.")
        return 0
    rows = []
    print("".join(field.rjust(14) for field in FIELDS[1:]))
    cases = [("nearest", d) for d in options.columns]
    cases += [("summary", d) for d in options.columns if d <= MOST_COLUMNS]
    for threads, (work, d) in product(options.threads, cases):
        os.environ["OMP_NUM_THREADS"] = str(threads)
        if work == "nearest":
            times = compare_kernels(gpu, options.rows, d)
        else:
            with TemporaryDirectory() as name:
                times = compare_summaries(options.rows, d, Path(name))
        case = {"card": gpu.name, "threads": threads, "work": work, "rows": options.rows, "columns": d}
        case |= {"processor_s": f"{times[0]:.3g}", "card_s": f"{times[1]:.3g}"}
        rows.append(case | {"ratio": f"{times[0] / times[1]:.3g}"})
        print("".join(str(rows[-1][field]).rjust(14) for field in FIELDS[1:]), flush=True)
    write_table(options.out / "speed_gpu.csv", FIELDS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
