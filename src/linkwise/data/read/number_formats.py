"""Rewrite numbers and dates as people write them: 1.234,50 €, 12 kg, 31.01.2024.

A column is rewritten only if exactly one reading fits all of its values. Otherwise it stays text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import polars as pl

Decimal = Literal[".", ","]
First = Literal["day", "month"]

_SYMBOLS = "$€£¥₹₩₽₺"
_CODES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|NOK|PLN|RON|SEK|TRY|USD|ZAR"
_CURRENCY = rf"(?:[A-Z]{{1,3}})?[{_SYMBOLS}]|{_CODES}|Rs\.?"
_UNIT = (
    rf"[{_SYMBOLS}%‰°][CF]?(?: [^\W\d_]{{1,12}})?"
    r"|[^\W\d_]{1,12}[²³]?(?:(?:[ .]|/(?:\d{1,4} ?)?)[^\W\d_]{1,12}[²³]?)?\.?"
    r"|/ ?\d{1,3}"  # of so many points
)
_SCALES = {
    **dict.fromkeys(("k", "thousand", "kb", "kib"), 3),
    **dict.fromkeys(("m", "mn", "mio", "million", "mb", "mib"), 6),
    **dict.fromkeys(("b", "bn", "billion", "gb", "gib"), 9),
    **dict.fromkeys(("t", "tn", "trillion", "tb", "tib"), 12),
}
_SCALE = r"[kKMBT]|[Bb]n|[Mm]n|[Mm]io|[Tt]housand|[MmBb]illion|[Tt]rillion|[kKMGT]i?B"
_NUMBER = r"\d[\d.,'’\s]*?"
_AMOUNT = re.compile(
    rf"^(?P<open>\()? ?(?P<sign>[+\-−])? ?(?P<before>{_CURRENCY})? ?(?P<inner>[+\-−])?"
    rf"(?P<number>{_NUMBER})(?P<space> ?)"
    rf"(?:(?P<scale>{_SCALE})(?P<more>\+)?(?: (?P<word>{_UNIT}))?"
    rf"|(?P<above>\+)?(?P<gap> ?)(?P<after>{_UNIT}))?"
    r"(?P<plus>\+)? ?(?P<minus>-)?(?P<close>\))?$"
)
_ATTACHED = {  # units that follow whole numbers without a space; other letters there are codes, such as 12b
    *(
        "kg",
        "g",
        "mg",
        "lb",
        "lbs",
        "oz",
        "km",
        "kms",
        "mm",
        "cm",
        "mi",
        "ft",
        "in",
        "mph",
        "kmh",
        "kph",
        "hp",
        "bhp",
    ),
    *(
        "cc",
        "kw",
        "kwh",
        "kva",
        "mhz",
        "ghz",
        "hz",
        "min",
        "mins",
        "sec",
        "secs",
        "ms",
        "hr",
        "hrs",
        "days",
        "yrs",
        "px",
    ),
    *(
        "sqft",
        "sqm",
        "mah",
        "rpm",
        "nm",
        "psi",
        "kcal",
        "cal",
        "ml",
        "cl",
        "kmpl",
        "years",
        "months",
        "weeks",
    ),
}
_PHONE = re.compile(r"phone|fax|mobile|(^|[^a-z])tel([^a-z]|$)", re.IGNORECASE)
_MARKED = 5
_WHOLE = r"(?:0|[1-9]\d*)"
_GROUPS = r"[1-9]\d{0,2}(?:[%s]\d{3})+"
_LAKHS = r"|[1-9]\d?(?:,\d{2})+,\d{3}"
_MARKS: dict[Decimal, str] = {".": ",'’\\s", ",": ".'’\\s"}  # between thousands, by the decimal mark

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH_NUMBERS = {name: f"{n:02d}" for n, full in enumerate(_MONTHS, 1) for name in (full, full[:3])} | {
    "sept": "09"
}
_CLOCK = r"(?:,?[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?\s?([AaPp]\.?[Mm]\.?)?)?"
_DATE = re.compile(rf"\d{{1,2}}([./-])\d{{1,2}}\1\d{{4}}{_CLOCK}")
_WEEKDAY = r"(?:(?i:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?i:day)?[,.]?\s+)?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|\.)?"
_MONTH = r"([A-Za-z]{3,9})\.?"
_NAMED_DATES = (  # each with its groups for the day, the month and the year
    (rf"^{_WEEKDAY}{_DAY}[ /.-]+{_MONTH},?[ /.-]+'?(\d{{4}}|\d{{2}}){_CLOCK}$", (1, 2, 3)),
    (rf"^{_WEEKDAY}{_MONTH}[ /-]+{_DAY}(?:,\s?|[ /-]+)(\d{{4}}){_CLOCK}$", (2, 1, 3)),
    (rf"^(\d{{4}})[ /.-]+{_MONTH}[ /.-]+(\d{{1,2}}){_CLOCK}$", (3, 2, 1)),
    (rf"^{_MONTH}(?:[ /.,-]+'?(\d{{4}})|[-'/]+(\d{{2}}))$", (0, 1, 2)),
)


class WrittenNumbers(NamedTuple):
    """Numbers as people write them.

    `plain` has them with digits and a decimal point alone. `unit` is the unit of all, such as "€".
    `has_marks` tells whether marks stand between thousands.
    """

    plain: pl.Series
    unit: str
    decimal: Decimal
    has_marks: bool


class WrittenDates(NamedTuple):
    """Dates as people write them; `plain` has the year first.

    `first` tells which part comes first; None if the month has a name.
    """

    plain: pl.Series
    first: First | None


def rewrite_dates(text: pl.Series, first: First | None = None) -> WrittenDates | None:
    """Rewrite dates that begin with the day or the month, or name the month, as 2024-01-31.

    By default a number above 12 shows which part comes first. None if none does, or if these are not
    dates.
    """
    start = _DATE.fullmatch(text.drop_nulls()[0])
    if start is None:
        return _rewrite_named_dates(text)
    mark = re.escape(start[1])
    form = rf"^(\d{{1,2}}){mark}(\d{{1,2}}){mark}(\d{{4}}){_CLOCK}$"
    if not text.str.contains(form).all():
        return None
    one, two, year = (text.str.extract(form, part) for part in range(1, 4))
    if first is None:
        above = [(part.str.to_integer() > 12).any() for part in (one, two)]
        if above[0] == above[1]:
            return None
        first = "day" if above[0] else "month"
    day, month = (one, two) if first == "day" else (two, one)
    return WrittenDates(_join_date(text, form, year, month, day), first)


def _rewrite_named_dates(text: pl.Series) -> WrittenDates | None:
    """Rewrite dates whose month has an English name; a year of two digits is between 1950 and 2049."""
    import polars as pl

    start = text.drop_nulls()[0]
    for form, (day_at, month_at, year_at) in _NAMED_DATES:
        if re.search(form, start) is None or not text.str.contains(form).all():
            continue
        if day_at == 0:
            groups = pl.select(pl.coalesce(text.str.extract(form, 2), text.str.extract(form, 3)))
            year, day = groups.to_series(), text.str.replace(r"^.*$", "1")
        else:
            year, day = text.str.extract(form, year_at), text.str.extract(form, day_at)
        names = text.str.extract(form, month_at).str.to_lowercase()
        if not names.drop_nulls().is_in(list(_MONTH_NUMBERS)).all():
            return None
        month = names.replace(_MONTH_NUMBERS)
        century = (year.str.to_integer() >= 50).replace_strict(
            {True: "19", False: "20"}, return_dtype=pl.String
        )
        full = year.zip_with(year.str.len_chars() == 4, century + year)
        return WrittenDates(_join_date(text, form, full, month, day), None)
    return None


def replace_months(name: str) -> str:
    """Replace the English name of a month by its number."""
    return re.sub(r"[^\W\d_]+", lambda word: _MONTH_NUMBERS.get(word[0].casefold(), word[0]), name)


def _join_date(text: pl.Series, form: str, year: pl.Series, month: pl.Series, day: pl.Series) -> pl.Series:
    """Join the parts of dates, with the time of day that the last four groups of `form` hold."""
    padded = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    n_groups = re.compile(form).groups
    if ":" not in form or n_groups < 7:
        return padded.alias(text.name)
    hour, minute, second, half = (text.str.extract(form, n_groups - 3 + part) for part in range(4))
    number, is_late = hour.str.to_integer(), half.str.to_lowercase().str.starts_with("p")
    shifted = (number % 12 + 12 * is_late.cast(int)).cast(str)
    hour = shifted.zip_with(half.is_not_null() & (number <= 12), hour)
    timed = padded + " " + hour.str.zfill(2) + ":" + minute + ":" + second.fill_null("00")
    return timed.zip_with(hour.is_not_null(), padded).alias(text.name)


def rewrite_numbers(
    text: pl.Series, *, comma_free: bool, decimal: Decimal | None = None
) -> WrittenNumbers | None:
    """Rewrite numbers without their unit and their marks between thousands, with a decimal point.

    This covers money, percentages, units, scales such as 2.5k and $3 M, negative numbers in brackets, and
    a plus behind the number, as in 500+. All numbers must have the same unit; only a zero may have none.
    With `comma_free`, a comma within a value can only be a decimal mark or stand between thousands: in a
    file of quoted values "1,3" may be a list, and amounts such as "1250,00" are none. The default for
    `decimal` is the only mark that fits all
    values. None if these are not numbers, or if 1,234 may be one thousand or one.
    """
    if _AMOUNT.match(re.sub(r"\s", " ", text.drop_nulls()[0])) is None:
        return None
    parts = _divide(text)
    number = parts["number"]
    if number.null_count() > text.null_count():
        return None
    unit = _find_unit(parts)
    if unit is None:
        return None
    fits = [
        mark
        for mark, marks in _MARKS.items()
        if decimal in (None, mark)
        and number.str.contains(
            rf"^(?:{_WHOLE}|{_GROUPS % marks}{_LAKHS if mark == '.' else ''})(?:[{mark}]\d+)?$"
        ).all()
    ]
    if len(fits) == 2 and number.str.contains(r"[.,]").any():
        fits = _choose_mark(parts)
    if not fits:
        return None
    decimal = fits[0]
    marks = number.str.extract_all(rf"[{_MARKS[decimal]}]").explode().drop_nulls()
    fraction = number.str.contains(rf"[{decimal}]").any()
    if marks.n_unique() > 1:
        return None
    if marks.str.contains(" ").any() and not (unit or fraction) and _may_be_telephones(number, text.name):
        return None
    if decimal == "," and not (comma_free or unit or len(marks) or _are_amounts(number)):
        return None
    plain = number.str.replace_all(rf"[{_MARKS[decimal]}]", "").str.replace(decimal, ".", literal=True)
    return WrittenNumbers(_sign_and_scale(plain, parts).alias(text.name), unit, decimal, len(marks) > 0)


def _are_amounts(number: pl.Series) -> bool:
    """Whether all numbers have two decimals, and most of them three digits or more before these."""
    known = number.drop_nulls()
    n_long = int(known.str.contains(r"^\d{3,},").sum())
    return known.str.contains(r",\d\d$").all() and 2 * n_long > len(known)


def _divide(text: pl.Series) -> pl.DataFrame:
    """Divide written numbers into sign, currency, digits, scale and unit; all null for other text."""
    import polars as pl

    parts = text.str.replace_all(r"\s", " ").str.extract_groups(_AMOUNT.pattern).struct.unnest()
    return parts.with_columns(after=pl.coalesce("after", "word"), plus=pl.coalesce("more", "above", "plus"))


def _choose_mark(parts: pl.DataFrame) -> list[Decimal]:
    """Choose the decimal mark of numbers such as 1,234, where the mark may stand between thousands.

    Many numbers in groups of three digits are hardly decimals by chance. If all are, no reading changes how
    alike two rows are. A plus behind the number, as in 500,000+, belongs to a count.
    """
    number = parts["number"].drop_nulls()
    marked = number.filter(number.str.contains(r"[.,]"))
    commas = marked.str.contains(",", literal=True)
    is_mixed = commas.any() and not commas.all()
    if is_mixed or (len(marked) < _MARKED and parts["plus"].is_null().all()):
        return []
    return ["." if commas.all() else ","]


def _find_unit(parts: pl.DataFrame) -> str | None:
    """The unit of all numbers, empty if they have none; None if units differ, or if these are codes."""
    import polars as pl

    is_bracketed = parts["open"].is_not_null()
    if (
        (is_bracketed != parts["close"].is_not_null()).any()
        or is_bracketed.all()
        or parts["minus"].is_not_null().all()
    ):
        return None
    signs = parts.select(pl.col("sign", "inner", "minus").is_not_null().cast(pl.Int8)).sum_horizontal()
    after, scale = parts["after"], parts["scale"]
    attached = after.filter((parts["gap"] == "") & (parts["space"] == "")).drop_nulls()
    # letters right behind a number are a unit if it is a common one, or a number has decimals
    letters = attached.filter(attached.str.contains(r"^[^\W\d_]")).str.to_lowercase().str.strip_chars(".")
    are_codes = not letters.str.extract(r"^(\w+)").is_in(list(_ATTACHED)).all()
    if (signs > 1).any() or (are_codes and not parts["number"].str.contains(r"[.,]\d{1,2}$").any()):
        return None
    if _scale_is_unit(parts):
        return str(scale.drop_nulls()[0])
    units = parts.select(
        pl.concat_str(
            pl.col("before").fill_null("").str.strip_chars(".").str.to_uppercase(),
            pl.lit(" "),
            pl.col("after").fill_null("").str.replace(r"([^\W\d_]{2})s?\.?$", "${1}"),
        ).alias("unit"),
        pl.col("number").str.contains(r"[1-9]").fill_null(False).alias("counts"),
    )
    found = units.filter(pl.col("counts"))["unit"].unique()
    known = parts["number"].is_not_null()
    others = units.filter(~pl.col("counts") & pl.Series(known))["unit"].unique()
    if len(found) > 1 or not others.is_in([" ", *found]).all():
        return None
    at = int((units["counts"] & (units["unit"] != " ")).arg_max() or 0)
    return f"{parts['before'][at] or ''}{after[at] or ''}"


def _scale_is_unit(parts: pl.DataFrame) -> bool:
    """Whether a letter that may be a scale is the unit of all numbers, as in 300 K."""
    scale = parts["scale"].filter(parts["number"].is_not_null())
    is_apart = parts["space"].filter(parts["number"].is_not_null()).str.len_chars() > 0
    return bool(
        scale.null_count() == 0
        and scale.n_unique() == 1
        and len(scale[0]) == 1
        and is_apart.all()
        and parts["before"].is_null().all()
    )


def _may_be_telephones(number: pl.Series, name: str) -> bool:
    """Whether whole numbers in groups, such as 555 123 456, may be telephone numbers."""
    lengths = number.str.count_matches(r"\d").drop_nulls()
    return _PHONE.search(name) is not None or (lengths.n_unique() == 1 and int(lengths[0]) > 5)


def _sign_and_scale(plain: pl.Series, parts: pl.DataFrame) -> pl.Series:
    import polars as pl

    scale = parts["scale"].str.to_lowercase()
    if scale.is_not_null().any() and not _scale_is_unit(parts):
        power = scale.replace_strict({name: f"e{n}" for name, n in _SCALES.items()}, default="")
        plain = plain + power.fill_null("")
    is_negative = parts.select(
        pl.any_horizontal(
            pl.col("sign", "inner").is_in(["-", "−"]).fill_null(False),
            pl.col("minus").is_not_null(),
            pl.col("open").is_not_null(),
        )
    ).to_series()
    return plain.zip_with(~is_negative, "-" + plain)
