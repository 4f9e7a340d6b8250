"""RCA against the covariance within chunklets, and where that has no inverse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

import linkwise as lw
from cluster.metric.problems import a_problem
from linkwise.cluster.metric.rca import within_scatter
from reference import rca as paper

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=40)
def test_it_whitens_the_covariance_within_chunklets(seed, d, shrinkage):
    X, c = a_problem(seed, d=d, n_pairs=60)
    X = X / X.std(axis=0)
    covariance, rows = paper.within_covariance(X, c.must_link)
    scatter, counted = within_scatter(X, c.component)
    assert counted == rows
    np.testing.assert_allclose(scatter / rows, covariance, atol=1e-12)
    prior = shrinkage * d
    wanted = (rows * covariance + prior * X.var(axis=0).mean() * np.eye(d)) / (rows + prior)
    model = lw.RCA(shrinkage=shrinkage).fit(X, constraints=c)
    np.testing.assert_allclose(model.get_mahalanobis_matrix() @ wanted, np.eye(d), atol=1e-7)
    L = model.components_
    np.testing.assert_allclose(L, L.T)
    np.testing.assert_allclose(L @ wanted @ L, np.eye(d), atol=1e-7)


def test_rows_within_chunklets_are_white_afterwards():
    c = lw.Constraints.from_labels(SPECIES)
    Z = lw.RCA(shrinkage=0).fit_transform(IRIS, constraints=c)
    scatter, rows = within_scatter(Z, c.component)
    np.testing.assert_allclose(scatter / rows, np.eye(4), atol=1e-9)


def test_fewer_pairs_than_features():
    X, y = load_digits(return_X_y=True)
    c = lw.Constraints.sample(y, 50, random_state=0)
    for shrinkage in (0.0, 1.0):
        model = lw.RCA(shrinkage=shrinkage).fit(X, constraints=c)
        assert np.isfinite(model.components_).all()
    # few pairs leave the metric near the plain one
    value = np.linalg.eigvalsh(model.get_mahalanobis_matrix())
    assert value[-1] / value[0] < 20


def test_cannot_links_and_weights_are_not_used():
    c = lw.Constraints.sample(SPECIES, 80, random_state=0)
    both = lw.RCA().fit(IRIS, constraints=c).components_
    weight = np.linspace(1, 9, len(c.must_link))
    only = lw.Constraints(150, c.must_link, must_link_weight=weight)
    np.testing.assert_array_equal(lw.RCA().fit(IRIS, constraints=only).components_, both)


def test_cannot_links_alone_warn():
    c = lw.Constraints(150, (), [(0, 60), (0, 120)])
    with pytest.warns(lw.ConstraintWarning, match=r"RCA learns from must-links, but there are none \(2"):
        model = lw.RCA().fit(IRIS, constraints=c)
    np.testing.assert_array_equal(model.components_, np.eye(4))


def test_must_links_between_identical_rows():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 1.0], [0.0, 5.0]])
    for shrinkage in (0.0, 1.0):
        L = lw.RCA(shrinkage=shrinkage).fit(X, constraints=lw.Constraints(4, [(0, 1)])).components_
        np.testing.assert_allclose(L / L[0, 0], np.eye(2), atol=1e-12)
