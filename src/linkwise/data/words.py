"""Small helpers for messages: lists kept short, cells made readable."""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Iterable
from typing import Any

from linkwise.text_files import shortened

MISSING = "—"


def listed(names: Iterable[object], most: int = 8) -> str:
    """Join names by commas; after `most` of them only count the rest."""
    texts = [shortened(str(name), 200) for name in names]
    rest = len(texts) - most
    return ", ".join(texts) if rest <= 0 else f"{', '.join(texts[:most])} and {rest} more"


def counted(number: int, noun: str) -> str:
    """Number and noun, with a plural s where it belongs."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def is_missing(value: Any) -> bool:
    """Whether one cell is empty: None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":  # NA refuses to be compared
        return True
    differs = value != value
    return type(differs).__name__ in ("bool", "bool_") and bool(differs)


def shown(value: Any) -> str:
    """One cell as a person reads it: short numbers, ISO dates, a dash for what is missing."""
    if is_missing(value):
        return MISSING
    if isinstance(value, datetime.datetime):
        return _shown_moment(value)
    if isinstance(value, datetime.timedelta):
        return f"{_shown_float(value.total_seconds() / 86_400)} days"
    if isinstance(value, str):
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return _shown_float(float(value))
    return str(value)


def _shown_float(value: float) -> str:
    size = abs(value)
    if not math.isfinite(value):
        return str(value)
    if value.is_integer() and size < 1e15:
        return str(int(value))
    if size >= 1e15 or size < 1e-4:
        return f"{value:.3g}"
    return f"{value:.2f}".rstrip("0").rstrip(".") if size >= 1000 else f"{value:.5g}"


def _shown_moment(moment: datetime.datetime) -> str:
    if moment.time() == datetime.time():
        return moment.strftime("%Y-%m-%d")
    return moment.strftime("%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M")
