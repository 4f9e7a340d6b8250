"""MPCKMeans: k-means in which breaking a constraint has a price and the metric is learned.

Bilenko, Basu and Mooney (2004), "Integrating constraints and metric learning in semi-supervised clustering".
The objective (their eq. 5) is the sum over the rows of ``|x - mu_h|²`` under the metric A_h of their cluster, less
log det A_h, plus, for each broken must-link, w times its squared length (the mean under both clusters' metrics),
plus, for each broken cannot-link, w times the squared length of the farthest pair less its own: far rows that
belong together and near rows that do not speak against the metric. Labels, means and metrics are improved in turn.

Kept: the objective, labels by iterated conditional modes, the metrics' closed form. Changed, and why:

- By default there is one full metric (the paper: a diagonal one for each cluster). With 50 constraints it
  serves best, by far; few rows tell little of each cluster.
- A spherical prior as strong as `shrinkage` times the rows is added to the scatter. Without it features that hardly
  vary decide (pixels at the rim of digits), and singular matrices arise. It also stands for the paper's
  repairs of matrices that are not positive definite.
- The farthest pair is sought among the rows that are extreme in a feature, not among all pairs. What this misses is
  made good by the constraints' own lengths: no price is below zero.
- Whole must-link components move, besides single rows; neighbourhoods give one start of `n_init` (see
  `linkwise.cluster.pckmeans`).
- Without constraints it is plain k-means, and the metric stays as it is: nothing says that it is wrong.
- Where plain k-means satisfies more, it is returned (``fell_back_``).

Cost: with one metric an iteration is O(n k d + d³), after O(n d²) once (diagonal: O(n k d)); with one for each
cluster O(n d² k). Constraints cost O((named rows + pairs) k d) more.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from threadpoolctl import ThreadpoolController

from linkwise import kernels, parallel
from linkwise.cluster.common import icm, points
from linkwise.cluster.common.base import CenteredClusterer
from linkwise.cluster.common.icm import Named, Prices
from linkwise.cluster.common.metrics import (
    Kind,
    Metrics,
    extremes,
    farthest_pairs,
    inverted,
    narrowed,
    outer_sum,
    pair_distances,
    quadratic,
    raw_scatter,
    scatter_about,
    spherical,
)
from linkwise.cluster.common.neighbourhoods import INITS, soft_starts
from linkwise.cluster.common.points import Centers
from linkwise.constraints import Constraints
from linkwise.learner import Labels, Progress, rng_at

Array = NDArray[np.float64]


class MPCKMeans(CenteredClusterer):
    """k-means in which breaking a constraint has a price and the metric is learned.

    Parameters
    ----------
    n_clusters : int
    metric : {"full", "diagonal"}
        A matrix, or a weight for each feature. Beyond some hundred features take "diagonal".
    per_cluster : bool
        Whether each cluster has a metric of its own. That needs many rows a cluster.
    w : float
        Price of a broken constraint of weight 1, without a unit: distances are measured by the learned metric.
    shrinkage : float
        How strongly metrics are drawn towards the plain one: as by this share of the rows.
    init : {"neighbourhoods", "k-means++"} or array of shape (n_clusters, n_features)
        Where centres start. "neighbourhoods": the means of rows joined by must-links, filled up by k-means++,
        in one start; the others are by k-means++. An array: one start, there.
    n_init : int
        Starts; the one of least objective is kept.
    max_iter : int
        Iterations of one start.
    tol : float
        A start has converged when the squared shift of the centres is at most `tol` times the mean variance of
        the features.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
    metrics_ : ndarray of shape (1 or n_clusters_, n_features[, n_features])
        The learned metrics, one for all clusters or one for each: weights of the features, or matrices.
    n_clusters_ : int
    violations_ : int
        Number of constraints that `labels_` break.
    objective_ : float
    n_iter_ : int
        Iterations of the start that was kept.
    fell_back_ : bool
        Whether plain k-means satisfied more and was taken instead; the metric is then the plain one.

    Notes
    -----
    ``predict`` gives new rows the cluster that is nearest under its metric. For the rows that were fitted it gives
    `labels_`, except for rows that a constraint holds elsewhere.

    References
    ----------
    Bilenko, Basu and Mooney (2004), Integrating constraints and metric learning in semi-supervised clustering. ICML.

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
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"full", "diagonal"})],
        "per_cluster": ["boolean"],
        "w": [Interval(Real, 0, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions(INITS), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Kind = "full",
        per_cluster: bool = False,
        w: float = 1.0,
        shrinkage: float = 0.1,
        init: str | ArrayLike = "neighbourhoods",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.per_cluster = per_cluster
        self.w = w
        self.shrinkage = shrinkage
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        starts = soft_starts(X, constraints, k, seed, self.init, self.n_init)
        variance = points.mean_variance(X) or 1.0  # of rows that are all alike: any unit will do
        count = k if self.per_cluster else 1
        plain_metrics = spherical(self.metric, X.shape[1], count, variance)
        self.fell_back_ = False
        stop = (self.max_iter, self.tol)
        if constraints.n_constraints == 0:
            plain = icm.plain_k_means(X, starts, *stop)
            return self._keep(_State(*plain[:2], plain_metrics, plain.inertia / variance, plain.n_iter))
        # sums do not depend on the number of threads: BLAS has one
        with _THREADS.limit(limits=1, user_api="blas"):
            problem = _problem(X, constraints, k, self.metric, count, self.w, self.shrinkage, variance)
            runs = []
            for i, start in enumerate(starts):
                runs.append(_run(problem, start, plain_metrics, rng_at(seed, i), *stop))
                if progress is not None:
                    progress(i + 1, len(starts))
            best = min(runs, key=lambda run: run.objective)
            without = [starts, soft_starts(X, Constraints(len(X)), k, seed, self.init, self.n_init)]
            reached = icm.weight_satisfied(best.labels, constraints)
            plain_run = icm.better_plain(X, constraints, reached, without, stop)
            if plain_run is not None:
                self.fell_back_ = True
                best = _plain_state(problem, plain_run, plain_metrics)
        return self._keep(best)

    def _keep(self, state: _State) -> Labels:
        labels, used = icm.used_only(state.labels, len(state.centers))
        self.cluster_centers_ = state.centers[used]
        metrics = state.metrics
        self._metrics = Metrics(*(part[used] for part in metrics)) if self.per_cluster else metrics
        self.metrics_ = self._metrics.matrices
        self.objective_, self.n_iter_ = state.objective, state.n_iter
        return labels

    def _nearest(self, X: Any) -> Labels:
        return _nearest(X, self.cluster_centers_, self._metrics)[0]


_THREADS = ThreadpoolController()


class _Problem(NamedTuple):
    """What stays the same in all starts."""

    X: NDArray[Any]
    k: int
    kind: Kind
    count: int
    named: Named
    must: Array  # (p, d) differences of the rows of each pair
    cannot: Array
    w: float
    prior: Array  # scatter that draws the metrics towards the plain one
    prior_rows: float
    extremes: Array  # rows among which the farthest pair is sought
    origin: Array  # mean of all rows: scatters are taken about it
    raw: Array  # scatter of all rows, where one metric serves all


class _State(NamedTuple):
    labels: Labels
    centers: Centers
    metrics: Metrics
    objective: float
    n_iter: int


class _Clusters(NamedTuple):
    """Labels and what is summed over their clusters."""

    labels: Labels
    sums: Array  # of rows less the origin
    counts: NDArray[np.int64]
    raw: Array  # scatters about the origin
    paid: float  # for broken constraints


def _problem(
    X: NDArray[Any],
    constraints: Constraints,
    k: int,
    kind: Kind,
    count: int,
    w: float,
    shrinkage: float,
    variance: float,
) -> _Problem:
    named = icm.named_rows(constraints)
    rows = X[named.rows].astype(np.float64)
    must, cannot = (rows[pairs[:, 0]] - rows[pairs[:, 1]] for pairs in (named.must, named.cannot))
    prior_rows = shrinkage * len(X) / count
    unit = np.full(X.shape[1], prior_rows * variance)
    origin = X.mean(axis=0, dtype=np.float64)
    every = np.zeros(len(X), dtype=np.int32)
    raw = raw_scatter(X, every, 1, kind, origin) if count == 1 else np.empty(0)
    prior = unit if kind == "diagonal" else np.diag(unit)
    return _Problem(
        X, k, kind, count, named, must, cannot, w, prior, prior_rows, extremes(X), origin, raw
    )


def _run(
    problem: _Problem, start: Centers, metrics: Metrics, rng: np.random.Generator, max_iter: int, tol: float
) -> _State:
    """One start: labels, means and metrics in turn, until the means stand still."""
    centers, labels = start, None
    bound = tol * points.mean_variance(problem.X)
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        farthest = farthest_pairs(problem.extremes, metrics)
        clusters = _assign(problem, centers, metrics, farthest, labels, rng)
        labels, used = clusters.labels, clusters.counts > 0
        moved = centers.copy()
        moved[used] = problem.origin + clusters.sums[used] / clusters.counts[used, None]
        metrics = _learned(problem, clusters, moved, farthest)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= bound:
            break
    farthest = farthest_pairs(problem.extremes, metrics)
    clusters = _assign(problem, centers, metrics, farthest, labels, rng)
    return _State(clusters.labels, centers, metrics, _objective(problem, clusters, centers, metrics), n_iter)


def _nearest(X: NDArray[Any], centers: Centers, metrics: Metrics) -> tuple[Labels, Array]:
    """The cluster of each row where its squared distance less log det is least, and these less a constant."""
    offset = np.broadcast_to(-metrics.log_det, len(centers)).copy()
    return kernels.metric_nearest(X, centers, narrowed(metrics, centers), offset, parallel.n_threads())


def _assign(
    problem: _Problem,
    centers: Centers,
    metrics: Metrics,
    farthest: Array,
    before: Labels | None,
    rng: np.random.Generator,
) -> _Clusters:
    """Labels under the metrics: the nearest centre, unless a constraint says otherwise."""
    X, named = problem.X, problem.named
    labels, _ = _nearest(X, centers, metrics)
    maps = narrowed(metrics, centers)
    costs = kernels.metric_distances(X[named.rows], centers, maps, 1) - metrics.log_det
    prices = _prices(problem, metrics, farthest)
    first = (labels if before is None else before)[named.rows]
    labels[named.rows] = settled = icm.settle(costs, first, named, prices, rng)
    sums, counts = points.sums(X, labels, problem.k)
    sums -= counts[:, None] * problem.origin
    raw = problem.raw
    if problem.count > 1:
        raw = raw_scatter(X, labels, problem.k, problem.kind, problem.origin)
    return _Clusters(labels, sums, counts, raw, icm.price_paid(settled, named, prices))


def _prices(problem: _Problem, metrics: Metrics, farthest: Array) -> Prices:
    """f_M and f_C of the paper, times the weights."""
    named, w = problem.named, problem.w
    must = pair_distances(problem.must, metrics)
    span = pair_distances(farthest, metrics)
    span = span if len(farthest) == 1 else np.diag(span)[None]
    cannot = np.maximum(span - pair_distances(problem.cannot, metrics), 0)
    return Prices(w * named.must_weight[:, None] * must, w * named.cannot_weight[:, None] * cannot)


def _learned(problem: _Problem, clusters: _Clusters, centers: Centers, farthest: Array) -> Metrics:
    """The metrics that make the objective least, labels and means held fixed (section 3.4 of the paper)."""
    named, w, full = problem.named, problem.w, problem.kind == "full"
    scatter = scatter_about(clusters.raw, clusters.sums, clusters.counts, centers - problem.origin)
    labels = clusters.labels[named.rows]
    first, second = labels[named.must].T
    broken = first != second
    same, other = labels[named.cannot].T
    inside = same == other
    for h in range(problem.count):
        ends = (first == h).astype(float) + (second == h) if problem.count > 1 else np.full(len(first), 2.0)
        weight = w / 2 * named.must_weight * ends * broken
        scatter[h] += outer_sum(problem.must[weight > 0], weight[weight > 0], full)
        weight = w * named.cannot_weight * inside * ((same == h) | (problem.count == 1))
        at = weight > 0
        gap = outer_sum(farthest[h : h + 1], weight[at].sum(keepdims=True), full)
        scatter[h] += gap - outer_sum(problem.cannot[at], weight[at], full)
    counts = clusters.counts if problem.count > 1 else clusters.counts.sum(keepdims=True)
    rows = counts + problem.prior_rows
    return inverted((_positive(scatter) + problem.prior) / rows.reshape(-1, *[1] * (scatter.ndim - 1)))


def _positive(scatter: Array) -> Array:
    """The nearest scatters without negative parts."""
    if scatter.ndim == 2:
        return np.maximum(scatter, 0)
    value, vector = np.linalg.eigh(scatter)
    if value.min() >= 0:
        return scatter
    clipped: Array = (vector * np.maximum(value, 0)[:, None, :]) @ np.swapaxes(vector, 1, 2)
    return clipped


def _objective(problem: _Problem, clusters: _Clusters, centers: Centers, metrics: Metrics) -> float:
    scatter = scatter_about(clusters.raw, clusters.sums, clusters.counts, centers - problem.origin)
    counts = clusters.counts if problem.count > 1 else clusters.counts.sum(keepdims=True)
    spread = quadratic(metrics, scatter).sum() - (counts * metrics.log_det).sum()
    return float(spread + clusters.paid)


def _plain_state(problem: _Problem, plain: icm.Plain, metrics: Metrics) -> _State:
    labels = plain.labels
    farthest = farthest_pairs(problem.extremes, metrics)
    paid = icm.price_paid(labels[problem.named.rows], problem.named, _prices(problem, metrics, farthest))
    sums, counts = points.sums(problem.X, labels, problem.k)
    sums -= counts[:, None] * problem.origin
    raw = problem.raw
    if problem.count > 1:
        raw = raw_scatter(problem.X, labels, problem.k, problem.kind, problem.origin)
    clusters = _Clusters(labels, sums, counts, raw, paid)
    return _State(labels, plain.centers, metrics, _objective(problem, clusters, plain.centers, metrics), plain.n_iter)
