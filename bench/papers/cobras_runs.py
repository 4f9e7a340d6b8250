"""Run COBRA or COBRAS once with known classes, as a cell of a benchmark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from bench.data import Source, load
from linkwise import COBRA, COBRAS, TruthOracle
from linkwise.active.base import ActiveLearner
from linkwise.experiments.cell_store import Cell, Row
from linkwise.experiments.folds import split_folds
from linkwise.experiments.scores import TimedOracle, score_curve
from linkwise.experiments.summaries import mean_by

FIELDS = ("task", "learner", "repetition", "fold", "n_folds", "questions")
WHOLE = "all"  # in place of a fold: questions about all rows, scored on all rows
CURVE = "ari_after_each_question"

LEARNERS: dict[str, Callable[..., ActiveLearner]] = {
    "COBRA-10": partial(COBRA, 10),
    "COBRA-25": partial(COBRA, 25),
    "COBRA-50": partial(COBRA, 50),
    "COBRAS": COBRAS,
    "COBRAS.paper()": COBRAS.paper,
    "COBRAS.authors()": COBRAS.authors,
    "descend=smallest": partial(COBRAS, descend="smallest"),
    "descend=largest": partial(COBRAS, descend="largest"),
    "descend=random": partial(COBRAS, descend="random"),
    "impure_first=False": partial(COBRAS, impure_first=False),
    "max_split=None": partial(COBRAS, max_split=None),
    "split_within_budget=False": partial(COBRAS, split_within_budget=False),
}


def whole_cells(tasks: Iterable[str], learners: Iterable[str], seeds: int, questions: int) -> list[Cell]:
    """All rows may be shown and all are scored."""
    learners = list(learners)
    return [
        (task, learner, str(seed), WHOLE, "1", str(questions))
        for seed in range(seeds)
        for task in tasks
        for learner in learners
    ]


def fold_cells(
    tasks: Iterable[str], learners: Iterable[str], repetitions: int, n_folds: int, questions: int
) -> list[Cell]:
    """Repeated cross-validation, a whole repetition before the next begins."""
    tasks, learners = list(tasks), list(learners)
    return [
        (task, learner, str(repetition), str(fold), str(n_folds), str(questions))
        for repetition in range(repetitions)
        for task in tasks
        for fold in range(n_folds)
        for learner in learners
    ]


def measure(cell: Cell, source: Source) -> Row:
    """Run one cell: all rows are clustered, questions are about training rows, test rows are scored."""
    name, learner, repetition, fold, n_folds, questions = cell
    task, budget = load(name, source), int(questions)
    everything = np.arange(len(task.y))
    if fold == WHOLE:
        seed, test, train = int(repetition), everything, None
    else:
        test = split_folds(len(task.y), int(n_folds), int(repetition))[int(fold)]
        train = np.setdiff1d(everything, test)
        seed = int(repetition) * int(n_folds) + int(fold)
    model = LEARNERS[learner](random_state=seed)
    oracle = TimedOracle(TruthOracle(task.y))
    begin = perf_counter()
    model.fit(task.X, oracle=oracle, budget=budget, askable=train)
    seconds = perf_counter() - begin
    oracle.end()
    shown = [labels[test] for labels in model.history_] or [model.labels_[test]]
    curve = score_curve(task.y[test], shown, budget)
    return {
        "asked": str(model.n_questions_),
        "seconds": f"{seconds:.4f}",
        "longest_wait_s": f"{max(oracle.waits):.4f}",
        CURVE: " ".join(f"{ari:.4f}" for ari in curve),
    }


def entries(cell: Cell) -> tuple[str, ...]:
    """Return where a cell enters linkwise."""
    return "COBRA" if cell[1].startswith("COBRA-") else "COBRAS", "TruthOracle"


def bind_source(source: Source) -> Callable[[Cell], Row]:
    """`measure` for one source, in a form that processes can find."""
    folder = None if source.folder is None else Path(os.path.abspath(source.folder))
    return partial(measure, source=Source(folder, source.openml))


def curves(rows: Iterable[Row]) -> dict[tuple[str, ...], np.ndarray]:
    """Mean ARI after each question for each (task, learner)."""
    return mean_by([((r["task"], r["learner"]), np.array(r[CURVE].split(), float)) for r in rows])


def seconds(rows: Iterable[Row], field: str = "seconds") -> dict[tuple[str, ...], float]:
    """Mean of a time for each (task, learner)."""
    times = mean_by([((r["task"], r["learner"]), np.array(float(r[field]))) for r in rows])
    return {key: float(mean) for key, mean in times.items()}
