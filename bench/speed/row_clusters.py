"""Time and memory of clusterers on rows that stay in files, beside scikit-learn's MiniBatchKMeans.

Rows are those of `speed_large`: float32 in 10 columns around 23 centres, in Parquet files of at most a
million rows. Each method fits 23 clusters to the same files: linkwise's with 200 constraints, and
MiniBatchKMeans by `partial_fit` with batches of 100 000 rows, in one pass. ClusILC.fit reads all rows into
memory, where the tree has all thresholds. COBS chooses among 20, 23 and 26 clusters. Each fit runs in a fresh
process with two threads. The methods take turns; times and memory are medians of three turns. Ratios divide
by the median of MiniBatchKMeans in the same run. ARI is that of `predict` on 100 000 rows.

    python -m bench run speed_row_clusters [--sizes 1000000] [--quick] [--out DIR]
"""

# The parent imports nothing large: a child's ru_maxrss starts from what its parent held.
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from bench.results import RESULTS, write_table
from bench.speed.kin import peak_mib
from bench.speed.large import CLASSES, RARE, draw_rows

SIZES = (1_000_000,)
QUICK = (50_000,)
TURNS = 3
CLUSTERS, PAIRS = CLASSES + RARE, 200
BATCH = 100_000  # rows of MiniBatchKMeans, and of the comparison
BASELINE, IN_MEMORY = "MiniBatchKMeans", "ClusILC.fit"
FIELDS = ("n", "method", "seconds", "times_baseline", "peak_MiB", "memory_times_baseline", "passes", "ari")


def make_models() -> dict[str, Any]:
    """Create linkwise's methods."""
    from dataclasses import replace

    import linkwise as lw
    from linkwise.select.clusterings import PRESETS

    around = replace(PRESETS["quick"], clusters=(CLUSTERS - 3, CLUSTERS, CLUSTERS + 3))
    return {
        "COBS": lw.COBS(preset=around, random_state=0),
        "PCKMeans": lw.PCKMeans(CLUSTERS, random_state=0),
        "MPCKMeans": lw.MPCKMeans(CLUSTERS, metric="diagonal", random_state=0),
        "ClusILC": lw.ClusILC(CLUSTERS),
    }


METHODS = (BASELINE, "PCKMeans", "MPCKMeans", "ClusILC", IN_MEMORY, "COBS")
READINGS = {
    "PCKMeans": 3,
    "MPCKMeans": 4,
    "ClusILC": 2,
    "COBS": 3,
}  # passes besides those of iterations or leaves


def measure(folder: Path, method: str) -> dict[str, float]:
    """Time and memory of a fit in this process, and the ARI of its predictions."""
    import numpy as np
    import polars as pl
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import adjusted_rand_score

    import linkwise as lw

    y = np.load(folder / "classes.npy", mmap_mode="r")
    pairs = lw.Constraints.sample(np.array(y[:BATCH]), PAIRS, random_state=0)
    started = perf_counter()
    if method == BASELINE:
        fitted: Any = MiniBatchKMeans(CLUSTERS, random_state=0, n_init=1)
        for path in sorted((folder / "rows").iterdir()):
            rows = pl.read_parquet(path).to_numpy()
            for at in range(0, len(rows), BATCH):
                fitted.partial_fit(rows[at : at + BATCH])
        passes = 1
    elif method == IN_MEMORY:
        rows = np.concatenate(
            [pl.read_parquet(path).to_numpy() for path in sorted((folder / "rows").iterdir())]
        )
        links = lw.Constraints(len(rows), pairs.must_link, pairs.cannot_link)
        fitted, passes = make_models()["ClusILC"].fit(rows, constraints=links), 1
    else:
        seen: list[int] = []
        fitted = lw.cluster_rows(
            make_models()[method],
            folder / "rows",
            must_link=pairs.must_link,
            cannot_link=pairs.cannot_link,
            progress=lambda done, _: seen.append(done),
        )
        own = 0 if method == "COBS" else len(seen)  # COBS counts clusterings of its sample
        passes = getattr(fitted.model, "n_iter_", own) + READINGS[method]
    found: dict[str, float] = {"seconds": perf_counter() - started, "peak_MiB": peak_mib(), "passes": passes}
    first = pl.read_parquet(min((folder / "rows").iterdir()))[:BATCH].to_numpy()
    labels = fitted.predict(np.ascontiguousarray(first))
    return found | {"ari": float(adjusted_rand_score(np.array(y[:BATCH]), labels))}


def run_child(step: str, *arguments: object) -> dict[str, float]:
    """Run a step in a new process with two threads."""
    command = [sys.executable, "-m", "bench.speed.row_clusters", "--child", step, *map(str, arguments)]
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | threads)
    found: dict[str, float] = json.loads(out.stdout)
    return found


def compare(n: int, turns: int) -> list[dict[str, str]]:
    """Run all methods in turn on the same files, and make a line of each."""
    with TemporaryDirectory() as name:
        run_child("draw", name, n)
        runs = [{method: run_child("measure", name, method) for method in METHODS} for _ in range(turns)]
    middle = {
        method: {key: median(run[method][key] for run in runs) for key in runs[0][method]}
        for method in METHODS
    }
    base = middle[BASELINE]
    return [
        {
            "n": str(n),
            "method": method,
            "seconds": f"{found['seconds']:.3g}",
            "times_baseline": f"{found['seconds'] / base['seconds']:.2f}",
            "peak_MiB": f"{found['peak_MiB']:.0f}",
            "memory_times_baseline": f"{found['peak_MiB'] / base['peak_MiB']:.2f}",
            "passes": f"{found['passes']:.0f}",
            "ari": f"{found['ari']:.3f}",
        }
        for method, found in middle.items()
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_row_clusters", description="Time clusterers on files."
    )
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK[0]} rows, once")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        step, folder, last = options.child
        found: dict[str, float] = {}
        if step == "draw":
            draw_rows(int(last), Path(folder))
        else:
            found = measure(Path(folder), last)
        print(json.dumps(found))
        return 0
    rows: list[dict[str, str]] = []
    for n in options.sizes or (QUICK if options.quick else SIZES):
        rows += compare(n, 1 if options.quick else TURNS)
    for row in rows:
        print("  ".join(f"{field} {row[field]}" for field in FIELDS), flush=True)
    write_table(options.out / "speed_row_clusters.csv", FIELDS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
