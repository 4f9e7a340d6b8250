"""Propose how a file is read: values that mean missing, rows of totals and units, and genes that are rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.data.columns.roles import decide_column, is_key, to_numbers, to_words, value_kind
from linkwise.data.read.delimited import LEAST_SAMPLES
from linkwise.data.read.parse import MARKERS, parse_columns
from linkwise.data.reading import Reading

if TYPE_CHECKING:
    import narwhals as nw
    from numpy.typing import NDArray

_NINES = re.compile(r"-?9{2,}(\.9+)?")
_SHEET_ERROR = re.compile(r"#(N/?[A-Z]|[^\W\d_]+(/0)?[!?])")  # of a spreadsheet: #DIV/0!, #N/A
_GAPS = {  # words for a value that nobody knows
    *(
        "?",
        "-",
        "--",
        ".",
        "n/a",
        "n.a.",
        "n. a.",
        "nan",
        "null",
        "nd",
        "n/d",
        "no data",
        "unknown",
        "missing",
    ),
    *("not available", "not known", "unbekannt", "k.a.", "k. a.", "keine angabe", "inconnu", "desconocido"),
}
_POSSIBLE_GAPS = ("na", "none", "nil")  # which may be North America, or the answer that there is none
_LEAST_OTHERS = 5  # values beside those that mean missing
_APART = 0.1  # of the range of the others: how far a sign of another column is from them at least
_YEARS = (1500, 2200)
_TOTALS = ("total", "totals", "grand total", "sum", "gesamt", "summe", "insgesamt", "somme", "totale")
_CLOSE = 0.01  # of a total to the sum of the rows, relative to it
_GENES = re.compile(
    r"(gene|probe|transcript|protein|ensembl|otu|cpg)([ _-]?(id|set|name|symbol))?s?", re.IGNORECASE
)
_MORE_GENES = 3  # rows for each column
_LEAST_GENES = 50
_LEAST_CURVES = 5


def find_file_options(frame: nw.DataFrame[Any], given: Reading, *, has_types: bool = False) -> dict[str, Any]:
    """Find options of files that were not given.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table, with numbers and dates parsed.
    given : Reading
        How it is read so far.
    has_types : bool, default=False
        Whether the file has types for numbers, as JSON does, so that texts stay texts.

    Returns
    -------
    dict
        ``missing``, ``where``, ``transpose`` and ``series_by``, those of them that the values suggest.
    """
    proposed: dict[str, Any] = {}
    comma_free = given.delimiter not in (None, ",")
    if given.transpose is None and given.series_by is None and _has_genes_in_rows(frame):
        return {"transpose": True}
    if not (given.is_of_series or given.id_column or given.columns or given.text):
        by = find_long_series(frame)
        if by is not None:
            return {"series_by": by}
    if given.missing is None:
        values = find_sentinels(frame)
        if not has_types:
            values += find_placeholders(frame, comma_free=comma_free) + find_gaps(frame)
        if values:
            proposed["missing"] = values
    if given.where is None:
        condition = find_total(frame)
        if condition is None and not has_types:
            condition = find_units(frame, comma_free=comma_free)
        proposed |= {} if condition is None else {"where": condition}
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

    Such a value means missing in the other columns, too, where it is the lowest or highest one and apart from
    all others. If a column holds it among others, it is named with its columns: ``year=0``.
    """
    columns = _numbers(frame)
    found: dict[float, list[str]] = {}
    for name, values in columns.items():
        for value in _find_far_values(values[np.isfinite(values)]):
            found.setdefault(value, []).append(name)
    for value, names in found.items():
        if value != 0:
            names += [name for name in columns if name not in names and _is_apart(columns[name], value)]
    options = []
    for value, names in found.items():
        others = [name for name in columns if name not in names and (columns[name] == value).any()]
        written = f"{value:.15g}"
        options += [f"{name}={written}" for name in names] if others or value == 0 else [written]
    return options


def _is_apart(values: NDArray[np.float64], value: float) -> bool:
    """Whether a value occurs repeatedly below or above all others, and not close to them."""
    values = values[np.isfinite(values)]
    others = values[values != value]
    if len(values) - len(others) < 2 or len(np.unique(others)) < _LEAST_OTHERS:
        return False
    low, high = float(others.min()), float(others.max())
    return max(low - value, value - high) > _APART * (high - low)


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


def find_placeholders(frame: nw.DataFrame[Any], *, comma_free: bool) -> list[str]:
    """Find words such as "on request" that stand between numbers, each with its column.

    They occur repeatedly, or are errors of a spreadsheet or words such as "unknown", in a text column that
    is of no use with them, and all its other values are numbers or dates.
    """
    found: list[str] = []
    for name in frame.columns:
        series = frame.get_column(name)
        if value_kind(series) != "words":
            continue
        cells = to_words(series)
        known: Counter[str] = Counter()
        for cell, n in Counter(cells).items():
            if word := (cell or "").strip():
                known[word] += n
        words = {
            word: n
            for word, n in known.items()
            if _SHEET_ERROR.fullmatch(word) or not any(mark.isdigit() for mark in word)
        }
        signs = [word for word in words if word.casefold() not in MARKERS]
        n_known = known.total()
        doubtful = [word for word in signs if words[word] < 2 and not _is_gap(word)]
        if not signs or doubtful or any("=" in word for word in signs):
            continue
        if (
            sum(words.values()) > n_known / 2
            or decide_column(series, name, frame.columns, None).role != "text"
        ):
            continue
        stripped = [(cell or "").strip() for cell in cells]
        rest = [None if cell in words else cell or None for cell in stripped]
        found += [f"{name}={word}" for word in signs] if _are_amounts(name, rest, comma_free) else []
    return found


def find_gaps(frame: nw.DataFrame[Any]) -> list[str]:
    """Find the words for a missing value among categories, each with its column, if there are several.

    A single one is a category as a missing value is. An empty cell is one of them.
    """
    found: list[str] = []
    for name in frame.columns:
        series = frame.get_column(name)
        if (
            value_kind(series) != "words"
            or decide_column(series, name, frame.columns, None).role != "category"
        ):
            continue
        words = {(word or "").strip() for word in to_words(series)}
        gaps = sorted(word for word in words if _is_gap(word))
        if len(gaps) + ("" in words) > 1:
            gaps += sorted(word for word in words if word.casefold() in _POSSIBLE_GAPS)
            found += [f"{name}={word}" for word in gaps]
    return found


def _is_gap(word: str) -> bool:
    return word.casefold() in _GAPS or _SHEET_ERROR.fullmatch(word) is not None


def _are_amounts(name: str, cells: Sequence[str | None], comma_free: bool) -> bool:
    """Whether texts are numbers or dates."""
    import polars as pl

    text = pl.Series(name, cells, dtype=pl.String)
    kind = parse_columns(text.to_frame(), comma_free=comma_free).frame.dtypes[0]
    return kind.is_numeric() or kind.is_temporal()


# ---------------------------------------------------------------- rows of totals and of units
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
            return _differs(name, last)
    return None


def find_units(frame: nw.DataFrame[Any], *, comma_free: bool) -> str | None:
    """The condition that leaves out a first row of units, such as °C and kPa; None without one."""
    if len(frame) < 3:
        return None
    units, others = [], 0
    for name in frame.columns:
        series = frame.get_column(name)
        first = to_words(series.head(1))[0]
        if first is None or not first.strip():
            continue
        if value_kind(series) != "words" or first.strip()[:1].isdigit():
            return None
        last = to_words(series.tail(1))[0] or "1"
        if any(mark.isdigit() for mark in last) and _are_amounts(name, to_words(series)[1:], comma_free):
            units.append((name, first))
        else:
            others += 1
    return _differs(*units[0]) if len(units) > 1 or (units and not others) else None


def _differs(name: str, text: str) -> str:
    """The condition that a column has another text."""
    column, text = name.replace('"', '""'), text.replace("'", "''")
    return f'"{column}" <> \'{text}\' OR "{column}" IS NULL'


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


# ---------------------------------------------------------------- values of curves in rows
def find_long_series(frame: nw.DataFrame[Any]) -> tuple[str, str, str] | None:
    """Find the columns of ids, times and values, if each id has one row for each of the same dates.

    Only one column of numbers changes within an id otherwise than with the date.
    """
    times = [name for name in frame.columns if value_kind(frame.get_column(name)) == "date"]
    if len(times) != 1:
        return None
    time = times[0]
    n_times = frame.get_column(time).n_unique()
    n_ids = len(frame) // n_times
    if n_times < LEAST_SAMPLES or n_ids < _LEAST_CURVES or len(frame) != n_ids * n_times:
        return None

    def count_pairs(one: str, other: str) -> int:
        return len(frame.select(one, other).unique())

    others = [name for name in frame.columns if name != time]
    ids = [name for name in others if frame.get_column(name).n_unique() == n_ids]
    found = next((name for name in ids if count_pairs(name, time) == len(frame)), None)
    if found is None or frame.get_column(found).null_count() or frame.get_column(time).null_count():
        return None
    numbers = [name for name in others if name != found and frame.get_column(name).dtype.is_numeric()]
    values = [
        name for name in numbers if count_pairs(name, found) > n_ids and count_pairs(name, time) > n_times
    ]
    return (found, time, values[0]) if len(values) == 1 else None
