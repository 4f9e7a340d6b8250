"""Rows and components of rows, each to where all costs least."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import native
from linkwise.constraints import closure
from reference import pckmeans as twin


@st.composite
def problems(draw):
    """Costs and prices that are small integers, so that sums are exact and ties abound."""
    m, k = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    must, cannot = (rng.integers(0, m, (draw(st.integers(0, 8)), 2)) for _ in range(2))
    must, cannot = (pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int32) for pairs in (must, cannot))
    columns = [draw(st.sampled_from([1, k])) for _ in range(2)]
    prices = [2.0 * rng.integers(0, 6, (len(p), c)) for p, c in zip((must, cannot), columns, strict=True)]
    group = closure.find_components(m, must).astype(np.int32)
    costs = rng.integers(-3, 8, (m, k)).astype(float)
    labels, order = rng.integers(0, k, m).astype(np.int32), rng.permutation(m).astype(np.int32)
    return costs, labels, must, prices[0], cannot, prices[1], group, order


def as_functions(pairs, prices, k):
    wide = np.broadcast_to(prices, (len(pairs), k))
    return [(i, j, lambda g, h, p=p: (p[g] + p[h]) / 2) for (i, j), p in zip(pairs, wide, strict=True)]


@given(problems(), st.integers(1, 4))
def test_the_kernel_equals_its_twin(problem, sweeps):
    costs, labels, must, must_price, cannot, cannot_price, group, order = problem
    k = costs.shape[1]
    found = native.conditional_modes(*problem, sweeps)
    constraints = as_functions(must, must_price, k), as_functions(cannot, cannot_price, k)
    np.testing.assert_array_equal(
        found, twin.conditional_modes(costs, labels, *constraints, group, order, sweeps)
    )
    assert twin.total(costs, found, *constraints) <= twin.total(costs, labels, *constraints)


def chain(m, price):
    """Rows must-linked one to the next, all of which would rather be in cluster 1 than in 0."""
    links = np.column_stack([np.arange(m - 1), np.arange(1, m)]).astype(np.int32)
    none, order = np.empty((0, 2), np.int32), np.arange(m, dtype=np.int32)
    costs, there = np.tile([1.0, 0.0], (m, 1)), np.zeros(m, np.int32)
    return costs, there, links, np.full((m - 1, 1), price), none, np.empty((0, 1)), there, order


def test_a_component_moves_where_none_of_its_rows_would():
    problem = chain(5, 100.0)
    assert native.conditional_modes(*problem, 1).tolist() == [1] * 5
    alone = (*problem[:6], np.arange(5, dtype=np.int32), problem[7])
    assert native.conditional_modes(*alone, 100).tolist() == [0] * 5


def test_a_chain_of_a_hundred_thousand_rows():
    assert (native.conditional_modes(*chain(100_000, 2.0), 100) == 1).all()


GOOD = chain(3, 1.0)


@pytest.mark.parametrize(
    ("at", "value", "error", "words"),
    [
        (0, GOOD[0].astype("f4"), TypeError, "costs .* float64, got"),
        (1, GOOD[1].astype("i8"), TypeError, "labels .* int32, got"),
        (1, GOOD[1] + 2, ValueError, r"labels holds 2 to 2\. Pass 0 to 1"),
        (2, GOOD[2] + 1, ValueError, r"must holds 1 to 3\. Pass 0 to 2"),
        (3, GOOD[3][:1], ValueError, r"must_penalty .* \(2, 1\), got \(1, 1\)"),
        (5, np.empty((1, 1)), ValueError, r"cannot_penalty .* \(0, 1\), got"),
        (6, GOOD[6] - 1, ValueError, "group holds -1"),
        (7, GOOD[7][:2], ValueError, r"order .* \(3\), got \(2,\)"),
        (8, 0, ValueError, "max_sweeps must be at least 1, got 0"),
    ],
)
def test_bad_arguments_raise_errors(at, value, error, words):
    given = [*GOOD, 10]
    given[at] = value
    with pytest.raises(error, match=words):
        native.conditional_modes(*given)
