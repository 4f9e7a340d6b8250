"""Plain NumPy twins of the kernels: one row after the other, nothing skipped.

Squares are summed in the order of the features, as the kernels do. Where all sums are exact in
float64 (multiples of a power of two, not too large), twin and kernel agree to the last bit, ties too.
"""

from __future__ import annotations

import numpy as np


def squared_distances(X, centers):
    """(n, k) squared distances."""
    X, centers = np.asarray(X, np.float64), np.asarray(centers, np.float64)
    squares = np.zeros((len(X), len(centers)))
    for a in range(X.shape[1]):
        difference = X[:, a, None] - centers[None, :, a]
        squares += difference * difference
    return squares


def lloyd(X, start, max_iter, tol, weight=None):
    """(labels, centers, inertia, n_iter) of one run."""
    X, centers = np.asarray(X, np.float64), np.array(start, np.float64)
    weight = np.ones(len(X), int) if weight is None else weight
    k = len(centers)
    labels = np.full(len(X), -1)
    n_iter = 0
    while True:
        n_iter += 1
        before, labels = labels, squared_distances(X, centers).argmin(axis=1)
        repeated = bool((labels == before).all())
        sums = np.array([weight[labels == c] @ X[labels == c] for c in range(k)])
        counts = np.bincount(labels, weight, minlength=k)
        if not repeated:
            fill_empty(X, labels, centers, sums, counts, weight)
        shift = move(centers, sums, counts)
        if repeated:
            break
        if shift <= tol or n_iter == max_iter:
            labels = squared_distances(X, centers).argmin(axis=1)
            break
    inertia = weight @ squared_distances(X, centers)[np.arange(len(X)), labels]
    return labels, centers, inertia, n_iter


def fill_empty(X, labels, centers, sums, counts, weight):
    """Give each empty cluster the farthest row of a cluster that keeps another one."""
    square = squared_distances(X, centers)[np.arange(len(X)), labels]
    for c in np.flatnonzero(counts == 0):
        able = np.where(counts[labels] > weight, square, 0.0)
        far = able.argmax()
        if able[far] == 0:
            return
        sums[labels[far]] -= weight[far] * X[far]
        counts[labels[far]] -= weight[far]
        sums[c], counts[c], square[far] = weight[far] * X[far], weight[far], 0.0


def move(centers, sums, counts):
    """Move the centres of clusters with rows to their means; the squared shift of all."""
    shift = 0.0
    for c in np.flatnonzero(counts):
        mean = sums[c] / counts[c]
        own = 0.0
        for a in range(len(mean)):
            own += (mean[a] - centers[c, a]) ** 2
        shift += own
        centers[c] = mean
    return shift


def words(seed):
    """Endless 64-bit words of SplitMix64."""
    mask = 2**64 - 1
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def splitmix64(seed):
    """Endless uniform numbers in [0, 1)."""
    return ((word >> 11) * 2.0**-53 for word in words(seed))


def label_sums(X, labels, k, weight=None):
    """(k, d) sums of the rows of each cluster and (k,) counts."""
    weight = np.ones(len(X), int) if weight is None else weight
    members = (labels[None, :] == np.arange(k)[:, None]) * weight
    return members @ X.astype(np.float64), members.sum(axis=1)


def kmeans_plusplus(X, k, seed, n_candidates, given=None):
    """(k,) rows, -1 at the end where there are not as many distinct ones."""
    X = np.asarray(X, np.float64)
    random = splitmix64(seed)
    chosen = [int(next(random) * len(X))] if given is None else []
    nearest = squared_distances(X, X[chosen] if given is None else given).min(axis=1)
    while len(chosen) < k and nearest.sum() > 0:
        mass = np.cumsum(nearest)
        drawn = [next(random) * mass[-1] for _ in range(n_candidates)]
        candidates = [int(np.argmax(mass > r)) for r in drawn]
        after = np.minimum(nearest[:, None], squared_distances(X, X[candidates]))
        best = after.sum(axis=0).argmin()
        chosen.append(candidates[best])
        nearest = after[:, best]
    return np.array(chosen + [-1] * (k - len(chosen)))


def nearest_rows(X, labels, centers, allowed=None):
    """(k,) nearest row of each label, -1 where there is none."""
    squares = squared_distances(X, centers)
    nearest = np.full(len(centers), -1)
    for c in range(len(centers)):
        may = np.asarray(labels) == c
        if allowed is not None:
            may &= allowed
        if may.any():
            nearest[c] = np.where(may, squares[:, c], np.inf).argmin()
    return nearest


def dbscan(X, eps, min_pts):
    """(n,) labels of one DBSCAN: clusters grown from core rows, in the order of the rows."""
    near = squared_distances(X, X) <= eps * eps
    core = near.sum(axis=1) >= min_pts
    labels = np.full(len(X), -1)
    for first in np.flatnonzero(core):
        if labels[first] >= 0:
            continue
        cluster, front = labels.max() + 1, [first]
        while front:
            i = front.pop()
            if labels[i] < 0:
                labels[i] = cluster
                if core[i]:
                    front.extend(np.flatnonzero(near[i]))
    return labels


def distance_range(X):
    """Smallest positive and largest squared distance of two rows."""
    squares = squared_distances(X, X)
    positive = squares[squares > 0]
    return (positive.min(), positive.max()) if len(positive) else (0.0, 0.0)


def pack_together(labels, first, second):
    """(⌈C / 8⌉, P) bits of the clusterings that put each pair together."""
    bits = np.zeros(((len(labels) + 7) // 8, len(first)), np.uint8)
    for c, of in enumerate(labels):
        bits[c // 8] |= (of[first] == of[second]).astype(np.uint8) << (c % 8)
    return bits


def weighted_together(bits, weights):
    """(P,) sums of the weights of the clusterings whose bit is set."""
    sums = np.zeros(bits.shape[1], np.int64)
    for c, weight in enumerate(weights):
        sums += weight * ((bits[c // 8] >> (c % 8)) & 1)
    return sums


def greedy_colours(before, after, n):
    """(n,) colours: each vertex in order has the lowest that no neighbour before it has."""
    colours = np.zeros(n, np.int32)
    for v in range(n):
        taken = set(colours[before[after == v]].tolist())
        colours[v] = next(c for c in range(n) if c not in taken)
    return colours


def core_squares(X, k):
    """Squared distance of each row to the k-th of all, itself included."""
    return np.sort(squared_distances(X, X), axis=1)[:, k - 1]


def density_walk(X, core, start, mutual):
    """(order, before, reach): from `start` by max(core, distance), or with both core distances."""
    away = np.maximum(squared_distances(X, X), core[:, None])
    if mutual:
        away = np.maximum(away, core)
    reach, before, waiting = np.full(len(X), np.inf), np.full(len(X), -1), set(range(len(X)))
    walk, row = [], start
    while waiting:
        waiting.remove(row)
        walk.append((row, before[row], np.sqrt(reach[row])))
        for other in waiting:
            if away[row, other] < reach[other]:
                reach[other], before[other] = away[row, other], row
        row = min(waiting, key=lambda other: (reach[other], other), default=-1)
    return tuple(np.array(column) for column in zip(*walk, strict=True))
