"""Score clusterings against known classes: on all rows, outside the constraints, after each question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score

from linkwise.constraints.constraints import Constraints
from linkwise.learn.learner import Oracle

Score = Callable[[ArrayLike, ArrayLike], float]

SCORES: dict[str, Score] = {
    "ari": adjusted_rand_score,
    "rand": rand_score,
    "nmi": normalized_mutual_info_score,
    "nmi_geometric": partial(normalized_mutual_info_score, average_method="geometric"),
}
"""Scores of two clusterings, by name: adjusted Rand index, Rand index, and normalised mutual information by
the arithmetic mean or, as in Okabe and Yamada (2018), the geometric mean of the entropies."""


def score_elsewhere(
    y: ArrayLike, labels: ArrayLike, constraints: Constraints | ArrayLike, score: Score = adjusted_rand_score
) -> float:
    """Score the rows that are in no constraint, as Van Craenendonck and Blockeel (2017), section III.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Known classes.
    labels : array-like of shape (n_rows,)
    constraints : Constraints, or array-like of int
        The constraints, or the rows that are left out.
    score : callable, default=adjusted_rand_score
        ``score(y, labels)``.

    Returns
    -------
    float
        NaN where every row is in a constraint.
    """
    y, labels = np.asarray(y), np.asarray(labels)
    if isinstance(constraints, Constraints):
        rows = np.concatenate([constraints.must_link.ravel(), constraints.cannot_link.ravel()])
    else:
        rows = np.asarray(constraints, dtype=np.int64).ravel()
    rest = np.ones(len(y), dtype=bool)
    rest[rows] = False
    return float(score(y[rest], labels[rest])) if rest.any() else float("nan")


def score_curve(
    y: ArrayLike,
    clusterings: Iterable[ArrayLike],
    n_questions: int,
    score: Score = adjusted_rand_score,
) -> NDArray[np.float64]:
    """Score the clustering after each question; after the last one its score is repeated.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    clusterings : iterable of array-like of shape (n_rows,)
        At least one, and at most `n_questions`.
    n_questions : int
        Length of the curve.
    score : callable, default=adjusted_rand_score

    Returns
    -------
    ndarray of shape (n_questions,)

    Raises
    ------
    ValueError
        There is no clustering.
    """
    curve = np.empty(n_questions)
    last: NDArray[np.generic] | None = None
    at = 0
    for at, given in enumerate(clusterings):
        labels = np.asarray(given)
        same = last is not None and np.array_equal(labels, last)
        curve[at] = curve[at - 1] if same else score(y, labels)
        last = labels
    if last is None:
        raise ValueError("There is no clustering to score. Pass one at least.")
    curve[at + 1 :] = curve[at]
    return curve


@dataclass
class TimedOracle:
    """Pass questions on to an oracle, and record how long it was not asked: the waits of a person.

    Parameters
    ----------
    oracle : callable
        ``oracle(first, second)``.

    Attributes
    ----------
    waits : list of float
        Seconds before the first question, then between each answer and the next question.
    """

    oracle: Oracle
    waits: list[float] = field(default_factory=list)
    _free: float = field(default_factory=perf_counter)

    def __call__(self, first: int, second: int) -> object:
        """Answer a question."""
        self.waits.append(perf_counter() - self._free)
        answer = self.oracle(first, second)
        self._free = perf_counter()
        return answer

    def end(self) -> None:
        """Count what the learner did after the last answer as a wait, too."""
        self.waits.append(perf_counter() - self._free)
