"""Covariances of which the lower triangle counts, against NumPy."""

import numpy as np
import pytest

from linkwise import native

RIDGE = 0.05
SIZES = [1, 8, 50, 257, 700]


def draw_covariance(n):
    """A covariance of float32, and what is above its diagonal: rubbish."""
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, 5))
    full = (half @ half.T / 5 + 0.1 * np.eye(n)).astype(np.float32)
    rubbish = np.triu(rng.normal(size=(n, n)), 1).astype(np.float32)
    return full, np.tril(full) + rubbish, rng.uniform(0, 1, n)


@pytest.mark.parametrize("n", SIZES)
def test_squares_of_a_lower_triangle_are_summed(n):
    full, table, weight = draw_covariance(n)
    found = native.weighted_squares(table, weight, 1)
    np.testing.assert_allclose(found, full.astype(np.float64) ** 2 @ weight, rtol=1e-12)
    np.testing.assert_array_equal(found, native.weighted_squares(table, weight, 3))


@pytest.mark.parametrize("n", SIZES)
def test_a_covariance_is_conditioned_on_an_item(n):
    full, table, weight = draw_covariance(n)
    above = np.triu(table, 1)
    for item in {0, n // 2, n - 1}:
        column = full[:, item].astype(np.float64)
        full = (full - np.outer(column, column) / (column[item] + RIDGE)).astype(np.float32)
        again = table.copy()
        found = native.condition_on(table, item, RIDGE, weight, 1)
        np.testing.assert_allclose(np.tril(table), np.tril(full), atol=1e-5)
        np.testing.assert_array_equal(found, native.weighted_squares(table, weight, 1))
        np.testing.assert_array_equal(found, native.condition_on(again, item, RIDGE, weight, 3))
        np.testing.assert_array_equal(again, table)
    np.testing.assert_array_equal(np.triu(table, 1), above)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_lower_triangle_is_copied_to_the_upper_one(n, dtype):
    table = np.random.default_rng(n).integers(0, 200, (n, n)).astype(dtype)
    wanted = np.tril(table) + np.tril(table, -1).T
    native.mirror_lower(table)
    np.testing.assert_array_equal(table, wanted)


TABLE, WEIGHT = np.zeros((3, 3), np.float32), np.zeros(3)
FIXED = TABLE.copy()
FIXED.flags.writeable = False


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: native.condition_on(TABLE, 3, 0.1, WEIGHT, 1), ValueError, "item must be 0 to 2, got 3"),
        (lambda: native.condition_on(TABLE, -1, 0.1, WEIGHT, 1), ValueError, "item must be 0 to 2, got -1"),
        (lambda: native.condition_on(FIXED, 0, 0.1, WEIGHT, 1), ValueError, "table is read-only"),
        (lambda: native.condition_on(TABLE[:2], 0, 0.1, WEIGHT, 1), ValueError, r"shape \(3, 3\)"),
        (lambda: native.condition_on(TABLE, 0, 0.1, WEIGHT, 0), ValueError, "n_threads must be"),
        (lambda: native.weighted_squares(TABLE, WEIGHT[:0], 1), ValueError, r"weight must have shape \(≥1\)"),
        (lambda: native.mirror_lower(TABLE.astype("f8")), TypeError, "table has dtype float64"),
        (lambda: native.mirror_lower(TABLE[:2]), ValueError, r"table must have shape \(2, 2\)"),
        (lambda: native.mirror_lower(FIXED), ValueError, "table is read-only"),
    ],
)
def test_bad_arguments_raise_an_error(call, error, words):
    with pytest.raises(error, match=words):
        call()
