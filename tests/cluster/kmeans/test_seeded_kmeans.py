"""Seeds say where centres start; in constrained k-means they stay."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.kmeans.components import build_blocks
from linkwise.cluster.kmeans.seeding import choose_seeds

BOTH = pytest.mark.parametrize("method", [lw.SeededKMeans, lw.ConstrainedKMeans])


def plain(X, seeds, fixed, n_iter=100):
    """Basu, Banerjee and Mooney (2002): seeds are lists of rows, as many as clusters.

    None where a cluster becomes empty: the paper does not say what then.
    """
    centers = np.array([X[rows].mean(axis=0) for rows in seeds])
    for _ in range(n_iter):
        labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        for c, rows in enumerate(seeds):
            labels[rows] = c if fixed else labels[rows]
        if len(np.unique(labels)) < len(seeds):
            return None
        centers = np.array([X[labels == c].mean(axis=0) for c in range(len(seeds))])
    return labels


@pytest.mark.slow
@BOTH
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4))
def test_with_a_seed_for_each_cluster_it_is_the_paper(method, seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) + 3 * rng.integers(0, k, (30, 1))
    known = np.full(30, -1)
    known[: 3 * k] = np.repeat(np.arange(k), 3)
    seeds = [np.flatnonzero(known == c) for c in range(k)]
    expected = plain(X, seeds, fixed=method is lw.ConstrainedKMeans)
    assume(expected is not None)
    model = method(k, tol=0, max_iter=100).fit(X, constraints=lw.Constraints.from_labels(known))
    assert adjusted_rand_score(expected, model.labels_) == 1
    assert model.n_seeds_ == k


def test_wrong_seeds_move_only_where_they_may():
    X = np.r_[np.zeros((10, 1)), np.full((10, 1), 9.0)] + np.linspace(0, 0.1, 20)[:, None]
    known = np.full(20, -1)
    known[[0, 1, 15]] = 0  # row 15 lies with the others
    known[[16, 17, 18]] = 1
    c = lw.Constraints.from_labels(known)
    seeded, fixed = (method(2).fit(X, constraints=c) for method in (lw.SeededKMeans, lw.ConstrainedKMeans))
    assert seeded.labels_[15] == seeded.labels_[16]
    assert fixed.labels_[15] == fixed.labels_[0] != fixed.labels_[16]
    assert (seeded.violations_, fixed.violations_) == (1, 0)


def test_seeds_are_the_classes_that_are_known_even_by_one_row():
    known = [0, -1, 0, 1, -1, 2, 2, 2]
    c = lw.Constraints.from_labels(known)
    blocks = build_blocks(np.arange(8.0)[:, None], c.component)
    seeds = choose_seeds(blocks, c, 3)
    assert [sorted(np.flatnonzero(blocks.number == s)) for s in seeds] == [[5, 6, 7], [0, 2], [3]]


def test_of_too_many_groups_those_far_apart_are_seeds():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [50.0], [50.1], [100.0], [100.1]])
    c = lw.Constraints(8, [(0, 1), (2, 3), (4, 5), (6, 7)])
    model = lw.SeededKMeans(3).fit(X, constraints=c)
    assert model.n_seeds_ == 3
    assert model.labels_.tolist() in (
        [0, 0, 0, 0, 1, 1, 2, 2],
        [0, 0, 0, 0, 2, 2, 1, 1],
        [1, 1, 1, 1, 2, 2, 0, 0],
    )


def test_groups_that_are_no_seeds_move_as_wholes():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [4.0], [8.0]])
    c = lw.Constraints(6, [(0, 1), (2, 3), (4, 5)])
    model = lw.ConstrainedKMeans(2).fit(X, constraints=c)
    assert model.violations_ == 0
    assert model.labels_[4] == model.labels_[5]


@BOTH
def test_missing_seeds_are_drawn(method):
    X, y = make_blobs(90, centers=3, cluster_std=0.5, random_state=4)
    known = np.where((y == 1) & (np.arange(90) < 40), 1, -1)
    model = method(3, random_state=0).fit(X, constraints=lw.Constraints.from_labels(known))
    assert model.n_seeds_ == 1
    assert adjusted_rand_score(y, model.labels_) == 1


@BOTH
def test_given_centres_find_their_seeds(method):
    X, y = make_blobs(90, centers=3, cluster_std=0.5, random_state=4)
    means = np.array([X[y == c].mean(axis=0) for c in (2, 0, 1)])
    c = lw.Constraints.from_labels(np.where(np.arange(90) < 20, y, -1))
    model = method(3, init=means).fit(X, constraints=c)
    np.testing.assert_array_equal(model.labels_, np.array([1, 2, 0])[y])
    with pytest.raises(ValueError, match=r"init has shape \(2, 2\)\. Pass 3 centres of 2"):
        method(3, init=means[:2]).fit(X)


@BOTH
def test_sparse_rows_give_the_same(method):
    X, y = load_iris(return_X_y=True)
    X = np.where(X > 2, X, 0)
    c = lw.Constraints.from_labels(np.where(np.arange(150) % 10 == 0, y, -1))
    dense, sparse = method(3).fit(X, constraints=c), method(3).fit(csr_array(X), constraints=c)
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    assert sparse.inertia_ == pytest.approx(dense.inertia_)


def test_progress_counts_the_starts():
    told = []
    X = np.random.default_rng(0).normal(size=(30, 2))
    c = lw.Constraints(30, [(0, 1)])
    lw.ConstrainedKMeans(3, n_init=4).fit(X, constraints=c, progress=lambda *at: told.append(at))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
