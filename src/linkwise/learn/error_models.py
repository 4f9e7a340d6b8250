"""Distribute the errors of simulated answers over pairs, or over the answers in their order.

Each model gives the chance that the next answer about a pair is wrong. All but the adversary are scaled to
the same expected share of wrong answers, for random pairs of which half are yes and half are no. A yes pair
is two rows of one class, a no pair two rows of different classes; each pair of a kind is equally likely. If
y has no pair of one kind, all pairs are of the other kind. A row of an unknown class (code -1) is in no
pair. `linkwise.learn.border_errors` contains the model that compares distances.
"""

from __future__ import annotations

from collections import Counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.rng import rng_at

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

STREAK = 10  # answers in a streak
STREAK_CHANCE = 0.5  # of an error in a streak
PLACE = (0, 0, 1)  # in the draws of a seed; no pair of rows has it


class ErrorModel(Protocol):
    """How errors are distributed."""

    def chance(self, first: int, second: int) -> float:
        """Return the chance that the next answer is wrong; called once for each yes or no."""


class ClassErrors:
    """Errors between two classes.

    Pairs of one row of each have the same chance of an error. If `noise` is more than their share of all
    pairs, they are always wrong, and the remaining errors are spread evenly over all other pairs.
    """

    def __init__(self, codes: Codes, noise: float, confused: tuple[int, int]) -> None:
        counts, self._codes, self._confused = class_sizes(codes), codes, set(confused)
        share = counts[confused[0]] * counts[confused[1]] * _pair_weights(counts)[1]
        self._between = min(1.0, noise / share)
        self._elsewhere = _spread(noise, share * self._between, share)

    def chance(self, first: int, second: int) -> float:
        """Return the chance of an error, which depends on the classes of the pair."""
        classes = {int(self._codes[first]), int(self._codes[second])}
        return self._between if classes == self._confused else self._elsewhere


class RowErrors:
    """Errors at a few rows, each of which is seen as a row of one other class in all its answers.

    Rows are misjudged in random order until the share of wrong answers is reached; the last one is
    misjudged in a part of its answers, so that the share is exact. If misjudged rows cannot reach it, the
    remaining errors are spread evenly over the pairs that would be right.
    """

    def __init__(self, codes: Codes, noise: float, seed: int) -> None:
        counts, self._codes = class_sizes(codes), codes
        rng, k = rng_at(seed, *PLACE), len(counts)
        order = rng.permutation(np.flatnonzero(codes >= 0)) if k > 1 else np.empty(0, dtype=np.int64)
        seen_as = (codes[order] + rng.integers(1, k, len(order))) % k if k > 1 else order
        shares = _shares_of_misjudged(counts, codes[order].tolist(), seen_as.tolist(), noise)
        n_misjudged = int(np.argmax(shares))
        best = shares[n_misjudged]
        self._seen = codes.copy()
        self._seen[order[:n_misjudged]] = seen_as[:n_misjudged]
        self._last, self._part, self._elsewhere = -1, 1.0, 0.0
        if best < noise:
            self._elsewhere = _spread(noise, best, best)
        else:
            self._last = int(order[n_misjudged - 1])
            before = shares[n_misjudged - 1]
            self._part = (noise - before) / (best - before)

    def chance(self, first: int, second: int) -> float:
        """Return the chance of an error: 1 or 0, except for the last row and where errors are spread."""
        wrong = float(self._is_wrong(first, second, self._seen[first], self._seen[second]))
        if self._last in (first, second):
            seen = (self._codes[row] if row == self._last else self._seen[row] for row in (first, second))
            wrong = self._part * wrong + (1 - self._part) * self._is_wrong(first, second, *seen)
        return wrong + (1 - wrong) * self._elsewhere

    def _is_wrong(self, first: int, second: int, seen_first: int, seen_second: int) -> bool:
        return bool((seen_first == seen_second) != (self._codes[first] == self._codes[second]))


class StreakErrors:
    """Errors in streaks of `STREAK` answers, which return after equal intervals.

    In a streak an answer is wrong with the chance `STREAK_CHANCE`, or `noise` if that is more, and
    elsewhere never. The interval makes `noise` the chance of an error in any answer over all seeds: the
    first streak begins at random.
    """

    def __init__(self, noise: float, seed: int) -> None:
        self._chance = max(STREAK_CHANCE, noise)
        self._interval = STREAK * self._chance / noise
        self._start = rng_at(seed, *PLACE).random() * self._interval
        self._n_answers = 0

    def chance(self, first: int, second: int) -> float:
        """Return the chance of an error in the next answer, whatever its pair, and count the answer."""
        at = (self._start + self._n_answers) % self._interval
        self._n_answers += 1
        return self._chance if at < STREAK else 0.0


class AdversaryErrors:
    """Errors that do most harm: about large classes, as early as possible, and rather a false yes than a no.

    At most noise n of the first n answers, rounded up, are wrong. It is rounded up because the first
    answers matter most: if it were rounded down, the first errors would come after a learner has found
    the classes. A false yes joins two classes, so the last error that is allowed is reserved for one. The
    classes of a pair are large if the product of their sizes is at least half its mean over two different
    classes.
    """

    def __init__(self, codes: Codes, noise: float) -> None:
        self._codes, self._noise, self._counts = codes, noise, class_sizes(codes)
        k = len(self._counts)
        self._large = _count_pairs(self._counts)[1] / max(1, k * (k - 1))  # half of the average
        self._n_answers = self._n_errors = 0

    def chance(self, first: int, second: int) -> float:
        """Return 1 for an error and 0 for the truth, and count the answer."""
        self._n_answers += 1
        a, b = self._codes[first], self._codes[second]
        reserved = 1 if a == b else 0
        is_large = self._counts[a] * self._counts[b] >= self._large
        if not is_large or self._n_errors + reserved >= self._noise * self._n_answers:
            return 0.0
        self._n_errors += 1
        return 1.0


def find_nearest_classes(X: Floats, codes: Codes) -> tuple[int, int]:
    """Find the two classes whose means are nearest; of equally near ones those of the lowest numbers."""
    counts = class_sizes(codes)
    known = codes >= 0
    means = np.zeros((len(counts), X.shape[1]))
    np.add.at(means, codes[known], X[known])
    means /= np.array(counts)[:, None]
    first = int(np.argmin(native.core_squares(means, 2, parallel.n_threads())))
    others = np.delete(means, first, axis=0)
    nearest = int(native.nearest_points(means[first : first + 1], others, parallel.n_threads())[0][0])
    return first, nearest + (nearest >= first)


# ---------------------------------------------------------------- pairs of both kinds
def class_sizes(codes: Codes) -> list[int]:
    """Return the number of rows of each class, as integers of any size."""
    sizes: list[int] = np.bincount(codes[codes >= 0]).tolist()
    return sizes


def _count_pairs(counts: list[int]) -> tuple[int, int]:
    """Return the numbers of yes pairs and of no pairs."""
    n, yes = sum(counts), sum(size * (size - 1) // 2 for size in counts)
    return yes, n * (n - 1) // 2 - yes


def _pair_weights(counts: list[int]) -> tuple[float, float]:
    """Return the probability of each yes pair and of each no pair, if half of the pairs are of each kind."""
    yes, no = _count_pairs(counts)
    half = 0.5 if yes and no else 1.0
    return half / yes if yes else 0.0, half / no if no else 0.0


def _spread(noise: float, wrong: float, share: float) -> float:
    """Return the chance of an error in the rest of the pairs.

    A `share` of all pairs is not in the rest, and `wrong` of all pairs are errors outside the rest.
    """
    return max(0.0, (noise - wrong) / (1 - share)) if share < 1 else 0.0


# ---------------------------------------------------------------- misjudged rows
def _shares_of_misjudged(
    counts: list[int], classes: list[int], seen_as: list[int], noise: float
) -> list[float]:
    """Return the share of wrong answers after 0, 1, 2, ... misjudged rows, until it is at least `noise`.

    `counts` are the rows of each class. `classes` has the class of each row, in the order in which they
    are misjudged, and `seen_as` the class in which it is seen.
    """
    yes_weight, no_weight = _pair_weights(counts)
    as_class = Counter({(c, c): size for c, size in enumerate(counts)})  # rows of a class seen as a class
    seen = list(counts)
    wrong_yes = wrong_no = 0
    shares = [0.0]
    for c, a in zip(classes, seen_as, strict=True):
        wrong_yes += as_class[c, c] - 1 - as_class[c, a]
        wrong_no += (seen[a] - as_class[c, a]) - (seen[c] - as_class[c, c])
        as_class[c, c] -= 1
        as_class[c, a] += 1
        seen[c] -= 1
        seen[a] += 1
        shares.append(yes_weight * wrong_yes + no_weight * wrong_no)
        if shares[-1] >= noise:
            break
    return shares
