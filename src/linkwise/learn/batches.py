"""Several questions that are worth asking together.

A copy of the run goes on as if each question had its most probable answer, and its questions are collected.
The further it goes, the more it relies on answers that nobody has given. So a large batch has several paths.
On the first one all answers are the most probable ones. On the others they are drawn by their probabilities,
and questions whose answer is almost certain are left out (Thompson 1933 draws what is believed in the same
way).

A row may be in a few questions of a batch. If many rows are compared with one row, each answer counts without
the others. If a row were in two questions at most, the rows would form chains, where all answers must be as
expected for the ends to be known together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer, Groups
from linkwise.errors import InfeasibleConstraintsError
from linkwise.learn.learner import Question
from linkwise.learn.run import Run
from linkwise.rng import rng_at

MOST_OF_ROW = 4  # questions of a batch that show the same row
TRIES = 4  # questions that are looked at for each question of a batch
PATH = 16  # questions along one path
SKIPPED_FROM = 0.9  # probability of an answer from which its question is left out
MOST_CERTAIN = 6  # so many of those in succession end a path
CHANCE = 0.8  # probability of the expected answer, where the learner does not estimate it


@dataclass(frozen=True, slots=True)
class Expectation:
    """A question with its most probable answer.

    `is_check` tells whether an answer follows already from what is believed, so that the question checks
    it.
    """

    pair: tuple[int, int]
    why: str
    answer: Answer
    is_check: bool = False


def expect(question: Question, evidence: Evidence) -> Expectation:
    """Find the most probable answer to a question.

    It is what is believed of the pair, else what the learner expects, else what the labels of the question
    suggest.
    """
    i, j = question.first, question.second
    known = evidence.verdict(i, j)
    is_check = known is not None
    if known in ("yes", "no"):
        return Expectation((i, j), question.why, known, is_check)
    if question.expected is not None:
        return Expectation((i, j), question.why, question.expected, is_check)
    labels = question.labels
    if len(labels) == 0:  # a check through a row nearby
        return Expectation((i, j), question.why, "yes", is_check)
    likely: Answer = "yes" if labels[i] == labels[j] else "no"
    return Expectation((i, j), question.why, likely, is_check)


def choose_batch(
    run: Run, start: Callable[[], Run], n: int, held: Sequence[Expectation] = (), seed: int = 0
) -> list[Expectation]:
    """Choose up to n questions that are worth asking together, and together with those that are held.

    If each of the others is answered as expected, none of them follows. No row is in more than four.
    Nobody else uses `run`: it goes on with answers that are only expected. ``start()`` returns another
    such run with the same facts, for further paths.
    """
    batch, known_before = _Batch(held), run.evidence.groups()
    for number in range(ceil(n / PATH)):
        run, n_before = start() if number else run, len(batch.chosen)
        for known in held:
            _tell(run, known.pair, known.answer)
        n_wanted = min(n - n_before, PATH)
        if number == 0:
            _follow_likely(run, n_wanted, batch)
        else:
            _follow_drawn(run, n_wanted, batch, rng_at(seed, len(run.evidence), number))
        if len(batch.chosen) == n:
            break
    batch.fill(n)
    return _drop_what_follows(known_before, held, batch.chosen)


class _Batch:
    """The questions that are chosen, and those that are left as too certain."""

    def __init__(self, held: Sequence[Expectation]) -> None:
        self.chosen: list[Expectation] = []
        self._certain: list[Expectation] = []
        self._pairs = {frozenset(known.pair) for known in held}
        self._used = Counter(row for known in held for row in known.pair)

    def accepts(self, likely: Expectation) -> bool:
        """Whether the question is new, and neither of its rows is in too many others."""
        is_new = frozenset(likely.pair) not in self._pairs
        return is_new and max(self._used[row] for row in likely.pair) < MOST_OF_ROW

    def add(self, likely: Expectation) -> None:
        self.chosen.append(likely)
        self._pairs.add(frozenset(likely.pair))
        self._used.update(likely.pair)

    def leave(self, likely: Expectation) -> None:
        """Leave a question for the end, if nothing better is found."""
        self._certain.append(likely)

    def fill(self, n: int) -> None:
        """Add those that were left, until there are n."""
        for likely in self._certain:
            if len(self.chosen) < n and self.accepts(likely):
                self.add(likely)


def _follow_likely(run: Run, n: int, batch: _Batch) -> None:
    """Collect questions; each counts as answered as expected."""
    n_wanted = len(batch.chosen) + n
    for _ in range(TRIES * n):
        if run.question is None or len(batch.chosen) == n_wanted:
            return
        likely = expect(run.question, run.evidence)
        if batch.accepts(likely):
            batch.add(likely)
        _tell(run, likely.pair, likely.answer)


def _follow_drawn(run: Run, n: int, batch: _Batch, rng: np.random.Generator) -> None:
    """Collect uncertain questions; the answers are drawn by their probabilities."""
    n_wanted, n_certain = len(batch.chosen) + n, 0
    for _ in range(TRIES * n):
        if run.question is None or len(batch.chosen) == n_wanted or n_certain == MOST_CERTAIN:
            return
        likely, chance = expect(run.question, run.evidence), run.chance()
        if chance is None:
            chance = CHANCE if likely.answer == "yes" else 1 - CHANCE
        if batch.accepts(likely):
            if max(chance, 1 - chance) <= SKIPPED_FROM:
                batch.add(likely)
                n_certain = 0
            else:
                batch.leave(likely)
                n_certain += 1
        _tell(run, likely.pair, "yes" if rng.random() < chance else "no")


def _tell(run: Run, pair: tuple[int, int], answer: Answer) -> None:
    """Tell a run an answer, or "unsure" if it contradicts earlier answers."""
    try:
        run.tell(*pair, answer, asked=True)
    except InfeasibleConstraintsError:
        run.tell(*pair, "unsure", asked=True)


def _drop_what_follows(
    groups: Groups, held: Sequence[Expectation], chosen: Sequence[Expectation]
) -> list[Expectation]:
    """Drop questions that need not be asked if the others are answered as expected."""
    rows = sorted({row for open_ in (*held, *chosen) for row in open_.pair})
    known, _, at = np.intersect1d(rows, groups.row, assume_unique=True, return_indices=True)
    name: dict[int, int] = dict(zip(known.tolist(), groups.number[at].tolist(), strict=True))
    n_groups = int(groups.number.max(initial=-1)) + 1
    is_named = np.zeros(n_groups, dtype=bool)
    is_named[list(name.values())] = True
    apart = groups.cannot_link[is_named[groups.cannot_link].all(axis=1)].tolist()
    for number, row in enumerate((row for row in rows if row not in name), n_groups):
        name[row] = number
    left = list(chosen)
    for likely in reversed(chosen):
        others = [other for other in (*held, *left) if other is not likely]
        if not likely.is_check and _follows(likely, others, name, apart):
            left.remove(likely)
    return left


def _follows(
    likely: Expectation,
    others: Sequence[Expectation],
    name: dict[int, int],
    apart: Sequence[Sequence[int]],
) -> bool:
    """Whether an answer follows from the cannot-links between groups and the expected answers to others."""
    leads: dict[int, int] = {}

    def lead(group: int) -> int:
        while group in leads:
            group = leads[group]
        return group

    for other in others:
        i, j = (lead(name[row]) for row in other.pair)
        if other.answer == "yes" and i != j:
            leads[i] = j
    i, j = (lead(name[row]) for row in likely.pair)
    separate = [*apart, *((name[o.pair[0]], name[o.pair[1]]) for o in others if o.answer == "no")]
    return i == j or any({lead(a), lead(b)} == {i, j} for a, b in separate)
