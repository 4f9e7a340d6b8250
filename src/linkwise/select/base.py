"""The base class of searches: fit a clusterer with every setting of a grid, and keep the best clustering.

A search is a scikit-learn estimator around another one, like ``GridSearchCV``, but it scores a clustering of
all rows, not a prediction for held-out rows. It works with any clusterer; constraints are passed to those
whose ``fit`` takes them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import inf, isnan
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from linkwise.cluster.base import ScoredByConstraints, isolate_noise
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels, Progress
from linkwise.validation import check_constraints, check_rows, refuse_constraints_as_y

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
Refit = Callable[[Constraints], Labels]
Score = Callable[[Labels, Refit], float]


class TrialResult(NamedTuple):
    """One setting of a search, and its result."""

    params: dict[str, Any]
    score: float
    """The higher the better; NaN where nothing tells, or the fit failed."""
    n_clusters: int
    """0 where the fit failed. Noise counts as one cluster."""
    failed: str | None
    """Why it failed."""


def _can_predict(search: ClusteringSearch) -> bool:
    return hasattr(getattr(search, "best_estimator_", search.estimator), "predict")


class ClusteringSearch(ClusterMixin, BaseEstimator, ABC):
    """A search over the settings of a clusterer; a subclass implements `_scorer`.

    If a clusterer has ``leaves_noise``, like `linkwise.FOSC`, noise counts as apart from all rows; otherwise
    it counts as one cluster.
    """

    pairs_only: ClassVar[bool] = False
    """Whether the score looks at pairs of rows alone, and not at what is noise."""

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"constraints": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "param_grid": [dict, list],
        "progress": [callable, None],
    }

    def __init__(self, estimator: Any, param_grid: Grid, *, progress: Progress | None = None) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.progress = progress

    @abstractmethod
    def _scorer(self, X: NDArray[Any], constraints: Constraints) -> Score:
        """Make the function that scores the labels of a setting; higher is better."""

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Constraints | None = None) -> Self:
        """Fit every setting and keep the best.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            Not used; scikit-learn passes it.
        constraints : Constraints, optional
            Must-links and cannot-links between the rows; none by default.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            No setting could be fitted; the error gives the reason of the first.
        """
        self._validate_params()
        rows = check_rows(X, self)
        refuse_constraints_as_y(y)
        wanted = check_constraints(constraints, rows)
        settings = list(ParameterGrid(self.param_grid))
        score = self._scorer(rows, wanted)
        results: list[TrialResult] = []
        best: tuple[TrialResult, Any, Labels] | None = None
        first_error: Exception | None = None
        for params in settings:
            try:
                model, labels = fit_copy(self.estimator, params, rows, wanted)
                judged = pair_labels(model, labels) if self.pairs_only else labels
                value = score(judged, _refit(self.estimator, params, rows, model, judged))
            except Exception as error:  # whatever the clusterer raises concerns this setting only
                first_error = first_error or error
                results.append(TrialResult(params, float("nan"), 0, f"{type(error).__name__}: {error}"))
            else:
                results.append(TrialResult(params, value, len(np.unique(labels)), None))
                if best is None or _rank_key(results[-1]) > _rank_key(best[0]):
                    best = results[-1], model, labels
            if self.progress is not None:
                self.progress(len(results), len(settings))
        if best is None:
            raise ValueError(
                f"{type(self.estimator).__name__} could not be fitted with any of {len(results)} settings. "
                f"The first, {results[0].params}, failed with {results[0].failed}"
            ) from first_error
        self._keep(results, *best, wanted)
        return self

    def _keep(
        self,
        results: list[TrialResult],
        best: TrialResult,
        model: Any,
        labels: Labels,
        constraints: Constraints,
    ) -> None:
        self.results_ = results
        self.best_params_, self.best_score_ = best.params, best.score
        self.best_estimator_, self.labels_, self.n_clusters_ = model, labels, best.n_clusters
        broken = constraints.find_violations(pair_labels(model, labels))
        self.violations_ = int(sum(kind.sum() for kind in broken))

    @available_if(_can_predict)
    def predict(self, X: ArrayLike) -> Labels:
        """Assign rows to clusters by the best estimator, if it can predict.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        labels: Labels = self.best_estimator_.predict(rows)
        return labels

    score = available_if(_can_predict)(ScoredByConstraints.score)


def _rank_key(tried: TrialResult) -> tuple[float, int]:
    """Rank by score, then by fewer clusters; a setting without a score is last."""
    return (-inf if isnan(tried.score) else tried.score, -tried.n_clusters)


def fit_copy(
    estimator: Any, params: Mapping[str, Any], X: NDArray[Any], constraints: Constraints
) -> tuple[Any, Labels]:
    """Fit a copy of a clusterer with other parameters; return it and its labels."""
    model = clone(estimator).set_params(**{name: clone(value, safe=False) for name, value in params.items()})
    model.fit(X, **route_constraints(model, constraints))
    last = _last_step(model)
    labels = np.asarray(last.labels_ if hasattr(last, "labels_") else model.predict(X))
    if labels.shape != (len(X),):
        raise ValueError(f"The labels have shape {labels.shape}, but there are {len(X)} rows.")
    return model, labels


def pair_labels(model: Any, labels: Labels) -> Labels:
    """Return labels for pairs, with each noise row alone if the clusterer has ``leaves_noise``."""
    return isolate_noise(labels) if getattr(_last_step(model), "leaves_noise", False) else labels


def _last_step(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _refit(estimator: Any, params: Mapping[str, Any], X: NDArray[Any], model: Any, labels: Labels) -> Refit:
    """Make a function that returns labels under other constraints.

    The labels are fixed if the clusterer takes no constraints.
    """

    def again(constraints: Constraints) -> Labels:
        takes = route_constraints(model, constraints)
        return pair_labels(*fit_copy(estimator, params, X, constraints)) if takes else labels

    return again


def route_constraints(model: Any, constraints: Constraints) -> dict[str, Constraints]:
    """Name the constraints as a clusterer, or the last step of a pipeline, takes them."""
    if has_fit_parameter(model, "constraints"):
        return {"constraints": constraints}
    if isinstance(model, Pipeline) and has_fit_parameter(model[-1], "constraints"):
        routed = get_config()["enable_metadata_routing"]
        return {"constraints" if routed else f"{model.steps[-1][0]}__constraints": constraints}
    return {}
