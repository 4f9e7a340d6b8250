"""Gaussian weights and exchanges of rows, beside plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from linkwise import native

FEW = st.integers(0, 6).map(float)


def weights(X, scale, n_threads=1):
    out = np.full((len(X), len(X)), np.nan)
    native.gaussian_weights(X, scale, out, n_threads)
    return out


@pytest.mark.parametrize("shape", [(1, 1), (63, 2), (64, 3), (65, 19), (200, 70)])
@pytest.mark.parametrize("scale", [0.0, 0.3, 40.0])
def test_weights_are_numpys(shape, scale):
    X = np.random.default_rng(0).uniform(size=shape)
    found = weights(X, scale)
    np.testing.assert_allclose(found, np.exp(-scale * cdist(X, X, "sqeuclidean")), rtol=1e-13, atol=1e-306)
    assert (found == found.T).all()


def test_weights_reach_down_to_the_smallest_normal_numbers():
    X = np.sqrt(np.linspace(0, 900, 500))[:, None]
    found, exact = weights(X, 1.0)[0], np.exp(-(X[:, 0] ** 2))
    held = exact > 1e-307
    np.testing.assert_allclose(found[held], exact[held], rtol=4e-16 + 710 * 2.3e-16)
    assert (found[~held] <= 1e-306).all()


def test_weights_are_the_same_on_any_number_of_threads():
    X = np.random.default_rng(1).normal(size=(700, 5))
    assert (weights(X, 0.7, 1) == weights(X, 0.7, 3)).all()


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 7, 9), (12, 300, 257), (40, 65, 8)])
def test_products_of_a_block_are_numpys(shape):
    b, n, m = shape
    rng = np.random.default_rng(0)
    block, matrix = rng.normal(size=(b, n)), rng.normal(size=(n, m))
    np.testing.assert_allclose(native.block_product(block, matrix, 1), block @ matrix, atol=1e-12)


def test_products_of_a_block_are_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(1)
    block, matrix = rng.normal(size=(12, 900)), rng.normal(size=(900, 901))
    assert (native.block_product(block, matrix, 1) == native.block_product(block, matrix, 3)).all()


def sums_of_squares(X, labels, k):
    """Of all clusters together."""
    clusters = [X[labels == c] for c in range(k)]
    return sum(((rows - rows.mean(axis=0)) ** 2).sum() for rows in clusters if len(rows))


@given(st.data())
def test_no_row_gains_by_a_move_in_the_end(data):
    X = data.draw(arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=FEW))
    k = data.draw(st.integers(1, 5))
    start = data.draw(arrays(np.int32, (2, len(X)), elements=st.integers(0, k - 1)))
    labels, inertia = native.exchange(X, start, k, 1000, 1)
    for run in range(2):
        best = sums_of_squares(X, labels[run], k)
        assert best == pytest.approx(inertia[run], abs=1e-9)
        assert best <= sums_of_squares(X, start[run], k) + 1e-9
        for row in range(len(X)):
            for c in range(k):
                other = labels[run].copy()
                other[row] = c
                assert sums_of_squares(X, other, k) >= best * (1 - 1e-7) - 1e-7


def test_skipped_rows_would_not_have_moved():
    """Long runs on many rows, in which most rows are skipped, also end where no row gains."""
    rng = np.random.default_rng(3)
    X, k = rng.normal(size=(3000, 4)), 9
    labels, inertia = native.exchange(X, rng.integers(0, k, (3, 3000)).astype(np.int32), k, 1000, 2)
    again, _ = native.exchange(X, labels, k, 1, 1)
    assert (again == labels).all()
    for run in range(3):
        means = np.array([X[labels[run] == c].mean(axis=0) for c in range(k)])
        count = np.bincount(labels[run], minlength=k)
        square = cdist(X, means, "sqeuclidean")
        own = labels[run][:, None] == np.arange(k)
        cost = np.where(own, square * count / (count - 1), square * count / (count + 1))
        assert (cost[own] <= cost.min(axis=1) * (1 + 1e-6)).all()
        assert inertia[run] == pytest.approx(square[own].sum())


def test_exchanges_are_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(4)
    X, start = rng.normal(size=(4000, 6)), rng.integers(0, 5, (6, 4000)).astype(np.int32)
    one, many = (native.exchange(X, start, 5, 100, threads) for threads in (1, 4))
    assert (one[0] == many[0]).all()
    assert (one[1] == many[1]).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: native.gaussian_weights(np.zeros((3, 1), "f4"), 1, np.empty((3, 3)), 1),
            TypeError,
            "X must",
        ),
        (lambda: native.gaussian_weights(np.zeros((3, 1)), 1, np.empty((2, 3)), 1), ValueError, r"\(3, 3\)"),
        (
            lambda: native.block_product(np.zeros((2, 4)), np.zeros((3, 3)), 1),
            ValueError,
            r"\(≥1, 3\)",
        ),
        (
            lambda: native.gaussian_weights(np.zeros((3, 1)), -1, np.empty((3, 3)), 1),
            ValueError,
            "scale must",
        ),
        (
            lambda: native.exchange(np.zeros((3, 1)), np.zeros((1, 2), "i4"), 1, 1, 1),
            ValueError,
            "labels must",
        ),
        (
            lambda: native.exchange(np.zeros((3, 1)), np.ones((1, 3), "i4"), 1, 1, 1),
            ValueError,
            r"labels holds 1 to 1\. Pass 0 to 0",
        ),
        (
            lambda: native.exchange(np.zeros((3, 1)), np.zeros((1, 3), "i4"), 1, 0, 1),
            ValueError,
            "max_passes",
        ),
    ],
)
def test_bad_arguments_raise_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
