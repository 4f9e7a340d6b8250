"""Xing et al. (2002), plainly: the objectives, and what a general optimiser makes of them."""

import numpy as np
from scipy.optimize import minimize


def ridged(X, c, ridge):
    """Squared differences of the must-links in sum, each feature with its share of random pairs."""
    total = c.must_link_weight.sum() or 1.0
    found = ridge * total * X.var(axis=0)
    for (i, j), weight in zip(c.must_link, c.must_link_weight, strict=True):
        found = found + weight * (X[i] - X[j]) ** 2
    return found


def objective(a, X, c, ridge):
    """g of section 2.1."""
    apart = 0.0
    for (i, j), weight in zip(c.cannot_link, c.cannot_link_weight, strict=True):
        apart += weight * np.sqrt(a @ (X[i] - X[j]) ** 2)
    return float(ridged(X, c, ridge) @ a - np.log(apart))


def gradient(a, X, c, ridge):
    apart, slope = 0.0, np.zeros(len(a))
    for (i, j), weight in zip(c.cannot_link, c.cannot_link_weight, strict=True):
        square = (X[i] - X[j]) ** 2
        if (length := np.sqrt(a @ square)) > 0:
            apart += weight * length
            slope = slope + weight * square / (2 * length)
    return ridged(X, c, ridge) - slope / apart


def least(X, c, ridge, starts=3):
    """The least objective that L-BFGS-B finds from several starts, and where."""
    rng = np.random.default_rng(0)
    unit = 0.5 / ridged(X, c, ridge) / X.shape[1]  # g is least on a ray where s · a = 1/2
    found = [
        minimize(
            lambda b: (objective(b * unit, X, c, ridge), gradient(b * unit, X, c, ridge) * unit),
            rng.uniform(0.5, 1.5, X.shape[1]),
            jac=True,
            method="L-BFGS-B",
            bounds=[(1e-14, None)] * X.shape[1],
            options={"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-11},
        )
        for _ in range(starts)
    ]
    best = min(found, key=lambda one: one.fun)
    return best.fun, best.x * unit


# ---------------------------------------------------------------- full metrics
def full_parts(L, X, c, ridge):
    """Both sums of section 2.2 at A = L'L: squared lengths of must-links, lengths of cannot-links."""
    total = c.must_link_weight.sum() or 1.0
    together = ridge * total * ((L * X.std(axis=0)) ** 2).sum()
    for (i, j), weight in zip(c.must_link, c.must_link_weight, strict=True):
        together += weight * ((L @ (X[i] - X[j])) ** 2).sum()
    apart = 0.0
    for (i, j), weight in zip(c.cannot_link, c.cannot_link_weight, strict=True):
        apart += weight * np.linalg.norm(L @ (X[i] - X[j]))
    return together, apart


def full_objective(L, X, c, ridge):
    """g at the best multiple of L'L, where the first sum is 1/2."""
    together, apart = full_parts(L, X, c, ridge)
    return float(0.5 - np.log(apart / np.sqrt(2 * together)))


def full_least(X, c, ridge):
    """The least objective that BFGS finds over L, with numerical gradients."""
    d = X.shape[1]
    start = np.random.default_rng(0).normal(size=d * d)
    return minimize(
        lambda flat: full_objective(flat.reshape(d, d) / X.std(axis=0), X, c, ridge),
        start,
        method="BFGS",
        options={"gtol": 1e-8, "maxiter": 2000},
    ).fun


# ---------------------------------------------------------------- Newton's method, as published
def newton(X, c, tol=1e-3):
    """Section 2.1 from weights of 1, pair after pair; the facts of the published program in words.

    A step is halved while the objective falls, weights below 0 are cut, and it ends when the objective
    changes by less than a thousandth.
    """
    d = X.shape[1]
    pairs = [(X[i] - X[j]) ** 2 for i, j in c.cannot_link]

    def value(a):
        apart = sum(np.sqrt(a @ u) for u in pairs)
        return sum(a @ (X[i] - X[j]) ** 2 for i, j in c.must_link) - np.log(apart) if apart > 0 else np.inf

    a = np.ones(d)
    while True:
        slope, bend, apart = np.zeros(d), np.zeros((d, d)), sum(np.sqrt(a @ u) for u in pairs)
        for u in pairs:
            r = np.sqrt(a @ u)
            if r > 0:
                slope += u / (2 * r) / apart
                bend += np.outer(u, u) / (4 * r**3) / apart
        bend += np.outer(slope, slope) + 1e-6 * np.eye(d)
        together = sum(((X[i] - X[j]) ** 2 for i, j in c.must_link), np.zeros(d))
        step = np.linalg.solve(bend, together - slope)
        share, tried = 1.0, np.maximum(a - step, 0)
        while not np.isfinite(value(tried)) or value(np.maximum(a - share / 2 * step, 0)) < value(tried):
            share /= 2
            tried = np.maximum(a - share * step, 0)
        change, a = abs(value(tried) - value(a)), tried
        if change <= tol * abs(value(a)):
            return a / a.mean()
