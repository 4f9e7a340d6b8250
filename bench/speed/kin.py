"""The time of KIN: before the first question and between two questions.

Rows are blobs in 10 features, and known classes answer at once: 100 questions about blobs around 20 centres,
and 1000 questions about 2000 rows around 700 centres. Each case runs in a fresh process on one thread. Times
are processor times, so other programs on the machine hardly matter.

    python -m bench run speed_kin [--sizes 500 1000 2000] [--no-many] [--out DIR]

Exits with 1 if an aim is missed.
"""

# The parent imports nothing large: a child's ru_maxrss starts from what its parent held.
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from bench.results import RESULTS, write_table

SIZES = (500, 1000, 2000, 100_000, 1_000_000)
CLASSES, QUESTIONS = 20, 100
MANY = (2000, 700, 1000)  # rows, classes and questions of the case with many classes
FIELDS = ("n", "classes", "setup_s", "all_s", "median_ms", "longest_ms", "data_MiB", "peak_MiB", "missed")
ITEMS = 2000  # rows up to which each is looked at
AIMS = {"setup_s": 1.0, "median_ms": 50.0, "longest_ms": 200.0}
LARGE_SETUP_S = 15.0
MANY_S = 20.0  # all questions of the case with many classes
MOST_DATA, MOST_MIB = 3, 500  # the peak is to stay below so many times the rows, and so many MiB more


def peak_mib() -> float:
    """Largest resident memory of this process so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def measure(n: int, n_classes: int, n_questions: int) -> dict[str, float]:
    """Times and memory of this process."""
    from sklearn.datasets import make_blobs

    from linkwise import KIN, Evidence, TruthOracle
    from linkwise.asking.run import Run

    KIN(random_state=0).fit([[0.0], [1.0], [5.0]], oracle=TruthOracle([0, 0, 1]))  # what is loaded once
    X, y = make_blobs(n, 10, centers=n_classes, cluster_std=2.0, random_state=0)
    truth, learner = TruthOracle(y), KIN(random_state=0)
    before = process_time()
    run: Any = Run(learner, X, Evidence(n), 0, budget=n_questions)
    setup, waits = process_time() - before, []
    while (question := run.question) is not None:
        answer = truth(question.first, question.second)
        before = process_time()
        run.answer(answer)
        waits.append(1000 * (process_time() - before))
    return {
        "setup_s": setup,
        "all_s": sum(waits) / 1000,
        "median_ms": median(waits),
        "longest_ms": max(waits),
        "data_MiB": X.nbytes / (1 << 20),
        "peak_MiB": peak_mib(),
    }


def find_missed(n: int, n_classes: int, found: dict[str, float]) -> str:
    """The aims that are missed."""
    aims = AIMS | {"peak_MiB": MOST_DATA * found["data_MiB"] + MOST_MIB}
    if n > ITEMS:
        aims["setup_s"] = LARGE_SETUP_S
    if n_classes == MANY[1]:
        aims["all_s"] = MANY_S
    return " ".join(name for name, most in aims.items() if found[name] > most) or "-"


def run_child(*case: int) -> dict[str, float]:
    """What this file measures in a new process."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "bench.speed.kin", "--child", *map(str, case)]
    out = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(out)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_kin", description="Time KIN.")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--no-many", action="store_true", help="leave out the case with many classes")
    parser.add_argument("--child", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(*options.child)))
        return 0
    rows = []
    print("".join(field.rjust(12) for field in FIELDS))
    cases = [(n, CLASSES, QUESTIONS) for n in options.sizes]
    for n, n_classes, n_questions in cases if options.no_many else [*cases, MANY]:
        found = run_child(n, n_classes, n_questions)
        numbers = {field: f"{found[field]:.3g}" for field in FIELDS[2:-1]}
        missed = find_missed(n, n_classes, found)
        rows.append({"n": str(n), "classes": str(n_classes), **numbers, "missed": missed})
        print("".join(rows[-1][field].rjust(12) for field in FIELDS), flush=True)
    write_table(options.out / "speed_kin.csv", FIELDS, rows)
    return int(any(row["missed"] != "-" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
