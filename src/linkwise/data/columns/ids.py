"""Find the column that names the rows, and convert its values to text.

An id is text whatever its type was: 7 is "7", also where missing values elsewhere made pandas
store it as 7.0, and integers beyond 2**53 keep all their digits.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from linkwise.constraints.checks import is_missing, write_id
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

# names of ids beyond doubt, and names that are those of ids if the values are unique
_ID_NAMES = re.compile(r"(.*[ _.-])?(id|ids|uuid|uid|guid|identifier)( ?[#№])?|rowid|recordid|.*[a-z]I[Dd]")
_POSSIBLE_ID_NAMES = re.compile(
    r"(.*[ _.-])?(key|no|nr|number)\.?|index|column 1|[#№]|row([ _]?(num|number|names?))?|obs|case|record"
    r"|unnamed: 0(\.\d+)?|__index_level_0__|level_0|_c0|\.{3}1",
    re.IGNORECASE,
)


def is_id_name(name: str) -> bool:
    """Whether a name is that of an id or of a reference to one, whose values measure nothing."""
    return bool(_ID_NAMES.fullmatch(name) or _ID_NAMES.fullmatch(name.lower()))


def id_texts(series: nw.Series[Any]) -> list[str | None]:
    """Convert the values of a column to ids, None where one is missing."""
    return [None if is_missing(value) else str(write_id(value)) for value in series.to_list()]


def find_id(frame: nw.DataFrame[Any], id_column: str | None, not_these: Collection[str]) -> str | None:
    """Find the id column: the one asked for, or one with the name and the values of an id.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table.
    id_column : str or None
        The column asked for, which exists.
    not_these : collection of str
        Columns that the user put to another use.

    Returns
    -------
    str or None
        The name of the column; None if no column serves as id.
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
    """Convert a column to ids, all of which must differ.

    Parameters
    ----------
    series : narwhals.Series of shape (n_rows,)
        The column.
    name : str
        Name of the column in error messages.

    Returns
    -------
    tuple of str
        The id of each row.

    Raises
    ------
    DataError
        An id is missing or occurs twice; the message names the first rows.
    """
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
