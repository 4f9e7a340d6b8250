"""KIN as an estimator, with fit and predict. `linkwise.learn.kin.kin_learner` is the method itself."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.constraints.evidence import Evidence
from linkwise.learn.base import ActiveLearner
from linkwise.learn.kin.confidence import certainty, certainty_unasked
from linkwise.learn.kin.kernels import KINItems
from linkwise.learn.kin.kin_learner import KINLearner
from linkwise.learn.kin.state import KINState
from linkwise.types import Labels
from linkwise.validation import check_rows


class KIN(KINLearner, ActiveLearner):
    """Active clustering by kernel inference over neighbourhoods, number of clusters unknown.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_, n_clusters_, n_questions_, history_, reason_, constraints_, violations_, suspects_
        As for `COBRAS`.
    proba_ : ndarray of shape (n_rows,)
        Probability that each row is in its cluster: 1 where answers decide, 0 while nothing is known.

    Notes
    -----
    KIN is linkwise's own method. The time and the memory for a question grow with the square of the number
    of rows, and the time before the first question with its cube. Above 2000 distinct rows, KIN therefore
    forms 1000 groups of them first, which is an approximation. `predict` gives a new row the cluster of the
    nearest fitted row, or of the nearest representative of a group.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lw.KIN(random_state=0).fit(X, oracle=lw.TruthOracle(y), budget=30)
    >>> model.n_questions_
    30
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"random_state": ["random_state"]}

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        prepared, labels = self.prepare(X, seed), super()._unasked(X, evidence, seed)
        self.proba_ = certainty_unasked(prepared, evidence, labels)
        self._keep_representatives(X, prepared.items)
        return labels

    def _keep_more(self, X: NDArray[Any], state: KINState) -> None:
        """Keep how certain the clusters are, and the rows that new ones are compared with."""
        posterior = state.read()
        self.proba_ = certainty(posterior)
        self._keep_representatives(X, posterior.task.items)

    def _keep_representatives(self, X: NDArray[Any], items: KINItems) -> None:
        self._representatives = items.first
        self._representative_rows = np.ascontiguousarray(X[items.first], dtype=np.float64)

    def predict(self, X: ArrayLike) -> Labels:
        """Predict the cluster of new rows: that of the nearest row of `fit`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The new rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row. If `fit` had many rows, new ones are compared with the representatives of
            groups alone.
        """
        check_is_fitted(self, "labels_")
        rows = check_rows(X, self, reset=False)
        nearest = native.nearest_points(rows, self._representative_rows, parallel.n_threads())[0]
        found: Labels = self.labels_[self._representatives[nearest]]
        return found
