"""Average the results of several runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Key = TypeVar("Key", bound=Hashable)
Values = NDArray[np.float64]


class Mean(NamedTuple):
    """The mean over runs, its standard error and the lowest run.

    Attributes
    ----------
    value, error, lowest : float
        `error` and `lowest` are NaN where there was one run.
    """

    value: float
    error: float = np.nan
    lowest: float = np.nan

    def __str__(self) -> str:
        return " ± ".join(text for text in self.texts() if text)

    def texts(self, digits: int = 2) -> tuple[str, str]:
        """Return mean and error as texts; an unknown error is an empty text."""
        return f"{self.value:.{digits}f}", "" if np.isnan(self.error) else f"{self.error:.{digits}f}"


def mean_of(values: ArrayLike) -> Mean:
    """Return mean, standard error and lowest of the results of some runs.

    Parameters
    ----------
    values : array-like of shape (n_runs,)

    Returns
    -------
    Mean
    """
    runs = np.asarray(values, dtype=np.float64)
    if len(runs) == 1:
        return Mean(float(runs[0]))
    error = np.std(runs, ddof=1) / np.sqrt(len(runs))
    return Mean(float(np.mean(runs)), float(error), float(np.min(runs)))


def mean_by(values: Sequence[tuple[Key, Values]]) -> dict[Key, Values]:
    """Return the mean of the arrays that share a key, keys in order of first occurrence.

    Parameters
    ----------
    values : sequence of (key, ndarray)
        Arrays of one key have one shape.

    Returns
    -------
    dict of ndarray
    """
    gathered: dict[Key, list[Values]] = {}
    for key, value in values:
        gathered.setdefault(key, []).append(value)
    return {key: np.mean(arrays, axis=0) for key, arrays in gathered.items()}


def quartiles(values: ArrayLike) -> Values:
    """Return the lower and the upper quartile over runs, the band of a learning curve.

    Parameters
    ----------
    values : array-like of shape (n_runs, ...)

    Returns
    -------
    ndarray of shape (2, ...)
    """
    return np.quantile(np.asarray(values, dtype=np.float64), (0.25, 0.75), axis=0)
