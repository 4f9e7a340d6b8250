"""PCP against the program on all of K, and what its parts promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.similarity import pcp
from linkwise.cluster.similarity.spaces import pairwise_squares, scale_locally
from reference import pcp as plain
from reference.bckm import kernel_k_means

X, y = load_iris(return_X_y=True)


def weights(seed, n):
    """A graph of rows in the plane."""
    rows = np.random.default_rng(seed).normal(size=(n, 2))
    W = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2))
    np.fill_diagonal(W, 0)
    return W


@st.composite
def programs(draw):
    n, seed = draw(st.integers(4, 12)), draw(st.integers(0, 10**6))
    y = np.random.default_rng(seed).integers(0, 3, n)
    return weights(seed, n), lw.Constraints.sample(y, draw(st.integers(1, n)), seed)


@settings(max_examples=6)
@given(programs())
def test_it_is_the_least(program):
    W, c = program
    similar = W + np.eye(len(W))
    model = lw.PCP(2, kernel="precomputed", tol=1e-5, random_state=0).fit(similar, constraints=c)
    L = plain.laplacian(W)
    joined = plain.joined(L, c.component)
    least = float((joined * plain.solved(joined, c.component_cannot_link)).sum())
    mine = model.embedding_ @ model.embedding_.T
    assert model.objective_ == pytest.approx(float((L * mine).sum()))
    assert model.objective_ == pytest.approx(least, abs=2e-3)
    assert model.bound_ <= least + 1e-3
    np.testing.assert_allclose(mine.diagonal(), 1)
    np.testing.assert_allclose(mine[tuple(c.must_link.T)], 1)
    np.testing.assert_allclose(mine[tuple(c.cannot_link.T)], 0, atol=1e-5)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_bound_holds_whatever_the_multipliers(seed):
    rng = np.random.default_rng(seed)
    C, apart = weights(seed, 9), np.array([[0, 1], [2, 5], [1, 7]])
    V = rng.normal(size=(9, 4))
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    most = pcp._bound(C, pcp.PairPattern.from_pairs(apart, 9), rng.normal(size=3), V)[1]
    K = plain.solved(-C, apart, 500)
    assert most >= float((C * K).sum()) - 1e-2


def test_the_slope_is_that_of_the_loss(monkeypatch):
    """What L-BFGS is given, by finite differences."""
    rng = np.random.default_rng(0)
    C, apart = weights(0, 8), np.array([[0, 1], [2, 5], [1, 7]])

    def checked(loss, u, **_):
        assert check_grad(lambda v: loss(v)[0], lambda v: loss(v)[1], u) < 1e-5
        raise InterruptedError

    monkeypatch.setattr(pcp, "minimize", checked)
    with pytest.raises(InterruptedError):
        pcp._minimize(
            C, pcp.PairPattern.from_pairs(apart, 8), rng.normal(size=3), 2.0, rng.normal(size=(8, 3))
        )


def test_kernel_k_means_on_all_of_it_moves_nothing():
    c = lw.Constraints.sample(y, 110, 0)
    model = lw.PCP(3, random_state=0).fit(X, constraints=c)
    labels, _ = kernel_k_means(model.embedding_ @ model.embedding_.T, model.labels_)
    np.testing.assert_array_equal(labels, model.labels_)
    assert not model.fell_back_


def test_pairs_reach_rows_that_nobody_named():
    moons, half = make_moons(200, noise=0.1, random_state=0)
    c = lw.Constraints.sample(half, 150, 0)
    named = np.unique(np.vstack([c.must_link, c.cannot_link]))
    free = np.setdiff1d(np.arange(200), named)
    model = lw.PCP(2, random_state=0).fit(moons, constraints=c)
    assert len(free) > 30
    assert adjusted_rand_score(half[free], model.labels_[free]) > 0.9


def test_without_pairs_it_is_spectral_clustering():
    moons, _ = make_moons(200, noise=0.05, random_state=0)
    W = scale_locally(pairwise_squares(moons))
    found = lw.PCP(2, random_state=0).fit(moons)
    given = lw.PCP(2, kernel="precomputed", random_state=0).fit(W)
    theirs = SpectralClustering(2, affinity="precomputed", random_state=0).fit_predict(W)
    np.testing.assert_array_equal(found.labels_, given.labels_)
    assert adjusted_rand_score(theirs, found.labels_) > 0.9
    assert (found.n_iter_, found.bound_) == (1, 0.0)


def test_many_vectors_that_are_all_apart_get_as_many_columns():
    """As many components as 30 of which every two are apart need 30 columns."""
    n = 30
    i, j = np.triu_indices(n, 1)
    c = lw.Constraints(n, (), np.column_stack([i, j]))
    model = lw.PCP(3, random_state=0).fit(np.random.default_rng(0).normal(size=(n, 2)), constraints=c)
    assert model.embedding_.shape[1] == n
    np.testing.assert_allclose(model.embedding_ @ model.embedding_.T, np.eye(n), atol=2e-3)


def test_copies_are_one_vector_unless_a_cannot_link_parts_them():
    copy = np.array([0, 1, 0, 1, 1, 5, 0])
    joined = lw.Constraints(7, [(3, 5)], [(0, 3)])
    assert pcp.number_components(copy, joined).tolist() == [0, 1, 0, 1, 1, 1, 0]
    parted = lw.Constraints(7, [(3, 5)], [(0, 5), (1, 3)])
    assert pcp.number_components(copy, parted).tolist() == [0, 1, 0, 2, 3, 2, 0]


@pytest.mark.parametrize("unit", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n_pairs", [30, 300])
def test_piles_of_identical_rows_stay_together(unit, n_pairs):
    """Few rows of a pile have constraints, and the others have the same place."""
    pile = np.repeat(np.arange(3), 70)
    rows = unit * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[pile]
    model = lw.PCP(3, random_state=0).fit(rows, constraints=lw.Constraints.sample(pile, n_pairs, 0))
    assert adjusted_rand_score(pile, model.labels_) == 1


def test_ending_before_the_optimum_warns():
    c = lw.Constraints.sample(y, 110, 0)
    with pytest.warns(ConvergenceWarning, match=r"after 1 multipliers\. Allow more with max_iter"):
        lw.PCP(3, max_iter=1, random_state=0).fit(X, constraints=c)


@pytest.mark.parametrize(
    ("W", "words"),
    [
        ([[0.0, 1.0], [1.0, 0.0]], "too large"),
        ([[1.0, -0.5], [-0.5, 1.0]], r"X\[0, 1\] = -0.5, but the weights of a graph are 0 or more"),
        ([[1.0, 0.2], [0.1, 1.0]], "symmetric"),
    ],
)
def test_matrices_that_are_not_graphs_raise_errors(W, words):
    with pytest.raises(ValueError, match=words):
        lw.PCP(2, kernel="precomputed").fit(W)


def test_too_many_components_raise_an_error(monkeypatch):
    monkeypatch.setattr(pcp, "MOST", 10)
    rows = np.arange(12.0)[:, None]
    with pytest.raises(lw.DataError, match=r"at most 10 .*there are 12\. .* BCKM"):
        lw.PCP(2).fit(rows)
    assert lw.PCP(2).fit(rows, constraints=lw.Constraints(12, [(0, 1), (2, 3)])).n_clusters_ == 2
    monkeypatch.setattr(pcp, "MOST_SIMILARITIES", 11)
    with pytest.raises(lw.DataError, match=r"graph of all rows, and 12 are too many"):
        lw.PCP(2).fit(csr_array(rows))
