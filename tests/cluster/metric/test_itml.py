"""ITML against a general optimiser, its bounds, and what it promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import linkwise as lw
from cluster.metric.problems import a_problem
from linkwise import native
from reference import itml as paper

IRIS, SPECIES = load_iris(return_X_y=True)


def stated(X, c, bounds, gamma=1.0):
    """The problem in the paper's symbols: pairs, signs, bounds, prices."""
    first, second = np.vstack([c.must_link, c.cannot_link]).T
    sign = np.repeat([1.0, -1.0], [len(c.must_link), len(c.cannot_link)])
    weight = np.r_[c.must_link_weight, c.cannot_link_weight]
    return X[first] - X[second], sign, np.where(sign > 0, *bounds), gamma * weight


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.1, 1.0, 8.0]))
@settings(max_examples=20)
def test_no_other_metric_is_better(seed, d, gamma):
    X, c = a_problem(seed, d=d)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = lw.ITML(gamma=gamma, tol=1e-9, max_iter=20_000).fit(X, constraints=c)
    problem = (*stated(X, c, model.bounds_, gamma), np.eye(d))
    ours = paper.objective(model.get_mahalanobis_matrix(), *problem)
    least = paper.least(*problem)
    assert ours <= least + 1e-5
    assert least <= ours + 1e-3


def test_the_covariance_as_a_prior():
    X, c = a_problem(1, n=80, d=3, n_pairs=30)
    model = lw.ITML("covariance", tol=1e-9, max_iter=20_000).fit(X, constraints=c)
    spread = X.std(axis=0)
    shrunk = 0.999 * np.corrcoef(X.T) + 0.001 * np.eye(3)
    start = np.linalg.inv(shrunk * np.outer(spread, spread))
    squares = pdist(X, "mahalanobis", VI=start) ** 2
    np.testing.assert_allclose(model.bounds_, np.percentile(squares, (5, 95)))
    problem = (*stated(X / spread, c, model.bounds_), start * np.outer(spread, spread))
    M = model.get_mahalanobis_matrix() * np.outer(spread, spread)
    assert paper.objective(M, *problem) <= paper.least(*problem) + 1e-5


def test_bounds_are_percentiles_of_squared_distances():
    c = lw.Constraints.sample(SPECIES, 20, random_state=0)
    squares = pdist(IRIS, "sqeuclidean")
    model = lw.ITML(random_state=0).fit(IRIS, constraints=c)
    np.testing.assert_allclose(model.bounds_, np.percentile(squares[squares > 0], (5, 95)))
    drawn = lw.ITML(random_state=0).fit(np.tile(IRIS, (4, 1)) + 0.0, constraints=None)
    np.testing.assert_allclose(drawn.bounds_, model.bounds_, rtol=0.1)


def test_bounds_may_be_given():
    c = lw.Constraints(4, [(0, 1)], [(0, 2)])
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    loose = lw.ITML(bounds=(10.0, 0.5)).fit(X, constraints=c)  # both are kept already
    np.testing.assert_allclose(loose.get_mahalanobis_matrix(), np.eye(2), atol=1e-12)
    assert loose.bounds_ == (10.0, 0.5)
    tight = lw.ITML(bounds=(1.0, 4.0), gamma=1e6, tol=1e-9).fit(X, constraints=c).get_mahalanobis_matrix()
    np.testing.assert_allclose(np.diag(tight), [1 / 9, 4.0], rtol=1e-3)


@pytest.mark.parametrize("bounds", [(1.0,), (0.0, 1.0), (1.0, np.inf), ("a", 1.0), (np.nan, 1.0)])
def test_bad_bounds_raise_errors(bounds):
    with pytest.raises(ValueError, match=r"bounds are not valid: .*\. Pass two positive numbers"):
        lw.ITML(bounds=bounds).fit(IRIS)


def test_a_larger_gamma_misses_bounds_by_less():
    c = lw.Constraints.sample(SPECIES, 60, random_state=1)
    missed = []
    for gamma in (0.1, 1.0, 10.0):
        model = lw.ITML(gamma=gamma, max_iter=5000, random_state=0).fit(IRIS, constraints=c)
        pairs, sign, bound, _ = stated(IRIS, c, model.bounds_)
        squares = (model.transform(pairs) ** 2).sum(axis=1)
        missed.append(np.maximum(sign * np.log(squares / bound), 0).sum())
    assert missed[0] > missed[1] > missed[2]


def test_a_heavier_constraint_is_missed_by_less():
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = np.random.default_rng(1).integers(0, 2, 30)
    plain = lw.Constraints.sample(y, 30, random_state=0)
    weight = np.ones(len(plain.must_link))
    weight[0] = 100.0
    heavy = lw.Constraints(30, plain.must_link, plain.cannot_link, must_link_weight=weight)
    i, j = plain.must_link[0]
    lengths = []
    for c in (plain, heavy):
        a, b = lw.ITML(bounds=(0.01, 9.0), random_state=0).fit(X, constraints=c).transform(X[[i, j]])
        lengths.append(((a - b) ** 2).sum())
    assert lengths[1] < lengths[0]


def test_ending_early_warns():
    c = lw.Constraints.sample(SPECIES, 100, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"ITML still changes by \d.* in sweep 3\. Allow more"):
        model = lw.ITML(max_iter=3, random_state=0).fit(IRIS, constraints=c)
    assert model.n_iter_ == 3


@pytest.mark.filterwarnings("ignore::linkwise.cluster.metric.base.ConstantWarning")
def test_identical_rows_keep_the_plain_metric():
    model = lw.ITML(random_state=0).fit(np.full((4, 2), 3.0), constraints=lw.Constraints(4, [(0, 1)]))
    np.testing.assert_array_equal(model.components_, np.eye(2))
    prior = lw.ITML("covariance").fit(np.full((4, 2), 3.0), constraints=lw.Constraints(4, [(0, 1)]))
    np.testing.assert_allclose(prior.components_, np.eye(2))


# ---------------------------------------------------------------- high prices
def a_hard_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * [1, 2, 3, 1, 0.1, 5]
    return X, lw.Constraints.sample((X[:, 0] > 0).astype(int), 8, random_state=2)


@pytest.mark.parametrize("gamma", [1e4, 1e6, 1e9])
def test_converged_fits_keep_bounds_at_high_prices(gamma):
    X, c = a_hard_problem()
    model = lw.ITML(gamma=gamma, random_state=0, max_iter=200_000).fit(X, constraints=c)
    Z, (low, high) = model.transform(X), model.bounds_
    squares = [((Z[pairs[:, 0]] - Z[pairs[:, 1]]) ** 2).sum(axis=1) for pairs in (c.must_link, c.cannot_link)]
    near = 1.05 if gamma > 1e4 else 1.25  # the price allows more at first
    assert squares[0].max() <= near * low
    assert squares[1].min() >= high / near


def test_too_few_sweeps_for_a_high_price_warn():
    X, c = a_hard_problem()
    with pytest.warns(ConvergenceWarning, match="Allow more with max_iter"):
        lw.ITML(gamma=1e6, random_state=0, max_iter=900).fit(X, constraints=c)


@pytest.mark.parametrize("gamma", [1e300, 1e308])
def test_prices_at_the_end_of_the_range(gamma):
    X, c = a_hard_problem()
    heavy = lw.Constraints(80, c.must_link, c.cannot_link, must_link_weight=np.full(len(c.must_link), 1e9))
    model = lw.ITML(gamma=gamma, random_state=0, max_iter=200_000).fit(X, constraints=heavy)
    assert np.isfinite(model.components_).all()


def test_bounds_that_no_metric_keeps_raise_errors():
    """Of three rows on a line the outer two shall be nearer than the others are apart."""
    X, c = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), lw.Constraints(3, [(0, 2)], [(0, 1)])
    with pytest.warns(ConvergenceWarning, match="or lower gamma"):
        model = lw.ITML(gamma=1e308, bounds=(1.0, 4.0)).fit(X, constraints=c)
    assert np.isfinite(model.components_).all()


def test_a_metric_beyond_the_range_of_floats_raises_an_error(monkeypatch):
    X, c = a_hard_problem()
    lost = native.bregman_projections(np.eye(6), *np.ones((3, 6)), np.eye(6), 1, 1.0)
    lost = lost._replace(metric=np.full((6, 6), np.nan))
    monkeypatch.setattr(native, "bregman_projections", lambda *a: lost)
    with pytest.raises(ValueError, match=r"No metric keeps the bounds .* at the price gamma=1e\+06"):
        lw.ITML(gamma=1e6).fit(X, constraints=c)


# ---------------------------------------------------------------- the authors' program
def test_the_preset_has_the_defaults_of_the_program():
    changed = {"bounds": "histogram", "tol": 0.01, "max_projections": 100_000, "order": "random"}
    assert lw.ITML.authors().get_params() == lw.ITML().get_params() | changed
    assert lw.ITML.authors(order="given").order == "given"


def test_bounds_may_be_parts_of_a_histogram():
    X = IRIS[:14]  # 91 pairs, so all are in it
    squares = pdist(X, "sqeuclidean")
    found = lw.ITML(bounds="histogram", random_state=0).fit(X).bounds_
    np.testing.assert_allclose(found, paper.histogram_bounds(squares[squares > 0].tolist()))


@pytest.mark.parametrize("seed", range(4))
def test_a_limit_of_projections_ends_after_whole_sweeps_in_a_drawn_order(seed):
    X, c = a_problem(seed, d=3, n_pairs=40)
    c = lw.Constraints(len(X), c.must_link, c.cannot_link)
    n = c.n_constraints
    model = lw.ITML(tol=0.0, max_projections=3 * n + 1, bounds=(1.0, 9.0), order="random", random_state=seed)
    with pytest.warns(ConvergenceWarning, match="max_projections"):
        model.fit(X, constraints=c)
    assert model.n_iter_ == 3
    pairs, sign, bound, gamma = stated(X, c, (1.0, 9.0))
    order = np.random.default_rng(0).permutation(len(pairs))
    given, drawn = (
        paper.projections(pairs[at], sign[at], bound[at], gamma[at], np.eye(3), 3, 0.0)[0]
        for at in (np.arange(len(pairs)), order)
    )
    first = lw.ITML(tol=0.0, max_iter=3, bounds=(1.0, 9.0))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        first.fit(X, constraints=c)
    np.testing.assert_allclose(first.get_mahalanobis_matrix(), given, rtol=1e-6)
    assert not np.allclose(given, drawn)  # before it converges the order matters
    assert not np.allclose(model.get_mahalanobis_matrix(), given)


def test_one_sweep_is_made_in_any_case():
    c = lw.Constraints.sample(SPECIES, 50, random_state=0)
    with pytest.warns(ConvergenceWarning):
        assert lw.ITML(max_projections=1).fit(IRIS, constraints=c).n_iter_ == 1
