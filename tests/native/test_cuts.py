"""Cuts of graphs: the arguments of the native code. `tests/cluster/graph/test_cosc.py` tests the results."""

import numpy as np
import pytest

from linkwise import native
from linkwise.native import CutGraph

GRAPH = CutGraph(
    starts=np.array([0, 1, 3, 4]),
    ends=np.array([1, 0, 2, 1], np.int32),
    weights=np.array([4.0, 4.0, 1.0, 1.0]),
    volume=np.array([1.0, 2.0, 1.0]),
    pairs=np.array([[0, 2]], np.int32),
    is_ncut=True,
)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"volume": np.ones(2)}, ValueError, "starts must have shape"),
        ({"starts": np.array([0, 3, 1, 4])}, ValueError, "starts must rise"),
        ({"ends": np.array([1, 0, 2, 3], np.int32)}, ValueError, "ends holds 0 to 3"),
        ({"ends": np.array([1, 2, 2, 1], np.int32)}, ValueError, "every edge twice"),
        ({"weights": np.ones(4, np.float32)}, TypeError, "weights .* float64"),
        ({"pairs": np.array([[0, 3]], np.int32)}, ValueError, "pairs holds 0 to 3"),
    ],
)
def test_bad_graphs_raise_errors(change, error, words):
    graph = GRAPH._replace(**change)
    labels = np.zeros(len(graph.volume), np.int32)
    for call in (
        lambda: native.ratio_descent(graph, 0.0, np.arange(3.0), max_iter=5),
        lambda: native.ratio_splits(graph, np.arange(3.0), max_iter=5),
        lambda: native.slow_vector(graph),
        lambda: native.move_nodes(graph, labels, 2),
        lambda: native.recut(graph, labels[None], 2, max_iter=5),
    ):
        with pytest.raises(error, match=words):
            call()


def test_bad_starts_labels_and_counts_raise_errors():
    with pytest.raises(ValueError, match="start must have shape"):
        native.ratio_splits(GRAPH, np.zeros(2), max_iter=5)
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        native.ratio_descent(GRAPH, 0.0, np.arange(3.0), max_iter=0)
    with pytest.raises(ValueError, match="labels holds 0 to 2"):
        native.recut(GRAPH, np.arange(3, dtype=np.int32)[None], 2, max_iter=5)
    with pytest.raises(ValueError, match="k must be at least 1"):
        native.move_nodes(GRAPH, np.zeros(3, np.int32), 0)


def test_a_pair_is_separated_where_the_cut_is_cheapest():
    splits = native.ratio_splits(GRAPH, np.array([0.0, 0.1, 1.0]), max_iter=100)
    assert splits.tolist() == [[0, 0, 1]]
    assert native.recut(GRAPH, np.array([[0, 1, 0]], np.int32), 2, max_iter=100)[0].tolist() in (
        [0, 0, 1],
        [1, 1, 0],
    )
