"""Plain transcriptions of Okabe and Yamada (2018): Algorithm 2, the weights of Algorithm 3, kernel k-means.

Pair after pair and row after row, with the full matrices of the paper.
"""

from __future__ import annotations

import numpy as np


def squared_distances(K, members):
    """(n, k) squared distances, in the space of a kernel, of every row to the means of some rows."""
    own = np.diag(K)
    found = np.empty((len(K), len(members)))
    for c, rows in enumerate(members):
        found[:, c] = own - 2 * K[:, rows].mean(axis=1) + K[np.ix_(rows, rows)].mean()
    return found


def one_pass(squares, pairs, must):
    """Algorithm 2, lines 3 to 38; `pairs` from the highest priority to the lowest, lower row first."""
    n = len(squares)
    nearest = [np.argsort(squares[i], kind="stable") for i in range(n)]
    labels = [None] * n

    def without(i, c):
        return next((h for h in nearest[i] if h != c), c)

    for (i, j), joined in zip(pairs, must, strict=True):
        ci, cj = nearest[i][0], nearest[j][0]
        i_is_nearer = squares[i, ci] <= squares[j, cj]
        if labels[i] is None and labels[j] is None:
            if joined:
                labels[i] = labels[j] = ci if i_is_nearer else cj
            elif ci != cj:
                labels[i], labels[j] = ci, cj
            elif i_is_nearer:
                labels[i], labels[j] = ci, without(j, cj)
            else:
                labels[j], labels[i] = cj, without(i, ci)
        elif labels[j] is None:
            labels[j] = labels[i] if joined else without(j, labels[i])
        elif labels[i] is None:
            labels[i] = labels[j] if joined else without(i, labels[j])
    return np.array([nearest[i][0] if labels[i] is None else labels[i] for i in range(n)])


def boosted(hypotheses, pairs, signs, alpha_star=100.0):
    """Algorithm 3, steps 1 and 4 to 12, on given clusterings: (alphas, errors)."""
    priority = np.full(len(pairs), 1 / len(pairs))
    alphas, errors = [], []
    for labels in hypotheses:
        same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
        h = np.where(same, 1, -1)
        error = (priority * (1 - signs * h)).sum() / 2 / priority.sum()
        errors.append(error)
        if error == 0:
            alphas.append(alpha_star)
            break
        alphas.append(np.log((1 - error) / error) / 2)
        priority = priority * np.exp(-alphas[-1] * signs * h)
    return np.array(alphas), np.array(errors)


def kernel_of(hypotheses, alphas):
    """Step 13: K, all of it."""
    return sum(alpha * (labels[:, None] == labels) for labels, alpha in zip(hypotheses, alphas, strict=True))


def kernel_k_means(K, labels, max_iter=100):
    """Step 14 from given labels: kernel k-means on a full matrix; (labels, inertia).

    A row stays where it is unless another cluster is nearer by more than rounding.
    """
    labels = labels.copy()
    k = labels.max() + 1
    for _ in range(max_iter):
        squares = squared_distances(K, [np.flatnonzero(labels == c) for c in range(k)])
        own = squares[np.arange(len(K)), labels]
        best = squares.argmin(axis=1)
        better = squares.min(axis=1) < own - 1e-9 * K.diagonal().max()
        if not better.any():
            break
        labels[better] = best[better]
        if len(np.unique(labels)) < k:
            return None  # what becomes of an empty cluster is not said
    return labels, float(own.sum())


def constrained_k_means(X, centers, pairs, must, max_passes=100):
    """Algorithm 2, all of it: passes until the clusters are those of the pass before.

    Passes may cycle, which the paper does not mention; then the first clusters that come again end the run.
    They may also go on for thousands of passes, so there is a limit, that of the authors' program.
    """
    seen = []
    while len(seen) < max_passes:
        squares = ((X[:, None, :] - centers) ** 2).sum(axis=2)
        labels = one_pass(squares, pairs, must)
        if any((labels == before).all() for before in seen):
            break
        seen.append(labels)
        centers = np.array(
            [X[labels == c].mean(axis=0) if (labels == c).any() else centers[c] for c in range(len(centers))]
        )
    return seen[-1]


def rounds_as_printed(X, pairs, signs, draws, n_rounds, alpha_star=100.0):
    """Algorithm 3, steps 1 to 12: the clusterings that count, their weights, and why the rounds ended.

    ``draws(t)`` returns an order of all pairs and the first centres of round t.
    """
    priority = np.full(len(pairs), 1 / len(pairs))
    hypotheses, alphas = [], []
    for t in range(n_rounds):
        shuffled, centers = draws(t)
        order = shuffled[np.argsort(-np.round(np.log(priority), 9)[shuffled], kind="stable")]
        labels = constrained_k_means(X, centers, pairs[order], signs[order] > 0)
        h = np.where(labels[pairs[:, 0]] == labels[pairs[:, 1]], 1, -1)
        error = (priority * (1 - signs * h)).sum() / 2 / priority.sum()
        if error >= 0.5:
            return hypotheses, alphas, "half is broken"
        hypotheses.append(labels)
        if error == 0:
            return hypotheses, [*alphas, alpha_star], "consistent"
        alphas.append(np.log((1 - error) / error) / 2)
        priority = priority * np.exp(-alphas[-1] * signs * h)
    return hypotheses, alphas, "rounds"


def program_k_means(K, rows, pairs, must, max_passes=100):
    """Algorithm 2 as the authors' public program has it, on a kernel, from given rows as centres.

    It compares rows by distances without their own term K_ii, never computes those of an empty cluster anew,
    and ends when labels come again or the inertia does not fall, with the pass before.
    """
    away = K.diagonal()[rows] - 2 * K[:, rows]
    found, least, seen = None, np.inf, []
    for _ in range(max_passes):
        labels = one_pass(away, pairs, must)
        if any((labels == before).all() for before in seen):
            break
        seen.append(labels)
        for c in range(len(rows)):
            members = np.flatnonzero(labels == c)
            if len(members):
                away[:, c] = K[np.ix_(members, members)].mean() - 2 * K[:, members].mean(axis=1)
        inertia = (K.diagonal() + away[np.arange(len(K)), labels]).sum()
        if not inertia < least:
            break
        found, least = labels, inertia
    return found
