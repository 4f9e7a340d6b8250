"""A plain transcription of COP-k-means (Wagstaff, Cardie, Rogers and Schroedl 2001), and its form in Clus.

Clus is the program of Struyf and Džeroski (2007). What is known of it: the mean of linked rows stands for
them, groups are assigned in the order of the data, and it starts at the ends of random cannot-links.
"""

from __future__ import annotations

from itertools import permutations

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


def cop_k_means_of_clus(X, together, apart, centers, max_iter=100):
    """Labels, or None when a group finds no cluster. `together` and `apart` are matrices of all pairs."""
    groups = list(dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in together))
    centers = np.array(centers, float)
    before = None
    for _ in range(max_iter):
        cluster = {}
        for group in groups:
            far = ((X[list(group)].mean(axis=0) - centers) ** 2).sum(axis=1)
            taken = {cluster[other] for other in cluster if apart[group[0], other[0]]}
            allowed = [c for c in np.argsort(far, kind="stable").tolist() if c not in taken]
            if not allowed:
                return None
            cluster[group] = allowed[0]
        labels = np.empty(len(X), int)
        for group, c in cluster.items():
            labels[list(group)] = c
        if before is not None and (labels == before).all():
            break
        before = labels
        centers = np.array(
            [X[labels == c].mean(axis=0) if (labels == c).any() else centers[c] for c in range(len(centers))]
        )
    return labels


def starts_of_clus(n_groups, links, k):
    """All sets of groups at which Clus may start: links in each order, then groups in each order."""
    found = set()
    for order in permutations(links):
        ends = []
        for link in order:
            free = [end for end in link if end not in ends]
            if len(ends) + len(free) <= k:
                ends += free
        others = [group for group in range(n_groups) if group not in ends]
        found |= {frozenset(ends + list(rest)) for rest in permutations(others, k - len(ends))}
    return found
