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

`ITML.authors` has the defaults of the authors' program.

Cost: O(sweeps pairs d²), in a kernel.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

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
_BINS = 100  # of the histogram, and the number of pairs in it
_LOW, _HIGH = 5, 95  # percentiles, or bins
_SHRUNK = 1e-3  # share of no correlation at all in the covariance, which may be singular


class ITML(MetricLearner):
    """The metric closest to the plain one under which must-links are short and cannot-links are long.

    Parameters
    ----------
    prior : {"identity", "covariance"}, default="identity"
        The metric to stay close to: the plain one, or the inverse covariance of all rows.
    gamma : float, default=1.0
        Price of missing a bound. With a higher price the metric may move further from the prior.
    bounds : tuple of two floats, or "histogram", optional
        Squared distances under the prior: the upper bound of must-links and the lower bound of cannot-links.
        By default the 5th and the 95th percentile. "histogram": the middle of the 5th and of the 95th of 100
        equal parts of the range of 100 random squared distances.
    tol : float, default=0.001
        The fit converges when a sweep changes the multipliers of the constraints by at most this share, and
        misses no bound by more than ten times this share beyond what its price allows.
    max_iter : int, default=1000
        Largest number of sweeps over the constraints.
    max_projections : int, optional
        Largest number of projections on single constraints, in whole sweeps and at least one of them.
    order : {"given", "random"}, default="given"
        Order of the constraints: must-links first, as they are given; or random.
    random_state : int, RandomState or None, default=None
        Seed of the draw of pairs whose distances set the bounds, and of a random order.

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
        "bounds": [None, tuple, list, StrOptions({"histogram"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_projections": [Interval(Integral, 1, None, closed="left"), None],
        "order": [StrOptions({"given", "random"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        prior: Literal["identity", "covariance"] = "identity",
        *,
        gamma: float = 1.0,
        bounds: tuple[float, float] | Literal["histogram"] | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_projections: int | None = None,
        order: Literal["given", "random"] = "given",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.prior = prior
        self.gamma = gamma
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.max_projections = max_projections
        self.order = order
        self.random_state = random_state

    @classmethod
    def authors(cls, **parameters: Any) -> Self:
        """Create the method with the defaults of the authors' program.

        Its bounds are parts of a histogram of 100 distances, it sweeps over the constraints in random order,
        and it ends at a change of a hundredth or after 100 000 projections, often before it converges.

        Parameters
        ----------
        **parameters : Any
            Parameters of `ITML` that replace those of the preset.

        Returns
        -------
        ITML
            The method, not fitted.
        """
        program: dict[str, Any] = {
            "bounds": "histogram",
            "tol": 0.01,
            "max_projections": 100_000,
            "order": "random",
        }
        return cls(**{**program, **parameters})

    def _fit(self, X: NDArray[Any], constraints: Constraints) -> Array:
        plain = self.prior == "identity"
        unit = np.full(X.shape[1], find_common_unit(X)) if plain else replace_zeros(feature_spreads(X))
        start = np.eye(X.shape[1]) if plain else _inverse_correlation(X, unit)
        square = float(unit[0] ** 2) if plain else 1.0  # the plain metric has a unit, the other has none
        seed = resolve_seed(self.random_state)
        if self.bounds is None:
            low, high = _find_percentiles(X, unit, start, rng_at(seed))
        elif self.bounds == "histogram":
            low, high = _find_parts(X, unit, start, rng_at(seed))
        else:
            low, high = (bound / square for bound in _check_bounds(self.bounds))
        self.bounds_ = (low * square, high * square)
        metric, self.n_iter_ = self._projected(X, constraints, unit, start, (low, high), rng_at(seed, 1))
        return matrix_root(metric) / (1.0 if plain else unit)

    def _projected(
        self,
        X: NDArray[Any],
        constraints: Constraints,
        unit: Array,
        start: Array,
        bounds: tuple[float, float],
        rng: np.random.Generator,
    ) -> tuple[Array, int]:
        """Learn the metric of differences in `unit`; return it and the number of sweeps."""
        must, cannot = constraints.must_link, constraints.cannot_link
        pairs = pair_differences(X, np.vstack([must, cannot]), unit)
        sign = np.repeat([1.0, -1.0], [len(must), len(cannot)])
        weight = np.r_[constraints.must_link_weight, constraints.cannot_link_weight]
        differing = np.flatnonzero((pairs**2).any(axis=1))
        if not len(differing):
            return start, 1
        gamma = constraint_prices(weight[differing], self.gamma)
        if self.order == "random":
            order = rng.permutation(len(differing))
            differing, gamma = differing[order], gamma[order]
        pairs, sign = pairs[differing], sign[differing]
        bound = np.where(sign > 0, *bounds)
        sweeps = self.max_iter
        if self.max_projections is not None:
            sweeps = min(sweeps, max(1, self.max_projections // len(differing)))
        found = native.bregman_projections(pairs, sign, bound, gamma, start, sweeps, self.tol)
        if not np.isfinite(found.metric).all():
            raise ValueError(
                f"No metric keeps the bounds {self.bounds_} at the price gamma={self.gamma:g} within the "
                "range of floats. Lower gamma, or pass wider bounds."
            )
        if not found.change <= self.tol:
            limit = "max_iter" if sweeps == self.max_iter else "max_projections"
            warnings.warn(
                f"ITML still changes by {found.change:.1g} in sweep {found.n_sweeps}. Allow more with "
                f"{limit}, or a tol above {self.tol:g}, or lower gamma.",
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
    squares = _draw_squares(X, unit, metric, rng, _SAMPLED)
    low, high = np.percentile(squares, (_LOW, _HIGH)) if len(squares) else (1.0, 1.0)
    return float(low), float(high)


def _find_parts(X: NDArray[Any], unit: Array, metric: Array, rng: np.random.Generator) -> tuple[float, float]:
    """Find the middle of the 5th and 95th of 100 equal parts of 100 squared distances; 1 if all are 0."""
    squares = _draw_squares(X, unit, metric, rng, _BINS)
    if not len(squares):
        return 1.0, 1.0
    edges = np.linspace(squares.min(), squares.max(), _BINS + 1)
    low, high = ((edges[part - 1] + edges[part]) / 2 for part in (_LOW, _HIGH))
    return float(low), float(high)


def _draw_squares(X: NDArray[Any], unit: Array, metric: Array, rng: np.random.Generator, most: int) -> Array:
    """Compute squared distances of at most so many random pairs of rows that differ."""
    total = len(X) * (len(X) - 1) // 2
    apart = pair_differences(X, draw_pairs(len(X), min(total, most), rng), unit)
    squares = np.einsum("ij,ij->i", apart @ metric, apart)
    found: Array = squares[squares > 0]
    return found
