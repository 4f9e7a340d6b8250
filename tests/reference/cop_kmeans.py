"""A plain transcription of COP-k-means (Wagstaff, Cardie, Rogers and Schroedl 2001): row after row."""

from __future__ import annotations

import numpy as np


def cop_k_means(X, must, cannot, centers, order, max_iter=100):
    """(labels, centers), or None when a row finds no cluster. `must` and `cannot` hold all that follows."""
    centers = np.array(centers, float)
    before = None
    for _ in range(max_iter):
        labels = np.full(len(X), -1)
        for i in order:
            far = ((X[i] - centers) ** 2).sum(axis=1)
            for c in np.argsort(far, kind="stable"):
                friends = [b if a == i else a for a, b in must if i in (a, b)]
                foes = [b if a == i else a for a, b in cannot if i in (a, b)]
                if all(labels[j] in (-1, c) for j in friends) and all(labels[j] != c for j in foes):
                    labels[i] = c
                    break
            else:
                return None
        if before is not None and (labels == before).all():
            break
        before = labels
        centers = np.array(
            [X[labels == c].mean(axis=0) if (labels == c).any() else centers[c] for c in range(len(centers))]
        )
    return labels, centers
