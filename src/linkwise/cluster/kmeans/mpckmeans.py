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

`MPCKMeans.paper` is the method as printed, without all of these; each has a parameter. `MPCKMeans.authors` is
the method as WekaUT runs it (`linkwise.cluster.kmeans.mpck_program`). Features that are the
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

from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans import icm, penalised
from linkwise.cluster.kmeans.components import add_implied, compact_labels
from linkwise.cluster.kmeans.metric_learning import (
    MetricProblem,
    learn_metrics,
    make_metric_problem,
)
from linkwise.cluster.kmeans.metrics import (
    Kind,
    Metrics,
    invert_covariances,
    must_link_metric,
    nearest_under_metrics,
    spherical_metrics,
)
from linkwise.cluster.kmeans.mpck_program import run_in_file_order
from linkwise.cluster.kmeans.penalised import PenalisedRun
from linkwise.cluster.kmeans.starts import PARAMETERS, draw_soft_starts
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress

MOST_ROWS = 10_000  # among which the farthest pair is sought exactly


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
    search : {"modes", "file order"}, default="modes"
        How labels are found. "modes": rows move until no single move lowers the objective. "file order": one
        pass over the rows an iteration, with the start, the price of a cannot-link and the end of WekaUT. It
        has one diagonal metric, adds constraints that follow between components, and is slow.
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

    _metrics: Metrics

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
        "search": [StrOptions({"modes", "file order"})],
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
        search: Literal["modes", "file order"] = "modes",
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
        self.search = search
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

    @classmethod
    def authors(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as in WekaUT, the program of its authors' group.

        All clusters share a diagonal metric without a prior. Each iteration is one pass over the rows in the
        order of X. The one start takes the neighbourhoods, and plain k-means is never returned.

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
        program: dict[str, Any] = {
            "metric": "diagonal",
            "shrinkage": 0.0,
            "must_link_start": False,
            "settle_first": False,
            "component_moves": False,
            "implied": True,
            "search": "file order",
            "fallback": False,
            "n_init": 1,
        }
        return cls(n_clusters, **{**program, **parameters})

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0))
        varying = max(1, X.shape[1] - len(constant))
        # of rows that are all alike: any unit will do
        variance = points.mean_variance(X) * X.shape[1] / varying or 1.0
        metrics = spherical_metrics(self.metric, X.shape[1], k if self.per_cluster else 1, variance)
        self.fell_back_ = False
        stop = (self.max_iter, self.tol)
        if constraints.n_constraints == 0:
            return self._keep(penalised.run_plain_k_means(X, self._plain_starts(X, k, seed), *stop), metrics)
        if self.search == "file order":
            return self._fit_in_file_order(X, constraints, k, seed)
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
            named = icm.find_named_rows(X, constraints)
            if not self.component_moves:
                named = icm.separate_rows(named)
            problem = make_metric_problem(X, named, metrics, self.w, self.shrinkage, constant, variance)
            if self.farthest == "all":
                problem = problem._replace(extremes=np.asarray(X, dtype=np.float64))
            views = self._views(problem, constraints, metrics, k, seed)
            bound = self.tol * variance * varying / X.shape[1]
            runs = (self.max_iter, bound)
            best, learned = _learn_best(
                problem, wanted, views, seed, runs, progress, refine=self.settle_first
            )
        if not self.fallback:
            return self._keep(best, learned)
        if penalised.is_satisfied(wanted, best.labels):
            return self._keep(best, learned)
        starts = [views[0].starts, self._plain_starts(X, k, seed)]
        plain = penalised.improve_by_plain(X, wanted, best.labels, starts, *stop)
        self.fell_back_ = plain is not None
        return self._keep(best, learned) if plain is None else self._keep(plain, metrics)

    def _fit_in_file_order(self, X: NDArray[Any], constraints: Constraints, k: int, seed: int) -> Labels:
        if self.metric == "full" or self.per_cluster:
            given = 'metric="full"' if self.metric == "full" else "per_cluster=True"
            raise ValueError(
                f'search="file order" has one diagonal metric, but {given}. Set metric="diagonal" and '
                'per_cluster=False, or search="modes".'
            )
        run = run_in_file_order(X, constraints, k, self.w, rng_at(seed), self.max_iter)
        variances = invert_covariances(1 / run.weights[None])
        return self._keep(PenalisedRun(run.labels, run.centers, run.objective, run.n_iter), variances)

    def _plain_starts(self, X: NDArray[Any], k: int, seed: int) -> list[Centers]:
        return draw_soft_starts(X, Constraints(len(X)), self.n_clusters, k, seed, self.init, self.n_init)

    def _views(
        self, problem: MetricProblem, constraints: Constraints, plain: Metrics, k: int, seed: int
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


class _MetricStarts(NamedTuple):
    """Starts under one metric, in coordinates that make it the plain one."""

    metrics: Metrics
    rows: NDArray[Any]
    starts: list[Centers]


def _learn_best(
    problem: MetricProblem,
    constraints: Constraints,
    views: list[_MetricStarts],
    seed: int,
    stop: tuple[int, float],
    progress: Progress | None,
    *,
    refine: bool = True,
) -> tuple[PenalisedRun, Metrics]:
    """Learn metrics from each start of each view; return those that alone satisfy most constraints."""
    made: list[tuple[float, PenalisedRun, Metrics]] = []
    for metrics, rows, starts in views:
        variance = points.mean_variance(rows)
        prices = icm.equal_prices(problem.named, problem.w * variance * rows.shape[1])
        bound = stop[1] * (variance / problem.variance)  # in these coordinates
        firsts = (
            penalised.run_penalised(rows, starts, problem.named, prices, seed, stop[0], bound)
            if refine
            else (PenalisedRun(points.nearest_centers(rows, one)[0], one, 0.0, 0) for one in starts)
        )
        for first in firsts:
            centers = first.centers if rows is problem.X else metrics.unmap_rows(first.centers)
            start, rng = first._replace(centers=centers), rng_at(seed, len(made))
            run, learned = learn_metrics(problem, start, metrics, stop, rng)
            alone = nearest_under_metrics(problem.X, run.centers, learned)
            made.append((penalised.satisfied_weight(alone, constraints), run, learned))
            if progress is not None:
                progress(len(made), sum(len(view.starts) for view in views))
    most = max(satisfied for satisfied, _, _ in made)
    leading = [(run, learned) for satisfied, run, learned in made if satisfied == most]
    least = min(run.objective for run, _ in leading)
    close = 1e-9 * problem.X.size  # the same clustering, reached in several ways
    return next(one for one in leading if one[0].objective <= least + close)
