"""COBS and ActiveCOBS as printed: loops over candidates and pairs."""

from __future__ import annotations


def cobs(clusterings, must_link, cannot_link):
    """Algorithm 1: the largest number of satisfied constraints, and all candidates that reach it."""
    satisfied = [
        sum(c[i] == c[j] for i, j in must_link) + sum(c[i] != c[j] for i, j in cannot_link)
        for c in clusterings
    ]
    most = max(satisfied)
    return most, [at for at, count in enumerate(satisfied) if count == most]


def disagreement(clusterings, weights, i, j):
    """Algorithm 2, line 5: how far the two sums of weights are apart, with the bars that it lacks."""
    same = sum(w for c, w in zip(clusterings, weights, strict=True) if c[i] == c[j])
    different = sum(w for c, w in zip(clusterings, weights, strict=True) if c[i] != c[j])
    return abs(same - different)


def reweighted(clusterings, weights, i, j, answer, factor):
    """Algorithm 2, lines 6 to 12: right candidates gain, wrong ones lose, and the weights add up to 1."""
    right = [(c[i] == c[j]) == (answer == "yes") for c in clusterings]
    after = [w * factor if r else w / factor for w, r in zip(weights, right, strict=True)]
    return [w / sum(after) for w in after]
