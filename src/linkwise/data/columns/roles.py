"""Decide what each column of a table is, by its name, its type and its values, and which one names the rows.

An id is text whatever its type was: 7 is "7", also where missing values elsewhere made pandas
store it as 7.0, and integers beyond 2**53 keep all their digits.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import is_missing, write_id
from linkwise.data.cells import format_cell
from linkwise.data.columns.vectors import count_numbers
from linkwise.errors import DataError
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    import narwhals as nw

Kind = Literal["record", "text", "image", "series"]
"""The form in which a person sees a row."""
Role = Literal[
    "numeric",
    "category",
    "date",
    "cycle",
    "document",
    "sample",
    "curve",
    "vector",
    "image",
    "text",
    "id",
    "label",
    "constant",
    "left out",
]
FEATURE_ROLES: tuple[Role, ...] = (
    "numeric", "category", "date", "cycle", "document", "image", "sample", "curve", "vector",
)  # fmt: skip

MOST_CATEGORIES = 30  # more of them are free text unless the user names the column
MOST_NAMED_CATEGORIES = 1000  # and more than these are refused even then

_DAY = 86_400e6  # microseconds
_LABELS = re.compile(
    r"((true|class|cluster|predicted|pred|k_?means|h?dbscan|gmm|agglomerative)_)?(class|cluster|label|target)(e?s)?"
    r"|y(_(true|pred|hat))?|pred(iction)?s?|outcome|(ground_?)?truth|(class|cluster|label)_(id|name)"
)
_EXPORTED = re.compile(r"(cluster|cluster_name|confidence)(_\d+)?")  # columns that linkwise adds to a table
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_CODE = re.compile(r"0\d+")
# names of ids beyond doubt, and names that are those of ids if the values are unique
_ID_NAMES = re.compile(r"(.*[ _.-])?(id|ids|uuid|uid|guid|identifier)( ?[#№])?|rowid|recordid|.*[a-z]I[Dd]")
_POSSIBLE_ID_NAMES = re.compile(
    r"(.*[ _.-])?(key|no|nr|number)\.?|index|column 1|[#№]|row([ _]?(num|number|names?))?|obs|case|record"
    r"|unnamed: 0(\.\d+)?|__index_level_0__|level_0|_c0|\.{3}1",
    re.IGNORECASE,
)


NO_VALUES = "no values"  # the reason why a column is of no use


@dataclass(frozen=True)
class Column:
    """One column of a table and its role.

    Attributes
    ----------
    name : str
        Its name in the table.
    role : str
        numeric, category, date or cycle (records are compared by these); document (texts to compare); image
        (pictures to compare); sample (one value of each curve) or curve (lists of all values); vector (one
        number of each list); id; or text, label, constant or left out (not used for clustering).
    reason : str
        Why it has this role, in a few words.
    """

    name: str
    role: Role
    reason: str


def value_kind(series: nw.Series[Any]) -> str:
    """Return the kind of values: number, bool, date, duration, words, nothing, or the name of the type."""
    name = type(series.dtype).__name__
    if series.dtype.is_numeric():
        return "number"
    known = {
        "Boolean": "bool", "Date": "date", "Datetime": "date", "Duration": "duration",
        "String": "words", "Categorical": "words", "Enum": "words",
    }  # fmt: skip
    if name not in known and series.null_count() == len(series):
        return "nothing"
    return known.get(name, str(series.dtype))


def to_numbers(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Convert numbers, truth values (0, 1), dates and durations (days) to float64, NaN where missing."""
    import narwhals as nw

    what = value_kind(series)
    if what == "date":
        series = series.dt.timestamp("us")
    elif what == "duration":
        series = series.dt.total_microseconds()
    values = np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return values / _DAY if what in ("date", "duration") else values


def holds_whole_numbers(series: nw.Series[Any]) -> bool:
    """Whether all values are whole, also where missing ones elsewhere made pandas write 7.0 for 7."""
    if not series.dtype.is_float():
        return bool(series.dtype.is_integer())
    numbers = to_numbers(series)
    known = numbers[~np.isnan(numbers)]
    return bool(np.isfinite(known).all() and (known % 1 == 0).all())


def count_missing(series: nw.Series[Any]) -> int:
    """Count the values that are none, as `linkwise.constraints.checks.is_missing` tells them."""
    if _holds_one_type(series):
        n_not_numbers = series.is_nan().sum() if series.dtype.is_float() else 0
        return series.null_count() + int(n_not_numbers or 0)
    return sum(map(is_missing, series.to_list()))


def _holds_one_type(series: nw.Series[Any]) -> bool:
    """Whether a column of polars holds nulls and values of its type, and no objects."""
    kind = type(series.dtype).__name__ in ("Boolean", "String", "Categorical", "Enum")
    return series.implementation.is_polars() and (
        kind or series.dtype.is_numeric() or series.dtype.is_temporal()
    )


def to_words(series: nw.Series[Any]) -> list[str | None]:
    """Convert categories to text, None where missing."""
    if _holds_one_type(series) and value_kind(series) == "words":
        return series.to_list()
    return [
        value if isinstance(value, str) else None if is_missing(value) else format_cell(value)
        for value in series.to_list()
    ]


def is_label_like(name: str, names: list[str]) -> bool:
    """Whether a column's name says that it holds known groups; y beside x is a coordinate."""
    plain = re.sub(r"[ .-]+", "_", name.strip().casefold())
    if plain == "y" and any(other.strip().casefold() == "x" for other in names):
        return False
    return _LABELS.fullmatch(plain) is not None or is_exported(name, names)


def is_exported(name: str, names: list[str]) -> bool:
    """Whether a column was added by an earlier export, which adds a cluster and its confidence."""
    found = _EXPORTED.fullmatch(name)
    if found is None:
        return False
    ending = found[2] or ""
    return {f"cluster{ending}", f"confidence{ending}"} <= set(names)


def decide_column(series: nw.Series[Any], name: str, names: list[str], named: bool | None) -> Column:
    """Decide what one column is, and why.

    `named` tells whether the user named this column as a feature; None if the user named no column.
    """
    if not named and is_label_like(name, names):
        reason = "from an earlier export" if is_exported(name, names) else "its name suggests known groups"
        return Column(name, "label", reason)
    if named is False:
        return Column(name, "left out", "not among the columns named")
    what = value_kind(series)
    if what == "nothing":
        return Column(name, "constant", NO_VALUES)
    if what == "words":
        return _decide_words(series, name, bool(named))
    if what not in ("number", "bool", "date", "duration"):
        return _unusable(name, what, series, bool(named))
    known = to_numbers(series)
    known = known[~np.isnan(known)]
    if known.size == 0 or known.min() == known.max():
        return _constant_column(series, name, known.size)
    if not named and (is_id_name(name) or may_be_id(series, name)):
        return _unused_id(series, name)
    if what == "bool":
        return Column(name, "category", "true or false")
    if what == "number":
        return Column(name, "numeric", "numbers")
    return Column(name, "date", "days since 1970-01-01" if what == "date" else "a duration in days")


def _decide_words(series: nw.Series[Any], name: str, named: bool) -> Column:
    n_rows = len(series)
    known = [word for word in to_words(series) if word is not None]
    words = set(known)
    n_words = len(words)
    if n_words <= 1:
        return _constant_column(series, name, len(known))
    if not named and is_id_name(name):
        return _unused_id(series, name)
    few = n_words <= MOST_CATEGORIES
    at_most_half = 2 * n_words <= n_rows
    if (few and (at_most_half or named)) or (named and at_most_half and n_words <= MOST_NAMED_CATEGORIES):
        return Column(name, "category", f"{n_words} categories")
    reason = f"{n_words} different texts in {count_noun(n_rows, 'row')}"
    if all(_NUMBER.fullmatch(word.strip()) for word in words):
        are_codes = few and not named and any(_CODE.fullmatch(word.strip()) for word in words)
        way_out = (
            "codes; --as-categories compares rows by them"
            if are_codes
            else "numbers stored as text; turn them into numbers to use them"
        )
        reason += f" ({way_out})"
    if named:
        raise DataError(
            f"Column '{name}' cannot be a feature: {reason}."
            " Remove it from your columns. It is shown all the same."
        )
    return Column(name, "text", reason)


def _unused_id(series: nw.Series[Any], name: str) -> Column:
    why = (
        "a further id" if is_key(series) else "its name suggests an id, but its values repeat or are missing"
    )
    return Column(name, "left out", why)


def _constant_column(series: nw.Series[Any], name: str, n_known: int) -> Column:
    if n_known == 0:
        return Column(name, "constant", NO_VALUES)
    values = (value for value in series.to_list() if not is_missing(value))
    where = "" if n_known == len(series) else " where known"
    return Column(name, "constant", f"always {format_cell(next(values))}{where}")


def _unusable(name: str, what: str, series: nw.Series[Any], named: bool) -> Column:
    example = next((value for value in series.to_list() if not is_missing(value)), None)
    reason = f"values of type {what}, such as {example!r:.60}"
    if n_numbers := count_numbers(series):
        reason += f" ({count_noun(n_numbers, 'number')}, which are compared only if you name the column)"
    if named:
        raise DataError(
            f"Column '{name}' cannot be a feature: {reason}. Turn them into numbers, text or dates first."
        )
    return Column(name, "left out", reason)


# ---------------------------------------------------------------- ids
def is_id_name(name: str) -> bool:
    """Whether a name is that of an id or of a reference to one, whose values measure nothing."""
    return bool(_ID_NAMES.fullmatch(name) or _ID_NAMES.fullmatch(name.lower()))


def id_texts(series: nw.Series[Any]) -> list[str | None]:
    """Convert the values of a column to ids, None where one is missing."""
    return [None if is_missing(value) else str(write_id(value)) for value in series.to_list()]


def find_id(frame: nw.DataFrame[Any], id_column: str | None, not_these: Collection[str]) -> str | None:
    """Find the id column: the one asked for, or one with the name and the values of an id.

    It is none of `not_these`.
    """
    if id_column is not None:
        return id_column
    names = [name for name in frame.columns if name not in not_these]
    sure = [name for name in names if is_id_name(name)]
    likely = [name for name in names if _POSSIBLE_ID_NAMES.fullmatch(name) and not is_id_name(name)]
    short_first = sorted(sure, key=lambda name: len(name) > 4)  # "id", "uuid" before "customer_id"
    return next((name for name in short_first + likely if is_key(frame[name])), None)


def may_be_id(series: nw.Series[Any], name: str) -> bool:
    """Whether a column has the name of an id or counter, and unique whole numbers or texts."""
    of_ids = series.dtype.is_integer() or type(series.dtype).__name__ == "String"
    return _POSSIBLE_ID_NAMES.fullmatch(name) is not None and of_ids and is_key(series)


def is_key(series: nw.Series[Any]) -> bool:
    """Whether every row has a value of its own."""
    texts = id_texts(series)
    return None not in texts and len(set(texts)) == len(texts)


def unique_ids(series: nw.Series[Any], name: str) -> tuple[str, ...]:
    """Convert a column to ids, all of which must be there and differ."""
    texts = id_texts(series)
    empty = [row for row, text in enumerate(texts) if text is None]
    if empty:
        raise DataError(
            f"Column '{name}' cannot be the id: it is missing in {len(empty)} of {len(texts)} rows"
            f" (rows {join_names(empty, 5)}, counted from 0). Fill it in or choose another column."
        )
    first: dict[str, int] = {}
    repeats = []
    for row, text in enumerate(texts):
        assert text is not None
        if first.setdefault(text, row) != row:
            repeats.append(f"'{text}' in rows {first[text]} and {row}")
    if repeats:
        raise DataError(
            f"Column '{name}' cannot be the id: {join_names(repeats, 3)} (counted from 0)."
            " Make its values unique or choose another column."
        )
    return tuple(first)
