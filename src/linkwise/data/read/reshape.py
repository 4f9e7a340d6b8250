"""Change a table before its columns are understood: transpose it, keep some rows, empty cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.data.read.delimited import name_columns
from linkwise.data.reading import unknown_column
from linkwise.errors import DataError
from linkwise.limits import check_cells
from linkwise.wording import count_noun, join_names, shorten

if TYPE_CHECKING:
    import polars as pl

MOST_IN_CONDITION = 2000  # characters
_WHERE = "such as \"amount > 0 AND country <> 'Total'\""


def transpose(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Turn columns into rows; the first column has the new names, and gets the old ones."""
    import polars as pl

    if frame.width < 2 or not len(frame):
        raise DataError(
            f"The table has {count_noun(frame.width, 'column')} and {count_noun(len(frame), 'row')}, too few"
            " to be transposed. Remove --transpose (in Python, transpose=)."
        )
    check_cells(frame.width, len(frame) + 1)
    first, *others = frame.columns
    nested = [
        name for name in frame.columns if frame[name].dtype.is_nested() or frame[name].dtype == pl.Object
    ]
    if nested:
        raise DataError(
            f"Lists and objects cannot be transposed: {join_names(nested)}. Remove --transpose (in Python,"
            " transpose=)."
        )
    header = ["" if name is None else str(name) for name in frame[first].to_list()]
    names, notes = name_columns([first, *header])
    body = frame.select(others)
    if not all(kind.is_numeric() for kind in body.schema.values()):
        body = body.cast(pl.String)
    turned = body.transpose(column_names=names[1:])
    notes = [note for note in notes if "--no-header" not in note]
    note = (
        f"The {count_noun(len(others), 'column')} of the file are the rows, with their names in '{names[0]}'."
    )
    return turned.insert_column(0, pl.Series(names[0], others)), [note, *notes]


def find_rows(frame: pl.DataFrame, where: str) -> tuple[pl.Series, list[str]]:
    """Find the rows that meet a condition in SQL: whether each does, and sentences on how many do."""
    import polars as pl

    if len(where) > MOST_IN_CONDITION or not where.strip():
        raise DataError(
            f"The condition for rows has {len(where)} characters. Pass a condition of SQL to --where,"
            f" {_WHERE}."
        )
    try:
        is_kept = frame.select(pl.sql_expr(where).alias("kept")).to_series()
    except MemoryError:
        raise
    except pl.exceptions.ColumnNotFoundError as error:
        name = str(error).split("\n")[0].removeprefix("unable to find column ").split(";")[0].strip('"')
        raise DataError(f"--where: {unknown_column(name, frame.columns)}") from None
    except (Exception, pl.exceptions.PanicException) as error:  # of odd conditions polars may raise anything
        said = shorten(str(error).split("\n")[0], 200)
        raise DataError(
            f"The condition {shorten(where, 100)!r} cannot be used: {said}. Pass a condition of SQL to"
            f" --where, {_WHERE}."
        ) from None
    if is_kept.dtype != pl.Boolean or len(is_kept) != len(frame):
        raise DataError(
            f"{shorten(where, 100)!r} is no condition: it gives {is_kept.dtype} for"
            f" {count_noun(len(is_kept), 'row')}. Pass a comparison to --where, {_WHERE}."
        )
    n_kept = int(is_kept.sum() or 0)
    if not n_kept:
        raise DataError(f"No row meets the condition {shorten(where, 100)!r}. Change --where.")
    note = f"{n_kept} of {count_noun(len(frame), 'row')} meet the condition: {shorten(where, 100)}"
    return is_kept, [note]


def empty_cells(frame: pl.DataFrame, missing: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Empty the cells whose value stands for a missing one.

    Values such as ``-200`` hold for all columns, and such as ``year=0`` for one. Raises `DataError` if no
    cell has one.
    """
    import polars as pl

    everywhere, alone = split_missing(missing, frame.columns)
    columns, found = [], dict.fromkeys(missing, 0)
    for series in frame:
        values = [*everywhere, *alone.get(series.name, ())]
        for value in values:
            is_gap = _equals(series, value)
            n_gaps = int(is_gap.sum() or 0)
            if n_gaps:
                found[value if value in everywhere else f"{series.name}={value}"] += n_gaps
                is_kept = ~is_gap.fill_null(False)
                series = series.to_frame().select(pl.when(is_kept).then(pl.col(series.name))).to_series()
        columns.append(series)
    absent = [value for value, n_cells in found.items() if not n_cells]
    if absent:
        raise DataError(
            f"No cell holds {join_names(map(repr, absent))}. Change --missing (in Python, missing=)."
        )
    counts = (f"{value} in {count_noun(n, 'cell')}" for value, n in found.items())
    return pl.DataFrame(columns), [f"These values count as missing: {join_names(counts)}."]


def split_missing(missing: Sequence[str], columns: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Split the values that count as missing into those for all columns, and those for one."""
    everywhere: list[str] = []
    alone: dict[str, list[str]] = {}
    for one in missing:
        name, equals, value = one.rpartition("=")
        if not equals:
            everywhere.append(one)
        elif name in columns:
            alone.setdefault(name, []).append(value)
        else:
            raise DataError(f"--missing: {unknown_column(name, columns)}")
    return everywhere, alone


def _equals(series: pl.Series, value: str) -> pl.Series:
    """Which cells have a value, as a number or as a text."""
    import polars as pl

    kind = series.dtype
    try:
        number = float(value)
    except ValueError:
        number = None
    if kind.is_numeric() and not kind.is_decimal():
        return series == number if number is not None else pl.Series([False]).new_from_index(0, len(series))
    if kind == pl.String:
        text = series.str.strip_chars()
        same = text == value
        if number is not None:
            same |= (
                text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False) == number
            ).fill_null(False)
        return same
    if kind in (pl.Boolean, pl.Date, pl.Categorical, pl.Enum) or kind.is_decimal():
        return series.cast(pl.String) == value
    return pl.Series([False]).new_from_index(0, len(series))
