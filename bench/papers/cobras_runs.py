"""Run COBRA or COBRAS once with known classes, as a cell of a benchmark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from bench import data
from bench.data import Source, load
from bench.suites.cell_store import Cell, Row
from bench.suites.folds import split_folds
from bench.suites.scores import score_curve
from bench.suites.summaries import mean_by
from bench.suites.tasks import LabelledTask
from linkwise import COBRA, COBRAS, TruthOracle
from linkwise.learn.base import ActiveLearner
from linkwise.learn.learner import Oracle

FIELDS = ("task", "learner", "repetition", "fold", "n_folds", "questions")
WHOLE = "all"  # in place of a fold: questions about all rows, scored on all rows
CURVE = "ari_after_each_question"
REPETITIONS, FOLDS, QUESTIONS = 10, 10, 250
"""Of the paper. It names 250 questions where it tells of a run that did not end."""
TIMED = 100  # questions after which the paper compares run times

LEARNERS: dict[str, Callable[..., ActiveLearner]] = {
    "COBRA-10": partial(COBRA, 10),
    "COBRA-25": partial(COBRA, 25),
    "COBRA-50": partial(COBRA, 50),
    "COBRA-10.paper()": partial(COBRA.paper, 10),
    "COBRA-25.paper()": partial(COBRA.paper, 25),
    "COBRA-50.paper()": partial(COBRA.paper, 50),
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


def find_tasks(where: Source) -> list[str]:
    """The tasks of the paper that are there; without files those that come with scikit-learn."""
    return [task for task in data.names(where) if task not in data.OF_OTHERS]


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


class Fold(NamedTuple):
    """What a cell is about."""

    task: LabelledTask
    train: np.ndarray | None
    """Rows that questions may show; None for all."""
    test: np.ndarray
    """Rows that are scored."""
    seed: int
    questions: int


def read_fold(cell: Cell, source: Source) -> Fold:
    """Load the task of a cell and split it."""
    name, _, repetition, fold, n_folds, questions = cell
    task = load(name, source)
    everything = np.arange(len(task.y))
    if fold == WHOLE:
        return Fold(task, None, everything, int(repetition), int(questions))
    test = split_folds(len(task.y), int(n_folds), int(repetition))[int(fold)]
    seed = int(repetition) * int(n_folds) + int(fold)
    return Fold(task, np.setdiff1d(everything, test), test, seed, int(questions))


def measure(cell: Cell, source: Source) -> Row:
    """Run one cell: all rows are clustered, questions are about training rows, test rows are scored."""
    fold = read_fold(cell, source)
    model = LEARNERS[cell[1]](random_state=fold.seed)
    oracle = ClockedOracle(TruthOracle(fold.task.y))
    model.fit(fold.task.X, oracle=oracle, budget=fold.questions, askable=fold.train)
    seconds = [*oracle.seconds, process_time() - oracle.start]
    shown = [labels[fold.test] for labels in model.history_] or [model.labels_[fold.test]]
    return describe_run(fold, model.n_questions_, seconds, shown)


class ClockedOracle:
    """Pass questions on to an oracle, and record the processor time before each."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.seconds: list[float] = []
        self.start = process_time()

    def __call__(self, first: int, second: int) -> object:
        """Answer a question."""
        self.seconds.append(process_time() - self.start)
        return self.oracle(first, second)


def describe_run(fold: Fold, asked: int, seconds: Sequence[float], shown: Sequence[np.ndarray]) -> Row:
    """Return a row of results.

    Parameters
    ----------
    fold : Fold
    asked : int
        Number of questions.
    seconds : sequence of float
        Processor time before each question and at the end.
    shown : sequence of ndarray
        Labels of the test rows after each question.
    """
    curve = score_curve(fold.task.y[fold.test], shown, fold.questions)
    return {"asked": str(asked), **describe_times(seconds), CURVE: " ".join(f"{ari:.4f}" for ari in curve)}


def describe_times(seconds: Sequence[float]) -> Row:
    """Processor time of a run, of its first `TIMED` questions, and of its longest wait."""
    return {
        "seconds": f"{seconds[-1]:.4f}",
        f"seconds_{TIMED}": f"{seconds[: TIMED + 1][-1]:.4f}",
        "longest_wait_s": f"{np.diff(seconds, prepend=0).max():.4f}",
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
