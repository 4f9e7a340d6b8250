"""Explore and Consolidate, MinMax and the uncertainty of NPU as printed: slow and obvious.

The classes are known, every answer is true, and no two rows are identical.
"""

from __future__ import annotations

import numpy as np


def explore_and_consolidate(X, y, k, first, drawn):
    """Basu et al. (2004): the rows that are asked about, each with the classes it is compared with.

    `first` is the row that Explore begins with; `drawn` are the rows in the order of Consolidate.
    """
    hoods, asked = [[first]], []
    while len(hoods) < k and sum(map(len, hoods)) < len(X):
        known = [row for hood in hoods for row in hood]
        gaps = [min(np.linalg.norm(X[row] - X[other]) for other in known) for row in range(len(X))]
        asked.append(compare(X, y, k, hoods, int(np.argmax(gaps))))
    for row in drawn:
        if not any(row in hood for hood in hoods):
            asked.append(compare(X, y, k, hoods, row))
    return asked


def min_max(X, y, k, first):
    """Mallapragada et al. (2008): Consolidate by the least of the largest Gaussian similarities."""
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    width = np.percentile(distances[np.triu_indices(len(X), 1)], 20)
    similarity = np.exp(-(distances**2) / (2 * width**2))
    hoods, asked = [[first]], []
    while sum(map(len, hoods)) < len(X):
        known = [row for hood in hoods for row in hood]
        left = [row for row in range(len(X)) if row not in known]
        least = min(left, key=lambda row: similarity[row, known].max())
        asked.append(compare(X, y, k, hoods, least))
    return asked


def compare(X, y, k, hoods, row):
    """Compare a row with the neighbourhoods, the nearest mean first; the last of k is not asked about."""
    order = sorted(hoods, key=lambda hood: np.linalg.norm(X[hood].mean(axis=0) - X[row]))
    classes = []
    for hood in order:
        if len(hoods) == k and hood is order[-1]:
            hood.append(row)
            break
        classes.append(int(y[hood[0]]))
        if y[hood[0]] == y[row]:
            hood.append(row)
            break
    else:
        hoods.append([row])
    return row, classes


def uncertainty(leaves, hoods, row):
    """Xiong et al. (2014): entropy of the neighbourhoods of a row, over the expected number of questions.

    `leaves` holds the leaf of each row in each tree.
    """
    together = np.array([[np.mean(a == b) for b in leaves] for a in leaves])
    near = [np.mean([together[row, other] for other in hood]) for hood in hoods]
    p = [value / sum(near) for value in near]
    entropy = -sum(value * np.log2(value) for value in p if value > 0)
    n_asked = sum(i * value for i, value in enumerate(sorted(p, reverse=True), start=1))
    return entropy / n_asked
