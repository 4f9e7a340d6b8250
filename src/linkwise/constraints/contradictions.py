"""How many of the answers contradict each other, and what rate of wrong answers that allows."""

from __future__ import annotations

import numpy as np

from linkwise.constraints.belief import Answers
from linkwise.constraints.error_rates import FIRST_RIGHT, FIRST_WRONG
from linkwise.constraints.evidence import Evidence

ALLOWANCE = 1.0  # deviations by which the rate may exceed what contradictions among the answers show


def limit_rate(answers: Answers) -> float:
    """Return the highest rate of wrong answers that the answers themselves allow, whatever the rows say.

    Where the similarity of the rows has little to do with what a person means, a belief can break many right
    answers, and the more it breaks, the less it trusts the others. Only contradictions among the answers show
    that people err. An answer is tested if a verdict on its rows follows from the answers before it, and is
    wrong if that verdict differs. Certain answers come first, and are not tested.

    Parameters
    ----------
    answers : Answers

    Returns
    -------
    float
        The mean of the posterior of the rate, and `ALLOWANCE` times its deviation.
    """
    known = Evidence(1 + max(answers.first.max(initial=0), answers.second.max(initial=0)))
    is_certain = np.zeros(len(answers.first), bool) if answers.weight is None else answers.weight == 0
    order = np.argsort(~is_certain, kind="stable")
    n_tested = n_wrong = 0
    for first, second, is_yes, is_sure in zip(
        *(part[order].tolist() for part in (*answers[:3], is_certain)), strict=True
    ):
        verdict = known.verdict(first, second)
        if verdict is None:
            known.add(first, second, "yes" if is_yes else "no")
        elif not is_sure:
            n_tested += 1
            n_wrong += (verdict == "yes") != is_yes
    wrong, right = FIRST_WRONG + n_wrong, FIRST_RIGHT + n_tested - n_wrong
    total = wrong + right
    return float((wrong + ALLOWANCE * np.sqrt(wrong * right / (total + 1))) / total)
