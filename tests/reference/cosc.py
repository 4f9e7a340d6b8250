"""Constrained 1-spectral clustering by its definitions: every set, every edge, dense matrices."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from scipy.linalg import eigh


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


def ratio_step(W, g, c, max_iter, every, gap, least, dual=None):
    """The kernel's steps with dense matrices: f, its value, the bound, the number of steps, and the dual."""
    m = len(g)
    a0, v0, z0 = (np.zeros((m, m)), np.full(m, 1 / m), np.full(m, 1 / m)) if dual is None else dual
    edge, degree = W > 0, W.sum(axis=1)
    blocks = 3 if c > 0 else 1
    step = np.where(edge, 1 / (blocks * (degree[:, None] + degree + (degree == 0))), 0)
    a = ahead = a0
    v = v_ahead = v0
    z = z_ahead = z0
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
    return best, value, bound, at, (a, v, z)


def slopes(volume, apart, f, gamma, ratio, balance):
    """A subgradient of gamma times the sum over pairs of |f_i - f_j| plus ratio times the balance."""
    n, whole = len(f), sum(volume)
    below = np.array([volume[f < f[i]].sum() for i in range(n)])
    above = np.array([volume[f > f[i]].sum() for i in range(n)])
    if balance == "ncut":
        sign = (below - above) / whole
    else:
        sign = np.where(above >= whole / 2, -1.0, np.where(below >= whole / 2, 1.0, np.nan))
        middle = np.isnan(sign)
        sign[middle] = -(sign * volume)[~middle].sum() / max(volume[middle].sum(), 1e-300)
    g = ratio * volume * sign
    for i, j in apart:
        g[i] += gamma * np.sign(f[i] - f[j])
        g[j] -= gamma * np.sign(f[i] - f[j])
    return g


def best_threshold(W, volume, apart, f, gamma, balance):
    """The set {f > t} of least ratio."""
    sets = [f > low for low in np.unique(f)[:-1]]
    return min(sets, key=lambda inside: set_ratio(W, volume, apart, inside, gamma, balance)[0])


def descend(W, volume, apart, f, gamma, balance, max_iter, gain, most=50):
    """RatioDCA: its vectors and their ratios."""
    ratio = functional(W, volume, apart, f, gamma, balance)
    states, dual = [(f, ratio)], None
    while ratio >= 1e-9 and len(states) <= most:
        slope = slopes(volume, apart, f, 0.0, 1.0, balance)
        g = slopes(volume, apart, f, gamma, ratio, balance)
        least = max(1e-9 * np.linalg.norm(g), gain * ratio * (slope @ f) / np.linalg.norm(f - f.mean()))
        f, value, _, _, dual = ratio_step(W, g, gamma * len(apart), max_iter, 10, 0.1, least, dual)
        if not value < -least:
            break
        before, ratio = ratio, functional(W, volume, apart, f, gamma, balance)
        if not ratio < before:
            break
        states.append((f, ratio))
        if before - ratio < gain * before:
            break
    return states


def clustering_value(W, volume, apart, labels, k, balance):
    """Broken pairs, less the number of clusters, the sum over clusters of cut / volume."""
    whole, total, sizes = sum(volume), 0.0, 0
    for c in range(k):
        inside = labels == c
        own = volume[inside].sum()
        sizes += own > 0
        if inside.any() and not inside.all():
            total += W[inside][:, ~inside].sum() / (own if balance == "ncut" else min(own, whole - own))
    return sum(labels[i] == labels[j] for i, j in apart), -sizes, total


def move_nodes(W, volume, apart, labels, k, balance):
    """The best move of a single node, again and again, as long as the value falls."""
    labels = labels.copy()
    while True:
        here = clustering_value(W, volume, apart, labels, k, balance)
        moves = []
        for node in range(len(labels)):
            if (labels == labels[node]).sum() == 1:
                continue
            for to in set(range(k)) - {labels[node]}:
                then = np.where(np.arange(len(labels)) == node, to, labels)
                broken, _, total = clustering_value(W, volume, apart, then, k, balance)
                moves.append((broken, total, node, to))
        broken, total, node, to = min(moves, default=(here[0], np.inf, 0, 0))
        if not (broken, total + 1e-12) < (here[0], here[2]):
            return labels
        labels[node] = to


def recut(W, volume, apart, labels, k, balance):
    """Try all ways to cut every two clusters anew, as long as that improves the value."""
    labels = labels.copy()
    value = clustering_value(W, volume, apart, labels, k, balance)
    while True:
        before = value
        for a, b in combinations(range(k), 2):
            nodes = np.flatnonzero((labels == a) | (labels == b))
            for size in range(1, len(nodes)):
                for moved in combinations(nodes, size):
                    then = labels.copy()
                    then[nodes] = a
                    then[list(moved)] = b
                    found = clustering_value(W, volume, apart, then, k, balance)
                    if (*found[:2], found[2] + 1e-12) < value:
                        labels, value = then, found
        if value == before:
            return labels


def slowest_value(W, volume, apart):
    """The least f' L f / f' V f under f_i = -f_j for all pairs, else under f' V 1 = 0."""
    n = len(W)
    L = np.diag(W.sum(axis=0)) - W
    if len(apart):
        column = {j: i for i, j in apart}
        own = [i for i in range(n) if i not in column]
        S = np.zeros((n, len(own)))
        for i in range(n):
            S[i, own.index(column.get(i, i))] = -1 if i in column else 1
        return eigh(S.T @ L @ S, S.T @ np.diag(volume) @ S, eigvals_only=True)[0]
    return eigh(L, np.diag(volume), eigvals_only=True)[1]


# ---------------------------------------------------------------- the authors' program
def share_of(size, m, k):
    """The number of clusters that a part of the nodes is thought to hold."""
    return max(2, int(np.floor(size * k / m)))


def outer_values(W, volume, part, off):
    """cut / vol in the whole graph of what is left of a part, and of what is cut off."""
    values = []
    for nodes in ([i for i in part if i not in off], list(off)):
        others = [j for j in range(len(W)) if j not in nodes]
        values.append(W[np.ix_(nodes, others)].sum() / volume[nodes].sum())
    return values


def components_of(W, part):
    """The connected parts of some nodes, by walks."""
    left, found = set(part), []
    while left:
        seen, ahead = set(), [min(left)]
        while ahead:
            node = ahead.pop()
            if node not in seen:
                seen.add(node)
                ahead += [j for j in left if W[node, j] > 0]
        left -= seen
        found.append(sorted(seen))
    return found


def nearly(each):
    """The first value, rounded: of equal ones the first counts, whatever the order of sums."""
    return round(each[0], 9)


def program_thresholds(W, volume, apart, part, own, f, price):
    """All ways to cut a connected part, the rest of its part on either side: (priced, cut, off, broken)."""
    q = [(i, j) for i, j in apart if i in own and j in own]
    found = []
    for rest_is_low in (True, False):
        for t in np.unique(f)[:-1]:
            high = [i for i, value in zip(own, f, strict=True) if value > t]
            low = [i for i in own if i not in high]
            broken = sum((i in high) == (j in high) for i, j in q)
            off = high if rest_is_low else low
            cut = sum(outer_values(W, volume, part, off))
            found.append(
                (cut + price * broken * (1 / volume[low].sum() + 1 / volume[high].sum()), cut, off, broken)
            )
    return found


def program_cut(W, volume, apart, part, own, k, starts, descend):
    """The set of least cut at the first price at which the best set breaks few enough pairs."""
    q = [(i, j) for i, j in apart if i in own and j in own]
    clusters = share_of(len(own), len(W), k)
    allowed = int(np.floor((clusters - 2) * len(q) / clusters))
    price, step, least, everything = 0.0, 0.1, np.inf, []
    for _ in range(5):
        found = []
        for at, start in enumerate(starts):
            starts[at] = descend(own, price, start)
            _, cut, off, broken = min(
                program_thresholds(W, volume, apart, part, own, starts[at], price), key=nearly
            )
            inside = [i for i in own if i in off]
            rest = [i for i in own if i not in off]
            ratio = W[np.ix_(inside, rest)].sum() + price * broken
            ratio *= 1 / volume[inside].sum() + 1 / volume[rest].sum()
            found.append((cut, off, ratio, broken))
        everything += found
        if min(found, key=lambda each: (each[2], each[3]))[3] <= allowed:
            return min(found, key=nearly)[1]
        before, least = least, min(each[0] for each in found)
        if abs(before - least) < 1e-8:
            step *= 2
        price += step
    return min(everything, key=nearly)[1]


def program_division(W, volume, apart, k, draw_starts, descend):
    """Repeated cuts of the program; ``draw_starts(own)`` and ``descend(own, price, start)`` do the rest."""
    m, labels = len(W), np.zeros(len(W), dtype=int)
    splits, separated = {}, 0
    for made in range(1, k):
        for label in range(made):
            if label in splits:
                continue
            part = np.flatnonzero(labels == label).tolist()
            parts = components_of(W, part)
            tried = [] if len(parts) == 1 else list(parts)
            for own in parts:
                if len(own) > 1:
                    tried.append(program_cut(W, volume, apart, part, own, k, draw_starts(own), descend))
            if len(part) == 1:
                splits[label] = [], np.inf, 0, 1
                continue
            off = min(tried, key=lambda each: round(sum(outer_values(W, volume, part, each)), 9))
            if part[0] in off:
                off = [i for i in part if i not in off]
            parted = sum(i in part and j in part and (i in off) != (j in off) for i, j in apart)
            splits[label] = off, sum(outer_values(W, volume, part, off)), parted, len(part)
        whole = {}
        for label, (_, value, _, _) in splits.items():
            others = [np.flatnonzero(labels == each) for each in range(made) if each != label]
            whole[label] = value + sum(
                W[nodes][:, np.setdiff1d(np.arange(m), nodes)].sum() / volume[nodes].sum() for nodes in others
            )
        best, most = None, 0
        for label in range(made):
            _, _, parted, size = splits[label]
            if parted < int(np.floor(2 * (share_of(size, m, k) - 1) * len(apart) / (k * (k - 1)))):
                continue
            if len(apart) and made + 1 == k:
                better = parted > most or (
                    parted == most and whole[label] < (np.inf if best is None else whole[best])
                )
            else:
                is_enough = parted >= most or parted + separated >= (2 * k - made - 1) * made * len(apart) / (
                    k * (k - 1)
                )
                better = is_enough and whole[label] < (np.inf if best is None else whole[best])
            if better:
                best, most = label, parted
        if best is None:
            best = min(splits, key=lambda label: (-splits[label][2], whole[label]))
        off, _, parted, _ = splits.pop(best)
        if not off:
            break
        labels[off] = made
        separated += parted
    return labels
