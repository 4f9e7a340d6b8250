"""Measure one run of a learner whose answers may be wrong (`bench.papers.noise`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.metrics import adjusted_rand_score

from bench import data
from bench.suites.cell_store import Cell, Row
from linkwise import COBRAS, KIN, MinMax, TruthOracle
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer
from linkwise.constraints.fallible import FallibleEvidence, make_evidence
from linkwise.learn.oracles import HARD, Hard
from linkwise.learn.run import Run
from linkwise.validation import check_rows, resolve_seed

FAMILIES: dict[str, Callable[[int, int], Any]] = {
    "KIN": lambda k, seed: KIN(random_state=seed),
    "COBRAS": lambda k, seed: COBRAS(random_state=seed),
    "MinMax": lambda k, seed: MinMax(k, estimator="mpckmeans", random_state=seed),
}


class Way(NamedTuple):
    """How a learner deals with answers that may be wrong."""

    family: str
    """Its name in `FAMILIES`."""
    rate: str
    """The share of wrong answers that it assumes: "estimated", "told" or "none"."""
    n_votes: int = 1
    """Answers to each question, of which the majority counts."""

    def find_rate(self, noise: float) -> float | None:
        """What `error_rate` is."""
        return {"estimated": None, "told": noise, "none": 0.0}[self.rate]


LEARNERS = {
    "KIN": Way("KIN", "estimated"),
    "KIN-told": Way("KIN", "told"),
    "KIN-plain": Way("KIN", "none"),
    "KIN-majority": Way("KIN", "none", 3),
    "COBRAS": Way("COBRAS", "estimated"),
    "COBRAS-plain": Way("COBRAS", "none"),
    "MinMax": Way("MinMax", "estimated"),
    "MinMax-plain": Way("MinMax", "none"),
}
INDEPENDENT = "independent"
KINDS = (INDEPENDENT, *HARD)
FIELDS = ("task", "learner", "kind", "noise", "run")
EDGES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)  # between the bins of chances
STRETCH = 100  # questions over which waits of long runs are taken
SEEDS_APART = 1000  # between the seeds of several oracles in one run


class MajorityOracle:
    """Several oracles, whose errors are drawn independently of each other, and the answer of most.

    Parameters
    ----------
    oracles : sequence of TruthOracle
        An odd number. All know the class of every row.
    """

    def __init__(self, oracles: Sequence[TruthOracle]) -> None:
        self._oracles = oracles

    def __call__(self, first: int, second: int) -> Answer:
        """Answer a question."""
        n_yes = sum(oracle(first, second) == "yes" for oracle in self._oracles)
        return "yes" if 2 * n_yes > len(self._oracles) else "no"

    def is_wrong(self, first: int, second: int, answer: Answer) -> bool:
        """Tell whether an answer contradicts the classes."""
        return self._oracles[0].is_wrong(first, second, answer)


class Measured(NamedTuple):
    """What a run has shown."""

    ari: np.ndarray
    """After 0, 1, 2, ... questions."""
    is_wrong: np.ndarray
    """Whether each answer was."""
    waits: np.ndarray
    """Seconds from each answer to the next question."""
    beliefs: dict[int, Row]
    """What was believed after some numbers of questions, the last one included."""


def find_tasks(where: data.Source) -> set[str]:
    """The sets of a source, and those that come with scikit-learn."""
    return {*data.names(where), *data.BUNDLED}


def load(name: str, where: data.Source) -> data.LabelledTask:
    """Load a set of a source, or else the one that comes with scikit-learn."""
    return data.load(name, where if name in data.names(where) else data.Source())


def measure(cell: Cell, where: data.Source, at: Sequence[int]) -> Row:
    """ARI, suspects and estimated error rate of one run after each number of answers; times of a question."""
    n_votes = LEARNERS[cell[1]].n_votes
    numbers = {n: n // n_votes for n in at}  # of questions
    found = _run(cell, where, max(numbers.values()), tuple(numbers.values()))
    n_asked = len(found.waits)
    row = {"0": f"{found.ari[0]:.4f}"}
    for n, number in numbers.items():
        reached = min(number, n_asked)
        row[str(n)] = f"{found.ari[reached]:.4f}"
        row |= {f"answers {n}": str(reached), f"wrong {n}": str(found.is_wrong[:reached].sum())}
        row |= {f"{name} {n}": value for name, value in found.beliefs[reached].items()}
    lowest = (found.ari[1:] if n_asked else found.ari).min() - found.ari[0]
    return {
        **row,
        "lowest": f"{lowest:.4f}",
        "median_ms": _format_ms(np.median, found.waits),
        "longest_ms": _format_ms(np.max, found.waits),
    }


def measure_long(cell: Cell, where: data.Source, at: Sequence[int]) -> Row:
    """ARI of a long run after each number of questions, its largest fall, and waits before each number."""
    found = _run(cell, where, max(at), tuple(at))
    n_asked = len(found.waits)
    row = {"0": f"{found.ari[0]:.4f}"}
    for n in at:
        waits = found.waits[max(n - STRETCH, 0) : n]
        row |= {str(n): f"{found.ari[min(n, n_asked)]:.4f}", f"ms {n}": _format_ms(np.median, waits)}
    fall = (np.maximum.accumulate(found.ari) - found.ari).max()
    return {
        **row,
        "questions": str(n_asked),
        "fall": f"{fall:.4f}",
        "longest_ms": _format_ms(np.max, found.waits),
    }


def _format_ms(statistic: Callable[[np.ndarray], Any], waits: np.ndarray) -> str:
    """A statistic of seconds in milliseconds; empty if no question was asked."""
    return f"{1000 * statistic(waits):.1f}" if len(waits) else ""


def _run(cell: Cell, where: data.Source, budget: int, at: Sequence[int]) -> Measured:
    """Ask `budget` questions, fewer if none is left."""
    name, learner, kind, share, number = cell
    way, noise, seed = LEARNERS[learner], float(share), int(number)
    task, (model, X, prepared) = load(name, where), prepare_learner(way.family, name, seed, where)
    oracle = make_oracle(task, kind, noise, seed, way.n_votes)
    evidence = make_evidence(len(X), None, way.find_rate(noise))
    run = Run(model, X, evidence, seed, prepared=prepared, budget=budget)
    curve, is_wrong, waits = [adjusted_rand_score(task.y, run.labels)], [], []
    beliefs, scored = {0: describe_belief(evidence, oracle)}, run.labels
    while (question := run.question) is not None:
        answer = oracle(question.first, question.second)
        start = perf_counter()
        run.answer(answer)
        waits.append(perf_counter() - start)
        is_wrong.append(oracle.is_wrong(question.first, question.second, answer))
        is_same = np.array_equal(run.labels, scored)
        curve.append(curve[-1] if is_same else adjusted_rand_score(task.y, run.labels))
        scored = run.labels
        if len(waits) in at or run.question is None:
            beliefs[len(waits)] = describe_belief(evidence, oracle)
    return Measured(np.array(curve), np.array(is_wrong, dtype=bool), np.array(waits), beliefs)


@lru_cache(maxsize=2)
def prepare_learner(family: str, name: str, seed: int, where: data.Source) -> tuple[Any, np.ndarray, Any]:
    """A learner, its rows, and the work that needs no answer: the same for all kinds of errors."""
    task = load(name, where)
    model = FAMILIES[family](len(set(task.y)), seed)
    X = check_rows(task.X, model)
    return model, X, model.prepare(X, resolve_seed(model.random_state))


def make_oracle(
    task: data.LabelledTask, kind: str, noise: float, seed: int, n_votes: int = 1
) -> MajorityOracle:
    """An oracle that errs in one way; of several votes each errs independently of the others."""
    hard = None if kind == INDEPENDENT else cast(Hard, kind)
    X = task.X if kind in ("border", "classes") else None
    return MajorityOracle(
        [
            TruthOracle(task.y, noise=noise, hard=hard, X=X, random_state=seed + SEEDS_APART * vote)
            for vote in range(n_votes)
        ]
    )


def describe_belief(evidence: Evidence, oracle: MajorityOracle) -> Row:
    """The estimated rate, and the suspects; empty for a learner that treats every answer as correct."""
    if not isinstance(evidence, FallibleEvidence):
        return dict.fromkeys(("rate", "low", "high", "suspects", "hits", "chances"), "")
    overall, suspects = evidence.error_rates().overall, evidence.suspects()
    is_hit = np.array(
        [oracle.is_wrong(*suspect.fact.pair, suspect.fact.answer) for suspect in suspects], dtype=bool
    )
    chances = np.array([suspect.chance for suspect in suspects])
    return {
        "rate": f"{overall.rate:.4f}",
        "low": f"{overall.low:.4f}",
        "high": f"{overall.high:.4f}",
        "suspects": str(len(suspects)),
        "hits": str(is_hit.sum()),
        "chances": format_bins(chances, is_hit),
    }


def format_bins(chances: np.ndarray, is_hit: np.ndarray) -> str:
    """For each bin of chances: how many suspects, the sum of their chances, and how many were wrong."""
    of = np.digitize(chances, EDGES)
    bins = ((of == at) for at in range(len(EDGES) + 1))
    return " ".join(f"{mask.sum()}:{chances[mask].sum():.4f}:{is_hit[mask].sum()}" for mask in bins)


def read_bins(text: str) -> np.ndarray:
    """(n_bins, 3) what `format_bins` wrote."""
    return np.array([[float(value) for value in part.split(":")] for part in text.split()])
