"""The rule for new rows of methods that have none of their own: the cluster of the nearest fitted row.

A cut of a graph, a hierarchy or a matrix of similarities says nothing about rows outside it. The usual
approximation is the nearest neighbour: a new row gets the label of the fitted row that is nearest to it.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.cluster.base import ConstrainedClusterer, ScoredByConstraints
from linkwise.types import Labels
from linkwise.validation import check_rows


class NearestRow(NamedTuple):
    """Fitted rows and their labels."""

    rows: Any
    """(n, d) dense, or a CSR array."""
    labels: Labels
    """(n,)"""

    @classmethod
    def remember(cls, rows: Any, labels: Labels) -> NearestRow:
        """Copy rows, since the caller may change them later."""
        return cls(rows.copy(), labels.copy())

    def find(self, X: Any) -> Labels:
        """Return the label of the nearest row of each row of X; of equally near rows the first counts."""
        if issparse(X) or issparse(self.rows):
            nearest = pairwise_distances_argmin(X, self.rows)
        else:
            points = np.ascontiguousarray(self.rows, dtype=np.float64)
            nearest = native.nearest_points(X, points, parallel.n_threads())[0]
        found: Labels = self.labels[nearest]
        return found


class NearestRowPredictor:
    """An estimator that assigns a new row to the cluster of the nearest fitted row."""

    sparse: ClassVar[bool] = False
    labels_: Labels
    _nearest_row: NearestRow

    def _keep_rule(self, X: Any) -> None:
        """Remember the fitted rows."""
        self._nearest_row = NearestRow.remember(X, self.labels_)

    def predict(self, X: ArrayLike) -> Labels:
        """Assign each row to the cluster of the nearest fitted row.

        This is an approximation: the method itself has no rule for new rows. Fitted rows get their own
        labels; of identical rows with different labels the first counts.

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
        return self._nearest_row.find(check_rows(X, self, sparse=self.sparse, reset=False))


class NearestRowClusterer(NearestRowPredictor, ScoredByConstraints, ConstrainedClusterer):
    """A clusterer that assigns a new row to the cluster of the nearest fitted row."""

    is_sampled: ClassVar[bool] = False
