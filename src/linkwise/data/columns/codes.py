"""Numbers that are codes, such as zip codes: compared as categories if the user says so, else proposed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwise.data.columns.named_columns import NamedColumns
from linkwise.data.columns.roles import (
    MOST_CATEGORIES,
    Column,
    holds_whole_numbers,
    id_texts,
    is_id_name,
    to_words,
    value_kind,
)
from linkwise.data.reading import unknown_column
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

MOST_VALUES = 100  # of a column of words that is a category without being named
LEAST_ROWS_EACH = 5  # rows of an average value
MOST_WORDS = 3  # of an average value
_MOST_ROWS = 2000  # in which to look for choices
_LEAST_COMBINED = 0.2  # share of the cells that hold several choices
_MOST_ALIKE = 0.9  # share of the cells with one number of choices; addresses have always as many parts
_MOST_COMMON = 0.9  # share of the choices made that many others made, too

_CODE_NAME = re.compile(
    r"(.*_)?(zip|zip_?code|postal_?code|post_?code|plz|area_code|country_code|code|type|kind|group|category)"
)


def turn_into_categories(
    frame: nw.DataFrame[Any], names: NamedColumns, as_categories: Sequence[str]
) -> nw.DataFrame[Any]:
    """Turn columns of numbers into texts, such as "8001" for 8001, which are categories."""
    import narwhals as nw

    texts = []
    for name in as_categories:
        if name not in frame.columns:
            raise DataError(unknown_column(name, frame.columns))
        if name == names.id_column or name in (*names.drop, *names.show):
            use = "the id" if name == names.id_column else "dropped" if name in names.drop else "only shown"
            raise DataError(f"Column '{name}' is to be a category and {use}. Use it in one option.")
        if names.columns is not None and name not in names.columns:
            raise DataError(
                f"Column '{name}' is to be a category, but you compare other columns. Add it to them."
            )
        series = frame[name]
        what = value_kind(series)
        if what not in ("number", "words", "bool"):
            raise DataError(f"Column '{name}' holds {what}, not codes. Remove it from as_categories.")
        if what == "number":
            texts.append(nw.new_series(name, to_words(series), nw.String, backend=series.implementation))
    return frame.with_columns(*texts) if texts else frame


def turn_into_texts(frame: nw.DataFrame[Any], names: Sequence[str]) -> nw.DataFrame[Any]:
    """Turn columns of whole numbers, such as of phones, into texts that can be compared by their digits."""
    import narwhals as nw

    columns = [frame.get_column(name) for name in names]
    texts = [
        nw.new_series(series.name, id_texts(series), nw.String, backend=series.implementation)
        for series in columns
        if series.dtype.is_numeric() and holds_whole_numbers(series)
    ]
    return frame.with_columns(*texts) if texts else frame


def propose_categories(frame: nw.DataFrame[Any], found: Sequence[Column]) -> list[str]:
    """Propose to compare columns of whole numbers as categories if their names suggest codes."""
    names = find_codes(frame, found)
    if not names:
        return []
    listed = ",".join(f'"{name}"' if "," in name else name for name in names)
    what = "Column {} holds" if len(names) == 1 else "Columns {} hold"
    return [
        f"{what.format(join_names(names))} numbers that may be codes. Add --as-categories {listed} to compare"
        " them as equal or different (in Python, as_categories=[...])."
    ]


def find_codes(frame: nw.DataFrame[Any], found: Sequence[Column]) -> list[str]:
    """Find the columns of whole numbers that may be codes."""
    named = [column.name for column in found if _is_named_as_code(column)]
    return [name for name in named if _holds_codes(frame.get_column(name))]


def find_repeated_values(frame: nw.DataFrame[Any], found: Sequence[Column]) -> list[str]:
    """Find the columns of words with more values than most categories, which repeat as theirs do."""
    names = [column.name for column in found if column.role == "text"]
    return [name for name in names if _repeats_values(frame.get_column(name))]


def _repeats_values(series: nw.Series[Any]) -> bool:
    words = [word for word in to_words(series) if word]
    values = set(words)
    if not MOST_CATEGORIES < len(values) <= MOST_VALUES or len(words) < LEAST_ROWS_EACH * len(values):
        return False
    return sum(len(value.split()) for value in values) <= MOST_WORDS * len(values)


def find_choices(frame: nw.DataFrame[Any], found: Sequence[Column]) -> list[str]:
    """Find the columns in which a cell holds several of a few choices, such as Mail; Games; Maps."""
    names = [column.name for column in found if column.role in ("category", "text")]
    return [name for name in names if any(_holds_choices(frame.get_column(name), mark) for mark in ";,|")]


def _holds_choices(series: nw.Series[Any], mark: str) -> bool:
    """Whether cells combine choices that others made, too, in more ways than there are choices."""
    cells = [word for word in to_words(series.head(_MOST_ROWS)) if word]
    combined = [frozenset(part.strip() for part in cell.split(mark)) for cell in cells]
    lengths = Counter(map(len, combined))
    n_times = Counter(part for parts in combined for part in parts)
    n_common = sum(n for n in n_times.values() if n >= LEAST_ROWS_EACH)
    return (
        len(cells) - lengths[1] >= _LEAST_COMBINED * len(cells) > 0
        and max(lengths.values()) <= _MOST_ALIKE * len(cells)
        and len(n_times) <= MOST_CATEGORIES
        and n_common >= _MOST_COMMON * n_times.total()
        and len(set(combined)) > len(n_times)
    )


def _is_named_as_code(column: Column) -> bool:
    if column.role == "left out":
        return is_id_name(column.name)
    plain = re.sub(r"[ .-]+", "_", column.name.strip().casefold())
    return column.role == "numeric" and _CODE_NAME.fullmatch(plain) is not None


def _holds_codes(series: nw.Series[Any]) -> bool:
    """Whether a column holds few whole numbers that repeat."""
    if not series.dtype.is_integer():
        return False
    n_values = series.drop_nulls().n_unique()
    return 2 < n_values <= MOST_CATEGORIES and 2 * n_values <= len(series)
