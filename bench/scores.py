"""The scores of the papers' experiments: folds, curves and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import adjusted_rand_score

from linkwise import TruthOracle


def folds(n_rows: int, n_folds: int, repetition: int) -> list[np.ndarray]:
    """Test rows of each fold of one repetition of a cross-validation, each ascending."""
    order = np.random.default_rng([repetition, n_rows]).permutation(n_rows)
    return [np.sort(part) for part in np.array_split(order, n_folds)]


def ari_curve(y: np.ndarray, clusterings: Iterable[np.ndarray], n_questions: int) -> np.ndarray:
    """ARI after each question; after the last clustering its own is repeated.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
    clusterings : iterable of ndarray of shape (n_rows,)
        At least one.
    n_questions : int
        Length of the curve.
    """
    curve = np.empty(n_questions)
    last, at = None, 0
    for at, labels in enumerate(clusterings):
        same = last is not None and np.array_equal(labels, last)
        curve[at] = curve[at - 1] if same else adjusted_rand_score(y, labels)
        last = labels
    if last is None:
        raise ValueError("no clustering to score")
    curve[at + 1 :] = curve[at]
    return curve


def aligned_ranks(scores: np.ndarray) -> np.ndarray:
    """Average aligned rank of each method; the best is the lowest (Hodges and Lehmann, 1962).

    Parameters
    ----------
    scores : ndarray of shape (n_tasks, n_methods)
        The higher the better.

    Returns
    -------
    ndarray of shape (n_methods,)
        Mean over the tasks of the place of score minus the task's mean score among all of them.
    """
    aligned = scores - scores.mean(axis=1, keepdims=True)
    return rankdata(-np.round(aligned, 12)).reshape(scores.shape).mean(axis=0)


@dataclass
class TimedOracle:
    """The truth, and how long it was not asked: the waits of the person who answers.

    Attributes
    ----------
    waits : list of float
        Seconds before the first question, then between each answer and the next question.
    """

    truth: TruthOracle
    waits: list[float] = field(default_factory=list)
    _free: float = field(default_factory=perf_counter)

    def __call__(self, first: int, second: int) -> object:
        """Answer at once."""
        self.waits.append(perf_counter() - self._free)
        answer = self.truth(first, second)
        self._free = perf_counter()
        return answer

    def end(self) -> None:
        """The learner has stopped: what it did after the last answer is a wait too."""
        self.waits.append(perf_counter() - self._free)


def mean_by(values: Sequence[tuple[tuple[str, ...], np.ndarray]]) -> dict[tuple[str, ...], np.ndarray]:
    """Mean of the arrays that share a key, keys in order of first occurrence."""
    gathered: dict[tuple[str, ...], list[np.ndarray]] = {}
    for key, value in values:
        gathered.setdefault(key, []).append(value)
    return {key: np.mean(arrays, axis=0) for key, arrays in gathered.items()}


class Mean(NamedTuple):
    """Mean over runs, its standard error and the lowest run; NaN where there was one run."""

    value: float
    error: float = np.nan
    lowest: float = np.nan

    def __str__(self) -> str:
        return " ± ".join(text for text in self.texts() if text)

    def texts(self) -> tuple[str, str]:
        """Mean and error to two digits; an error that is not known is an empty text."""
        return f"{self.value:.2f}", "" if np.isnan(self.error) else f"{self.error:.2f}"


def mean_of(values: Sequence[float] | np.ndarray) -> Mean:
    """Mean, standard error and lowest of the results of some runs."""
    if len(values) == 1:
        return Mean(float(values[0]))
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return Mean(float(np.mean(values)), float(error), float(np.min(values)))
