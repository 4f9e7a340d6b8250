"""BoostCluster against its formulas, and what its parts promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

import linkwise as lw
from linkwise.cluster.similarity import boost_cluster
from linkwise.cluster.similarity.distinct_rows import merge_identical_rows
from reference import boost_cluster as plain

X, y = load_wine(return_X_y=True)
SCALED = scale(X)


def matrices(constraints):
    """Must-links and cannot-links as symmetric matrices."""
    found = np.zeros((2, len(constraints), len(constraints)), dtype=bool)
    for matrix, pairs in zip(found, (constraints.must_link, constraints.cannot_link), strict=True):
        matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = True
    return found


@pytest.mark.parametrize("n_pairs", [30, 300])
def test_rounds_are_those_of_the_formulas(n_pairs):
    c = lw.Constraints.sample(y, n_pairs, 0)
    model = lw.BoostCluster(3, n_components=2, n_estimators=6, whiten=False, random_state=0)
    model.fit(SCALED, constraints=c)
    seen = merge_identical_rows(SCALED, standardized=False)
    Z = seen.Z[seen.number]
    made = iter(model.hypotheses_.T)
    K, alphas = plain.boosted(Z, *matrices(c), 2, model.n_rounds_, lambda rows, t: next(made))
    np.testing.assert_allclose(model.alphas_, alphas)
    np.testing.assert_allclose(model.kernel_.toarray(), K)
    assert model.n_rounds_ >= 3


@pytest.mark.parametrize("seed", range(3))
def test_the_preset_projects_the_rows_themselves_on_scaled_directions(seed):
    c = lw.Constraints.sample(y, 200, seed)
    far = SCALED + 3.0  # rows that are not about their mean
    model = lw.BoostCluster.paper(3, n_components=4, n_estimators=3, random_state=0).fit(far, constraints=c)
    must, cannot = matrices(c)
    K = np.zeros((len(far), len(far)))
    for round_, (view, labels, alpha) in enumerate(
        zip(model._views, model.hypotheses_.T, model.alphas_, strict=True)
    ):
        p, q = plain.shares(K, must, cannot)
        wanted = plain.printed_projection(far, p - q, 4)
        found = model._seen.transform(far) @ view.directions
        distances = [((rows[:, None] - rows) ** 2).sum(axis=2) for rows in (found, wanted)]
        np.testing.assert_allclose(*(each / each.max() for each in distances), atol=1e-6, err_msg=str(round_))
        K = K + alpha * (labels[:, None] == labels)


def test_the_preset_says_what_it_changes():
    changed = {"whiten": False, "center": False, "scale_directions": True, "fallback": False}
    assert lw.BoostCluster.paper(4).get_params() == lw.BoostCluster(4).get_params() | changed
    assert lw.BoostCluster.paper(4, fallback=True).fallback


def test_plain_k_means_is_returned_only_with_the_fallback():
    found = {
        (fallback, seed): lw.BoostCluster(3, n_estimators=1, fallback=fallback, random_state=seed)
        .fit(X, constraints=lw.Constraints.sample(y, 12, random_state=seed))
        .fell_back_
        for fallback in (True, False)
        for seed in range(15)
    }
    assert any(fell for (fallback, _), fell in found.items() if fallback)
    assert not any(fell for (fallback, _), fell in found.items() if not fallback)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_directions_are_the_top_eigenvectors(seed, s):
    rng = np.random.default_rng(seed)
    Z, t = rng.normal(size=(12, 4)), rng.normal(size=10)
    ends = np.array([rng.choice(12, 2, replace=False) for _ in range(10)])
    T = np.zeros((12, 12))
    for (i, j), value in zip(ends, t, strict=True):
        T[i, j] += value
        T[j, i] += value
    found, wanted = boost_cluster.find_directions(Z, ends, t, s), plain.projection(Z, T, s)
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-6)


@pytest.mark.slow
@given(st.integers(0, 10**6))
def test_the_step_is_the_one_of_least_loss(seed):
    """Up to the half a constraint that keeps it finite, which fades as pairs are many."""
    rng = np.random.default_rng(seed)
    n = 60
    classes, labels = rng.integers(0, 3, n), rng.integers(0, 3, n)
    c = lw.Constraints.sample(classes, 900, seed)
    must, cannot = matrices(c)
    K = rng.normal(size=(n, n))
    K = K + K.T
    pairs = np.vstack([c.must_link, c.cannot_link])
    kind = np.repeat([True, False], [len(c.must_link), len(c.cannot_link)])
    weight = boost_cluster.pair_weights(K[tuple(pairs.T)], np.ones(len(pairs)), kind)
    together = labels[:, None] == labels
    alpha = boost_cluster.compute_alpha(weight, together[tuple(pairs.T)], kind)
    best = minimize_scalar(lambda a: np.log(plain.loss(K + a * together, must, cannot)))
    assert alpha == pytest.approx(best.x, abs=0.02)


def test_a_round_that_keeps_all_has_a_finite_weight():
    weight, must = np.array([0.5, 0.5, 1.0]), np.array([True, True, False])
    alpha = boost_cluster.compute_alpha(weight, must, must)
    assert 0 < alpha < 3
    assert boost_cluster.compute_alpha(weight, ~must, must) == pytest.approx(-alpha)


@pytest.mark.parametrize("kind", [0, 1])
def test_pairs_of_one_kind_do(kind):
    c = lw.Constraints.sample(y, 200, 0)
    one = lw.Constraints(len(X), c.must_link) if kind == 0 else lw.Constraints(len(X), (), c.cannot_link)
    model = lw.BoostCluster(3, random_state=0).fit(X, constraints=one)
    assert adjusted_rand_score(y, model.labels_) > 0.6  # plain k-means: 0.37


def test_the_units_of_columns_are_nothing_where_rows_are_whitened():
    c = lw.Constraints.sample(y, 100, 0)
    one = lw.BoostCluster(3, random_state=0).fit(X, constraints=c)
    other = lw.BoostCluster(3, random_state=0).fit(X * 2.0 ** np.arange(13), constraints=c)
    np.testing.assert_array_equal(one.hypotheses_, other.hypotheses_)


def test_more_columns_than_rows_are_turned():
    wide = np.random.default_rng(0).normal(size=(20, 50))
    turned, rotation = boost_cluster.rotate_rows(wide)
    np.testing.assert_allclose(wide @ rotation, turned, atol=1e-9)
    assert turned.shape == (20, 20)
    np.testing.assert_allclose(turned @ turned.T, wide @ wide.T, atol=1e-9)
    labels = np.arange(20) % 2
    wide[:, 0] += 30 * labels
    c = lw.Constraints.sample(labels, 40, 0)
    assert (
        adjusted_rand_score(labels, lw.BoostCluster(2, random_state=0).fit_predict(wide, constraints=c)) == 1
    )


def test_white_rows_have_unit_spread_in_all_directions_but_for_the_shrinkage():
    seen = merge_identical_rows(X, standardized=True)
    white, scaled = boost_cluster.whiten(seen)
    np.testing.assert_allclose(seen.Z @ scaled, white, atol=1e-9)
    spread = np.linalg.eigvalsh(np.cov(white.T, bias=True))
    assert spread.max() == pytest.approx(1.0, abs=0.1)
    assert spread.min() > 0.5


def test_no_round_better_than_chance_is_plain_k_means():
    c = lw.Constraints(4, (), [(0, 1)])
    model = lw.BoostCluster(1, random_state=0).fit(np.eye(4), constraints=c)
    assert (model.fell_back_, model.n_rounds_, model.violations_) == (True, 1, 1)
