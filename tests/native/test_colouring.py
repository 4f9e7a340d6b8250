"""Labels for nodes that must be apart, against exhaustive search."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import native


@st.composite
def graphs(draw, most=7):
    m, k = draw(st.integers(1, most)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    every = list(combinations(range(m), 2))
    kept = [pair for pair in every if rng.random() < draw(st.sampled_from([0.2, 0.5, 0.9]))]
    pairs = np.array(kept, dtype=np.int32).reshape(-1, 2)
    return m, k, pairs, rng


def ways(m, k, pairs):
    """All labels that keep the pairs apart."""
    every = np.array(list(product(range(k), repeat=m)))
    return every[(every[:, pairs[:, 0]] != every[:, pairs[:, 1]]).all(axis=1)]


def assigned(costs, pairs, start=None, limit=0):
    m = len(costs)
    start = np.full(m, -1, dtype=np.int32) if start is None else start
    return native.assign_apart(costs, pairs, start, np.arange(m, dtype=np.int32), 50, limit)


@pytest.mark.slow
@given(graphs())
def test_colours_are_found_when_there_are_any(graph):
    m, k, pairs, _ = graph
    found, labels = native.colour_apart(pairs, m, k, 10**6)
    assert found == (len(ways(m, k, pairs)) > 0)
    if found:
        assert labels.min() >= 0
        assert labels.max() < k
        assert (labels[pairs[:, 0]] != labels[pairs[:, 1]]).all()


@pytest.mark.slow
@given(graphs())
def test_the_exact_assignment_is_the_cheapest(graph):
    m, k, pairs, rng = graph
    costs = rng.integers(0, 20, (m, k)).astype(float)
    right = ways(m, k, pairs)
    labels, together = assigned(costs, pairs, limit=10**6)
    assert together == (labels[pairs[:, 0]] == labels[pairs[:, 1]]).sum()
    if len(right) and together:  # a greedy order can fail; from any colours it cannot
        labels, together = assigned(costs, pairs, native.colour_apart(pairs, m, k, 10**6)[1], 10**6)
    assert (together == 0) == (len(right) > 0)
    if len(right):
        least = costs[np.arange(m), right].sum(axis=1).min()
        assert costs[np.arange(m), labels].sum() == least


@pytest.mark.slow
@given(graphs())
def test_exchanges_break_no_pair_and_never_cost_more(graph):
    m, k, pairs, rng = graph
    right = ways(m, k, pairs)
    if len(right) == 0:
        return
    costs = rng.random((m, k))
    start = right[rng.integers(len(right))].astype(np.int32)
    labels, together = assigned(costs, pairs, start)
    assert together == 0
    assert costs[np.arange(m), labels].sum() <= costs[np.arange(m), start].sum() + 1e-12


def test_nodes_that_may_be_anywhere_go_where_it_is_cheapest():
    costs = np.random.default_rng(0).random((50, 4))
    labels, _ = assigned(costs, np.empty((0, 2), np.int32))
    np.testing.assert_array_equal(labels, costs.argmin(axis=1))


def test_a_long_chain_is_coloured_and_exchanged():
    m = 3000
    pairs = np.column_stack([np.arange(m - 1), np.arange(1, m)]).astype(np.int32)
    assert native.colour_apart(pairs, m, 2, 10)[0] == 1
    costs = np.random.default_rng(0).random((m, 3))
    labels, together = assigned(costs, pairs)
    assert together == 0
    assert costs[np.arange(m), labels].mean() < 0.33  # of two labels left the cheaper one: 1 / 3


def test_the_limit_of_the_search_is_kept_and_reported():
    rng = np.random.default_rng(1)
    pairs = np.array([p for p in combinations(range(60), 2) if rng.random() < 0.3], dtype=np.int32)
    assert native.colour_apart(pairs, 60, 6, 5)[0] == -1


@given(graphs())
def test_first_fit_takes_the_cheapest_free_label_in_order(problem):
    m, k, pairs, rng = problem
    costs, order = rng.integers(0, 3, (m, k)).astype(float), rng.permutation(m).astype(np.int32)
    expected, failed = np.full(m, -1), -1
    for node in order:
        taken = {expected[other] for pair in pairs if node in pair for other in pair}
        free = [label for label in range(k) if label not in taken]
        if not free:
            failed = node
            break
        expected[node] = min(free, key=costs[node].__getitem__)
    labels, at = native.first_fit(costs, pairs, order)
    assert (labels.tolist(), at) == (expected.tolist(), failed)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: assigned(np.ones((2, 2)), np.array([[0, 2]], np.int32)),
            ValueError,
            r"pairs holds 0 to 2\. Pass 0 to 1",
        ),
        (lambda: assigned(np.ones((2, 2)), np.array([[0, 1]])), TypeError, "int32, got an array of int64"),
        (lambda: native.colour_apart(np.empty((0, 2), np.int32), 2, 0, 1), ValueError, "k must be at least"),
        (lambda: native.join_pairs(np.array([[0, 3]]), 3), ValueError, r"pairs holds 0 to 3\. Pass 0 to 2"),
    ],
)
def test_bad_arguments_raise_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(("name", "value"), [("start", 2), ("start", -2), ("order", 3), ("order", -1)])
def test_positions_out_of_range_raise_errors(name, value):
    given = {"start": np.full(3, -1, dtype=np.int32), "order": np.arange(3, dtype=np.int32)}
    given[name][1] = value
    pairs = np.array([[0, 1]], dtype=np.int32)
    with pytest.raises(ValueError, match=name):
        native.assign_apart(np.zeros((3, 2)), pairs, given["start"], given["order"], 1, 0)
    if name == "order":
        with pytest.raises(ValueError, match=name):
            native.first_fit(np.zeros((3, 2)), pairs, given["order"])
