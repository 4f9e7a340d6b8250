"""PCKMeans, and what it shares with MPCKMeans: starts, prices, the way back to plain k-means."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster import points
from linkwise.cluster.kmeans.penalised import run_plain_k_means
from linkwise.cluster.kmeans.starts import draw_soft_starts, neighbourhood_means, select_farthest_first
from linkwise.errors import ConstraintWarning
from linkwise.rng import rng_at
from reference import pckmeans as paper

IRIS, SPECIES = load_iris(return_X_y=True)


def weighted(y, n, rng):
    """Constraints of a random kind and weight between random rows."""
    c = lw.Constraints.sample(y, n, random_state=rng)
    must, cannot = (rng.uniform(0.2, 3, len(p)) for p in (c.must_link, c.cannot_link))
    return lw.Constraints(
        len(y), c.must_link, c.cannot_link, must_link_weight=must, cannot_link_weight=cannot
    )


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([0.1, 1.0, 30.0]))
@settings(max_examples=40)
def test_it_does_what_the_paper_says(seed, k, w):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    c = weighted(rng.integers(0, 3, 30), 15, rng)
    init = X[rng.choice(30, k, replace=False)]
    wanted = paper.pckmeans(X, init, c, w, rng_at(seed, 0), 100)
    assume(wanted is not None)
    labels, centers, objectives = wanted
    assert (np.diff(objectives) <= 1e-9).all()
    model = lw.PCKMeans(k, w=w, init=init, tol=0, random_state=seed).fit(X, constraints=c)
    assume(not model.fell_back_)  # plain k-means satisfied more
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-9)
    assert model.objective_ == pytest.approx(objectives[-1])


@pytest.mark.parametrize("w", [0.05, "scale", 100.0])
def test_no_iteration_raises_the_objective(w):
    X, y = make_blobs(400, centers=6, cluster_std=3.0, random_state=0)
    c = lw.Constraints.sample(y, 150, random_state=0)
    start = points.draw_starts(X, 6, 1, 1)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = [
            lw.PCKMeans(6, w=w, init=start, tol=0, max_iter=i, random_state=0).fit(X, constraints=c)
            for i in range(1, 25)
        ]
    objectives = np.array([m.objective_ for m in models if not m.fell_back_])
    assert len(objectives) > 5
    assert objectives[-1] < objectives[0]
    assert (np.diff(objectives) <= 1e-9 * objectives[0]).all()


@pytest.mark.parametrize(("make", "gain"), [(lw.PCKMeans, 0.0), (lw.MPCKMeans, 0.05)])
def test_constraints_help_other_rows_too(make, gain):
    reached, plain = [], []
    for seed in range(5):
        c = lw.Constraints.sample(SPECIES, 80, random_state=seed)
        others = np.ones(len(IRIS), bool)
        others[np.r_[c.must_link.ravel(), c.cannot_link.ravel()]] = False
        model = make(3, random_state=seed).fit(IRIS, constraints=c)
        reached.append(adjusted_rand_score(SPECIES[others], model.labels_[others]))
        plain.append(
            adjusted_rand_score(SPECIES[others], make(3, random_state=seed).fit_predict(IRIS)[others])
        )
        assert model.violations_ <= 1
    assert np.mean(reached) > np.mean(plain) + gain


@pytest.mark.slow
@pytest.mark.parametrize("make", [lw.PCKMeans, lw.MPCKMeans])
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([0.0, 1e-3, 1.0]))
@settings(max_examples=25)
def test_never_less_is_satisfied_than_by_plain_k_means(make, seed, n, w):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    c = weighted(rng.integers(0, 4, 60), n, rng)
    total = c.must_link_weight.sum() + c.cannot_link_weight.sum()

    def weight(model):
        broken = c.find_violations(model.labels_)
        return total - c.must_link_weight[broken[0]].sum() - c.cannot_link_weight[broken[1]].sum()

    plain = make(4, random_state=seed, n_init=3).fit(X)
    model = make(4, w=w, random_state=seed, n_init=3).fit(X, constraints=c)
    assert weight(model) >= weight(plain) - 1e-9
    if model.fell_back_:
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_it_falls_back_and_says_so():
    # with hardly a price, the neighbourhood's start and the constraints end where k-means++ does not
    X, y = make_blobs(200, centers=5, cluster_std=2.5, random_state=4)
    found = [
        lw.PCKMeans(5, w=1e-9, n_init=2, random_state=seed).fit(
            X, constraints=lw.Constraints.sample(y, 40, random_state=seed)
        )
        for seed in range(20)
    ]
    assert {model.fell_back_ for model in found} == {True, False}


def test_the_unit_of_the_price():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    c = lw.Constraints(4, must_link=[(1, 2)])
    apart, together = (lw.PCKMeans(2, w=w, init=[[0.5], [10.5]]).fit(X, constraints=c) for w in (50, 100))
    assert apart.labels_.tolist() == [0, 0, 1, 1]
    assert apart.objective_ == pytest.approx(1 + 50)
    assert together.violations_ == 0
    assert lw.PCKMeans(2, random_state=0).fit(X, constraints=c).w_ == pytest.approx(X.var())
    twice = lw.Constraints(4, must_link=[(1, 2)], must_link_weight=[2.0])
    assert lw.PCKMeans(2, w=50, init=[[0.5], [10.5]]).fit(X, constraints=twice).violations_ == 0


def test_contradictions_are_weighed():
    X = np.array([[0.0], [0.5], [4.0], [4.5]])
    for heavier, wanted in ((5.0, True), (0.2, False)):
        with pytest.warns(ConstraintWarning, match="contradict"):
            c = lw.Constraints(4, [(1, 2)], [(1, 2)], must_link_weight=[heavier], on_conflict="keep")
        labels = lw.PCKMeans(2, random_state=0).fit(X, constraints=c).labels_
        assert (labels[1] == labels[2]) == wanted


@pytest.mark.parametrize("make", [lw.PCKMeans, lw.MPCKMeans])
@pytest.mark.parametrize("factor", [2.0**-480, 2.0**-20, 2.0**20, 2.0**480])
def test_the_unit_of_the_features_decides_nothing(make, factor):
    c = lw.Constraints.sample(SPECIES, 40, random_state=1)
    ours, scaled = (make(3, random_state=0).fit(IRIS * f, constraints=c) for f in (1, factor))
    np.testing.assert_array_equal(ours.labels_, scaled.labels_)


def test_sparse_rows_as_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 20)) * (rng.random((300, 20)) < 0.2) * 1.0
    c = lw.Constraints.sample(rng.integers(0, 3, 300), 40, random_state=0)
    dense, sparse = (
        lw.PCKMeans(3, init=X[:3], random_state=0).fit(A, constraints=c) for A in (X, csr_array(X))
    )
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(csr_array(X)))
    drawn = lw.PCKMeans(3, random_state=0).fit(csr_array(X), constraints=c)
    assert drawn.n_clusters_ == 3


@pytest.mark.parametrize("make", [lw.PCKMeans, lw.MPCKMeans])
def test_where_a_row_stands_decides_nothing(make):
    X, y = make_blobs(300, centers=4, cluster_std=3.0, random_state=2)
    c = lw.Constraints.sample(y, 80, random_state=0)
    order = np.random.default_rng(0).permutation(300)
    ours = make(4, init=X[:4], random_state=0).fit(X, constraints=c)
    moved = make(4, init=X[:4], random_state=0).fit(X[order], constraints=c[order])
    np.testing.assert_array_equal(ours.labels_[order], moved.labels_)


@pytest.mark.parametrize("make", [lw.PCKMeans, lw.MPCKMeans])
def test_the_same_for_any_number_of_threads(make, monkeypatch):
    X, y = make_blobs(30_000, n_features=20, centers=5, cluster_std=6.0, random_state=2)
    c = lw.Constraints.sample(y, 200, random_state=0)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.append(make(5, n_init=2, random_state=0).fit(X.astype(np.float32), constraints=c))
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)
    np.testing.assert_array_equal(found[0].cluster_centers_, found[1].cluster_centers_)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lw.PCKMeans, lw.MPCKMeans])
def test_a_must_link_chain_through_all_of_many_rows(make):
    n = 100_000
    X = np.random.default_rng(0).normal(size=(n, 2))
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    model = make(3, w=1e6, n_init=1, random_state=0).fit(X, constraints=lw.Constraints(n, chain[: n // 2]))
    assert model.violations_ == 0
    assert model.n_clusters_ == 3


def test_an_empty_cluster_starts_anew_at_the_worst_free_row():
    X = np.array([[0.0], [1.0], [2.0], [20.0], [21.0], [90.0]])
    c = lw.Constraints(6, must_link=[(3, 5)], cannot_link=[(0, 2)])
    model = lw.PCKMeans(4, w=1e6, init=[[0.0], [2.0], [30.0], [1e4]], random_state=0).fit(X, constraints=c)
    assert model.n_clusters_ == 4
    assert model.labels_[3] == model.labels_[5]
    assert len(model.cluster_centers_) == 4


# ---------------------------------------------------------------- starts
def test_neighbourhoods_are_the_first_start_and_the_others_are_drawn():
    X = np.arange(20.0).reshape(10, 2)
    c = lw.Constraints(10, must_link=[(0, 1), (1, 2), (7, 9)], cannot_link=[(3, 4)])
    first, second, third = draw_soft_starts(X, c, 3, 3, 0, "neighbourhoods", 3)
    np.testing.assert_array_equal(first[:2], [X[:3].mean(axis=0), X[[7, 9]].mean(axis=0)])
    np.testing.assert_array_equal([second, third], points.draw_starts(X, 3, 0, 3)[:2])
    np.testing.assert_array_equal(
        draw_soft_starts(X, lw.Constraints(10), 3, 3, 0, "neighbourhoods", 2), points.draw_starts(X, 3, 0, 2)
    )


def test_of_more_neighbourhoods_than_clusters_large_and_far_ones_are_taken():
    X = np.array([0.0, 1, 0, 1, 5, 5, 9, 9, 30, 31]).reshape(-1, 1)
    c = lw.Constraints(10, must_link=[(0, 1), (1, 2), (2, 3), (4, 5), (6, 7), (8, 9)])
    assert neighbourhood_means(X, c, 3).ravel().tolist() == [0.5, 30.5, 9.0]
    centers = np.array([[0.0], [0.0], [1.0]])
    assert select_farthest_first(centers, np.array([2.0, 3.0, 1.0]), 3).tolist() == [1, 2]


@pytest.mark.parametrize("make", [lw.PCKMeans, lw.MPCKMeans])
@pytest.mark.parametrize(
    ("init", "words"),
    [
        (np.zeros((2, 4)), "Pass 3 centres of 4 finite features each"),
        (np.zeros((3, 2)), "Pass 3 centres of 4 finite features each"),
        (np.full((3, 4), np.nan), "Pass 3 centres of 4 finite features each"),
        ("random", "The 'init' parameter"),
    ],
)
def test_an_init_of_the_wrong_shape_raises_an_error(make, init, words):
    with pytest.raises(ValueError, match=words):
        make(3, init=init).fit(IRIS)


@pytest.mark.parametrize("make", [lw.PCKMeans, lw.MPCKMeans])
def test_progress_counts_starts(make):
    seen = []
    c = lw.Constraints.sample(SPECIES, 10, random_state=0)
    make(3, n_init=3).fit(IRIS, constraints=c, progress=lambda done, planned: seen.append((done, planned)))
    planned = 3 if make is lw.PCKMeans else 6  # MPCKMeans makes each under two metrics
    assert seen == [(done, planned) for done in range(1, planned + 1)]


def test_starts_may_have_fewer_centres_where_rows_are_alike_up_to_rounding():
    """Rows that differ, but not in the squares of their distances to the mean of a neighbourhood."""
    X = 1e9 + np.array([[0.0], [1e-8], [1.0], [2.0]]) * 1e-6
    starts = [np.array([[1e9], [1e9 + 1]]), np.array([[1e9]])]
    run = run_plain_k_means(X, starts, 10, 1e-4)
    assert len(run.labels) == 4
    alone = [run_plain_k_means(X, [start], 10, 1e-4).objective for start in starts]
    assert run.objective == min(alone)


@pytest.mark.slow
def test_the_price_of_sparse_rows_far_from_zero():
    X = 1e8 + 3 + np.random.default_rng(0).normal(size=(60, 5))
    c = lw.Constraints.sample(np.arange(60) % 2, 20, random_state=0)
    dense, sparse = (lw.PCKMeans(2, random_state=0).fit(rows, constraints=c) for rows in (X, csr_array(X)))
    np.testing.assert_allclose(sparse.w_, dense.w_, rtol=1e-9)
