"""Compute differences between the rows of pairs, in units that do not depend on those of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pairs = NDArray[np.integer[Any]]

_CHUNK = 8192
DEAREST = 1e300  # price of breaking a constraint; sums of more would overflow


def feature_spreads(X: NDArray[Any]) -> Array:
    """Compute the standard deviation of each feature, (d,); exactly 0 for features that never vary."""
    spread: Array = np.sqrt(X.var(axis=0, dtype=np.float64))
    return np.where(X.min(axis=0) == X.max(axis=0), 0.0, spread)


def replace_zeros(unit: Array) -> Array:
    """Replace units of 0 by 1."""
    return np.where(unit > 0, unit, 1.0)


def find_common_unit(X: NDArray[Any]) -> float:
    """Find one unit for all features: a power of two near their largest spread, which adds no rounding."""
    greatest = float(feature_spreads(X).max())
    return float(2.0 ** np.floor(np.log2(greatest))) if greatest > 0 else 1.0


def pair_differences(X: NDArray[Any], pairs: Pairs, unit: Array) -> Array:
    """Compute first row minus second row, (pairs, d), each feature in its `unit`."""
    found: Array = (X[pairs[:, 0]].astype(np.float64) - X[pairs[:, 1]]) / unit
    return found


def outer_sum(differences: Array, weight: Array, *, full: bool) -> Array:
    """Sum the weighted squares, (d,), or outer products, (d, d), of differences."""
    found: Array = (differences.T * weight) @ differences if full else weight @ differences**2
    return found


def constraint_prices(weight: Array, unit: float | Array) -> Array:
    """Compute the price of each constraint, `unit` for one of weight 1; at most `DEAREST`."""
    with np.errstate(over="ignore"):
        found: Array = np.minimum(weight * unit, DEAREST)
    return found


def scale_weights(weight: Array) -> Array:
    """Divide weights by a power of two, so that the largest is about 1; only their ratios count."""
    found: Array = np.ldexp(weight, -int(np.frexp(weight.max(initial=1e-300))[1]))
    return found


def compute_covariance(X: NDArray[Any], unit: Array) -> Array:
    """Compute the covariance of all rows, (d, d), each feature in its `unit`; in chunks of rows."""
    mean, found = X.mean(axis=0, dtype=np.float64), np.zeros((X.shape[1],) * 2)
    for start in range(0, len(X), _CHUNK):
        rows = (X[start : start + _CHUNK] - mean) / unit
        found += rows.T @ rows
    return found / len(X)
