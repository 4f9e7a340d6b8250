"""Two rates at which similarity misleads: the far rate, and the exception rate.

The far rate ρ tells how often two clusters that look different are one all the same. A class may consist of
several groups that are far apart. No similarity tells that two such groups are one, but the answers about
such pairs tell how often that happens.

The exception rate σ tells how often a row belongs anywhere, whatever the rows like it. If σ is large, the
answers have little to do with the columns that are compared.

Each rate has a posterior on a grid: a beta prior, cut off below the least rate of the grid, times the
likelihood of the answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise.learn.kin.kernels import Table

RATES = np.array([0.5, 1, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 950]) / 1000
WIDTH = np.gradient(np.log(RATES))
FAR = 0.15  # chance by the regression below which a row looks different from a cluster
FAR_PRIOR, EXCEPTION_PRIOR = (0.2, 1.8), (0.03, 0.97)  # of beta distributions; their means are 0.13 and 0.15
TINY = 1e-12


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


def weigh_exception_rates(predicted: Table, share: Table) -> Table:
    """(rates,) the probability of each exception rate.

    Parameters
    ----------
    predicted : ndarray of shape (m,)
        How likely some rows belong to their neighbourhoods, by the other rows.
    share : ndarray of shape (m,)
        The share of rows in these neighbourhoods, which is the chance of an exception to be there.
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
