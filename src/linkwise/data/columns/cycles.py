"""Dates and times as cycles, on which the end touches the beginning: hours, days of the week, seasons.

A cycle of a column is a column of its own, such as ``sent (hour)``. Its numbers are hours from 0 to 24, or
days from 0 to 365 since 1 January of a year without a leap day; a day of the week is its name. Rows are
compared by their places on a circle.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import is_missing
from linkwise.data.columns.roles import to_numbers, to_words, value_kind
from linkwise.data.columns.vectors import append_columns
from linkwise.data.reading import unknown_column
from linkwise.errors import DataError, short_repr
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

CycleKind = Literal["hour", "weekday", "season"]
KINDS: tuple[CycleKind, ...] = get_args(CycleKind)
PERIODS: Mapping[CycleKind, float] = {"hour": 24.0, "weekday": 7.0, "season": 365.0}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TURN: Mapping[CycleKind, float] = {"hour": 1.0, "weekday": 7.0, "season": 365.25}  # days
_NAMES: Mapping[CycleKind, str] = {
    "hour": "the hour of the day",
    "weekday": "the day of the week",
    "season": "the day of the year",
}
_LENGTHS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_STARTS = np.cumsum(_LENGTHS) - _LENGTHS
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?")

_FIRST = 5  # words that show whether a column holds times
_LEAST_ROWS = 30
_LEAST_DAYS = 2  # different ones for each part of a week or year
_LEAST_TURNS = 2
_BINS: Mapping[CycleKind, int] = {"hour": 8, "weekday": 7, "season": 12}
_UNEVEN: Mapping[CycleKind, float] = {"hour": 24.32, "weekday": 22.46, "season": 31.26}
"""Chi-squared of the bins that even ones exceed once in a thousand times."""


class Cycle(NamedTuple):
    """A cycle of a column of dates or times."""

    column: str
    kind: CycleKind

    @property
    def name(self) -> str:
        """The name of the column that holds it."""
        return f"{self.column} ({self.kind})"

    @property
    def option(self) -> str:
        """How it is asked for."""
        return f"{self.column}={self.kind}"


def cycle_of(name: str) -> Cycle:
    """Return the cycle that a column with the role cycle holds."""
    column, _, kind = name.removesuffix(")").rpartition(" (")
    return Cycle(column, next(one for one in KINDS if one == kind))


# ---------------------------------------------------------------- places in a cycle
def find_places(series: nw.Series[Any], kind: CycleKind) -> NDArray[np.float64]:
    """Find the place of each date or time in a cycle, by the column's own time zone; NaN if it is missing.

    Places are hours from 0 to 24; 0 for Monday to 6 for Sunday; or days since 1 January of a year without
    a leap day.
    """
    hours = read_hours(series)
    if hours is not None:
        return hours
    days = _count_days(series)
    known = np.where(np.isnan(days), 0.0, days)
    whole = np.floor(known)
    if kind == "hour":
        places = np.round((known - whole) * 24, 6) % 24
    elif kind == "weekday":
        places = (whole + 3) % 7  # 1970 began on a Thursday
    else:
        dates = whole.astype("datetime64[D]")
        months = dates.astype("datetime64[M]")
        month = months.astype(np.int64) % 12
        day = (dates - months.astype("datetime64[D]")).astype(np.int64)
        places = (_STARTS[month] + np.minimum(day, _LENGTHS[month] - 1)).astype(np.float64)
    return np.where(np.isnan(days), np.nan, places)


def _count_days(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Days since 1970-01-01 by the clock of the column's time zone."""
    if getattr(series.dtype, "time_zone", None):
        series = series.dt.replace_time_zone(None)
    return to_numbers(series)


def read_hours(series: nw.Series[Any]) -> NDArray[np.float64] | None:
    """Read times of day, such as 08:15, as hours; None for a column of anything else."""
    kind = type(series.dtype).__name__
    if kind == "Time" or (kind == "Object" and _holds_times(series)):  # pandas has no type for them
        return np.array([_to_hours(value) for value in series.to_list()])
    if value_kind(series) != "words" or not all(map(_is_time, to_words(series.drop_nulls().head(_FIRST)))):
        return None  # of most columns the first words tell
    found = [None if word is None else _TIME.fullmatch(word.strip()) for word in to_words(series)]
    known = [match for match in found if match is not None]
    if not known or len(known) < len(series) - series.null_count():
        return None
    return np.array([np.nan if match is None else _add_up(match.groups(default="0")) for match in found])


def _holds_times(series: nw.Series[Any]) -> bool:
    known = [value for value in series.to_list() if not is_missing(value)]
    return bool(known) and all(isinstance(value, dt.time) for value in known)


def _is_time(word: str | None) -> bool:
    return word is None or _TIME.fullmatch(word.strip()) is not None


def _add_up(parts: Sequence[str]) -> float:
    hours, minutes, seconds = map(int, parts)
    return round(hours + minutes / 60 + seconds / 3600, 6)


def _to_hours(value: Any) -> float:
    return np.nan if is_missing(value) else round(value.hour + value.minute / 60 + value.second / 3600, 6)


def to_coordinates(places: NDArray[np.float64], kind: CycleKind) -> NDArray[np.float64]:
    """Return places on the unit circle, of shape (n_rows, 2); the centre where a value is missing."""
    angles = places * (2 * np.pi / PERIODS[kind])
    points: NDArray[np.float64] = np.nan_to_num(np.stack([np.sin(angles), np.cos(angles)], axis=1))
    return points


def format_place(place: float, kind: CycleKind) -> str:
    """Put a place into words, such as 23:15, Tuesday or 14 Feb."""
    if kind == "weekday":
        return WEEKDAYS[int(place) % 7]
    if kind == "hour":
        seconds = round(place * 3600)
        minutes, rest = divmod(seconds, 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}" + (f":{rest:02d}" if rest else "")
    day = int(place) % 365
    month = int(np.searchsorted(_STARTS, day, "right")) - 1
    return f"{day - int(_STARTS[month]) + 1} {MONTHS[month]}"


# ---------------------------------------------------------------- columns
def column_of_cycle(option: str) -> str:
    """The column of an option such as ``sent=hour`` or ``sent``."""
    return option.rpartition("=")[0] or option


def read_cycles(given: Sequence[str], frame: nw.DataFrame[Any], drop: Sequence[str] = ()) -> list[Cycle]:
    """Read which cycles are asked for, each once.

    A name of a column means all cycles that it goes through more than once; ``sent=hour`` is a single
    one.
    """
    found: dict[Cycle, None] = {}
    for one in given:
        column, _, kind = one.rpartition("=")
        kinds: tuple[str, ...] | None = (kind,)
        if one in frame.columns or (kind not in KINDS and column not in frame.columns):
            column, kinds = one, None
        if column not in frame.columns:
            raise DataError(unknown_column(column, frame.columns))
        if column in drop:
            raise DataError(
                f"Column '{column}' is to be compared as a cycle and dropped. Use it in one option."
            )
        if kinds is not None and kind not in KINDS:
            raise DataError(
                f"'{kind}' is no cycle of column '{column}'. The cycles are: {join_names(KINDS)}."
            )
        found |= dict.fromkeys(_choose_kinds(frame.get_column(column), kinds))
    return list(found)


def _choose_kinds(series: nw.Series[Any], kinds: Sequence[str] | None) -> list[Cycle]:
    """The cycles of a column: those that are named, or those that it goes through more than once."""
    possible = _possible_kinds(series)
    way_out = "Remove it from --cycles (in Python, cycles=[...])."
    if not possible:
        raise DataError(f"{_describe_others(series)} {way_out}")
    named = [kind for kind in KINDS if kinds is None or kind in kinds]
    chosen = [kind for kind in named if kind in possible and _varies(series, kind)]
    if kinds is None:
        chosen = [kind for kind in chosen if _count_turns(series, kind) > 1]
    if not chosen:
        what = "any cycle" if kinds is None else _NAMES[named[0]]
        raise DataError(f"The values of column '{series.name}' do not go through {what}. {way_out}")
    return [Cycle(series.name, kind) for kind in chosen]


def _possible_kinds(series: nw.Series[Any]) -> tuple[CycleKind, ...]:
    if value_kind(series) == "date":
        return KINDS
    return () if read_hours(series) is None else ("hour",)


def _describe_others(series: nw.Series[Any]) -> str:
    """Say which value of a column without cycles is neither a date nor a time."""
    words = [word for word in to_words(series) if word is not None]
    others = [word for word in words if not _is_time(word)]
    if not others:
        what = "holds times without dates" if words else "is empty, so it goes in no cycles"
        return f"Column '{series.name}' {what}."
    example = short_repr(others[0])
    if len(others) == len(words):
        return f"Column '{series.name}' holds no dates and no times, but values such as {example}."
    return f"Column '{series.name}' holds times and other values, such as {example}. Write all as 08:15."


def _varies(series: nw.Series[Any], kind: CycleKind) -> bool:
    places = find_places(series, kind)
    places = places[~np.isnan(places)]
    return places.size > 0 and bool(places.min() < places.max())


def _count_turns(series: nw.Series[Any], kind: CycleKind) -> float:
    """How often the values go through a cycle; infinite for times without a date."""
    if value_kind(series) != "date":
        return np.inf
    days = _count_days(series)
    return float(np.nanmax(days) - np.nanmin(days)) / _TURN[kind] if not np.isnan(days).all() else 0.0


def add_cycles(frame: nw.DataFrame[Any], cycles: Sequence[Cycle]) -> nw.DataFrame[Any]:
    """Add a column for each cycle at the end of a table: hours, days since 1 January, or names of days."""
    import narwhals as nw

    columns = []
    for cycle in cycles:
        if cycle.name in frame.columns:
            raise DataError(
                f"Column '{cycle.name}' is in the table, and {cycle.option} would add another one."
                " Rename the column, or remove the cycle."
            )
        if cycle.column not in frame.columns:
            raise DataError(unknown_column(cycle.column, frame.columns))
        series = frame.get_column(cycle.column)
        if cycle.kind not in _possible_kinds(series) and series.null_count() < len(series):
            raise DataError(f"{_describe_others(series)} Pass values as in the table that was encoded first.")
        is_empty = series.null_count() == len(series)
        places = np.full(len(series), np.nan) if is_empty else find_places(series, cycle.kind)
        values: Any = places
        dtype: Any = nw.Float64
        if cycle.kind == "weekday":
            values = [None if np.isnan(place) else WEEKDAYS[int(place)] for place in places.tolist()]
            dtype = nw.String
        columns.append(nw.new_series(cycle.name, values, dtype, backend=nw.get_native_namespace(frame)))
    return append_columns(frame, columns)


def read_places(series: nw.Series[Any], kind: CycleKind) -> NDArray[np.float64]:
    """Read the places from a column that `add_cycles` has added."""
    if kind != "weekday":
        return to_numbers(series)
    number = {word: float(at) for at, word in enumerate(WEEKDAYS)}
    return np.array([np.nan if word is None else number[word] for word in to_words(series)])


def describe_cycles(cycles: Sequence[Cycle]) -> list[str]:
    """Describe which cycles rows are compared by."""
    return [f"Cycles by which rows are compared: {join_names(one.name for one in cycles)}."] if cycles else []


# ---------------------------------------------------------------- proposal
def find_cycles(frame: nw.DataFrame[Any], names: Sequence[str]) -> list[Cycle]:
    """Find the cycles in which dates and times have a rhythm.

    At least 30 values go through such a cycle at least twice (over two days, two weeks or two years), and
    are spread over it so unevenly as even values would be once in a thousand times.
    """
    return [
        Cycle(name, kind)
        for name in names
        for kind in _possible_kinds(frame.get_column(name))
        if _has_rhythm(frame.get_column(name), kind)
    ]


def _has_rhythm(series: nw.Series[Any], kind: CycleKind) -> bool:
    places = find_places(series, kind)
    places = places[~np.isnan(places)]
    if len(places) < _LEAST_ROWS or len(np.unique(places)) < 2:
        return False
    if _count_turns(series, kind) < _LEAST_TURNS:
        return False
    n_bins = _BINS[kind]
    if kind != "hour" and series.n_unique() < _LEAST_DAYS * n_bins:
        return False  # a few days, such as the first of some years
    counts = np.bincount((places * (n_bins / PERIODS[kind])).astype(np.int64), minlength=n_bins)
    even = len(places) / n_bins
    return float(((counts - even) ** 2).sum() / even) > _UNEVEN[kind]
