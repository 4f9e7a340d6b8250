"""What follows from must-links and cannot-links, by matrices of all pairs."""

from __future__ import annotations

import numpy as np


def closed(n, must, cannot):
    """(together, apart): boolean matrices of all pairs; both True somewhere means a contradiction."""
    together = np.eye(n, dtype=bool)
    for i, j in must:
        together[i, j] = together[j, i] = True
    for k in range(n):  # Warshall (1962)
        together |= np.outer(together[:, k], together[k])
    given = np.zeros((n, n), dtype=bool)
    for i, j in cannot:
        given[i, j] = given[j, i] = True
    apart = (together.astype(int) @ given @ together) > 0
    return together, apart


def verdicts(n, must, cannot):
    """Matrix of "yes", "no" and None."""
    together, apart = closed(n, must, cannot)
    known = np.full((n, n), None, dtype=object)
    known[apart] = "no"
    known[together] = "yes"
    return known


def steps(n, must, start):
    """Fewest must-links from `start` to each row; infinity where none lead there."""
    found = np.full(n, np.inf)
    found[start] = 0
    edge = [start]
    while edge:
        row = edge.pop(0)
        for i, j in must:
            for a, b in ((i, j), (j, i)):
                if a == row and found[b] == np.inf:
                    found[b] = found[a] + 1
                    edge.append(b)
    return found


def steps_apart(n, must, cannot, i, j):
    """Fewest facts from which i ≠ j follows: must-links, one cannot-link, must-links."""
    near, far = steps(n, must, i), steps(n, must, j)
    both = [*cannot, *((b, a) for a, b in cannot)]
    return min((near[a] + 1 + far[b] for a, b in both), default=np.inf)
