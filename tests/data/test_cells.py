"""Cells as a person reads them."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from linkwise.constraints.checks import is_missing
from linkwise.data.cells import format_cell
from linkwise.wording import count_noun, join_names


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1 + 0.2, "0.3"), (np.float32(0.1), "0.1"), (3.0, "3"), (-0.0, "0"), (1234567.0, "1234567"),
        (1234.5678, "1234.57"), (1000.5, "1000.5"), (999999.999, "1000000"), (123.456, "123.46"),
        (2.5e-7, "2.5e-07"), (1e15, "1e+15"),
        (float("inf"), "inf"), (7, "7"), (2**60 + 1, "1152921504606846977"), (np.int64(5), "5"),
        (np.uint64(2**64 - 1), "18446744073709551615"), (True, "true"), (np.bool_(False), "false"),
        (decimal.Decimal("1.10"), "1.10"), ("a, b\n", "a, b\n"), ("", ""),
        (datetime.date(2024, 1, 31), "2024-01-31"), (pd.Timestamp("2024-01-31 10:20"), "2024-01-31 10:20"),
        (np.timedelta64(1, "D").astype(object), "1 days"), ([1, 2], "[1, 2]"),
        (datetime.time(10, 5), "10:05:00"),
    ],
)  # fmt: skip
def test_shown(value, text):
    assert format_cell(value) == text


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.float32("nan"), pd.NaT, pd.NA, np.datetime64("NaT")]
)
def test_missing(value):
    assert is_missing(value)
    assert format_cell(value) == "missing"


@pytest.mark.parametrize("value", [0, "", False, "nan", [], np.array([1.0, np.nan]), np.array([])])
def test_not_missing(value):
    assert not is_missing(value)


def test_lists_are_kept_short():
    assert join_names("abc", 3) == "a, b, c"
    assert join_names("abcd", 3) == "a, b, c and 1 more"
    assert [count_noun(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
