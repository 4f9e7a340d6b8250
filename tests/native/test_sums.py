"""Sums by label and tables of squared distances against their NumPy twins, for any thread count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import native
from reference import kernels as twin


def rows_and_labels(n, d, k, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.integers(-8, 9, (n, d)) / 4).astype(dtype)  # sums are exact in float64
    return X, rng.integers(-1, k, n).astype(np.int32), rng.integers(1, 5, n)


@settings(deadline=None)
@given(
    st.integers(1, 60),
    st.integers(1, 40),
    st.integers(1, 70),
    st.integers(0, 10**6),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
)
def test_sums_equal_their_twin(n, d, k, seed, weighted, dtype):
    X, labels, weight = rows_and_labels(n, d, k, seed, dtype)
    given_weight = weight if weighted else None
    sums, counts = native.label_sums(X, labels, k, given_weight, 1)
    expected, expected_counts = twin.label_sums(X, labels, k, given_weight)
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(counts, expected_counts)


@pytest.mark.parametrize("k", [1, 7, 40_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_many_rows(k, dtype):
    X, labels, weight = rows_and_labels(50_000, 3, k, 0, dtype)
    sums, counts = native.label_sums(X, labels, k, weight, 2)
    for a in range(3):
        np.testing.assert_array_equal(
            sums[:, a],
            np.bincount(labels[labels >= 0], weight[labels >= 0] * X[labels >= 0, a], minlength=k),
        )
    np.testing.assert_array_equal(counts, np.bincount(labels[labels >= 0], weight[labels >= 0], minlength=k))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_sums_have_the_same_bits_for_any_number_of_threads(threads):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30_000, 40)), rng.integers(0, 9, 30_000).astype(np.int32)
    one, _ = native.label_sums(X, labels, 9, None, 1)
    other, _ = native.label_sums(X, labels, 9, None, threads)
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("n", [1, 10, 100_000])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_counted_by_their_labels_in_two_clusterings(n, threads):
    rng = np.random.default_rng(n)
    one, other = rng.integers(-1, 5, n).astype(np.int32), rng.integers(7, 20, n).astype(np.int32)
    found = native.shared_rows(one, other, 100, threads)
    assert found.low == (one.min(), other.min())
    expected = np.zeros(found.table.shape, dtype=np.int64)
    np.add.at(expected, (one - found.low[0], other - found.low[1]), 1)
    np.testing.assert_array_equal(found.table, expected)
    assert native.shared_rows(one, other, expected.size - 1, threads) is None


def test_labels_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="other must have shape"):
        native.shared_rows(np.zeros(3, np.int32), np.zeros(2, np.int32), 9, 1)


@settings(deadline=None)
@given(st.integers(1, 80), st.integers(1, 40), st.integers(1, 140), st.integers(0, 10**6))
def test_a_table_of_distances_equals_its_twin(n, d, k, seed):
    X, _, _ = rows_and_labels(n, d, 1, seed)
    centers = np.random.default_rng(seed).integers(-8, 9, (k, d)) / 4
    np.testing.assert_array_equal(native.squared_distances(X, centers, 1), twin.squared_distances(X, centers))


def test_the_nearest_of_a_table_is_the_nearest_point():
    rng = np.random.default_rng(0)
    X, centers = rng.normal(size=(5000, 37)).astype(np.float32), rng.normal(size=(70, 37))
    table = native.squared_distances(X, centers, 2)
    labels, squares = native.nearest_points(X, centers, 1)
    assert table.argmin(axis=1).tolist() == labels.tolist()
    np.testing.assert_array_equal(table.min(axis=1), squares)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda X, labels: native.label_sums(X, labels + 9, 2, None, 1),
            ValueError,
            "labels must be below k = 2",
        ),
        (
            lambda X, labels: native.label_sums(X, labels[1:], 2, None, 1),
            ValueError,
            "labels must have shape",
        ),
        (
            lambda X, labels: native.label_sums(X, labels, 2, np.ones(4), 1),
            TypeError,
            "weight must be .*int64",
        ),
        (lambda X, labels: native.label_sums(X, labels, 0, None, 1), ValueError, "k must be at least 1"),
        (
            lambda X, labels: native.squared_distances(X, np.zeros((2, 5)), 1),
            ValueError,
            r"points .*\(≥1, 3\)",
        ),
    ],
)
def test_bad_arguments_raise_errors(call, error, words):
    with pytest.raises(error, match=words):
        call(np.zeros((4, 3)), np.zeros(4, np.int32))


# ---------------------------------------------------------------- starts beside given centres
@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6))
def test_starts_beside_given_centres_equal_their_twin(n, d, k, g, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)) / 4
    given_centers = rng.integers(-2, 3, (g, d)) / 4
    rows = native.kmeans_plusplus(X, k, np.array([seed], np.uint64), 3, 1, None, given_centers)[0]
    assert rows.tolist() == twin.kmeans_plusplus(X, k, seed, 3, given_centers).tolist()
    kept = X[rows[rows >= 0]]
    assert len(np.unique(np.vstack([kept, given_centers]), axis=0)) == len(kept) + len(
        np.unique(given_centers, axis=0)
    )


def test_given_centres_must_fit_the_rows():
    with pytest.raises(ValueError, match=r"given must have shape \(≥1, 3\)"):
        native.kmeans_plusplus(np.zeros((4, 3)), 2, np.zeros(1, np.uint64), 1, 1, None, np.zeros((2, 2)))
