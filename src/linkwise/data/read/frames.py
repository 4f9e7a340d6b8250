"""Tables of pandas, polars and pyarrow, wrapped in narwhals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.data.read.arrays import array_frame
from linkwise.text_files import check_unique, refuse_lone_surrogates

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


def to_narwhals(frame: Any) -> nw.DataFrame[Any]:
    """Wrap any supported table in narwhals, with text for column names."""
    import narwhals as nw

    if isinstance(frame, np.ndarray):
        return array_frame(frame)
    if hasattr(frame, "toarray"):
        raise TypeError("frame is sparse, but dense data is required. Call frame.toarray() first.")
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):
        raise TypeError("frame is lazy, but a DataFrame in memory is required. Call frame.collect() first.")
    if hasattr(frame, "compute") and hasattr(frame, "dask"):
        raise TypeError(
            "frame is of dask, but a DataFrame in memory is required. Call frame.compute() first."
        )
    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):
        raise TypeError("frame is a single column, but a table is required. Pass series.to_frame().")
    names = [str(name) for name in getattr(frame, "column_names", getattr(frame, "columns", ()))]
    check_unique(names)
    refuse_lone_surrogates(names, "the names of columns")
    if hasattr(frame, "set_axis"):  # pandas takes anything for a name
        frame = frame.set_axis(names, axis=1)
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"frame is a {type(frame).__name__}. Pass a pandas or polars DataFrame, or a 2-D array."
        ) from error
    return _convert_objects(table)


def to_polars(frame: nw.DataFrame[Any]) -> pl.DataFrame:
    """Return the polars table that is wrapped in narwhals, or a copy of another table."""
    import polars as pl

    native = frame.to_native()
    if isinstance(native, pl.DataFrame):
        return native
    columns = {}
    for series in frame.iter_columns():  # texts of pandas may have NaN where there is none
        cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
        columns[series.name] = [None if is_missing else value for value, is_missing in cells]
    return pl.DataFrame(columns)


def replace_columns(frame: nw.DataFrame[Any], columns: Sequence[pl.Series]) -> nw.DataFrame[Any]:
    """Put columns of numbers, truth values and dates in the place of those of the same names."""
    import narwhals as nw
    import polars as pl

    native: Any = frame.to_native()
    found = []
    for series in columns:
        column: Any = series
        if hasattr(native, "set_axis"):  # pandas
            moments = series.cast(pl.Datetime("us")) if series.dtype.is_temporal() else series
            values = moments.to_list() if series.dtype == pl.Boolean else moments.to_numpy()
            column = nw.get_native_namespace(frame).Series(values, index=native.index, name=series.name)
            column = column.convert_dtypes() if series.dtype == pl.Boolean else column
        elif not isinstance(native, pl.DataFrame):
            column = nw.get_native_namespace(frame).chunked_array([series.to_arrow()])
        found.append(nw.from_native(column, series_only=True).alias(series.name))
    return frame.with_columns(*found) if found else frame


def _convert_objects(table: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Give columns of Python objects in pandas the type that all of their values share, if any."""
    import datetime
    from decimal import Decimal

    import narwhals as nw

    settled = []
    for series in table.iter_columns():
        native = series.to_native()
        if not hasattr(native, "convert_dtypes"):
            continue
        if series.dtype == nw.Unknown and (dense := _densify(native)) is not None:
            settled.append(nw.from_native(dense, series_only=True).alias(series.name))
        if series.dtype not in (nw.Object, nw.String):
            continue
        texts = [value if isinstance(value, str) else None for value in series.to_list()]
        refuse_lone_surrogates(texts, f"column '{series.name}'")
        if series.dtype == nw.String:
            continue
        known = native.dropna()
        if all(isinstance(value, datetime.date) for value in known):
            native = nw.get_native_namespace(table).to_datetime(native)
        elif len(known) and all(isinstance(value, Decimal) for value in known):
            native = native.where(native.notna(), float("nan")).astype(float)
        settled.append(nw.from_native(native.convert_dtypes(), series_only=True).alias(series.name))
    return table.with_columns(*settled) if settled else table


def _densify(native: Any) -> Any:
    """Return a sparse column of pandas as a dense one, and periods as their first days; else None."""
    kind = type(native.dtype).__name__
    if kind == "SparseDtype":
        return native.sparse.to_dense()
    return native.dt.to_timestamp() if kind == "PeriodDtype" else None
