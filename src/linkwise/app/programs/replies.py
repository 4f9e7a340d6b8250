"""Replies of programs: answers, probabilities, and no answer at all."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np

from linkwise.constraints.facts import Answer, check_answer
from linkwise.errors import short_repr

MOST_COST = 1e300
CERTAIN_MARGIN = 0.2  # from 0.5; a probability that is closer is no answer of a program that is never wrong
MARGIN = 0.05  # the same for a program that may be wrong: such an answer would hardly count


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
    """A reply that is not an answer, and what it has cost.

    `delay` is how many seconds to wait at least before the question is asked again. With `is_final` it is not
    asked again, because the reply would be the same.
    """

    def __init__(
        self, message: str, cost: float = 0.0, *, delay: float = 0.0, is_final: bool = False
    ) -> None:
        super().__init__(message)
        self.cost, self.delay, self.is_final = cost, delay, is_final


class Judgement(NamedTuple):
    """What a reply says about a pair.

    `answer` is None if the program gives none. `reliability` is the probability that it is right; None if
    the reply has no probability.
    """

    answer: Answer | None
    reliability: float | None
    cost: float
    reason: str


def check_reply(reply: object, first: int, second: int, *, is_certain: bool = False) -> Judgement:
    """Read a reply; `is_certain` says whether the session takes all answers of the program as right."""
    if not isinstance(reply, ProgramReply):
        reply = ProgramReply(reply)
    cost = check_cost(reply.cost)
    given = reply.answer
    if given is None:
        return Judgement(None, None, cost, reply.reason)
    if isinstance(given, (float, np.floating)):
        answer, reliability = judge_probability(float(given), cost, is_certain=is_certain)
        return Judgement(answer, reliability, cost, reply.reason)
    try:
        return Judgement(check_answer(given, first, second), None, cost, reply.reason)
    except TypeError as error:
        raise UnusableReplyError(str(error), cost) from None


def judge_probability(
    probability: float, cost: float = 0.0, *, is_certain: bool = False
) -> tuple[Answer, float | None]:
    """Convert the probability that two rows belong together to an answer and its reliability.

    Near 0.5 it is ``"unsure"``: within `CERTAIN_MARGIN` where the answer would count as right whatever its
    reliability, and within `MARGIN` elsewhere.
    """
    if not 0 <= probability <= 1:
        raise UnusableReplyError(
            f"The probability is out of range: {probability}. Pass a number from 0 to 1.", cost
        )
    least = 0.5 + (CERTAIN_MARGIN if is_certain else MARGIN)
    if probability >= least:
        return "yes", probability
    if 1 - probability >= least:
        return "no", 1 - probability
    return "unsure", None


def check_cost(cost: object) -> float:
    """Return a cost as a number that is finite and not negative."""
    if isinstance(cost, bool) or not isinstance(cost, Real) or cost < 0 or not cost <= MOST_COST:
        raise UnusableReplyError(f"The cost is not a number from 0 on: {short_repr(cost)}.")
    return float(cost)
