"""Replies of programs: answers, probabilities, and no answer at all."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from linkwise.asking.learner import check_answer
from linkwise.constraints.evidence import Answer
from linkwise.errors import short_repr

MOST_COST = 1e300
LEAST_UNSURE, MOST_UNSURE = 0.3, 0.7  # probabilities strictly between these are no answer


@dataclass(frozen=True, slots=True)
class ProgramReply:
    """The reply of a program to one question.

    Attributes
    ----------
    answer : {"yes", "no", "unsure"}, bool, float or None
        A float is the probability that the two rows belong together. None: the program gives no answer.
    cost : float, default=0.0
        What the reply has cost, in any unit.
    reason : str, default=""
        Why the program answers so: the note of the answer, at most 2000 characters of it.
    """

    answer: object
    cost: float = 0.0
    reason: str = ""


class UnusableReplyError(ValueError):
    """A reply that is not an answer.

    Attributes
    ----------
    cost : float
        What the reply has cost.
    """

    def __init__(self, message: str, cost: float = 0.0) -> None:
        super().__init__(message)
        self.cost = cost


def check_reply(reply: object, first: int, second: int) -> tuple[Answer | None, float, str]:
    """Return the answer of a reply, or None if there is none, its cost and its reason."""
    if not isinstance(reply, ProgramReply):
        reply = ProgramReply(reply)
    cost = check_cost(reply.cost)
    given = reply.answer
    if given is None:
        return None, cost, reply.reason
    if isinstance(given, (float, np.floating)):
        return answer_of_probability(float(given), cost), cost, reply.reason
    try:
        return check_answer(given, first, second), cost, reply.reason
    except TypeError as error:
        raise UnusableReplyError(str(error), cost) from None


def answer_of_probability(probability: float, cost: float = 0.0) -> Answer:
    """Convert the probability that two rows belong together to an answer; near 0.5 it is ``"unsure"``."""
    if not 0 <= probability <= 1:
        raise UnusableReplyError(
            f"The probability is out of range: {probability}. Give a number from 0 to 1.", cost
        )
    if LEAST_UNSURE < probability < MOST_UNSURE:
        return "unsure"
    return "yes" if probability >= MOST_UNSURE else "no"


def check_cost(cost: object) -> float:
    """Return a cost as a number that is finite and not negative."""
    if isinstance(cost, bool) or not isinstance(cost, Real) or cost < 0 or not cost <= MOST_COST:
        raise UnusableReplyError(f"The cost is not a number from 0 on: {short_repr(cost)}.")
    return float(cost)
