"""Hints about columns of text that hold numbers or dates in another form.

A hint is given exactly if the parser of files reads all values of the column, under one of the readings that
are possible or once a few cells are empty. So whoever follows a hint gets a column that can be used.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from linkwise.data.columns.roles import to_words, value_kind
from linkwise.data.read.number_formats import (
    Decimal,
    First,
    WrittenDates,
    WrittenNumbers,
    rewrite_dates,
    rewrite_numbers,
)
from linkwise.data.read.parse import parse_moments, parse_numbers, strip_cells

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

_DECIMALS: tuple[Decimal, ...] = (".", ",")
_FIRSTS: tuple[First, ...] = ("day", "month")
_MOST_OF_IT = 4  # numbers or dates for each other value
_MAY_BE_DATE = r"^\d{1,4}[-/.] ?\d{1,2}[-/.] ?\d{1,4}"
_MAY_BE_NUMBER = r"(?i)\d|inf|nan"  # in some cell of every column that holds numbers or dates


def find_hint(series: nw.Series[Any], name: str) -> str | None:
    """Say how a column of text can be used as numbers or dates.

    None if it holds neither, or polars is missing.
    """
    if value_kind(series) != "words" or find_spec("polars") is None:
        return None
    import polars as pl

    words = pl.Series(name, to_words(series), dtype=pl.String)
    if not words.str.contains(_MAY_BE_NUMBER).any():
        return None
    text, marked = (frame.to_series() for frame in strip_cells(words.to_frame()))
    text = text.set(marked, None)
    if text.null_count() == len(text) or parse_numbers(text) is not None:
        return None
    why = _hint_numbers(text) or _hint_dates(text) or _hint_other_cells(text) or _hint_no_dates(text)
    return why and f"Column '{name}' is taken as text: {why}"


def read_as_numbers(text: pl.Series) -> list[tuple[WrittenNumbers, pl.Series]]:
    """The ways to read a column as numbers: how each value is written, and the values."""
    ways = (rewrite_numbers(text, comma_free=True, decimal=decimal) for decimal in _DECIMALS)
    read = ((way, parse_numbers(way.plain)) for way in ways if way is not None)
    found = [(way, values) for way, values in read if values is not None]
    return found[:1] if len(found) == 2 and found[0][1].equals(found[1][1]) else found


def read_as_dates(text: pl.Series) -> list[tuple[WrittenDates, pl.Series]]:
    """The ways to read a column as dates that do not begin with the year."""
    ways = (rewrite_dates(text, first) for first in _FIRSTS)
    read = ((way, parse_moments(way.plain)) for way in ways if way is not None)
    found = [(way, values) for way, values in read if values is not None]
    return found[:1] if len(found) == 2 and found[0][1].equals(found[1][1]) else found


def _hint_numbers(text: pl.Series) -> str | None:
    found = read_as_numbers(text)
    if not found:
        return None
    numbers, at = found[0][0], text.str.len_chars().fill_null(0).arg_max() or 0
    parts = [f"'{numbers.unit}' beside them"] if numbers.unit else []
    if len(found) == 2:
        parts.append("marks between the thousands or decimal commas")
        at = (found[0][1] != found[1][1]).fill_null(False).arg_max() or 0
    else:
        parts += ["decimal commas"] if numbers.decimal == "," else []
        parts += ["marks between the thousands"] if numbers.has_marks else []
    forms = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    plain = " or ".join(way.plain[at] for way, _ in found)
    return (
        f"its numbers have {forms}, such as '{text[at]}'."
        f" To use them as numbers, write digits and a decimal point alone, as {plain}."
    )


def _hint_dates(text: pl.Series) -> str | None:
    if parse_moments(text) is not None:
        return f"its dates, such as '{text.drop_nulls()[0]}', are texts. To use them, turn them into dates."
    found = read_as_dates(text)
    if not found:
        return None
    how = "To use them as dates, write them year first, as"
    if len(found) == 2:
        at = text.is_not_null().arg_max() or 0
        plain = " or ".join(way.plain[at] for way, _ in found)
        return f"day and month cannot be told apart in dates such as '{text[at]}'. {how} {plain}."
    dates = found[0][0]
    if dates.first is None:
        at = text.is_not_null().arg_max() or 0
        return f"its dates, such as '{text[at]}', are texts. {how} {dates.plain[at]}."
    number_of_day = dates.plain.str.extract(r"^\d{4}-\d{2}-(\d{2})").str.to_integer()
    at = (number_of_day > 12).fill_null(False).arg_max() or 0
    return f"its dates, such as '{text[at]}', are written {dates.first} first. {how} {dates.plain[at]}."


def _hint_other_cells(text: pl.Series) -> str | None:
    """Hint at the few cells that are not numbers among many that are."""
    import polars as pl

    others = text.is_not_null() & text.cast(pl.Float64, strict=False).is_null()
    n_others, n_known = int(others.sum()), len(text) - text.null_count()
    if n_known - n_others < _MOST_OF_IT * n_others or parse_numbers(text.set(others, None)) is None:
        return None
    row = others.arg_max() or 0
    return (
        f"most of it is numbers, but not '{text[row]}' in row {row} (counted from 0)."
        " To use it as numbers, leave such cells empty."
    )


def _hint_no_dates(text: pl.Series) -> str | None:
    """Hint at the few cells that are not dates among many that are."""
    days = text.str.extract(r"^(\d{4}[-/]\d{2}[-/]\d{2})", 1).str.replace_all("/", "-")
    is_impossible = days.is_not_null() & days.str.to_date("%Y-%m-%d", strict=False).is_null()
    others = text.is_not_null() & (~text.str.contains(_MAY_BE_DATE) | is_impossible)
    n_others, n_known = int(others.sum()), len(text) - text.null_count()
    if n_others == 0 or n_known - n_others < _MOST_OF_IT * n_others:
        return None
    rest = text.set(others, None)
    if parse_moments(rest) is None and not read_as_dates(rest):
        return None
    row = others.arg_max() or 0
    return (
        f"most of it is dates, but not '{text[row]}' in row {row} (counted from 0)."
        " To use it as dates, leave such cells empty."
    )
