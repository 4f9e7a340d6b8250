"""MMC against a general optimiser, and where its objective has no least."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

import linkwise as lw
from linkwise.metric.mmc import diagonal_weights
from reference import mmc as paper


def a_problem(seed, n=20, d=4, n_pairs=14):
    """Rows in several units, and constraints of a random kind and weight between them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + 5
    c = lw.Constraints.sample(rng.integers(0, 3, n), n_pairs, random_state=seed)
    must, cannot = (rng.uniform(0.5, 2, len(p)) for p in (c.must_link, c.cannot_link))
    return X, lw.Constraints(n, c.must_link, c.cannot_link, must_link_weight=must, cannot_link_weight=cannot)


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
