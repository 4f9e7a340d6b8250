"""Numbers and dates as people write them: 1.234,50 €, 12 kg, 31.01.2024.

A column is read so only where all of its values leave one reading; otherwise it stays text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{4}( \d{1,2}:\d{2}(:\d{2})?)?")
_NUMBER = r"[+-]?\d[\d.,'’\s]*?"
_CURRENCIES = "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|NOK|PLN|RON|SEK|TRY|USD|ZAR"
_AMOUNT = re.compile(
    rf"(?P<before>[$€£¥₹]\s?|(?:{_CURRENCIES})\s)?{_NUMBER}(?P<after>\s?[$€£¥₹%‰°]|\s[^\W\d_]{{1,4}}[²³]?)?"
)
_WHOLE = r"(?:0|[1-9]\d*)"
_GROUPS = r"[1-9]\d{0,2}(?:[%s]\d{3})+"
_MARKS = {".": ",'’\\s", ",": ".'’\\s"}  # between thousands, by the decimal mark


def rewrite_dates(text: pl.Series) -> tuple[pl.Series, str] | None:
    """Dates written day or month first as 2024-01-31, and how they were written.

    None where these are none, or where nothing tells whether the day comes first: no number above 12 does.
    """
    first = _DATE.fullmatch(text.drop_nulls()[0])
    if first is None:
        return None
    mark = re.escape(first[1])
    form = rf"^(\d{{1,2}}){mark}(\d{{1,2}}){mark}(\d{{4}})(?: (\d{{1,2}}:\d{{2}}(?::\d{{2}})?))?$"
    if not text.str.contains(form).all():
        return None
    one, two, year, time = (text.str.extract(form, part) for part in range(1, 5))
    above = [(part.str.to_integer() > 12).any() for part in (one, two)]
    if above[0] == above[1]:
        return None
    day, month = (one, two) if above[0] else (two, one)
    padded = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    timed = padded + " " + time.str.zfill(5)
    found = timed.zip_with(time.is_not_null(), padded)
    return found.alias(text.name), "day first" if above[0] else "month first"


def rewrite_numbers(text: pl.Series, *, comma_free: bool) -> pl.Series | None:
    """Numbers without their unit and their marks between thousands, with a decimal point.

    Parameters
    ----------
    text : polars.Series
    comma_free : bool
        Whether a comma within a value can only be a decimal mark or stand between thousands. In a file of
        quoted values "1,3" may be a list.

    Returns
    -------
    polars.Series or None
        None where these are none, or where 1,234 may be either.
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
        decimal
        for decimal, marks in _MARKS.items()
        if number.str.contains(rf"^[+-]?(?:{_WHOLE}|{_GROUPS % marks})(?:[{decimal}]\d+)?$").all()
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
    return number.str.replace_all(rf"[{_MARKS[decimal]}]", "").str.replace(decimal, ".", literal=True)
