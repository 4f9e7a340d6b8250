"""SPCL: affinities, eigenvectors, what constraints do and do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.graph import eigenpairs, spcl
from linkwise.cluster.graph.neighbour_graph import build_neighbour_graph
from reference import spcl as reference


@pytest.mark.slow
@given(n=st.integers(3, 20), seed=st.integers(0, 10**6), n_pairs=st.integers(0, 8))
def test_eigenvectors_are_those_of_the_paper(n, seed, n_pairs):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    c = lw.Constraints.sample(y, min(n_pairs, n * (n - 1) // 2), seed)
    graph = build_neighbour_graph(X, c, 4)
    affinity = spcl.overwrite_affinities(graph.weights, graph.node, c)
    for i, j in c.must_link:
        assert affinity[i, j] == affinity[j, i] == 1
    for i, j in c.cannot_link:
        assert affinity[i, j] == affinity[j, i] == 0
    ours = spcl.embed_affinities(affinity, n)  # of all eigenvectors no choice among equal ones is left
    np.testing.assert_allclose(ours @ ours.T, np.eye(n), atol=1e-9)
    width = 2
    values = np.linalg.eigvalsh(affinity.toarray() - np.diag(affinity.toarray().sum(axis=1)))[::-1]
    if values[width - 1] - values[width] > 1e-6:  # the space of the first two is one
        ours = spcl.embed_affinities(affinity, width)
        wanted = reference.embedding(graph.weights.toarray(), c.must_link, c.cannot_link, width)
        np.testing.assert_allclose(ours @ ours.T, wanted @ wanted.T, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_constant_eigenvector_may_be_left_out(seed):
    X, y = make_blobs(20, centers=2, cluster_std=3.0, random_state=seed)
    c = lw.Constraints.sample(y, 10, random_state=seed)
    graph = build_neighbour_graph(X, c, 6)
    affinity = spcl.overwrite_affinities(graph.weights, graph.node, c)
    ours = spcl.embed_affinities(affinity, 2, skip_constant=True)
    wanted = reference.embedding(graph.weights.toarray(), c.must_link, c.cannot_link, 2, skipped=1)
    np.testing.assert_allclose(ours @ ours.T, wanted @ wanted.T, atol=1e-6)
    model = lw.SPCL(2, n_neighbors=6, skip_constant=True, random_state=0).fit(X, constraints=c)
    assert model.embedding_.shape == (20, 2)
    assert spcl.embed_affinities(affinity[[0]][:, [0]], 2, skip_constant=True).shape == (1, 1)


def test_a_large_graph_is_solved_by_its_factor_as_a_small_one(monkeypatch):
    X, _ = make_blobs(300, centers=3, random_state=0)
    graph = build_neighbour_graph(X, lw.Constraints(300), 10)
    sparse = spcl.embed_affinities(graph.weights, 3)
    monkeypatch.setattr(eigenpairs, "SMALL", 1000)
    dense = spcl.embed_affinities(graph.weights, 3)
    np.testing.assert_allclose(sparse @ sparse.T, dense @ dense.T, atol=1e-6)


def test_a_cannot_link_wins_over_a_must_link_of_the_same_rows():
    X, _ = make_blobs(12, random_state=0)
    with pytest.warns(lw.ConstraintWarning):
        c = lw.Constraints(12, [(0, 1)], [(0, 1)], on_conflict="keep")
    graph = build_neighbour_graph(X, c, 3)
    assert spcl.overwrite_affinities(graph.weights, graph.node, c)[0, 1] == 0


def test_no_affinity_at_all_is_no_harm():
    model = lw.SPCL(2, random_state=0).fit([[0.0], [1.0]], constraints=lw.Constraints(2, (), [(0, 1)]))
    assert sorted(model.labels_.tolist()) == [0, 1]


def test_moons_are_parted_where_k_means_fails():
    X, y = make_moons(300, noise=0.06, random_state=0)
    assert adjusted_rand_score(y, lw.PCKMeans(2, random_state=0).fit(X).labels_) < 0.7
    model = lw.SPCL(2, random_state=0).fit(X, constraints=lw.Constraints.sample(y, 30, 0))
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.embedding_.shape == (300, 2)
    np.testing.assert_allclose(np.linalg.norm(model.embedding_, axis=1), 1)


def test_pairs_lead_to_another_clustering_of_the_same_rows():
    """Four groups at the corners of a square, of which pairs say whether rows or columns belong together."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    X, corner = make_blobs(160, centers=corners, cluster_std=0.12, random_state=0)
    for y in (corner % 2, corner // 2):
        model = lw.SPCL(2, random_state=0).fit(X, constraints=lw.Constraints.sample(y, 60, 0))
        assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize(
    ("setting", "value"),
    [("n_components", 0), ("n_neighbors", 0), ("sigma", 0.0), ("n_clusters", 0), ("n_init", 0)],
)
def test_bad_settings_raise_errors(setting, value):
    with pytest.raises(ValueError, match=setting):
        lw.SPCL(**{"n_clusters": 2, setting: value}).fit(np.eye(3))


def test_two_eigenvectors_are_taken_at_least():
    """The first is the same for all rows."""
    X, _ = make_moons(100, noise=0.05, random_state=0)
    one, two = (lw.SPCL(2, n_components=n, random_state=0).fit(X) for n in (1, 2))
    assert one.n_clusters_ == 2
    np.testing.assert_array_equal(one.labels_, two.labels_)
