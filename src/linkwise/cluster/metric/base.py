"""The base class of transformers that learn a metric from constraints: fit and its checks, transform."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from linkwise.constraints.constraints import Constraints
from linkwise.parallel import one_blas_thread
from linkwise.validation import check_constraints, check_rows, refuse_constraints_as_y

Array = NDArray[np.float64]


class ConstantWarning(ConvergenceWarning):
    """All rows are identical, so there are no distances to learn from."""


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A scikit-learn transformer that learns a linear map of the rows from constraints.

    A method implements ``_fit``; this class checks the arguments and sets the common attributes. Without
    constraints the map is the identity.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True}

    _map: Array  # (d,) where it is diagonal, else (d, d)

    @abstractmethod
    def _fit(self, X: NDArray[Any], constraints: Constraints) -> Array:
        """Learn the map from checked rows and constraints: (d,) if it is diagonal, or (d, d)."""

    def fit(self, X: ArrayLike, y: object = None, *, constraints: Constraints | None = None) -> Self:
        """Learn the metric.

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
        """
        self._validate_params()
        refuse_constraints_as_y(y)
        rows = check_rows(X, self)
        wanted = check_constraints(constraints, rows)
        if len(rows) > 1 and (rows == rows[0]).all():
            warnings.warn(
                f"All columns of X ({rows.shape[1]}) are constant, so nothing can be learned. Check that the "
                "right columns were read.",
                ConstantWarning,
                stacklevel=2,
            )
        with one_blas_thread():
            self._map = self._fit(rows, wanted)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Map rows to coordinates in which the learned distance is the Euclidean one.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            ``X @ components_.T``; float32 if the rows are float32.
        """
        check_is_fitted(self, "_map")
        rows: NDArray[Any] = check_rows(X, self, reset=False)
        with one_blas_thread():
            images = rows * self._map if self._map.ndim == 1 else rows @ self._map.T
        return images.astype(rows.dtype, copy=False)

    @property
    def components_(self) -> Array:
        """The map L that `transform` applies, shape (n_features, n_features)."""
        check_is_fitted(self, "_map")
        return np.diag(self._map) if self._map.ndim == 1 else self._map

    def get_mahalanobis_matrix(self) -> Array:
        """Return the learned metric as a matrix.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            M = L'L, positive semidefinite: the squared distance of rows x and y is ``(x - y)' M (x - y)``.
        """
        check_is_fitted(self, "_map")
        if self._map.ndim == 1:
            return np.diag(self._map**2)
        with one_blas_thread():
            metric: Array = self._map.T @ self._map
        return metric

    @property
    def _n_features_out(self) -> int:
        return len(self._map)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
