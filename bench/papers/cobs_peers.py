"""The clusterers that the COBS paper compares with, tuned as in the paper, and COBS over them.

Van Craenendonck and Blockeel (2017), section III: Table III, columns Q2; Table V; Figures 1 and 4. The number
of clusters is tuned from 2 to 10, and minPts of FOSC is 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from bench.data import load
from bench.papers.cobs_runs import (
    CHOOSING,
    MOST,
    Place,
    choose_clustering,
    draw_pairs,
    make_constraints,
    pool_of,
)
from linkwise import (
    COBS,
    COSC,
    FOSC,
    NPU,
    Constraints,
    CVCPSearch,
    Evidence,
    MPCKMeans,
    NumSatSearch,
    SilhouetteSearch,
    TruthOracle,
)
from linkwise.asking.learner import check_answer
from linkwise.asking.run import Run
from linkwise.experiments.cell_store import Cell, Row
from linkwise.experiments.scores import score_elsewhere
from linkwise.experiments.tasks import LabelledTask
from linkwise.select.ranking import satisfied_weights

CLUSTERS = {"n_clusters": list(range(2, 11))}
PEER_FIELDS = ("task", "method", "constraints", "run")
NPU_FIELDS = ("task", "method", "run")
NPU_AT = (10, 25, 50, 100)
MPCK_STARTS = 2  # under two metrics each

Method = Callable[[LabelledTask, Constraints, Place, int], np.ndarray]


def mpck(seed: int) -> MPCKMeans:
    return MPCKMeans(n_init=MPCK_STARTS, random_state=seed)


def cosc(seed: int) -> COSC:
    """One run, as in the pools of clusterers: it is fitted hundreds of times."""
    return COSC(n_init=2, n_runs=1, random_state=seed)


def by_cobs(task: LabelledTask, constraints: Constraints, place: Place, run: int) -> np.ndarray:
    """COBS over the 931 clusterings, by our rule for ties."""
    pool = pool_of(task.name, place)
    score = satisfied_weights(pool, constraints)
    return pool.clustering(choose_clustering(pool, constraints, score, "agreement", run)[1])


def over_peers(*, split: bool) -> Method:
    """COBS over clusterings of the peers."""

    def labels(task: LabelledTask, constraints: Constraints, place: Place, run: int) -> np.ndarray:
        model = COBS(pool="semi-supervised", split=split, random_state=run)
        return model.fit(task.X, constraints=constraints).labels_

    return labels


def fit_estimator(made: Callable[[int], object]) -> Method:
    """What an estimator finds."""

    def labels(task: LabelledTask, constraints: Constraints, place: Place, run: int) -> np.ndarray:
        return made(run).fit(task.X, constraints=constraints).labels_

    return labels


PEERS: dict[str, Method] = {  # columns Q2 of Table III
    "mpck_SI": fit_estimator(lambda seed: SilhouetteSearch(mpck(seed), CLUSTERS)),
    "mpck_NumSat": fit_estimator(lambda seed: NumSatSearch(mpck(seed), CLUSTERS)),
    "mpck_CVCP": fit_estimator(lambda seed: CVCPSearch(mpck(seed), CLUSTERS, random_state=seed)),
    "fosc": fit_estimator(lambda seed: FOSC(min_samples=4, ties="larger", noise="nearest")),
    "cosc_eigen": fit_estimator(lambda seed: COSC(None, random_state=seed)),
    "cosc_NumSat": fit_estimator(lambda seed: NumSatSearch(cosc(seed), CLUSTERS)),
    "cosc_CVCP": fit_estimator(lambda seed: CVCPSearch(cosc(seed), CLUSTERS, random_state=seed)),
}
POOLS: dict[str, Method] = {  # Table V
    "cobs_u": by_cobs,
    "cobs_ss": over_peers(split=False),
    "cobs_ss_split": over_peers(split=True),
}
METHODS = {**PEERS, **POOLS}


# ---------------------------------------------------------------- random constraints
def peer_cells(tasks: Iterable[str], methods: Iterable[str], numbers: Iterable[int], runs: int) -> list[Cell]:
    methods, numbers = list(methods), list(numbers)
    return [
        (task, method, str(n), str(run))
        for task in tasks
        for method in methods
        for n in numbers
        for run in range(runs)
    ]


def measure_peer(cell: Cell, place: Place) -> Row:
    """ARI on the rows in no constraint; noise is one cluster."""
    name, method, n_constraints, run = cell
    task = load(name, place.source)
    pairs = draw_pairs(len(task.y), int(run))[1][: int(n_constraints)]
    labels = METHODS[method](task, make_constraints(task.y, pairs), place, int(run))
    return {
        "ari": f"{score_elsewhere(task.y, labels, pairs):.4f}",
        "n_clusters": str(len(np.unique(labels[labels >= 0]))),
    }


def peer_entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell of a peer enters linkwise."""
    method = cell[1]
    if method == "cobs_u":
        return CHOOSING
    if method in POOLS:
        return "COBS", "Constraints"
    name, _, tuning = method.partition("_")
    clusterer = {"mpck": "MPCKMeans", "fosc": "FOSC", "cosc": "COSC"}[name]
    search = {"SI": "SilhouetteSearch", "NumSat": "NumSatSearch", "CVCP": "CVCPSearch"}.get(tuning)
    return clusterer, *((search,) if search else ()), "Constraints"


# ---------------------------------------------------------------- NPU
REFITTED = {"NPU + MPCKMeans": mpck, "NPU + COSC": cosc}


def npu_entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell of NPU enters linkwise."""
    return "NPU", cell[1].removeprefix("NPU + "), "linkwise.asking.run", "TruthOracle"


def npu_cells(tasks: Iterable[str], runs: int) -> list[Cell]:
    return [(task, method, str(run)) for task in tasks for method in REFITTED for run in range(runs)]


def measure_npu(cell: Cell, place: Place) -> Row:
    """ARI on the rows in no question, of NPU that is given the number of classes."""
    name, method, run = cell
    task, seed = load(name, place.source), int(run)
    askable = np.zeros(len(task.y), dtype=bool)
    askable[draw_pairs(len(task.y), seed)[0]] = True
    learner = NPU(len(set(task.y)), estimator=REFITTED[method](seed), random_state=seed)
    evidence, oracle = Evidence(len(task.y)), TruthOracle(task.y)
    driver = Run(learner, task.X, evidence, seed, askable=askable, budget=MOST)
    pairs: list[tuple[int, int]] = []
    curve: dict[int, float] = {}
    while (question := driver.question) is not None:
        pair = question.first, question.second
        pairs.append(pair)
        driver.answer(check_answer(oracle(*pair), *pair))
        if len(pairs) in NPU_AT:
            curve[len(pairs)] = score_elsewhere(task.y, driver.labels, np.array(pairs))
    last = score_elsewhere(task.y, driver.labels, np.array(pairs, dtype=np.int64).reshape(-1, 2))
    return {str(n): f"{curve.get(n, last):.4f}" for n in NPU_AT}
