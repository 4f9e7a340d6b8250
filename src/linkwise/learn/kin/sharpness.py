"""Calibrate the chances of neighbourhoods by the answers about the places of items.

The regression scores F_c of an item are not probabilities: they are shrunken, and they say little about an
item of a class that has not been met. Its chance to belong to neighbourhood c is

    P(c | x) = F_c^g / (sum of F^g + f0^g),

and the rest is the chance that it belongs to none. g sharpens the shares, and f0 is the score of the unknown.
Both are chosen from a grid, as those that are likeliest given all answers about places. Each answer is judged
given the neighbourhoods that earlier answers had ruled out. Older answers count less, because the scores get
better.
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
