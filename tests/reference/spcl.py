"""The graph of nearest rows and SPCL with dense matrices: every pair is looked at."""

from __future__ import annotations

import numpy as np


def nearest_weights(X, n_neighbors):
    """Weights among distinct rows before parts are joined: exp(-4 d² / sigma²), the larger of both ways."""
    n = len(X)
    weights = np.zeros((n, n))
    for i in range(n):
        squares = ((X - X[i]) ** 2).sum(axis=1)
        nearest = [j for j in np.argsort(squares, kind="stable").tolist() if j != i][:n_neighbors]
        for j in nearest:
            weights[i, j] = np.exp(-4 * squares[j] / squares[nearest[-1]])
    return np.maximum(weights, weights.T)


def parts(weights):
    """Rows that edges join, as lists."""
    left, found = set(range(len(weights))), []
    while left:
        part, rim = set(), [min(left)]
        while rim:
            row = rim.pop()
            if row not in part:
                part.add(row)
                rim.extend(np.flatnonzero(weights[row]).tolist())
        left -= part
        found.append(sorted(part))
    return found


def embedding(affinity, must_link, cannot_link, width, skipped=0):
    """Rows of length 1: the first eigenvectors of N = (A + d_max I - D) / d_max that are not skipped."""
    A = affinity.copy()
    for i, j in must_link:
        A[i, j] = A[j, i] = 1
    for i, j in cannot_link:
        A[i, j] = A[j, i] = 0
    D = np.diag(A.sum(axis=1))
    N = (A + D.max() * np.eye(len(A)) - D) / D.max()
    vectors = np.linalg.eigh(N)[1][:, ::-1][:, skipped : skipped + width]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
