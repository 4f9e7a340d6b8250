"""What is believed when answers may be wrong: a partition of the rows that answers are about.

The facts stay as they came. The belief is a partition of the rows that they name, and it breaks the answers
that are probably wrong. `linkwise.constraints.belief_search` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from linkwise.constraints.error_rates import FIRST_RIGHT, FIRST_WRONG
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.sorting import SortedRows

Rows = NDArray[np.int64]
Table = NDArray[np.float64]

LEAST_ASSUMED = 0.03  # rate: whoever trusts answers more never finds the wrong ones
CAUTION = 0.4  # deviations of the rate that are added where it is decided whether to ask again
HIGHEST_CAREFUL = 0.35
MET, PLACED = 0.4, 0.5  # shares of the expected clusters that are reached, or have rows: regression counts
N_WITNESSES = 5  # rows that may stand in for another one


@dataclass(frozen=True, eq=False)
class Nearness:
    """What the rows say about who belongs together.

    Attributes
    ----------
    similarity : callable
        ``similarity(rows)``: the kernel between some rows, of shape (n, n) with ones on its diagonal.
    power, unknown : float
        g and f0 of the formula in `linkwise.constraints.belief_search`.
    doubt : float
        Share of the chances that is given to all clusters alike: 1 where the rows say nothing.
    chances : callable, optional
        ``chances(rows)``: how likely rows belong together before any answer, an array of shape (n, n). They
        count while the answers have reached few of the expected clusters: regression takes a row for one of
        the clusters that it knows.
    n_expected : float
        The number of clusters that are expected.
    witnesses : callable, optional
        ``witnesses(row)``: other rows that probably belong with a row, the closest first. While answers are
        about few rows, they are asked about in its place.
    key : bytes
        A name for all of this but `witnesses`, if there is one: what has the same name says the same.
    """

    similarity: Callable[[Rows], Table]
    power: float = 1.6
    unknown: float = 0.08
    doubt: float = 0.05
    chances: Callable[[Rows], Table] | None = None
    n_expected: float = 1.0
    witnesses: Callable[[int], Rows] | None = None
    key: bytes = b""


def know_nothing(rows: Rows) -> Table:
    """Return a similarity that says nothing: each row is similar to itself alone."""
    return np.eye(len(rows))


def measure_nearness(X: NDArray[np.float64]) -> Nearness:
    """What distances say: a Gaussian kernel whose width is half the median distance."""

    def similarity(rows: Rows) -> Table:
        some = np.asarray(X[rows], dtype=np.float64)
        squares = cdist(some, some, "sqeuclidean")  # no (n, n, d) array
        median = np.median(squares[squares > 0]) if (squares > 0).any() else 1.0
        return np.asarray(np.exp(-squares / (2 * 0.25 * median)))

    def witnesses(row: int) -> Rows:
        squares = np.square(np.asarray(X, dtype=np.float64) - X[row]).sum(axis=1)
        order = np.argsort(squares, kind="stable")[: N_WITNESSES + 1]
        return np.asarray(order[order != row][:N_WITNESSES])

    return Nearness(similarity, doubt=0.3, witnesses=witnesses, key=b"distances")


class PileAnswers(NamedTuple):
    """Which answers follow from piles into which somebody has sorted rows."""

    is_single: NDArray[np.bool_]
    """Which do not."""
    is_least: NDArray[np.bool_]
    """Which do not, or are in the least set from which the others follow."""
    sortings: tuple[SortedRows, ...]
    """The rows of each answer that sorted several."""


class Answers(NamedTuple):
    """Yes and no answers about rows, in the order in which they came."""

    first: Rows
    second: Rows
    is_yes: NDArray[np.bool_]
    weight: Table | None = None
    """Log odds that each is right, over those of the assumed rate: 1 by default, 0 for a certain answer."""
    share: Table | None = None
    """Log odds that each is right, over those that its source has: 1 by default."""
    of_piles: PileAnswers | None = None
    """Those that follow from piles; None: there are none."""


class Cut(NamedTuple):
    """A cluster that may be two."""

    chance: float
    """Log odds that both sides are one."""
    careful: float
    """The same, if more answers are wrong than expected."""
    side: Rows
    """Nodes of the smaller side."""
    rest: Rows


@dataclass(frozen=True, eq=False)
class Belief:
    """A partition of the rows that answers name.

    `rows` are in the order in which answers named them ("nodes" are positions here), and `label` is the
    cluster of each. `certainty` is the posterior probability of its place, given the places of the
    others; 1 for a row that is alone. `posterior`, of shape (n, n_clusters + 1), is that of each place;
    the last one is a cluster of its own. `careful` is the same, if more answers are wrong than expected.
    `together` tells how likely two clusters are one. `cuts` are clusters that may be two, the most
    doubtful first. `net`, of shape (n, n), are the log odds that the answers give to two nodes being
    together. `error_rate` and `deviation` are the estimated share of wrong answers, and how certain that
    is.
    """

    rows: Rows
    label: Rows
    certainty: Table
    posterior: Table
    together: Table
    cuts: tuple[Cut, ...]
    careful: Table
    net: Table
    error_rate: float
    deviation: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the rows that answers name."""
        return int(self.label.max(initial=-1)) + 1

    @property
    def assumed_rate(self) -> float:
        """The rate that the search assumes: at least `LEAST_ASSUMED`, if the rate is an estimate."""
        return self.error_rate if self.deviation == 0 else max(self.error_rate, LEAST_ASSUMED)

    @property
    def careful_rate(self) -> float:
        """The rate that is assumed where it is decided whether to ask again."""
        careful = self.assumed_rate + CAUTION * self.deviation
        return min(careful, max(HIGHEST_CAREFUL, self.error_rate))

    def are_together(self, first: Rows, second: Rows) -> NDArray[np.bool_]:
        """(n,) whether pairs of rows that answers name are believed to belong together."""
        place = np.empty(int(self.rows.max(initial=-1)) + 1, dtype=np.int64)
        place[self.rows] = self.label
        return np.asarray(place[first] == place[second])

    def chance_of_error(self, first: int, second: int, answer: str) -> float:
        """How likely an answer is wrong."""
        one, other = (int(np.flatnonzero(self.rows == row)[0]) for row in (first, second))
        same = (self._chance_with(one, other) + self._chance_with(other, one)) / 2
        return 1 - same if answer == "yes" else same

    def _chance_with(self, one: int, other: int) -> float:
        """How likely a node is in the cluster of another one."""
        return float(self.posterior[one, self.label[other]])


def begin_belief(error_rate: float | None = None) -> Belief:
    """The belief before any answer."""
    rate = FIRST_WRONG / (FIRST_WRONG + FIRST_RIGHT) if error_rate is None else max(error_rate, 0.001)
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Belief(
        none,
        none,
        nothing,
        np.zeros((0, 1)),
        np.zeros((0, 0)),
        (),
        np.zeros((0, 1)),
        np.zeros((0, 0)),
        rate,
        0.0,
    )


def knows_enough_clusters(n_clusters: int, n_placed: float, n_expected: float) -> bool:
    """Whether answers have reached so many of the expected clusters that regression counts.

    `n_placed` rows or items have a place in one of them.
    """
    n_reached = min(n_clusters, n_placed)
    return n_clusters > 1 and (n_reached >= MET * n_expected or n_placed >= PLACED * n_expected)


def log_odds(rate: float) -> float:
    """The log odds that an answer is right."""
    return float(np.log((1 - rate) / rate))


# ---------------------------------------------------------------- what the answers say by themselves
# Which answers other answers contradict, and what rate of wrong answers that allows.
#
# An answer is tested if a verdict on its rows follows from the answers before it, and is wrong if that
# verdict differs. Whatever the rows say, only such contradictions show that people err.
ALLOWANCE = 1.0  # deviations by which the rate may exceed what contradictions among the answers show


class Given(NamedTuple):
    """A yes or no about two rows.

    Those that come from one look at a row, one after the other, have the same `look`; others have none.
    """

    first: int
    second: int
    is_yes: bool
    is_certain: bool
    look: tuple[int, int] | None = None


class Contradictions(NamedTuple):
    """How many answers others test, and how many of these are wrong."""

    n_tested: int
    n_wrong: int


def count_contradictions(n_rows: int, answers: Iterable[Given]) -> Contradictions:
    """Count the answers on whose rows others have a verdict, and those that contradict it.

    Certain answers count as the first ones, and are not tested themselves. Answers of one look are one.
    """
    known, n_tested, n_wrong = Evidence(n_rows), 0, 0
    in_order, number = sorted(answers, key=lambda answer: not answer.is_certain), count()
    for _, look in groupby(in_order, key=lambda answer: answer.look or next(number)):
        is_tested = is_wrong = False
        for first, second, is_yes, is_certain, _ in look:
            verdict = known.verdict(first, second)
            if verdict is None and not is_wrong:
                known.add(first, second, "yes" if is_yes else "no")
            elif verdict is not None and not is_certain:
                is_tested, is_wrong = True, is_wrong or (verdict == "yes") != is_yes
        n_tested, n_wrong = n_tested + is_tested, n_wrong + is_wrong
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
