"""New rows, encoded as those were that a matrix was made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.names import unknown_column
from linkwise.data.roles import as_numbers, as_words, kind
from linkwise.data.table import Table
from linkwise.data.words import listed
from linkwise.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw

    from linkwise.data.encoded import Feature


def encoded_alike(features: Sequence[Feature], rows: Any) -> NDArray[np.float64]:
    """New rows in the columns of `features`; a word that is not known is none of those that are."""
    import narwhals as nw

    frame = rows.frame if isinstance(rows, Table) else nw.from_native(rows, eager_only=True)
    for feature in features:
        if feature.role in ("document", "sample", "image"):
            raise DataError(
                "Texts, curves and images are encoded all together; encode old and new rows at once."
            )
        if feature.source not in frame.columns:
            raise DataError(unknown_column(feature.source, frame.columns))
    columns = [_column(feature, frame[feature.source]) for feature in features]
    return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))


def _column(feature: Feature, series: nw.Series[Any]) -> NDArray[np.float64]:
    truth = feature.category == "true" and feature.name == feature.source
    if feature.categories or (feature.category is not None and not truth):
        return _of_words(feature, series)
    if kind(series) in ("words", "nothing"):
        raise DataError(
            f"Column '{feature.source}' holds {kind(series)}, such as {series.to_list()[:1]}; wanted are"
            " numbers, as in the table that was encoded first."
        )
    values = as_numbers(series)
    _refuse(feature, np.flatnonzero(~np.isfinite(values)))
    return (values - feature.offset) / feature.scale


def _of_words(feature: Feature, series: nw.Series[Any]) -> NDArray[np.float64]:
    words = as_words(series)
    _refuse(feature, [row for row, word in enumerate(words) if word is None])
    if feature.category is not None:
        return np.array([float(word == feature.category) for word in words])
    code = {word: at for at, word in enumerate(feature.categories)}
    return np.array([float(code.get(str(word), len(code))) for word in words])


def _refuse(feature: Feature, rows: Sequence[int] | NDArray[np.intp]) -> None:
    if len(rows):
        raise DataError(
            f"Values are missing or infinite in column '{feature.source}': rows {listed(rows, 5)}, counted"
            " from 0. Fill them in, or leave these rows out."
        )
