"""Constrained mixtures and KernelBoost by their formulas: all assignments tried, all n x n matrices kept."""

from __future__ import annotations

from itertools import product

import numpy as np


def exact_probabilities(own, apart):
    """P(node has value h) over all assignments in which parted nodes differ; `own` (m, k) probabilities."""
    m, k = own.shape
    found = np.zeros((m, k))
    for values in product(range(k), repeat=m):
        if all(values[a] != values[b] for a, b in apart):
            chance = np.prod([own[node, value] for node, value in enumerate(values)])
            for node, value in enumerate(values):
                found[node, value] += chance
    return found / found.sum(axis=1, keepdims=True)


def density(x, mean, covariance):
    away = x - mean
    power = -0.5 * away @ np.linalg.solve(covariance, away)
    return np.exp(power) / np.sqrt(np.linalg.det(2 * np.pi * covariance))


def e_step(X, chunklet, apart, share, means, covariances):
    """P(Gaussian h) of each chunklet, cannot-links exactly."""
    m, k = chunklet.max() + 1, len(share)
    own = np.empty((m, k))
    for c, h in product(range(m), range(k)):
        own[c, h] = share[h] * np.prod([density(x, means[h], covariances[h]) for x in X[chunklet == c]])
    return exact_probabilities(own, apart)


def m_step(X, weight, chance, counts, prior):
    """Shares, means and covariances for given P(Gaussian h) of the rows."""
    d = X.shape[1]
    means, covariances = [], []
    for h in range(chance.shape[1]):
        r = chance[:, h] * weight
        means.append(sum(ri * x for ri, x in zip(r, X, strict=True)) / r.sum())
        scatter = sum(ri * np.outer(x - means[h], x - means[h]) for ri, x in zip(r, X, strict=True))
        covariances.append((scatter + (d + 2) * prior) / (r.sum() + d + 2))
    return (counts + 1) / (counts + 1).sum(), np.array(means), np.array(covariances)


def boosted(kernels, Y, decay):
    """Alphas, sums of each row's pair weights before every round, and K.

    `kernels` are the n x n K_t, `Y` holds 1, -1 and, for pairs without a constraint, 0.
    """
    n = len(Y)
    W = 1.0 - np.eye(n)
    alphas, of_rows = [], []
    for kernel in kernels:
        of_rows.append(W.sum(axis=1) / W.sum())
        h = 2 * kernel - 1
        told = Y != 0
        r = min((W * Y * h)[told].sum() / W[told].sum(), 0.999)
        alphas.append(0.5 * np.log((1 + r) / (1 - r)))
        W = W * np.where(told, np.exp(-alphas[-1] * Y * h), np.exp(-decay * alphas[-1]))
    return np.array(alphas), of_rows, sum(a * kernel for a, kernel in zip(alphas, kernels, strict=True))
