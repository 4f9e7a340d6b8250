"""A step of constrained k-means against the functions that it puts together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import native
from linkwise.constraints import closure
from reference.mpckmeans import squares_under


@st.composite
def steps(draw):
    """Rows, centres, and some rows with pairs among them."""
    n, d, k = draw(st.integers(1, 80)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d)).astype(draw(st.sampled_from([np.float32, np.float64])))
    rows = rng.permutation(n)[: draw(st.integers(1, n))]
    m = len(rows)
    must, cannot = (rng.integers(0, m, (draw(st.integers(0, 8)), 2)) for _ in range(2))
    must, cannot = (pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int32) for pairs in (must, cannot))
    group = closure.find_components(m, must).astype(np.int32)
    columns = [draw(st.sampled_from([1, k])) for _ in range(2)]
    prices = [rng.random((len(pairs), c)) for pairs, c in zip((must, cannot), columns, strict=True)]
    order = rng.permutation(m).astype(np.int32)
    named = native.NamedStep(rows, native.make_pair_graph(must, cannot, group), *prices, order, 3)
    before = draw(st.sampled_from([None, rng.integers(0, k, n).astype(np.int32)]))
    return X, rng.normal(size=(k, d)), named, before, (must, cannot), rng


def improve_labels(costs, first, named, pairs):
    (must, cannot), graph = pairs, named.graph
    prices = must, named.must_penalty, cannot, named.cannot_penalty
    return native.conditional_modes(costs, first, *prices, graph.group, named.order, named.max_sweeps)


@given(steps(), st.integers(1, 3))
def test_a_step_under_the_plain_metric(step, n_threads):
    X, centers, named, before, pairs, _ = step
    labels, squares, sums, counts = native.assign_named(X, centers, named, before, n_threads)
    nearest, least = native.nearest_points(X, centers, 1)
    expected, costs = nearest.astype(np.int32), native.squared_distances(X[named.rows], centers, 1)
    settled = improve_labels(costs, (expected if before is None else before)[named.rows], named, pairs)
    expected[named.rows], least[named.rows] = settled, costs[np.arange(len(settled)), settled]
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(squares, least)
    for found, wanted in zip(
        (sums, counts), native.label_sums(X, labels, len(centers), None, 1), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


@given(steps(), st.booleans(), st.booleans(), st.integers(1, 3))
def test_a_step_under_learned_metrics(step, is_full, is_shared, n_threads):
    X, centers, named, before, pairs, rng = step
    k, d = centers.shape
    maps = rng.normal(size=(1 if is_shared else k, *[d] * (1 + is_full)))
    offset, before = rng.normal(size=k), np.zeros(len(X), np.int32) if before is None else before
    labels, sums, counts = native.assign_named_under(X, centers, maps, offset, named, before, n_threads)
    expected = native.metric_nearest(X, centers, maps, offset, 1)[0]
    costs = squares_under(X[named.rows], centers, maps) + offset
    expected[named.rows] = improve_labels(costs, before[named.rows], named, pairs)
    np.testing.assert_array_equal(labels, expected)
    for found, wanted in zip((sums, counts), native.label_sums(X, labels, k, None, 1), strict=True):
        np.testing.assert_array_equal(found, wanted)


X, CENTERS = np.zeros((4, 2)), np.zeros((3, 2))
PAIRS, NO_PAIRS, GROUP = np.array([[0, 1]], np.int32), np.empty((0, 2), np.int32), np.zeros(2, np.int32)
GRAPH = native.make_pair_graph(PAIRS, NO_PAIRS, GROUP)
ROWS, PRICES, NO_PRICES = np.array([3, 1]), np.ones((1, 1)), np.empty((0, 1))
GOOD = native.NamedStep(ROWS, GRAPH, PRICES, NO_PRICES, np.arange(2, dtype=np.int32), 5)
BEFORE = np.zeros(4, np.int32)


@pytest.mark.parametrize(
    ("changed", "before", "words"),
    [
        ({"rows": ROWS + 1}, BEFORE, r"rows holds 2 to 4\. Pass 0 to 3"),
        ({"order": GOOD.order - 1}, BEFORE, r"order holds -1 to 0\. Pass 0 to 1"),
        ({"order": GOOD.order[:1]}, BEFORE, r"order must have shape \(2\)"),
        ({"must_penalty": NO_PRICES}, BEFORE, r"must_penalty must have shape \(1, 1\)"),
        ({"cannot_penalty": PRICES}, BEFORE, r"cannot_penalty must have shape \(0, 1\)"),
        ({"max_sweeps": 0}, BEFORE, "max_sweeps must be at least 1"),
        ({}, BEFORE + 3, r"before holds 3 to 3\. Pass 0 to 2"),
        ({}, BEFORE[:3], r"before must have shape \(4\)"),
    ],
)
def test_bad_arguments_raise_errors(changed, before, words):
    named = GOOD._replace(**changed)
    with pytest.raises(ValueError, match=words):
        native.assign_named(X, CENTERS, named, before, 1)
    with pytest.raises(ValueError, match=words):
        native.assign_named_under(X, CENTERS, np.ones((1, 2)), np.zeros(3), named, before, 1)


def test_maps_and_offsets_have_one_entry_for_each_centre():
    with pytest.raises(ValueError, match=r"maps must have shape \(3, 2\)"):
        native.assign_named_under(X, CENTERS, np.ones((2, 2)), np.zeros(3), GOOD, BEFORE, 1)
    with pytest.raises(ValueError, match=r"offset must have shape \(3\)"):
        native.assign_named_under(X, CENTERS, np.ones((1, 2)), np.zeros(2), GOOD, BEFORE, 1)


@pytest.mark.parametrize(
    ("must", "group", "words"),
    [
        (PAIRS + 1, GROUP, "must holds 1 to 2"),
        (PAIRS, GROUP + 2, "group holds 2 to 2"),
        (PAIRS, GROUP[:0], "≥1"),
    ],
)
def test_a_graph_names_rows_that_exist(must, group, words):
    with pytest.raises(ValueError, match=words):
        native.make_pair_graph(must, NO_PAIRS, group)
