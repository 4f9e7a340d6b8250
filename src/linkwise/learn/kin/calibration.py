"""What answers teach beside the kernel: how sharp chances are, and how often similarity misleads.

The regression scores F_c of an item are not probabilities: they are shrunken, and they say little about an
item of a class that has not been met. Its chance to belong to neighbourhood c is

    P(c | x) = F_c^g / (sum of F^g + f0^g),

and the rest is the chance that it belongs to none. g sharpens the shares, and f0 is the score of the unknown.
Both are chosen from a grid, as those that are likeliest given all answers about places. Each answer is judged
given the neighbourhoods that earlier answers had ruled out. Older answers count less, because the scores get
better.

The far rate ρ tells how often two clusters that look different are one all the same. A class may consist of
several groups that are far apart. No similarity tells that two such groups are one, but the answers about
such pairs tell how often that happens. The exception rate σ tells how often a row belongs anywhere, whatever
the rows like it. If σ is large, the answers have little to do with the columns that are compared. Each rate
has a posterior on a grid: a beta prior, cut off below the least rate of the grid, times the likelihood of the
answers.

Where a "no" leaves one neighbourhood that is likely, the item is assumed to be there, and no question is
spent on it. Some of these items are asked about all the same. These checks tell how often an assumption is
wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.learn.kin.kernels import Rows, Table

POWERS = np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.0])  # g
UNKNOWN = np.array([0.01, 0.02, 0.04, 0.08, 0.15, 0.3])  # f0
POWER_PRIOR = (1.6, 0.4)  # mean and deviation of g
UNKNOWN_PRIOR = (np.log(0.08), 1.0)  # of log f0
DECAY = 0.97  # weight of an answer, relative to the next one
SURE = 0.995  # no answer is more likely than this
LEAST = 1e-6  # score

RATES = np.array([0.5, 1, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 950]) / 1000
WIDTH = np.gradient(np.log(RATES))
FAR = 0.15  # chance by the regression below which a row looks different from a cluster
FAR_PRIOR, EXCEPTION_PRIOR = (0.2, 1.8), (0.03, 0.97)  # of beta distributions; their means are 0.13 and 0.15
TINY = 1e-12

LEFT = 0.8  # chance of the best neighbourhood that is left from which an item is assumed to be there
CHECK_PRIOR = (1.0, 5.0)  # of the beta distribution of how often an assumption is wrong
MOST_WRONG = 0.1  # expected share of wrong assumptions up to which KIN assumes
FOR_EACH_CHECK = 3  # so many items are assumed at most


# ---------------------------------------------------------------- chances
class Sharpness(NamedTuple):
    """The two numbers of the module's formula."""

    power: float
    unknown: float


class PlaceAnswer(NamedTuple):
    """An answer about the place of an item."""

    score: Table
    """(k,) the item's score of each neighbourhood when it was asked about."""
    asked: int
    """The neighbourhood in question."""
    open: Rows
    """Neighbourhoods that earlier answers had not ruled out."""
    is_yes: bool


class Calibration(NamedTuple):
    """What the answers so far say about every sharpness of the grid."""

    told: Table
    """(powers, unknowns) log-likelihood."""

    @classmethod
    def begin(cls) -> Calibration:
        """No answer yet."""
        return cls(np.zeros((len(POWERS), len(UNKNOWN))))

    def learn(self, answer: PlaceAnswer) -> Calibration:
        """The same after one more answer."""
        score, power = np.maximum(answer.score, LEAST), POWERS[:, None]
        total = (score[answer.open] ** power).sum(axis=1, keepdims=True) + UNKNOWN**power
        chance = np.clip(score[answer.asked] ** power / total, 1 - SURE, SURE)
        return Calibration(self.told * DECAY + np.log(chance if answer.is_yes else 1 - chance))

    def best(self) -> Sharpness:
        """The sharpness that predicts the answers best."""
        prior = ((POWERS[:, None] - POWER_PRIOR[0]) / POWER_PRIOR[1]) ** 2
        prior = prior + ((np.log(UNKNOWN) - UNKNOWN_PRIOR[0]) / UNKNOWN_PRIOR[1]) ** 2
        best = int((self.told - prior / 2).round(9).argmax())
        return Sharpness(float(POWERS[best // len(UNKNOWN)]), float(UNKNOWN[best % len(UNKNOWN)]))


def share_chances(score: Table, sharpness: Sharpness) -> tuple[Table, NDArray[np.float64]]:
    """Compute the chances of each neighbourhood, (n, k), and of none of them, (n,)."""
    n_times, n_quarters = divmod(round(4 * sharpness.power), 4)
    rest = sharpness.unknown**sharpness.power
    return native.share_scores(np.ascontiguousarray(score), n_times, n_quarters, rest, parallel.n_threads())


def raise_table(table: Table, power: float) -> Table:
    """Raise a table to a power, in place. Square roots and products are much quicker than powers."""
    n_quarters, n_times = round(4 * power % 4), int(power)
    if 4 * power % 4 != n_quarters or not 1 <= n_times <= 3 or n_quarters == 3:
        return np.power(table, power, out=table)
    root = np.sqrt(table) if n_quarters else None
    if root is not None and n_quarters == 1:
        np.sqrt(root, out=root)
    if n_times == 3:
        table *= np.square(table)
    elif n_times == 2:
        np.square(table, out=table)
    if root is not None:
        table *= root
    return table


# ---------------------------------------------------------------- rates
class FarRate(NamedTuple):
    """What the answers so far say about the far rate."""

    told: Table
    """(rates,) log-likelihood."""

    @classmethod
    def begin(cls) -> FarRate:
        """No answer yet."""
        return cls(np.zeros(len(RATES)))

    def learn(self, chance: float, *, is_yes: bool) -> FarRate:
        """The same after one more answer, which is "yes" with this chance even if the rate is 0."""
        if chance >= FAR:
            return self
        yes = RATES + (1 - RATES) * chance
        return FarRate(self.told + np.log(yes if is_yes else 1 - yes))

    def weights(self) -> Table:
        """(rates,) the probability of each rate."""
        return _weigh(self.told, FAR_PRIOR)

    def mean(self) -> float:
        """The expected rate."""
        return float(self.weights() @ RATES)


class Checks(NamedTuple):
    """How often items were asked about that could have been assumed, and were where KIN expected them."""

    n_right: int = 0
    n_wrong: int = 0

    def learn(self, *, is_right: bool) -> Checks:
        """The same after one more check."""
        return Checks(self.n_right + is_right, self.n_wrong + (not is_right))

    def error(self) -> float:
        """The expected share of assumptions that are wrong."""
        return (self.n_wrong + CHECK_PRIOR[0]) / (self.n_right + self.n_wrong + sum(CHECK_PRIOR))

    def allow(self, n_assumed: int) -> bool:
        """Whether one more item may be assumed, beside so many."""
        n_checks = self.n_right + self.n_wrong
        return self.error() <= MOST_WRONG and n_assumed < FOR_EACH_CHECK * n_checks


def weigh_exception_rates(predicted: Table, share: Table) -> Table:
    """(rates,) the probability of each exception rate.

    `predicted` tells how likely some rows belong to their neighbourhoods, by the other rows; `share`,
    that of rows in these neighbourhoods, is the chance of an exception to be there.
    """
    chance = np.multiply.outer(1 - RATES, predicted) + np.multiply.outer(RATES, share)
    told = np.log(np.maximum(chance, TINY)).sum(axis=1)
    return _weigh(told, EXCEPTION_PRIOR)


def _weigh(told: Table, prior: tuple[float, float]) -> Table:
    """(rates,) the posterior of a rate, given the log-likelihood of each."""
    a, b = prior
    log = told + a * np.log(RATES) + (b - 1) * np.log1p(-RATES) + np.log(WIDTH)
    weight = np.exp(log - log.max())
    return np.asarray(weight / weight.sum())
