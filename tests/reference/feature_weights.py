"""Algorithm 1 of Halkidi et al. (2008) with its settlements, and the climb by factors, in plain NumPy."""

from __future__ import annotations

import numpy as np

from reference.kernels import label_sums, lloyd
from reference.s_dbw import s_dbw

FACTORS = (0, 0.25, 0.5, 0.8, 0.9, 1.1, 1.25, 2, 4)


class Framework:
    """Quality of weightings, counted: the pair (constraints satisfied, 1 / (1 + S_Dbw)) of k-means.

    The first runs start from `starts` (r, k, d), later ones from the means of another weighting's.
    """

    def __init__(self, Z, must_link, cannot_link, starts, max_evals, factor="mean"):
        self.Z, self.must_link, self.cannot_link = Z, must_link, cannot_link
        self.starts, self.max_evals, self.factor, self.n_evals = starts, max_evals, factor, 0

    def quality(self, weights, near=None):
        """(weights, labels, count, validity)"""
        self.n_evals += 1
        X = self.Z * np.sqrt(weights)
        starts = [start * np.sqrt(weights) for start in self.starts]
        if near is not None:
            sums, counts = label_sums(X, near[1], self.starts.shape[1])
            starts = [sums / counts[:, None]]
        labels = min((lloyd(X, start, 300, 0.0) for start in starts), key=lambda run: run[2])[0]
        count = sum(labels[i] == labels[j] for i, j in self.must_link)
        count += sum(labels[i] != labels[j] for i, j in self.cannot_link)
        return weights, labels, int(count), 1 / (1 + s_dbw(X, labels, factor=self.factor))

    def over(self):
        """Whether there were enough."""
        return self.n_evals >= self.max_evals


def better(one, other):
    """Lexicographic: count first; equal validities but for rounding are equal."""
    return one[2] > other[2] or (one[2] == other[2] and one[3] > other[3] + 1e-9)


def best_of_starts(framework, candidates):
    """The best of the weightings to start from; the first of equals."""
    first = best = None
    for weights in candidates:
        if best is not None and framework.over():
            break
        found = framework.quality(weights, first)
        first = found if first is None else first
        best = found if best is None or better(found, best) else best
    return best


def climb_by_factors(framework, best, sweeps):
    """Each weight at every factor, in turn, until every constraint is satisfied."""
    for _ in range(sweeps):
        before = best
        for d in range(len(best[0])):
            if best[2] == len(framework.must_link) + len(framework.cannot_link):
                return best
            at, weight = best, best[0][d]
            for factor in FACTORS:
                weights = at[0].copy()
                weights[d] = factor * max(weight, at[0].mean() / 16)
                if framework.over() or weights[d] == weight or not weights.any():
                    continue
                found = framework.quality(weights, at)
                best = found if better(found, best) else best
        if framework.over() or not better(best, before):
            break
    return best


def climb_by_steps(framework, best, sweeps, delta=0.1, least=0):
    """Up, or else down, while it is better; a step is halved while half of it is significantly different.

    A step is a fraction of the weight (Section 3.3), or of `least` times the mean weight if that is larger.
    """
    for _ in range(sweeps):
        before = best
        for d in range(len(best[0])):
            for sign in (1, -1):
                moved = False
                while not framework.over():
                    found = step(framework, best, d, sign, delta, least)
                    if not better(found, best):
                        break
                    best, moved = found, True
                if moved:
                    break
        if framework.over() or not better(best, before):
            break
    return best


def step(framework, best, d, sign, delta, least):
    """The larger of two steps of which neither differs significantly, or the better of both."""

    def at(fraction):
        weights = best[0].copy()
        weights[d] = max(0.0, weights[d] + sign * fraction * max(weights[d], least * weights.mean()))
        same = weights[d] == best[0][d] or not weights.any()
        return best if same else framework.quality(weights, best)

    whole = at(delta)
    for halving in range(1, 6):
        if framework.over():
            return whole
        half = at(delta / 2**halving)
        different = half[2] != whole[2] or abs(half[3] - whole[3]) > 0.01
        if not different or halving == 5:
            return half if better(half, whole) else whole
        whole = half
    raise AssertionError
