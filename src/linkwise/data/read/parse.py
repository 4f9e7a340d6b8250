"""Parse the text columns of a file as numbers, truth values or dates.

A column is converted only if all of its values allow it without doubt. A marker such as "NA" or "?" counts as
missing if everything else in its column is a number or a date, and a note mentions it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from linkwise.data.read.number_formats import rewrite_dates, rewrite_numbers
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    import polars as pl

MARKERS = ("na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", ".")
_MOMENT = r"^\d{4}[-/]\d{2}[-/]\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$"
_COMPACT = r"^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$"  # 20240131
_COMPACT_RANGE = (19_000_101, 20_991_231)
_LEADING_ZERO = r"^[+-]?0\d+$"
_MAY_BE_MORE = re.compile(r"[+-]?[\d.]|[+-]?(inf|nan)|true|false", re.IGNORECASE)  # a number, truth or date
_READING = re.compile(r" is read as ([^:]+): ")
_MARKED = re.compile(
    r"Column '(?P<name>.*)': (?P<count>\d+) values? written (?P<forms>.*) read as missing\.", re.S
)
MOST_READINGS = 5  # columns read in the same way that have a note each
_EXACT = 2.0**53  # whole numbers below are exact
_FEW_DATES = 5  # whole numbers that all happen to look like 20240131
_AT_ONCE = 1000  # columns that polars works on together; each call has a cost of its own


class Parsed(NamedTuple):
    """Columns with types.

    `written` has, for each column of numbers that are written with a unit or other marks, the text of
    each number, null if it is missing. Equal numbers have the text of the first of them.
    """

    frame: pl.DataFrame
    notes: list[str]
    written: list[pl.Series]


def parse_columns(
    frame: pl.DataFrame,
    keep: Collection[str | None] = (),
    numbers: bool = True,
    comma_free: bool = False,
) -> Parsed:
    """Give the text columns of a file their types, but leave those of `keep` as they are.

    Times of the day, which a spreadsheet has as such, become hours as those in texts do, and lists of texts,
    which JSON has, become one text.
    `numbers` is False if the file has types for them, as JSON does, so that only dates come as text. With
    `comma_free` something else than commas separates the columns, so that 0,5 is a number.
    """
    import polars as pl

    frame = frame.with_columns(pl.selectors.time().cast(pl.String)).with_columns(
        _join_texts(series) for series in frame.get_columns() if series.dtype == pl.Object
    )
    notes: list[str] = []
    written: list[pl.Series] = []
    readings: dict[str, list[tuple[str, str]]] = {}
    parsed = {series.name: series for series in frame.get_columns()}
    names = [n for n, series in parsed.items() if series.dtype == pl.String and n not in keep]
    for start in range(0, len(names), _AT_ONCE):
        some = frame.select(names[start : start + _AT_ONCE])
        clean = _clean_numbers(some) if numbers else {}
        compact = _find_compact_dates(some, clean)
        clean.update(compact)
        notes += [_note_reading("dates", some[name], found) for name, found in compact.items()]
        parsed.update(clean)
        others = some.select(name for name in some.columns if name not in clean)
        text, marked = strip_cells(others)
        for series in others:
            name = series.name
            parsed[name], said = _parse_column(series, text[name], marked[name], numbers, comma_free)
            notes += said
            if said and (what := _READING.match(said[0].removeprefix(f"Column '{name}'"))):
                readings.setdefault(what[1], []).append((name, said[0]))
            if (
                numbers
                and said
                and parsed[name].dtype.is_numeric()
                and not _is_plain(text[name], parsed[name])
            ):
                written.append(_first_forms(text[name], parsed[name]))
    return Parsed(
        pl.DataFrame(list(parsed.values())), _join_markers(_join_readings(notes, readings)), written
    )


def _join_texts(series: pl.Series) -> pl.Series:
    """One text for each list of texts; other columns stay."""
    import polars as pl

    cells = series.to_list()
    are_texts = all(cell is None or _is_of_texts(cell) for cell in cells)
    if not are_texts or not any(cells):
        return series
    return pl.Series(series.name, ["; ".join(cell or ()) or None for cell in cells], dtype=pl.String)


def _is_of_texts(cell: object) -> bool:
    return isinstance(cell, list) and all(isinstance(part, str) for part in cell)


def uses_decimal_commas(parsed: Parsed) -> bool:
    """Whether numbers are written with decimal commas, and none with a decimal point."""
    written = {series.name for series in parsed.written}
    has_points = any(s.dtype.is_float() and s.name not in written for s in parsed.frame.get_columns())
    found = (rewrite_numbers(series, comma_free=True) for series in parsed.written)
    return not has_points and any(numbers is not None and numbers.decimal == "," for numbers in found)


def _join_readings(notes: Sequence[str], readings: Mapping[str, Sequence[tuple[str, str]]]) -> list[str]:
    """Let one note describe many columns that are read in the same way."""
    joined = list(notes)
    for what, columns in readings.items():
        if len(columns) > MOST_READINGS:
            first, note = columns[0]
            names = join_names((name for name, _ in columns), MOST_READINGS)
            example = note.partition(f" is read as {what}: ")[2]
            joined[joined.index(note)] = (
                f"{len(columns)} columns are read as {what}: {names}. In '{first}', {example}"
            )
            gone = {note for _, note in columns}
            joined = [note for note in joined if note not in gone]
    return joined


def _join_markers(notes: Sequence[str]) -> list[str]:
    """Let one note describe many columns in which the same signs mean missing."""
    found: dict[str, list[tuple[str, str]]] = {}
    for note in notes:
        if what := _MARKED.fullmatch(note):
            found.setdefault(what["forms"], []).append((note, f"{what['name']} ({what['count']})"))
    joined = list(notes)
    for forms, columns in found.items():
        if len(columns) > MOST_READINGS:
            names = join_names((name for _, name in columns), MOST_READINGS)
            joined[joined.index(columns[0][0])] = (
                f"Values written {forms} are read as missing in {len(columns)} columns: {names}."
            )
            gone = {note for note, _ in columns}
            joined = [note for note in joined if note not in gone]
    return joined


def _is_plain(text: pl.Series, found: pl.Series) -> bool:
    """Whether all numbers are written as a computer writes them."""
    import polars as pl

    return text.cast(pl.Float64, strict=False).null_count() == found.null_count()


def _first_forms(text: pl.Series, found: pl.Series) -> pl.Series:
    """The text of the first of all equal numbers; null where a number is missing."""
    import polars as pl

    forms = pl.DataFrame({"text": text, "number": found}).select(pl.col("text").first().over("number"))
    return forms["text"].set(found.is_null(), None).alias(text.name)


def strip_cells(text: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Strip cells of text, null if nothing is left, and find those that hold a marker alone."""
    import polars as pl

    stripped = text.select(_empty_to_null(pl.all().str.strip_chars()))
    return stripped, stripped.select(pl.all().str.to_lowercase().is_in(MARKERS).fill_null(False))


def _empty_to_null(text: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(text != "").then(text)


def _clean_numbers(text: pl.DataFrame) -> dict[str, pl.Series]:
    """Convert the columns that need no rewriting, by far the most frequent case."""
    import polars as pl

    every = pl.all()
    floats = text.select(every.cast(pl.Float64, strict=False))
    empty = text.null_count().row(0)
    lost = [now > before for now, before in zip(floats.null_count().row(0), empty, strict=True)]
    coded = text.select(every.str.contains(_LEADING_ZERO).any()).row(0)
    unknown = floats.select(every.is_nan().any()).row(0)
    reasons = zip(text.columns, lost, coded, unknown, strict=True)
    clean = [name for name, *against in reasons if not any(against)]
    integers = text.select(pl.col(clean).cast(pl.Int64, strict=False)) if clean else pl.DataFrame()
    return {
        name: floats[name] if integers[name].null_count() > text[name].null_count() else integers[name]
        for name in clean
    }


def _find_compact_dates(text: pl.DataFrame, numbers: Mapping[str, pl.Series]) -> dict[str, pl.Series]:
    """Columns of whole numbers that are all dates, such as 20240131."""
    import polars as pl

    whole = {name: found.drop_nulls() for name, found in numbers.items() if found.dtype.is_integer()}
    near = [name for name, known in whole.items() if len(known) and known.is_between(*_COMPACT_RANGE).all()]
    if not near:
        return {}
    text = text.select(near)
    stripped = text.select(_empty_to_null(pl.all().str.strip_chars()))
    every = stripped.select(pl.all().str.contains(_COMPACT).all()).row(0)
    named = [name for name, is_date in zip(text.columns, every, strict=True) if is_date]
    many = [name for name in named if stripped[name].n_unique() >= _FEW_DATES or "date" in name.lower()]
    found = {name: parse_moments(stripped[name]) for name in many}
    return {name: dates for name, dates in found.items() if dates is not None}


def _parse_column(
    series: pl.Series, text: pl.Series, marked: pl.Series, numbers: bool, comma_free: bool
) -> tuple[pl.Series, list[str]]:
    """Parse one column, given as written, stripped, and with the cells that hold a marker."""
    import polars as pl

    plain = text if not marked.any() else pl.select(pl.when(~marked).then(text).alias(text.name)).to_series()
    if plain.null_count() == len(plain):
        # nothing but markers may be a category of its own; nothing at all is nothing
        return (series if text.null_count() < len(text) else text), []
    first = str(plain[plain.is_not_null().arg_max() or 0])
    readers = (parse_numbers, _parse_truth, parse_moments) if numbers else (parse_moments,)
    if _MAY_BE_MORE.match(first):  # most words begin otherwise
        for reader in readers:
            found = reader(plain)
            if found is not None:
                return found, _note_markers(text, marked)
    has_digits = any(mark.isdigit() for mark in first)
    if has_digits:
        read = _parse_written_forms(plain, comma_free) if numbers else _parse_written_dates(plain)
        if read is not None:
            return read[0], [read[1], *_note_markers(text, marked)]
    kept = series if text.null_count() == series.null_count() else series.set(text.is_null(), None)
    if numbers and first[0] in "+-0123456789" and plain.str.contains(r"^[+-]?\d+$").all():
        return kept, [
            f"Column '{series.name}' is taken as text: its numbers begin with zeros, as codes do."
            " If they are quantities, write them without."
        ]
    return kept, []


def _parse_written_forms(text: pl.Series, comma_free: bool) -> tuple[pl.Series, str] | None:
    """Read numbers, dates or times as people write them, with a note; None for other text."""
    numbers = rewrite_numbers(text, comma_free=comma_free)
    if numbers is not None and (found := parse_numbers(numbers.plain)) is not None:
        is_scaled = numbers.plain.str.contains("e", literal=True).any()
        if is_scaled and ((found % 1 == 0) & (found.abs() < _EXACT)).all():
            found = found.cast(int)
        return found, _note_reading("numbers", text, found)
    if (read := _parse_written_dates(text)) is not None:
        return read
    hours = _parse_times(text)
    return hours if hours is None else (hours, _note_reading("hours", text, hours))


def _parse_written_dates(text: pl.Series) -> tuple[pl.Series, str] | None:
    """Read dates as people write them, with a note; None for other text."""
    dates = rewrite_dates(text)
    if dates is None or (found := parse_moments(dates.plain)) is None:
        return None
    how = "dates" if dates.first is None else f"dates, {dates.first} first"
    return found, _note_reading(how, text, found)


def _parse_times(text: pl.Series) -> pl.Series | None:
    """Times of day or durations such as 01:30, in hours."""
    form = r"^(\d{1,3}):([0-5]\d)(?::([0-5]\d))?$"
    if not text.str.contains(form).all():
        return None
    hours, minutes, seconds = (text.str.extract(form, part).cast(float) for part in (1, 2, 3))
    return (hours + minutes / 60 + seconds.fill_null(0) / 3600).set(text.is_null(), None).alias(text.name)


def _note_reading(what: str, text: pl.Series, found: pl.Series) -> str:
    """Describe a reading by the longest value, which shows the form best."""
    at = int(text.str.len_chars().fill_null(0).arg_max() or 0)
    return f"Column '{text.name}' is read as {what}: '{text[at]}' is {found[at]}."


def _note_markers(text: pl.Series, marked: pl.Series) -> list[str]:
    if not marked.any():
        return []
    found = text.filter(marked)
    forms = join_names(repr(form) for form in sorted(found.unique().to_list()))
    return [f"Column '{text.name}': {count_noun(len(found), 'value')} written {forms} read as missing."]


def parse_numbers(text: pl.Series) -> pl.Series | None:
    """Numbers as a computer writes them; None for anything else, also for codes such as 007."""
    import polars as pl

    floats = text.cast(pl.Float64, strict=False)
    if floats.null_count() > text.null_count() or text.str.contains(_LEADING_ZERO).any():
        return None
    integers = text.cast(pl.Int64, strict=False)
    return floats if integers.null_count() > text.null_count() else integers


def _parse_truth(text: pl.Series) -> pl.Series | None:
    low = text.str.to_lowercase()
    return low == "true" if low.drop_nulls().is_in(["true", "false"]).all() else None


def parse_moments(text: pl.Series) -> pl.Series | None:
    """Dates with the year first, with or without a time; a time with an offset becomes UTC."""
    import polars as pl

    if text.str.contains(_COMPACT).all():
        text = text.str.replace(r"^(\d{4})(\d{2})(\d{2})$", "${1}-${2}-${3}")
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
