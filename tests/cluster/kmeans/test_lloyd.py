"""The k-means that the learners use."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs

from linkwise.cluster.kmeans.lloyd import k_means, k_means_runs


def assert_sound(result, X):
    """Compact labels, no empty cluster, labels of the nearest centre, the inertia that is claimed."""
    k = len(result.centers)
    assert result.labels.dtype == np.int32
    assert np.bincount(result.labels, minlength=k).tolist() == np.bincount(result.labels).tolist()
    assert (np.bincount(result.labels) > 0).all()
    squares = ((np.asarray(X, np.float64)[:, None] - result.centers) ** 2).sum(axis=2)
    own = squares[np.arange(len(X)), result.labels]
    assert (own <= squares.min(axis=1) + 1e-9).all()
    assert result.inertia == pytest.approx(own.sum(), rel=1e-9, abs=1e-9)
    assert result.n_iter >= 1


@settings(deadline=None)
@given(
    n=st.integers(1, 30),
    d=st.integers(1, 4),
    k=st.integers(1, 9),
    width=st.integers(0, 3),
    dtype=st.sampled_from([np.float32, np.float64, np.int64]),
    seed=st.integers(0, 10**6),
)
def test_any_rows_give_a_sound_clustering(n, d, k, width, dtype, seed):
    X = np.random.default_rng(seed).integers(0, width + 1, (n, d)).astype(dtype)
    result = k_means(X, k, seed)
    assert_sound(result, X)
    distinct = len(np.unique(X, axis=0))
    assert len(result.centers) <= min(k, distinct)
    if k >= distinct:
        assert result.inertia == 0


@pytest.mark.parametrize("n", [500, 400_000])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_same_seed_same_result_for_any_threads(n, k):
    X = np.random.default_rng(0).normal(size=(n, 3))
    one, two = (k_means(X, k, [3, 1, 4], n_threads=threads) for threads in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    assert_sound(one, X)
    assert len(one.centers) == k


def test_other_seeds_give_other_starts():
    X = np.random.default_rng(0).normal(size=(300, 2))
    assert len({k_means(X, 12, seed, n_init=1).inertia for seed in range(10)}) > 1
    assert k_means(X, 12, 5).inertia != k_means(X, 12, [5, 1]).inertia


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("k", [2, 3])
def test_the_best_known_clustering_is_found(load, k):
    X = load().data
    best = min(KMeans(k, n_init=10, random_state=seed).fit(X).inertia_ for seed in range(3))
    assert k_means(X, k, 0).inertia == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_rows_are_as_well_clustered_as_by_scikit_learn(dtype):
    X, _ = make_blobs(15_000, 6, centers=12, cluster_std=2.0, random_state=0)
    X = X.astype(dtype)
    ours = np.mean([k_means(X, 8, seed).inertia for seed in range(5)])
    theirs = np.mean([KMeans(8, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(5)])
    assert ours <= 1.01 * theirs


def test_many_rows_of_which_few_are_distinct():
    X = np.repeat(np.arange(3.0), 5000)[:, None]
    result = k_means(X, 5, 0)
    assert_sound(result, X)
    assert result.inertia == 0
    assert len(result.centers) == 3


def test_more_starts_are_never_worse():
    X = np.random.default_rng(1).normal(size=(400, 2))
    for seed in range(5):
        assert k_means(X, 15, seed, n_init=20).inertia <= k_means(X, 15, seed, n_init=1).inertia


def test_data_far_from_the_origin_in_float32():
    X, y = make_blobs(2000, 2, centers=[[0, 0], [40, 0]], random_state=0)
    X = (X + 1e5).astype(np.float32)
    labels = k_means(X, 2, 0).labels
    assert (labels == y).all() or (labels == 1 - y).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.zeros((3, 2)), 0, 0), "k must be at least 1, got 0"),
        ((np.zeros(3), 1, 0), r"X must be a matrix .* got shape \(3,\)"),
        ((np.zeros((0, 2)), 1, 0), r"got shape \(0, 2\)"),
    ],
)
def test_bad_arguments_raise_errors(arguments, words):
    with pytest.raises(ValueError, match=words):
        k_means(*arguments)


def test_no_starts_are_refused():
    with pytest.raises(ValueError, match="n_init must be at least 1 or 'auto', got 0"):
        k_means(np.zeros((3, 2)), 1, 0, n_init=0)


def test_runs_are_kept_and_the_best_of_them_is_k_means():
    X = np.random.default_rng(0).normal(size=(300, 3))
    runs = k_means_runs(X, 5, 7, 10)
    best = k_means(X, 5, 7, n_init=10)
    assert runs.labels.shape == (10, 300)
    assert runs.inertia.min() == best.inertia
    assert runs.labels[runs.inertia.argmin()].tolist() == best.labels.tolist()


def test_runs_over_few_distinct_rows_have_few_clusters():
    X = np.repeat(np.arange(3.0)[:, None], 4, axis=0)
    assert set(k_means_runs(X, 8, 0, 2).labels.ravel()) == {0, 1, 2}
    with pytest.raises(ValueError, match="n_runs must be at least 1, got 0"):
        k_means_runs(X, 2, 0, 0)
