"""Davis et al. (2007), plainly: Bregman projections pair by pair, and the objective that they lessen."""

import numpy as np
from scipy.optimize import minimize


def projections(pairs, sign, bound, gamma, start, max_sweeps, tol):
    """Algorithm 1, with the step for any gamma: metric, multipliers, sweeps made, change in the last."""
    A, xi, multiplier = start.copy(), bound.copy(), np.zeros(len(pairs))
    for sweep in range(1, max_sweeps + 1):  # noqa: B007
        before, missed = multiplier.copy(), 0.0
        for p, v in enumerate(pairs):
            square = v @ A @ v
            step = sign[p] * gamma[p] / (gamma[p] + 1) * (1 / square - 1 / xi[p])
            alpha = min(multiplier[p], step)
            missed = max(missed, abs(alpha) * square * (gamma[p] + 1) / gamma[p])
            beta = sign[p] * alpha / (1 - sign[p] * alpha * square)
            xi[p] = gamma[p] * xi[p] / (gamma[p] + sign[p] * alpha * xi[p])
            multiplier[p] -= alpha
            A = A + beta * np.outer(A @ v, A @ v)
        moved = np.abs(multiplier - before).sum()
        change = moved / (np.linalg.norm(multiplier) + np.linalg.norm(before)) if moved else 0.0
        change = max(change, missed / 10)
        if change <= tol:
            break
    return A, multiplier, sweep, change


def objective(A, pairs, sign, bound, gamma, start):
    """Divergence from the first metric, and the price of the bounds that are missed.

    For a metric held fixed, the best slack of a missed bound is the squared length itself.
    """
    ratio = A @ np.linalg.inv(start)
    value = np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(A)
    for v, s, b, g in zip(pairs, sign, bound, gamma, strict=True):
        share = (v @ A @ v) / b
        if (share > 1) if s > 0 else (share < 1):
            value += g * (share - np.log(share) - 1)
    return float(value)


def least(pairs, sign, bound, gamma, start):
    """The least objective that BFGS finds over A = LL'."""
    d = len(start)

    def of(flat):
        L = flat.reshape(d, d)
        return objective(L @ L.T, pairs, sign, bound, gamma, start)

    first = np.linalg.cholesky(start).ravel()
    return minimize(of, first, method="BFGS", options={"gtol": 1e-8, "maxiter": 2000}).fun


def histogram_bounds(squares):
    """Bounds of the authors' program: the middles of bins 5 and 95 of 100 equal ones."""
    width = (max(squares) - min(squares)) / 100
    return min(squares) + 4.5 * width, min(squares) + 94.5 * width
