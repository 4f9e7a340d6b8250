"""NPU: its uncertainty by hand and by the formulas, and the preset against the whole algorithm."""

from math import log2

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier

import linkwise as lw
from linkwise.cluster.graph import cosc
from linkwise.constraints.evidence import Evidence
from linkwise.learn.known_k import base, estimators
from linkwise.learn.known_k.base import KnownKState
from linkwise.learn.known_k.npu import (
    Forest,
    SearchedForest,
    likeness,
    most_uncertain,
    normalized_uncertainty,
    probabilities,
    scale_to_unit_range,
    shares,
)
from linkwise.learn.learner import Problem
from linkwise.rng import rng_at
from reference.known_k import npu, uncertainty


def test_by_hand():
    """Three neighbourhoods of one row, two trees; the row shares 2, 1 and 1 leaves with them."""
    leaves = np.array([[1, 1], [1, 1], [1, 2], [2, 1]], dtype=np.int32)
    near = likeness(leaves, np.array([0]), [np.array([hood]) for hood in (1, 2, 3)])
    assert near.tolist() == [[1.0, 0.5, 0.5]]
    p = shares(near)
    np.testing.assert_allclose(p, [[0.5, 0.25, 0.25]])
    bits = 0.5 * 1 + 0.25 * 2 + 0.25 * 2
    np.testing.assert_allclose(normalized_uncertainty(p, last_is_implied=False), bits / (0.5 + 0.5 + 0.75))
    np.testing.assert_allclose(normalized_uncertainty(p, last_is_implied=True), bits / (0.5 + 0.5 + 0.5))


def test_the_order_of_the_neighbourhoods_decides_nothing():
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.2, 0.7, 0.1]])
    found = normalized_uncertainty(p, last_is_implied=False)
    expected = -(0.7 * log2(0.7) + 0.2 * log2(0.2) + 0.1 * log2(0.1)) / (0.7 + 0.4 + 0.3)
    np.testing.assert_allclose(found, expected)


def test_certain_rows_and_rows_like_no_other():
    assert normalized_uncertainty(np.array([[1.0, 0.0]]), last_is_implied=True).tolist() == [0.0]
    assert shares(np.zeros((1, 4))).tolist() == [[0.25] * 4]
    assert normalized_uncertainty(np.ones((1, 1)), last_is_implied=False).tolist() == [0.0]


@pytest.mark.parametrize("seed", range(5))
def test_as_printed(seed):
    rng = np.random.default_rng(seed)
    leaves = rng.integers(0, 3, (12, 20)).astype(np.int32)
    hoods = [[0, 1, 2], [3], [4, 5]]
    near = likeness(leaves, np.arange(6, 12), [np.array(hood) for hood in hoods])
    ours = normalized_uncertainty(shares(near), last_is_implied=False)
    np.testing.assert_allclose(ours, [uncertainty(leaves, hoods, row) for row in range(6, 12)])


def state_of(X, k, known):
    learner = lw.NPU(k, estimator="pckmeans")
    return KnownKState(learner, Problem(X, learner.prepare(X, 0), Evidence(len(X), known), 0))


def test_the_most_uncertain_row_lies_between_two_neighbourhoods():
    """Rows along a line; the trees cut in the middle, so the rows there share leaves with both ends."""
    X = np.linspace(0, 1, 21)[:, None]
    state = state_of(X, 3, lw.Constraints(21, [(0, 1), (19, 20)], [(0, 20)]))
    labels = (X[:, 0] > 0.5).astype(np.int32)
    leaves = Forest(scale_to_unit_range(X), np.arange(21), labels, 50, 0)
    assert 9 <= most_uncertain(state, leaves) <= 11


def test_a_neighbourhood_that_is_known_to_be_wrong_has_no_share():
    X = np.linspace(0, 1, 9)[:, None]
    state = state_of(X, 4, lw.Constraints(9, [(0, 1), (7, 8)], [(0, 8), (4, 0)]))
    leaves = Forest(scale_to_unit_range(X), np.arange(9), np.zeros(9, dtype=np.int32), 5, 0)  # one leaf
    now = state.neighbourhoods()
    at = int(now.place[0])
    p = probabilities(now, leaves, np.array([4, 5]))
    assert p[0, at] == 0.0
    assert p[1].tolist() == [0.5, 0.5]


def test_features_for_the_trees():
    X = np.array([[1e100, 5.0, 3.0], [-1e100, 5.0, 4.0]])
    np.testing.assert_array_equal(scale_to_unit_range(X), np.array([[1, 0], [0, 1]], dtype=np.float32))
    assert scale_to_unit_range(np.full((3, 2), 7.0)).tolist() == [[0.0]] * 3


def test_the_number_of_trees_is_checked():
    with pytest.raises(ValueError, match="n_trees"):
        lw.NPU(2, n_trees=0).fit(np.eye(3))


def test_trees_do_not_depend_on_the_points_that_fall_through_them():
    rng = np.random.default_rng(0)
    rows, learned = rng.random((60, 3)), np.arange(5, 35)
    labels = (rows[learned].sum(axis=1) > 1.5).astype(np.int32)
    one, other = (Forest(rows, learned, labels, 10, 7) for _ in range(2))
    every = one(np.arange(60))
    for some in ([3, 40], [50], [5, 3, 5]):
        np.testing.assert_array_equal(other(np.array(some)), every[some])


def test_points_are_compared_by_the_leaves_that_they_share():
    rng = np.random.default_rng(0)
    rows, labels = rng.random((40, 3)), rng.integers(0, 3, 20).astype(np.int32)
    forest = Forest(rows, np.arange(20), labels, 10, 7)
    points, hoods = np.array([1, 30, 5]), [np.array([2, 3, 35]), np.array([9])]
    found, leaves = forest.compare(points, hoods), forest(np.arange(40))
    expected = [[(leaves[p] == leaves[hood]).mean() for hood in hoods] for p in points]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_the_names_of_the_labels_change_no_tree():
    rng = np.random.default_rng(0)
    rows, labels = rng.random((30, 2)), rng.integers(0, 3, 30).astype(np.int32)
    one, other = Forest(rows, np.arange(30), labels, 5, 0), Forest(rows, np.arange(30), labels * 10 + 2, 5, 0)
    np.testing.assert_array_equal(one(np.arange(30)), other(np.arange(30)))


def test_each_tree_learns_from_a_sample_of_its_own():
    """Trees that learn every row would never put rows of two labels into one leaf."""
    rng = np.random.default_rng(0)
    rows, labels = rng.random((40, 2)), rng.integers(0, 2, 40).astype(np.int32)
    leaves = Forest(rows, np.arange(40), labels, 20, 0)(np.arange(40))
    mixed = [any(len(set(labels[tree == leaf])) > 1 for leaf in np.unique(tree)) for tree in leaves.T]
    assert all(mixed)


def test_all_fits_of_cosc_share_their_graph(monkeypatch):
    X, y = make_blobs(60, centers=3, random_state=0)  # no row twice
    learner = lw.NPU(3, estimator=lw.COSC(n_init=2, n_runs=1, random_state=0), random_state=0)
    wanted = learner.fit(X, oracle=lw.TruthOracle(y), budget=6).labels_
    prepared = learner.prepare(X, 0)
    monkeypatch.setattr(learner, "prepare", lambda X, seed, progress: prepared)
    monkeypatch.setattr(cosc, "build_neighbour_graph", None)  # so that a call fails
    assert np.array_equal(learner.fit(X, oracle=lw.TruthOracle(y), budget=6).labels_, wanted)


def test_nothing_is_prepared_for_rows_of_which_a_sample_is_fitted(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2))
    learner = lw.NPU(2, estimator=lw.COSC(2, random_state=0), random_state=0)
    assert learner.prepare(X, 0).for_fits
    monkeypatch.setattr(base, "MAX_ROWS", 50)
    monkeypatch.setattr(estimators, "can_be_sampled", lambda clusterer: True)
    assert not learner.prepare(X, 0).for_fits


# ---------------------------------------------------------------- as printed
def overlapping(seed, k=3, n=24):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    return rng.normal(size=(n, 2)) + 2 * rng.normal(size=(k, 2))[y], y


def rows_asked(model, X, y):
    """The rows asked about, in order, each with the classes that it was compared with."""
    rows = []

    def oracle(first, second):
        if not rows or rows[-1][0] != first:
            rows.append((first, []))
        rows[-1][1].append(int(y[second]))
        return bool(y[first] == y[second])

    model.fit(X, oracle=oracle)
    return rows


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 3])
def test_the_preset_asks_what_the_printed_algorithm_asks(seed, k):
    X, y = overlapping(seed, k)
    clusterer = lw.PCKMeans(k, n_init=1, random_state=seed)

    def cluster(must, cannot):
        pairs = (sorted(tuple(sorted(pair)) for pair in some) for some in (must, cannot))
        return clusterer.fit(X, constraints=lw.Constraints(len(X), *pairs)).labels_

    def grow(labels):
        forest = RandomForestClassifier(5, random_state=seed).fit(scale_to_unit_range(X), labels)
        return forest.apply(scale_to_unit_range(X))

    model = lw.NPU.paper(k, estimator=clusterer, n_trees=5, random_state=seed)
    drawn = rng_at(seed).permutation(len(X)).tolist()
    assert rows_asked(model, X, y) == npu(X, y, drawn, cluster, grow)


def test_as_printed_the_last_neighbourhood_is_asked_about():
    X, y = overlapping(1, k=2)
    printed = rows_asked(lw.NPU.paper(2, estimator="pckmeans", n_trees=5, random_state=0), X, y)
    default = rows_asked(lw.NPU(2, estimator="pckmeans", n_trees=5, random_state=0), X, y)
    assert {len(classes) for _, classes in default} == {1}
    assert {len(classes) for _, classes in printed} == {1, 2}


def test_as_printed_the_labels_are_those_of_the_clusterer():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])

    class Halves(lw.PCKMeans):
        def fit(self, X, y=None, *, constraints=None):
            self.labels_ = self.predict(X)
            return self

        def predict(self, X):
            return (X[:, 0] > 1).astype(np.int32)

    known = lw.Constraints(4, [(0, 3)], [(0, 1)])
    printed, default = (
        kind(2, estimator=Halves(2), n_trees=2, random_state=0).fit(X, constraints=known)
        for kind in (lw.NPU.paper, lw.NPU)
    )
    assert printed.labels_.tolist() == [0, 0, 1, 1]
    assert printed.violations_ == 2
    assert default.violations_ == 0


def test_among_equals_the_farthest_or_a_random_row():
    X = np.linspace(0, 1, 11)[:, None]
    state = state_of(X, 3, lw.Constraints(11, [(0, 1)]))
    leaves = Forest(scale_to_unit_range(X), np.arange(11), np.zeros(11, dtype=np.int32), 3, 0)
    assert most_uncertain(state, leaves) == 10
    left = [row for row in state.order.tolist() if row > 1]
    assert most_uncertain(state, leaves, "random") == left[0] != 10


def test_a_searched_split_is_the_best_one():
    """Two groups with a wide gap: every tree that sees both groups has exactly one leaf for each."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.random((20, 1)) * 0.3, 0.7 + rng.random((20, 1)) * 0.3])
    labels = np.repeat([0, 1], 20).astype(np.int32)
    leaves = SearchedForest(rows, np.arange(40), labels, 20, 3)(np.arange(40))
    assert all(len(np.unique(tree)) == 2 for tree in leaves.T)
    assert all(len(set(tree[:20])) == len(set(tree[20:])) == 1 for tree in leaves.T)
    assert any(
        len(np.unique(tree)) > 2 for tree in Forest(rows, np.arange(40), labels, 20, 3)(np.arange(40)).T
    )


def test_the_clusterer_of_the_paper_is_printed_too():
    assert repr(lw.NPU.paper(3).estimator) == repr(lw.MPCKMeans.paper())
    assert lw.NPU.paper(3, estimator="pckmeans").estimator == "pckmeans"
