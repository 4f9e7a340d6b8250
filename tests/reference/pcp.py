"""The program of Li, Liu and Tang (2008) on all of K, by alternating directions with fixed entries."""

from __future__ import annotations

import numpy as np


def laplacian(W):
    """The normalized Laplacian of a graph without loops."""
    root = np.sqrt(W.sum(axis=1))
    return np.eye(len(W)) - W / root[:, None] / root


def joined(L, component):
    """Sums of L between components: as K_ij = 1 makes two unit vectors one, <L, K> is that of these."""
    m = max(component) + 1
    found = np.zeros((m, m))
    for i, a in enumerate(component):
        for j, b in enumerate(component):
            found[a, b] += L[i, j]
    return found


def solved(L, apart, n_iter=3000, rho=1.0):
    """K of least <L, K>, positive semidefinite, with K_ii = 1 and 0 for pairs that are apart.

    X obeys the entries, Z is positive semidefinite, U adds up by what they differ.
    """
    n = len(L)
    fixed, wanted = np.eye(n, dtype=bool), np.eye(n)
    for i, j in apart:
        fixed[i, j] = fixed[j, i] = True
    Z, U = np.eye(n), np.zeros((n, n))
    for _ in range(n_iter):
        X = np.where(fixed, wanted, Z - U - L / rho)
        value, vector = np.linalg.eigh(X + U)
        Z = (vector * np.maximum(value, 0)) @ vector.T
        U = U + X - Z
    return Z
