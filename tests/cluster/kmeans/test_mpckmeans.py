"""MPCKMeans: each step against the formulas, and what it promises."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.kmeans import icm, mpck_program, mpckmeans, penalised
from linkwise.cluster.kmeans import metric_learning as ours
from linkwise.cluster.kmeans import metrics as learned
from linkwise.cluster.kmeans.components import add_implied
from linkwise.errors import ConstraintWarning
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at
from reference import mpckmeans as paper

IRIS, SPECIES = load_iris(return_X_y=True)
KINDS = [(kind, per_cluster) for kind in ("full", "diagonal") for per_cluster in (False, True)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """As in fit: the parts are called by themselves here."""
    with one_blas_thread():
        yield


each_kind = pytest.mark.parametrize(("kind", "per_cluster"), KINDS)


def make_problem(X, constraints, metrics, w, shrinkage, variance):
    named = icm.find_named_rows(X, constraints)
    return ours.make_metric_problem(X, named, metrics, w, shrinkage, np.array([], int), variance)


def a_problem(seed, kind, per_cluster, n=25, d=3, k=3):
    """Rows, a labelling, constraints that it partly breaks, and metrics that are no plain ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + 5
    c = lw.Constraints.sample(rng.integers(0, 3, n), 14, random_state=seed)
    c = lw.Constraints(n, c.must_link, c.cannot_link, must_link_weight=rng.uniform(0.5, 2, len(c.must_link)))
    half = rng.normal(size=(k if per_cluster else 1, d, d))
    covariance = half @ np.swapaxes(half, 1, 2) + 0.3 * np.eye(d)
    given = learned.invert_covariances(
        covariance if kind == "full" else np.stack([np.diag(C) for C in covariance])
    )
    problem = make_problem(X, c, given, 0.8, 0.2, 1.5)
    labels = np.r_[np.arange(k), rng.integers(0, k, n - k)].astype(np.int32)
    matrices = list(given.matrices) if per_cluster else [given.matrices[0]] * k
    return problem, given, matrices, labels, c, rng


@each_kind
@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_costs_and_prices_are_those_of_the_paper(kind, per_cluster, seed):
    problem, given, matrices, _, c, rng = a_problem(seed, kind, per_cluster)
    X, centers = problem.X, rng.normal(size=(3, 3)) + 5
    wanted = paper.costs(X, centers, matrices)
    np.testing.assert_array_equal(learned.nearest_under_metrics(X, centers, given), wanted.argmin(axis=1))
    found = paper.squares_under(X, centers, given.maps) - given.log_det
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    narrow = paper.squares_under(X, centers, learned.reduce_metrics(given, centers)) - given.log_det
    np.testing.assert_allclose(narrow - narrow[:, :1], wanted - wanted[:, :1], rtol=1e-8, atol=1e-8)
    prices = ours._prices(problem, given, learned.farthest_pairs(problem.extremes, given))
    for p, ((i, j), weight) in enumerate(zip(c.must_link, c.must_link_weight, strict=True)):
        row = np.broadcast_to(prices.must[p], 3)
        price = paper.price_must(X[i], X[j], matrices[0], matrices[2])
        assert (row[0] + row[2]) / 2 == pytest.approx(0.8 * weight * price)
    for p, (i, j) in enumerate(c.cannot_link):
        price = paper.price_cannot(X[i], X[j], matrices[1], problem.extremes)
        assert np.broadcast_to(prices.cannot[p], 3)[1] == pytest.approx(0.8 * price)


@each_kind
@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_the_metrics_are_the_closed_form(kind, per_cluster, seed):
    problem, given, matrices, labels, c, _ = a_problem(seed, kind, per_cluster)
    X = problem.X
    centers = np.stack([X[labels == h].mean(axis=0) for h in range(3)])
    sums = np.stack([(X[labels == h] - problem.origin).sum(axis=0) for h in range(3)])
    farthest = learned.farthest_pairs(problem.extremes, given)
    prices = ours._prices(problem, given, farthest)
    clusters = ours.MetricSums(labels, sums, np.bincount(labels), prices, farthest)
    found = ours._update_metrics(problem, clusters, centers, given)
    rows = (problem.prior_rows, 1.5, problem.extremes)
    wanted = paper.metrics(X, labels, centers, matrices, c, 0.8, *rows)
    for h, A in enumerate(wanted):
        np.testing.assert_allclose(found.matrices[h if per_cluster else 0], A, rtol=1e-7)
        assert found.log_det[h if per_cluster else 0] == pytest.approx(paper.log_det(A))
    # less than at any other metric nearby
    at_best = ours._objective(problem, clusters, centers, found)
    if not c.find_violations(labels)[0].any() and not c.find_violations(labels)[1].any():
        assert at_best <= ours._objective(problem, clusters, centers, given) + 1e-9


@each_kind
def test_no_iteration_raises_the_objective_of_must_links(kind, per_cluster):
    # for cannot-links the farthest pair changes with the metric
    X, y = make_blobs(300, n_features=4, centers=4, cluster_std=4.0, random_state=1)
    sampled = lw.Constraints.sample(y, 60, random_state=0)
    c = lw.Constraints(300, sampled.must_link)
    variance = float(X.var(axis=0).mean())
    plain = learned.spherical_metrics(kind, 4, 4 if per_cluster else 1, variance)
    problem = make_problem(X, c, plain, 0.3, 0.1, variance)
    start = penalised.run_plain_k_means(X, [X[:4]], 3, 0.0)
    found = [
        ours.learn_metrics(problem, start, plain, (i, 0.0), rng_at(0))[0].objective for i in range(1, 20)
    ]
    assert found[-1] < found[0]
    assert (np.diff(found) <= 1e-9 * abs(found[0])).all()


@each_kind
def test_without_constraints_it_is_plain_k_means(kind, per_cluster):
    model = lw.MPCKMeans(3, metric=kind, per_cluster=per_cluster, random_state=0).fit(IRIS)
    np.testing.assert_array_equal(model.labels_, lw.PCKMeans(3, random_state=0).fit(IRIS).labels_)
    shape = (3 if per_cluster else 1, 4, 4) if kind == "full" else (3 if per_cluster else 1, 4)
    assert model.metrics_.shape == shape
    plain = np.eye(4) if kind == "full" else np.ones(4)
    np.testing.assert_allclose(
        model.metrics_ / model.metrics_.max(), np.broadcast_to(plain, shape), atol=1e-12
    )


@each_kind
def test_predict_gives_free_rows_their_labels(kind, per_cluster):
    c = lw.Constraints.sample(SPECIES, 60, random_state=2)
    model = lw.MPCKMeans(3, metric=kind, per_cluster=per_cluster, random_state=0).fit(IRIS, constraints=c)
    free = np.ones(len(IRIS), bool)
    free[np.r_[c.must_link.ravel(), c.cannot_link.ravel()]] = False
    np.testing.assert_array_equal(model.predict(IRIS)[free], model.labels_[free])
    np.testing.assert_array_equal(model.predict(IRIS[5:9]), model.predict(IRIS)[5:9])


def test_a_feature_without_meaning_loses_its_weight():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = np.column_stack([y + 0.15 * rng.normal(size=200), 1.5 * rng.normal(size=200)])
    c = lw.Constraints.sample(y, 40, random_state=0)
    assert adjusted_rand_score(y, lw.PCKMeans(2, random_state=0).fit(X, constraints=c).labels_) < 0.9
    for metric in ("full", "diagonal"):
        model = lw.MPCKMeans(2, metric=metric, random_state=0).fit(X, constraints=c)
        assert adjusted_rand_score(y, model.labels_) > 0.95
        weight = np.diag(model.metrics_[0]) if metric == "full" else model.metrics_[0]
        assert weight[0] > 5 * weight[1]


@each_kind
@pytest.mark.parametrize("k", [1, 2, 5])
def test_few_rows_many_features_and_constant_ones(kind, per_cluster, k):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(8, 30)), np.ones((8, 2))])
    c = lw.Constraints(8, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2)])
    model = lw.MPCKMeans(k, metric=kind, per_cluster=per_cluster, random_state=0).fit(X, constraints=c)
    assert np.isfinite(model.metrics_).all()
    assert model.violations_ == (1 if k == 1 else 0)


@each_kind
def test_identical_rows_keep_the_plain_metric(kind, per_cluster):
    c = lw.Constraints(4, must_link=[(0, 1)])
    model = lw.MPCKMeans(1, metric=kind, per_cluster=per_cluster).fit(np.full((4, 2), 3.0), constraints=c)
    assert model.labels_.tolist() == [0] * 4


def test_sparse_rows_are_refused_in_words():
    with pytest.raises(TypeError, match="dense data is required by MPCKMeans"):
        lw.MPCKMeans(2).fit(csr_array(IRIS))


def test_the_farthest_pair_and_the_extremes():
    X = np.random.default_rng(0).normal(size=(50, 3))
    rows = learned.extreme_rows(X)
    assert len(rows) <= 6
    assert {tuple(row) for row in rows} >= {tuple(X[X[:, a].argmax()]) for a in range(3)}
    assert len(learned.extreme_rows(np.random.default_rng(0).normal(size=(500, 100)))) <= 128
    metric = learned.spherical_metrics("full", 3, 1, 1.0)
    found = learned.farthest_pairs(rows, metric)[0]
    a, b = paper.farthest_pair(rows, np.eye(3))
    np.testing.assert_allclose(np.abs(found), np.abs(a - b))


# ---------------------------------------------------------------- as printed
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in range(2, 12))]
)
def test_all_of_it_is_as_printed(seed):
    """Figure 1 of the paper, from given centres: the same labels after every number of iterations."""
    rng = np.random.default_rng(seed)
    y = np.arange(24) % 3
    X = rng.normal(size=(24, 2)) * [1.0, 3.0] + np.array([[0, 0], [4, 0], [2, 3]])[y]
    c = lw.Constraints.sample(y, 8, seed)
    first = X[:3]
    implied = add_implied(c)
    named = icm.find_named_rows(X, implied).rows
    for max_iter in (1, 2, 5, 40):
        model = lw.MPCKMeans.paper(3, init=first, max_iter=max_iter, tol=0.0, random_state=seed)
        found = model.fit(X, constraints=c).labels_
        variance = float(X.var(axis=0).mean())
        expected = paper.mpckmeans(X, first, implied, 1.0, rng_at(seed, 0), named, variance, max_iter, 0.0)
        assert adjusted_rand_score(expected, found) == 1
        assert not model.fell_back_


def test_the_preset_says_what_it_changes():
    changed = lw.MPCKMeans.paper(3).get_params().items() - lw.MPCKMeans(3).get_params().items()
    assert dict(changed) == {
        "metric": "diagonal",
        "per_cluster": True,
        "shrinkage": 0.0,
        "must_link_start": False,
        "settle_first": False,
        "component_moves": False,
        "farthest": "all",
        "implied": True,
        "fallback": False,
        "n_init": 1,
    }


@each_kind
def test_without_a_prior_no_covariance_is_singular(kind, per_cluster):
    X = np.repeat(np.arange(4.0)[:, None], 3, axis=1) * [1.0, 2.0, 0.0]
    c = lw.Constraints(4, [(0, 1)], [(1, 2)])
    model = lw.MPCKMeans(3, metric=kind, per_cluster=per_cluster, shrinkage=0, random_state=0)
    assert np.isfinite(model.fit(X, constraints=c).metrics_).all()


def test_each_addition_can_be_left_out():
    c = lw.Constraints.sample(SPECIES, 40, 3)
    for setting, n_runs in (({}, 4), ({"must_link_start": False}, 2)):
        done = set()
        model = lw.MPCKMeans(3, n_init=2, **setting)
        model.fit(IRIS, constraints=c, progress=lambda *now, done=done: done.add(now))
        assert max(done) == (n_runs, n_runs)
    c = lw.Constraints.sample(SPECIES, 20, 3)
    default = lw.MPCKMeans.paper(3, fallback=True, w=1e-3, random_state=0).fit(IRIS, constraints=c)
    without = lw.MPCKMeans.paper(3, w=1e-3, random_state=0).fit(IRIS, constraints=c)
    assert default.fell_back_
    assert not without.fell_back_
    assert without.violations_ > default.violations_


@given(st.integers(0, 10**6), st.integers(1, 30))
@settings(max_examples=40)
def test_implied_constraints_are_the_closure(seed, n_pairs):
    rng = np.random.default_rng(seed)
    c = lw.Constraints.sample(rng.integers(0, 3, 12), n_pairs, seed)
    full = add_implied(c)
    told = {frozenset(pair) for pair in full.must_link.tolist()}
    apart = {frozenset(pair) for pair in full.cannot_link.tolist()}
    for i in range(12):
        for j in range(i):
            assert (frozenset((i, j)) in told) == (c.relation(i, j) == "must-link")
            assert (frozenset((i, j)) in apart) == (c.relation(i, j) == "cannot-link")


def test_contradictions_imply_nothing():
    with pytest.warns(ConstraintWarning):
        c = lw.Constraints(3, [(0, 1), (1, 2)], [(0, 2)], on_conflict="keep")
    assert add_implied(c) is c


def test_what_grows_with_the_square_is_bounded(monkeypatch):
    X = np.random.default_rng(0).normal(size=(2000, 2))
    chain = lw.Constraints(2000, [(i, i + 1) for i in range(1999)])
    with pytest.raises(ValueError, match=r"1999000 constraints follow .* Use implied=False"):
        lw.MPCKMeans.paper(2).fit(X, constraints=chain)
    monkeypatch.setattr(mpckmeans, "MOST_ROWS", 1999)
    with pytest.raises(ValueError, match='Use farthest="extreme"'):
        lw.MPCKMeans.paper(2, implied=False).fit(X, constraints=chain)


# ---------------------------------------------------------------- the program
def close_pairs(y, size):
    """Make two components of `size` rows with a cannot-link between them, and a row apart from the first."""
    one, other = np.flatnonzero(y == 0)[:size], np.flatnonzero(y == 1)[:size]
    single = int(np.flatnonzero(y == 1)[size])
    must = [(int(a), int(b)) for part in (one, other) for a, b in pairwise(part)]
    return must, [(int(one[0]), int(other[0])), (int(one[0]), single)], one, other


@pytest.mark.parametrize("seed", range(4))
def test_the_program_passes_over_the_rows_in_order(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 3)) * [1, 5, 0.5] + 1.5 * y[:, None] + rng.normal(scale=3, size=3)
    must, cannot, one, other = close_pairs(y, 3)
    model = lw.MPCKMeans.authors(2, random_state=0).fit(X, constraints=lw.Constraints(30, must, cannot))
    every_must = [pair for part in (one, other) for pair in combinations(part.tolist(), 2)]
    every_cannot = [*cannot[1:], *((int(i), int(j)) for i in one for j in other)]
    starts = [X[part].mean(axis=0) for part in (one, other)]
    labels, A = paper.in_file_order(X, every_must, every_cannot, starts, 1.0)
    assert adjusted_rand_score(model.labels_, labels) == 1
    np.testing.assert_allclose(model.metrics_[0], A, rtol=1e-6)


def test_the_program_takes_large_neighbourhoods_that_are_far_apart():
    parts = [np.arange(8), np.arange(8, 14), np.arange(14, 18), np.arange(18, 20)]
    rows = np.repeat([[0.0], [1.0], [10.0], [11.0]], [8, 6, 4, 2], axis=0)
    rng = np.random.default_rng(0)
    two = mpck_program._choose_centers(rows, parts, 2, rng)
    assert two.ravel().tolist() == [0, 10]  # 4 rows at a distance of 10, against 6 at 1 and 2 at 11
    three = mpck_program._choose_centers(rows, parts[:1], 3, rng)
    assert three[0] == 0
    np.testing.assert_allclose(three[1:], rows.mean(), rtol=0.35)
    assert three[1] != three[2]


def test_the_preset_of_the_program():
    common = {"metric": "diagonal", "shrinkage": 0.0, "must_link_start": False, "settle_first": False}
    common |= {"component_moves": False, "implied": True, "fallback": False, "n_init": 1}
    assert lw.MPCKMeans.authors(4).get_params() == (
        lw.MPCKMeans(4).get_params() | common | {"search": "file order"}
    )


@pytest.mark.parametrize("given", [{"metric": "full"}, {"per_cluster": True}])
def test_the_program_has_one_diagonal_metric(given):
    c = lw.Constraints(4, [(0, 1)])
    with pytest.raises(ValueError, match="one diagonal metric"):
        lw.MPCKMeans.authors(2, **given).fit(np.arange(8.0).reshape(4, 2), constraints=c)
