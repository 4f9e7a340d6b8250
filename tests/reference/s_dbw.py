"""S_Dbw as the paper defines it: every midpoint, every distance, one after the other."""

from __future__ import annotations

import numpy as np


def s_dbw(X, labels, stdev="mean", factor="mean"):
    """Scat + Dens_bw of rows in clusters; rows of -1 are left out."""
    X, labels = np.asarray(X, float), np.asarray(labels)
    X, labels = X[labels >= 0], labels[labels >= 0]
    X = X - X[:1]  # nothing depends on where rows lie, and identical rows are then at 0, without round-off
    clusters = [X[labels == c] for c in np.unique(labels)]
    sigma = [np.linalg.norm(rows.var(axis=0)) for rows in clusters]
    whole = np.linalg.norm(X.var(axis=0))
    scat = np.mean(sigma) / whole if whole > 0 else 0.0
    if len(clusters) == 1:
        return scat
    radius = np.sqrt(sum(sigma)) / len(clusters) if stdev == "icdm2001" else np.mean(np.sqrt(sigma))
    slack = 1e-12 * X.var(axis=0).sum()
    ratios = []
    for i in range(len(clusters)):
        for j in range(i + 1, len(clusters)):
            both = np.vstack([clusters[i], clusters[j]])
            v_i, v_j = clusters[i].mean(axis=0), clusters[j].mean(axis=0)
            u, one, other = (
                sum(((x - at) ** 2).sum() <= radius**2 + slack for x in both)
                for at in ((v_i + v_j) / 2, v_i, v_j)
            )
            ratios.append(u / max(one, other) if max(one, other) > 0 else 0.0)
    return scat + np.mean(ratios) * (1.0 if factor == "mean" else 0.25)


def label_scatter(X, labels, centers):
    """(k, d) squared deviations of the rows of each cluster from its centre."""
    squares = np.zeros(centers.shape)
    for x, c in zip(np.asarray(X, float), labels, strict=True):
        if c >= 0:
            squares[c] += (x - centers[c]) ** 2
    return squares


def density_counts(X, labels, centers, reach):
    """(k, k) rows of each cluster near each centre, and near the middle of its own and each centre."""
    k = len(centers)
    near, between = np.zeros((k, k), int), np.zeros((k, k), int)
    for x, c in zip(np.asarray(X, float), labels, strict=True):
        for q in range(k if c >= 0 else 0):
            near[c, q] += ((x - centers[q]) ** 2).sum() <= reach
            between[c, q] += ((x - (centers[c] + centers[q]) / 2) ** 2).sum() <= reach
    return near, between
