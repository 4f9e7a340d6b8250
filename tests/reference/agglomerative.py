"""Agglomerative clustering by its definition: every two clusters are compared anew before each merge."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def apart(X, one, other, linkage):
    """How far apart two lists of rows are."""
    if linkage == "ward":
        away = X[one].mean(axis=0) - X[other].mean(axis=0)
        return np.sqrt(2 * len(one) * len(other) / (len(one) + len(other)) * (away @ away))
    distances = np.linalg.norm(X[one][:, None] - X[other], axis=2)
    return {"single": distances.min, "complete": distances.max, "average": distances.mean}[linkage]()


def merges(X, begun, cannot_link, k, linkage, most=np.inf):
    """The clusters, as sets of rows, after merging until k are left or none may be; and the heights."""
    clusters, heights = [sorted(cluster) for cluster in begun], []
    while len(clusters) > k:
        allowed = [
            (apart(X, clusters[a], clusters[b], linkage), a, b)
            for a, b in combinations(range(len(clusters)), 2)
            if not any({i, j} & set(clusters[a]) and {i, j} & set(clusters[b]) for i, j in cannot_link)
        ]
        if not allowed or min(allowed)[0] > most:
            break
        height, a, b = min(allowed)
        heights.append(height)
        clusters[a] = sorted(clusters[a] + clusters.pop(b))
    return {frozenset(cluster) for cluster in clusters}, heights
