"""Chances of pairs and of items, beside NumPy."""

import numpy as np
import pytest

from linkwise import native
from linkwise.active.kin.sharpness import raise_table


@pytest.mark.parametrize("shape", [(), (1,), (0, 0), (5, 13), (300, 41)])
def test_pair_chances_are_those_of_a_logistic_function(shape):
    rng = np.random.default_rng(0)
    one, other = rng.normal(0, 200, shape), rng.normal(size=shape)
    found = native.pair_chances(one, other, (0.3, 1.2, -0.4), 1)
    expected = 1 / (1 + np.exp(-np.clip(0.3 + 1.2 * one - 0.4 * other, -700, 700)))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(found, native.pair_chances(one, other, (0.3, 1.2, -0.4), 3))


def test_pairs_are_averaged_by_label():
    rng = np.random.default_rng(0)
    table, rows = rng.normal(size=(30, 30)), rng.permutation(30)[:12].astype(np.int32)
    label = np.r_[np.arange(5), rng.integers(0, 5, 7)].astype(np.int32)
    found = native.average_pairs(table, rows, label, 6)
    among = table[np.ix_(rows, rows)]
    expected = [[among[np.ix_(label == a, label == b)].mean() for b in range(5)] for a in range(5)]
    np.testing.assert_allclose(found[:5, :5], expected)
    assert (found[5] == 0).all()
    assert (found[:, 5] == 0).all()


@pytest.mark.parametrize("power", [1.0, 1.25, 1.5, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("k", [0, 1, 7, 30])
def test_scores_are_shared_by_their_powers(k, power):
    score = np.random.default_rng(k).normal(size=(200, k))
    join, none = native.share_scores(score, *divmod(round(4 * power), 4), 0.3, 1)
    raised = raise_table(np.maximum(score, 0), power)
    total = raised.sum(axis=1) + 0.3
    np.testing.assert_allclose(join, raised / total[:, None], rtol=1e-13)
    np.testing.assert_allclose(none, 0.3 / total, rtol=1e-13)
    threads = native.share_scores(score, *divmod(round(4 * power), 4), 0.3, 3)
    np.testing.assert_array_equal(join, threads[0])


def test_other_powers_raise_an_error():
    with pytest.raises(ValueError, match="The power 4"):
        native.share_scores(np.ones((1, 1)), 4, 0, 0.3, 1)


@pytest.mark.parametrize("k", [0, 1, 2, 7, 8, 9, 40])
def test_rows_are_summed_up(k):
    table = np.random.default_rng(k).normal(size=(100, k)).round(1)
    found = native.sum_up_rows(table)
    falling = -np.sort(-np.hstack([table, np.full((100, 2), -np.inf)]), axis=1)
    np.testing.assert_array_equal(found.largest, falling[:, 0])
    np.testing.assert_array_equal(found.second, falling[:, 1])
    np.testing.assert_allclose(found.positive, np.maximum(table, 0).sum(axis=1), atol=1e-12)


def test_rows_are_divided_and_made_longer():
    rng = np.random.default_rng(0)
    table, total = rng.normal(size=(6, 5)), rng.uniform(1, 2, 6)
    found = native.divide_rows(table, total, 8)
    np.testing.assert_array_equal(found[:, :5], table / total[:, None])
    assert (found[:, 5:] == 0).all()
    with pytest.raises(ValueError, match="width must be at least 5, got 4"):
        native.divide_rows(table, total, 4)


@pytest.mark.parametrize("n", [1, 8, 50, 700])
def test_squares_of_a_lower_triangle_are_summed(n):
    rng = np.random.default_rng(n)
    table, weight = rng.normal(size=(n, n)).astype(np.float32), rng.uniform(0, 1, n)
    full = (np.tril(table) + np.tril(table, -1).T).astype(np.float64)
    found = native.weighted_squares(table, weight, 1)
    np.testing.assert_allclose(found, full**2 @ weight, rtol=1e-12)
    np.testing.assert_array_equal(found, native.weighted_squares(table, weight, 3))
