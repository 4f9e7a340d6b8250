"""Run one method on one task: with questions, or with random constraints.

Everything that is drawn depends on the task's number of rows and on the run alone, so all methods of a run
get the same constraints, folds and seeds, and their scores are paired.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.oracles import TruthOracle
from linkwise.constraints.constraints import Constraints
from linkwise.experiments.constraint_sets import draw_constraints, draw_nested_constraints
from linkwise.experiments.folds import draw_rows, split_folds
from linkwise.experiments.participants import Participant
from linkwise.experiments.scores import SCORES, TimedOracle, score_curve, score_elsewhere
from linkwise.experiments.suites import Protocol
from linkwise.experiments.tasks import LabelledTask

Rows = NDArray[np.int64]


def measure_trial(
    participant: Participant, task: LabelledTask, protocol: Protocol, run: int, fold: int = 0
) -> dict[str, float]:
    """Run a method and score it.

    Parameters
    ----------
    participant : Participant
    task : LabelledTask
    protocol : Protocol
    run : int
        Seed of what is drawn, and of the method.
    fold : int, default=0
        Number of the fold that is left out, if the protocol has folds.

    Returns
    -------
    dict of float
        The score after each number of questions or constraints, by that number as text, and ``"seconds"`` in
        all.
    """
    known, scored = choose_rows(len(task.y), protocol, run, fold)
    begun = perf_counter()
    run_one = _with_questions if protocol.kind == "questions" else _with_constraints
    scores = run_one(participant, task, protocol, run, known, scored)
    return {**scores, "seconds": perf_counter() - begun}


def choose_rows(n_rows: int, protocol: Protocol, run: int, fold: int) -> tuple[Rows, Rows]:
    """Return the rows that questions and constraints may be about, and the rows that are scored."""
    everything = np.arange(n_rows)
    if protocol.folds:
        test = split_folds(n_rows, protocol.folds, run)[fold]
        return np.setdiff1d(everything, test), test
    known = draw_rows(n_rows, protocol.share, np.random.default_rng([run, n_rows]))
    return known, everything


def _with_questions(
    participant: Participant, task: LabelledTask, protocol: Protocol, run: int, known: Rows, scored: Rows
) -> dict[str, float]:
    budget = int(protocol.numbers[-1])
    oracle = TimedOracle(TruthOracle(task.y, noise=protocol.wrong, random_state=run))
    clusterings = participant.ask(task, oracle, budget, run, known)
    shown = [np.asarray(labels)[scored] for labels in clusterings][:budget]
    curve = score_curve(task.y[scored], shown, budget, SCORES[protocol.score])
    longest = max(oracle.waits, default=0.0)
    return {**{_text(n): float(curve[int(n) - 1]) for n in protocol.numbers}, "longest_wait": longest}


def _with_constraints(
    participant: Participant, task: LabelledTask, protocol: Protocol, run: int, known: Rows, scored: Rows
) -> dict[str, float]:
    score = SCORES[protocol.score]
    result = {}
    for number, constraints in zip(
        protocol.numbers, _draw_constraints(task.y, protocol, run, known), strict=True
    ):
        labels = participant.cluster(task, constraints, run)
        if protocol.scored == "elsewhere" and not protocol.folds:
            result[_text(number)] = score_elsewhere(task.y, labels, constraints, score)
        else:
            result[_text(number)] = float(score(task.y[scored], labels[scored]))
    return result


def _draw_constraints(y: NDArray[np.int64], protocol: Protocol, run: int, known: Rows) -> list[Constraints]:
    """Draw the constraints of each number."""
    how: dict[str, Any] = {
        "kind": protocol.pairs, "rows": known, "closed": protocol.closed, "wrong": protocol.wrong,
        "random_state": run,
    }  # fmt: skip
    if protocol.nested:
        return draw_nested_constraints(y, protocol.numbers, percent=protocol.percent, **how)
    return [
        draw_constraints(y, percent=number, **how)
        if protocol.percent
        else draw_constraints(y, int(number), **how)
        for number in protocol.numbers
    ]


def _text(number: float) -> str:
    """A number as the name of a column: 10, not 10.0."""
    return f"{number:g}"
