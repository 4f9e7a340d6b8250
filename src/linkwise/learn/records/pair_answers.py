"""What the answers say about pairs of records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.learn.records.pairs import Pairs, find_pairs


class PairAnswers(NamedTuple):
    """Answers about pairs: the two rows, whether it is "yes", and how likely the pair matches by all answers.

    Each has shape (n_answers,); the lower row is `first`.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    is_yes: NDArray[np.bool_]
    match: NDArray[np.float64]


def read_answers(evidence: Evidence) -> PairAnswers:
    """Read the answers that say something, and what is believed of each."""
    facts = [fact for fact in evidence if fact.answer != "unsure"]
    ends = np.sort(np.array([fact.pair for fact in facts], dtype=np.int64).reshape(-1, 2), axis=1)
    is_yes = np.array([fact.answer == "yes" for fact in facts], dtype=bool)
    return PairAnswers(ends[:, 0], ends[:, 1], is_yes, _believe(evidence, facts))


def _believe(evidence: Evidence, facts: Sequence[Fact]) -> NDArray[np.float64]:
    """How likely the pair of each fact matches; certain facts are 0 or 1."""
    said = np.array([fact.answer == "yes" for fact in facts], dtype=np.float64)
    if not isinstance(evidence, FallibleEvidence):
        return said
    belief = evidence.belief
    known = set(belief.rows.tolist())
    wrong = [
        belief.chance_of_error(*fact.pair, fact.answer) if known.issuperset(fact.pair) else 0.0
        for fact in facts
    ]
    match: NDArray[np.float64] = np.abs(said - np.array(wrong))
    return match


def weigh_answers(pairs: Pairs, answers: PairAnswers, certainty: float) -> NDArray[np.float64]:
    """Add what the answers about each pair say, in log-odds."""
    at = find_pairs(pairs, answers.first, answers.second)
    said = np.where(answers.is_yes, certainty, -certainty)
    added = np.bincount(at, said, minlength=len(pairs.first))
    return added.astype(np.float64)  # without answers they are integers
