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


@pytest.mark.parametrize("n", [1, 2, 65, 200])
def test_a_kernel_is_kept_in_16_bits(n):
    table = np.random.default_rng(n).uniform(-0.2, 3.4, (n, n)).astype(np.float32)
    lower = np.rint(np.clip(np.tril(table, -1) / np.float32(3), 0, 1) * np.float32(65535)).astype(np.uint16)
    wanted = lower + lower.T
    np.fill_diagonal(wanted, 65535)
    np.testing.assert_array_equal(native.pack_lower(table, np.float32(3)), wanted)
    with pytest.raises(TypeError, match=r"table .* float32"):
        native.pack_lower(table.astype(np.float64), np.float32(3))


@pytest.mark.parametrize("n", [1, 7, 8, 65, 200])
def test_gaussians_are_added_below_the_diagonal(n):
    rng = np.random.default_rng(n)
    squares, near = rng.exponential(2, (n, n)).astype(np.float32), rng.uniform(0.1, 2, n).astype(np.float32)
    before = rng.random((3, n, n)).astype(np.float32)
    wide, narrow, tuned = found = before.copy()
    native.add_gaussians(wide, narrow, tuned, squares, np.float32(-0.3), near, 1)
    wanted = np.exp([-0.3 * squares, -1.2 * squares, -squares / np.outer(near, near)])
    np.testing.assert_allclose(np.tril(found), np.tril(before + wanted), atol=1e-6)
    np.testing.assert_array_equal(np.triu(found, 1), np.triu(before, 1))
    again = before.copy()
    native.add_gaussians(*again, squares, np.float32(-0.3), near, 3)
    np.testing.assert_array_equal(again, found)
    with pytest.raises(ValueError, match="tuned must have shape"):
        native.add_gaussians(wide, narrow, tuned[:0], squares, np.float32(-0.3), near, 1)


@pytest.mark.parametrize("m", [1, 60, 200])
def test_a_part_is_scaled_and_added(m):
    rng = np.random.default_rng(m)
    table, before = rng.random((m, m)).astype(np.float32), rng.random((200, 200)).astype(np.float32)
    scale, rows = rng.random(m).astype(np.float32), np.sort(rng.permutation(200)[:m])
    found = before.copy()
    native.add_scaled_part(found, table, scale, rows, 1)
    wanted = before.copy()
    wanted[np.ix_(rows, rows)] += np.tril(table * np.outer(scale, scale))
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    again = before.copy()
    native.add_scaled_part(again, table, scale, rows, 3)
    np.testing.assert_array_equal(again, found)
    with pytest.raises(ValueError, match=r"rows must be ascending|rows holds"):
        native.add_scaled_part(found, table, scale, rows[::-1].copy() + 200 * (m == 1), 1)


@pytest.mark.parametrize("n", [1, 7, 65, 200])
def test_clusterings_are_counted_below_the_diagonal(n):
    rng = np.random.default_rng(n)
    labels, before = rng.integers(0, 3, (5, n)).astype(np.uint8), rng.random((n, n)).astype(np.float32)
    found = before.copy()
    native.add_together(found, labels, 0.2, 1)
    wanted = (labels[:, :, None] == labels[:, None]).mean(axis=0)
    np.testing.assert_allclose(np.tril(found), np.tril(before + wanted), atol=1e-6)
    np.testing.assert_array_equal(np.triu(found, 1), np.triu(before, 1))
    again = before.copy()
    native.add_together(again, labels, 0.2, 3)
    np.testing.assert_array_equal(again, found)
    with pytest.raises(ValueError, match="at most 255"):
        native.add_together(found, np.repeat(labels, 52, axis=0), 0.2, 1)
    with pytest.raises(ValueError, match="out must have shape"):
        native.add_together(found[:0], labels, 0.2, 1)


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
        (lambda: native.mirror_lower(TABLE.astype("f8")), TypeError, "numbers of 1, 2 or 4 bytes"),
        (lambda: native.mirror_lower(TABLE[:2]), ValueError, r"table must have shape \(2, 2\)"),
        (lambda: native.mirror_lower(FIXED), ValueError, "table is read-only"),
    ],
)
def test_bad_arguments_raise_an_error(call, error, words):
    with pytest.raises(error, match=words):
        call()
