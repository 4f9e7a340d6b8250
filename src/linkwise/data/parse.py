"""Text columns of a file as numbers, truth values or dates, where all of their values are such.

Only what can be told without doubt is converted; a marker such as "NA" or "?" counts as missing
where everything else in its column is a number or a date, and is said.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from linkwise.data.words import counted, listed
from linkwise.data.written import dates_year_first, plain_numbers

if TYPE_CHECKING:
    import polars as pl

MARKERS = ("na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", ".")
_MOMENT = r"^\d{4}[-/]\d{2}[-/]\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"
_LEADING_ZERO = r"^[+-]?0\d+$"


def parse_columns(
    frame: pl.DataFrame,
    keep: Collection[str | None] = (),
    numbers: bool = True,
    comma_free: bool = False,
) -> tuple[pl.DataFrame, list[str]]:
    """Give the text columns of a file their types.

    Parameters
    ----------
    frame : polars.DataFrame
    keep : collection of str or None
        Columns left as they are.
    numbers : bool
        Whether text may stand for numbers and truth values; False where the file has types of its
        own for them, as JSON does, and only dates come as text.
    comma_free : bool
        Whether values are parted by something else than commas, so that 0,5 is a number.

    Returns
    -------
    frame : polars.DataFrame
    notes : list of str
    """
    import polars as pl

    notes: list[str] = []
    parsed = []
    for series in frame.get_columns():
        if series.dtype == pl.String and series.name not in keep:
            series, said = _parsed(series, numbers, comma_free)
            notes += said
        parsed.append(series)
    return pl.DataFrame(parsed), notes


def _parsed(series: pl.Series, numbers: bool, comma_free: bool) -> tuple[pl.Series, list[str]]:
    import polars as pl

    if numbers and (clean := _as_numbers(series)) is not None and not clean.is_nan().any():
        return clean, []  # by far the most frequent case, and the fastest
    text = series.str.strip_chars()
    text = pl.select(pl.when(text != "").then(text).alias(series.name)).to_series()
    low = text.str.to_lowercase()
    marked = low.is_in(MARKERS).fill_null(False)
    plain = pl.select(pl.when(~marked).then(text).alias(series.name)).to_series()
    if plain.null_count() == len(plain):
        # nothing but markers may be a category of its own; nothing at all is nothing
        return (series if text.null_count() < len(text) else text), []
    readers = (_as_numbers, _as_truth, _as_moments) if numbers else (_as_moments,)
    for reader in readers:
        found = reader(plain)
        if found is not None:
            return found, _marked_note(text, marked)
    if numbers and (read := _as_written(plain, comma_free)) is not None:
        found, note = read
        return found, [note, *_marked_note(text, marked)]
    kept = pl.select(pl.when(text.is_not_null()).then(series).alias(series.name)).to_series()
    if numbers and plain.str.contains(r"^[+-]?\d+$").all():
        return kept, [
            f"Column '{series.name}' is taken as text: its numbers begin with zeros, as codes do."
            " If they are quantities, write them without."
        ]
    return kept, []


def _as_written(text: pl.Series, comma_free: bool) -> tuple[pl.Series, str] | None:
    """Dates and numbers in the ways of people, and what is said of them."""
    number = plain_numbers(text, comma_free=comma_free)
    if number is not None and (found := _as_numbers(number)) is not None:
        return found, _read_as("numbers", text, found)
    dated = dates_year_first(text)
    if dated is not None and (found := _as_moments(dated[0])) is not None:
        return found, _read_as(f"dates, {dated[1]}", text, found)
    return None


def _read_as(what: str, text: pl.Series, found: pl.Series) -> str:
    """Tell it by the longest value, which shows most of how they are written."""
    at = int(text.str.len_chars().fill_null(0).arg_max() or 0)
    return f"Column '{text.name}' is read as {what}: '{text[at]}' is {found[at]}."


def _marked_note(text: pl.Series, marked: pl.Series) -> list[str]:
    if not marked.any():
        return []
    found = text.filter(marked)
    forms = listed(repr(form) for form in sorted(found.unique().to_list()))
    return [f"Column '{text.name}': {counted(len(found), 'value')} written {forms} read as missing."]


def _as_numbers(text: pl.Series) -> pl.Series | None:
    import polars as pl

    floats = text.cast(pl.Float64, strict=False)
    if floats.null_count() > text.null_count() or text.str.contains(_LEADING_ZERO).any():
        return None
    integers = text.cast(pl.Int64, strict=False)
    return floats if integers.null_count() > text.null_count() else integers


def _as_truth(text: pl.Series) -> pl.Series | None:
    low = text.str.to_lowercase()
    return low == "true" if low.drop_nulls().is_in(["true", "false"]).all() else None


def _as_moments(text: pl.Series) -> pl.Series | None:
    """Dates written year first, with or without a time; times with an offset are told in UTC."""
    import polars as pl

    if not text.str.contains(_MOMENT).all():
        return None
    text = text.str.replace_all("/", "-")
    days = text.str.to_date("%Y-%m-%d", strict=False)
    if days.null_count() == text.null_count():
        return days
    form = text.str.replace("T", " ").str.replace(r"Z$", "+00:00")
    form = form.str.replace(r"^(\d{4}-\d{2}-\d{2})$", "${1} 00:00")
    form = form.str.replace(r"( \d{2}:\d{2})($|[+-])", "${1}:00${2}")
    with_offset = form.str.contains(r" .*[+-]\d{2}:?\d{2}$")
    local = form.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    absolute = form.str.to_datetime("%Y-%m-%d %H:%M:%S%.f%z", time_unit="us", time_zone="UTC", strict=False)
    moments = pl.select(
        pl.when(with_offset).then(absolute.dt.replace_time_zone(None)).otherwise(local).alias(text.name)
    ).to_series()
    return moments if moments.null_count() == text.null_count() else None
