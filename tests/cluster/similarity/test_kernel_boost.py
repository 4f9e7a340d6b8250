"""KernelBoost and its mixtures against their formulas, and what their parts promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.similarity import constrained_mixture as cm
from linkwise.cluster.similarity import kernel_boost
from linkwise.cluster.similarity.distinct_rows import merge_identical_rows
from reference import kernel_boost as plain
from reference.bckm import kernel_k_means

X, y = load_iris(return_X_y=True)


@st.composite
def beliefs(draw):
    """Probabilities of a few nodes, and pairs that make trees of at most three links from end to end."""
    k = draw(st.integers(2, 3))
    sizes = draw(st.lists(st.integers(1, 4), max_size=2))
    trees = [[(a, a + 1) for a in range(size - 1)] for size in sizes]
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    pairs, m = [], 0
    for tree in trees:
        pairs += [(m + a, m + b) for a, b in tree]
        m += len(tree) + 1
    m = max(m, 1)
    return rng.dirichlet(np.ones(k), m), np.array(pairs, dtype=np.int64).reshape(-1, 2)


@given(beliefs())
def test_cannot_links_on_short_trees_are_exact(problem):
    own, apart = problem
    np.testing.assert_allclose(
        cm.separate_probabilities(np.log(own), apart), plain.exact_probabilities(own, apart), atol=1e-9
    )


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_a_step_of_em_is_that_of_the_formulas(seed, d, k):
    rng = np.random.default_rng(seed)
    Z, weight = rng.normal(size=(8, d)), rng.uniform(0.5, 1.5, 8)
    must, cannot = np.array([[0, 1], [1, 2]]), np.array([[2, 3], [4, 5]])
    chunklets = cm.find_chunklets(8, must, cannot if k > 1 else cannot[:0])
    prior = np.eye(d) + 0.1
    chance = rng.dirichlet(np.ones(k), 6)
    of_rows = chance[chunklets.number]
    mixture = cm.maximize(Z, weight, of_rows, chance.sum(axis=0), prior)
    share, means, covariances = plain.m_step(Z, weight, of_rows, chance.sum(axis=0), prior)
    np.testing.assert_allclose(np.exp(mixture.log_share), share)
    np.testing.assert_allclose(mixture.mean, means, atol=1e-12)
    for root, covariance in zip(mixture.whitening, covariances, strict=True):
        np.testing.assert_allclose(root @ covariance @ root.T, np.eye(d), atol=1e-9)
    wanted = plain.e_step(Z, chunklets.number, chunklets.apart, share, means, covariances)
    np.testing.assert_allclose(cm.expect(mixture, Z, chunklets), wanted, atol=1e-9)


def test_a_cannot_link_within_a_chunklet_is_left_out():
    chunklets = cm.find_chunklets(4, np.array([[0, 1]]), np.array([[0, 1], [1, 2], [0, 2]]))
    assert chunklets.number.tolist() == [0, 0, 1, 2]
    assert chunklets.apart.tolist() == [[0, 1]]


def test_many_columns_and_few_rows_make_no_singular_gaussian():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(10, 40))
    Z -= Z.mean(axis=0)
    weight = np.ones(10)
    prior = cm.prior_covariance(Z, weight, 3)
    chunklets = cm.find_chunklets(10, np.empty((0, 2), np.int64), np.array([[0, 1]]))
    mixture = cm.fit_mixture(Z, weight, chunklets, 3, prior, np.random.SeedSequence(0))
    assert np.isfinite(mixture.log_densities(Z)).all()
    np.testing.assert_allclose(mixture.probabilities(Z).sum(axis=1), 1)


@pytest.mark.parametrize("shape", [(40, 7), (12, 60)])
def test_principal_components_are_those_of_the_covariance(shape):
    rows = np.random.default_rng(0).normal(size=shape) * np.linspace(1, 3, shape[1])
    rows = np.vstack([rows, rows[:4]])  # a few stand for two
    whole = merge_identical_rows(rows, standardized=False)
    seen = whole.reduce_to_components(5)
    assert seen.Z.shape == (shape[0], 5)
    np.testing.assert_allclose(seen.axes.T @ seen.axes, np.eye(5), atol=1e-9)
    covariance = np.cov(whole.transform(rows).T, bias=True)
    variances = ((seen.transform(rows)) ** 2).mean(axis=0)
    np.testing.assert_allclose(variances, np.linalg.eigvalsh(covariance)[::-1][:5])
    np.testing.assert_allclose(seen.Z[seen.number], seen.transform(rows), atol=1e-9)
    all_of_them = whole.reduce_to_components(shape[1] - 1)  # as many as the rows span
    assert all_of_them.Z.shape[1] == min(shape[0] - 1, shape[1] - 1)
    assert whole.reduce_to_components(shape[1]) is whole


def test_wide_rows_are_seen_by_their_components():
    rng = np.random.default_rng(0)
    classes = np.arange(300) % 3
    wide = rng.normal(size=(300, 2)) * [1, 12] + np.column_stack([6 * classes, 0 * classes])
    wide = wide @ np.linalg.qr(rng.normal(size=(500, 2)))[0].T + 0.05 * rng.normal(size=(300, 500))
    pairs = lw.Constraints.sample(classes, 1000, random_state=0)
    model = lw.KernelBoost(3, random_state=0).fit(wide, constraints=pairs)
    assert model._seen.axes.shape == (500, 30)
    plainly = lw.KernelBoost(3, random_state=0).fit(wide)
    assert adjusted_rand_score(classes, model.labels_) > 0.9
    assert adjusted_rand_score(classes, plainly.labels_) < 0.5
    np.testing.assert_array_equal(model.predict(wide), model.labels_)


def test_columns_that_never_vary_do_not_count():
    few = lw.KernelBoost(3, random_state=0).fit(X)
    more = lw.KernelBoost(3, random_state=0).fit(np.hstack([X, np.ones((len(X), 40))]))
    np.testing.assert_array_equal(more._seen.unit, few._seen.unit)


@pytest.mark.parametrize("decay", [0.0, 10.0])
def test_rounds_are_those_of_the_formulas(decay):
    rows = np.unique(X, axis=0, return_index=True)[1]
    Z, classes = X[rows], y[rows]
    c = lw.Constraints.sample(classes, 100, 0)
    model = lw.KernelBoost(3, n_estimators=5, decay=decay, random_state=0).fit(Z, constraints=c)
    assert model.n_rounds_ == 5
    Y = np.zeros((len(Z), len(Z)))
    for pairs, sign in ((c.must_link, 1), (c.cannot_link, -1)):
        Y[tuple(pairs.T)] = Y[tuple(pairs.T[::-1])] = sign
    seen = merge_identical_rows(Z, standardized=True).transform(Z)
    chances = [one.mixture.probabilities(seen) for one in model._rounds]
    alphas, of_rows, K = plain.boosted([chance @ chance.T for chance in chances], Y, decay)
    np.testing.assert_allclose(model.alphas_, alphas, rtol=1e-6)
    rows = kernel_boost.build_features(model._rounds, seen)
    np.testing.assert_allclose(rows @ rows.T, K, atol=1e-6)
    labels, _ = kernel_k_means(K, model.labels_)
    np.testing.assert_array_equal(labels, model.labels_)  # kernel k-means on all of K moves nothing
    ends, told = np.vstack([c.must_link, c.cannot_link]), np.zeros(c.n_constraints)
    first = kernel_boost.row_weights(ends, told, 0.0, len(Z))
    np.testing.assert_allclose(first / first.sum(), of_rows[0])
    sign = np.repeat([1.0, -1.0], [len(c.must_link), len(c.cannot_link)])
    h = 2 * (chances[0][ends[:, 0]] * chances[0][ends[:, 1]]).sum(axis=1) - 1
    second = kernel_boost.row_weights(ends, -alphas[0] * sign * h, -decay * alphas[0], len(Z))
    np.testing.assert_allclose(second / second.sum(), of_rows[1])


@given(st.floats(0.01, 0.99))
def test_the_step_is_adaboosts(kept):
    """A round that says yes or no and is right of this weight: alpha is the least of the exponential loss."""
    alpha = kernel_boost.compute_alpha(2 * kept - 1)

    def loss(a):
        return kept * np.exp(-a) + (1 - kept) * np.exp(a)

    assert loss(alpha) <= min(loss(alpha - 1e-3), loss(alpha + 1e-3))
    assert np.isfinite(kernel_boost.compute_alpha(1.0))


def test_new_rows_go_where_their_like_are():
    X, y = load_wine(return_X_y=True)
    c = lw.Constraints.sample(y[::2], 150, 0)
    model = lw.KernelBoost(3, random_state=0).fit(X[::2], constraints=c)
    assert adjusted_rand_score(y[1::2], model.predict(X[1::2])) > 0.8
    np.testing.assert_array_equal(model.predict(X[::2]), model.labels_)


def test_pairs_help_where_clusters_are_no_balls():
    X, y = load_wine(return_X_y=True)
    c = lw.Constraints.sample(y, 150, 0)
    model = lw.KernelBoost(3, random_state=0).fit(X, constraints=c)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert not model.fell_back_
    assert adjusted_rand_score(y, lw.KernelBoost(3, random_state=0).fit_predict(X)) < 0.5


def test_weights_of_many_rounds_vanish_without_harm():
    c = lw.Constraints.from_labels(y[:20])
    model = lw.KernelBoost(2, n_estimators=300, decay=0.0, random_state=0)
    with np.errstate(all="raise", under="ignore"):
        model.fit(np.column_stack([y[:20], np.arange(20)]), constraints=c)
    assert np.isfinite(model.alphas_).all()


def test_mixtures_may_take_must_links_only():
    c = lw.Constraints.sample(y, 300, random_state=0)
    model = lw.KernelBoost(3, n_estimators=1, with_cannot_links=False, random_state=0).fit(X, constraints=c)
    seen = merge_identical_rows(X, standardized=True)
    ends = seen.number[c.must_link]
    none = np.empty((0, 2), dtype=np.int64)
    weight = kernel_boost.row_weights(np.vstack([c.must_link, c.cannot_link]), np.zeros(300), 0.0, len(X))
    weight = np.bincount(seen.number, weights=weight * len(seen.Z) / weight.sum())
    wanted = cm.fit_mixture(
        seen.Z, weight, cm.find_chunklets(len(seen.Z), ends, none), 3,
        cm.prior_covariance(seen.Z, seen.weight.astype(float), 3), np.random.SeedSequence([0, 1]),
    )  # fmt: skip
    np.testing.assert_allclose(model._stages.rounds[0].mixture.mean, wanted.mean)
    both = lw.KernelBoost(3, n_estimators=1, random_state=0).fit(X, constraints=c)
    assert not np.allclose(both._stages.rounds[0].mixture.mean, wanted.mean)
