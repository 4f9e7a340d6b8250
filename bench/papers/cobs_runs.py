"""The experiment of the COBS paper, cell by cell: pools, splits, choices, and questions.

Van Craenendonck and Blockeel (2017), section III: 70 % of the rows may be in constraints, the whole set
is clustered, and the ARI is that on all rows that are in no constraint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench.data import Source, load
from bench.harness import Cell, Row, fingerprint
from linkwise import ActiveCOBS, Constraints, Evidence, TruthOracle
from linkwise.learner import Run, checked_answer, rng_at
from linkwise.pairs import random_pairs
from linkwise.select.choice import ranked, satisfied
from linkwise.select.pool import Pool, build_pool

TASKS = (
    "wine", "dermatology", "iris", "ionosphere", "breast-cancer-wisconsin",
    "ecoli", "optdigits389", "segmentation", "hepatitis", "glass",
)  # fmt: skip
ALGORITHMS = {"all": "", "k-means": "k-means", "DBSCAN": "DBSCAN", "spectral": "spectral"}
"""Parts of a pool by name, and how the names of their algorithms begin."""

SUPERVISED = 0.7
MOST = 100  # constraints that are drawn, of which the first ones are taken
GRID = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100)
CURVE = "ari_at_each_number"
BUILDING = ("clusterings", "spectral", "pool")  # what a pool depends on, besides kernels and k-means

CHOICE_FIELDS = ("task", "algorithms", "tie", "constraints", "run")
BEST_FIELDS = ("task", "algorithms")
ASKING_FIELDS = ("task", "strategy", "factor", "sample", "run")


class Place(NamedTuple):
    """Where data come from, and where pools are kept."""

    source: Source
    pools: Path


# ---------------------------------------------------------------- pools
@cache
def pool_of(name: str, place: Place, algorithms: str = "all") -> Pool:
    """The 931 clusterings of a task, or those of one algorithm; kept on disk for this code."""
    if algorithms != "all":
        return only(pool_of(name, place), ALGORITHMS[algorithms])
    code = fingerprint(
        "linkwise.kernels", "linkwise.cluster.common", *(f"linkwise.select.{m}" for m in BUILDING)
    )
    return build_pool(load(name, place.source).X, "paper", 0, cache=place.pools / code)


def only(pool: Pool, start: str) -> Pool:
    """The part of a pool that algorithms whose names begin with `start` have made."""
    made = [c for c in pool.candidates if c.algorithm.startswith(start)]
    numbers, clustering = np.unique([c.clustering for c in made], return_inverse=True)
    candidates = tuple(c._replace(clustering=int(at)) for c, at in zip(made, clustering, strict=True))
    return Pool(pool.labels[numbers], pool.base, pool.base_rows, candidates, 0)


# ---------------------------------------------------------------- splits and scores
def supervised(n_rows: int, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that may be in constraints, ascending, and random pairs of them, in the order of use."""
    rng = np.random.default_rng([run, n_rows])
    rows = np.sort(rng.permutation(n_rows)[: round(SUPERVISED * n_rows)])
    n_pairs = min(MOST, len(rows) * (len(rows) - 1) // 2)
    return rows, rows[random_pairs(len(rows), n_pairs, rng)]


def constraints_of(y: np.ndarray, pairs: np.ndarray) -> Constraints:
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints(len(y), pairs[same], pairs[~same])


def ari_elsewhere(y: np.ndarray, labels: np.ndarray, pairs: np.ndarray) -> float:
    """ARI on the rows that are in none of the pairs."""
    rest = np.ones(len(y), dtype=bool)
    rest[pairs.ravel()] = False
    return float(adjusted_rand_score(y[rest], labels[rest]))


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
    pairs = supervised(len(y), int(run))[1][: int(n_constraints)]
    constraints = constraints_of(y, pairs)
    score = satisfied(pool, constraints)
    best, first = chosen(pool, constraints, score, tie, int(run))
    labels = pool.clustering(first)
    return {
        "ari": f"{ari_elsewhere(y, labels, pairs):.4f}",
        "algorithm": maker_at_random(pool, first, int(run)) if tie == "random" else pool.makers[first][0],
        "n_clusters": str(pool.n_clusters[first]),
        "satisfied": f"{score[first] / len(pairs):.4f}",
        "tied": str(len(best)),
    }


def chosen(
    pool: Pool, constraints: Constraints, score: np.ndarray, tie: str, seed: int
) -> tuple[np.ndarray, int]:
    """All best clusterings, and the one that ``COBS(tie=tie, random_state=seed)`` returns."""
    best = ranked(pool, score, parted=len(constraints.cannot_link) > 0)
    if tie == "random":
        share = pool.multiplicity[best] / pool.multiplicity[best].sum()
        return best, int(rng_at(seed, len(pool)).choice(best, p=share))
    return best, int(best[0])


def maker_at_random(pool: Pool, clustering: int, seed: int) -> str:
    """An algorithm that made a clustering: each of the candidates that are alike counts the same."""
    makers = [c.algorithm for c in pool.candidates if c.clustering == clustering]
    return makers[int(rng_at(seed, clustering).integers(len(makers)))]


# ---------------------------------------------------------------- active COBS
def asking_cells(tasks: Iterable[str], strategies: Iterable[tuple[str, str, str]], runs: int) -> list[Cell]:
    """Strategies are (name, update factor, sample), the last two empty where they do not apply."""
    strategies = list(strategies)
    return [(task, *strategy, str(run)) for task in tasks for strategy in strategies for run in range(runs)]


def measure_asking(cell: Cell, place: Place) -> Row:
    """ARI after each number of constraints: asked for by ActiveCOBS, or drawn at random."""
    name, strategy, factor, sample, run = cell
    task, pool = load(name, place.source), pool_of(name, place)
    if strategy == "random":
        curve = at_random(task.y, pool, int(run))
    else:
        model = ActiveCOBS(n_candidates=int(sample), update_factor=float(factor))
        curve = asked(task.X, task.y, pool, model, int(run))
    return {CURVE: " ".join(f"{ari:.4f}" for ari in curve)}


def at_random(y: np.ndarray, pool: Pool, run: int) -> list[float]:
    drawn, curve = supervised(len(y), run)[1], []
    for n in GRID:
        pairs = drawn[:n]
        constraints = constraints_of(y, pairs)
        _, first = chosen(pool, constraints, satisfied(pool, constraints), "fewest", run)
        curve.append(ari_elsewhere(y, pool.clustering(first), pairs))
    return curve


def asked(X: np.ndarray, y: np.ndarray, pool: Pool, model: ActiveCOBS, run: int) -> list[float]:
    """Questions are about the rows of `supervised` only; once nothing is left to ask the ARI stays."""
    askable = np.zeros(len(y), dtype=bool)
    askable[supervised(len(y), run)[0]] = True
    answering = Run(model, X, Evidence(len(y)), run, prepared=pool, askable=askable, budget=GRID[-1])
    oracle, pairs, curve = TruthOracle(y), [], []
    while len(curve) < len(GRID):
        question = answering.question
        if question is not None:
            pair = (question.first, question.second)
            pairs.append(pair)
            answering.answer(checked_answer(oracle(*pair), *pair))
        if question is None or len(pairs) == GRID[len(curve)]:
            curve.append(ari_elsewhere(y, answering.labels, np.array(pairs, dtype=np.int64)))
    return curve


# ---------------------------------------------------------------- for processes
def measuring(work: Callable[[Cell, Place], Row], source: Source, folder: Path) -> Callable[[Cell], Row]:
    """`work` for one source and one folder of results, in a form that processes can find."""
    data_folder = None if source.folder is None else source.folder.resolve()
    return partial(work, place=Place(Source(data_folder, source.openml), folder.resolve() / "pools"))
