"""Groups of records by the log-odds of their pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

GROWTH = 0.5  # log-odds that a group gains when it grows by a factor of e


class RecordGroups(NamedTuple):
    """Groups of rows, and what became of each pair."""

    labels: NDArray[np.int64]
    """(n,) in the order of the lowest rows."""
    score: NDArray[np.float64]
    """(m,) the score at which the groups of its rows merged, or that keeps them apart."""
    n_pairs: NDArray[np.float64]
    """(m,) the number of pairs of rows between the two groups there."""


def group_by_log_odds(
    n: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    weight: NDArray[np.float64],
    answer: NDArray[np.float64],
    missing: float,
    source: NDArray[np.int64] | None = None,
    *,
    growth: float = GROWTH,
) -> RecordGroups:
    """Name what `_native.group_by_log_odds` returns."""
    return RecordGroups(*library.group_by_log_odds(n, first, second, weight, answer, missing, source, growth))
