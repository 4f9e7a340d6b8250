"""Run one method on one task: with questions, or with random constraints.

Everything that is drawn depends on the task's number of rows and on the run alone, so all methods of a run
get the same constraints, folds and seeds, and their scores are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.suites.cell_store import Cell, Row
from bench.suites.constraint_sets import (
    count_percent,
    draw_both_kinds,
    draw_constraints,
    draw_nested_constraints,
)
from bench.suites.folds import draw_rows, split_folds
from bench.suites.participants import Labels, Participant, find_participant
from bench.suites.protocols import Protocol
from bench.suites.scores import SCORES, TimedOracle, score_curve, score_elsewhere
from bench.suites.tasks import LabelledTask, Source, TaskSpec, load_task
from linkwise.constraints.constraints import Constraints
from linkwise.errors import DataError
from linkwise.learn.oracles import TruthOracle

Rows = NDArray[np.int64]


def measure_cell(cell: Cell, specs: Mapping[str, TaskSpec], protocol: Protocol, source: Source) -> Row:
    """Measure one method on one task in one run; processes find this function here, not in ``__main__``."""
    _, _, _, name, method, _, run, fold = cell
    task = load_task(specs[name], source)
    try:
        measured = measure_trial(find_participant(method), task, protocol, int(run), int(fold))
    except Exception as error:
        error.add_note(f"This happened to {method} on {name} in run {run}. Finished runs are kept.")
        raise
    return {name: f"{value:.4f}" for name, value in measured.items()}


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

    Raises
    ------
    DataError
        The task has too few rows or pairs for the protocol, or the method breaks its rules.
    """
    are_asked = protocol.kind == "questions"
    try:
        known, scored = choose_rows(len(task.y), protocol, run, fold)
        constraints = [] if are_asked else draw_trial_constraints(task.y, protocol, run, fold, known)
    except ValueError as error:
        raise DataError(f"{task.name} does not suit this protocol. {error}") from error
    begun = perf_counter()
    if are_asked:
        scores = _with_questions(participant, task, protocol, run, known, scored)
    else:
        scores = _with_constraints(participant, task, protocol, run, constraints, scored)
    return {**scores, "seconds": perf_counter() - begun}


def choose_rows(n_rows: int, protocol: Protocol, run: int, fold: int) -> tuple[Rows, Rows]:
    """Return the rows that questions and constraints may be about, and the rows that are scored."""
    everything = np.arange(n_rows)
    if protocol.folds:
        test = split_folds(n_rows, protocol.folds, run)[fold]
        return np.setdiff1d(everything, test), test
    known = draw_rows(n_rows, protocol.share, np.random.default_rng([run, n_rows]))
    return known, everything


def draw_trial_constraints(
    y: NDArray[np.int64], protocol: Protocol, run: int, fold: int, known: Rows
) -> list[Constraints]:
    """Draw the constraints of each number between the known rows; each fold has its own."""
    how: dict[str, Any] = {
        "rows": known,
        "closed": protocol.closed,
        "random_state": np.random.default_rng([run, fold]) if protocol.folds else run,
    }
    numbers = [_count_constraints(number, len(known), protocol) for number in protocol.numbers]
    if protocol.cannot_links:
        cannot = [_count_constraints(number, len(known), protocol) for number in protocol.cannot_links]
        return [draw_both_kinds(y, *both, **how) for both in zip(numbers, cannot, strict=True)]
    how |= {"kind": protocol.pairs, "wrong": protocol.wrong}
    if protocol.nested:
        return draw_nested_constraints(y, numbers, **how)
    return [draw_constraints(y, number, **how) for number in numbers]


def _count_constraints(number: float, n_rows: int, protocol: Protocol) -> int:
    if protocol.unit == "count":
        return int(number)
    return count_percent(n_rows, number, "rows" if protocol.unit == "percent of rows" else "pairs")


def _with_questions(
    participant: Participant, task: LabelledTask, protocol: Protocol, run: int, known: Rows, scored: Rows
) -> dict[str, float]:
    budget = int(protocol.numbers[-1])
    clusterings, waits = _ask(participant, task, protocol, run, known, budget)
    curve = _score_curve(task, protocol, scored, clusterings, budget)
    scores = {_text(n): float(curve[int(n) - 1]) for n in protocol.numbers}
    if len(clusterings) == 1 < len(waits):  # only the final labels are known
        for number in protocol.numbers[:-1]:
            n = int(number)
            clusterings, _ = _ask(participant, task, protocol, run, known, n)
            scores[_text(number)] = float(_score_curve(task, protocol, scored, clusterings, n)[-1])
    return {**scores, "longest_wait": max(waits, default=0.0)}


def _ask(
    participant: Participant, task: LabelledTask, protocol: Protocol, run: int, known: Rows, budget: int
) -> tuple[Sequence[Labels], list[float]]:
    """Return the labels after each question, and the waits; a method that breaks the rules is stopped."""
    truth, allowed = TruthOracle(task.y, noise=protocol.wrong, random_state=run), set(known.tolist())

    def answer(first: int, second: int) -> object:
        if len(oracle.waits) > budget:
            raise DataError(
                f"{participant.name} asks more than {budget} questions. Let it stop at the budget."
            )
        if not_allowed := [row for row in (first, second) if row not in allowed]:
            raise DataError(
                f"{participant.name} asks about row {not_allowed[0]}, which is not among the askable rows."
                " Let it ask about those alone."
            )
        return truth(first, second)

    oracle = TimedOracle(answer)
    clusterings = participant.ask(task, oracle, budget, run, known)
    if len(clusterings) not in (1, len(oracle.waits)):
        raise DataError(
            f"{participant.name} returned {len(clusterings)} clusterings after {len(oracle.waits)} questions."
            " Return the labels after each question, or the final labels alone."
        )
    return clusterings, oracle.waits


def _score_curve(
    task: LabelledTask, protocol: Protocol, scored: Rows, clusterings: Sequence[Labels], budget: int
) -> NDArray[np.float64]:
    shown = [np.asarray(labels)[scored] for labels in clusterings][:budget]
    return score_curve(task.y[scored], shown, budget, SCORES[protocol.score])


def _with_constraints(
    participant: Participant,
    task: LabelledTask,
    protocol: Protocol,
    run: int,
    constraints: Sequence[Constraints],
    scored: Rows,
) -> dict[str, float]:
    """The mean score over the starts, for each number."""
    score, seeds = SCORES[protocol.score], range(run * protocol.starts, (run + 1) * protocol.starts)

    def measure(drawn: Constraints, seed: int) -> float:
        labels = participant.cluster(task, drawn, seed)
        if protocol.scored == "elsewhere" and not protocol.folds:
            elsewhere = score_elsewhere(task.y, labels, drawn, score)
            if np.isnan(elsewhere):
                raise DataError(
                    f"Every row of {task.name} is in one of the {drawn.n_constraints} constraints, so no row"
                    " is left to score. Draw fewer, or from a smaller share of the rows."
                )
            return elsewhere
        return float(score(task.y[scored], labels[scored]))

    return {
        _text(number): float(np.mean([measure(drawn, seed) for seed in seeds]))
        for number, drawn in zip(protocol.numbers, constraints, strict=True)
    }


def _text(number: float) -> str:
    """A number as the name of a column: 10, not 10.0."""
    return f"{number:g}"
