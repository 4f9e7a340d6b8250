"""The rivals of the COBRAS paper in its protocol: active COBS, and NPU with MPCKMeans and with COSC.

Active COBS is the printed one, over one pool of 931 clusterings of a task. NPU gets the number of classes, as
in the paper; the clusterers that it fits are ours, with few starts. ``NPU.paper()`` fits the printed
MPCKMeans, and stands for NPU with MPCKMeans beside the printed COBRAS.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from bench.data import load
from bench.papers.cobras_runs import Fold, describe_run, read_fold
from bench.papers.cobs_runs import Place, pool_of
from bench.suites.cell_store import Cell, Row
from linkwise import COSC, NPU, ActiveCOBS, Evidence, MPCKMeans, TruthOracle
from linkwise.constraints.facts import check_answer
from linkwise.learn.run import Run
from linkwise.select.pool import build_pool

RIVALS = {
    "COBS": "rival_cobs.csv",
    "NPU + MPCKMeans": "rival_npu_mpckmeans.csv",
    "NPU + COSC": "rival_npu_cosc.csv",
}
"""The file of the cells of each, so that they can run side by side."""
PRINTED_NPU = "NPU.paper()"
RIVAL_FILES = {**RIVALS, PRINTED_NPU: "rival_npu_paper.csv"}
"""The same with the printed one of a rival that also runs with our changes."""
REFITTED: dict[str, Callable[[int], Any]] = {
    "NPU + MPCKMeans": lambda seed: MPCKMeans(n_init=2, random_state=seed),
    "NPU + COSC": lambda seed: COSC(n_init=2, n_runs=1, random_state=seed),
}
"""What NPU fits after each row that it has placed: few starts, since there are up to a hundred fits."""
POOL_FIELDS = ("task",)


def measure_rival(cell: Cell, place: Place) -> Row:
    """Run one cell: all rows are clustered, questions are about training rows, test rows are scored."""
    fold = read_fold(cell, place.source)
    if cell[1] == "COBS":
        return ask_all(ActiveCOBS.paper(random_state=fold.seed), fold, pool_of(cell[0], place))
    n_clusters = len(set(fold.task.y.tolist()))
    if cell[1] == PRINTED_NPU:
        return ask_all(NPU.paper(n_clusters, random_state=fold.seed), fold)
    estimator = REFITTED[cell[1]](fold.seed)
    return ask_all(NPU(n_clusters, estimator=estimator, random_state=fold.seed), fold)


def ask_all(learner: Any, fold: Fold, prepared: Any = None) -> Row:
    """Let a learner ask, and score its labels after each answer. The time for `prepared` is not counted."""
    y = fold.task.y
    askable = np.ones(len(y), dtype=bool)
    if fold.train is not None:
        askable[:] = False
        askable[fold.train] = True
    evidence, oracle = Evidence(len(y)), TruthOracle(y)
    start = process_time()
    run = Run(
        learner, fold.task.X, evidence, fold.seed, prepared=prepared, askable=askable, budget=fold.questions
    )
    seconds, shown = [], []
    while (question := run.question) is not None:
        seconds.append(process_time() - start)
        run.answer(check_answer(oracle(question.first, question.second), question.first, question.second))
        shown.append(run.labels[fold.test].copy())
    seconds.append(process_time() - start)
    return describe_run(fold, len(shown), seconds, shown or [run.labels[fold.test]])


def rival_entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell of a rival enters linkwise."""
    if cell[1] == "COBS":
        return "build_pool", "linkwise.select.ranking", "ActiveCOBS", "linkwise.learn.run", "TruthOracle"
    clusterer = "MPCKMeans" if cell[1] == PRINTED_NPU else cell[1].removeprefix("NPU + ")
    return "NPU", clusterer, "linkwise.learn.run", "TruthOracle"


# ---------------------------------------------------------------- the pools of COBS
def measure_pool(cell: Cell, place: Place) -> Row:
    """Processor time to cluster a task 931 times."""
    X = load(cell[0], place.source).X
    start = process_time()
    build_pool(X, "paper", 0)
    return {"seconds": f"{process_time() - start:.2f}"}
