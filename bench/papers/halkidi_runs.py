"""The runs behind the figures of Halkidi et al. (2008): sets, constraints, methods and one measurement.

Columns are unscaled, since the paper names no scaling, unless a setting says otherwise. The 116 proteins of
Xing et al. (2002) are not available. The paper shows its made-up sets (Figures 1 and 4) without numbers, so
ours follow their descriptions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs, make_circles
from sklearn.metrics import rand_score
from sklearn.preprocessing import scale

import linkwise as lw
from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import count_percent, draw_both_kinds
from bench.suites.tasks import encode_classes, read_classes_csv, scale_rows
from linkwise.cluster.feature_weights.feature_weights import find_dimensions, project
from linkwise.cluster.metric.mmc import diagonal_weights
from linkwise.cluster.metric.mmc_newton import newton_weights

FILES = {
    "iris": "iris",
    "diabetes": "diabetes",
    "ionosphere": "ionosphere",
    "soybean": "soybean_small",
    "spam": "spambase",
}
OURS = "FeatureWeights"
PRINTED = "FeatureWeights of the paper"
TOGETHER = "FeatureWeights of the paper, all dimensions together"
OPTIMUM = "FeatureWeights of the paper, from the optimum"
MEAN_STEPS = "FeatureWeights of the paper, steps of the mean weight"
MEAN_DENSITY = "FeatureWeights of the paper, mean density"
LETTERS: dict[str, dict[str, Any]] = {  # what changes in `paper()`
    PRINTED: {},
    TOGETHER: {"sequential": False},
    OPTIMUM: {"start": "mmc"},
    MEAN_STEPS: {"step_base": "mean"},
    MEAN_DENSITY: {"s_dbw_factor": "mean"},
}
COMPETITORS = ("KMeans", "KMeans + Xing", "MPCKMeans")
ONE_METRIC, PRIOR = "MPCKMeans, one metric", "MPCKMeans, prior"
XING_OPTIMUM = "KMeans + Xing, optimum"
METHODS = (*COMPETITORS, "MPCKMeans of linkwise", PRINTED, OURS)
ONE_START = ", one start"  # follows a method: every k-means starts once, from random rows
NEWTON = "linkwise.cluster.metric.mmc_newton"
LINKAGES = ("complete linkage", "average linkage")
FIELDS = ("task", "features", "space", "method", "must", "cannot", "dimensions", "pairs", "run")
BLOBS = "blobs"  # followed by their number of rows

Svd = Literal["scores", "whiten", "none"]
SPACES: dict[str, tuple[Svd, bool]] = {  # the decomposition, and whether rows are centred before it
    "columns": ("none", False),
    "svd": ("scores", False),
    "centred svd": ("scores", True),
    "svd, equal scales": ("whiten", False),
    "centred svd, equal scales": ("whiten", True),
}


class Setting(NamedTuple):
    """What a run is; `must` and `cannot` in percent of the rows, `dimensions` 0 for all."""

    task: str
    features: str = "raw"
    space: str = "svd"
    method: str = PRINTED
    must: int = 5
    cannot: int = 6
    dimensions: int = 0
    pairs: str = "drawn"

    def cell(self, run: int) -> Cell:
        return (*(str(part) for part in self), str(run))


# ---------------------------------------------------------------- data
def names(folder: Path | None) -> list[str]:
    """The sets that are here; iris always is, in scikit-learn."""
    return [name for name in FILES if name == "iris" or _file(name, folder) is not None]


def _file(task: str, folder: Path | None) -> Path | None:
    """The table of a set, where it is there."""
    path = None if folder is None else folder / f"{FILES[task]}.csv"
    return path if path is not None and path.exists() else None


def make_groups() -> tuple[np.ndarray, np.ndarray]:
    """Make a set like Figure 1: A and B are near each other, but B and C are one class."""
    group = np.repeat([0, 1, 2], 40)
    spread = np.random.default_rng(0).uniform(-1, 1, (120, 2))
    return np.array([[-2.0, 5.0], [-5.0, 0.0], [5.0, 0.0]])[group] + spread, np.minimum(group, 1)


def make_lines() -> tuple[np.ndarray, np.ndarray]:
    """Make a set like Figure 4: three parallel lines in three dimensions, longer than they are apart."""
    line, rng = np.repeat([0, 1, 2], 50), np.random.default_rng(0)
    across = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[line] + rng.normal(scale=0.4, size=(150, 2))
    return np.column_stack([across, rng.uniform(0, 30, 150)]), line


def make_rings() -> tuple[np.ndarray, np.ndarray]:
    """Make two rings, one inside the other (Section 5)."""
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    return X, y


MADE: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "groups": make_groups,
    "lines": make_lines,
    "rings": make_rings,
}


@cache
def load(task: str, features: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes; blobs are made up, four columns and four groups."""
    if task in MADE:
        return MADE[task]()
    if task.startswith(BLOBS):
        n = int(task.removeprefix(BLOBS))
        X, y = make_blobs(n, n_features=4, centers=4, cluster_std=3.0, random_state=0)
        return X, y
    path = _file(task, folder)
    if path is None:
        X, y = load_iris(return_X_y=True)
    else:
        X, classes, _ = read_classes_csv(path)
        y = encode_classes(classes)
    scalers: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "raw": np.asarray,
        "unit": scale_rows,
        "standardized": scale,
    }
    return scalers[features](X), y


@cache
def rows_of(task: str, features: str, space: str, m: int, folder: Path | None) -> np.ndarray:
    """The rows in their columns, or in the first dimensions of their singular value decomposition."""
    X, _ = load(task, features, folder)
    svd, center = SPACES[space]
    if svd == "none":
        return X
    mean, components = find_dimensions(X, svd, center)
    return np.ascontiguousarray(project(X, mean, components)[:, : m or None])


def draw_of_rows(y: np.ndarray, must: int, cannot: int, run: int, *, closed: bool = False) -> lw.Constraints:
    """Random must-links and cannot-links, in percent of the rows."""
    wanted = (count_percent(len(y), percent, "rows") for percent in (must, cannot))
    return draw_both_kinds(y, *wanted, closed=closed, random_state=np.random.default_rng([run, must, cannot]))


# ---------------------------------------------------------------- who takes part
def cluster_k_means(X: np.ndarray, k: int, seed: int, one_start: bool) -> np.ndarray:
    """Labels by k-means: ten starts from k-means++, or one from random rows."""
    init, n_init = ("random", 1) if one_start else ("k-means++", 10)
    labels: np.ndarray = KMeans(k, init=init, n_init=n_init, random_state=seed).fit(X).labels_
    return labels


def cluster_rows(setting: Setting, k: int, c: lw.Constraints, seed: int, folder: Path | None) -> np.ndarray:
    """Labels by the method of a setting. FeatureWeightClustering decomposes the rows itself."""
    one_start = setting.method.endswith(ONE_START)
    method = setting.method.removesuffix(ONE_START)
    if method == OURS or method in LETTERS:
        X = load(setting.task, setting.features, folder)[0]
        return fit_labels(make_weighter(method, setting, k, one_start, seed), X, c)
    X = rows_of(setting.task, setting.features, setting.space, setting.dimensions, folder)
    if method == "KMeans":
        return cluster_k_means(X, k, seed, one_start)
    if method in ("KMeans + Xing", XING_OPTIMUM):
        learn = diagonal_weights if method == XING_OPTIMUM else newton_weights
        weights = learn(X, c.must_link, c.cannot_link)
        return cluster_k_means(X * np.sqrt(weights), k, seed, one_start)
    if method in LINKAGES:
        labels: np.ndarray = AgglomerativeClustering(k, linkage=method.split()[0]).fit_predict(X)
        return labels
    make: dict[str, Callable[[], Any]] = {
        "MPCKMeans": lambda: lw.MPCKMeans.paper(k, random_state=seed),
        ONE_METRIC: lambda: lw.MPCKMeans.paper(k, per_cluster=False, random_state=seed),
        PRIOR: lambda: lw.MPCKMeans(k, metric="diagonal", per_cluster=True, random_state=seed),
        "MPCKMeans of linkwise": lambda: lw.MPCKMeans(k, random_state=seed),
    }
    return fit_labels(make[method](), X, c)


def fit_labels(model: Any, X: np.ndarray, c: lw.Constraints) -> np.ndarray:
    """Labels by a clusterer of linkwise."""
    labels: np.ndarray = model.fit(X, constraints=c).labels_
    return labels


def make_weighter(
    method: str, setting: Setting, k: int, one_start: bool, seed: int
) -> lw.FeatureWeightClustering:
    """Make the method of the paper in the space of a setting, or our default, which centres by itself."""
    svd, center = SPACES[setting.space]
    chosen: dict[str, Any] = {"svd": svd, "n_dimensions": setting.dimensions or None, "random_state": seed}
    if one_start:
        chosen["clusterer"] = KMeans(init="random", n_init=1)
    if method == OURS:
        return lw.FeatureWeightClustering(k, **chosen)
    return lw.FeatureWeightClustering.paper(k, center=center, **LETTERS[method], **chosen)


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    space, method = cell[2], cell[3].removesuffix(ONE_START)
    own = {"KMeans": (), "KMeans + Xing": (NEWTON,), XING_OPTIMUM: ("MMC",), **dict.fromkeys(LINKAGES, ())}
    weights = {*LETTERS, OURS}
    decomposed = ("FeatureWeightClustering",) if space != "columns" or method in weights else ()
    learned = () if method in weights else own.get(method, ("MPCKMeans",))
    return *learned, *decomposed, "Constraints"


def measure(cell: Cell, folder: Path | None) -> Row:
    """The Rand index on all rows, and what it cost."""
    task, features, space, method, must, cannot, m, pairs, run = cell
    setting = Setting(task, features, space, method, int(must), int(cannot), int(m), pairs)
    y = load(task, features, folder)[1]
    rows_of(task, features, space, int(m), folder)  # not timed
    with warnings.catch_warnings(action="ignore"):
        c = draw_of_rows(y, int(must), int(cannot), int(run), closed=pairs == "closure")
        start = process_time()
        labels = cluster_rows(setting, len(set(y.tolist())), c, int(run), folder)
    return {
        "rand": f"{rand_score(y, labels):.5f}",
        "satisfied": f"{lw.constraint_score(labels, c):.4f}",
        "seconds": f"{process_time() - start:.4f}",
    }
