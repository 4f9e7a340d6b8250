"""FOSC by its definitions: OPTICS row by row, clusters as parts of cuts, the choice by recursion."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist


def core_distances(X, k):
    """Distance within which each row has k rows, itself included."""
    return np.sort(cdist(X, X), axis=1)[:, k - 1]


def optics(X, k, start=0):
    """(order, reachability in that order) of Ankerst et al. (1999) with an infinite radius."""
    away, core = cdist(X, X), core_distances(X, k)
    order, reach = [], np.full(len(X), np.inf)
    waiting, row = set(range(len(X))), start
    while waiting:
        waiting.remove(row)
        order.append(row)
        for other in waiting:
            reach[other] = min(reach[other], max(core[row], away[row, other]))
        row = min(waiting, key=lambda other: (reach[other], other), default=-1)
    return order, reach[order]


def cuts_of_plot(order, reach):
    """For each height the clusters of rows that a reachability plot joins strictly below it."""

    @cache
    def parts(height):
        places = np.cumsum(np.r_[0, reach[1:] >= height])
        return [{order[at] for at in np.flatnonzero(places == p)} for p in np.unique(places)]

    return parts, sorted(set(reach[1:]), reverse=True)


def cuts_of_mutual_reachability(X, k):
    """The same of a graph with edges max(core, core, distance)."""
    core = core_distances(X, k)
    mutual = np.maximum(np.maximum(core[:, None], core), cdist(X, X))

    @cache
    def parts(height):
        part = connected_components(mutual < height)[1]
        return [set(np.flatnonzero(part == p).tolist()) for p in np.unique(part)]

    return parts, sorted(set(mutual[~np.eye(len(X), dtype=bool)]), reverse=True)


class Cluster:
    """Its rows, how stable it is, and the clusters within."""

    def __init__(self, rows, cuts, least, born=0.0):
        self.rows, self.stability, self.kin = rows, 0.0, []
        parts, heights = cuts
        floor = min((h for h in heights if h > 0), default=2.0) / 2
        for height in heights:
            now, density = [p & rows for p in parts(height) if p & rows], 1 / max(height, floor)
            large = [p for p in now if len(p) >= least]
            if len(large) == 1:
                self.stability += len(rows - large[0]) * (density - born)
                rows = large[0]
                continue
            self.stability += len(rows) * (density - born)
            self.kin = [Cluster(p, cuts, least, density) for p in large]
            return

    def ends(self, pairs, satisfied, rows):
        return sum(0.5 for pair in pairs for i, j in (pair, pair[::-1]) if i in rows and satisfied(j))

    def best(self, must, cannot, ties, whole):
        """(value, stability, chosen clusters)."""
        own = self.ends(must, lambda j: j in self.rows, self.rows) + self.ends(
            cannot, lambda j: j not in self.rows, self.rows
        )
        if not self.kin:
            return own, self.stability, [self.rows]
        below = [cluster.best(must, cannot, ties, True) for cluster in self.kin]
        noise = self.rows - set().union(*(cluster.rows for cluster in self.kin))
        value = sum(b[0] for b in below) + self.ends(cannot, lambda j: True, noise)
        stability = sum(b[1] for b in below)
        as_stable = ties == "larger" or self.stability >= stability * (1 - 1e-12)
        if whole and (own > value or (own == value and as_stable)):
            return own, self.stability, [self.rows]
        return value, stability, [rows for b in below for rows in b[2]]


def clusters(X, k, least, must=(), cannot=(), *, hierarchy="optics", ties="stability", whole=False):
    """The chosen clusters, as a set of sets of rows."""
    k, order = min(k, len(X)), np.lexsort(X.T[::-1])
    X, place = X[order], np.argsort(order)  # ties go by the values of the rows
    must, cannot = ([tuple(place[list(pair)].tolist()) for pair in pairs] for pairs in (must, cannot))
    if hierarchy == "hdbscan":
        cuts = cuts_of_mutual_reachability(X, k)
    else:
        cuts = cuts_of_plot(*optics(X, k, int(core_distances(X, k).argmin())))
    top = Cluster(set(range(len(X))), cuts, least)
    return {frozenset(order[list(rows)].tolist()) for rows in top.best(must, cannot, ties, whole)[2]}
