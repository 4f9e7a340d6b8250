"""Find the metric of trace 1 that maximises the sum of the lengths of pairs.

Maximise ``T(B) = sum_p w_p r_p``, ``r_p = sqrt(v_p' B v_p)``, over positive semidefinite B of trace 1, or
over diagonal ones. T is concave. With ``Q = (sum_p w_p v_p v_p' / r_p) / (2 T)`` the logarithm of T is below
its maximum by at most ``λmax(Q) - 1/2``, since ``<Q, B> = 1/2``. This is the stopping rule.

The method is that of spectral projected gradients: Birgin, Martínez and Raydan (2000), Nonmonotone spectral
projected gradient methods on convex sets, SIAM J. Optim. 10, their second algorithm. The projection is that
of the eigenvalues onto the simplex. Cost of a step: O(pairs d) for diagonal B, O(pairs d² + d³) otherwise;
ten to some hundred steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SUFFICIENT = 1e-4  # share of the gain that the gradient promises
_REMEMBERED = 10  # values, of which a step must beat the worst
_STEP_SIZES = (1e-10, 1e10)
_SHORTEST = 1e-12
_ROUNDING = 1e-15
_NO_LENGTH = 1e-150  # instead of 0; the metric is not taken then, see `_line_search`


class SearchResult(NamedTuple):
    """The metric, the gap of the logarithm of T to its maximum, and the number of iterations."""

    metric: Array
    gap: float
    n_iter: int


class _MetricSet(NamedTuple):
    """The set of metrics to search."""

    start: Array
    squares: Callable[[Array, Array], Array]
    """Squared lengths of pairs (m, d) under a metric."""
    outer: Callable[[Array, Array], Array]
    """Weighted sum of outer products."""
    project: Callable[[Array], Array]
    largest: Callable[[Array], float]


class _Iterate(NamedTuple):
    metric: Array
    value: float
    slope: Array
    shortest: float


def maximize_lengths(
    pairs: Array, weight: Array, *, diagonal: bool, tol: float, max_iter: int
) -> SearchResult:
    """Find the metric of trace 1 that maximises the weighted sum of the lengths of pairs; no length is 0.

    If `diagonal`, it is weights, (d,), otherwise a matrix. The search stops at the gap `tol`.
    """
    among = _weights(pairs.shape[1]) if diagonal else _matrices(pairs.shape[1])
    given = pairs**2 if diagonal else pairs
    place = _evaluate(among, given, weight, among.start)
    best, step, values = SearchResult(place.metric, np.inf, 0), 1.0, deque([place.value], _REMEMBERED)
    for n_iter in range(1, max_iter + 1):
        gap = among.largest(place.slope) - 0.5
        best = SearchResult(place.metric if gap < best.gap else best.metric, min(gap, best.gap), n_iter)
        if gap <= tol:
            break
        direction = among.project(place.metric + step * place.slope) - place.metric
        moved = _line_search(among, given, weight, place, direction, min(values))
        if moved is None:
            break
        change, bend = moved.metric - place.metric, place.slope - moved.slope
        curvature = float((change * bend).sum())
        step = (
            float(np.clip((change**2).sum() / curvature, *_STEP_SIZES)) if curvature > 0 else _STEP_SIZES[1]
        )
        place = moved
        values.append(place.value)
    return best


def _evaluate(among: _MetricSet, pairs: Array, weight: Array, metric: Array) -> _Iterate:
    """Compute log T and its gradient Q."""
    lengths = np.sqrt(np.maximum(among.squares(pairs, metric), 0))
    total = float(weight @ lengths)
    pull = weight / (2 * total * np.maximum(lengths, _NO_LENGTH))
    return _Iterate(metric, float(np.log(total)), among.outer(pairs, pull), float(lengths.min()))


def _line_search(
    among: _MetricSet, pairs: Array, weight: Array, place: _Iterate, direction: Array, least: float
) -> _Iterate | None:
    """Shorten a step until it gains enough; None if no step does."""
    promised, share = float((place.slope * direction).sum()), 1.0
    while share > _SHORTEST:
        moved = _evaluate(among, pairs, weight, place.metric + share * direction)
        # a pair of length 0 pulls without bound: the greatest is not there
        if moved.shortest > 0 and moved.value >= least + _SUFFICIENT * share * promised - _ROUNDING:
            return moved
        share /= 2
    return None


# ---------------------------------------------------------------- diagonal metrics, given squares
def _weights(d: int) -> _MetricSet:
    return _MetricSet(
        start=np.full(d, 1 / d),
        squares=lambda squares, weights: squares @ weights,
        outer=lambda squares, pull: pull @ squares,
        project=project_on_simplex,
        largest=lambda slope: float(slope.max()),
    )


def project_on_simplex(values: Array) -> Array:
    """Project values to the nearest ones that are 0 or more and sum to 1."""
    falling = np.sort(values)[::-1]
    surplus = (np.cumsum(falling) - 1) / np.arange(1, len(values) + 1)
    nearest: Array = np.maximum(values - surplus[np.flatnonzero(falling > surplus)[-1]], 0)
    return nearest


# ---------------------------------------------------------------- full metrics
def _matrices(d: int) -> _MetricSet:
    return _MetricSet(
        start=np.eye(d) / d,
        squares=lambda pairs, metric: np.einsum("ij,ij->i", pairs @ metric, pairs),
        outer=lambda pairs, pull: (pairs.T * pull) @ pairs,
        project=_project_on_spectrahedron,
        largest=lambda slope: float(np.linalg.eigvalsh(slope)[-1]),
    )


def _project_on_spectrahedron(matrix: Array) -> Array:
    value, vector = np.linalg.eigh((matrix + matrix.T) / 2)
    nearest: Array = (vector * project_on_simplex(value)) @ vector.T
    return nearest
