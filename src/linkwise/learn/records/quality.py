"""Estimate precision and recall of a clustering of records from questions that were drawn at random.

The model says how likely each pair of records matches, and the sum of these chances is the expected number
of matches. A share of the questions is drawn at random, each pair with a known chance, so their answers show
by how much such a sum is wrong: the mean of (answer - expected) / chance of being drawn is an unbiased
estimate of the difference (Horvitz and Thompson, 1952, A generalization of sampling without replacement from
a finite universe, JASA). It is added, and its standard error gives the interval. A few draws as expected do
not show that there is nothing else. Therefore one more draw inside of groups that is wrong is added to the
interval, and of the matches that are expected outside a share that falls with the root of the draws there.
The expected answer is that of the present model, which has not seen the answer itself. Whether a pair was
inside of a group is taken from the time when it was drawn, since its answer has changed the groups. Only the
last draws count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LAST_DRAWS = 40
DEVIATIONS = 1.645  # of an interval that has the true value in nine of ten cases


class RandomPair(NamedTuple):
    """A pair that was drawn at random.

    `first` and `second` are its rows, `drawn` is the chance with which it was drawn, `is_inside` tells
    whether both were in one group then, and `is_yes` what was answered.
    """

    first: int
    second: int
    drawn: float
    is_inside: bool
    is_yes: bool = False


class Share(NamedTuple):
    """An estimated share, and an interval that probably has the true one."""

    value: float
    low: float
    high: float


class Quality(NamedTuple):
    """What share of the pairs inside of groups match, and what share of the matches are inside of groups."""

    precision: Share
    recall: Share

    @property
    def wrong(self) -> float:
        """The share of pairs that are wrong: 1 less the harmonic mean of precision and recall."""
        return 1 - _mean_harmonic(self.precision.value, self.recall.value)

    @property
    def most_wrong(self) -> float:
        """The same by the lower ends of both intervals."""
        return 1 - _mean_harmonic(self.precision.low, self.recall.low)


def estimate_quality(
    n_inside: int,
    matches_inside: float,
    matches_outside: float,
    draws: Sequence[RandomPair],
    expected: NDArray[np.float64],
    answered: NDArray[np.float64],
) -> Quality:
    """Estimate precision and recall.

    Parameters
    ----------
    n_inside : int
        Number of pairs of records in one group.
    matches_inside, matches_outside : float
        Matches that the model expects among them, and among other pairs.
    draws : sequence of RandomPair
        The pairs that were drawn at random, in the order of their answers.
    expected : ndarray of float64, shape (n_draws,)
        The chance of a match of each by the model, without its answer.
    answered : ndarray of float64, shape (n_draws,)
        The same by its answer: 1 or 0 where answers are right.

    Returns
    -------
    Quality
        Both shares, 1 where nothing is inside, or nothing matches.
    """
    last = draws[-LAST_DRAWS:]
    drawn = np.array([draw.drawn for draw in last])
    residual = (answered - expected)[-LAST_DRAWS:] / drawn
    is_inside = np.array([draw.is_inside for draw in last], dtype=bool)
    shift_inside, error_inside = _mean_with_error(np.where(is_inside, residual, 0.0))
    shift_outside, error_outside = _mean_with_error(np.where(is_inside, 0.0, residual))
    error_inside = float(np.hypot(error_inside, n_inside / max(int(is_inside.sum()), 1)))
    error_outside = float(np.hypot(error_outside, matches_outside / np.sqrt(1 + (~is_inside).sum())))
    inside = float(np.clip(matches_inside + shift_inside, 0, n_inside))
    outside = max(matches_outside + shift_outside, 0.0)
    precision = _make_share(inside, error_inside, n_inside)
    total = inside + outside
    # recall is a / (a + b), whose derivatives are b / (a + b)² and -a / (a + b)²
    error = float(np.hypot(outside * error_inside, inside * error_outside)) / max(total, 1e-9)
    return Quality(precision, _make_share(inside, error, total))


def _mean_harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other > 0 else 0.0


def _mean_with_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and its standard error; the latter is infinite where there are fewer than two values."""
    if len(values) < 2:
        return (float(values.mean()) if len(values) else 0.0), np.inf
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _make_share(part: float, error: float, whole: float) -> Share:
    if whole <= 0:
        return Share(1.0, 0.0, 1.0)
    value, spread = part / whole, DEVIATIONS * error / whole
    return Share(value, max(value - spread, 0.0), min(value + spread, 1.0))
