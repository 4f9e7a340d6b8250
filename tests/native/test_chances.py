"""Chances of pairs and of items, beside NumPy."""

import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebval

from linkwise import native
from linkwise.learn.kin.calibration import raise_table


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


@pytest.mark.parametrize("n", [1, 7, 8, 30])
def test_symmetric_pairs_have_the_same_chances(n):
    rng = np.random.default_rng(n)
    similarity, shared = (table + table.T for table in rng.normal(size=(2, n, n)))
    weights = (-0.3, 1.2, 0.4)
    found = native.pair_chances(similarity, shared, weights, 1, are_symmetric=True)
    np.testing.assert_array_equal(found, native.pair_chances(similarity, shared, weights, 1))
    with pytest.raises(ValueError, match="similarity must have shape"):
        native.pair_chances(similarity[:, :0], shared[:, :0], weights, 1, are_symmetric=True)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 200])
def test_slopes_are_those_of_the_likelihood(n):
    rng = np.random.default_rng(n)
    similarity, shared, target = *rng.normal(size=(2, n)), rng.random(n)
    weights = (-0.3, 1.2, 0.4)
    slope, curve = native.logistic_slopes(similarity, shared, target, weights)
    design = np.stack([np.ones(n), similarity, shared])
    chance = 1 / (1 + np.exp(-(weights @ design)))
    np.testing.assert_allclose(slope, design @ (target - chance), atol=1e-12)
    np.testing.assert_allclose(curve, (design * (chance * (1 - chance))) @ design.T, atol=1e-12)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 100])
@pytest.mark.parametrize("degrees", [2, 3, 48])
def test_polynomials_have_the_bits_of_numpy(n, degrees):
    rng = np.random.default_rng(n)
    points, coefficients = rng.uniform(-1, 1, n), rng.normal(size=(degrees, 3))
    found = native.chebyshev_values(points, coefficients)
    np.testing.assert_array_equal(found, chebval(points, coefficients).T)


def test_a_constant_is_no_polynomial():
    with pytest.raises(ValueError, match="at least 1, got 0"):
        native.chebyshev_values(np.zeros(3), np.zeros((1, 2)))
