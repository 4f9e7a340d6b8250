"""Propose how a file is read: values that mean missing, a row of totals, and genes that are rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.data.columns.roles import is_key, to_numbers, to_words, value_kind
from linkwise.data.reading import Reading

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

_NINES = re.compile(r"-?9{2,}(\.9+)?")
_LEAST_OTHERS = 5  # values beside those that mean missing
_YEARS = (1500, 2200)
_TOTALS = ("total", "totals", "grand total", "sum", "gesamt", "summe", "insgesamt", "somme", "totale")
_CLOSE = 0.01  # of a total to the sum of the rows, relative to it
_GENES = re.compile(
    r"(gene|probe|transcript|protein|ensembl|otu|cpg)([ _-]?(id|set|name|symbol))?s?", re.IGNORECASE
)
_MORE_GENES = 3  # rows for each column
_LEAST_GENES = 50


def find_file_options(frame: nw.DataFrame[Any], given: Reading) -> dict[str, Any]:
    """Find options of files that were not given.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table, with numbers and dates parsed.
    given : Reading
        How it is read so far.

    Returns
    -------
    dict
        ``missing``, ``where`` and ``transpose``, those of them that the values suggest.
    """
    proposed: dict[str, Any] = {}
    if given.transpose is None and given.series_by is None and _has_genes_in_rows(frame):
        return {"transpose": True}
    if given.missing is None and (values := find_sentinels(frame)):
        proposed["missing"] = values
    if given.where is None and (condition := find_total(frame)) is not None:
        proposed["where"] = condition
    return proposed


def _numbers(frame: nw.DataFrame[Any]) -> dict[str, NDArray[np.float64]]:
    return {
        name: to_numbers(frame.get_column(name))
        for name in frame.columns
        if frame.get_column(name).dtype.is_numeric()
    }


# ---------------------------------------------------------------- values that mean missing
def find_sentinels(frame: nw.DataFrame[Any]) -> list[str]:
    """Find values such as -200 and 999 that are far from all others of their column, and occur repeatedly.

    A value that other columns hold, too, is named with its column: ``year=0``.
    """
    columns = _numbers(frame)
    found: dict[float, list[str]] = {}
    for name, values in columns.items():
        for value in _find_far_values(values[np.isfinite(values)]):
            found.setdefault(value, []).append(name)
    options = []
    for value, names in found.items():
        others = [name for name in columns if name not in names and (columns[name] == value).any()]
        written = f"{value:.15g}"
        options += [f"{name}={written}" for name in names] if others or value == 0 else [written]
    return options


def _find_far_values(values: NDArray[np.float64]) -> list[float]:
    """The lowest and the highest value, if they look like signs of a missing one."""
    found = []
    for value in {float(values.min()), float(values.max())} if len(values) else ():
        others = values[values != value]
        n_times = len(values) - len(others)
        if n_times < 2 or n_times > len(others) or len(np.unique(others)) < _LEAST_OTHERS:
            continue
        low, high = float(others.min()), float(others.max())
        gap = low - value if value < low else value - high
        is_negative = value <= -9 and low >= 0 and value == int(value)
        is_year = value == 0 and _YEARS[0] <= low and high <= _YEARS[1] and bool((others % 1 == 0).all())
        if (is_negative or is_year or _NINES.fullmatch(f"{value:.15g}")) and gap > high - low:
            found.append(value)
    return sorted(found)


# ---------------------------------------------------------------- a row of totals
def find_total(frame: nw.DataFrame[Any]) -> str | None:
    """The condition that leaves out a last row whose numbers are the sums of the others; None without one."""
    if len(frame) < 3:
        return None
    for name in frame.columns:
        series = frame.get_column(name)
        if value_kind(series) != "words":
            continue
        last = to_words(series.tail(1))[0]
        if last is None or last.strip().casefold() not in _TOTALS or last in to_words(series)[:-1]:
            continue
        if _is_sum(frame):
            column, text = name.replace('"', '""'), last.replace("'", "''")
            return f'"{column}" <> \'{text}\' OR "{column}" IS NULL'
    return None


def _is_sum(frame: nw.DataFrame[Any]) -> bool:
    """Whether a number of the last row is the sum of those above it."""
    for values in _numbers(frame).values():
        rest = values[:-1][np.isfinite(values[:-1])]
        total = float(rest.sum()) if len(rest) > 1 else 0.0
        if total and abs(values[-1] - total) <= _CLOSE * abs(total):
            return True
    return False


# ---------------------------------------------------------------- genes in rows
def _has_genes_in_rows(frame: nw.DataFrame[Any]) -> bool:
    """Whether the first column names genes, and all others hold numbers of few samples."""
    first, *others = frame.columns
    if not _GENES.fullmatch(first.strip()) or len(others) < 2:
        return False
    if len(frame) < max(_LEAST_GENES, _MORE_GENES * len(others)):
        return False
    series = frame.get_column(first)
    are_numbers = all(frame.get_column(name).dtype.is_numeric() for name in others)
    return are_numbers and value_kind(series) == "words" and is_key(series)
