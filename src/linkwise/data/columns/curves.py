"""Read curves from a table with a column for each sample, or with one column of lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import is_missing
from linkwise.data.cells import is_missing_cell
from linkwise.data.columns.roles import Column, to_numbers
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

_BETWEEN = re.compile(r"[,;\s]+")
_GAPS = ("", "na", "nan", "null", "none", "?", "-")


def holds_lists(series: nw.Series[Any]) -> bool:
    """Whether a column holds lists of numbers, as such or written in brackets."""
    first = next((value for value in series.to_list() if not is_missing_cell(value)), None)
    if isinstance(first, str):
        return first.strip()[:1] == "["
    return isinstance(first, (list, tuple, np.ndarray))


def read_curves(frame: nw.DataFrame[Any], columns: Sequence[Column]) -> NDArray[np.float64]:
    """Read the curves of a table without scaling them: (n_rows, n_samples), NaN where a value is missing."""
    for column in columns:
        if column.role == "curve":
            return _curves_from_lists(frame[column.name])
    return np.stack([to_numbers(frame[c.name]) for c in columns if c.role == "sample"], axis=1)


def _curves_from_lists(series: nw.Series[Any]) -> NDArray[np.float64]:
    rows = [_parse_list(value, row, series.name) for row, value in enumerate(series.to_list())]
    lengths = np.array([len(values) for values in rows])
    usual = int(np.bincount(lengths).argmax())
    others = np.flatnonzero(lengths != usual)
    if len(others):
        raise DataError(
            f"The curves of '{series.name}' must be equally long: most have {usual} values, but"
            f" {join_names((f'row {row} has {lengths[row]}' for row in others), 3)} (rows counted from 0)."
            " Cut them, or fill them up with null."
        )
    if usual < 2:
        raise DataError(
            f"A curve needs at least 2 samples, but the lists of '{series.name}' hold {usual}."
            " Use another column."
        )
    return np.array(rows, dtype=np.float64)


def _parse_list(value: Any, row: int, name: str) -> list[float]:
    if is_missing_cell(value):
        raise DataError(f"Row {row} (counted from 0) has no curve in column '{name}'. Remove the row.")
    try:
        cells = _BETWEEN.split(value.strip().strip("[]()").strip()) if isinstance(value, str) else list(value)
        return [_parse_cell(cell) for cell in cells]
    except (TypeError, ValueError):
        raise DataError(
            f"Row {row} (counted from 0) holds {str(value)[:60]!r} in column '{name}'. Use a list of"
            " numbers, such as [0.1, null, 0.2]."
        ) from None


def _parse_cell(cell: Any) -> float:
    if isinstance(cell, (bool, list, dict)):
        raise TypeError
    if isinstance(cell, str):
        return np.nan if cell.lower() in _GAPS else float(cell)
    return np.nan if is_missing(cell) else float(cell)
