"""The time and memory of COBRAS with 100 questions, and of one k-means of scikit-learn in the same process.

Rows are blobs around 20 centres in 10 features, and known classes answer at once. Each size runs in a fresh
process that loads the rows from a file, so its peak memory contains nothing but the interpreter, the
libraries, the rows, and the memory of COBRAS. The first run measures memory. Times are medians of three runs,
COBRAS and k-means by turns. OMP_NUM_THREADS is set to 1 and to 2.

    python -m bench run speed_cobras [--quick] [--out DIR]

Exits with 1 if an aim of ``targets/cobras_speed.csv`` is missed.
"""

# The parent imports nothing large: a child's ru_maxrss starts from what its parent held.
from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.results import RESULTS, write_table

TARGETS = Path(__file__).resolve().parents[1] / "targets" / "cobras_speed.csv"
FIELDS = (
    "n", "threads", "total_s", "first_question_s", "longest_wait_s", "kmeans_s", "ratio", "theirs_ratio",
    "data_MiB", "libraries_MiB", "peak_MiB", "peak_less_data_MiB", "missed",
)  # fmt: skip
SIZES, QUICK = (1000, 10_000, 100_000, 1_000_000), (1000, 10_000, 100_000)
QUESTIONS, REPEATS = 100, 3
MOST_DATA, MOST_MIB = 3, 500  # the peak is to stay below so many times the rows, and so many MiB more


def peak_mib() -> float:
    """Largest resident memory of this process so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def make_rows(n: int, folder: Path) -> None:
    """Write the rows and their groups."""
    import numpy as np
    from sklearn.datasets import make_blobs

    X, y = make_blobs(n, 10, centers=20, cluster_std=2.0, random_state=0)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)


def measure(folder: Path) -> dict[str, float]:
    """Times and memory of this process, for the number of threads that the environment sets."""
    import numpy as np
    from sklearn.cluster import KMeans

    from linkwise import COBRAS, TruthOracle

    libraries = peak_mib()
    X, oracle = np.load(folder / "X.npy"), TruthOracle(np.load(folder / "y.npy"))
    runs, k_means = [], []
    for repeat in range(REPEATS):
        runs.append(waits(COBRAS(random_state=0), X, oracle))
        if repeat == 0:
            peak = peak_mib()
        begin = perf_counter()
        KMeans(20, n_init=1, random_state=0).fit(X)
        k_means.append(perf_counter() - begin)
    return {
        "total_s": median(sum(run) for run in runs),
        "first_question_s": median(run[0] for run in runs),
        "longest_wait_s": median(max(run[1:]) for run in runs),
        "kmeans_s": median(k_means),
        "data_MiB": X.nbytes / (1 << 20),
        "libraries_MiB": libraries,
        "peak_MiB": peak,
    }


def waits(model: Any, X: Any, truth: Any) -> list[float]:
    """Seconds before the first question, before each further one, and from the last answer to the end."""
    moments = [perf_counter()]

    def oracle(first: int, second: int) -> object:
        moments.append(perf_counter())
        return truth(first, second)

    model.fit(X, oracle=oracle, budget=QUESTIONS)
    moments.append(perf_counter())
    return [after - before for before, after in pairwise(moments)]


def run_child(*arguments: str, threads: int = 1) -> str:
    """What this file prints when it is run in a new process."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "bench.speed.cobras", *arguments]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def finish_row(n: int, threads: int, found: dict[str, float], target: dict[str, str]) -> dict[str, str]:
    """One line of the table, with the aims that it misses."""
    ratio = found["total_s"] / found["kmeans_s"]
    aims = {
        "total": (ratio, target["most_ratio"]),
        "wait": (found["longest_wait_s"], target["most_wait_s"]),
        "peak": (found["peak_MiB"], MOST_DATA * found["data_MiB"] + MOST_MIB),
    }
    missed = [aim for aim, (value, most) in aims.items() if most and value > float(most)]
    times = {name: f"{value:.3g}" for name, value in found.items() if name.endswith("_s")}
    memory = {name: f"{value:.0f}" for name, value in found.items() if name.endswith("_MiB")}
    row = {
        "n": str(n), "threads": str(threads), **times, "ratio": f"{ratio:.2f}",
        "theirs_ratio": target["theirs_ratio"], **memory,
        "peak_less_data_MiB": f"{found['peak_MiB'] - found['data_MiB']:.0f}",
        "missed": " ".join(missed) or "-",
    }  # fmt: skip
    return {field: row[field] for field in FIELDS}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_cobras",
        description="Time and memory of COBRAS.",
    )
    parser.add_argument("--quick", action="store_true", help="up to 100 000 rows")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--make", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        make_rows(options.make, options.folder)
        return 0
    if options.folder:
        print(json.dumps(measure(options.folder)))
        return 0
    with TARGETS.open(newline="") as file:
        targets = {int(row["n"]): row for row in csv.DictReader(file)}
    rows = []
    wide = [max(len(field), 6) + 2 for field in FIELDS]
    print("".join(field.rjust(w) for field, w in zip(FIELDS, wide, strict=True)))
    for n in QUICK if options.quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            run_child("--make", str(n), "--folder", folder)
            for threads in (1, 2):
                found = json.loads(run_child("--folder", folder, threads=threads))
                rows.append(finish_row(n, threads, found, targets[n]))
                print("".join(rows[-1][f].rjust(w) for f, w in zip(FIELDS, wide, strict=True)), flush=True)
    write_table(options.out / "speed_cobras.csv", FIELDS, rows)
    return int(any(row["missed"] != "-" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
