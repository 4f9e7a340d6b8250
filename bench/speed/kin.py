"""The time of KIN: before the first question and between two questions.

Rows are blobs in 10 features, and known classes answer at once: 100 questions about blobs around 20 centres,
and 1000 questions about 2000 rows around 700 centres. Two more cases begin with 100,000 given pairs, and the
second of them measures COBRAS. Each case runs in a fresh process on one thread. Times are processor times, so
other programs on the machine matter little.

    python -m bench run speed_kin [--sizes 500 1000 2000] [--no-many] [--out DIR]

The table shows the aims of ``targets/kin_speed.csv`` beside the figures. Exits with 1 if an aim is missed.
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
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from bench.results import RESULTS, write_table

TARGETS = Path(__file__).resolve().parents[1] / "targets" / "kin_speed.csv"
CASE = ("learner", "n", "classes", "pairs", "questions")
MEASURED = ("setup_s", "all_s", "median_ms", "longest_ms")
FIELDS = (
    *CASE,
    *(name for measured in MEASURED for name in (measured, f"{measured}_aim")),
    "data_MiB",
    "peak_MiB",
    "missed",
)
MOST_DATA, MOST_MIB = 3, 500  # the peak is to stay below so many times the rows, and so many MiB more


def peak_mib() -> float:
    """Largest resident memory of this process so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def draw_constraints(y: Any, n_pairs: int) -> Any:
    """Random pairs of rows, and whether they belong together."""
    import numpy as np

    from linkwise import Constraints

    rng = np.random.default_rng(0)
    first = rng.integers(0, len(y), n_pairs)
    pairs = np.stack([first, (first + rng.integers(1, len(y), n_pairs)) % len(y)], axis=1)
    is_must = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints(len(y), pairs[is_must], pairs[~is_must])


def measure(name: str, n: int, n_classes: int, n_pairs: int, n_questions: int) -> dict[str, float]:
    """Times and memory of this process."""
    from sklearn.datasets import make_blobs

    from linkwise import COBRAS, KIN, Evidence, TruthOracle
    from linkwise.learn.run import Run

    learner = {"KIN": KIN, "COBRAS": COBRAS}[name](random_state=0)
    learner.fit([[0.0], [1.0], [5.0]], oracle=TruthOracle([0, 0, 1]))  # what is loaded once
    X, y = make_blobs(n, 10, centers=n_classes, cluster_std=2.0, random_state=0)
    truth, constraints = TruthOracle(y), draw_constraints(y, n_pairs) if n_pairs else None
    before = process_time()
    run: Any = Run(learner, X, Evidence(n, constraints), 0, budget=n_questions)
    setup, waits = process_time() - before, []
    while (question := run.question) is not None:
        answer = truth(question.first, question.second)
        before = process_time()
        run.answer(answer)
        waits.append(1000 * (process_time() - before))
    return {
        "setup_s": setup,
        "all_s": sum(waits) / 1000,
        "median_ms": median(waits or [0.0]),
        "longest_ms": max(waits, default=0.0),
        "data_MiB": X.nbytes / (1 << 20),
        "peak_MiB": peak_mib(),
    }


def finish_row(target: dict[str, str], found: dict[str, float]) -> dict[str, str]:
    """One line of the table, with the aims that it misses."""
    aims = {name: float(target[name]) for name in MEASURED if target[name]}
    most = aims | {"peak_MiB": MOST_DATA * found["data_MiB"] + MOST_MIB}
    missed = " ".join(name for name, limit in most.items() if found[name] > limit)
    return {
        **{name: target[name] for name in CASE},
        **{name: f"{value:.3g}" for name, value in found.items()},
        **{f"{name}_aim": target[name] for name in MEASURED},
        "missed": missed or "-",
    }


def read_targets(sizes: list[int] | None, *, with_many: bool) -> list[dict[str, str]]:
    """The cases with their aims; the plain ones have few classes and no given pairs."""
    with TARGETS.open(newline="") as file:
        targets = list(csv.DictReader(file))
    is_plain = [row["pairs"] == "0" and row["questions"] == "100" for row in targets]
    return [
        row
        for row, plain in zip(targets, is_plain, strict=True)
        if (plain and (sizes is None or int(row["n"]) in sizes)) or (not plain and with_many)
    ]


def run_child(target: dict[str, str]) -> dict[str, float]:
    """What this file measures in a new process."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    case = [target[name] for name in CASE]
    command = [sys.executable, "-m", "bench.speed.kin", "--child", *case]
    out = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(out)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_kin", description="Time KIN.")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="sizes of the plain cases")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--no-many", action="store_true", help="leave out many classes and given pairs")
    parser.add_argument("--child", nargs=len(CASE), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, *case = options.child
        print(json.dumps(measure(name, *map(int, case))))
        return 0
    rows = []
    print("".join(field.rjust(15) for field in FIELDS))
    for target in read_targets(options.sizes, with_many=not options.no_many):
        rows.append(finish_row(target, run_child(target)))
        print("".join(rows[-1][field].rjust(15) for field in FIELDS), flush=True)
    write_table(options.out / "speed_kin.csv", FIELDS, rows)
    return int(any(row["missed"] != "-" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
