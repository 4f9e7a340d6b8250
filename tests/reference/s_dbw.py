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


def scatter_and_density(X, labels, means, pooled):
    """The two parts of S_Dbw, for any points in the place of the means."""
    X, means, k = np.asarray(X, float)[labels >= 0], np.asarray(means, float), len(means)
    labels = labels[labels >= 0]
    share = np.bincount(labels, minlength=k) / len(labels)
    sigma = np.array([((X[labels == c] - means[c]) ** 2).mean(axis=0) for c in range(k)])
    variance = share @ (sigma + (means - share @ means) ** 2)
    spread, whole = np.linalg.norm(sigma, axis=1), np.linalg.norm(variance)
    radius = np.sqrt(spread.sum()) / k if pooled else np.sqrt(spread).mean()
    reach = radius**2 + 1e-12 * variance.sum()
    ratios = []
    for i in range(k):
        for j in range(i + 1, k):
            both = X[(labels == i) | (labels == j)]
            u, one, other = (
                int((((both - at) ** 2).sum(axis=1) <= reach).sum())
                for at in ((means[i] + means[j]) / 2, means[i], means[j])
            )
            ratios.append(u / max(one, other, 1) if max(one, other) else 0.0)
    return spread.mean() / whole if whole > 0 else 0.0, np.mean(ratios) if ratios else 0.0
