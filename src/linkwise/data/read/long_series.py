"""Long tables of series, in which each row is one value of a curve: pivoted to a row for each curve."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.data.read.dates import check_dates
from linkwise.data.read.frames import to_polars
from linkwise.data.read.parse import parse_columns
from linkwise.data.reading import to_names, unknown_column
from linkwise.errors import DataError
from linkwise.limits import check_cells
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


class SeriesBy(NamedTuple):
    """The columns of a long table: id of the curve of each row, time (a number or a date) and value."""

    id: str
    time: str
    value: str


class Pivoted(NamedTuple):
    """A table with a row for each curve.

    It has the id, texts that all rows of the curve share, and a column for each time.
    """

    frame: nw.DataFrame[Any]
    notes: list[str]


def name_series_by(series_by: Sequence[str], there: Sequence[str], id_column: str | None) -> SeriesBy:
    """Name the columns of ids, times and values of a long table with the columns `there`.

    `id_column` was named as id besides. An error is raised unless there are three different columns.
    """
    names = to_names(series_by) or ()
    if len(names) != 3 or len(set(names)) != 3:
        raise DataError(
            f"--series-by has {join_names(names) or 'no column'}. Use three columns, those of ids, times and"
            " values (in Python, series_by=[id, time, value])."
        )
    for name in names:
        if name not in there:
            raise DataError(unknown_column(name, there))
    if id_column not in (None, names[0]):
        raise DataError(
            f"--series-by names the column of ids, {names[0]!r}, and --id another one, {id_column!r}. Remove"
            " --id (in Python, id_column)."
        )
    return SeriesBy(*names)


def pivot_series(
    frame: nw.DataFrame[Any],
    by: SeriesBy,
    parse: Callable[[nw.DataFrame[Any]], tuple[nw.DataFrame[Any], list[str]]],
) -> Pivoted:
    """Make a row for each curve from a table with a row for each of its values.

    Columns of text may be unparsed: ``parse(frame)`` parses them, and returns sentences on what it did.
    Curves keep their order, and times ascend. Raises `DataError` if an id or a time is missing, a curve
    has two values at one time or none at a time of the others, or times or values cannot be used.
    """
    if len(frame) == 0:
        raise DataError("The table has no rows. Pass a row for each value of a curve.")
    check_dates(frame.select(*by), ())
    parsed, notes = parse(frame.select(by.time, by.value))
    check_dates(parsed, ())
    whole, typed = to_polars(frame), to_polars(parsed)
    ids, times, values = _read_ids(whole[by.id]), typed[by.time], typed[by.value]
    whole = whole.with_columns(ids)
    _check_kinds(times, values)
    times = _without_decimals(times)
    for series in (ids, times):
        _check_complete(series)
    names = ids.unique(maintain_order=True)
    curve = ids.replace_strict(names, range(len(names))).to_numpy()
    moments, at = np.unique(times.to_physical().to_numpy(), return_inverse=True)
    _check_grid(curve, at, names.to_list(), times, len(moments))
    check_cells(len(names), len(moments))
    X = np.full((len(names), len(moments)), np.nan)
    X[curve, at] = _without_decimals(values).to_numpy()
    samples = _name_samples(times.unique().sort())
    if by.id in samples:
        raise DataError(f"The column of ids, {by.id!r}, has the name of a time. Rename it.")
    kept, left_out = _keep_constant(whole, by, len(names), samples)
    wide = kept.hstack(_make_columns(samples, X))
    notes.append(
        f"Each row of the file is one value of a curve: {count_noun(len(names), 'curve')} by {by.id!r}, with"
        f" {count_noun(len(moments), 'value')} each by {by.time!r}."
    )
    if left_out:
        notes.append(f"Columns that change within a curve are left out: {join_names(left_out)}.")
    return Pivoted(_wrap(wide), notes)


def pivot_frame(frame: nw.DataFrame[Any], by: SeriesBy) -> Pivoted:
    """Make a row for each curve from a long table in memory, and return the same kind of table.

    Times and values may also be texts. For the rest see `pivot_series`.
    """
    import narwhals as nw

    if find_spec("polars") is None:
        raise ImportError('series_by needs polars: pip install "linkwise[app]"')
    pivoted = pivot_series(frame, by, _parse_frame)
    backend, columns = frame.implementation, pivoted.frame
    if not backend.is_polars():
        columns = nw.from_dict(columns.to_dict(as_series=False), columns.schema, backend=backend)
    return pivoted._replace(frame=columns)


def _parse_frame(frame: nw.DataFrame[Any]) -> tuple[nw.DataFrame[Any], list[str]]:
    """Parse all columns of text."""
    parsed = parse_columns(to_polars(frame), comma_free=True)
    return _wrap(parsed.frame), parsed.notes


def _wrap(frame: pl.DataFrame) -> nw.DataFrame[Any]:
    import narwhals as nw

    return nw.from_native(frame, eager_only=True)


def _read_ids(ids: pl.Series) -> pl.Series:
    """Ids as whole numbers or texts."""
    import polars as pl

    if not _is_plain(ids):
        raise DataError(f"Column {ids.name!r} holds {ids.dtype}, which cannot name curves. Use another one.")
    return ids if ids.dtype.is_integer() else ids.cast(pl.String)


def _is_plain(series: pl.Series) -> bool:
    """Whether the values can be written as texts."""
    import polars as pl

    plain = (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Time)
    return series.dtype.is_numeric() or series.dtype in plain


def _without_decimals(series: pl.Series) -> pl.Series:
    """Decimal numbers as floats, which NumPy has."""
    import polars as pl

    return series.cast(pl.Float64) if series.dtype.is_decimal() else series


def _make_columns(names: Sequence[str], X: NDArray[np.float64]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([pl.Series(name, column) for name, column in zip(names, X.T, strict=True)])


# ---------------------------------------------------------------- checks
def _check_kinds(times: pl.Series, values: pl.Series) -> None:
    if not (times.dtype.is_numeric() or times.dtype.is_temporal()):
        raise DataError(
            f"Column {times.name!r} cannot be put in order of time, because it holds {_show_no_time(times)}."
            " Use a column of numbers or dates: --series-by ID,TIME,VALUE (in Python, series_by=)"
        )
    if not values.dtype.is_numeric():
        raise DataError(
            f"Column {values.name!r} holds {_show_first(values)}, which is no number. Use a column of"
            " numbers: --series-by ID,TIME,VALUE (in Python, series_by=)"
        )


def _show_first(series: pl.Series) -> str:
    found = series.drop_nulls()
    return f"values such as {str(found[0])[:40]!r}" if len(found) else "no value"


def _show_no_time(series: pl.Series) -> str:
    """The first value that is no time if others are, or else the first value."""
    import polars as pl

    if series.dtype == pl.String:
        with suppress(pl.exceptions.PolarsError):
            is_time = series.str.to_datetime(strict=False).is_not_null()
            others = np.flatnonzero((~is_time & series.is_not_null()).to_numpy())
            if len(others) and is_time.any():
                return f"{series[int(others[0])][:40]!r} in row {others[0]} (counted from 0)"
    return _show_first(series)


def _check_complete(series: pl.Series) -> None:
    import polars as pl

    missing = series.is_null()
    if series.dtype.is_float():
        missing |= series.is_nan().fill_null(value=True)
    elif series.dtype == pl.String:
        missing |= (series.str.strip_chars() == "").fill_null(value=True)
    rows = np.flatnonzero(missing.to_numpy())
    if len(rows):
        raise DataError(
            f"{count_noun(len(rows), 'row')} without a value in {series.name!r}:"
            f" {join_names(rows.tolist(), 5)} (counted from 0). Fill it in, or remove these rows."
        )


def _check_grid(
    curve: NDArray[np.int64], at: NDArray[np.int64], names: list[Any], times: pl.Series, n_times: int
) -> None:
    """Check that each curve has one value at each time."""
    moments = times.unique().sort()
    cells, first, counts = np.unique(curve * n_times + at, return_index=True, return_counts=True)
    twice = first[counts > 1]
    if len(twice):
        both = (f"{names[curve[row]]!r} at {_format_time(times[int(row)])}" for row in np.sort(twice))
        raise DataError(
            f"Curves have several values at one time: {join_names(both, 5)}. Keep one value for each id and"
            f" {times.name!r}."
        )
    lengths = np.bincount(curve)
    short = np.flatnonzero(lengths < n_times)
    if len(short) == 0:
        return
    which = []
    for one in short[:5].tolist():
        own = cells[np.searchsorted(cells, one * n_times) :][: lengths[one]] - one * n_times
        absent = int(np.setdiff1d(np.arange(n_times), own)[0])
        which.append(f"{names[one]!r} has {lengths[one]}, none at {_format_time(moments[absent])}")
    rest = f" and {len(short) - 5} more" if len(short) > 5 else ""
    raise DataError(
        f"All curves need a value at each of the {n_times} times: {', '.join(which)}{rest}. Add rows with an"
        " empty value for a gap, or remove these curves."
    )


def _format_time(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    is_date = isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)
    return value.isoformat() if is_date else str(value)


def _name_samples(times: pl.Series) -> list[str]:
    """Names of the columns, such as ``hour 0``."""
    moments = times.to_list()
    whole = all(not isinstance(one, float) or one.is_integer() for one in moments)
    words = [_format_time(one) if whole else str(one) for one in moments]
    if len(set(words)) < len(words):  # nanoseconds, which Python's times do not have
        words = [str(one) for one in times.to_physical().to_list()]
    return [f"{times.name} {word}" for word in words]


def _keep_constant(
    frame: pl.DataFrame, by: SeriesBy, n_curves: int, samples: Sequence[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Keep the columns that are the same in all rows of a curve, as texts, which are only shown."""
    import polars as pl

    taken, kept = set(samples), [by.id]
    left_out: list[str] = []
    for name in frame.columns:
        if name in by:
            continue
        can_stay = _is_plain(frame[name]) and name not in taken
        is_same = can_stay and frame.select(by.id, name).n_unique() == n_curves
        (kept if is_same else left_out).append(name)
    first = frame.select(kept).unique(by.id, keep="first", maintain_order=True)
    return first.with_columns(pl.col(kept[1:]).cast(pl.String)), left_out
