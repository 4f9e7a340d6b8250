"""Which answers other answers contradict, and what rate of wrong answers that allows.

An answer is tested if a verdict on its rows follows from the answers before it, and is wrong if that verdict
differs. Whatever the rows say, only such contradictions show that people err.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from linkwise.constraints.belief import Answers
from linkwise.constraints.error_rates import FIRST_RIGHT, FIRST_WRONG
from linkwise.constraints.evidence import Evidence

ALLOWANCE = 1.0  # deviations by which the rate may exceed what contradictions among the answers show


class Given(NamedTuple):
    """A yes or no about two rows."""

    first: int
    second: int
    is_yes: bool
    is_certain: bool


class Contradictions(NamedTuple):
    """How many answers others test, and how many of these are wrong."""

    n_tested: int
    n_wrong: int


def count_contradictions(n_rows: int, answers: Iterable[Given]) -> Contradictions:
    """Count the answers on whose rows others have a verdict, and those that contradict it.

    Certain answers count as the first ones, and are not tested themselves.
    """
    known, n_tested, n_wrong = Evidence(n_rows), 0, 0
    for first, second, is_yes, is_certain in sorted(answers, key=lambda answer: not answer.is_certain):
        verdict = known.verdict(first, second)
        if verdict is None:
            known.add(first, second, "yes" if is_yes else "no")
        elif not is_certain:
            n_tested += 1
            n_wrong += (verdict == "yes") != is_yes
    return Contradictions(n_tested, n_wrong)


def limit_rate(answers: Answers) -> float:
    """Return the highest rate of wrong answers that the answers themselves allow, whatever the rows say.

    If the similarity of the rows misleads, a belief can break many right answers, and the more it breaks,
    the less it trusts the others. The result is the mean of the posterior of the rate, and `ALLOWANCE`
    times its deviation.
    """
    n_rows = 1 + max(answers.first.max(initial=0), answers.second.max(initial=0))
    is_certain = np.zeros(len(answers.first), bool) if answers.weight is None else answers.weight == 0
    given = zip(*(part.tolist() for part in (*answers[:3], is_certain)), strict=True)
    n_tested, n_wrong = count_contradictions(n_rows, (Given(*each) for each in given))
    wrong, right = FIRST_WRONG + n_wrong, FIRST_RIGHT + n_tested - n_wrong
    total = wrong + right
    return float((wrong + ALLOWANCE * np.sqrt(wrong * right / (total + 1))) / total)
