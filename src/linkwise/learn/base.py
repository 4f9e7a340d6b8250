"""What all learners share: fit, with an oracle or without, on top of the one driver."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import check_answer
from linkwise.constraints.fallible import make_evidence
from linkwise.data.columns.table import Table
from linkwise.errors import NothingAskedWarning, short_repr
from linkwise.learn.abilities import prepare_learner
from linkwise.learn.gathering import SCREEN_SIZE, Sorter, check_size, gather, sort_rows
from linkwise.learn.history import History
from linkwise.learn.learner import Asking, Oracle, Problem
from linkwise.learn.prior import cluster_by_constraints
from linkwise.learn.run import Run
from linkwise.types import Labels, Progress
from linkwise.validation import check_constraints, check_rows, refuse_constraints_as_y, resolve_seed


class ActiveLearner(ClusterMixin, BaseEstimator, ABC):
    """A scikit-learn estimator around a generator of questions.

    A learner writes ``prepare``, ``ask`` and, where it keeps a state, ``start`` (see
    `linkwise.learn.learner.Learner`); the rest is here.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("constraints", "oracle", "budget", "askable", "error_rate", "budget_screens", "screen_size"), True
    )

    random_state: int | np.random.RandomState | None

    @abstractmethod
    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Any:
        """Do all work that needs no answer."""

    def start(self, problem: Problem) -> Any:
        """Return the state of a new run: here the problem itself, for learners that need no more."""
        return problem

    @abstractmethod
    def ask(self, state: Any, /) -> Asking:
        """Ask until nothing is left to ask; return the final labels."""

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        oracle: Oracle | Sorter | None = None,
        budget: int | None = None,
        constraints: Constraints | None = None,
        askable: ArrayLike | None = None,
        error_rate: float | None = 0,
        budget_screens: int | None = None,
        screen_size: int = SCREEN_SIZE,
    ) -> Self:
        """Ask the oracle and cluster.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            Not used; scikit-learn passes it.
        oracle : callable, optional
            ``oracle(first, second)`` returns "yes", "no", "unsure", True or False for two row
            positions. Without an oracle the learner asks nothing, and the clustering follows from the
            constraints alone. If there are no constraints either, a warning is raised. An object with a
            method ``sort``, such as `TruthSorter`, sorts several rows at once: ``oracle.sort(known, cards)``
            takes the piles that are there and further rows, and returns all piles. Rows that are in none of
            them are not sure.
        budget : int, optional
            Largest number of questions. By default the learner asks until no question is left.
        constraints : Constraints, optional
            Pairs that are known before the first question; none by default.
        askable : array-like, optional
            Rows that may be shown: positions, or a mask of shape (n_rows,). All by default.
        error_rate : float or None, default=0
            Share of the oracle's answers that are wrong, below 0.5; None estimates it. Unless it is 0, the
            learner checks doubtful answers by further questions, and believes the answers that fit together.
            `constraints` are certain.
        budget_screens : int, optional
            Largest number of screens that are sorted. By default rows are sorted until no row is worth it.
        screen_size : int, default=9
            Largest number of rows of a screen, from 2 to 100.

        Returns
        -------
        self
            The fitted learner. If the oracle raises an exception, the learner keeps the result up to that
            point, and the exception propagates.

        Warns
        -----
        NothingAskedWarning
            There are two rows or more, and neither an oracle nor a constraint.
        """
        self._validate_params()
        refuse_constraints_as_y(y)
        refuse_oracle_as_y(y)
        rows, table = self._take_rows(X)
        budget, shown = check_budget(budget), check_askable(askable, len(rows))
        evidence = make_evidence(len(rows), check_constraints(constraints, rows), error_rate)
        seed = resolve_seed(self.random_state)
        refuse_no_oracle(oracle)
        sorter = take_sorter(oracle, budget, budget_screens)
        n_screens, size = check_budget(budget_screens), check_size(screen_size)
        if oracle is None:
            labels = self._cluster_unasked(rows, table, evidence, seed)
            self._keep(evidence, labels, History(labels), "no oracle")
            if len(evidence) == 0 and len(rows) > 1:
                warn_that_nothing_is_asked(type(self).__name__)
            return self
        prepared = prepare_learner(self, rows, seed, table)
        run = Run(self, rows, evidence, seed, prepared=prepared, askable=shown, budget=budget)
        history = History(run.labels)
        try:
            if sorter is not None:
                self._sort(run, sorter, history, n_screens, size)
            else:
                _answer_pairs(run, oracle, history)
        finally:
            self._keep(evidence, run.labels, history, run.reason or "stopped")
            self._keep_more(rows, run.state)
        return self

    def _sort(self, run: Run, sorter: Sorter, history: History, n: int | None, m: int) -> None:
        """Let a sorter sort up to n screens of m rows."""

        def start() -> Run:
            twin = run.fork(shows_labels=False)
            return run.restart() if twin is None else twin

        while (n is None or len(history) < n) and (shown := gather(self, run, start, m)) is not None:
            run.sort(sort_rows(sorter, shown, run.evidence))
            history.append(run.labels)

    def _take_rows(self, X: object) -> tuple[NDArray[Any], Table | None]:
        """The rows as numbers, and the table that a learner compares in their place, if it does."""
        return check_rows(X, self), None

    def _cluster_unasked(self, X: NDArray[Any], table: Table | None, evidence: Evidence, seed: int) -> Labels:
        """Cluster rows or a table by the constraints alone."""
        return self._unasked(X, evidence, seed)

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        """Cluster by the constraints alone."""
        return cluster_by_constraints(X, evidence, seed)

    def _keep_more(self, X: NDArray[Any], state: Any) -> None:
        """Keep what else a run has found; most learners have nothing."""

    def _keep(self, evidence: Evidence, labels: Labels, history: History, reason: str) -> None:
        self.labels_ = labels
        self.n_clusters_ = len(np.unique(labels))
        self.n_questions_ = evidence.n_questions
        self.history_ = history
        self.reason_ = reason
        self.constraints_ = evidence.to_constraints()
        self.suspects_ = evidence.suspects()
        self.violations_ = int(sum(v.sum() for v in self.constraints_.find_violations(labels)))


def refuse_oracle_as_y(y: object) -> None:
    """Raise if an oracle is the second positional argument of `fit`, which is ignored."""
    if callable(y):
        raise TypeError("The oracle was given as y, which is ignored. Pass it by name: fit(X, oracle=...).")


def refuse_no_oracle(oracle: object) -> None:
    """Raise if an oracle is not a function; the error shows how to make one from known classes."""
    if oracle is not None and not callable(oracle) and not isinstance(oracle, Sorter):
        raise TypeError(
            f"oracle={short_repr(oracle)} is not a function. Pass a function of two row positions,"
            " linkwise.TruthOracle(y) for known classes, or None."
        )


def _answer_pairs(run: Run, oracle: Any, history: History) -> None:
    """Let an oracle answer questions until none is left."""
    while (q := run.question) is not None:
        run.answer(check_answer(oracle(q.first, q.second), q.first, q.second))
        history.append(run.labels)


def take_sorter(oracle: object, budget: object, budget_screens: object) -> Sorter | None:
    """The oracle, if it sorts rows; raise if a budget does not go with it."""
    if isinstance(oracle, Sorter):
        if budget is not None:
            raise TypeError("budget counts pairs, and the oracle sorts rows. Pass budget_screens instead.")
        return oracle
    if budget_screens is not None:
        raise TypeError("budget_screens needs an oracle with a method sort. Pass linkwise.TruthSorter(y).")
    return None


def warn_that_nothing_is_asked(name: str) -> None:
    """Warn the caller of `fit` that no answer has shaped the clusters."""
    warnings.warn(
        f"{name} got neither an oracle nor constraints, so it asks nothing and clusters by the rows alone."
        " Use fit(X, oracle=...), or answer questions yourself in linkwise.Session.",
        NothingAskedWarning,
        stacklevel=3,
    )


def check_budget(budget: object) -> int | None:
    """A number of questions, 0 or more, or None."""
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, Integral):
        raise TypeError(
            f"budget={short_repr(budget)} is not a whole number. Pass a number of questions, or None."
        )
    if int(budget) < 0:
        raise ValueError(
            f"budget={short_repr(int(budget))} is negative. Pass 0 or more questions, or None for no bound."
        )
    return int(budget)


def check_askable(askable: ArrayLike | None, n_rows: int) -> NDArray[np.bool_] | None:
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
            f"askable has dtype {given.dtype}, shape {given.shape}. Pass positions, or one bool a row."
        )
    wrong = given[(given < 0) | (given >= n_rows)]
    if len(wrong):
        raise ValueError(f"askable names row {wrong[0]}, but the rows are 0 to {n_rows - 1}.")
    mask = np.zeros(n_rows, dtype=bool)
    mask[given] = True
    return mask
