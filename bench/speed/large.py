"""Time and memory of rows that stay on disk: summary, questions and labels.

Rows are float32 in 10 columns around 20 centres, written to a .npy file in parts. The summary has 1000 items,
and KIN asks 100 questions about their medoids. Each size runs in a fresh process. Beside it KIN clusters a
sample of the rows in memory, with as many questions. The ARI of both is that on the sample.

    python -m bench run speed_large [--sizes 1000000 10000000] [--quick] [--out DIR]
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
from typing import Any

from bench.results import RESULTS, write_table
from bench.speed.kin import peak_mib

SIZES = (1_000_000, 10_000_000)
QUICK = (100_000,)
N_COLUMNS, CLASSES, QUESTIONS, SPREAD = 10, 20, 100, 3.5
PART = 100_000  # rows that are drawn at once
SAMPLE = 100_000  # rows of the comparison in memory
FIELDS = (
    "n", "data_MiB", "summary_s", "setup_s", "question_ms", "export_s", "peak_MiB", "ari", "ari_in_memory"
)  # fmt: skip


def draw_rows(n: int, folder: Path) -> None:
    """Write rows and their classes, part by part."""
    import numpy as np

    rng = np.random.default_rng(0)
    centers = rng.uniform(-10, 10, (CLASSES, N_COLUMNS))
    with (folder / "rows.npy").open("wb") as rows, (folder / "classes.npy").open("wb") as classes:
        for file, kind, shape in ((rows, "<f4", (n, N_COLUMNS)), (classes, "<i4", (n,))):
            header = {"descr": kind, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
        for at in range(0, n, PART):
            y = rng.integers(CLASSES, size=min(PART, n - at))
            part = centers[y] + SPREAD * rng.normal(size=(len(y), N_COLUMNS))
            part.astype(np.float32).tofile(rows)
            y.astype(np.int32).tofile(classes)


def measure(folder: Path) -> dict[str, float]:
    """Times and memory of this process, and the labels that it writes."""
    import numpy as np

    import linkwise as lw
    from linkwise.asking.run import Run

    started = perf_counter()
    summary = lw.summarize(folder / "rows.npy")
    summarised = perf_counter()
    y = np.load(folder / "classes.npy", mmap_mode="r")[summary.medoid_rows]
    truth, evidence = lw.TruthOracle(y), lw.Evidence(len(y))
    run: Any = Run(lw.KIN(random_state=0), summary.X, evidence, 0, budget=QUESTIONS)
    ready, waits = perf_counter(), []
    while (question := run.question) is not None:
        answer, before = truth(question.first, question.second), perf_counter()
        run.answer(answer)
        waits.append(1000 * (perf_counter() - before))
    before = perf_counter()
    summary.write_labels(folder / "rows.npy", run.labels, folder / "labels")
    return {
        "summary_s": summarised - started,
        "setup_s": ready - started,
        "question_ms": median(waits),
        "export_s": perf_counter() - before,
        "peak_MiB": peak_mib(),
    }


def compare(folder: Path) -> dict[str, float]:
    """The ARI of the labels that were written, and of KIN in memory, on a sample of the rows."""
    import numpy as np
    import polars as pl
    from sklearn.metrics import adjusted_rand_score

    import linkwise as lw

    X, y = (np.load(folder / name, mmap_mode="r") for name in ("rows.npy", "classes.npy"))
    chosen = np.sort(np.random.default_rng(1).choice(len(X), min(SAMPLE, len(X)), replace=False))
    written = pl.read_parquet(folder / "labels" / "*.parquet")["cluster"].to_numpy()[chosen]
    sample, truth = np.ascontiguousarray(X[chosen]), np.asarray(y[chosen])
    model = lw.KIN(random_state=0).fit(sample, oracle=lw.TruthOracle(truth), budget=QUESTIONS)
    return {
        "ari": float(adjusted_rand_score(truth, written)),
        "ari_in_memory": float(adjusted_rand_score(truth, model.labels_)),
    }


def run_child(step: str, *arguments: object) -> dict[str, float]:
    """Run a step in a new process."""
    command = [sys.executable, "-m", "bench.speed.large", "--child", step, *map(str, arguments)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(out)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_large", description="Time large data.")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK[0]} rows")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        step, folder = options.child[0], Path(options.child[1])
        if step == "draw":
            draw_rows(int(options.child[2]), folder)
        print(json.dumps({"measure": measure, "compare": compare}[step](folder) if step != "draw" else {}))
        return 0
    rows = []
    print("".join(field.rjust(14) for field in FIELDS))
    for n in options.sizes or (QUICK if options.quick else SIZES):
        with TemporaryDirectory() as name:
            run_child("draw", name, n)
            found = {"data_MiB": 4 * N_COLUMNS * n / 2**20, **run_child("measure", name)}
            found |= run_child("compare", name)
        rows.append({"n": str(n), **{field: f"{found[field]:.3g}" for field in FIELDS[1:]}})
        print("".join(rows[-1][field].rjust(14) for field in FIELDS), flush=True)
    write_table(options.out / "speed_large.csv", FIELDS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
