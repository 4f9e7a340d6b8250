"""Bregman projections against their twin, and against what their multipliers say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import native
from reference import itml as paper


def a_problem(seed, m=12, d=4):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(d, d))
    sign = rng.choice([-1.0, 1.0], m)
    bound = np.where(sign > 0, 0.5, 6.0)
    return rng.normal(size=(m, d)), sign, bound, rng.uniform(0.1, 5, m), half @ half.T + 0.1 * np.eye(d)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 6), st.sampled_from([1, 3, 200]))
@settings(max_examples=50)
def test_the_kernel_is_its_twin(seed, m, d, sweeps):
    problem = a_problem(seed, m, d)
    found = native.bregman_projections(*problem, sweeps, 1e-6)
    metric, multiplier, n_sweeps, change = paper.projections(*problem, sweeps, 1e-6)
    assert found.n_sweeps == n_sweeps
    np.testing.assert_allclose(found.metric, metric, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.multiplier, multiplier, rtol=1e-6, atol=1e-9)
    assert found.change == pytest.approx(change, rel=1e-5, abs=1e-9)


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_multipliers_give_the_metric(seed):
    pairs, sign, bound, gamma, start = a_problem(seed, 40, 5)
    found = native.bregman_projections(pairs, sign, bound, gamma, start, 300, 0.0)
    inverse = np.linalg.inv(start) + (pairs.T * (sign * found.multiplier)) @ pairs
    np.testing.assert_allclose(found.metric @ inverse, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(found.metric, found.metric.T, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(found.metric)[0] > 0
    assert (found.multiplier >= 0).all()


def test_bounds_that_are_kept_change_nothing():
    pairs, sign = np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([1.0, -1.0])
    found = native.bregman_projections(pairs, sign, np.array([2.0, 4.0]), np.ones(2), np.eye(2), 10, 1e-3)
    np.testing.assert_array_equal(found.metric, np.eye(2))
    assert (found.n_sweeps, found.change) == (1, 0.0)


def test_what_is_given_is_not_changed():
    problem = a_problem(0)
    before = [array.copy() for array in problem]
    native.bregman_projections(*problem, 5, 0.0)
    for given_, kept in zip(problem, before, strict=True):
        np.testing.assert_array_equal(given_, kept)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (0, np.zeros((0, 4)), r"pairs must have shape \(≥1, ≥1\)"),
        (1, np.ones(11), r"sign must have shape \(12\)"),
        (2, np.ones((12, 1)), r"bound must have 1 dimension, got shape \(12, 1\)"),
        (3, np.ones(12, "f4"), "gamma must be a NumPy array of float64"),
        (4, np.eye(3), r"start must have shape \(4, 4\)"),
        (5, 0, "max_sweeps must be at least 1"),
    ],
)
def test_bad_arguments_raise_errors(place, value, words):
    arguments = [*a_problem(0), 5, 0.0]
    arguments[place] = value
    with pytest.raises((TypeError, ValueError), match=words):
        native.bregman_projections(*arguments)
