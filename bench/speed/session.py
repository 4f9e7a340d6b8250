"""The time of a `Session` with KIN: what a person waits for, with many rows in memory.

Rows are blobs around 20 centres in 10 features, float32, and known classes answer 60 questions. The session
is in memory, or in a file; an answer is timed until the next question is there. Reading the labels of all
rows is timed beside it, as is a copy of an array of as many labels, the least that it can take. Each case
runs in a fresh process on all cores.

    python -m bench run speed_session [--sizes 1000000 10000000] [--out DIR]
"""

# The parent imports nothing large: a child's ru_maxrss starts from what its parent held.
from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.results import RESULTS, write_table
from bench.speed.kin import peak_mib

FIELDS = (
    "kept",
    "n",
    "setup_s",
    "answer_ms",
    "longest_ms",
    "labels_ms",
    "copy_ms",
    "data_MiB",
    "peak_MiB",
)
SIZES = (1_000_000, 10_000_000)
QUESTIONS = 60
BLOCK = 1_000_000  # rows that are drawn at once, so that the peak is that of the session


def measure(kept: str, n: int, n_questions: int = QUESTIONS) -> dict[str, float]:
    """Times and memory of this process."""
    import numpy as np

    from linkwise import KIN, Session, TruthOracle

    KIN(random_state=0).fit([[0.0], [1.0], [5.0]], oracle=TruthOracle([0, 0, 1]))  # what is loaded once
    rng = np.random.default_rng(0)
    centers, y = rng.uniform(-10, 10, (20, 10)), rng.integers(0, 20, n)
    X = np.empty((n, 10), dtype=np.float32)
    for start in range(0, n, BLOCK):
        block = y[start : start + BLOCK]
        X[start : start + BLOCK] = centers[block] + 2 * rng.normal(size=(len(block), 10))
    answers, readings, copies = [], [], []
    with TemporaryDirectory() as folder:
        learner, path = KIN(random_state=0), Path(folder) / "session.linkwise"
        before = perf_counter()
        session = Session(X, learner) if kept == "memory" else Session.open(path, X, learner)
        question = session.question
        setup = perf_counter() - before
        while question is not None and len(answers) < n_questions:
            answer = "yes" if y[question.first] == y[question.second] else "no"
            times = [perf_counter()]
            session.answer(answer)
            question = session.question
            times.append(perf_counter())
            labels = session.labels
            times.append(perf_counter())
            labels.copy()
            times.append(perf_counter())
            for found, took in zip((answers, readings, copies), np.diff(times), strict=True):
                found.append(1000 * float(took))
        session.close()
    return {
        "setup_s": setup,
        "answer_ms": median(answers),
        "longest_ms": max(answers),
        "labels_ms": median(readings),
        "copy_ms": median(copies),
        "data_MiB": X.nbytes / (1 << 20),
        "peak_MiB": peak_mib(),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_session", description="Time a session of many rows."
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="numbers of rows")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        kept, n = options.child
        print(json.dumps(measure(kept, int(n))))
        return 0
    rows = []
    for n in options.sizes:
        for kept in ("memory", "file"):
            command = [sys.executable, "-m", "bench.speed.session", "--child", kept, str(n)]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            rows.append({"kept": kept, "n": n, **{name: f"{value:.3g}" for name, value in found.items()}})
            print(rows[-1], flush=True)
    write_table(options.out / "speed_session.csv", FIELDS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
