"""Weights by Newton's method from equal ones, as Xing, Ng, Jordan and Russell (2002, section 2.1) find them.

They minimise ``g(a) = sum_ML |x - y|²_a - log(sum_CL |x - y|_a)``. Their published program starts at weights
of 1, cuts weights below 0, halves a step while the objective falls, and ends when it changes by less than a
thousandth. So it ends before the minimum, where most weights are 0, and more of them stay positive than
`linkwise.cluster.metric.mmc.diagonal_weights` finds.

Here a step is also halved until it has an objective: cutting may leave no weight. Pairs of length 0 have no
slope and are left out of it.

Cost: O(pairs d² + d³) a step, at most 100 steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_TOLERANCE = 1e-3  # share of the objective
_RIDGE = 1e-6  # on the diagonal of the second derivative
_MAX_STEPS = 100
_MOST_HALVINGS = 60


def newton_weights(
    X: NDArray[np.floating],
    must_link: NDArray[np.integer],
    cannot_link: NDArray[np.integer],
    must_link_weight: Array | None = None,
    cannot_link_weight: Array | None = None,
) -> Array:
    """Learn weights of the features by a few steps of Newton's method from weights of 1.

    Returns weights of mean 1, (d,), 0 or more. They are all 1 if no cannot-link has rows that differ. Unlike
    those of `diagonal_weights` they depend on the units of the features, since 1 does.
    """
    near, apart = ((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2 for pairs in (must_link, cannot_link))
    weight = np.ones(len(apart)) if cannot_link_weight is None else cannot_link_weight
    differing = apart.any(axis=1)
    apart, weight = apart[differing], weight[differing]
    weights = np.ones(X.shape[1])
    if len(apart) == 0:
        return weights
    together = near.sum(axis=0) if must_link_weight is None else must_link_weight @ near
    value = _objective(weights, together, apart, weight)
    for _ in range(_MAX_STEPS):
        step = _newton_step(weights, together, apart, weight)
        before, (weights, value) = value, _halve_while_it_falls(weights, step, together, apart, weight)
        if not abs(value - before) > _TOLERANCE * abs(value):
            break
    scaled: Array = weights / weights.mean()
    return scaled


def _objective(weights: Array, together: Array, apart: Array, weight: Array) -> float:
    """Compute g, infinite where all cannot-links have length 0."""
    total = float(weight @ np.sqrt(apart @ weights))
    return float(together @ weights) - float(np.log(total)) if total > 0 else np.inf


def _newton_step(weights: Array, together: Array, apart: Array, weight: Array) -> Array:
    """Solve for the step from the first and second derivatives of g."""
    lengths = np.sqrt(apart @ weights)
    long = lengths > 0
    apart, weight, lengths = apart[long], weight[long], lengths[long]
    total = weight @ lengths
    slope = (weight / (2 * lengths)) @ apart / total
    bend = (apart.T * (weight / (4 * lengths**3))) @ apart / total + np.outer(slope, slope)
    bend[np.diag_indices_from(bend)] += _RIDGE
    step: Array = np.linalg.solve(bend, together - slope)
    return step


def _halve_while_it_falls(
    weights: Array, step: Array, together: Array, apart: Array, weight: Array
) -> tuple[Array, float]:
    """Take the whole step, then half of it and so on while g falls; return the last that was lower."""
    best, least = weights, np.inf
    for halving in range(_MOST_HALVINGS):
        moved = np.maximum(weights - step / 2**halving, 0)
        value = _objective(moved, together, apart, weight)
        if np.isfinite(least) and not value < least:
            break
        if np.isfinite(value):
            best, least = moved, value
    return (best, least) if np.isfinite(least) else (weights, _objective(weights, together, apart, weight))
