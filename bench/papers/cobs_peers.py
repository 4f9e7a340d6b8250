"""The clusterers that the COBS paper compares with, tuned as in the paper, and COBS over them.

Van Craenendonck and Blockeel (2017), section III: Table III, columns Q2; Table V; Figures 1 and 4. The number
of clusters is tuned from 2 to 10, and minPts of FOSC is 4.

Every method runs as printed ("letter") and with our defaults. MPCKMeans as printed is `MPCKMeans.paper`; COSC
as printed cuts whole graphs, and its eigengap is a share of the next eigenvalue. The paper does not say how
FOSC treats ties and noise: the letter takes the larger clusters and joins noise to the nearest row, which
comes nearest to the printed figures (`bench.papers.fosc`). COBS as printed breaks ties at random.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from bench.data import load
from bench.papers.cobs_choices import find_widest_share, list_eigenvalues
from bench.papers.cobs_runs import (
    CHOOSING,
    MOST,
    Place,
    choose_clustering,
    draw_pairs,
    pool_of,
)
from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import label_pairs
from bench.suites.scores import score_elsewhere
from bench.suites.tasks import LabelledTask
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
from linkwise.constraints.facts import check_answer
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.run import Run
from linkwise.select.clusterings import PRESETS
from linkwise.select.cobs import NOTHING
from linkwise.select.ranking import satisfied_weights
from linkwise.select.semi_supervised import list_clusterers

CLUSTERS = {"n_clusters": list(range(2, 11))}
PEER_FIELDS = ("task", "method", "constraints", "run")
NPU_FIELDS = ("task", "method", "run")
NPU_AT = (10, 25, 50, 100)
MPCK_STARTS = 2  # under two metrics each
LETTER = ", letter"

Method = Callable[[LabelledTask, Constraints, Place, int], np.ndarray]


def mpck(seed: int) -> MPCKMeans:
    return MPCKMeans(n_init=MPCK_STARTS, random_state=seed)


def printed_mpck(seed: int) -> MPCKMeans:
    return MPCKMeans.paper(random_state=seed)


def cosc(seed: int) -> COSC:
    """One run, as in the pools of clusterers: it is fitted hundreds of times."""
    return COSC(n_init=2, n_runs=1, random_state=seed)


def printed_cosc(seed: int) -> COSC:
    return cosc(seed).set_params(max_nodes=None)


def printed_fosc(seed: int) -> FOSC:
    """FOSC as printed, which draws nothing at random."""
    return FOSC(min_samples=4, ties="larger", noise="nearest")


def by_cobs(tie: str) -> Method:
    """COBS over the 931 clusterings."""

    def labels(task: LabelledTask, constraints: Constraints, place: Place, run: int) -> np.ndarray:
        pool = pool_of(task.name, place)
        score = satisfied_weights(pool, constraints)
        return pool.clustering(choose_clustering(pool, constraints, score, tie, run)[1])

    return labels


def over_peers(*, split: bool) -> Method:
    """COBS over clusterings of the peers."""

    def labels(task: LabelledTask, constraints: Constraints, place: Place, run: int) -> np.ndarray:
        model = COBS(pool="semi-supervised", split=split, random_state=run)
        return model.fit(task.X, constraints=constraints).labels_

    return labels


def over_printed_peers(*, split: bool) -> Method:
    """COBS over clusterings of the peers as printed, ties at random."""

    def labels(task: LabelledTask, constraints: Constraints, place: Place, run: int) -> np.ndarray:
        made = list_clusterers(PRESETS["paper"], run, len(task.X))
        printed = [(print_clusterer(estimator), grid) for estimator, grid in made]
        model = COBS(
            pool="semi-supervised", preset=NOTHING, extra=printed, split=split, tie="random", random_state=run
        )
        return model.fit(task.X, constraints=constraints).labels_

    return labels


def print_clusterer(estimator: Any) -> Any:
    """A clusterer of the pool as printed."""
    if isinstance(estimator, MPCKMeans):
        return MPCKMeans.paper()
    printed = {"ties": "larger", "noise": "nearest"} if isinstance(estimator, FOSC) else {"max_nodes": None}
    return estimator.set_params(**printed)


def cut_at_widest_share(task: LabelledTask, constraints: Constraints, place: Place, run: int) -> np.ndarray:
    """COSC with the number of clusters of the widest gap, without what our default adds to eigenvalues."""
    k = find_widest_share(list_eigenvalues(task.X, constraints))
    return COSC(k, max_nodes=None, random_state=run).fit(task.X, constraints=constraints).labels_


def fit_estimator(made: Callable[[int], object]) -> Method:
    """What an estimator finds."""

    def labels(task: LabelledTask, constraints: Constraints, place: Place, run: int) -> np.ndarray:
        return made(run).fit(task.X, constraints=constraints).labels_

    return labels


def tune(made: Callable[[int], Any], search: Callable[..., Any]) -> Callable[[int], Any]:
    """A clusterer whose number of clusters a search finds."""
    return lambda seed: search(made(seed), CLUSTERS, **{"random_state": seed} if search is CVCPSearch else {})


PEERS: dict[str, Method] = {  # columns Q2 of Table III
    "mpck_SI": fit_estimator(tune(mpck, SilhouetteSearch)),
    "mpck_NumSat": fit_estimator(tune(mpck, NumSatSearch)),
    "mpck_CVCP": fit_estimator(tune(mpck, CVCPSearch)),
    "fosc": fit_estimator(lambda seed: FOSC(min_samples=4)),
    "cosc_eigen": fit_estimator(lambda seed: COSC(None, random_state=seed)),
    "cosc_NumSat": fit_estimator(tune(cosc, NumSatSearch)),
    "cosc_CVCP": fit_estimator(tune(cosc, CVCPSearch)),
}
PRINTED_PEERS: dict[str, Method] = {
    "mpck_SI": fit_estimator(tune(printed_mpck, SilhouetteSearch)),
    "mpck_NumSat": fit_estimator(tune(printed_mpck, NumSatSearch)),
    "mpck_CVCP": fit_estimator(tune(printed_mpck, CVCPSearch)),
    "fosc": fit_estimator(printed_fosc),
    "cosc_eigen": cut_at_widest_share,
    "cosc_NumSat": fit_estimator(tune(printed_cosc, NumSatSearch)),
    "cosc_CVCP": fit_estimator(tune(printed_cosc, CVCPSearch)),
}
POOLS: dict[str, Method] = {  # Table V
    "cobs_u": by_cobs("agreement"),
    "cobs_ss": over_peers(split=False),
    "cobs_ss_split": over_peers(split=True),
}
PRINTED_POOLS: dict[str, Method] = {
    "cobs_u": by_cobs("random"),
    "cobs_ss": over_printed_peers(split=False),
    "cobs_ss_split": over_printed_peers(split=True),
}
METHODS = {
    **PEERS,
    **POOLS,
    **{f"{name}{LETTER}": method for name, method in (PRINTED_PEERS | PRINTED_POOLS).items()},
}


# ---------------------------------------------------------------- random constraints
def peer_cells(tasks: Iterable[str], methods: Iterable[str], numbers: Iterable[int], runs: int) -> list[Cell]:
    """Run after run, so that an interrupted experiment has whole runs."""
    tasks, methods, numbers = list(tasks), list(methods), list(numbers)
    return [
        (task, method, str(n), str(run))
        for run in range(runs)
        for task in tasks
        for method in methods
        for n in numbers
    ]


def measure_peer(cell: Cell, place: Place) -> Row:
    """ARI on the rows in no constraint; noise is one cluster."""
    name, method, n_constraints, run = cell
    task = load(name, place.source)
    pairs = draw_pairs(len(task.y), int(run))[1][: int(n_constraints)]
    labels = METHODS[method](task, label_pairs(task.y, pairs), place, int(run))
    return {
        "ari": f"{score_elsewhere(task.y, labels, pairs):.4f}",
        "n_clusters": str(len(np.unique(labels[labels >= 0]))),
    }


def peer_entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell of a peer enters linkwise."""
    method = cell[1].removesuffix(LETTER)
    if method == "cobs_u":
        return CHOOSING
    if method in POOLS:
        return "COBS", "Constraints"
    name, _, tuning = method.partition("_")
    clusterer = {"mpck": "MPCKMeans", "fosc": "FOSC", "cosc": "COSC"}[name]
    search = {"SI": "SilhouetteSearch", "NumSat": "NumSatSearch", "CVCP": "CVCPSearch"}.get(tuning)
    return clusterer, *((search,) if search else ()), "Constraints"


# ---------------------------------------------------------------- NPU
class Tuned(BaseEstimator):
    """A clusterer that finds the number of clusters itself, for a learner that would give it one.

    Parameters
    ----------
    base : estimator
        What is fitted.
    n_clusters : int
        Not used.
    """

    def __init__(self, base: Any, n_clusters: int = 0) -> None:
        self.base = base
        self.n_clusters = n_clusters

    def fit(self, X: np.ndarray, y: object = None, *, constraints: Constraints | None = None) -> Tuned:
        """Fit a copy of `base`."""
        self.labels_ = clone(self.base).fit(X, constraints=constraints).labels_
        return self


REFITTED: dict[str, Callable[[int], Any]] = {
    "NPU + MPCKMeans, SI": tune(mpck, SilhouetteSearch),
    "NPU + MPCKMeans, NumSat": tune(mpck, NumSatSearch),
    "NPU + FOSC": printed_fosc,  # NPU needs a cluster for each row
    "NPU + COSC, eigengap": lambda seed: COSC(None, random_state=seed),
    "NPU + COSC, NumSat": tune(cosc, NumSatSearch),
}
PRINTED_REFITTED: dict[str, Callable[[int], Any]] = {
    "NPU + MPCKMeans, SI": tune(printed_mpck, SilhouetteSearch),
    "NPU + MPCKMeans, NumSat": tune(printed_mpck, NumSatSearch),
    "NPU + COSC, eigengap": lambda seed: COSC(None, max_nodes=None, random_state=seed),
}
REFITS = {**{f"{name}{LETTER}": made for name, made in PRINTED_REFITTED.items()}, **REFITTED}
"""By method of a cell, as printed first; what is the same in both versions has one cell."""
LONG = ("optdigits389", "segmentation")
"""Where COSC coarsens graphs by default, and the paper does not tune it by NumSat."""


def name_refit(task: str, name: str, end: str) -> str | None:
    """The method of the cell of a version, which ends with LETTER or nothing; None if the paper has none."""
    if "COSC" in name and task in LONG:
        return None if "NumSat" in name else f"{name}{end}"
    return f"{name}{end}" if "MPCKMeans" in name else name


def npu_entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell of NPU enters linkwise."""
    name, _, tuning = cell[1].removesuffix(LETTER).removeprefix("NPU + ").partition(", ")
    search = {"SI": ("SilhouetteSearch",), "NumSat": ("NumSatSearch",)}.get(tuning, ())
    return "NPU", name, *search, "linkwise.learn.run", "TruthOracle"


def npu_cells(tasks: Iterable[str], methods: Collection[str], runs: int) -> list[Cell]:
    """Run after run, as `peer_cells`, and in each the methods as printed first."""
    tasks = list(tasks)
    return [
        (task, method, str(run))
        for run in range(runs)
        for method in REFITS
        for task in tasks
        if method in methods
        and method in (name_refit(task, method.removesuffix(LETTER), end) for end in (LETTER, ""))
    ]


def measure_npu(cell: Cell, place: Place) -> Row:
    """ARI on the rows in no question, of NPU that is not given the number of classes.

    NPU clusters anew for each row that it places, and here for the scores, not for each answer.
    """
    name, method, run = cell
    task, seed = load(name, place.source), int(run)
    askable = np.zeros(len(task.y), dtype=bool)
    askable[draw_pairs(len(task.y), seed)[0]] = True
    learner = NPU(len(task.y), estimator=Tuned(REFITS[method](seed)), random_state=seed)
    evidence, oracle = Evidence(len(task.y)), TruthOracle(task.y)
    driver = Run(learner, task.X, evidence, seed, askable=askable, budget=MOST, shows_labels=False)
    pairs: list[tuple[int, int]] = []
    curve: dict[int, float] = {}

    def score() -> float:
        labels = enforce_answers(driver.state.labels(), evidence)
        return score_elsewhere(task.y, labels, np.array(pairs, dtype=np.int64).reshape(-1, 2))

    while (question := driver.question) is not None:
        pair = question.first, question.second
        pairs.append(pair)
        driver.answer(check_answer(oracle(*pair), *pair))
        if len(pairs) in NPU_AT:
            curve[len(pairs)] = score()
    last = score()
    return {str(n): f"{curve.get(n, last):.4f}" for n in NPU_AT}
