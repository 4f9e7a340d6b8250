"""The experiment of the COBS paper, cell by cell: pools, splits, choices and questions.

Van Craenendonck and Blockeel (2017), section III: 70 % of the rows may be in constraints, the whole set
is clustered, and the ARI covers all rows that are in no constraint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score, silhouette_score

from bench.data import load
from bench.suites.cell_store import Cell, Row
from bench.suites.code_keys import fingerprint
from bench.suites.constraint_sets import draw_row_pairs, label_pairs
from bench.suites.folds import draw_rows
from bench.suites.scores import score_elsewhere
from bench.suites.tasks import LabelledTask, Source
from linkwise import ActiveCOBS, Constraints, Evidence, TruthOracle
from linkwise.cluster.validity.dbcv import dbcv_scorer
from linkwise.constraints.facts import check_answer
from linkwise.learn.run import Run
from linkwise.rng import rng_at
from linkwise.select.clusterings import PRESETS
from linkwise.select.pool import Pool, build_pool
from linkwise.select.ranking import rank_clusterings, satisfied_weights
from linkwise.select.self_tuning import SelfTuningSpectral

TASKS = (
    "wine", "dermatology", "iris", "ionosphere", "breast-cancer-wisconsin",
    "ecoli", "optdigits389", "segmentation", "hepatitis", "glass",
)  # fmt: skip
BY_DEGREE = " by degree"  # ends the name of algorithms: rows are placed as scikit-learn did until 2017
PARTS = ("k-means", "DBSCAN", "spectral, nearest neighbours", "spectral, Gaussian")

SUPERVISED = 0.7
MOST = 100  # constraints that are drawn, of which the first ones are taken
GRID = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100)
TIES = ("agreement", "random")
"""Rules for ties of COBS: ours, then the paper's."""
CHOOSING = ("build_pool", "linkwise.select.ranking", "Constraints")
"""Where a cell enters linkwise that chooses from a pool."""

CHOICE_FIELDS = ("task", "algorithms", "tie", "constraints", "run")
BEST_FIELDS = ("task", "algorithms")
SELECTOR_FIELDS = ("task", "selector")
ASKING_FIELDS = ("task", "strategy", "factor", "sample", "run")


class Place(NamedTuple):
    """Where data come from, and where pools are kept."""

    source: Source
    pools: Path


# ---------------------------------------------------------------- pools
@cache
def pool_of(name: str, place: Place, algorithms: str = "all") -> Pool:
    """The 931 clusterings of a task, or those of one algorithm; kept on disk for this code."""
    end = BY_DEGREE * algorithms.endswith(BY_DEGREE)
    if start := algorithms.removesuffix(BY_DEGREE).removeprefix("all"):
        return select_algorithms(pool_of(name, place, f"all{end}"), start)
    preset = replace(PRESETS["paper"], by_degree=bool(end))
    return build_pool(load(name, place.source).X, preset, 0, cache=place.pools / fingerprint("build_pool"))


def select_algorithms(pool: Pool, start: str) -> Pool:
    """The part of a pool that algorithms whose names begin with `start` have made."""
    made = [c for c in pool.candidates if c.algorithm.startswith(start)]
    numbers, clustering = np.unique([c.clustering for c in made], return_inverse=True)
    candidates = tuple(c._replace(clustering=int(at)) for c, at in zip(made, clustering, strict=True))
    return replace(pool, labels=pool.labels[numbers], candidates=candidates)


# ---------------------------------------------------------------- splits and scores
def draw_pairs(n_rows: int, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that may be in constraints, ascending, and random pairs of them, in the order of use."""
    rng = np.random.default_rng([run, n_rows])
    rows = draw_rows(n_rows, SUPERVISED, rng)
    return rows, draw_row_pairs(rows, MOST, rng)


# ---------------------------------------------------------------- the best of a pool
def measure_best(cell: Cell, place: Place) -> Row:
    """The clustering of highest ARI on all rows."""
    name, algorithms = cell
    y, pool = load(name, place.source).y, pool_of(name, place, algorithms)
    ari = [adjusted_rand_score(y, pool.clustering(c)) for c in range(len(pool))]
    best = int(np.argmax(ari))
    maker = pool.makers[best]
    return {
        "clusterings": str(len(pool.candidates)),
        "distinct": str(len(pool)),
        "ari": f"{ari[best]:.4f}",
        "n_clusters": str(pool.n_clusters[best]),
        "algorithm": maker.algorithm,
        "parameters": json.dumps(maker.parameters),
    }


# ---------------------------------------------------------------- choices without constraints
def measure_selector(cell: Cell, place: Place) -> Row:
    """What the paper compares COBS with where one algorithm is tuned: ARI on all rows."""
    name, selector = cell
    task = load(name, place.source)
    labels, reason = SELECTORS[selector](task, place)
    return {
        "ari": f"{adjusted_rand_score(task.y, labels):.4f}",
        "n_clusters": str(len(np.unique(labels))),
        "chosen": reason,
    }


def by_silhouette(task: LabelledTask, place: Place) -> tuple[np.ndarray, str]:
    """Of the 180 clusterings of k-means the one of the largest silhouette index."""
    pool = pool_of(task.name, place, "k-means")
    scores = [silhouette_score(task.X, pool.clustering(c)) for c in range(len(pool))]
    best = int(np.argmax(scores))
    return pool.clustering(best), f"SI {scores[best]:.3f}"


def by_dbcv(
    task: LabelledTask,
    place: Place,
    metric: Literal["euclidean", "sqeuclidean"] = "euclidean",
    *,
    noise_is_a_cluster: bool = False,
) -> tuple[np.ndarray, str]:
    """Of the 400 clusterings of DBSCAN the one of the largest DBCV; the ARI counts noise as a cluster."""
    alone = replace(PRESETS["paper"], n_runs=0, neighbours=(), sigmas=())
    pool = build_pool(task.X, alone, 0, noise="singletons")  # a cluster of one row counts as noise
    labellings = [mark_noise(pool.clustering(c)) for c in range(len(pool))]
    score = dbcv_scorer(task.X, metric=metric)
    scores = [score(labels + noise_is_a_cluster) for labels in labellings]
    best = int(np.argmax(scores))
    return labellings[best], f"DBCV {scores[best]:.3f}, noise {np.mean(labellings[best] < 0):.0%}"


def mark_noise(labels: np.ndarray) -> np.ndarray:
    """The labels, with -1 for clusters of one row."""
    return np.where(np.bincount(labels)[labels] == 1, -1, labels)


def by_self_tuning(task: LabelledTask, place: Place) -> tuple[np.ndarray, str]:
    """Spectral clustering that sets its own scales and its number of clusters."""
    return SelfTuningSpectral().fit_predict(task.X), ""


SELECTORS: dict[str, Callable[[LabelledTask, Place], tuple[np.ndarray, str]]] = {
    "kmeans_SI": by_silhouette,
    "dbscan_DBCV": by_dbcv,
    "dbscan_DBCV_squared": partial(by_dbcv, metric="sqeuclidean"),
    "dbscan_DBCV_noise": partial(by_dbcv, noise_is_a_cluster=True),
    "dbscan_DBCV_squared_noise": partial(by_dbcv, metric="sqeuclidean", noise_is_a_cluster=True),
    "spectral_STS": by_self_tuning,
}


def selector_entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell of a selector enters linkwise."""
    validity = "linkwise.cluster.validity.dbcv"
    return {"kmeans_SI": ("build_pool",), "spectral_STS": ("SelfTuningSpectral",)}.get(
        cell[1], ("build_pool", validity)
    )


# ---------------------------------------------------------------- COBS
def choice_cells(
    tasks: Iterable[str], algorithms: Iterable[str], ties: Iterable[str], constraints: int, runs: int
) -> list[Cell]:
    ties, algorithms = list(ties), list(algorithms)
    return [
        (task, part, tie, str(constraints), str(run))
        for task in tasks
        for part in algorithms
        for tie in ties
        for run in range(runs)
    ]


def measure_choice(cell: Cell, place: Place) -> Row:
    """COBS after random constraints, by the paper's rule for ties or by ours."""
    name, algorithms, tie, n_constraints, run = cell
    y, pool = load(name, place.source).y, pool_of(name, place, algorithms)
    pairs = draw_pairs(len(y), int(run))[1][: int(n_constraints)]
    constraints = label_pairs(y, pairs)
    score = satisfied_weights(pool, constraints)
    best, first = choose_clustering(pool, constraints, score, tie, int(run))
    labels = pool.clustering(first)
    return {
        "ari": f"{score_elsewhere(y, labels, pairs):.4f}",
        "algorithm": draw_maker(pool, first, int(run)) if tie == "random" else pool.makers[first][0],
        "n_clusters": str(pool.n_clusters[first]),
        "satisfied": f"{score[first] / len(pairs):.4f}",
        "tied": str(len(best)),
    }


def choose_clustering(
    pool: Pool, constraints: Constraints, score: np.ndarray, tie: str, seed: int
) -> tuple[np.ndarray, int]:
    """All best clusterings, and the one that ``COBS(tie=tie, random_state=seed)`` returns."""
    best = rank_clusterings(pool, score)
    if tie == "random":
        share = pool.multiplicity[best] / pool.multiplicity[best].sum()
        return best, int(rng_at(seed, len(pool)).choice(best, p=share))
    return best, int(best[0])


def draw_maker(pool: Pool, clustering: int, seed: int) -> str:
    """An algorithm that made a clustering: each of the candidates that are alike counts the same."""
    makers = [c.algorithm for c in pool.candidates if c.clustering == clustering]
    return makers[int(rng_at(seed, clustering).integers(len(makers)))]


# ---------------------------------------------------------------- active COBS
def asking_cells(tasks: Iterable[str], strategies: Iterable[tuple[str, str, str]], runs: int) -> list[Cell]:
    """Strategies are (name, update factor, sample), the last two empty where they do not apply."""
    strategies = list(strategies)
    return [(task, *strategy, str(run)) for task in tasks for strategy in strategies for run in range(runs)]


def measure_asking(cell: Cell, place: Place) -> Row:
    """ARI after each number of pairs, asked for by ActiveCOBS or drawn at random, for each rule for ties."""
    name, strategy, factor, sample, run = cell
    task, pool, seed = load(name, place.source), pool_of(name, place), int(run)
    rows, pairs = draw_pairs(len(task.y), seed)
    if strategy == "active":
        model = ActiveCOBS(n_candidates=int(sample), update_factor=float(factor))
        pairs = ask_pairs(task, pool, model, rows, seed)
    row = {"asked": str(len(pairs))}
    for tie in TIES:
        row[tie] = " ".join(f"{ari:.4f}" for ari in ari_at(GRID, task.y, pool, pairs, tie, seed))
    return row


def asking_entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell of questions, or of random pairs, enters linkwise."""
    asking = ("ActiveCOBS", "linkwise.learn.run", "TruthOracle")
    return *CHOOSING, *(asking if cell[1] == "active" else ())


def ask_pairs(task: LabelledTask, pool: Pool, model: ActiveCOBS, rows: np.ndarray, seed: int) -> np.ndarray:
    """The pairs of `rows` about which active COBS asks, in order."""
    askable = np.zeros(len(task.y), dtype=bool)
    askable[rows] = True
    evidence, oracle, pairs = Evidence(len(task.y)), TruthOracle(task.y), []
    run = Run(model, task.X, evidence, seed, prepared=pool, askable=askable, budget=MOST)
    while (question := run.question) is not None:
        pair = question.first, question.second
        pairs.append(pair)
        run.answer(check_answer(oracle(*pair), *pair))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def ari_at(
    numbers: Iterable[int], y: np.ndarray, pool: Pool, pairs: np.ndarray, tie: str, seed: int
) -> list[float]:
    """ARI of what COBS returns after so many of the pairs, after all of them where there are fewer."""
    curve = []
    for n in numbers:
        constraints = label_pairs(y, pairs[:n])
        _, first = choose_clustering(pool, constraints, satisfied_weights(pool, constraints), tie, seed)
        curve.append(score_elsewhere(y, pool.clustering(first), pairs[:n]))
    return curve


# ---------------------------------------------------------------- for processes
def bind_place(work: Callable[[Cell, Place], Row], source: Source, folder: Path) -> Callable[[Cell], Row]:
    """`work` for one source and one folder of results, in a form that processes can find."""
    data_folder = None if source.folder is None else source.folder.resolve()
    return partial(work, place=Place(Source(data_folder, source.openml), folder.resolve() / "pools"))
