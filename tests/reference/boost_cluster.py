"""BoostCluster by its formulas, with all n x n matrices of the paper."""

from __future__ import annotations

import numpy as np


def shares(K, must, cannot):
    """The n x n matrices p and q."""
    p = np.where(must, np.exp(-K), 0.0)
    q = np.where(cannot, np.exp(K), 0.0)
    return p / max(p.sum(), 1e-300), q / max(q.sum(), 1e-300)


def loss(K, must, cannot):
    """How far K is from the constraints: the product of two sums."""
    return np.exp(-K)[must].sum() * np.exp(K)[cannot].sum()


def projection(X, T, s):
    """The top eigenvectors of X'TX, by the full matrices; only those of positive eigenvalues."""
    value, vector = np.linalg.eigh(X.T @ T @ X)
    top = np.argsort(-value)[:s]
    positive = [v for v in top if value[v] > 1e-9 * abs(value[top]).max()]
    return vector[:, positive or top[:1]]


def printed_projection(X, T, s):
    """The rows X on the top eigenvectors of X'TX, each times the root of its eigenvalue as printed."""
    value, vector = np.linalg.eigh(X.T @ T @ X)
    top = [v for v in np.argsort(-value)[:s] if value[v] > 1e-9 * abs(value).max()]
    return X @ (vector[:, top] * np.sqrt(value[top]))


def boosted(X, must, cannot, s, n_rounds, cluster):
    """K, and alpha of every round; ``cluster(rows, t)`` gives labels.

    `must` and `cannot` are symmetric matrices of 0 and 1.
    """
    K, alphas = np.zeros((len(X),) * 2), []
    more = 0.5 / (must.sum() / 2 + cannot.sum() / 2)
    for t in range(n_rounds):
        p, q = shares(K, must, cannot)
        labels = cluster(X @ projection(X, p - q, s), t)
        together = labels[:, None] == labels
        kept, parted = p[together].sum() + more, q[~together].sum() + more
        broken, joined = p[~together].sum() + more, q[together].sum() + more
        alphas.append(0.5 * np.log(kept * parted / (broken * joined)))
        K = K + alphas[-1] * together
    return K, np.array(alphas)
