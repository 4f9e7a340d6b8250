"""MPCKMeans: k-means in which breaking a constraint has a price and the metric is learned.

Bilenko, Basu and Mooney (2004), "Integrating constraints and metric learning in semi-supervised
clustering". The objective is the sum over the rows of ``|x - mu_h|²`` under the metric A_h of their cluster,
less log det A_h; plus, for each broken must-link, w times its squared length (the mean under both clusters'
metrics); plus, for each broken cannot-link, w times the squared length of the farthest pair less its own.
Labels, means and metrics are improved in turn.

Kept: the objective, labels by iterated conditional modes, the metrics' closed form. Changed, and why:

- By default there is one full metric (the paper: a diagonal one for each cluster). With 50 constraints it is
  the best by far; few rows say little about each cluster.
- A spherical prior as strong as `shrinkage` times the rows is added to the scatter. Without it, features that
  hardly vary dominate (pixels at the border of digits), and matrices are singular. It also replaces the
  paper's repair of matrices that are not positive definite.
- The search for the farthest pair looks only at rows that are extreme in a feature. If it misses a pair, a
  price may be too low, but never below zero.
- Each start first converges at a constant price (as in `PCKMeans`), once under the plain metric and once
  under the metric of the must-links alone; then the metrics are learned. From random labels the method never
  discovers that a feature has no meaning. The result is the run whose centres and metrics alone satisfy most
  constraints; of equal runs the one of least objective.
- Whole must-link components move, too; only one of the `n_init` starts uses neighbourhoods (see
  `linkwise.cluster.kmeans.pckmeans`).
- Constraints that follow from others are not added (``implied=False``).
- Without constraints it is plain k-means with the plain metric.
- If plain k-means satisfies more constraints, its result is returned (``fell_back_``).

`MPCKMeans.paper` is the method as printed, without all of these; each has a parameter. Features that are the
same in all rows never count, and without constraints it, too, is plain k-means.

Cost: with one metric an iteration is O(n k d + d³), after O(n d²) once (diagonal: O(n k d)); with one for
each cluster O(n d² k). Constraints cost O((named rows + pairs) k d) more.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise import native
from linkwise.asking.learner import Labels, Progress, rng_at
from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans import icm, penalised
from linkwise.cluster.kmeans.components import add_implied, compact_labels
from linkwise.cluster.kmeans.icm import NamedRows, Prices
from linkwise.cluster.kmeans.metrics import (
    Kind,
    Metrics,
    drop_negative_parts,
    extreme_rows,
    farthest_pairs,
    invert_covariances,
    must_link_metric,
    nearest_under_metrics,
    outer_sum,
    pair_distances,
    raw_scatter,
    reduce_metrics,
    scatter_about,
    spherical_metrics,
)
from linkwise.cluster.kmeans.penalised import PenalisedRun
from linkwise.cluster.kmeans.starts import PARAMETERS, draw_soft_starts
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints
from linkwise.metric.differences import constraint_prices
from linkwise.parallel import one_blas_thread

Array = NDArray[np.float64]

MOST_ROWS = 10_000  # among which the farthest pair is sought exactly
REPAIR = 1e-6  # of its trace is added to a covariance without a prior
ROUNDING = 1e-12  # of the variance of all rows: a trace below is that of one point


class MPCKMeans(CenteredClusterer):
    """k-means in which breaking a constraint has a price and the metric is learned.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    metric : {"full", "diagonal"}, default="full"
        Learn a matrix, or a weight for each feature. Use "diagonal" for more than a few hundred features.
    per_cluster : bool, default=False
        Whether each cluster has a metric of its own, which needs many rows in each cluster.
    w : float, default=1.0
        Price of a broken constraint of weight 1. It has no unit, since the learned metric has none.
    shrinkage : float, default=0.1
        Strength of the prior that draws metrics towards the plain one, as a share of the number of rows. With
        0 there is none: then a millionth of its trace is added to each covariance, as in the paper.
    must_link_start : bool, default=True
        Whether each start also runs under the metric of the must-links alone.
    settle_first : bool, default=True
        Whether each start first converges at constant prices, before the metric is learned.
    component_moves : bool, default=True
        Whether rows joined by must-links also change their cluster together.
    farthest : {"extreme", "all"}, default="extreme"
        Rows among which the farthest pair is sought: those that are extreme in a feature, or all, in
        O(n²).
    implied : bool, default=False
        Whether constraints that follow from others count, too, with weight 1. If constraints contradict each
        other, none are added.
    fallback : bool, default=True
        Whether to return plain k-means if it satisfies more constraints.
    init : {"neighbourhoods", "k-means++"} or array-like, default="neighbourhoods"
        First centres. "neighbourhoods": the first start takes the means of rows joined by must-links and
        draws further centres by k-means++; the other starts draw all centres. An array of shape
        (n_clusters, n_features) is the only start.
    n_init : int, default=5
        Number of starts, each run under two metrics. The result is the run whose centres and metrics alone
        satisfy most constraints.
    max_iter : int, default=100
        Largest number of iterations of one start.
    tol : float, default=0.0001
        A start converges when the squared shift of the centres is at most `tol` times the mean variance of
        the features.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centre of each cluster.
    metrics_ : ndarray of shape (1 or n_clusters, n_features[, n_features])
        The learned metrics, one for all clusters or one for each: weights of the features, or matrices.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break.
    n_iter_ : int
        Number of iterations that learned the metric.
    fell_back_ : bool
        Whether plain k-means satisfied more constraints and is the result; the metric is then the plain one.

    References
    ----------
    Bilenko, Basu and Mooney (2004), Integrating constraints and metric learning in semi-supervised
    clustering. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> c = lw.Constraints.sample(y, 50, random_state=0)
    >>> model = lw.MPCKMeans(3, random_state=0).fit(minmax_scale(X), constraints=c)
    >>> model.metrics_.shape
    (1, 4, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PARAMETERS,
        "metric": [StrOptions({"full", "diagonal"})],
        "per_cluster": ["boolean"],
        "w": [Interval(Real, 0, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        "must_link_start": ["boolean"],
        "settle_first": ["boolean"],
        "component_moves": ["boolean"],
        "farthest": [StrOptions({"extreme", "all"})],
        "implied": ["boolean"],
        "fallback": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Kind = "full",
        per_cluster: bool = False,
        w: float = 1.0,
        shrinkage: float = 0.1,
        must_link_start: bool = True,
        settle_first: bool = True,
        component_moves: bool = True,
        farthest: Literal["extreme", "all"] = "extreme",
        implied: bool = False,
        fallback: bool = True,
        init: str | ArrayLike = "neighbourhoods",
        n_init: int = 5,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.w = w
        self.shrinkage = shrinkage
        self.must_link_start = must_link_start
        self.settle_first = settle_first
        self.component_moves = component_moves
        self.farthest = farthest
        self.implied = implied
        self.fallback = fallback
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def paper(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as printed (Figure 1).

        Each cluster has a diagonal metric without a prior. The one start takes the neighbourhoods
        (Section 4.1, with the constraints that follow), and the metrics are learned from its first iteration.
        Single rows move. Plain k-means is never returned.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `MPCKMeans` that replace those of the preset.

        Returns
        -------
        MPCKMeans
            The method, not fitted.
        """
        printed: dict[str, Any] = {
            "metric": "diagonal",
            "per_cluster": True,
            "shrinkage": 0.0,
            "must_link_start": False,
            "settle_first": False,
            "component_moves": False,
            "farthest": "all",
            "implied": True,
            "fallback": False,
            "n_init": 1,
        }
        return cls(n_clusters, **{**printed, **parameters})

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0))
        varying = max(1, X.shape[1] - len(constant))
        # of rows that are all alike: any unit will do
        variance = points.mean_variance(X) * X.shape[1] / varying or 1.0
        metrics = spherical_metrics(self.metric, X.shape[1], k if self.per_cluster else 1, variance)
        unconstrained = draw_soft_starts(
            X, Constraints(len(X)), self.n_clusters, k, seed, self.init, self.n_init
        )
        self.fell_back_ = False
        stop = (self.max_iter, self.tol)
        if constraints.n_constraints == 0:
            return self._keep(penalised.run_plain_k_means(X, unconstrained, *stop), metrics)
        wanted = constraints
        if self.implied:
            constraints = add_implied(constraints)
        if self.farthest == "all" and len(X) > MOST_ROWS:
            raise ValueError(
                f'farthest="all" compares all pairs of at most {MOST_ROWS} rows, but X has {len(X)} rows. '
                'Use farthest="extreme".'
            )
        # sums do not depend on the number of threads: BLAS has one
        with one_blas_thread():
            problem = _make_problem(X, constraints, metrics, self.w, self.shrinkage, constant, variance)
            if not self.component_moves:
                alone = np.arange(len(problem.named.rows), dtype=np.int32)
                problem = problem._replace(named=problem.named._replace(group=alone))
            if self.farthest == "all":
                problem = problem._replace(extremes=np.asarray(X, dtype=np.float64))
            views = self._views(problem, constraints, metrics, k, seed)
            bound = self.tol * variance * varying / X.shape[1]
            runs = (self.max_iter, bound)
            best, learned = _learn_best(
                problem, wanted, views, seed, runs, progress, settle=self.settle_first
            )
        if not self.fallback:
            return self._keep(best, learned)
        starts = [views[0].starts, unconstrained]
        plain = penalised.improve_by_plain(X, wanted, best.labels, starts, *stop)
        self.fell_back_ = plain is not None
        return self._keep(best, learned) if plain is None else self._keep(plain, metrics)

    def _views(
        self, problem: _Problem, constraints: Constraints, plain: Metrics, k: int, seed: int
    ) -> list[_MetricStarts]:
        """Return starts under the plain metric, and under the metric of the must-links."""
        X, args = problem.X, (self.init, self.n_init)
        varying = max(1, X.shape[1] - len(problem.constant))
        views = [_MetricStarts(plain, X, draw_soft_starts(X, constraints, self.n_clusters, k, seed, *args))]
        if len(problem.must) and self.must_link_start:
            close = must_link_metric(problem.must, problem.named.must_weight, plain, varying)
            rows = close.map_rows(X)
            starts = [close.map_rows(views[0].starts[0])]
            if isinstance(self.init, str):
                starts = draw_soft_starts(rows, constraints, self.n_clusters, k, seed, *args)
            views.append(_MetricStarts(close, rows, starts))
        return views

    def _keep(self, run: PenalisedRun, metrics: Metrics) -> Labels:
        labels, used = compact_labels(run.labels, len(run.centers))
        self.cluster_centers_ = run.centers[used]
        self._metrics = Metrics(*(part[used] for part in metrics)) if self.per_cluster else metrics
        self.metrics_ = self._metrics.matrices
        self.n_iter_ = run.n_iter
        return labels

    def _nearest(self, X: Any) -> Labels:
        with one_blas_thread():
            return nearest_under_metrics(X, self.cluster_centers_, self._metrics)


class _Problem(NamedTuple):
    """The parts of the problem that do not change while metrics are learned."""

    X: NDArray[Any]
    named: NamedRows
    must: Array  # (p, d) differences of the rows of each pair
    cannot: Array
    w: float
    prior: Array  # scatter that draws each metric towards the plain one
    prior_rows: float
    extremes: Array  # rows among which the farthest pair is sought
    origin: Array  # mean of all rows: scatters are taken about it
    raw: Array | None  # scatter of all rows, where one metric serves all
    constant: NDArray[np.int64]  # features that are the same in all rows
    variance: float


class _MetricStarts(NamedTuple):
    """Starts under one metric, in coordinates that make it the plain one."""

    metrics: Metrics
    rows: NDArray[Any]
    starts: list[Centers]


class _ClusterSums(NamedTuple):
    """Labels, sums over their clusters, and the price of the constraints that they break."""

    labels: Labels
    sums: Array  # (k, d) of rows less the origin
    counts: NDArray[np.int64]
    paid: float


def _make_problem(
    X: NDArray[Any],
    constraints: Constraints,
    metrics: Metrics,
    w: float,
    shrinkage: float,
    constant: NDArray[np.int64],
    variance: float,
) -> _Problem:
    named = icm.find_named_rows(X, constraints)
    rows = X[named.rows].astype(np.float64)
    must, cannot = (rows[pairs[:, 0]] - rows[pairs[:, 1]] for pairs in (named.must, named.cannot))
    prior_rows = shrinkage * len(X) / len(metrics.maps)
    prior = np.full(X.shape[1], prior_rows * variance)
    origin = X.mean(axis=0, dtype=np.float64)
    every = np.zeros(len(X), dtype=np.int32)
    raw = raw_scatter(X, every, 1, metrics.full, origin) if len(metrics.maps) == 1 else None
    prior = np.diag(prior) if metrics.full else prior
    found = (prior, prior_rows, extreme_rows(X), origin, raw, constant, variance)
    return _Problem(X, named, must, cannot, w, *found)


def _learn_best(
    problem: _Problem,
    constraints: Constraints,
    views: list[_MetricStarts],
    seed: int,
    stop: tuple[int, float],
    progress: Progress | None,
    *,
    settle: bool = True,
) -> tuple[PenalisedRun, Metrics]:
    """Learn metrics from each start of each view; return those that alone satisfy most constraints."""
    made: list[tuple[float, PenalisedRun, Metrics]] = []
    for metrics, rows, starts in views:
        variance = points.mean_variance(rows)
        prices = icm.equal_prices(problem.named, problem.w * variance * rows.shape[1])
        bound = stop[1] * (variance / problem.variance)  # in these coordinates
        firsts = (
            penalised.run_penalised(rows, starts, problem.named, prices, seed, stop[0], bound)
            if settle
            else (PenalisedRun(points.nearest_centers(rows, one)[0], one, 0.0, 0) for one in starts)
        )
        for first in firsts:
            centers = first.centers if rows is problem.X else metrics.unmap_rows(first.centers)
            start, rng = first._replace(centers=centers), rng_at(seed, len(made))
            run, learned = _learn(problem, start, metrics, rng, stop)
            alone = nearest_under_metrics(problem.X, run.centers, learned)
            made.append((penalised.satisfied_weight(alone, constraints), run, learned))
            if progress is not None:
                progress(len(made), sum(len(view.starts) for view in views))
    most = max(satisfied for satisfied, _, _ in made)
    leading = [(run, learned) for satisfied, run, learned in made if satisfied == most]
    least = min(run.objective for run, _ in leading)
    close = 1e-9 * problem.X.size  # the same clustering, reached in several ways
    return next(one for one in leading if one[0].objective <= least + close)


def _learn(
    problem: _Problem,
    first: PenalisedRun,
    metrics: Metrics,
    rng: np.random.Generator,
    stop: tuple[int, float],
) -> tuple[PenalisedRun, Metrics]:
    """Alternate between labels, means and metrics until the means stop; `stop`: max_iter, squared shift."""
    centers, labels = first.centers, first.labels
    for n_iter in range(1, stop[0] + 1):
        farthest = farthest_pairs(problem.extremes, metrics)
        clusters = _assign(problem, centers, metrics, farthest, labels, rng)
        labels, used = clusters.labels, clusters.counts > 0
        moved = centers.copy()
        moved[used] = problem.origin + clusters.sums[used] / clusters.counts[used, None]
        metrics = _update_metrics(problem, clusters, moved, farthest, metrics)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if n_iter > 1 and shift <= stop[1]:  # the first labels are not yet by a learned metric
            break
    clusters = _assign(problem, centers, metrics, farthest_pairs(problem.extremes, metrics), labels, rng)
    objective = _objective(problem, clusters, centers, metrics)
    return PenalisedRun(clusters.labels, centers, objective, n_iter), metrics


def _assign(
    problem: _Problem,
    centers: Centers,
    metrics: Metrics,
    farthest: Array,
    before: Labels,
    rng: np.random.Generator,
) -> _ClusterSums:
    """Assign rows to the nearest centre under the metrics, unless constraints make another one cheaper."""
    X, named = problem.X, problem.named
    labels = nearest_under_metrics(X, centers, metrics)
    distances = native.metric_distances(X[named.rows], centers, reduce_metrics(metrics, centers), 1)
    prices = _prices(problem, metrics, farthest)
    settled = icm.settle(distances - metrics.log_det, before[named.rows], named, prices, rng)
    labels[named.rows] = settled
    sums, counts = points.cluster_sums(X, labels, len(centers))
    return _ClusterSums(
        labels, sums - counts[:, None] * problem.origin, counts, icm.price_paid(settled, named, prices)
    )


def _prices(problem: _Problem, metrics: Metrics, farthest: Array) -> Prices:
    """f_M and f_C of the paper, times the weights."""
    named, w = problem.named, problem.w
    span = np.diag(pair_distances(farthest, metrics))
    gap = np.maximum(span - pair_distances(problem.cannot, metrics), 0)
    must = pair_distances(problem.must, metrics)
    return Prices(
        constraint_prices(named.must_weight[:, None], w * must),
        constraint_prices(named.cannot_weight[:, None], w * gap),
    )


def _update_metrics(
    problem: _Problem, clusters: _ClusterSums, centers: Centers, farthest: Array, metrics: Metrics
) -> Metrics:
    """Compute the metrics of least objective for fixed labels and means (closed form)."""
    scatter, rows = _sum_scatter(problem, clusters, centers, metrics)
    for h in range(len(scatter)):
        where = None if len(scatter) == 1 else h
        scatter[h] = _add_broken(problem, scatter[h], clusters.labels, farthest[h], where)
    if problem.prior_rows:
        covariance = (scatter + problem.prior) / rows.reshape(-1, *[1] * (scatter.ndim - 1))
    else:
        covariance = _repair(scatter / np.maximum(rows, 1).reshape(-1, *[1] * (scatter.ndim - 1)), problem)
    for c in problem.constant:  # log det must not count them
        covariance[(slice(None), *[c] * (covariance.ndim - 1))] = problem.variance
    return invert_covariances(covariance)


def _repair(covariance: Array, problem: _Problem) -> Array:
    """Add a share of its trace to each covariance; one of a single point takes the variance of all rows."""
    full = covariance.ndim == 3
    trace = np.trace(covariance, axis1=1, axis2=2) if full else covariance.sum(axis=1)
    added = np.where(trace > ROUNDING * problem.variance, REPAIR * trace, problem.variance)
    return covariance + (added[:, None, None] * np.eye(covariance.shape[1]) if full else added[:, None])


def _sum_scatter(
    problem: _Problem, clusters: _ClusterSums, centers: Centers, metrics: Metrics
) -> tuple[Array, Array]:
    """Sum the scatters of the clusters, and the number of rows behind each metric, prior included."""
    labels, sums, counts, _ = clusters
    if (raw := problem.raw) is None:
        raw = raw_scatter(problem.X, labels, len(centers), metrics.full, problem.origin)
    scatter = scatter_about(raw, sums, counts, centers - problem.origin)
    of_each = counts if len(scatter) > 1 else counts.sum(keepdims=True)
    return scatter, (of_each + problem.prior_rows).astype(np.float64)


def _add_broken(
    problem: _Problem, scatter: Array, labels: Labels, farthest: Array, cluster: int | None
) -> Array:
    """Add the terms of the broken constraints to the scatter of a cluster (None: of all clusters)."""
    named, w, full = problem.named, problem.w, scatter.ndim == 2
    first, second = labels[named.rows[named.must]].T
    same, other = labels[named.rows[named.cannot]].T
    ends = np.full(len(first), 2) if cluster is None else (first == cluster) * 1 + (second == cluster)
    must = constraint_prices(named.must_weight, w / 2) * ends * (first != second)
    scatter = scatter + outer_sum(problem.must[must > 0], must[must > 0], full)
    cannot = constraint_prices(named.cannot_weight, w) * (same == other)
    if cluster is not None:
        cannot = cannot * (same == cluster)
    if not cannot.any():
        return scatter
    taken = outer_sum(problem.cannot[cannot > 0], cannot[cannot > 0], full)
    return drop_negative_parts(scatter + outer_sum(farthest[None], cannot.sum(keepdims=True), full) - taken)


def _objective(problem: _Problem, clusters: _ClusterSums, centers: Centers, metrics: Metrics) -> float:
    scatter, rows = _sum_scatter(problem, clusters, centers, metrics)
    distances = (metrics.matrices * (scatter + problem.prior)).sum()
    return float(distances - (rows * metrics.log_det).sum() + clusters.paid)
