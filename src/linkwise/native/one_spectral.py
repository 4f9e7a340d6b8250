"""The convex problem within a step of 1-spectral clustering."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_range
from linkwise.native.library import library

Floats = NDArray[np.float64]


class RatioStep(NamedTuple):
    """The result of a step."""

    f: Floats
    """(m,) of length 1."""
    value: float
    """The objective there; infinite where none was found (the bound is 0)."""
    bound: float
    """No objective is below minus this, up to rounding."""
    n_iter: int
    dual: tuple[Floats, Floats, Floats]
    """(e / 2,), (m,) and (m,): from where a later step may start."""


def ratio_step(
    starts: NDArray[np.int64],
    ends: NDArray[np.int32],
    weights: Floats,
    g: Floats,
    c: float,
    dual: tuple[Floats, Floats, Floats],
    *,
    max_iter: int,
    every: int = 10,
    gap: float = 0.1,
    least: float = 0.0,
) -> RatioStep:
    """Find f of length at most 1 with little sum w_ij |f_i - f_j| + c (max f - min f) - <g, f>.

    The sum is over the edges of a graph, each once.

    Parameters
    ----------
    starts, ends, weights : (m + 1,) int64, (e,) int32 and (e,) float64
        Symmetric CSR array without loops, weights above 0: every edge stands there twice.
    g : (m,) float64
        Linear term.
    c : float, not negative
        Weight of the range of f.
    dual : arrays of shapes (e / 2,), (m,) and (m,)
        Start: a number in [-1, 1] for each edge, in the order in which its lower node holds it; two points of
        the simplex, which count where c > 0.
    max_iter : int, at least 1
        Largest number of iterations.
    every : int, at least 1, default=10
        Number of steps between evaluations of the objective.
    gap : float, default=0.1
        The search ends when the objective is at most (1 - gap) times its lower bound.
    least : float, default=0.0
        A bound below this ends the search, since no gain is possible.

    Returns
    -------
    RatioStep
        The vector f and its multipliers.

    References
    ----------
    Rangapuram and Hein (2012), Constrained 1-spectral clustering, section 4. Beck and Teboulle (2009), A fast
    iterative shrinkage-thresholding algorithm.
    """
    check_array("g", g, (None,))
    m = len(g)
    check_array("starts", starts, (m + 1,), np.int64)
    check_array("weights", weights, (None,))
    check_array("ends", ends, (len(weights),), np.int32)
    check_range("ends", ends, 0, m - 1)
    if starts[0] != 0 or starts[-1] != len(ends) or (np.diff(starts) < 0).any():
        raise ValueError(f"starts must rise from 0 to {len(ends)}")
    if 2 * np.count_nonzero(ends > np.repeat(np.arange(m), np.diff(starts))) != len(ends):
        raise ValueError("ends must hold every edge twice, once for each end")
    for name, array, length in zip("avz", dual, (len(ends) // 2, m, m), strict=True):
        check_array(name, array, (length,))
    if not c >= 0:
        raise ValueError(f"c must not be negative, got {c}")
    for name, count in (("max_iter", max_iter), ("every", every)):
        check_count(name, count)
    f, value, bound, n_iter, a, v, z = library.ratio_step(
        starts, ends, weights, g, c, *dual, max_iter, every, gap, least
    )
    return RatioStep(f, value, bound, n_iter, (a, v, z))
