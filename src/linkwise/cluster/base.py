"""The base classes of clusterers that take constraints: fit and its checks, predict by centres, score."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from linkwise.cluster import points
from linkwise.constraints.closure import format_chain, shortest_contradiction
from linkwise.constraints.constraints import Constraints, constraint_score
from linkwise.errors import InfeasibleConstraintsError
from linkwise.types import Labels, Progress
from linkwise.validation import (
    check_constraints,
    check_rows,
    refuse_constraints_as_y,
    refuse_more_than_rows,
    refuse_weights,
    resolve_seed,
)
from linkwise.wording import count_noun


class FewerClustersWarning(ConvergenceWarning):
    """X has fewer distinct rows than `n_clusters`, so there are fewer clusters."""


class ConstrainedClusterer(ClusterMixin, BaseEstimator, ABC):
    """A scikit-learn clusterer that takes constraints and a number of clusters.

    A method implements ``_fit``; this class checks the arguments and sets the common attributes.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True}

    sparse: ClassVar[bool] = False
    """Whether X may be sparse."""
    hard: ClassVar[bool] = False
    """Whether no constraint is ever broken."""
    is_sampled: ClassVar[bool] = True
    """Whether a learner that refits it fits only a sample of very many rows and predicts the others."""
    leaves_noise: ClassVar[bool] = False
    """Whether rows may be in no cluster, label -1: apart from all others, as `isolate_noise` says."""

    n_clusters: int
    random_state: int | np.random.RandomState | None = None
    """The seed; a method that draws nothing has no such parameter."""

    @abstractmethod
    def _fit(
        self, X: Any, constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> NDArray[Any]:
        """Cluster checked rows into at most `k` clusters, set the attributes of the method, return labels.

        Call ``progress(done, planned)`` in each round if the work may take longer than a second. An exception
        that it raises ends the work. If a method never calls it, `fit` does so once, at the end.
        """

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Constraints | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Fit the clusterer.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            Not used; scikit-learn passes it.
        constraints : Constraints, optional
            Must-links and cannot-links between the rows; none by default.
        progress : callable, optional
            Called as ``progress(done, planned)`` during the work. An exception that it raises ends the work.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        refuse_constraints_as_y(y)
        rows = check_rows(X, self, sparse=self.sparse)
        wanted = check_constraints(constraints, rows)
        if self._breaks_nothing():
            refuse_conflicts(wanted, type(self).__name__)
        k = self._most_clusters(rows)
        report = None if progress is None else _Report(progress)
        labels = self._fit(rows, wanted, k, self._draw_seed(), report)
        if report is not None and not report.was_called:
            report(1, 1)
        self.labels_: Labels = labels.astype(np.int32, copy=False)
        self.n_clusters_ = len(np.unique(labels))
        self.violations_ = int(sum(broken.sum() for broken in wanted.find_violations(labels)))
        self._keep_rule(rows)
        return self

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters; learners that refit clusterers ask many times."""
        names: list[str] = super()._get_param_names()
        return names

    def _keep_rule(self, X: Any) -> None:
        """Keep what `predict` needs besides the attributes that `_fit` has set; most methods need nothing."""

    def _draw_seed(self) -> int:
        """Return the seed of a fit; 0 for a method that draws nothing."""
        return resolve_seed(self.random_state) if "random_state" in self._get_param_names() else 0

    def _most_clusters(self, rows: Any) -> int:
        """Return the number of clusters to look for."""
        return count_clusters(rows, self.n_clusters)

    def _breaks_nothing(self) -> bool:
        """Whether these parameters never break a constraint."""
        return self.hard

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.sparse
        return tags


def prepare_fits(clusterer: Any, X: NDArray[Any]) -> dict[str, object]:
    """Compute arguments of `fit` that save time in all fits to the same rows; most clusterers have none."""
    return {"prepared": clusterer.prepare(X)} if has_fit_parameter(clusterer, "prepared") else {}


class _Report:
    """Progress, and whether there was any."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.was_called = False

    def __call__(self, done: int, planned: int) -> None:
        self.was_called = True
        self._progress(done, planned)


def isolate_noise(labels: Labels) -> Labels:
    """Return labels in which each row of noise (-1) is a cluster of its own."""
    noise = labels < 0
    alone = labels.copy()
    alone[noise] = labels.max(initial=-1) + np.arange(1, noise.sum() + 1)
    return alone


class ScoredByConstraints(ABC):
    """An estimator whose predictions are scored by the constraints that they satisfy."""

    __metadata_request__score: ClassVar[dict[str, bool]] = {"constraints": True}

    @abstractmethod
    def predict(self, X: ArrayLike) -> Labels:
        """Return the cluster of each row."""

    def score(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Constraints | None = None,
        sample_weight: None = None,
    ) -> float:
        """Compute the share of the constraints that `predict` satisfies.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            Not used; scikit-learn passes it.
        constraints : Constraints, optional
            Must-links and cannot-links between the rows; none by default.
        sample_weight : None
            Must be None; scikit-learn's pipelines pass it.

        Returns
        -------
        float
            The share, 0 to 1; 1.0 without constraints.
        """
        refuse_weights(sample_weight)
        labels = self.predict(X)
        rows: Any = csr_array(X) if issparse(X) else np.asarray(X)
        return constraint_score(labels, check_constraints(constraints, rows))


class CenteredClusterer(ScoredByConstraints, ConstrainedClusterer):
    """A clusterer whose clusters are given by their centres.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centre of each cluster.
    """

    cluster_centers_: NDArray[np.float64]

    def predict(self, X: ArrayLike) -> Labels:
        """Assign each row to the nearest centre.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row. Fitted rows get their own labels, unless a constraint put them elsewhere.
        """
        check_is_fitted(self)
        return self._nearest(self._new_rows(X))

    def _nearest(self, X: Any) -> Labels:
        return points.nearest_centers(X, self.cluster_centers_)[0]

    def _new_rows(self, X: ArrayLike) -> Any:
        return check_rows(X, self, sparse=self.sparse, reset=False)


def refuse_conflicts(constraints: Constraints, name: str) -> None:
    """Raise if constraints contradict each other; the error names the shortest chain."""
    if len(constraints.conflicts) == 0:
        return
    chain = shortest_contradiction(constraints.n_rows, constraints.must_link, constraints.conflicts)
    raise InfeasibleConstraintsError(
        f"{name} satisfies every constraint, but these contradict each other: {format_chain(chain)}. "
        "Remove one of them, or use a method that may break constraints, such as PCKMeans.",
        chain,
    )


def count_clusters(X: Any, n_clusters: int) -> int:
    """Return `n_clusters`, or the number of distinct rows with a warning if that is smaller."""
    refuse_more_than_rows(n_clusters, X.shape[0])
    distinct = _count_distinct_rows(X, n_clusters)
    if distinct < n_clusters:
        warnings.warn(
            f"X has only {count_noun(distinct, 'distinct row')}, so there are as many clusters, not "
            f"n_clusters={n_clusters}.",
            FewerClustersWarning,
            stacklevel=3,
        )
    return distinct


def _count_distinct_rows(X: Any, enough: int) -> int:
    """Count distinct rows, at most `enough` of them."""
    seen: set[bytes] = set()
    for row in range(X.shape[0]):
        if issparse(X):
            cells = slice(X.indptr[row], X.indptr[row + 1])
            used = cells.start + np.flatnonzero(X.data[cells])
            seen.add(X.indices[used].tobytes() + X.data[used].tobytes())
        else:
            seen.add((X[row] + 0.0).tobytes())  # -0.0 is 0.0
        if len(seen) >= enough:
            return enough
    return len(seen)
