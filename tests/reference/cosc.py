"""Constrained 1-spectral clustering by its definitions: every set, every edge, dense matrices."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np


def set_ratio(W, volume, apart, inside, gamma, balance):
    """(cut + gamma broken) / balance of a set, given as a list of booleans."""
    n, whole = len(W), sum(volume)
    cut = sum(W[i, j] for i in range(n) for j in range(n) if inside[i] and not inside[j])
    broken = sum(inside[i] == inside[j] for i, j in apart)
    own = sum(volume[i] for i in range(n) if inside[i])
    under = own * (whole - own) / whole if balance == "ncut" else min(own, whole - own)
    return (cut + gamma * broken) / under, broken


def best_set(W, volume, apart, balance):
    """The least (broken, ratio without a price) of all sets."""
    n, found = len(W), []
    for size in range(1, n):
        for members in combinations(range(n), size):
            inside = [i in members for i in range(n)]
            ratio, broken = set_ratio(W, volume, apart, inside, 0.0, balance)
            found.append((broken, ratio))
    return min(found)


def integral(f, of_set):
    """The Lovász extension of a function of sets that is 0 of none and of all."""
    values = np.unique(f)
    return sum((high - low) * of_set(f > low) for low, high in pairwise(values))


def functional(W, volume, apart, f, gamma, balance):
    """F(f) = (R1(f) - R2(f)) / S(f)."""
    n, whole = len(W), sum(volume)
    edges = sum(W[i, j] * abs(f[i] - f[j]) for i, j in combinations(range(n), 2))
    r1 = edges + gamma * len(apart) * (max(f) - min(f))
    r2 = gamma * sum(abs(f[i] - f[j]) for i, j in apart)

    def under(inside):
        own = volume[inside].sum()
        return own * (whole - own) / whole if balance == "ncut" else min(own, whole - own)

    return (r1 - r2) / integral(f, under)


def onto_simplex(x):
    """The nearest point of the simplex, by sorting (Held, Wolfe and Crowder 1974)."""
    down = np.sort(x)[::-1]
    thresholds = (down.cumsum() - 1) / np.arange(1, len(x) + 1)
    return np.maximum(x - thresholds[np.flatnonzero(down > thresholds)[-1]], 0)


def inner_value(W, g, c, f):
    """What the convex problem is about."""
    return np.abs(f[:, None] - f)[W > 0] @ W[W > 0] / 2 + c * np.ptp(f) - g @ f


def ratio_step(W, g, c, max_iter, every, gap, least):
    """The kernel's steps with dense matrices: f, its value, the bound, the number of steps."""
    m = len(g)
    edge, degree = W > 0, W.sum(axis=1)
    blocks = 3 if c > 0 else 1
    step = np.where(edge, 1 / (blocks * (degree[:, None] + degree + (degree == 0))), 0)
    a = ahead = np.zeros((m, m))
    v = v_ahead = z = z_ahead = np.full(m, 1 / m)
    best, value, before, t = None, np.inf, np.inf, 1.0

    def flow(a, v, z):
        return (W * a).sum(axis=1) + c * (v - z) - g

    for at in range(1, max_iter + 1):
        y = flow(ahead, v_ahead, z_ahead)
        t = 1.0 if y @ y > before else t
        before = y @ y
        then = (1 + np.sqrt(1 + 4 * t * t)) / 2
        momentum, t = (t - 1) / then, then
        moved = np.where(edge, np.clip(ahead - (y[:, None] - y) * step, -1, 1), 0)
        a, ahead = moved, moved + momentum * (moved - a)
        if c > 0:
            for sign in (-1, 1):
                old, point = (v, v_ahead) if sign < 0 else (z, z_ahead)
                new = onto_simplex(point + sign * y / (3 * c))
                if sign < 0:
                    v, v_ahead = new, new + momentum * (new - old)
                else:
                    z, z_ahead = new, new + momentum * (new - old)
        if at % every == 0 or at == max_iter:
            y = flow(a, v, z)
            bound = np.linalg.norm(y)
            if bound > 0 and inner_value(W, g, c, -y / bound) < value:
                best, value = -y / bound, inner_value(W, g, c, -y / bound)
            if value <= -(1 - gap) * bound or bound <= least:
                break
    return best, value, bound, at
