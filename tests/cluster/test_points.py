"""Distances, means, starts and plain k-means: sparse rows give what dense ones give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from linkwise.cluster import points
from linkwise.cluster.kmeans.lloyd import k_means


@st.composite
def both(draw):
    """The same rows, dense and sparse: on a coarse grid, most cells 0, some rows equal."""
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(-3, 4, (n, d)) * (rng.random((n, d)) < 0.4) / 2
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    return X, csr_array(X), rng


@settings(deadline=None)
@given(both(), st.integers(1, 6))
def test_distances_and_the_nearest(rows, k):
    X, S, rng = rows
    centers = rng.integers(-3, 4, (k, X.shape[1])) / 2
    np.testing.assert_array_equal(
        points.squared_center_distances(S, centers), points.squared_center_distances(X, centers)
    )
    for one, other in zip(
        points.nearest_centers(S, centers), points.nearest_centers(X, centers), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@settings(deadline=None)
@given(both(), st.integers(1, 6), st.booleans())
def test_sums_means_and_variance(rows, k, weighted):
    X, S, rng = rows
    labels = rng.integers(-1, k, len(X)).astype(np.int32)
    weight = rng.integers(1, 5, len(X)) if weighted else None
    for one, other in zip(
        points.cluster_sums(S, labels, k, weight), points.cluster_sums(X, labels, k, weight), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    centers = rng.normal(size=(k, X.shape[1]))
    found = points.cluster_means(S, labels, centers, weight)
    for c in range(k):
        member = labels == c
        expected = (
            np.average(X[member], axis=0, weights=None if weight is None else weight[member])
            if (member.any())
            else centers[c]
        )
        np.testing.assert_allclose(found[c], expected, atol=1e-6)
    assert points.mean_variance(S, weight) == pytest.approx(points.mean_variance(X, weight), abs=1e-6)


@settings(deadline=None)
@given(both(), st.integers(1, 6), st.integers(0, 3), st.booleans(), st.integers(0, 10**6))
def test_starts_are_distinct_and_given_centres_come_first(rows, k, g, is_sparse, seed):
    X, S, rng = rows
    known = np.unique(rng.integers(-3, 4, (g, X.shape[1])) / 2, axis=0) if g else None
    found = points.draw_starts(S if is_sparse else X, k, seed, 3, given=known)
    n_known = 0 if known is None else len(known[:k])
    for start in found:
        assert len(np.unique(start, axis=0)) == len(start)
        if n_known:
            np.testing.assert_array_equal(start[:n_known], known[:n_known])
        assert {tuple(row) for row in start[n_known:]} <= {tuple(row) for row in X.astype(float)}
    every = np.unique(np.vstack([X.astype(float), *([] if known is None else [known[:k]])]), axis=0)
    assert found.shape[1] == min(k, len(every))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_starts_of_sparse_rows_are_as_good(dtype):
    """k-means++ leaves about as much potential either way."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(400, 6)) + 8 * rng.integers(0, 3, (400, 1))).astype(dtype)
    left = [
        points.nearest_centers(X, start)[1].sum()
        for rows in (X, csr_array(X))
        for start in points.draw_starts(rows, 5, 0, 40)
    ]
    dense, sparse = np.mean(left[:40]), np.mean(left[40:])
    assert sparse == pytest.approx(dense, rel=0.15)


@settings(deadline=None)
@given(both(), st.integers(1, 5), st.booleans(), st.integers(0, 10**6))
def test_one_pass_of_k_means_over_sparse_rows(rows, k, weighted, seed):
    X, S, rng = rows
    weight = rng.integers(1, 4, len(X)) if weighted else None
    start = points.draw_starts(X, k, seed, 2, weight=weight)
    one = points.run_lloyd(X, start, weight=weight, max_iter=1)
    other = points.run_lloyd(S, start, weight=weight, max_iter=1)
    np.testing.assert_allclose(other.centers, one.centers, atol=1e-9)


def test_plain_k_means_of_sparse_rows_in_general_position():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.5)
    start = points.draw_starts(X, 4, 0, 5)
    one, other = points.run_lloyd(X, start), points.run_lloyd(csr_array(X), start)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.n_iter, other.n_iter)
    np.testing.assert_allclose(one.inertia, other.inertia)


def test_the_starts_and_runs_are_those_of_k_means():
    X = np.random.default_rng(0).normal(size=(200, 3))
    runs = points.run_lloyd(X, points.draw_starts(X, 4, 7, 10))
    best = k_means(X, 4, 7)
    np.testing.assert_array_equal(runs.labels[runs.inertia.argmin()], best.labels)


def test_an_empty_cluster_gets_the_farthest_row_that_can_leave():
    labels, squares = np.array([0, 0, 1, 1], np.int32), np.array([1.0, 2.0, 9.0, 3.0])
    each = np.ones(4, np.int64)
    assert points.fill_empty_clusters(labels, squares, 3, each).tolist() == [0, 0, 2, 1]
    assert points.fill_empty_clusters(labels, squares, 2, each) is labels
    assert points.fill_empty_clusters(labels, np.zeros(4), 3, each).tolist() == labels.tolist()


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_variance_of_sparse_rows_far_from_zero(offset):
    X = offset + np.random.default_rng(0).normal(size=(60, 5))
    got = points.mean_variance(csr_array(X))
    np.testing.assert_allclose(got, points.mean_variance(X), rtol=1e-9)


def test_sparse_float32_squares_do_not_overflow():
    X = np.array([[1e22, 0], [1.1e22, 0], [5e22, 1e22]], dtype=np.float32)
    centers = X[:2].astype(np.float64)
    far = points.squared_center_distances(csr_array(X), centers)
    np.testing.assert_allclose(far, points.squared_center_distances(X, centers), rtol=1e-6, atol=1e30)
