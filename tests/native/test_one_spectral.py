"""The convex problem within a step of 1-spectral clustering."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from linkwise import native
from reference import cosc as reference


def graph(W):
    edges = sp.csr_array(W)
    return edges.indptr.astype(np.int64), edges.indices.astype(np.int32), edges.data.astype(np.float64)


def dual(starts, m):
    return np.zeros(int(starts[-1]) // 2), np.full(m, 1 / m), np.full(m, 1 / m)


@st.composite
def problems(draw):
    m = draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    upper = np.triu(rng.random((m, m)) * (rng.random((m, m)) < draw(st.floats(0.3, 1.0))), 1)
    upper[0, 1] = 0.5  # an edge at least
    g = rng.normal(size=m) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    return upper + upper.T, g - g.mean(), draw(st.sampled_from([0.0, 0.1, 5.0]))


@pytest.mark.slow
@given(problems(), st.integers(1, 60))
def test_steps_are_those_of_the_plain_version(problem, most):
    W, g, c = problem
    f, value, bound, n_iter, _ = reference.ratio_step(W, g, c, most, 10, 0.1, 1e-9)
    starts, ends, weights = graph(W)
    found = native.ratio_step(starts, ends, weights, g, c, dual(starts, len(g)), max_iter=most, least=1e-9)
    assert found.n_iter == n_iter
    assert found.bound == pytest.approx(bound, abs=1e-9)
    if bound > 1e-9:  # else f is made of rounding
        assert found.value == pytest.approx(value, abs=1e-6)
        np.testing.assert_allclose(found.f, f, atol=1e-6)


@given(problems())
def test_the_value_is_between_its_bounds_and_near_the_lower_one(problem):
    W, g, c = problem
    starts, ends, weights = graph(W)
    found = native.ratio_step(
        starts, ends, weights, g, c, dual(starts, len(g)), max_iter=20_000, gap=1e-3, least=1e-4
    )
    if np.isfinite(found.value):
        assert np.linalg.norm(found.f) == pytest.approx(1)
        assert found.value == pytest.approx(reference.inner_value(W, g, c, found.f), abs=1e-9)
    a, v, z = found.dual
    for point in (v, z):
        assert point.min() >= 0
        assert point.sum() == pytest.approx(1)
    A = np.zeros_like(W)
    A[np.triu(W) > 0] = a
    A -= A.T
    assert np.abs(a).max() <= 1
    y = (W * A).sum(axis=1) + c * (v - z) - g
    assert found.bound == pytest.approx(np.linalg.norm(y), abs=1e-9)
    assert found.bound <= 1e-4 or found.value <= -(1 - 1e-3) * found.bound


def test_a_second_call_goes_on_where_the_first_ended():
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((30, 30)), 1)
    starts, ends, weights = graph(W + W.T)
    g = rng.normal(size=30) * 20
    settings = {"gap": 1e-6, "every": 1}
    one = native.ratio_step(starts, ends, weights, g, 1.0, dual(starts, 30), max_iter=5000, **settings)
    other = native.ratio_step(starts, ends, weights, g, 1.0, one.dual, max_iter=5000, **settings)
    assert other.n_iter < one.n_iter / 10
    assert other.value == pytest.approx(one.value, rel=1e-5)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"g": np.zeros(3)}, ValueError, "starts must have shape"),
        ({"starts": np.array([0, 3, 2])}, ValueError, "starts must rise"),
        ({"ends": np.array([1, 2], np.int32)}, ValueError, "ends holds 1 to 2"),
        ({"starts": np.array([0, 2, 2]), "ends": np.array([1, 1], np.int32)}, ValueError, "every edge twice"),
        ({"weights": np.ones(2, np.float32)}, TypeError, "weights .* float64"),
        ({"c": -1.0}, ValueError, "c must not be negative"),
        ({"dual": (np.zeros(2), np.ones(2), np.ones(2))}, ValueError, "a must have shape"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
    ],
)
def test_bad_arguments_raise_errors(change, error, words):
    given_ = {
        "starts": np.array([0, 1, 2]), "ends": np.array([1, 0], np.int32), "weights": np.ones(2),
        "g": np.zeros(2), "c": 0.0, "dual": (np.zeros(1), np.ones(2) / 2, np.ones(2) / 2), "max_iter": 5,
    }  # fmt: skip
    with pytest.raises(error, match=words):
        native.ratio_step(**(given_ | change))
