"""FeatureWeightClustering: weights of the dimensions under which a clusterer satisfies constraints.

Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008), "A clustering framework based on subjective and
objective validity criteria". A singular value decomposition turns the rows into dimensions, which get
weights: first from the metric of the constraints (Xing et al. 2002), then by hill climbing, one weight after
the other. The quality of weights is that of the clustering by k-means, or by another clusterer, under them:
``Q = satisfied constraints + validity``, so validity decides between clusterings that satisfy equally many.

Kept: the framework, Q, the validity 1 / (1 + S_Dbw), two dimensions first and one more in each round.
Changed, and why (`FeatureWeightClustering.paper` is the method as printed):

- The rows are centred before the decomposition: otherwise the first dimension points from the origin of the
  columns to their mean, which depends on where the columns have their zero.

- Each weight is multiplied by several factors, from 0 to 4, instead of changed in steps of 10 %: such steps
  seldom move a row to another cluster, and a climb by counts then ends. Mean ARI of ten data sets with 50
  constraints: 0.50 instead of 0.47; in rounds of one dimension more, 0.55.
- The climb starts at the best Q between equal weights and the metric of the constraints, which is unreliable
  with few constraints.
- k-means draws its starts once for a set of dimensions; then each weighting continues from the means of the
  best so far. So weightings are comparable, and each takes a few iterations instead of ten runs.
- A clusterer that takes constraints gets them only at the end. Otherwise it would satisfy all of them under
  any weights, and nothing would be learned: PCKMeans then reaches a mean ARI of 0.77, 0.90 and 0.74 on iris,
  wine and breast cancer (50 constraints, ten runs), instead of 0.84, 0.94 and 0.77.
- A must-link between two rows of noise is not satisfied.
- The climb ends when every constraint is satisfied: for validity alone it would drop columns until the rest
  falls into arbitrary groups. So without constraints it is plain k-means, and with constraints it never
  satisfies fewer.

Cost: a run of k-means near its end, O(n m k), for each of at most `max_evals` weightings in m dimensions;
O(n d²) for the decomposition.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.feature_weights.parts import (
    predict_clusters,
    refuse_class,
    takes_constraints,
    wrap_estimator,
    wrap_validity,
)
from linkwise.cluster.feature_weights.tuning import (
    Aim,
    Array,
    ClusterFunction,
    Clustering,
    Start,
    StepBase,
    Trials,
    Weighting,
    make_k_means,
    make_step_search,
    try_factors,
    tune_weights,
)
from linkwise.cluster.validity.s_dbw import Factor, s_dbw
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import one_blas_thread
from linkwise.types import Labels, Progress

LEAST_OF_A_ROUND = 30  # evaluations
MANY = 10_000  # evaluations, more than a climb as printed needs

Svd = Literal["scores", "whiten", "none"]


class WeightingRound(NamedTuple):
    """The result of a round of tuning."""

    dimensions: int
    satisfied: float
    """Weight of the constraints that are satisfied."""
    validity: float
    n_evals: int
    """Clusterings made until then."""


class FeatureWeightClustering(CenteredClusterer):
    """Weights of the features under which k-means, or another clusterer, satisfies constraints.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, also of `clusterer` (or of the last step of a pipeline) if its parameter of that
        name is not None.
    clusterer : estimator, optional
        The clusterer of weighted rows, with ``fit_predict``; k-means by default. If its own random_state, or
        that of a step of a pipeline, is None, it gets `random_state`. If it takes constraints, it gets them
        only for the clustering under the best weights.
    svd : {"scores", "whiten", "none"}, default="scores"
        The dimensions that get weights: those of the singular value decomposition, in their own scale or all
        in the same; or the columns of X.
    center : bool, default=True
        Whether to subtract the mean of each column before the decomposition.
    transformation : transformer, optional
        Computes the dimensions instead of `svd`, the most important one first: an object of scikit-learn
        with ``fit_transform`` and, for ``predict``, ``transform``.
    validity : callable, optional
        ``validity(rows, labels)`` of weighted rows and labels, in which -1 is noise; the higher the better. A
        ValueError or NaN counts as the worst value. By default 1 / (1 + S_Dbw).
    s_dbw_factor : {"mean", "printed"}, default="mean"
        Whether the density in S_Dbw is the mean over pairs of clusters, or a quarter of that, as Equation 5
        is printed. It has no effect with a `validity`.
    constraint_weight : float, optional
        w of Equation 3, by which the satisfied share of the constraints is multiplied before validity is
        added. By default the satisfied constraints come first, and validity decides between equals, as with
        the paper's w, the number of constraints.
    n_dimensions : int, optional
        Number of leading dimensions that are used, all by default; the others have weight 0.
    sequential : bool, default=True
        Whether to tune two dimensions first, then one more in each round, and use the best round. With many
        dimensions several are added at once, so that each round has 30 clusterings and the last all
        dimensions. If False, all are tuned together.
    start : {"best", "mmc", "newton"}, default="best"
        Start of a climb: the best point between equal weights and the metric of the constraints; that metric,
        in which most weights may be 0; or where the published program of that metric ends, whose few steps of
        Newton's method from equal weights leave more weights above 0.
    delta : float, optional
        Step of the paper, as a share of `step_base`; the climb then continues for validity when every
        constraint is satisfied. By default each weight is multiplied by several factors until every
        constraint is satisfied.
    step_base : {"mean", "weight"}, default="mean"
        What `delta` is a share of: the weight, or the mean weight if that is larger; or the weight alone, as
        printed, so that a weight of 0 stays 0. It has no effect without `delta`.
    sweeps : int, default=10
        Largest number of passes over all dimensions of a round.
    max_evals : int, default=500
        Largest number of clusterings, in equal shares for the rounds; the last one with constraints, by a
        `clusterer` that takes them, is extra.
    n_init : int, default=10
        Number of starts of k-means in each round.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features), noise not counted
        Means of the clusters in the columns of X; noise has no mean.
    n_clusters_ : int
        Number of clusters of `labels_`; noise counts as one.
    violations_ : int
        Number of constraints that `labels_` break.
    weights_ : ndarray of shape (n_dimensions,)
        Weights of the dimensions, of mean 1 over those used; 0 for others.
    components_ : ndarray of shape (n_dimensions, n_features)
        The dimensions: ``(X - mean_) @ components_.T``. With a `transformation`, of its columns.
    mean_ : ndarray of shape (n_features,)
        Mean of each column, or 0 without centring. With a `transformation`, of its columns.
    transformation_ : transformer or None
        The fitted transformation.
    feature_weights_ : ndarray of shape (n_features,)
        Average share of each column of X in the learned squared distance of two rows. The shares add up to 1;
        under equal weights they are the shares of the variance. Without centring they are approximate, and
        with a `transformation` there are none.
    quality_ : float
        Weight of the satisfied constraints (with `constraint_weight`, Equation 3), plus validity; minus
        infinity if validity has no value.
    n_evals_ : int
        Number of clusterings.
    budget_exhausted_ : bool
        Whether `max_evals`, or a round's share of it, ended a round.
    history_ : list of WeightingRound
        One entry for each round.

    Notes
    -----
    ``predict`` assigns new rows to the nearest centre in the weighted dimensions, or as `clusterer` predicts.
    Scale the columns of X first if their units differ: with ``svd="scores"`` the leading dimensions are those
    of the largest columns.

    References
    ----------
    Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008), A clustering framework based on subjective
    and objective validity criteria. ACM TKDD 1(4), article 18.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0, 0.0], [0.2, 3.0], [0.0, 7.0], [2.0, 0.1], [2.1, 3.2], [2.0, 7.1]])
    >>> c = lw.Constraints(6, must_link=[(0, 2), (3, 4)], cannot_link=[(0, 3), (2, 5)])
    >>> model = lw.FeatureWeightClustering(2, random_state=0).fit(X, constraints=c)
    >>> model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    >>> bool(model.feature_weights_[0] > 0.5)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "clusterer": [HasMethods(["fit_predict", "get_params"]), None],
        "svd": [StrOptions({"scores", "whiten", "none"})],
        "center": ["boolean"],
        "transformation": [HasMethods(["fit_transform", "get_params"]), None],
        "validity": [callable, None],
        "s_dbw_factor": [StrOptions({"mean", "printed"})],
        "constraint_weight": [Interval(Real, 0, None, closed="left"), None],
        "n_dimensions": [Interval(Integral, 1, None, closed="left"), None],
        "sequential": ["boolean"],
        "start": [StrOptions({"best", "mmc", "newton"})],
        "delta": [Interval(Real, 0, 1, closed="right"), None],
        "step_base": [StrOptions({"mean", "weight"})],
        "sweeps": [Interval(Integral, 1, None, closed="left")],
        "max_evals": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        clusterer: Any = None,
        svd: Svd = "scores",
        center: bool = True,
        transformation: Any = None,
        validity: Callable[[Array, Labels], float] | None = None,
        s_dbw_factor: Factor = "mean",
        constraint_weight: float | None = None,
        n_dimensions: int | None = None,
        sequential: bool = True,
        start: Start = "best",
        delta: float | None = None,
        step_base: StepBase = "mean",
        sweeps: int = 10,
        max_evals: int = 500,
        n_init: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.clusterer = clusterer
        self.svd = svd
        self.center = center
        self.transformation = transformation
        self.validity = validity
        self.s_dbw_factor = s_dbw_factor
        self.constraint_weight = constraint_weight
        self.n_dimensions = n_dimensions
        self.sequential = sequential
        self.start = start
        self.delta = delta
        self.step_base = step_base
        self.sweeps = sweeps
        self.max_evals = max_evals
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def paper(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as printed and used in the paper's experiments.

        It decomposes the rows without centring them (Section 3.6). The first round tunes two dimensions and
        each later one a dimension more (Section 3.5), in one sweep (Algorithm 1) from the weights of Xing's
        Newton method (Section 3.2); the round that satisfies most counts (Section 4.2.1). A step is 10 % of
        the weight (Section 3.3), so a weight of 0 stays 0. S_Dbw has the printed factor of Equation 5, a
        quarter of the mean over pairs of clusters.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `FeatureWeightClustering` that replace those of the preset.

        Returns
        -------
        FeatureWeightClustering
            The method, not fitted.
        """
        printed = {
            "center": False,
            "start": "newton",
            "delta": 0.1,
            "step_base": "weight",
            "s_dbw_factor": "printed",
            "sweeps": 1,
            "max_evals": MANY,
        }
        return cls(n_clusters, **{**printed, **parameters})

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        refuse_class(self.clusterer)
        self.transformation_, rows, svd = transform_rows(X, self.transformation, self.svd)
        self.mean_, self.components_ = find_dimensions(rows, svd, self.center)
        Z = rows - self.mean_ if svd == "none" else project(rows, self.mean_, self.components_)
        validity = (
            partial(s_dbw_validity, factor=self.s_dbw_factor)
            if self.validity is None
            else wrap_validity(self.validity)
        )
        aim = Aim(Z, constraints, self._cluster(k, seed), validity, self.constraint_weight)
        best = self._climb(aim.first(self.n_dimensions or Z.shape[1]), progress)
        if self.clusterer is not None and takes_constraints(self.clusterer) and constraints.n_constraints:
            best = self._cluster_with_constraints(aim, best, k, seed)
        self._weights, self._found = best.weights, best.found
        self.weights_ = np.zeros(Z.shape[1])
        self.weights_[: len(best.weights)] = best.weights / best.weights.mean()
        if self.transformation is None:
            self.feature_weights_ = column_shares(self.weights_, self.components_, Z)
        elif hasattr(self, "feature_weights_"):
            del self.feature_weights_  # of an earlier fit
        self.quality_ = best.satisfied + best.validity if best.quality is None else best.quality
        means = best.found.centers
        empty = np.zeros((len(means), X.shape[1]))
        self.cluster_centers_ = points.cluster_means(X, best.found.labels, empty) if len(means) else empty
        return best.found.labels

    def _climb(self, aim: Aim, progress: Progress | None) -> Weighting:
        """Find the best weighting of all rounds."""

        def told(done: int, _: int) -> None:
            if progress is not None:
                progress(min(done, self.max_evals), self.max_evals)

        d, until, mixed = aim.Z.shape[1], self.delta is None, self.start == "best"
        self.history_: list[WeightingRound] = []
        self.budget_exhausted_, done = False, 0
        idle = d == 1 or aim.constraints.n_constraints == 0
        best: Weighting | None = None
        before: Weighting | None = None
        if idle or until or mixed:  # else equal weights are none of the starts
            plain = Trials(aim, 1, told)(np.ones(d))
            done = 1
            if idle or (until and not plain.broken):
                self.n_evals_ = done
                return plain
            best = plain if mixed or done == self.max_evals else None
        tune = try_factors if self.delta is None else make_step_search(self.delta, self.step_base)
        rounds = count_dimensions_by_round(d, self.max_evals) if self.sequential else [d]
        for at, m in enumerate(rounds):
            most = done + (self.max_evals - done) // (len(rounds) - at)
            if most == done:
                self.budget_exhausted_ = True
                break
            trials = Trials(aim.first(m), most, told, done)
            before = tune_weights(trials, before, tune, self.sweeps, start=self.start, until_satisfied=until)
            done = trials.done
            self.history_.append(WeightingRound(m, before.satisfied, before.validity, done))
            best = before if best is None or before.better_than(best) else best
            if until and not best.broken:
                break
            self.budget_exhausted_ |= trials.spent
        assert best is not None
        self.n_evals_ = done
        return best

    def _cluster(self, k: int, seed: int) -> ClusterFunction:
        return (
            make_k_means(k, seed, self.n_init)
            if self.clusterer is None
            else wrap_estimator(self.clusterer, k, seed)
        )

    def _cluster_with_constraints(self, aim: Aim, best: Weighting, k: int, seed: int) -> Weighting:
        """Cluster under the best weights with constraints, if the clusterer takes them."""
        self.n_evals_ += 1
        cluster = wrap_estimator(self.clusterer, k, seed, aim.constraints)
        return Trials(aim.first(len(best.weights))._replace(cluster=cluster), 1)(best.weights)

    def _nearest(self, X: NDArray[Any]) -> Labels:
        m = len(self._weights)
        if self.transformation_ is not None:
            X = np.asarray(self.transformation_.transform(X), dtype=np.float64)
        rows = project(X, self.mean_, self.components_[:m]) * np.sqrt(self._weights)
        return predict_clusters(self._found, rows)


def count_dimensions_by_round(d: int, max_evals: int) -> list[int]:
    """Return how many of `d` dimensions each round tunes: first 2, then one more each, at last all.

    If so many rounds of `LEAST_OF_A_ROUND` evaluations are too many, several dimensions are added at once.
    """
    n_rounds = min(d - 1, max(1, max_evals // LEAST_OF_A_ROUND))
    return [round(m) for m in np.linspace(d, 2, n_rounds).tolist()[::-1]]


def s_dbw_validity(rows: Array, found: Clustering, factor: Factor = "mean") -> float:
    """Compute 1 / (1 + S_Dbw), the paper's validity; `factor` as for `s_dbw_score`."""
    return 1 / (1 + s_dbw(rows, found.labels, found.centers, factor=factor)) if len(found.centers) else 0.0


# ---------------------------------------------------------------- dimensions
def transform_rows(X: NDArray[Any], transformation: Any, svd: Svd) -> tuple[Any, NDArray[Any], Svd]:
    """Fit a copy of the transformation; return it, the rows it gives, and what remains to be decomposed.

    Without a transformation these are None, X and `svd`.
    """
    if transformation is None:
        return None, X, svd
    if isinstance(transformation, type):
        name = transformation.__name__
        raise TypeError(f"transformation={name} is a class. Pass an object: transformation={name}().")
    fitted = clone(transformation)
    rows = np.asarray(fitted.fit_transform(X), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(X) or rows.shape[1] == 0 or not np.isfinite(rows).all():
        raise ValueError(
            f"transformation returned values of shape {rows.shape}. It must return finite numbers, a row for "
            f"each of the {len(X)} rows and a column for each dimension."
        )
    return fitted, rows, "none"


def find_dimensions(X: NDArray[Any], svd: Svd, center: bool = True) -> tuple[Array, Array]:
    """Find the mean of the rows and the directions of their dimensions, by singular value.

    Without centring the mean is 0, and the directions are those of the rows as they are. The largest entry of
    a direction is positive. Directions in which rows do not differ are dropped, except one.
    """
    mean = X.mean(axis=0, dtype=np.float64) if center else np.zeros(X.shape[1])
    away = X - mean
    if svd == "none":
        return mean, np.eye(X.shape[1])
    with one_blas_thread():
        values, directions = np.linalg.svd(np.linalg.qr(away, mode="r"))[1:]
    rank = max(1, int((values > values[0] * max(X.shape) * np.finfo(np.float64).eps).sum()))
    directions = directions[:rank]
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(rank), largest])[:, None]
    if svd == "whiten" and values[0] > 0:
        return mean, directions / (values[:rank, None] / np.sqrt(len(X)))
    return mean, directions


def project(X: NDArray[Any], mean: Array, components: Array) -> Array:
    """Project rows into their dimensions, (n, m)."""
    with one_blas_thread():
        projected: Array = (X - mean) @ components.T
    return np.ascontiguousarray(projected)


def column_shares(weights: Array, components: Array, Z: Array) -> Array:
    """Compute the average share of each column of X in the squared distance of two rows; sum 1.

    The distance is w_a var(Z_a), summed over the dimensions; of each a column has the square of its part of
    the direction, since directions are eigenvectors of the covariance, or columns.
    """
    part = weights * Z.var(axis=0)
    total = part.sum()
    if total == 0:
        return np.full(components.shape[1], 1 / components.shape[1])
    squares = components**2
    found: Array = (part / total) @ (squares / squares.sum(axis=1, keepdims=True))
    return found
