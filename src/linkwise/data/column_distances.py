"""Distances between some rows by each column that is shown and not compared."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.roles import to_numbers, to_words
from linkwise.data.columns.table import Table
from linkwise.data.encoding.texts import encode_texts
from linkwise.data.reading import Unit
from linkwise.data.show.column_views import ColumnView, parse_columns_of, view_columns
from linkwise.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

Array = NDArray[np.float64]
MOST_TEXTS = 1500  # from which the words of a column are learned
_NUMBERS, _WORDS = ("number", "amount", "date"), ("category",)


def measure_shown_columns(table: Table, rows: NDArray[np.int64]) -> dict[str, Array]:
    """Measure the (m, m) distances between m rows by each column that is shown and could be compared.

    Each column is encoded as it would be if it were compared. Columns without differences between the rows,
    and those of pictures and curves, are left out.
    """
    if table.reading.is_of_series:
        return {}
    hidden = table.reading.hide or ()
    views = [one for one in view_columns(table, {}) if one.use == "show" and one.name not in hidden]
    parsed, found = parse_columns_of(table), {}
    for view in views:
        with suppress(DataError):  # such as texts without a word that two of them have
            points = _place_rows(parsed.get_column(view.name), view, rows, table.reading.text_by)
            if points is not None and np.isfinite(points).all() and np.ptp(points, axis=0).any():
                found[view.name] = np.square(points[:, None] - points).sum(axis=2)
    return found


def _place_rows(
    series: nw.Series[Any], view: ColumnView, rows: NDArray[np.int64], unit: Unit | None
) -> Array | None:
    """(m, d) the rows by one column; None for a kind that is not tried."""
    if view.kind in _NUMBERS:
        values = to_numbers(series)
        known = values[np.isfinite(values)]
        if not len(known):
            return None
        values = np.where(np.isfinite(values), values, np.median(known))[rows]
        if view.kind == "amount":
            values = np.log1p(np.maximum(values, 0.0))
        scaled: Array = (values[:, None] - values.min()) / (np.ptp(values) or 1.0)
        return scaled
    if view.kind in _WORDS:
        words = ["" if word is None else word for word in to_words(series)]
        known, codes = np.unique([words[row] for row in rows.tolist()], return_inverse=True)
        return np.eye(len(known))[codes]
    if view.kind == "text":
        texts = to_words(series)
        others = np.linspace(0, len(texts) - 1, min(len(texts), MOST_TEXTS)).astype(int)
        taken = np.union1d(rows, others)
        X = encode_texts([texts[row] for row in taken.tolist()], view.name, unit or "words").X
        return np.asarray(X[np.searchsorted(taken, rows)], dtype=np.float64)
    return None
