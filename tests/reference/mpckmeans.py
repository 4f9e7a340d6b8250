"""The steps of MPCKMeans as formulas (Bilenko, Basu and Mooney 2004): every pair looked at."""

from __future__ import annotations

import numpy as np

from reference.pckmeans import conditional_modes


def distance(x, y, A):
    """Squared length of x - y under a metric: (d,) or (d, d)."""
    z = np.asarray(x, float) - y
    return z @ (np.diag(A) if A.ndim == 1 else A) @ z


def squares_under(X, centers, maps):
    """(n, k): |L (x - centre)|^2, one row and one centre after the other; one L, or one for each centre."""
    found = np.empty((len(X), len(centers)))
    for i, x in enumerate(X.astype(float)):
        for c, center in enumerate(centers):
            L = maps[c if len(maps) > 1 else 0]
            image = L * (x - center) if L.ndim == 1 else L @ (x - center)
            found[i, c] = (image**2).sum()
    return found


def log_det(A):
    return np.linalg.slogdet(np.diag(A) if A.ndim == 1 else A)[1]


def farthest_pair(rows, A):
    """The two rows farthest apart."""
    pairs = [(distance(x, y, A), i, j) for i, x in enumerate(rows) for j, y in enumerate(rows) if i < j]
    if not pairs:
        return rows[0], rows[0]
    _, i, j = max(pairs, key=lambda pair: pair[0])
    return rows[i], rows[j]


def costs(X, centers, metrics):
    """(n, k): squared distance under the metric of each cluster, less its log det."""
    return np.array(
        [[distance(x, mu, A) - log_det(A) for mu, A in zip(centers, metrics, strict=True)] for x in X]
    )


def price_must(x, y, A, B):
    """f_M of a must-link between clusters with metrics A and B."""
    return (distance(x, y, A) + distance(x, y, B)) / 2


def price_cannot(x, y, A, rows):
    """f_C of a cannot-link within a cluster with metric A."""
    return max(distance(*farthest_pair(rows, A), A) - distance(x, y, A), 0)


def metrics(X, labels, centers, before, constraints, w, prior_rows, variance, rows):
    """The metrics of all clusters (k,): one each, or one for all where `before` holds one object k times."""
    k, d = centers.shape
    shared = all(A is before[0] for A in before)
    scatter, counts = np.zeros((k, d, d)), np.zeros(k)
    for x, h in zip(X, labels, strict=True):
        scatter[h] += np.outer(x - centers[h], x - centers[h])
        counts[h] += 1
    for (i, j), weight in zip(constraints.must_link, constraints.must_link_weight, strict=True):
        if labels[i] != labels[j]:
            for h in (labels[i], labels[j]):
                scatter[h] += w * weight / 2 * np.outer(X[i] - X[j], X[i] - X[j])
    for (i, j), weight in zip(constraints.cannot_link, constraints.cannot_link_weight, strict=True):
        if (h := labels[i]) == labels[j]:
            a, b = farthest_pair(rows, before[h])
            scatter[h] += w * weight * (np.outer(a - b, a - b) - np.outer(X[i] - X[j], X[i] - X[j]))
    if shared:
        scatter, counts = scatter.sum(axis=0, keepdims=True), counts.sum(keepdims=True)
    found = []
    for S, count in zip(scatter, counts, strict=True):
        if before[0].ndim == 1:
            total = np.maximum(np.diag(S), 0) + prior_rows * variance
            found.append((count + prior_rows) / total)
        else:
            value, vector = np.linalg.eigh(S)
            total = (vector * np.maximum(value, 0)) @ vector.T + prior_rows * variance * np.eye(d)
            found.append((count + prior_rows) * np.linalg.inv(total))
    return found * k if shared else found


def mpckmeans(X, centers, constraints, w, rng, named, variance, max_iter, shift_bound):
    """Figure 1, all of it: labels, means and diagonal metrics of the clusters in turn; the last labels.

    `named` are the rows of the constraints in the order in which they are numbered.
    """
    k = len(centers)
    place = {int(row): at for at, row in enumerate(named)}
    found = [np.full(X.shape[1], 1 / variance) for _ in range(k)]
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)

    def assign():
        table = costs(X, centers, found)
        must = [
            (
                place[i],
                place[j],
                lambda g, h, i=i, j=j, p=p: p * w * price_must(X[i], X[j], found[g], found[h]),
            )
            for (i, j), p in zip(constraints.must_link, constraints.must_link_weight, strict=True)
        ]
        cannot = [
            (place[i], place[j], lambda g, h, i=i, j=j, p=p: p * w * price_cannot(X[i], X[j], found[g], X))
            for (i, j), p in zip(constraints.cannot_link, constraints.cannot_link_weight, strict=True)
        ]
        new = table.argmin(axis=1)
        alone = np.arange(len(named))
        order = rng.permutation(len(named))
        new[named] = conditional_modes(table[named], labels[named], must, cannot, alone, order)
        return new

    for iteration in range(max_iter):
        labels = assign()
        moved = np.array(
            [X[labels == h].mean(axis=0) if (labels == h).any() else centers[h] for h in range(k)]
        )
        found = printed_metrics(X, labels, moved, found, constraints, w, variance)
        shift = ((moved - centers) ** 2).sum()
        centers = moved
        if iteration > 0 and shift <= shift_bound:
            break
    return assign()


def printed_metrics(X, labels, centers, before, constraints, w, variance):
    """The diagonal metrics of the clusters without a prior: a millionth of its trace repairs a covariance."""
    found = []
    for h, A in enumerate(metrics(X, labels, centers, before, constraints, w, 1e-9, 1.0, X)):
        count = (labels == h).sum()
        scatter = (count + 1e-9) / A - 1e-9  # with next to no prior, which is taken off again
        covariance = np.maximum(scatter, 0) / max(count, 1)
        trace = covariance.sum()
        found.append(1 / (covariance + (1e-6 * trace if trace > 1e-12 else variance)))
    return found


def in_file_order(X, must_link, cannot_link, centers, w, max_passes=100):
    """The passes of WekaUT with one diagonal metric, row after row, from given centres."""
    X = [np.array(x, dtype=float) for x in X]
    k, d = len(centers), len(X[0])
    box = np.array([max(0, *(x[a] for x in X)) - min(0, *(x[a] for x in X)) for a in range(d)])
    A, labels, value, idle = np.ones(d), [None] * len(X), np.inf, 0
    for _ in range(max_passes):
        before, old = value, list(labels)
        for i, x in enumerate(X):
            costs = []
            for h in range(k):
                cost = A @ (x - centers[h]) ** 2
                for p, q in must_link:
                    j = q if p == i else p if q == i else None
                    if j is not None and labels[j] is not None and labels[j] != h:
                        cost += w * (A @ (x - X[j]) ** 2)
                for p, q in cannot_link:
                    j = q if p == i else p if q == i else None
                    if j is not None and labels[j] == h:
                        cost += w * (A @ box**2 - A @ (x - X[j]) ** 2)
                costs.append(cost)
            labels[i] = int(np.argmin(costs))
        centers = []
        for h in range(k):
            members = [x for x, label in zip(X, labels, strict=True) if label == h]
            centers.append(np.mean(members, axis=0) if members else np.zeros(d))
        S = sum((x - centers[label]) ** 2 for x, label in zip(X, labels, strict=True))
        S = S + w * sum(((X[i] - X[j]) ** 2 for i, j in must_link if labels[i] != labels[j]), np.zeros(d))
        S = S + w * sum(
            (box**2 - (X[i] - X[j]) ** 2 for i, j in cannot_link if labels[i] == labels[j]), np.zeros(d)
        )
        A = len(X) / S
        value = A @ S - len(X) * np.log(A).sum()
        idle = idle + 1 if labels == old else 0
        if abs(before - value) < 1e-5 or idle >= 20:
            break
    return labels, A
