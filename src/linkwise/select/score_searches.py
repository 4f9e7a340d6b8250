"""Searches by one score of the finished clustering: constraints, silhouette, DBCV.

Van Craenendonck and Blockeel (2017) compare COBS with these methods.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from linkwise.cluster.validity.dbcv import Metric, dbcv_scorer
from linkwise.cluster.validity.silhouette import silhouette_scorer
from linkwise.constraints.constraints import Constraints
from linkwise.select.base import ClusteringSearch, Grid, Score
from linkwise.types import Progress


class NumSatSearch(ClusteringSearch):
    """The setting whose clustering breaks fewest constraints; of equals the one with fewest clusters.

    A constraint counts by its weight. Without constraints all settings tie. A clusterer that takes
    constraints is scored by the same constraints, so one that can satisfy any of them always ties
    (`CVCPSearch` scores by held-out ones).

    Parameters
    ----------
    estimator : clusterer
        A scikit-learn clusterer. It is copied, never fitted itself.
    param_grid : dict or list of dict
        Values to try for each parameter, as for ``sklearn.model_selection.ParameterGrid``.
    progress : callable, optional
        Called as ``progress(done, planned)`` after each setting. An exception that it raises ends the search.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`; noise counts as one cluster.
    violations_ : int
        Number of constraints that `labels_` break. Noise is one cluster here, too, unless the clusterer has
        ``leaves_noise``, like `FOSC`.
    best_params_ : dict
        The chosen setting.
    best_score_ : float
        Sum of the weights of the satisfied constraints; their number if all weights are 1.
    best_estimator_ : estimator
        The best estimator, fitted with all constraints.
    results_ : list of TrialResult
        One entry for each setting: params, score, n_clusters, and the error if it failed.

    References
    ----------
    Van Craenendonck and Blockeel (2017), Constraint-based clustering selection. Machine Learning 106.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> c = lw.Constraints.sample(y, 40, random_state=0)
    >>> search = lw.NumSatSearch(KMeans(random_state=0), {"n_clusters": range(2, 8)})
    >>> search.fit(X, constraints=c).best_params_
    {'n_clusters': 3}
    """

    pairs_only: ClassVar[bool] = True

    def _scorer(self, X: NDArray[Any], constraints: Constraints) -> Score:
        def score(labels: NDArray[Any], _: object) -> float:
            must, cannot = constraints.find_violations(labels)
            return float(
                constraints.must_link_weight[~must].sum() + constraints.cannot_link_weight[~cannot].sum()
            )

        return score


class SilhouetteSearch(ClusteringSearch):
    """The setting whose clustering has the highest mean silhouette.

    The mean ignores noise; fewer than two clusters score -1.

    Parameters
    ----------
    estimator : clusterer
        A scikit-learn clusterer. It is copied, never fitted itself.
    param_grid : dict or list of dict
        Values to try for each parameter, as for ``sklearn.model_selection.ParameterGrid``.
    progress : callable, optional
        Called as ``progress(done, planned)`` after each setting. An exception that it raises ends the search.

    Attributes
    ----------
    labels_, n_clusters_, violations_, best_params_, best_estimator_, results_
        See `NumSatSearch`.
    best_score_ : float
        The mean silhouette, from -1 to 1.

    References
    ----------
    Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster
    analysis. Journal of Computational and Applied Mathematics 20.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_blobs
    >>> import linkwise as lw
    >>> X, y = make_blobs(200, centers=4, cluster_std=0.7, random_state=3)
    >>> lw.SilhouetteSearch(KMeans(random_state=0), {"n_clusters": range(2, 8)}).fit(X).n_clusters_
    4
    """

    def _scorer(self, X: NDArray[Any], constraints: Constraints) -> Score:
        silhouette = silhouette_scorer(X)
        return lambda labels, _: silhouette(labels)


class DBCVSearch(ClusteringSearch):
    """The setting whose clustering has the highest density-based validity.

    Parameters
    ----------
    estimator : clusterer
        A scikit-learn clusterer. It is copied, never fitted itself.
    param_grid : dict or list of dict
        Values to try for each parameter, as for ``sklearn.model_selection.ParameterGrid``.
    metric : {"euclidean", "sqeuclidean"}, default="euclidean"
        The distance, see `dbcv_score`.
    progress : callable, optional
        Called as ``progress(done, planned)`` after each setting. An exception that it raises ends the search.

    Attributes
    ----------
    labels_, n_clusters_, violations_, best_params_, best_estimator_, results_
        See `NumSatSearch`.
    best_score_ : float
        `dbcv_score` of `labels_`, from -1 to 1.

    References
    ----------
    Moulavi, Jaskowiak, Campello, Zimek and Sander (2014), Density-based clustering validation. SDM.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> from sklearn.datasets import make_moons
    >>> import linkwise as lw
    >>> X, y = make_moons(200, noise=0.03, random_state=0)
    >>> lw.DBCVSearch(DBSCAN(), {"eps": [0.05, 0.1, 0.2, 0.4]}).fit(X).best_params_
    {'eps': 0.2}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ClusteringSearch._parameter_constraints,
        "metric": [StrOptions({"euclidean", "sqeuclidean"})],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Grid,
        *,
        metric: Metric = "euclidean",
        progress: Progress | None = None,
    ) -> None:
        super().__init__(estimator, param_grid, progress=progress)
        self.metric = metric

    def _scorer(self, X: NDArray[Any], constraints: Constraints) -> Score:
        validity = dbcv_scorer(X, metric=self.metric)
        return lambda labels, _: validity(labels)
