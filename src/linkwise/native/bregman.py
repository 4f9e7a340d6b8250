"""Bregman projections onto bounds of distances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

Array = NDArray[np.float64]


class ProjectedMetric(NamedTuple):
    """A metric, (d, d), the multiplier of each pair, and the number of sweeps with the last change."""

    metric: Array
    multiplier: Array
    n_sweeps: int
    change: float


def bregman_projections(
    pairs: Array, sign: Array, bound: Array, gamma: Array, start: Array, max_sweeps: int, tol: float
) -> ProjectedMetric:
    """Name what `_native.bregman_projections` returns."""
    return ProjectedMetric(*library.bregman_projections(pairs, sign, bound, gamma, start, max_sweeps, tol))
