"""What all learners share: fit, with an oracle or without, on top of the one driver."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from linkwise.active.unasked import unasked
from linkwise.constraints import Constraints
from linkwise.errors import ConstraintWarning, DataError
from linkwise.evidence import Evidence
from linkwise.learner import Asking, History, Labels, Oracle, Progress, Run, checked_answer


class ActiveLearner(ClusterMixin, BaseEstimator, ABC):
    """A scikit-learn estimator around a generator of questions.

    A learner writes ``prepare`` and ``run`` (see `linkwise.learner.Learner`); the rest is here.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("constraints", "oracle", "budget", "askable"), True
    )

    random_state: int | np.random.RandomState | None

    @abstractmethod
    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Any:
        """All work that needs no answer."""

    @abstractmethod
    def run(
        self,
        X: NDArray[Any],
        prepared: Any,
        evidence: Evidence,
        seed: int,
        *,
        askable: NDArray[np.bool_] | None = None,
        budget: int | None = None,
    ) -> Asking:
        """Ask until nothing is left to ask; return the final labels."""

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        oracle: Oracle | None = None,
        budget: int | None = None,
        constraints: Constraints | None = None,
        askable: ArrayLike | None = None,
    ) -> Self:
        """Ask the oracle and cluster.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : ignored
        oracle : callable, optional
            ``oracle(first, second)`` returns "yes", "no", "unsure", True or False for two row
            positions. Without one nothing is asked: the result is what the constraints alone give.
        budget : int, optional
            Largest number of questions; until nothing is left to ask by default.
        constraints : Constraints, optional
            What is known before the first question.
        askable : array-like, optional
            Rows that may be shown: positions, or a mask of shape (n_rows,). All by default.

        Returns
        -------
        self
            If the oracle raises, what was found until then is kept and the exception passes.
        """
        self._validate_params()
        rows = checked_rows(X, self)
        budget, shown = checked_budget(budget), checked_askable(askable, len(rows))
        evidence = Evidence(len(rows), checked_constraints(constraints, rows))
        seed = seed_of(self.random_state)
        if oracle is not None and not callable(oracle):
            raise TypeError(f"oracle={oracle!r}; give a function of two row positions, or None")
        if oracle is None:
            labels = unasked(rows, evidence, seed)
            self._keep(evidence, labels, History(labels), "no oracle")
            return self
        run = Run(self, rows, evidence, seed, askable=shown, budget=budget)
        history = History(run.labels)
        try:
            while (q := run.question) is not None:
                run.answer(checked_answer(oracle(q.first, q.second), q.first, q.second))
                history.append(run.labels)
        finally:
            self._keep(evidence, run.labels, history, run.reason or "stopped")
        return self

    def _keep(self, evidence: Evidence, labels: Labels, history: History, reason: str) -> None:
        self.labels_ = labels
        self.n_clusters_ = len(np.unique(labels))
        self.n_questions_ = evidence.n_questions
        self.history_ = history
        self.reason_ = reason
        self.constraints_ = evidence.to_constraints()
        self.violations_ = int(sum(v.sum() for v in self.constraints_.violated(labels)))


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """One integer from scikit-learn's kinds of random_state."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


LARGEST = 1e150  # squares of larger values overflow, squares of smaller differences vanish


def checked_rows(X: ArrayLike, estimator: BaseEstimator | None = None) -> NDArray[Any]:
    """X as floats, C-contiguous; what cannot be clustered is named by its place."""
    name = "a session" if estimator is None else type(estimator).__name__
    if issparse(X):
        raise TypeError(f"X is sparse, but dense data is required by {name}; pass X.toarray()")
    check = check_array if estimator is None else partial(validate_data, estimator)
    try:
        rows: NDArray[Any] = check(X, dtype=[np.float64, np.float32], order="C", ensure_all_finite=False)
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
        raise DataError(f"{_first_text(X)}; encode it as numbers") from None
    wrong = np.argwhere(~np.isfinite(rows))
    if len(wrong):
        row, column = wrong[0]
        raise DataError(
            f"X holds NaN/infinity: {len(wrong)} value(s), the first in row {row}, column {column}; "
            "impute or drop them"
        )
    low, high = rows.min(axis=0).astype(np.float64), rows.max(axis=0).astype(np.float64)
    largest, spread = float(np.maximum(-low, high).max()), float(np.max(high / 2 - low / 2)) * 2
    if largest > LARGEST or 0 < spread < 1 / LARGEST:
        raise DataError(
            f"X holds values up to {largest:.3g} that differ by up to {spread:.3g}, beyond what "
            "squared distances can hold; rescale X, for example to [0, 1]"
        )
    return rows


def _first_text(X: Any) -> str:
    """Where the first value stands that is no number."""
    values = np.asarray(X, dtype=object)
    names = getattr(X, "columns", range(values.shape[1]))
    for name, column in zip(names, values.T, strict=True):
        for value in column:
            try:
                float(value)
            except ValueError:
                return f"column {name!r} of X holds {value!r}"
    return "X holds values that are no numbers"


def checked_budget(budget: object) -> int | None:
    """A number of questions, 0 or more, or None."""
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, Integral):
        raise TypeError(f"budget={budget!r} ({type(budget).__name__}); give a number of questions, or None")
    if int(budget) < 0:
        raise ValueError(f"budget={budget}; give 0 or more questions, or None for no bound")
    return int(budget)


def checked_constraints(constraints: object, X: NDArray[Any]) -> Constraints:
    """Constraints about the rows of X; empty ones for None."""
    if constraints is None:
        return Constraints(len(X))
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints is a {type(constraints).__name__}; "
            "build it with linkwise.Constraints(len(X), must_link=[...], cannot_link=[...])"
        )
    if constraints.n_rows != len(X):
        raise ValueError(f"the constraints are about {constraints.n_rows} rows, X has {len(X)}")
    i, j = constraints.cannot_link.T
    same = np.flatnonzero((X[i] == X[j]).all(axis=1)) if X.size else np.empty(0, int)
    if len(same):
        a, b = constraints.cannot_link[same[0]]
        warnings.warn(
            f"rows {a} and {b} are required apart but identical in every feature ({len(same)} such "
            "pair(s)): no clustering of these features tells them apart",
            ConstraintWarning,
            stacklevel=3,
        )
    return constraints


def checked_askable(askable: ArrayLike | None, n_rows: int) -> NDArray[np.bool_] | None:
    """A mask of rows from a mask or from positions; None: all rows."""
    if askable is None:
        return None
    given = np.asarray(askable)
    if given.shape == (0,):
        given = given.astype(np.int64)
    if given.dtype == bool and given.shape == (n_rows,):
        return given
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise TypeError(
            f"askable has dtype {given.dtype}, shape {given.shape}; give positions or one bool a row"
        )
    wrong = given[(given < 0) | (given >= n_rows)]
    if len(wrong):
        raise ValueError(f"askable names row {wrong[0]}, but the rows are 0 to {n_rows - 1}")
    mask = np.zeros(n_rows, dtype=bool)
    mask[given] = True
    return mask
