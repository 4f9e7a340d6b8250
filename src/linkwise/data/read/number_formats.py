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

_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{4}( \d{1,2}:\d{2}(:\d{2})?)?")
_NUMBER = r"[+-]?\d[\d.,'’\s]*?"
_CURRENCIES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|NOK|PLN|RON|SEK|TRY|USD|ZAR"
_AMOUNT = re.compile(
    rf"(?P<before>[$€£¥₹]\s?|(?:{_CURRENCIES})\s)?{_NUMBER}(?P<after>\s?[$€£¥₹%‰°]|\s[^\W\d_]{{1,4}}[²³]?)?"
)
_WHOLE = r"(?:0|[1-9]\d*)"
_GROUPS = r"[1-9]\d{0,2}(?:[%s]\d{3})+"
_MARKS: dict[Decimal, str] = {".": ",'’\\s", ",": ".'’\\s"}  # between thousands, by the decimal mark


class WrittenNumbers(NamedTuple):
    """Numbers as people write them.

    Attributes
    ----------
    plain : polars.Series
        The same numbers as text with digits and a decimal point alone.
    unit : str
        The unit of all numbers, for example "€"; empty if they have none.
    decimal : {".", ","}
        The decimal mark.
    has_marks : bool
        Whether marks stand between thousands.
    """

    plain: pl.Series
    unit: str
    decimal: Decimal
    has_marks: bool


class WrittenDates(NamedTuple):
    """Dates as people write them.

    Attributes
    ----------
    plain : polars.Series
        The same dates as text with the year first.
    first : {"day", "month"}
        Which part comes first.
    """

    plain: pl.Series
    first: First


def rewrite_dates(text: pl.Series, first: First | None = None) -> WrittenDates | None:
    """Rewrite dates that begin with the day or the month, as 2024-01-31.

    Parameters
    ----------
    text : polars.Series of str
        At least one value is not null.
    first : {"day", "month"}, optional
        Which part comes first. By default a number above 12 shows it.

    Returns
    -------
    WrittenDates or None
        None if these are not dates, or if no number above 12 shows whether the day comes first.
    """
    start = _DATE.fullmatch(text.drop_nulls()[0])
    if start is None:
        return None
    mark = re.escape(start[1])
    form = rf"^(\d{{1,2}}){mark}(\d{{1,2}}){mark}(\d{{4}})(?: (\d{{1,2}}:\d{{2}}(?::\d{{2}})?))?$"
    if not text.str.contains(form).all():
        return None
    one, two, year, time = (text.str.extract(form, part) for part in range(1, 5))
    if first is None:
        above = [(part.str.to_integer() > 12).any() for part in (one, two)]
        if above[0] == above[1]:
            return None
        first = "day" if above[0] else "month"
    day, month = (one, two) if first == "day" else (two, one)
    padded = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    timed = padded + " " + time.str.zfill(5)
    found = timed.zip_with(time.is_not_null(), padded)
    return WrittenDates(found.alias(text.name), first)


def rewrite_numbers(
    text: pl.Series, *, comma_free: bool, decimal: Decimal | None = None
) -> WrittenNumbers | None:
    """Rewrite numbers without their unit and their marks between thousands, with a decimal point.

    Parameters
    ----------
    text : polars.Series of str
        At least one value is not null.
    comma_free : bool
        Whether a comma within a value can only be a decimal mark or stand between thousands. In a file of
        quoted values "1,3" may be a list.
    decimal : {".", ","}, optional
        The decimal mark. The default is the only mark that fits all values.

    Returns
    -------
    WrittenNumbers or None
        None if these are not numbers, or if 1,234 may be one thousand or one.
    """
    first = _AMOUNT.fullmatch(text.drop_nulls()[0])
    if first is None:
        return None
    unit = [(first[part] or "").strip() for part in ("before", "after")]
    before, after = map(re.escape, unit)
    number = text.str.extract(rf"^{before}\s?({_NUMBER})\s?{after}$")
    if number.null_count() > text.null_count():
        return None
    fits = [
        mark
        for mark, marks in _MARKS.items()
        if decimal in (None, mark)
        and number.str.contains(rf"^[+-]?(?:{_WHOLE}|{_GROUPS % marks})(?:[{mark}]\d+)?$").all()
    ]
    if not fits or (len(fits) == 2 and number.str.contains(r"[.,]").any()):
        return None
    decimal = fits[0]
    marks = number.str.extract_all(rf"[{_MARKS[decimal]}]").explode().drop_nulls()
    fraction = number.str.contains(rf"[{decimal}]").any()
    if marks.n_unique() > 1 or not (any(unit) or fraction or not marks.str.contains(r"\s").any()):
        return None  # 555 123 456 may be a telephone
    if decimal == "," and not (comma_free or any(unit) or len(marks)):
        return None
    plain = number.str.replace_all(rf"[{_MARKS[decimal]}]", "").str.replace(decimal, ".", literal=True)
    return WrittenNumbers(plain, "".join(unit), decimal, len(marks) > 0)
