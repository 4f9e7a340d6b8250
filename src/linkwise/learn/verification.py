"""What to ask again when answers may be wrong: the pair that tells most about what is doubtful.

Three things can be doubtful: where the rows belong that were asked about last, whether two clusters are one,
and whether a cluster is two. Each is asked about through other rows than before, the closest first, because
an answer about the same rows again would be wrong for the same reason. While answers are about few rows,
there may be no others: then a row nearby, which nobody was asked about, is the witness of a doubtful one.
A witness costs a question, and it saves the rows that a wrong answer would misplace, so there must be enough
rows about which nothing is known yet.

A question about clusters delays the learner's next one, so it waits while the learner's is expected to move
more rows (`expect_moves`). Otherwise a hundred given pairs, which leave many clusters a little doubtful, keep
the learner from asking at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.belief import Belief, Nearness
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.fallible import FallibleEvidence

LIKELY = 0.15  # chance from which a relation is worth a question
PLACED_FROM = 0.85  # chance from which a row has its place
# A cut of n rows is asked about from max(LIKELY min(1, LARGE / (error rate n)), LEAST_WORTH).
LARGE, LEAST_WORTH = 0.3, 0.03
FEW = 6  # rows that answers are about, up to which others are witnesses
ENOUGH = 28  # rows about which nothing is known, from which a witness saves more rows than it costs

Nodes = NDArray[np.int64]
Mask = NDArray[np.bool_]

CHECK = "Please check: "  # begins the reason of a question that checks earlier answers
CHECK_ROW = f"{CHECK}earlier answers do not yet tell where row A belongs."
CHECK_WITNESS = f"{CHECK}row A is close to a row that is still hard to place."
CHECK_CLUSTER = f"{CHECK}an earlier answer about these two groups of rows may be wrong."


class _Doubt(NamedTuple):
    """Two sets of nodes that are believed to be one cluster, or to be in two clusters."""

    chance: float
    """That this is wrong."""
    order: float
    """Larger ones are asked about first."""
    one: Nodes
    other: Nodes


def expect_moves(evidence: Evidence) -> float:
    """Expect how many rows the next answer moves, for a learner that does not estimate it.

    After q answers to questions that is n / (q + 1) of n rows, as if each question placed an equal share
    of the rows.
    """
    return evidence.n_rows / (evidence.n_questions + 1)


def choose_check(
    evidence: FallibleEvidence,
    rows: tuple[int, ...],
    nearness: Nearness,
    askable: Mask | None,
    next_moves: Callable[[], float] | None = None,
) -> tuple[int, int, str] | None:
    """Choose the pair of rows to ask about, and say why; None if no answer is doubtful.

    `rows` are those that the last question named for the first time. ``next_moves()`` returns how many
    rows the answer to the learner's next question is expected to move; by default there is no next
    question.
    """
    belief = evidence.belief
    if len(belief.rows) < 2:
        return None
    pairs = _Pairs(evidence, nearness, askable)
    for row in rows:
        for node in np.flatnonzero(belief.rows == row).tolist():
            check = _check_place(belief, node, pairs)
            if check is not None:
                return check
    doubts = [*_doubtful_joins(belief), *_doubtful_cuts(belief)]
    if doubts and next_moves is not None:
        least = next_moves()
        doubts = [doubt for doubt in doubts if _expect_moves_of_check(doubt, evidence) >= least]
    for doubt in sorted(doubts, key=lambda doubt: -round(doubt.order, 9)):
        pair = pairs.closest(doubt.one, doubt.other)
        if pair is not None:
            return *pair, CHECK_CLUSTER
    return None


class _Pairs:
    """The pairs that can be asked about."""

    def __init__(self, evidence: FallibleEvidence, nearness: Nearness, askable: Mask | None) -> None:
        self._evidence, self._belief, self._askable = evidence, evidence.belief, askable
        self._kernel, self._witnesses = nearness.similarity(self._belief.rows), nearness.witnesses

    def closest(self, one: Nodes, other: Nodes) -> tuple[int, int] | None:
        """The closest rows of two sets that nobody has compared, those of a sure place first."""
        rows, sure = self._belief.rows, self._belief.certainty**2
        worth = (self._kernel[np.ix_(one, other)] * np.multiply.outer(sure[one], sure[other])).round(6)
        for at in np.argsort(-worth, axis=None, kind="stable").tolist():
            a, b = int(rows[one[at // len(other)]]), int(rows[other[at % len(other)]])
            if self._are_askable(a, b) and not self._evidence.is_settled(a, b):
                return a, b
        return None

    def through_witness(self, node: int, others: Nodes) -> tuple[int, int] | None:
        """A row close to a node, which nobody was asked about, and the node's closest row of the others."""
        rows = self._belief.rows
        n_open = self._evidence.n_rows - len(self._evidence.groups().row)
        if self._witnesses is None or len(others) == 0 or n_open < ENOUGH:
            return None
        other = int(rows[others[self._kernel[node, others].round(6).argmax()]])
        for witness in self._witnesses(int(rows[node])).tolist():
            is_new = not (rows == witness).any() and not self._evidence.is_settled(witness, other)
            if is_new and self._are_askable(witness, other):
                return witness, other
        return None

    def _are_askable(self, first: int, second: int) -> bool:
        return self._askable is None or bool(self._askable[first] and self._askable[second])


def _check_place(belief: Belief, node: int, pairs: _Pairs) -> tuple[int, int, str] | None:
    """Choose rows to compare, and say why; None if the place of the node is certain enough."""
    chance, own = belief.careful[node, :-1].copy(), belief.label == belief.label[node]
    if own.sum() == 1:
        chance[belief.label[node]] = -1
    best = int(chance.round(9).argmax())
    members = belief.label == best
    net = belief.net[node, members].sum()
    if chance[best] < LIKELY or (chance[best] >= PLACED_FROM and net > 0):
        return None
    members[node] = False
    others = np.flatnonzero(members)
    pair = pairs.closest(np.array([node]), others)
    if pair is not None:
        return *pair, CHECK_ROW
    if chance[best] < PLACED_FROM and len(belief.rows) <= FEW:
        pair = pairs.through_witness(node, others)
    return None if pair is None else (*pair, CHECK_WITNESS)


def _expect_moves_of_check(doubt: _Doubt, evidence: FallibleEvidence) -> float:
    """Expect how many rows move if a doubt is resolved: p m n / N.

    p is the chance that the belief is wrong, and m the number of nodes of the smaller set. Each of the N
    nodes stands for n / N of all n rows.
    """
    n_moved = min(len(doubt.one), len(doubt.other))
    return doubt.chance * n_moved * evidence.n_rows / len(evidence.belief.rows)


def _doubtful_joins(belief: Belief) -> list[_Doubt]:
    """Clusters between which there is an answer, and which are one with some probability."""
    member = np.equal.outer(belief.label, np.arange(belief.n_clusters)).astype(np.float64)
    is_asked = member.T @ np.abs(belief.net) @ member > 0
    chance = np.where(is_asked, np.maximum(belief.together, belief.together.T), 0)
    found = []
    for a, b in np.argwhere(np.triu(chance, 1) >= LIKELY).tolist():
        clusters = np.flatnonzero(belief.label == a), np.flatnonzero(belief.label == b)
        found.append(_Doubt(float(chance[a, b]), float(chance[a, b]), *clusters))
    return found


def _doubtful_cuts(belief: Belief) -> list[_Doubt]:
    """Clusters that are two with some probability; many rows are worth a question earlier than few."""
    found = []
    for cut in belief.cuts:
        chance = float(1 / (1 + np.exp(cut.careful)))
        least = max(LIKELY * min(1, LARGE / (belief.assumed_rate * len(cut.side))), LEAST_WORTH)
        if chance >= least:
            found.append(_Doubt(chance, chance * LIKELY / least, cut.side, cut.rest))
    return found
