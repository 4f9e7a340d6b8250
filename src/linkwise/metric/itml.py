"""ITML: the metric nearest to a given one under which must-links are short and cannot-links long enough.

Davis, Kulis, Jain, Sra and Dhillon (2007), "Information-theoretic metric learning". Nearest is by the
divergence ``tr(A A0⁻¹) - log det(A A0⁻¹)``; squared lengths of must-links shall be at most u, of cannot-links
at least l. A bound may be missed at a price: where u becomes c, ``gamma (c / u - log(c / u))``.

Kept: the objective, its algorithm of Bregman projections, one pair after the other, the bounds at the 5th and
the 95th percentile of squared distances, the price of gamma = 1.
Changed, and why:

- The step of their Algorithm 1 is printed for gamma = 1 only. In general the projection brings pair and bound
  together for ``gamma / (gamma + 1) (1 / p - 1 / bound)``; with the printed step they do not meet.
- Percentiles are of distances under the first metric, between rows that differ: all pairs, or 20 000 drawn.
  With copies among the rows the 5th percentile could be 0, which no metric reaches.
- Weights of constraints multiply gamma: a heavier one is missed by less.
- Pairs of identical rows have length 0 under every metric and are passed over.

Cost: O(sweeps pairs d²), in a kernel.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise import native
from linkwise.asking.learner import rng_at
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.sampling import draw_pairs
from linkwise.metric.base import MetricLearner
from linkwise.metric.differences import (
    Array,
    compute_covariance,
    constraint_prices,
    feature_spreads,
    find_common_unit,
    pair_differences,
    replace_zeros,
)
from linkwise.metric.roots import matrix_root
from linkwise.validation import resolve_seed

_SAMPLED = 20_000  # pairs whose distances set the bounds
_SHRUNK = 1e-3  # share of no correlation at all in the covariance, which may be singular


class ITML(MetricLearner):
    """The metric nearest to the plain one under which must-links are short and cannot-links long enough.

    Parameters
    ----------
    prior : {"identity", "covariance"}, default="identity"
        The metric to stay near to: the plain one, or the inverse of the covariance of all rows.
    gamma : float, default=1.0
        Price of missing a bound; the greater, the further the metric may go from the prior.
    bounds : tuple of two floats, optional
        Squared distances under the prior: what must-links shall be at most, and cannot-links at least. The
        5th and the 95th percentile by default.
    tol : float, default=0.001
        Converged when a sweep changes the multipliers of the constraints by no more than this share, and
        finds no bound missed by more than ten times this share beyond what its price allows.
    max_iter : int, default=1000
        Sweeps over the constraints.
    random_state : int, RandomState or None, default=None
        For the pairs whose distances set the bounds, where there are more than 20 000.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map that `transform` applies.
    bounds_ : tuple of two floats
        The bounds that were used.
    n_iter_ : int
        Sweeps made.

    References
    ----------
    Davis, Kulis, Jain, Sra and Dhillon (2007), Information-theoretic metric learning. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0, 0.0], [0.1, 5.0], [1.0, 2.0], [1.1, 8.0]])
    >>> c = lw.Constraints(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> lw.ITML().fit(X, constraints=c).get_mahalanobis_matrix().round(2)
    array([[1.82, 0.36],
           [0.36, 0.35]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "prior": [StrOptions({"identity", "covariance"})],
        "gamma": [Interval(Real, 0, np.inf, closed="neither")],
        "bounds": [None, tuple, list],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        prior: Literal["identity", "covariance"] = "identity",
        *,
        gamma: float = 1.0,
        bounds: tuple[float, float] | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.prior = prior
        self.gamma = gamma
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, X: NDArray[Any], constraints: Constraints) -> Array:
        plain = self.prior == "identity"
        unit = np.full(X.shape[1], find_common_unit(X)) if plain else replace_zeros(feature_spreads(X))
        start = np.eye(X.shape[1]) if plain else _inverse_correlation(X, unit)
        square = float(unit[0] ** 2) if plain else 1.0  # the plain metric has a unit, the other has none
        if self.bounds is None:
            low, high = _find_percentiles(X, unit, start, rng_at(resolve_seed(self.random_state)))
        else:
            low, high = (bound / square for bound in _check_bounds(self.bounds))
        self.bounds_ = (low * square, high * square)
        metric, self.n_iter_ = self._projected(X, constraints, unit, start, (low, high))
        return matrix_root(metric) / (1.0 if plain else unit)

    def _projected(
        self,
        X: NDArray[Any],
        constraints: Constraints,
        unit: Array,
        start: Array,
        bounds: tuple[float, float],
    ) -> tuple[Array, int]:
        """The metric of differences in `unit`, and the sweeps made."""
        must, cannot = constraints.must_link, constraints.cannot_link
        pairs = pair_differences(X, np.vstack([must, cannot]), unit)
        sign = np.repeat([1.0, -1.0], [len(must), len(cannot)])
        weight = np.r_[constraints.must_link_weight, constraints.cannot_link_weight]
        told = (pairs**2).any(axis=1)
        if not told.any():
            return start, 1
        pairs, sign, gamma = (
            pairs[told],
            sign[told],
            constraint_prices(weight[told], self.gamma),
        )
        bound = np.where(sign > 0, *bounds)
        found = native.bregman_projections(pairs, sign, bound, gamma, start, self.max_iter, self.tol)
        if not np.isfinite(found.metric).all():
            raise ValueError(
                f"No metric keeps the bounds {self.bounds_} at the price gamma={self.gamma:g} within the "
                "range of floats. Lower gamma, or give wider bounds."
            )
        if not found.change <= self.tol:
            warnings.warn(
                f"ITML still changes by {found.change:.1g} in sweep {found.n_sweeps}. Allow more with "
                f"max_iter, or a tol above {self.tol:g}, or lower gamma.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found.metric, found.n_sweeps


def _check_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    """Two positive numbers."""
    if len(bounds) != 2 or not all(isinstance(bound, Real) and 0 < bound < np.inf for bound in bounds):
        raise ValueError(
            f"bounds are not valid: {bounds!r}. Give two positive numbers, the largest squared distance of "
            "must-links and the smallest of cannot-links, or None."
        )
    return float(bounds[0]), float(bounds[1])


def _inverse_correlation(X: NDArray[Any], unit: Array) -> Array:
    """The inverse covariance of the features in `unit`, their spreads; of those that never vary 1."""
    shrunk = (1 - _SHRUNK) * compute_covariance(X, unit)
    shrunk[np.diag_indices_from(shrunk)] = 1.0
    inverse = np.linalg.inv(shrunk)
    symmetric: Array = (inverse + inverse.T) / 2
    return symmetric


def _find_percentiles(
    X: NDArray[Any], unit: Array, metric: Array, rng: np.random.Generator
) -> tuple[float, float]:
    """The 5th and the 95th percentile of the squared distances of rows that differ; 1 where all are alike."""
    total = len(X) * (len(X) - 1) // 2
    pairs = draw_pairs(len(X), min(total, _SAMPLED), rng)
    apart = pair_differences(X, pairs, unit)
    squares = np.einsum("ij,ij->i", apart @ metric, apart)
    low, high = np.percentile(squares[squares > 0], (5, 95)) if squares.any() else (1.0, 1.0)
    return float(low), float(high)
