"""Round numbers that part the same values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.reasons.round_numbers import format_number, round_between

numbers = st.floats(-1e12, 1e12, allow_nan=False)


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (34, 35, 34),
        (34, 41, 40),
        (31, 49, 40),
        (1.9, 3.0, 2),
        (2.1, 2.8, 2.5),
        (755, 760, 755),
        (99, 101, 100),
        (-1, 2, 0),
        (-5, -4.2, -5),
        (0, 0.3, 0),
        (0.1, 0.30000000000000004, 0.2),
        (1234.5, 1234.6, 1234.5),
        (1e-7, 2e-7, 1e-7),
        (1e20, 2e20, 1e20),
        (1e9, 1e9 + 1, 1e9),
    ],
)
def test_what_a_person_would_say(low, high, found):
    assert round_between(low, high) == found


@given(numbers, numbers)
def test_it_parts_what_the_bounds_part(one, other):
    low, high = sorted((one, other))
    found = round_between(low, high)
    assert low <= found
    assert found < high or low == high


@given(st.floats(-1e300, 1e300, allow_nan=False))
def test_neighbouring_floats_are_parted(low):
    high = math.nextafter(low, math.inf)
    assert low <= round_between(low, high) < high


@pytest.mark.slow
@given(st.integers(-10_000, 10_000), st.integers(1, 400), st.integers(0, 3))
def test_no_shorter_number_lies_between(low, gap, place):
    """By hand: all multiples of powers of ten that are rounder than what was found."""
    low, high = low / 10**place, (low + gap) / 10**place
    found = round_between(low, high)
    if found == 0:
        return
    digits = next(p for p in range(6, -6, -1) if math.isclose(found / 10.0**p, round(found / 10.0**p)))
    rounder = 10.0 ** (digits + 1)
    first = math.ceil(round(low / rounder, 9))
    assert not first * rounder < high * (1 - 1e-12) or math.isclose(first * rounder, high)


def test_what_cannot_be_rounded_stays():
    assert round_between(2.0, 2.0) == 2.0
    assert round_between(-math.inf, 3.0) == -math.inf


@given(numbers)
def test_numbers_are_shown_with_all_digits_that_count(value):
    assert float(format_number(value)) == value


def test_no_more_digits_are_shown():
    assert [format_number(v) for v in (0.3, 2.0, -0.0, 1e-9, 123456.5)] == [
        "0.3", "2", "0", "1e-09", "123456.5",
    ]  # fmt: skip
