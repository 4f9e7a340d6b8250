"""Columns of lists as vectors: each number of a list becomes a column of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.data.cells import is_missing_cell
from linkwise.errors import DataError
from linkwise.limits import check_cells
from linkwise.text_files import check_unique
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw


class Expanded(NamedTuple):
    """A table with a column for each number of a list at its end.

    `parts` has the new columns of each column of lists.
    """

    frame: nw.DataFrame[Any]
    parts: Mapping[str, tuple[str, ...]]


def count_numbers(series: nw.Series[Any]) -> int:
    """Count the numbers in the first list of a column; 0 if it holds no lists of numbers."""
    first = next((value for value in series.to_list() if not is_missing_cell(value)), None)
    if not isinstance(first, (list, tuple, np.ndarray)) or len(first) == 0:
        return 0
    is_numeric = all(isinstance(one, (int, float, np.number)) and not isinstance(one, bool) for one in first)
    return len(first) if is_numeric else 0


def expand_lists(frame: nw.DataFrame[Any], names: Sequence[str], *, may_be_equal: bool = False) -> Expanded:
    """Turn columns of lists of numbers into a column for each number: the third number of column a is a[2].

    Columns without such lists stay. With `may_be_equal` all lists may be the same, as in a few new rows.
    """
    import narwhals as nw

    lists = [name for name in names if count_numbers(frame[name])]
    vectors = {name: _read_vectors(frame[name], may_be_equal) for name in lists}
    parts = {name: tuple(f"{name}[{k}]" for k in range(X.shape[1])) for name, X in vectors.items()}
    if not parts:
        return Expanded(frame, parts)
    rest = frame.drop(lists)
    every = [*rest.columns, *(part for some in parts.values() for part in some)]
    check_unique(every)
    check_cells(len(frame), len(every))
    library = nw.get_native_namespace(frame)
    columns = [
        nw.new_series(part, np.ascontiguousarray(X[:, k]), backend=library)
        for name, X in vectors.items()
        for k, part in enumerate(parts[name])
    ]
    if not rest.columns:
        return Expanded(nw.from_dict({one.name: one for one in columns}, backend=library), parts)
    return Expanded(append_columns(rest, columns), parts)


def append_columns(frame: nw.DataFrame[Any], columns: Sequence[nw.Series[Any]]) -> nw.DataFrame[Any]:
    """Append columns of the same length and with new names to a table that has at least one."""
    import narwhals as nw

    check_unique([*frame.columns, *(one.name for one in columns)])
    if hasattr(frame.to_native(), "set_axis"):  # pandas aligns by index
        frame = nw.from_native(frame.to_native().reset_index(drop=True), eager_only=True)
    return frame.with_columns(*columns)


def _read_vectors(series: nw.Series[Any], may_be_equal: bool) -> NDArray[np.float64]:
    rows = series.to_list()
    empty = [row for row, value in enumerate(rows) if is_missing_cell(value)]
    if empty:
        raise DataError(
            f"Column '{series.name}' has no list in {len(empty)} of {len(rows)} rows (rows"
            f" {join_names(empty, 5)}, counted from 0). Remove these rows, or compare by other columns."
        )
    lengths = np.array([len(value) for value in rows])
    others = np.flatnonzero(lengths != lengths[0])
    if len(others):
        raise DataError(
            f"The lists of column '{series.name}' differ in length: row 0 has {lengths[0]} numbers, and"
            f" row {others[0]} has {lengths[others[0]]} (rows counted from 0). Pass lists of one length."
        )
    try:
        X = np.array([list(value) for value in rows], dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"The lists of column '{series.name}' hold values that are no numbers. Pass lists of numbers."
        ) from None
    if not may_be_equal and (X[0] == X).all():
        raise DataError(f"All lists of column '{series.name}' are the same. Compare by other columns.")
    return X
