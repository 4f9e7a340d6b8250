"""Amounts with a heavy tail, such as incomes: compared by logarithms if the user says so, else proposed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.roles import Column, to_numbers, value_kind
from linkwise.data.reading import unknown_column
from linkwise.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

_LEAST_ROWS = 30
_LEAST_VALUES = 20  # different ones: fewer are counts or grades
_LEAST_SKEWNESS = 1.6  # below that of an exponential distribution: a few rows show less of it
_MOST_LEFT = 0.5  # share of the skewness that the logarithms may have, on either side


def check_log(
    log: Sequence[str], frame: nw.DataFrame[Any], found: Sequence[Column], categories: Collection[str]
) -> None:
    """Check that columns can be compared by their logarithms: as numbers, none of which is negative."""
    roles = {column.name: column.role for column in found}
    for name in log:
        if name not in frame.columns:
            raise DataError(unknown_column(name, frame.columns))
        if roles.get(name) != "numeric" or name in categories or value_kind(frame[name]) != "number":
            raise DataError(
                f"Column '{name}' is not compared as a number, so it has no logarithm. Remove it from --log"
                " (in Python, log=[...])."
            )
        values = to_numbers(frame[name])
        if (values < 0).any():
            raise DataError(
                f"Column '{name}' holds negative numbers, which have no logarithm. Remove it from --log"
                " (in Python, log=[...])."
            )


def choose_shift(values: NDArray[np.float64]) -> float:
    """Choose what is added before the logarithm: the smallest positive value if there are zeros, else 0."""
    positive = values[values > 0]
    return 0.0 if len(positive) == len(values) else float(positive.min())


# ---------------------------------------------------------------- proposal
def find_heavy_tails(frame: nw.DataFrame[Any], found: Sequence[Column]) -> list[str]:
    """Find the columns of amounts of which a few are far larger than the others.

    They have no negative value, and a skewness above 1.6, of which the logarithms have less than half. So a
    single odd value is not enough.
    """
    numeric = [column.name for column in found if column.role == "numeric"]
    return [name for name in numeric if _has_heavy_tail(frame.get_column(name))]


def _has_heavy_tail(series: nw.Series[Any]) -> bool:
    if value_kind(series) != "number":
        return False
    values = to_numbers(series)
    values = values[np.isfinite(values)]
    if len(values) < _LEAST_ROWS or values.min() < 0 or len(np.unique(values)) < _LEAST_VALUES:
        return False
    skewness = _skewness(values)
    logs = np.log(values + choose_shift(values))
    return skewness > _LEAST_SKEWNESS and abs(_skewness(logs)) < _MOST_LEFT * skewness


def _skewness(values: NDArray[np.float64]) -> float:
    """The third standardised moment; 0 if all values are equal."""
    apart = values / np.abs(values).max() if values.any() else values  # third powers may overflow
    apart = apart - apart.mean()
    spread = float(np.sqrt(np.mean(apart**2)))
    return float(np.mean((apart / spread) ** 3)) if spread > 0 else 0.0
