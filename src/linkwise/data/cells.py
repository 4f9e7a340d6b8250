"""One cell of a table as a person reads it."""

from __future__ import annotations

import datetime
import math
import numbers
from typing import Any

import numpy as np

from linkwise.constraints.checks import is_missing

MISSING = "missing"


def is_missing_cell(value: Any) -> bool:
    """Whether a cell that may hold a list is empty."""
    return not isinstance(value, (list, tuple, np.ndarray)) and is_missing(value)


def format_cell(value: Any) -> str:
    """Format a cell for a person: short numbers, ISO dates, and "missing" for no value."""
    if is_missing(value):
        return MISSING
    if isinstance(value, datetime.datetime):
        return _format_moment(value)
    if isinstance(value, datetime.timedelta):
        return f"{_format_float(value.total_seconds() / 86_400)} days"
    if isinstance(value, str):
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return _format_float(float(value))
    return str(value)


def _format_float(value: float) -> str:
    size = abs(value)
    if not math.isfinite(value):
        return str(value)
    if value.is_integer() and size < 1e15:
        return str(int(value))
    if size >= 1e15 or size < 1e-4:
        return f"{value:.3g}"
    return f"{value:.2f}".rstrip("0").rstrip(".") if size >= 1000 else f"{value:.5g}"


def _format_moment(moment: datetime.datetime) -> str:
    if moment.time() == datetime.time():
        return moment.strftime("%Y-%m-%d")
    return moment.strftime("%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M")
