"""Project metrics to bounds on the lengths of pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count
from linkwise.native.library import library

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
    """Find the metric closest to `start` whose squared lengths of pairs keep their bounds, with slack.

    Closeness is the divergence ``tr(A B⁻¹) - log det(A B⁻¹)``; a pair whose bound b becomes c adds ``gamma (c
    / b - log(c / b))``. Pairs are projected one after the other, in one thread. Time O(sweeps pairs d²).

    Parameters
    ----------
    pairs : (m, d) float64
        Differences, none of which is 0.
    sign : (m,) float64
        1 if the squared length should be at most `bound`, -1 if at least.
    bound, gamma : (m,) float64
        Positive.
    start : (d, d) float64
        Symmetric, positive definite.
    max_sweeps : int, at least 1
        Largest number of sweeps.
    tol : float
        Change at which to stop: the sum of the changes of the multipliers in a sweep, relative to the length
        of their vector before and after; or, where it is greater, a tenth of the greatest share by which a
        pair missed its bound when its turn came. Multipliers of high prices move little while bounds are far.

    Returns
    -------
    ProjectedMetric
        The metric and its multipliers.
    """
    check_array("pairs", pairs, (None, None))
    for name, values in (("sign", sign), ("bound", bound), ("gamma", gamma)):
        check_array(name, values, (len(pairs),))
    check_array("start", start, (pairs.shape[1],) * 2)
    check_count("max_sweeps", max_sweeps)
    return ProjectedMetric(*library.bregman_projections(pairs, sign, bound, gamma, start, max_sweeps, tol))
