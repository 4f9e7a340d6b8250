"""MMC: the metric with short must-links and a large sum of the lengths of cannot-links.

Xing, Ng, Jordan and Russell (2002), "Distance metric learning, with application to clustering with
side-information"; MMC is its later name. The objective balances the sum of the squared lengths of the
must-links with the sum of the lengths of the cannot-links: ``g(A) = sum_ML |x - y|²_A - log(sum_CL |x -
y|_A)``.

Kept: the objective, over diagonal metrics (their section 2.1) or over all (2.2).
Changed, and why:

- Along each ray g is least where the first sum is 1/2, so the minimum maximises the second sum among metrics
  of equal first sum. In coordinates in which the first sum is the trace, one projection replaces their
  iterated ones, and the distance from the optimum is known (`cluster.metric.mmc_search`). Their Newton
  method for diagonal metrics finds the same weights, but solves for d unknowns in each step.
- g has no minimum if must-links never differ in a feature and cannot-links do. So `ridge` times the variance
  is added to the squared difference of each must-link, in each feature. (The squared difference of two random
  rows is twice the variance, so this acts like half as many random must-links; in the full metric, like
  random must-links without correlation.)
- Without cannot-links the metric would be 0. It is then the inverse of the squared differences of the
  must-links.
- Weights of constraints multiply their terms.
- The scale of a metric has no effect on a clusterer, so weights, or eigenvalues, have mean 1. Features that
  never vary have weight 1.

Cost: O(pairs d) a step, full O(pairs d² + d³); ten to some hundred steps.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from linkwise.cluster.metric.base import MetricLearner
from linkwise.cluster.metric.differences import (
    Array,
    Pairs,
    feature_spreads,
    outer_sum,
    pair_differences,
    replace_zeros,
    scale_weights,
)
from linkwise.cluster.metric.mmc_search import SearchResult, maximize_lengths
from linkwise.cluster.metric.roots import matrix_root
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import one_blas_thread


class MMC(MetricLearner):
    """The metric under which must-links are short and cannot-links long.

    Parameters
    ----------
    diagonal : bool, default=True
        If True, the metric is a weight for each feature, often 0. If False, it is a matrix, which handles
        correlated features, keeps few directions and needs many constraints.
    ridge : float, default=1.0
        Share of a feature's variance that is added to the squared difference of each must-link, at least
        1e-10. Random rows differ by 2 of these units.
    tol : float, default=1e-05
        Tolerance of the objective: about the share by which cannot-links could still be longer.
    max_iter : int, default=2000
        Largest number of steps.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map that `transform` applies; for a diagonal metric it holds the square roots of the weights.
    n_iter_ : int
        Number of steps.

    References
    ----------
    Xing, Ng, Jordan and Russell (2002), Distance metric learning, with application to clustering with
    side-information. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0, 0.0], [0.1, 5.0], [1.0, 2.0], [1.1, 8.0]])
    >>> c = lw.Constraints(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> lw.MMC().fit(X, constraints=c).get_mahalanobis_matrix().round(3)
    array([[2., 0.],
           [0., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "diagonal": ["boolean"],
        "ridge": [Interval(Real, 1e-10, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self, diagonal: bool = True, *, ridge: float = 1.0, tol: float = 1e-5, max_iter: int = 2000
    ) -> None:
        self.diagonal = diagonal
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, X: NDArray[Any], constraints: Constraints) -> Array:
        must = _PairList(constraints.must_link, constraints.must_link_weight)
        cannot = _PairList(constraints.cannot_link, constraints.cannot_link_weight)
        options = (self.diagonal, self.ridge, self.tol, self.max_iter)
        found, gap, self.n_iter_ = _learn_map(X, must, cannot, *options)
        if gap > self.tol:
            warnings.warn(
                f"MMC's objective may still fall by {gap:.1g} after {self.n_iter_} steps. Allow more with "
                f"max_iter, or a tol above {self.tol:g}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features, if X had none.

        Returns
        -------
        ndarray of str
            The names of the features if the metric is diagonal, else ``mmc0``, ``mmc1``, ...
        """
        named = OneToOneFeatureMixin if self.diagonal else ClassNamePrefixFeaturesOutMixin
        names: NDArray[np.object_] = named.get_feature_names_out(self, input_features)
        return names


def diagonal_weights(
    X: NDArray[np.floating],
    must_link: ArrayLike,
    cannot_link: ArrayLike,
    *,
    must_link_weight: ArrayLike | None = None,
    cannot_link_weight: ArrayLike | None = None,
    ridge: float = 1e-3,
    tol: float = 1e-8,
    max_iter: int = 2000,
) -> NDArray[np.float64]:
    """Learn weights of the features under which must-links are short and cannot-links long.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows of finite numbers.
    must_link, cannot_link : array-like of shape (n_pairs, 2)
        Pairs of row positions. Pairs of identical rows are ignored.
    must_link_weight, cannot_link_weight : array-like of shape (n_pairs,), optional
        Positive; 1 by default.
    ridge : float, default=0.001
        Share of a feature's variance that is added to the squared difference of each must-link; above 0.
    tol : float, default=1e-08
        Tolerance of the objective, without a unit.
    max_iter : int, default=2000
        Largest number of steps.

    Returns
    -------
    ndarray of shape (n_features,)
        Weights, 0 or more, of mean 1 over the features that vary. All are 1 if there are no pairs.

    References
    ----------
    Xing, Ng, Jordan and Russell (2002), Distance metric learning, with application to clustering with
    side-information, section 2.1. NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.1, 5.0], [1.0, 2.0], [1.1, 8.0]])
    >>> diagonal_weights(X, [(0, 1), (2, 3)], [(0, 2), (1, 3)]).round(3)
    array([2., 0.])
    """
    must, cannot = _list_links(must_link, must_link_weight), _list_links(cannot_link, cannot_link_weight)
    with one_blas_thread():
        return _learn_map(X, must, cannot, True, ridge, tol, max_iter).map ** 2


class _PairList(NamedTuple):
    pairs: Pairs
    weight: Array


class _LearnedMap(NamedTuple):
    map: Array  # (d,) or (d, d)
    gap: float
    n_iter: int


def _list_links(pairs: ArrayLike, weight: ArrayLike | None) -> _PairList:
    found = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return _PairList(found, np.ones(len(found)) if weight is None else np.asarray(weight, dtype=np.float64))


def _learn_map(
    X: NDArray[Any],
    must: _PairList,
    cannot: _PairList,
    diagonal: bool,
    ridge: float,
    tol: float,
    max_iter: int,
) -> _LearnedMap:
    """Learn the map; its metric has mean weight, or eigenvalue, 1."""
    spread = feature_spreads(X)
    kept = np.flatnonzero(spread > 0)
    plain: Array = np.ones(X.shape[1]) if diagonal else np.eye(X.shape[1])
    near, near_weight = _select_differing(X, must, spread)
    apart, apart_weight = _select_differing(X, cannot, spread)
    if len(near) + len(apart) == 0:
        return _LearnedMap(plain, 0.0, 1)
    together = _sum_must_links(near, near_weight, diagonal, ridge)
    at = kept if diagonal else np.ix_(kept, kept)
    found = SearchResult(plain[at], 0.0, 1)
    if len(apart):
        pairs = _to_search_space(apart, together)
        found = maximize_lengths(pairs, apart_weight, diagonal=diagonal, tol=tol, max_iter=max_iter)
    plain[at] = _build_map(_from_search_space(found.metric, together), spread[kept])
    return _LearnedMap(plain, found.gap, found.n_iter)


def _select_differing(X: NDArray[Any], links: _PairList, spread: Array) -> tuple[Array, Array]:
    """Select pairs whose rows differ; return their differences in units of the spreads, and their weights."""
    found = pair_differences(X, links.pairs, replace_zeros(spread))[:, spread > 0]
    differing = (found**2).any(axis=1)
    return found[differing], scale_weights(links.weight[differing])


def _sum_must_links(pairs: Array, weight: Array, diagonal: bool, ridge: float) -> Array:
    """Sum the squared differences of must-links, (d,); or return the Cholesky factor of their matrix, (d, d).

    In these units the variance of each feature is 1.
    """
    total = float(weight.sum()) or 1.0
    found = outer_sum(pairs, weight, full=not diagonal)
    if diagonal:
        return found + ridge * total
    found[np.diag_indices_from(found)] += ridge * total
    lower: Array = cholesky(found, lower=True)
    return lower


def _to_search_space(pairs: Array, together: Array) -> Array:
    """Map differences to coordinates in which the squared lengths of must-links sum to the trace."""
    if together.ndim == 1:
        return pairs / np.sqrt(together)
    images: Array = solve_triangular(together, pairs.T, lower=True).T
    return images


def _from_search_space(metric: Array, together: Array) -> Array:
    """Map a metric in those coordinates back to one of differences."""
    if together.ndim == 1:
        return metric / together
    half = solve_triangular(together, metric, lower=True, trans="T")
    found: Array = solve_triangular(together, half.T, lower=True, trans="T")
    return found


def _build_map(metric: Array, unit: Array) -> Array:
    """Compute the scaled map of the features from a metric of features in `unit`."""
    weights = metric if metric.ndim == 1 else np.diagonal(metric)
    shrunk = unit[weights > 0].min() / unit  # by the least unit: nothing overflows
    found: Array = (np.sqrt(metric) if metric.ndim == 1 else matrix_root(metric)) * shrunk
    found /= np.sqrt((found**2).sum() / len(unit))
    return found
