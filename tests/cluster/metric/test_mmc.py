"""MMC against a general optimiser, and where its objective has no least."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import linkwise as lw
from cluster.metric.problems import a_problem
from linkwise.cluster.metric.mmc import diagonal_weights
from linkwise.cluster.metric.mmc_newton import newton_weights
from linkwise.cluster.metric.mmc_search import maximize_lengths, project_on_simplex
from reference import mmc as paper


def weights_of(X, c, **options):
    weights = {"must_link_weight": c.must_link_weight, "cannot_link_weight": c.cannot_link_weight}
    return diagonal_weights(X, c.must_link, c.cannot_link, **weights, **options)


def on_its_ray(a, X, c, ridge):
    """The multiple of `a` of least objective."""
    return a * 0.5 / (paper.ridged(X, c, ridge) @ a)


def test_the_gradient_of_the_reference():
    X, c = a_problem(0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for seed in range(5):
        a = np.random.default_rng(seed).uniform(0.1, 1, 4)
        assert check_grad(paper.objective, paper.gradient, a, X, c, 1e-3) < 1e-5


@pytest.mark.slow
@given(
    st.integers(0, 10**6), st.sampled_from([1, 2, 5, 12]), st.integers(3, 40), st.sampled_from([1e-3, 0.3])
)
@settings(max_examples=40)
def test_no_other_weights_are_better(seed, d, n_pairs, ridge):
    X, c = a_problem(seed, d=d, n_pairs=n_pairs)
    found = weights_of(X, c, ridge=ridge)
    assert (found >= 0).all()
    assert found.mean() == pytest.approx(1)
    if len(c.cannot_link):
        least, _ = paper.least(X, c, ridge, starts=1)
        ours = paper.objective(on_its_ray(found, X, c, ridge), X, c, ridge)
        assert ours <= least + 1e-8
        assert least <= ours + 1e-5  # the general one ends near by


def test_where_the_least_is_alone_the_weights_are_the_same():
    X, c = a_problem(3, n=60, d=3, n_pairs=300)
    _, wanted = paper.least(X, c, 1e-3)
    np.testing.assert_allclose(weights_of(X, c, tol=1e-12), wanted / wanted.mean(), rtol=1e-3, atol=1e-4)


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(6, 20), st.sampled_from([1e-3, 0.3]))
@settings(max_examples=15)
def test_no_other_matrix_is_better(seed, d, n_pairs, ridge):
    X, c = a_problem(seed, d=d, n_pairs=n_pairs)
    model = lw.MMC(diagonal=False, ridge=ridge, tol=1e-8).fit(X, constraints=c)
    assert np.trace(model.get_mahalanobis_matrix()) == pytest.approx(d)
    if len(c.cannot_link):
        ours, least = paper.full_objective(model.components_, X, c, ridge), paper.full_least(X, c, ridge)
        assert ours <= least + 1e-8
        assert least <= ours + 1e-3


def test_a_matrix_beats_weights_for_correlated_features():
    X, c = a_problem(1, n=60, d=3, n_pairs=200)
    diagonal, full = (lw.MMC(diagonal).fit(X, constraints=c).components_ for diagonal in (True, False))
    assert paper.full_objective(full, X, c, 1.0) < paper.full_objective(diagonal, X, c, 1.0)


# ---------------------------------------------------------------- where the printed objective has no least
def test_without_cannot_links_weights_are_the_inverse_of_what_must_links_differ_by():
    X, c = a_problem(2)
    together = paper.ridged(X, c, 0.1)
    wanted = 1 / together
    found = diagonal_weights(X, c.must_link, [], must_link_weight=c.must_link_weight, ridge=0.1)
    np.testing.assert_allclose(found, wanted / wanted.mean())
    only = lw.Constraints(len(X), c.must_link, must_link_weight=c.must_link_weight)
    M = lw.MMC(diagonal=False, ridge=0.1).fit(X, constraints=only).get_mahalanobis_matrix()
    summed = np.diag(0.1 * c.must_link_weight.sum() * X.var(axis=0))
    for (i, j), weight in zip(c.must_link, c.must_link_weight, strict=True):
        summed += weight * np.outer(X[i] - X[j], X[i] - X[j])
    inverse = np.linalg.inv(summed)
    np.testing.assert_allclose(M, inverse / np.trace(inverse) * 4)


def test_without_must_links_variances_replace_them():
    X, c = a_problem(5, n_pairs=20)
    found = diagonal_weights(X, [], c.cannot_link)
    only = lw.Constraints(len(X), (), c.cannot_link)
    least, _ = paper.least(X, only, 1e-3)
    assert paper.objective(on_its_ray(found, X, only, 1e-3), X, only, 1e-3) == pytest.approx(least, abs=1e-5)


@pytest.mark.parametrize("diagonal", [True, False])
def test_a_feature_in_which_must_links_never_differ(diagonal):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.5, 1.0]])
    c = lw.Constraints(4, [(0, 1), (2, 3)], [(0, 2), (1, 3)])
    M = lw.MMC(diagonal).fit(X, constraints=c).get_mahalanobis_matrix()
    assert np.isfinite(M).all()
    assert M[1, 1] > 3 * M[0, 0]


def test_pairs_of_identical_rows_are_ignored():
    X = np.random.default_rng(0).normal(size=(10, 3))
    X[1] = X[0]
    plain = diagonal_weights(X, [(2, 3)], [(4, 5)])
    np.testing.assert_array_equal(diagonal_weights(X, [(2, 3)], [(4, 5), (0, 1)]), plain)
    np.testing.assert_allclose(diagonal_weights(X, [], [(0, 1)]), np.ones(3))
    c = lw.Constraints(10, [(2, 3)], [(4, 5), (0, 1)])
    with pytest.warns(lw.ConstraintWarning, match="separates rows 0 and 1, which are identical"):
        found = lw.MMC(ridge=1e-3, tol=1e-8).fit(X, constraints=c).get_mahalanobis_matrix()
    np.testing.assert_allclose(found, np.diag(plain))


@pytest.mark.parametrize("diagonal", [True, False])
def test_features_that_never_vary_keep_their_weight(diagonal):
    X, c = a_problem(4)
    wide = np.column_stack([np.full(20, 0.1), X, np.zeros(20)])
    narrow = lw.MMC(diagonal).fit(X, constraints=c).components_
    found = lw.MMC(diagonal).fit(wide, constraints=c).components_
    np.testing.assert_allclose(found[1:-1, 1:-1], narrow)
    np.testing.assert_array_equal(found[[0, -1]], np.eye(6)[[0, -1]])
    np.testing.assert_array_equal(diagonal_weights(np.ones((4, 2)), [(0, 1)], [(0, 2)]), [1, 1])


def test_features_in_units_far_apart():
    X, c = a_problem(6, n_pairs=40)
    units = np.array([1e-140, 1.0, 1e140, 1e-3])
    found = weights_of(X * units, c)
    assert np.isfinite(found).all()
    shown = lw.MMC().fit(X, constraints=c).transform(X)
    far = lw.MMC().fit(X * units, constraints=c).transform(X * units)
    np.testing.assert_allclose(far / far.std(), shown / shown.std(), rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- the search
def test_ending_early_warns():
    X, c = a_problem(3, d=12, n_pairs=60)
    with pytest.warns(
        ConvergenceWarning, match=r"MMC's objective may still fall by \d.* after 2 steps\. Allow"
    ):
        model = lw.MMC(max_iter=2).fit(X, constraints=c)
    assert model.n_iter_ == 2


@given(st.integers(0, 10**6), st.integers(1, 20))
def test_projections_on_the_simplex_are_nearest(seed, d):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=d) * 3
    found = project_on_simplex(values)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)
    others = rng.dirichlet(np.ones(d), 50)
    assert ((values - found) @ (others - found).T <= 1e-9).all()  # the angle to all others is obtuse


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=30)
def test_the_gap_is_a_bound(seed, diagonal):
    rng = np.random.default_rng(seed)
    pairs = rng.normal(size=(9, 4)) * (rng.random((9, 4)) < 0.6) + 1e-3
    weight = rng.uniform(0.5, 2, 9)

    def total(metric):
        lengths = (pairs**2) @ metric if diagonal else np.einsum("ij,jk,ik->i", pairs, metric, pairs)
        return weight @ np.sqrt(lengths)

    coarse, fine = (
        maximize_lengths(pairs, weight, diagonal=diagonal, tol=tol, max_iter=5000) for tol in (0.05, 1e-10)
    )
    assert coarse.gap <= 0.05
    assert fine.gap <= 1e-9
    assert np.log(total(fine.metric) / total(coarse.metric)) <= coarse.gap + 1e-9


# ---------------------------------------------------------------- Newton's method
@pytest.mark.parametrize("seed", range(12))
def test_newton_steps_are_those_of_a_plain_program(seed):
    X, c = a_problem(seed, d=2 + seed % 4, n_pairs=8 + seed)
    c = lw.Constraints(len(X), c.must_link, c.cannot_link)
    found = newton_weights(X, c.must_link, c.cannot_link)
    np.testing.assert_allclose(found, paper.newton(X, c), rtol=1e-6, atol=1e-9)


def test_newton_leaves_more_weights_than_the_minimum_has():
    X, y = load_iris(return_X_y=True)
    for seed in range(5):
        c = lw.Constraints.sample(y, 16, random_state=seed)
        newton, least = (learn(X, c.must_link, c.cannot_link) for learn in (newton_weights, diagonal_weights))
        assert (newton > 0).sum() >= (least > 1e-6).sum()
        assert newton.mean() == pytest.approx(1)


@pytest.mark.parametrize("must", [[], [(0, 1)]])
def test_newton_keeps_equal_weights_without_a_cannot_link_that_differs(must):
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]])
    pairs = np.array(must, dtype=int).reshape(-1, 2), np.array([(0, 2)])
    np.testing.assert_array_equal(newton_weights(X, *pairs), [1, 1])


def test_newton_ends_where_steps_cut_all_weights_and_without_must_links():
    X = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [9.0, 9.0]])
    none = np.empty((0, 2), dtype=int)
    for must, cannot in (
        (np.array([(0, 3), (1, 2)]), np.array([(0, 1)])),
        (none, np.array([(0, 1), (1, 2)])),
    ):
        found = newton_weights(X, must, cannot)
        assert np.isfinite(found).all()
        assert found.mean() == pytest.approx(1)


def test_newton_weighs_constraints():
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 20, random_state=1)
    twice = newton_weights(X, np.repeat(c.must_link, 2, axis=0), np.repeat(c.cannot_link, 2, axis=0))
    weights = 2 * np.ones(len(c.must_link)), 2 * np.ones(len(c.cannot_link))
    np.testing.assert_allclose(newton_weights(X, c.must_link, c.cannot_link, *weights), twice, rtol=1e-9)
