"""The graph of nearest rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_wine, make_blobs

import linkwise as lw
from linkwise.cluster.graph import neighbour_graph as module
from linkwise.cluster.graph.neighbour_graph import build_neighbour_graph
from reference import spcl as reference


def graph_of(X, k, **settings):
    graph = build_neighbour_graph(X, lw.Constraints(len(X)), k, **settings)
    return graph.weights.toarray()


@pytest.mark.slow
@given(n=st.integers(2, 25), d=st.integers(1, 4), k=st.integers(1, 8), seed=st.integers(0, 10**6))
def test_weights_are_those_of_the_definition_and_bridges_between_parts(n, d, k, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    found, wanted = graph_of(X, k), reference.nearest_weights(X, min(k, n - 1))
    edges = wanted > 0
    np.testing.assert_allclose(found[edges], wanted[edges], rtol=1e-9)
    bridges = np.argwhere(np.triu((found > 0) & ~edges))
    assert len(bridges) == len(reference.parts(wanted)) - 1
    assert len(reference.parts(found)) == 1
    np.testing.assert_array_equal(found, found.T)
    assert not found.diagonal().any()
    assert found.max() <= 1


def test_parts_are_joined_by_their_nearest_rows():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [40.0], [41.0], [42.0]])
    found = graph_of(X, 1)
    assert found[2, 3] == pytest.approx(np.exp(-4) / 64)  # eight times as far as the nearest row
    assert found[5, 6] == pytest.approx(np.exp(-4) / 28**2)
    assert found[2, 6] == found[0, 3] == 0


def test_a_width_may_be_given():
    X = np.array([[0.0], [1.0], [3.0]])
    found = graph_of(X, 2, sigma=2.0)
    np.testing.assert_allclose(found[0, 1:], np.exp([-1 / 8, -9 / 8]))
    assert len(reference.parts(graph_of(1e6 * X, 2, sigma=1e-3))) == 1


def test_copies_are_one_node_unless_a_constraint_names_them():
    X = np.array([[1.0], [0.0], [1.0], [1.0], [-0.0], [7.0]])
    graph = build_neighbour_graph(X, lw.Constraints(6, [(3, 5)]), 2)
    assert graph.node.tolist() == [0, 1, 0, 2, 1, 3]
    assert graph.weights.shape == (4, 4)
    assert graph.weights[0, 2] == 1  # no way apart


def test_more_named_copies_than_neighbours():
    X = np.array([[1.0]] * 6 + [[2.0], [4.0]])
    weights = build_neighbour_graph(X, lw.Constraints(8, [(i, i + 1) for i in range(7)]), 2).weights.toarray()
    assert np.isfinite(weights).all()
    assert connected_components(weights)[0] == 1


def test_in_parts_the_distances_are_the_same(monkeypatch):
    X, _ = make_blobs(50, random_state=0)
    whole = graph_of(X, 5)
    monkeypatch.setattr(module, "CELLS", 30)
    np.testing.assert_array_equal(graph_of(X, 5), whole)


@pytest.mark.parametrize("sigma", [1e-300, 1e-150, 1e150, 1e300])
def test_any_width_will_do(sigma):
    X = np.random.default_rng(0).normal(size=(12, 2))
    weights = build_neighbour_graph(X, lw.Constraints(12), 2, sigma).weights
    assert connected_components(weights, directed=False)[0] == 1
    assert np.isfinite(weights.data).all()
    assert (weights.data > 0).all()


@pytest.mark.parametrize("unit", [0.1, 1e3, 1e100])
def test_another_unit_makes_no_other_graph(unit):
    X = load_wine().data
    one, other = (build_neighbour_graph(rows, lw.Constraints(178), 10).weights for rows in (X, X * unit))
    assert (one != other).nnz == 0
