"""The far rate: how often two clusters that look different are one all the same.

A class may consist of several groups that are far apart. No similarity tells that two such groups are one.
But the answers about such pairs tell how often that happens: this is the far rate ρ. What is known of it is a
distribution on a grid of rates, a beta prior times the likelihood of the answers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise.active.kin.kernels import Table

FAR = 0.15  # chance by the regression below which a row looks different from a cluster
RATES = np.array(
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.65]
)
MEAN, STRENGTH = 0.1, 2.0  # of the prior
WIDTH = np.gradient(np.log(RATES))


class FarRate(NamedTuple):
    """What the answers so far say about each rate of the grid."""

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
        a, b = STRENGTH * MEAN, STRENGTH * (1 - MEAN)
        log = self.told + a * np.log(RATES) + (b - 1) * np.log1p(-RATES) + np.log(WIDTH)
        weight = np.exp(log - log.max())
        return np.asarray(weight / weight.sum())

    def mean(self) -> float:
        """The expected rate."""
        return float(self.weights() @ RATES)
