"""The runs behind the figures of Halkidi et al. (2008): sets, constraints, methods and one measurement.

UCI tables are unscaled, since the paper names no scaling, or scaled so that every column is in [0, 1]. The
116 proteins of Xing et al. (2002) are not available.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import rand_score

import linkwise as lw
from linkwise.cluster.feature_weights.feature_weights import find_dimensions
from linkwise.experiments.cell_store import Cell, Row
from linkwise.experiments.tasks import encode_classes, read_classes_csv, scale_rows
from linkwise.metric.mmc import diagonal_weights

FILES = {
    "iris": "iris",
    "diabetes": "diabetes",
    "ionosphere": "ionosphere",
    "soybean": "soybean_small",
    "spam": "spambase",
}
OURS = "FeatureWeights"
PRINTED = "FeatureWeights of the paper"
COMPETITORS = ("KMeans", "KMeans + Xing", "MPCKMeans")
METHODS = (*COMPETITORS, "MPCKMeans of linkwise", PRINTED, OURS)
FIELDS = ("task", "features", "space", "method", "must", "cannot", "dimensions", "run")
BLOBS = "blobs"  # followed by their number of rows


class Setting(NamedTuple):
    """What a run is; `must` and `cannot` in percent of the rows, `find_dimensions` 0 for all."""

    task: str
    features: str
    space: str
    method: str
    must: int = 5
    cannot: int = 6
    dimensions: int = 0

    def cell(self, run: int) -> Cell:
        return (*(str(part) for part in self), str(run))


def names(folder: Path | None) -> list[str]:
    """The sets that are here; iris always is, in scikit-learn."""
    return [name for name in FILES if name == "iris" or _file(name, folder) is not None]


def _file(task: str, folder: Path | None) -> Path | None:
    """The table of a set, where it is there."""
    path = None if folder is None else folder / f"{FILES[task]}.csv"
    return path if path is not None and path.exists() else None


@cache
def load(task: str, features: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes; blobs are made up, four columns and four groups."""
    if task.startswith(BLOBS):
        n = int(task.removeprefix(BLOBS))
        return make_blobs(n, n_features=4, centers=4, cluster_std=3.0, random_state=0)
    path = _file(task, folder)
    if path is None:
        X, y = load_iris(return_X_y=True)
    else:
        X, classes, _ = read_classes_csv(path)
        y = encode_classes(classes)
    return scale_rows(X) if features == "unit" else X, y


@cache
def rows_of(task: str, features: str, space: str, m: int, folder: Path | None) -> np.ndarray:
    """The rows in their columns, or in the first dimensions of their singular value decomposition."""
    X, _ = load(task, features, folder)
    if space == "columns":
        return X
    mean, components = find_dimensions(X, "scores")
    return np.ascontiguousarray((X - mean) @ components[: m or None].T)


def draw_constraints(y: np.ndarray, must: int, cannot: int, run: int) -> lw.Constraints:
    """Random pairs of one class and of two, in percent of the rows; at least one of each."""
    n, rng = len(y), np.random.default_rng([run, must, cannot])
    wanted = [max(1, round(n * percent / 100)) for percent in (must, cannot)]
    kept: list[list[tuple[int, int]]] = [[], []]
    while any(len(pairs) < count for pairs, count in zip(kept, wanted, strict=True)):
        i, j = (int(row) for row in rng.integers(0, n, 2))
        kind = int(y[i] != y[j])
        if i != j and len(kept[kind]) < wanted[kind]:
            kept[kind].append((i, j))
    return lw.Constraints(n, *kept)


# ---------------------------------------------------------------- who takes part
def cluster_rows(method: str, X: np.ndarray, k: int, c: lw.Constraints, seed: int) -> np.ndarray:
    """Labels by a method of rows that are as it shall see them."""
    if method == "KMeans":
        return KMeans(k, n_init=10, random_state=seed).fit(X).labels_
    if method == "KMeans + Xing":
        weights = diagonal_weights(X, c.must_link, c.cannot_link)
        return KMeans(k, n_init=10, random_state=seed).fit(X * np.sqrt(weights)).labels_
    make: dict[str, Callable[[], Any]] = {
        "MPCKMeans": lambda: lw.MPCKMeans(k, metric="diagonal", per_cluster=True, random_state=seed),
        "MPCKMeans of linkwise": lambda: lw.MPCKMeans(k, random_state=seed),
        PRINTED: lambda: lw.FeatureWeightClustering.paper(k, svd="none", random_state=seed),
        OURS: lambda: lw.FeatureWeightClustering(k, svd="none", random_state=seed),
    }
    return make[method]().fit(X, constraints=c).labels_


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    space, method = cell[2:4]
    own = {
        "KMeans + Xing": ("MMC",),
        "MPCKMeans": ("MPCKMeans",),
        "MPCKMeans of linkwise": ("MPCKMeans",),
        PRINTED: ("FeatureWeightClustering",),
        OURS: ("FeatureWeightClustering",),
    }
    decomposed = () if space == "columns" else ("FeatureWeightClustering",)
    return *own.get(method, ()), *decomposed, "Constraints"


def measure(cell: Cell, folder: Path | None) -> Row:
    """The Rand index on all rows, and what it cost."""
    task, features, space, method, must, cannot, m, run = cell
    y = load(task, features, folder)[1]
    X = rows_of(task, features, space, int(m), folder)
    with warnings.catch_warnings(action="ignore"):
        c = draw_constraints(y, int(must), int(cannot), int(run))
        start = process_time()
        labels = cluster_rows(method, X, len(set(y.tolist())), c, int(run))
    return {
        "rand": f"{rand_score(y, labels):.5f}",
        "satisfied": f"{lw.constraint_score(labels, c):.4f}",
        "seconds": f"{process_time() - start:.4f}",
    }
