"""Distances after linear maps: one map or one a centre, matrices or factors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import native
from reference.mpckmeans import squares_under


@st.composite
def problems(draw):
    """Small multiples of a power of two: every sum is exact, ties abound."""
    n, k, d = draw(st.integers(1, 70)), draw(st.integers(1, 5)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = (rng.integers(-8, 9, (n, d)) / 2).astype(draw(st.sampled_from([np.float32, np.float64])))
    count, shape = draw(st.sampled_from([1, k])), draw(st.sampled_from([(d,), (1, d), (3, d), (d, d)]))
    return X, rng.integers(-8, 9, (k, d)) / 2, rng.integers(-2, 3, (count, *shape)) / 2, rng


@given(problems())
def test_the_nearest_is_that_of_the_formula(problem):
    X, centers, maps, rng = problem
    squares = squares_under(X, centers, maps)
    offset = rng.integers(-4, 5, len(centers)) / 2
    nearest, least = native.metric_nearest(X, centers, maps, offset, 2)
    np.testing.assert_array_equal(nearest, (squares + offset).argmin(axis=1))
    np.testing.assert_array_equal(least, (squares + offset).min(axis=1))


@pytest.mark.parametrize("shape", [(1, 12, 12), (4, 12, 12), (1, 12), (4, 12)])
def test_the_same_bits_for_any_number_of_threads(shape):
    rng = np.random.default_rng(0)
    X, centers, maps = rng.normal(size=(30_000, 12)), rng.normal(size=(4, 12)), rng.normal(size=shape)
    one, three = (native.metric_nearest(X, centers, maps, np.zeros(4), threads) for threads in (1, 3))
    np.testing.assert_array_equal(one, three)
    np.testing.assert_allclose(one[1][:20], squares_under(X[:20], centers, maps).min(axis=1), rtol=1e-12)


ROWS, CENTERS, MAPS = np.zeros((3, 2)), np.zeros((4, 2)), np.zeros((4, 2, 2))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((ROWS.astype(int), CENTERS, MAPS, 1), TypeError, "X must be .* float32 or float64"),
        ((ROWS, CENTERS[:, :1].copy(), MAPS, 1), ValueError, r"centers .* \(≥1, 2\)"),
        ((ROWS, CENTERS, MAPS[:3], 1), ValueError, r"maps .* \(4, ≥1, 2\), got \(3, 2, 2\)"),
        ((ROWS, CENTERS, MAPS[:, 0, :1].copy(), 1), ValueError, r"maps .* \(4, 2\), got \(4, 1\)"),
        ((ROWS, CENTERS, MAPS[..., ::-1], 1), ValueError, "maps must be C-contiguous"),
        ((ROWS, CENTERS, MAPS, 0), ValueError, "n_threads must be at least 1"),
    ],
)
def test_bad_arguments_raise_errors(arguments, error, words):
    with pytest.raises(error, match=words):
        native.metric_nearest(*arguments[:3], np.zeros(4), arguments[3])


def test_an_offset_for_each_centre():
    with pytest.raises(ValueError, match=r"offset must have shape \(4\), got \(3,\)"):
        native.metric_nearest(ROWS, CENTERS, MAPS, np.zeros(3), 1)
