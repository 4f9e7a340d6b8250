"""Round numbers, which are easier to read."""

from __future__ import annotations

from math import ceil, floor, inf, isfinite, log10

DIGITS = 15  # of a float64 that can be relied on
SMALLEST = -300  # power of ten


def round_between(low: float, high: float) -> float:
    """The number from `low` to below `high` with fewest digits, nearest to the middle among equals.

    A test ``x > round_between(low, high)`` divides the values up to `low` from those of `high` and above.
    Among numbers with equally many digits, one that ends in 5 is preferred.
    """
    if not (isfinite(low) and isfinite(high) and low < high):
        return low
    if low <= 0 < high:
        return 0.0
    middle = low + (high - low) / 2
    first = floor(log10(max(abs(low), abs(high))))
    for place in range(first, max(first - DIGITS - 3, SMALLEST), -1):
        for step in (10, 5, 1):
            found = _nearest(low, high, middle, step, place)
            if found is not None:
                return found
    return middle if low <= middle < high else low


def _nearest(low: float, high: float, middle: float, step: int, place: int) -> float | None:
    """The multiple of `step` times ten to the power `place` from `low` to below `high` nearest the middle."""
    best, gap = None, inf
    count = middle / step / 10.0**place
    for number in (floor(count), ceil(count)):
        value = float(f"{number * step}e{place}")
        if low <= value < high and abs(value - middle) < gap:
            best, gap = value, abs(value - middle)
    return best


def format_number(value: float) -> str:
    """A number with as few digits as identify it, without an exponent if possible."""
    short = f"{value + 0.0:.{DIGITS}g}"
    return short if float(short) == value or not isfinite(value) else repr(float(value)).removesuffix(".0")
