"""Spectral clustering of one graph for many numbers of clusters, beside scikit-learn's."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering, k_means
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import minmax_scale

from linkwise.select.spectral import gaussian_graph, knn_graphs, spectral_labels
from linkwise.select.walk import embedding

SETS = {
    "iris": minmax_scale(load_iris().data),
    "wine": minmax_scale(load_wine().data),
    "moons": minmax_scale(make_moons(250, noise=0.1, random_state=0)[0]),
    "blobs": minmax_scale(make_blobs(260, 3, centers=5, random_state=1)[0]),
}
KS = (2, 5, 10)
SIGMAS = np.linspace(0.01, 5, 20)[[1, 2, 4, 9, 19]]


def graphs(X):
    neighbours = NearestNeighbors(n_neighbors=20).fit(X).kneighbors(X, return_distance=False)
    for k in (3, 7, 12, 20):
        yield f"k={k}", knn_graphs(neighbours)(k)
    for sigma in SIGMAS:
        yield f"sigma={sigma}", gaussian_graph(X, sigma)


def connected(graph):
    return sp.csgraph.connected_components(sp.csr_array(graph))[0] == 1


def scikit_learns(graph, k):
    """Labels from scikit-learn; None where two seeds do not lead to the same clustering."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = (
            SpectralClustering(k, affinity="precomputed", random_state=seed).fit(graph).labels_
            for seed in (0, 1)
        )
    return one if adjusted_rand_score(one, other) >= 0.95 else None


def test_the_clusterings_of_connected_graphs_are_scikit_learns():
    agreement = []
    for X in SETS.values():
        for _, graph in graphs(X):
            if connected(graph):
                theirs = {k: scikit_learns(graph.copy(), k) for k in (2, 3, 5)}
                for k, ours in zip(theirs, spectral_labels(graph, list(theirs), (0,)), strict=True):
                    if theirs[k] is not None:
                        agreement.append(adjusted_rand_score(theirs[k], ours))
    assert len(agreement) > 60
    assert np.mean(np.array(agreement) >= 0.95) >= 0.95


@pytest.mark.parametrize("name", SETS)
def test_the_objective_is_no_worse_than_scikit_learns_on_the_same_places(name):
    ratios = []
    for _, graph in graphs(SETS[name]):
        placed = embedding(graph.copy(), 10)
        for k, labels in zip(KS, spectral_labels(graph, KS, (0,)), strict=True):
            at = placed[:, :k]
            means = np.array([at[labels == c].mean(axis=0) for c in range(labels.max() + 1)])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # fewer places than clusters
                theirs = k_means(at, k, n_init=10, random_state=0)[2]
            ratios.append((((at - means[labels]) ** 2).sum() + 1e-12) / (theirs + 1e-12))
    assert np.median(ratios) <= 1 + 1e-4
    assert np.mean(np.array(ratios) <= 1.02) >= 0.95


def residual(graph, placed):
    """How far each column is from an eigenvector of the random walk."""
    dense = graph.toarray() if sp.issparse(graph) else graph.copy()
    np.fill_diagonal(dense, 0)
    degree = dense.sum(axis=1)
    step = dense / np.where(degree > 0, degree, 1)[:, None]
    column = placed / np.abs(placed).max(axis=0)
    after = step @ column
    weight = degree[:, None] * column
    values = (weight * after).sum(axis=0) / (weight * column).sum(axis=0)
    return np.abs(after - values * column)[degree > 0].max(), values


@pytest.mark.parametrize("name", SETS)
def test_columns_are_the_first_eigenvectors_of_the_walk(name):
    for words, graph in graphs(SETS[name]):
        placed = embedding(graph.copy(), 10)
        error, values = residual(graph, placed)
        dense = graph.toarray() if sp.issparse(graph) else graph
        np.fill_diagonal(dense, 0)
        root = np.sqrt(dense.sum(axis=1))
        exact = np.sort(np.linalg.eigvalsh(dense / root / root[:, None]))[::-1][:10]
        assert error < 1e-6, words
        np.testing.assert_allclose(values, exact, atol=1e-8, err_msg=words)


def cliques(*sizes):
    """Separate complete graphs."""
    return sp.csr_array(sp.block_diag([np.ones((size, size)) for size in sizes]))


@pytest.mark.parametrize("dense", [False, True])
def test_each_component_is_a_cluster(dense):
    graph = cliques(5, 9, 7)
    labels = spectral_labels(graph.toarray() if dense else graph, [2, 3], (0,))
    truth = np.repeat([0, 1, 2], [5, 9, 7])
    assert adjusted_rand_score(truth, labels[1]) == 1
    assert len({tuple(labels[0][truth == c]) for c in range(3)}) == 3  # no clique is torn
    assert all(len(set(labels[0][truth == c])) == 1 for c in range(3))


def test_identical_components_are_divided_alike():
    one = gaussian_graph(SETS["iris"][:60], 0.2)
    graph = sp.csr_array(sp.block_diag([one] * 3))
    error, values = residual(graph, embedding(graph, 6))
    assert error < 1e-8
    np.testing.assert_allclose(values[:3], 1)
    np.testing.assert_allclose(values[3:], values[3])


def test_large_graphs_with_nearly_separate_parts_are_solved():
    X = np.vstack(
        [make_blobs(150, 2, centers=[[c, 0]], cluster_std=0.05, random_state=c)[0] for c in range(3)]
    )
    for sigma in (0.01, 0.12, 0.2, 1.0):
        placed = embedding(gaussian_graph(X, sigma), 3)
        assert np.isfinite(placed).all()
    labels = spectral_labels(gaussian_graph(X, 0.2), [3], (0,))[0]
    assert adjusted_rand_score(np.repeat(range(3), 150), labels) == 1


def test_rows_far_from_all_others_follow_their_neighbours():
    X = np.r_[np.zeros(30), np.ones(30), 1.6][:, None] + np.random.default_rng(0).normal(0, 0.02, (61, 1))
    graph = gaussian_graph(X, 0.07)
    labels = spectral_labels(graph, [2], (0,))[0]
    assert len(set(labels[:30])) == len(set(labels[30:])) == 1


def test_a_graph_without_edges_fails():
    assert spectral_labels(gaussian_graph(np.eye(5), 0.01), [2, 3], (0,)) == [None, None]
    assert embedding(sp.csr_array(np.eye(4)), 2) is None
