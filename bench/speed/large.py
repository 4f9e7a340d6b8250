"""Time and memory of rows that stay on disk: summary, questions and labels.

Rows are float32 in 10 columns around 20 centres of equal classes and 3 of rare ones, with 0.1 % of the rows
each, in Parquet files of at most a million rows. The summary has 1000 items, and KIN asks 100 questions about
their medoids. Each step runs in a fresh process.

Beside it MiniBatchKMeans of scikit-learn fits 1000 centres to the same files by `partial_fit`, in one pass.
KIN asks as many questions about them; the class of a centre is that of the row of the sample nearest to it.
And KIN clusters a sample of 100 000 rows in memory, with as many questions. All ARI are those on the sample.
Precision and recall of a rare class are those of the cluster with the highest F1 (mean of the three).
Above 10 million rows MiniBatchKMeans is left out, since it takes longest.

    python -m bench run speed_large [--sizes 1000000 10000000] [--quick] [--keep] [--out DIR]

``--keep`` keeps the rows of other sizes in the table.
"""

# The parent imports nothing large: a child's ru_maxrss starts from what its parent held.
from __future__ import annotations

import argparse
import csv
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
RARE, SHARE = 3, 0.001  # rare classes, and the share of the rows that each has
ITEMS = 1000
PART = 1_000_000  # rows of a file
SAMPLE = 100_000  # rows of the comparison in memory
BATCH = 100_000  # rows of MiniBatchKMeans
MOST_BATCHED = 10_000_000  # rows up to which it runs
FIELDS = (
    "n", "data_MiB", "summary_s", "setup_s", "question_ms", "export_s", "peak_MiB", "ari",
    "precision", "recall", "minibatch_s", "minibatch_MiB", "ari_minibatch", "ari_in_memory"
)  # fmt: skip


def draw_rows(n: int, folder: Path) -> None:
    """Write rows and their classes, file by file."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    centers = rng.uniform(-10, 10, (CLASSES + RARE, N_COLUMNS))
    shares = np.array([(1 - RARE * SHARE) / CLASSES] * CLASSES + [SHARE] * RARE)
    (folder / "rows").mkdir()
    classes = []
    for at in range(0, n, PART):
        y = rng.choice(CLASSES + RARE, size=min(PART, n - at), p=shares)
        part = (centers[y] + SPREAD * rng.normal(size=(len(y), N_COLUMNS))).astype(np.float32)
        frame = pl.DataFrame({f"x{j}": part[:, j] for j in range(N_COLUMNS)})
        frame.write_parquet(folder / "rows" / f"{at // PART:05d}.parquet")
        classes.append(y.astype(np.int32))
    np.save(folder / "classes.npy", np.concatenate(classes))


def measure(folder: Path) -> dict[str, float]:
    """Times and memory of this process, and the labels that it writes."""
    import numpy as np

    import linkwise as lw
    from linkwise.learn.run import Run

    started = perf_counter()
    summary = lw.summarize(folder / "rows", ITEMS)
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
    summary.write_labels(folder / "rows", run.labels, folder / "labels")
    return {
        "summary_s": summarised - started,
        "setup_s": ready - started,
        "question_ms": median(waits),
        "export_s": perf_counter() - before,
        "peak_MiB": peak_mib(),
    }


def fit_minibatches(folder: Path) -> dict[str, float]:
    """Time and memory of MiniBatchKMeans, whose centres are stored."""
    import numpy as np
    import polars as pl
    from sklearn.cluster import MiniBatchKMeans

    started, model = perf_counter(), MiniBatchKMeans(ITEMS, random_state=0, n_init=1)
    for path in sorted((folder / "rows").iterdir()):
        rows = pl.read_parquet(path).to_numpy()
        for at in range(0, len(rows), BATCH):
            if len(rows) - at >= ITEMS:  # the first batch must have a row for each centre
                model.partial_fit(rows[at : at + BATCH])
    np.save(folder / "centers.npy", model.cluster_centers_)
    return {"minibatch_s": perf_counter() - started, "minibatch_MiB": peak_mib()}


def compare(folder: Path) -> dict[str, float]:
    """The quality of the labels that were written, and of both comparisons, on a sample of the rows."""
    import numpy as np
    import polars as pl
    from sklearn.metrics import adjusted_rand_score
    from sklearn.neighbors import NearestNeighbors

    import linkwise as lw

    y = np.load(folder / "classes.npy")
    chosen = np.sort(np.random.default_rng(1).choice(len(y), min(SAMPLE, len(y)), replace=False))
    truth, sample = y[chosen], _read_rows(folder, chosen)
    written = pl.read_parquet(folder / "labels" / "*.parquet")["cluster"].to_numpy()
    model = lw.KIN(random_state=0).fit(sample, oracle=lw.TruthOracle(truth), budget=QUESTIONS)
    rare = [_rate_class(y == CLASSES + k, written) for k in range(RARE)]
    found = {
        "ari": float(adjusted_rand_score(truth, written[chosen])),
        "precision": float(np.mean([one for one, _ in rare])),
        "recall": float(np.mean([one for _, one in rare])),
        "ari_in_memory": float(adjusted_rand_score(truth, model.labels_)),
    }
    if (folder / "centers.npy").exists():
        centers = np.load(folder / "centers.npy").astype(np.float64)
        nearest = NearestNeighbors(n_neighbors=1).fit(sample).kneighbors(centers, return_distance=False)[:, 0]
        batches = lw.KIN(random_state=0).fit(centers, oracle=lw.TruthOracle(truth[nearest]), budget=QUESTIONS)
        of = NearestNeighbors(n_neighbors=1).fit(centers).kneighbors(sample, return_distance=False)[:, 0]
        found["ari_minibatch"] = float(adjusted_rand_score(truth, batches.labels_[of]))
    return found


def _read_rows(folder: Path, chosen: Any) -> Any:
    """Read some rows, whose numbers ascend."""
    import numpy as np
    import polars as pl

    parts = []
    for number, path in enumerate(sorted((folder / "rows").iterdir())):
        mine = chosen[(chosen >= number * PART) & (chosen < (number + 1) * PART)] - number * PART
        parts.append(pl.read_parquet(path)[mine].to_numpy())
    return np.ascontiguousarray(np.concatenate(parts))


def _rate_class(is_of_class: Any, labels: Any) -> tuple[float, float]:
    """Precision and recall of a class in the cluster with the highest F1."""
    import numpy as np

    shift = labels.min()
    hits = np.bincount(labels[is_of_class] - shift, minlength=labels.max() - shift + 1)
    sizes = np.bincount(labels - shift)
    best = int(np.argmax(2 * hits / (sizes + is_of_class.sum())))
    return float(hits[best] / sizes[best]), float(hits[best] / is_of_class.sum())


def run_child(step: str, *arguments: object) -> dict[str, float]:
    """Run a step in a new process; what it finds is also told at once, since the next step may take long."""
    command = [sys.executable, "-m", "bench.speed.large", "--child", step, *map(str, arguments)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(out)
    print(f"{step}: {out.strip()}", file=sys.stderr, flush=True)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench run speed_large", description="Time large data.")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK[0]} rows")
    parser.add_argument("--keep", action="store_true", help="keep the rows of other sizes in the table")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        step, folder = options.child[0], Path(options.child[1])
        if step == "draw":
            draw_rows(int(options.child[2]), folder)
        steps = {"measure": measure, "minibatches": fit_minibatches, "compare": compare}
        print(json.dumps(steps[step](folder) if step != "draw" else {}))
        return 0
    rows = []
    print("".join(field.rjust(14) for field in FIELDS))
    for n in options.sizes or (QUICK if options.quick else SIZES):
        with TemporaryDirectory() as name:
            run_child("draw", name, n)
            found = {"data_MiB": 4 * N_COLUMNS * n / 2**20, **run_child("measure", name)}
            if n <= MOST_BATCHED:
                found |= run_child("minibatches", name)
            found |= run_child("compare", name)
        figures = {field: f"{found[field]:.3g}" if field in found else "" for field in FIELDS[1:]}
        rows.append({"n": str(n), **figures})
        print("".join(rows[-1][field].rjust(14) for field in FIELDS), flush=True)
    table = options.out / "speed_large.csv"
    if options.keep and table.exists():
        with table.open(newline="") as file:
            rows += [row for row in csv.DictReader(file) if row["n"] not in {one["n"] for one in rows}]
    write_table(table, FIELDS, sorted(rows, key=lambda row: int(row["n"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
