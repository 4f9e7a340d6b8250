"""Explore and Consolidate, MinMax and NPU as printed: slow and obvious.

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
    p = chances(leaves, hoods, row)
    entropy = -sum(value * np.log2(value) for value in p if value > 0)
    n_asked = sum(i * value for i, value in enumerate(sorted(p, reverse=True), start=1))
    return entropy / n_asked


def chances(leaves, hoods, row):
    """Xiong et al. (2014): how probable each neighbourhood is; all alike if the row is like no other."""
    near = [np.mean([np.mean(leaves[row] == leaves[other]) for other in hood]) for hood in hoods]
    return [value / sum(near) if sum(near) else 1 / len(near) for value in near]


def npu(X, y, drawn, cluster, grow):
    """Xiong et al. (2014), Algorithms 1 and 2: the rows asked about, each with the classes compared with.

    ``cluster(must, cannot)`` gives the labels of a clustering under all answers so far, and ``grow(labels)``
    the leaf of each row in each tree of a forest that has learned them. `drawn` are the rows in random order:
    the first one is the first neighbourhood, and of equally uncertain rows the earliest is taken. Of equally
    probable neighbourhoods the one with the nearest mean comes first.
    """
    hoods, asked, must, cannot = [[drawn[0]]], [], [], []
    while left := [row for row in drawn if not any(row in hood for hood in hoods)]:
        leaves = grow(cluster(must, cannot))
        scores = [uncertainty(leaves, hoods, row) for row in left]
        row = next(row for row, score in zip(left, scores, strict=True) if score > max(scores) - 1e-9)
        p = chances(leaves, hoods, row)
        far = [np.linalg.norm(X[hood].mean(axis=0) - X[row]) for hood in hoods]
        classes = []
        for at in sorted(range(len(hoods)), key=lambda at: (-round(p[at], 9), far[at])):
            member = min(hoods[at], key=lambda other: np.linalg.norm(X[other] - X[row]))
            classes.append(int(y[member]))
            if y[member] == y[row]:
                must.append((row, member))
                hoods[at].append(row)
                break
            cannot.append((row, member))
        else:
            hoods.append([row])
        asked.append((row, classes))
    return asked
