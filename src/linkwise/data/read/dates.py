"""Check that Python can hold the dates of a table, whose files may go beyond the years 1 to 9999."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

_FIRST, _LAST = (
    -719_160,
    2_932_894,
)  # days since 1970 of the years 1 and 9999, a day off the ends for time zones
_LONGEST = 999_999_999  # days of a duration
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def check_dates(frame: nw.DataFrame[Any], drop: Collection[str]) -> None:
    """Check that dates are in the years 1 to 9999, and durations below 2.7 million years.

    Columns of `drop` may hold any dates, because nobody reads them.
    """
    for series in frame.iter_columns():
        if series.name in drop or not any(word in str(series.dtype) for word in ("Date", "Duration")):
            continue
        native = series.to_native()
        if hasattr(native, "to_physical"):
            rows = np.flatnonzero(_find_out_of_range(native))
            where = f" (rows {join_names(rows, 5)}, counted from 0)" if len(rows) else ""
            is_far = len(rows) > 0
        else:
            where, is_far = "", _is_out_of_range(series)
        if is_far:
            raise DataError(
                f"Column '{series.name}' holds dates outside the years 1 to 9999, or durations that nothing"
                f" can show{where}. Fix or empty these cells, or drop the column."
            )


def _is_out_of_range(series: nw.Series[Any]) -> bool:
    try:
        series.min(), series.max()
    except (ValueError, OverflowError):
        return True
    return False


def _find_out_of_range(series: pl.Series) -> np.ndarray[Any, Any]:
    """Which rows hold a date, a moment or a duration that Python has no value for."""
    far = np.zeros(len(series), dtype=bool)
    for rows, leaf in _date_leaves(np.arange(len(series)), series):
        unit = getattr(leaf.dtype, "time_unit", None)
        days = leaf.to_physical().cast(float).to_numpy() / (_PER_DAY[unit] if unit else 1)
        bounds = (-_LONGEST, _LONGEST) if str(leaf.dtype).startswith("Duration") else (_FIRST, _LAST)
        far[rows[(days < bounds[0]) | (days > bounds[1])]] = True
    return far


def _date_leaves(
    rows: np.ndarray[Any, Any], series: pl.Series
) -> Iterator[tuple[np.ndarray[Any, Any], pl.Series]]:
    """The dates within a column, which may hold lists and records, with the row of each."""
    import polars as pl

    if isinstance(series.dtype, pl.List | pl.Array):
        of_rows = series.to_frame("cells").with_columns(rows=pl.Series(rows)).explode("cells")
        yield from _date_leaves(of_rows["rows"].to_numpy(), of_rows["cells"])
    elif isinstance(series.dtype, pl.Struct):
        for field in series.dtype.fields:
            yield from _date_leaves(rows, series.struct.field(field.name))
    elif series.dtype.is_temporal() and series.dtype != pl.Time:
        yield rows, series
