"""ITML: the metric closest to a given one under which must-links are short and cannot-links are long.

Davis, Kulis, Jain, Sra and Dhillon (2007), "Information-theoretic metric learning". Closeness is the
divergence ``tr(A A0⁻¹) - log det(A A0⁻¹)``. Squared lengths of must-links should be at most u, those of
cannot-links at least l. A bound may be missed at a price: replacing u by c costs ``gamma (c / u - log(c /
u))``.

Kept: the objective, its algorithm of Bregman projections, one pair after the other, the bounds at the 5th and
the 95th percentile of squared distances, the price of gamma = 1.
Changed, and why:

- The step of their Algorithm 1 is printed for gamma = 1 only. In general pair and bound meet for ``gamma /
  (gamma + 1) (1 / p - 1 / bound)``; with the printed step they do not.
- Percentiles are of distances under the first metric, between rows that differ: all pairs, or 20 000 drawn.
  With copies among the rows the 5th percentile could be 0, which no metric can reach.
- Weights of constraints multiply gamma, so a heavier constraint is missed by less.
- Pairs of identical rows have length 0 under every metric and are ignored.

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
from linkwise.cluster.metric.base import MetricLearner
from linkwise.cluster.metric.differences import (
    Array,
    compute_covariance,
    constraint_prices,
    feature_spreads,
    find_common_unit,
    pair_differences,
    replace_zeros,
)
from linkwise.cluster.metric.roots import matrix_root
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.sampling import draw_pairs
from linkwise.rng import rng_at
from linkwise.validation import resolve_seed

_SAMPLED = 20_000  # pairs whose distances set the bounds
_SHRUNK = 1e-3  # share of no correlation at all in the covariance, which may be singular


class ITML(MetricLearner):
    """The metric closest to the plain one under which must-links are short and cannot-links are long.

    Parameters
    ----------
    prior : {"identity", "covariance"}, default="identity"
        The metric to stay close to: the plain one, or the inverse covariance of all rows.
    gamma : float, default=1.0
        Price of missing a bound. With a higher price the metric may move further from the prior.
    bounds : tuple of two floats, optional
        Squared distances under the prior: the upper bound of must-links and the lower bound of cannot-links.
        By default the 5th and the 95th percentile.
    tol : float, default=0.001
        The fit converges when a sweep changes the multipliers of the constraints by at most this share, and
        misses no bound by more than ten times this share beyond what its price allows.
    max_iter : int, default=1000
        Largest number of sweeps over the constraints.
    random_state : int, RandomState or None, default=None
        Seed of the draw of 20 000 pairs whose distances set the bounds, if there are more.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map that `transform` applies.
    bounds_ : tuple of two floats
        The bounds in use.
    n_iter_ : int
        Number of sweeps.

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
        """Learn the metric of differences in `unit`; return it and the number of sweeps."""
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
                "range of floats. Lower gamma, or pass wider bounds."
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
    """Return two positive numbers; raise if the bounds are others."""
    if len(bounds) != 2 or not all(isinstance(bound, Real) and 0 < bound < np.inf for bound in bounds):
        raise ValueError(
            f"bounds are not valid: {bounds!r}. Pass two positive numbers, the largest squared distance of "
            "must-links and the smallest of cannot-links, or None."
        )
    return float(bounds[0]), float(bounds[1])


def _inverse_correlation(X: NDArray[Any], unit: Array) -> Array:
    """Invert the covariance of the features in `unit`; features that never vary get variance 1."""
    shrunk = (1 - _SHRUNK) * compute_covariance(X, unit)
    shrunk[np.diag_indices_from(shrunk)] = 1.0
    inverse = np.linalg.inv(shrunk)
    symmetric: Array = (inverse + inverse.T) / 2
    return symmetric


def _find_percentiles(
    X: NDArray[Any], unit: Array, metric: Array, rng: np.random.Generator
) -> tuple[float, float]:
    """Find the 5th and 95th percentile of squared distances between different rows; 1 if there are none."""
    total = len(X) * (len(X) - 1) // 2
    pairs = draw_pairs(len(X), min(total, _SAMPLED), rng)
    apart = pair_differences(X, pairs, unit)
    squares = np.einsum("ij,ij->i", apart @ metric, apart)
    low, high = np.percentile(squares[squares > 0], (5, 95)) if squares.any() else (1.0, 1.0)
    return float(low), float(high)
