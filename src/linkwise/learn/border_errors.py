"""Errors at the border between classes: how hard a pair is, and how likely an error is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from linkwise import native, parallel
from linkwise.constraints.closure import Pairs
from linkwise.constraints.sampling import unrank_pairs
from linkwise.learn.error_models import Codes, Floats, class_sizes
from linkwise.rng import rng_at

RANKED_PAIRS = 2**17  # pairs of a kind that rank the others, if there are more than twice as many pairs
CHUNK = 2**22  # numbers that are gathered at a time


class BorderErrors:
    """Errors at pairs whose classes explain their distance least.

    The difficulty of a pair is a distance within a class, divided by a distance between classes, as in
    the measure N2 of Ho and Basu (2002). Both are means over the two rows. For a yes pair, the first is
    the distance of the pair, and the second that to the nearest row of another class. For a no pair, the
    first is the distance to the nearest row of the same class, and the second the distance of the pair.
    If a row is alone in its class, the nearest row of any class counts; if there is one class, yes pairs
    are ranked by distance.

    Let q be the share of pairs of the same kind that are easier. The chance of an error is q^(1/noise -
    1). Its mean is `noise`, since q is uniform in [0, 1]. Pairs of equal difficulty share the mean of
    their chances.
    """

    def __init__(self, X: Floats, codes: Codes, noise: float) -> None:
        self._X, self._codes, self._noise = X, codes, noise
        self._own, self._other = _neighbour_distances(X, codes)
        self._levels = {
            same: np.sort(self._difficulty(pairs, same)) for same, pairs in pairs_of_both_kinds(codes).items()
        }

    def chance(self, first: int, second: int) -> float:
        """Return the chance of an error, which depends on the pair alone; 0 for a row and itself."""
        if first == second:
            return 0.0
        same = bool(self._codes[first] == self._codes[second])
        levels = self._levels[same]
        difficulty = self._difficulty(np.array([[min(first, second), max(first, second)]]), same)[0]
        easier = np.searchsorted(levels, difficulty, "left") / len(levels)
        up_to = np.searchsorted(levels, difficulty, "right") / len(levels)
        power = 1 / self._noise
        if easier == up_to:  # between two of the ranked pairs
            return float(easier ** (power - 1))
        return float(min(1.0, self._noise * (up_to**power - easier**power) / (up_to - easier)))

    def _difficulty(self, pairs: Pairs, same: bool) -> Floats:
        """Return the difficulty of pairs of one kind; infinite for identical rows of different classes."""
        apart, (i, j) = 2 * _distances(self._X, pairs), pairs.T
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if same:
                return np.where(apart == 0, 0.0, apart / (self._other[i] + self._other[j]))
            return np.where(apart == 0, np.inf, (self._own[i] + self._own[j]) / apart)


# ---------------------------------------------------------------- pairs of both kinds
def pairs_of_both_kinds(codes: Codes) -> dict[bool, Pairs]:
    """Return all yes pairs (True) and no pairs (False), or a fixed sample of each kind if there are many."""
    rows = np.flatnonzero(codes >= 0)
    total = len(rows) * (len(rows) - 1) // 2
    if total <= 2 * RANKED_PAIRS:
        pairs = rows[unrank_pairs(np.arange(total))]
        same = codes[pairs[:, 0]] == codes[pairs[:, 1]]
        return {True: pairs[same], False: pairs[~same]}
    rows = rows[np.argsort(codes[rows], kind="stable")]
    counts = np.array(class_sizes(codes))
    size = np.repeat(counts, counts)  # of the class of each row
    start = np.repeat(np.cumsum(counts) - counts, counts)  # where its class begins in rows
    at, rng = np.arange(len(rows)), rng_at(0)
    kinds = {}
    for same, n_partners in ((True, size - 1), (False, len(rows) - size)):
        if not n_partners.any():
            kinds[same] = np.empty((0, 2), dtype=np.int64)
            continue
        i = rng.choice(at, RANKED_PAIRS, p=n_partners / n_partners.sum())
        step = rng.integers(0, n_partners[i])
        inside = start[i] + (i - start[i] + 1 + step) % size[i]
        j = inside if same else (start[i] + size[i] + step) % len(rows)
        kinds[same] = np.sort(np.column_stack([rows[i], rows[j]]), axis=1)
    return kinds


# ---------------------------------------------------------------- distances
def _distances(X: Floats, pairs: Pairs) -> Floats:
    """Return the Euclidean distance of each pair."""
    length = max(1, CHUNK // X.shape[1])
    parts = (pairs[at : at + length] for at in range(0, len(pairs), length))
    squares = [np.square(X[part[:, 0]] - X[part[:, 1]]).sum(axis=1) for part in parts]
    distances: Floats = np.sqrt(np.concatenate([np.empty(0), *squares]))
    return distances


def _neighbour_distances(X: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """Return the distances of each row to the nearest other row of its class, and to the nearest of others.

    If a row is alone in its class, both are the distance to the nearest row of others. If there is one class,
    the distances to others are 1. Those of rows of unknown class have no meaning.
    """
    rows = np.flatnonzero(codes >= 0)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    points, own, other = X[rows], np.zeros(len(rows)), np.full(len(rows), np.inf)
    ends = np.cumsum(class_sizes(codes)).tolist()
    for start, end in pairwise([0, *ends]):
        members = points[start:end]
        for others in (points[:start], points[end:]):
            if len(others):
                near = native.nearest_points(members, others, parallel.n_threads())[1]
                other[start:end] = np.minimum(other[start:end], near)
        if end - start > 1:
            own[start:end] = native.core_squares(members, 2, parallel.n_threads())
        else:
            own[start:end] = other[start:end]
    distances = np.ones((2, len(X)))
    distances[:, rows] = np.sqrt([own, other])
    return distances[0], np.where(np.isfinite(distances[1]), distances[1], 1.0)
