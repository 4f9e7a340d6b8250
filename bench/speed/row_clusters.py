"""What clusterers of rows in files lose if a sample is clustered, and `predict` assigns the other rows.

Rows are float32 around ten centres, or images of digits, in Parquet files of at most a million rows.
Constraints are right and between random rows. Each fit runs in a fresh process on one thread, with samples of
several sizes and the rows that constraints name, and writes the cluster of each row. It is judged on all rows
by the ARI, by the number of broken constraints, and by the objective of the method. That of k-means takes the
means of the clusters as centres. That of MPCKMeans has a logarithm and is divided by rows and columns.
Seconds are those of the processor.

    python -m bench run speed_row_clusters [--sizes 1000000] [--sets easy] [--quick] [--out DIR]

Lines of `passes` in the table are of an earlier version, which continued from a sample of 20 000 rows by
passes over all rows.
"""

# The parent imports nothing large: a child's ru_maxrss starts from what its parent held.
from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from bench.results import RESULTS, write_table
from bench.speed.kin import peak_mib

SIZES = (1_000_000,)
QUICK = (50_000,)
SETS = ("easy", "overlapping", "noise columns", "skewed", "elongated", "digits")
PAIRS = (100, 1000, 10_000)
METHODS = ("PCKMeans", "MPCKMeans", "ClusILC")
SAMPLES = ("20000", "100000")
CLUSTERS, N_COLUMNS, PART = 10, 10, 1_000_000
SPREADS = {"easy": 2.0, "overlapping": 6.5, "noise columns": 2.5, "skewed": 3.5, "elongated": 3.5}
KEYS = ("n", "set", "pairs", "method", "sample", "seed")
FIELDS = (*KEYS, "ari", "objective", "broken", "seconds", "peak_MiB")


# ---------------------------------------------------------------- rows
def draw_rows(folder: Path, name: str, n: int) -> None:
    """Write the rows of a set and their classes, file by file."""
    import numpy as np
    import polars as pl

    draw = make_set(name, np.random.default_rng([*map(ord, name)]))
    (folder / "rows").mkdir()
    classes = []
    for at in range(0, n, PART):
        rows, y = draw(min(PART, n - at))
        frame = pl.DataFrame({f"x{j}": column.astype(np.float32) for j, column in enumerate(rows.T)})
        frame.write_parquet(folder / "rows" / f"{at // PART:05d}.parquet")
        classes.append(y.astype(np.int32))
    np.save(folder / "classes.npy", np.concatenate(classes))


def make_set(name: str, rng: Any) -> Any:
    """Return a function that draws rows of a set, and their classes."""
    import numpy as np

    if name == "digits":
        return make_digits(rng)
    centers = rng.uniform(-10, 10, (CLUSTERS, N_COLUMNS))
    shares = 0.5 ** np.arange(CLUSTERS) if name == "skewed" else np.ones(CLUSTERS)
    n_noise = N_COLUMNS if name == "noise columns" else 0
    shapes = np.broadcast_to(np.eye(N_COLUMNS), (CLUSTERS, N_COLUMNS, N_COLUMNS))
    if name == "elongated":
        turns = np.linalg.qr(rng.normal(size=(CLUSTERS, N_COLUMNS, N_COLUMNS)))[0]
        shapes = np.r_[5.0, 3.0, np.full(N_COLUMNS - 2, 0.7)][:, None] * turns

    def draw(n: int) -> Any:
        y = rng.choice(CLUSTERS, size=n, p=shares / shares.sum())
        rows = rng.normal(size=(n, N_COLUMNS))
        for k in range(CLUSTERS):
            rows[y == k] = centers[k] + SPREADS[name] * rows[y == k] @ shapes[k]
        return np.c_[rows, rng.uniform(-20, 20, (n, n_noise))], y

    return draw


def make_digits(rng: Any) -> Any:
    """Return a function that draws images of digits with noise, in 16 principal components."""
    import numpy as np
    from sklearn.datasets import load_digits

    images, y = load_digits(return_X_y=True)
    images = images - images.mean(axis=0)
    components = images @ np.linalg.svd(images, full_matrices=False)[2][:16].T

    def draw(n: int) -> Any:
        at = rng.integers(len(components), size=n)
        return components[at] + rng.normal(size=(n, 16)), y[at]

    return draw


def draw_pairs(folder: Path, n_pairs: int, seed: int) -> None:
    """Write constraints between rows."""
    import numpy as np

    import linkwise as lw

    c = lw.Constraints.sample(np.load(folder / "classes.npy"), n_pairs, random_state=seed)
    np.savez(folder / "pairs.npz", must_link=c.must_link, cannot_link=c.cannot_link)


# ---------------------------------------------------------------- fits
def make_model(method: str, seed: int) -> Any:
    """Create a method."""
    import linkwise as lw

    if method == "PCKMeans":
        return lw.PCKMeans(CLUSTERS, random_state=seed)
    if method == "MPCKMeans":
        return lw.MPCKMeans(CLUSTERS, metric="diagonal", random_state=seed)
    return lw.ClusILC(CLUSTERS, max_leaves=5 * CLUSTERS)


def cluster(folder: Path, method: str, n_sample: int, seed: int) -> dict[str, float]:
    """Time and memory of a fit in this process, which writes labels and what else is judged."""
    import numpy as np

    import linkwise as lw

    pairs, started = dict(np.load(folder / "pairs.npz")), process_time()
    found = lw.cluster_rows(make_model(method, seed), folder / "rows", **pairs, n_sample=n_sample)
    found.write_labels(folder / "rows", folder / "labels")
    figures = {"seconds": process_time() - started, "peak_MiB": peak_mib()}
    if method == "MPCKMeans":
        np.save(folder / "metric.npy", found.model.metrics_[0])
    if method == "ClusILC":
        files = sorted((folder / "rows").iterdir())
        leaves = [found.model.tree_.apply(read_rows(path)) for path in files]
        np.save(folder / "leaves.npy", np.concatenate(leaves))
    return figures


def read_rows(path: Path) -> Any:
    import polars as pl

    return pl.read_parquet(path).to_numpy()


# ---------------------------------------------------------------- judgement
def judge(folder: Path, method: str) -> dict[str, float]:
    """ARI, objective and broken constraints of the labels that were written."""
    import numpy as np
    import polars as pl
    from sklearn.metrics import adjusted_rand_score

    import linkwise as lw

    y = np.load(folder / "classes.npy")
    labels = pl.read_parquet(folder / "labels" / "*.parquet")["cluster"].to_numpy()
    pairs = lw.Constraints(len(y), **np.load(folder / "pairs.npz"))
    rate = {"PCKMeans": rate_means, "MPCKMeans": rate_metric, "ClusILC": rate_tree}[method]
    return {
        "ari": float(adjusted_rand_score(y, labels)),
        "objective": float(rate(folder, labels, pairs)),
        "broken": int(sum(each.sum() for each in pairs.find_violations(labels))),
    }


def find_squares(folder: Path, groups: Any) -> tuple[Any, Any]:
    """Sums of squares of each column around the means of groups, and around the mean of all rows."""
    import numpy as np

    n_groups, at = int(groups.max()) + 1, 0
    sums, squares, counts = 0.0, 0.0, np.bincount(groups, minlength=n_groups)
    for path in sorted((folder / "rows").iterdir()):
        rows = read_rows(path).astype(np.float64)
        of = groups[at : at + len(rows)]
        at += len(rows)
        sums = sums + np.stack([np.bincount(of, column, n_groups) for column in rows.T], axis=1)
        squares = squares + (rows**2).sum(axis=0)
    used = counts > 0
    within = squares - (sums[used] ** 2 / counts[used, None]).sum(axis=0)
    return within, squares - sums.sum(axis=0) ** 2 / at


def rate_means(folder: Path, labels: Any, pairs: Any) -> float:
    """Compute the objective of PCKMeans."""
    within, total = find_squares(folder, labels)
    n_broken = sum(each.sum() for each in pairs.find_violations(labels))
    return within.sum() + total.sum() / len(labels) * n_broken


def rate_metric(folder: Path, labels: Any, pairs: Any) -> float:
    """Compute the objective of MPCKMeans with one diagonal metric and the default prior."""
    import numpy as np

    weight, n, shrinkage = np.load(folder / "metric.npy"), len(labels), 0.1
    within, total = find_squares(folder, labels)
    files = [read_rows(path) for path in sorted((folder / "rows").iterdir())]
    ends = [rows[np.r_[rows.argmin(axis=0), rows.argmax(axis=0)]] for rows in files]
    far, X = np.concatenate(ends).astype(np.float64), np.concatenate(files)
    span = (weight * (far[:, None] - far) ** 2).sum(axis=2).max()
    must, cannot = (
        (weight * np.square(X[links[broken, 0]] - X[links[broken, 1]], dtype=np.float64)).sum(axis=1)
        for links, broken in zip(
            (pairs.must_link, pairs.cannot_link), pairs.find_violations(labels), strict=True
        )
    )
    paid = must.sum() + np.maximum(span - cannot, 0).sum()
    distances = (weight * (within + shrinkage * total.mean())).sum()
    return (distances - n * (1 + shrinkage) * np.log(weight).sum() + paid) / (n * len(weight))


def rate_tree(folder: Path, labels: Any, pairs: Any) -> float:
    """Compute the heuristic of ClusILC; constraints that follow count, too."""
    import numpy as np

    within, total = find_squares(folder, np.load(folder / "leaves.npy"))
    named = np.unique(np.concatenate([pairs.must_link, pairs.cannot_link]))
    ids, of = np.unique(pairs.component[named], return_inverse=True)
    n_labels = int(labels.max()) + 1
    count = np.bincount(of * n_labels + labels[named], minlength=len(ids) * n_labels).reshape(-1, n_labels)
    one, two = np.searchsorted(ids, pairs.component_cannot_link).T
    size = count.sum(axis=1)
    n_must, n_cannot = (size * (size - 1) // 2).sum(), (size[one] * size[two]).sum()
    broken = n_must - (count * (count - 1) // 2).sum() + (count[one] * count[two]).sum()
    return 0.5 * (within / total).mean() + 0.5 * broken / (n_must + n_cannot)


# ---------------------------------------------------------------- all of it
def run_child(step: str, *arguments: object) -> dict[str, float]:
    """Run a step in a new process on one thread."""
    command = [sys.executable, "-m", "bench.speed.row_clusters", "--child", step, *map(str, arguments)]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | threads)
    found: dict[str, float] = json.loads(out.stdout)
    return found


def run_step(step: str, place: str, *given: str) -> dict[str, float]:
    """Run a step in this process."""
    folder = Path(place)
    if step == "rows":
        draw_rows(folder, given[0], int(given[1]))
    elif step == "pairs":
        draw_pairs(folder, int(given[0]), int(given[1]))
    elif step == "cluster":
        return cluster(folder, given[0], int(given[1]), int(given[2]))
    else:
        return judge(folder, given[0])
    return {}


def measure(folder: str, method: str, sample: str, seed: int) -> dict[str, str]:
    """Fit a method to the rows of a folder, and judge it."""
    shutil.rmtree(Path(folder) / "labels", ignore_errors=True)
    found = run_child("cluster", folder, method, sample, seed) | run_child("judge", folder, method)
    form = {"ari": ".4f", "objective": ".6g", "broken": "d", "seconds": ".3g", "peak_MiB": ".0f"}
    return {field: f"{found[field]:{how}}" for field, how in form.items()}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench run speed_row_clusters",
        description="Judge clusterers of rows in files by samples.",
    )
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="SET")
    parser.add_argument("--pairs", type=int, nargs="+", default=PAIRS, metavar="N")
    parser.add_argument("--samples", nargs="+", default=SAMPLES, metavar="N")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="SEED")
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK[0]} rows of two sets")
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="DIR", help="folder of results")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        print(json.dumps(run_step(*options.child)))
        return 0
    table, rows = options.out / "speed_row_clusters.csv", []
    if table.exists():  # lines that are there stay
        with table.open(newline="") as file:
            rows = list(csv.DictReader(file))
    done = {tuple(row[key] for key in KEYS) for row in rows}
    sizes, sets = options.sizes or (QUICK if options.quick else SIZES), options.sets
    for n, name in product(sizes, sets[:2] if options.quick else sets):
        with TemporaryDirectory() as folder:
            run_child("rows", folder, name, n)
            for seed, n_pairs in product(options.seeds, options.pairs):
                run_child("pairs", folder, n_pairs, seed)
                for method, sample in product(METHODS, options.samples):
                    key = tuple(map(str, (n, name, n_pairs, method, sample, seed)))
                    if key in done:
                        continue
                    row = dict(zip(KEYS, key, strict=True)) | measure(folder, method, sample, seed)
                    rows.append(row)
                    print("  ".join(row.values()), flush=True)
                    write_table(table, FIELDS, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
