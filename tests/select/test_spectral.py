"""Spectral clustering of one graph for many numbers of clusters, beside scikit-learn's."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import SpectralClustering, k_means
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

import linkwise as lw
from linkwise.cluster.graph import random_walk
from linkwise.cluster.graph.random_walk import embed_graph
from linkwise.select import spectral
from linkwise.select.spectral import (
    build_gaussian_graph,
    build_knn_graphs,
    choose_landmarks,
    landmark_labels,
    spectral_labels,
)
from reference import spectral as reference

SETS = {
    "iris": minmax_scale(load_iris().data),
    "wine": minmax_scale(load_wine().data),
    "moons": minmax_scale(make_moons(250, noise=0.1, random_state=0)[0]),
    "blobs": minmax_scale(make_blobs(260, 3, centers=5, random_state=1)[0]),
}
KS = (2, 5, 10)
SIGMAS = np.linspace(0.01, 5, 20)[[1, 2, 4, 9, 19]]


@pytest.fixture(autouse=True)
def _one_thread():
    """scikit-learn waits for threads that get no core."""
    with threadpool_limits(1):
        yield


def graphs(X):
    neighbours = NearestNeighbors(n_neighbors=20).fit(X).kneighbors(X, return_distance=False)
    for k in (3, 7, 12, 20):
        yield f"k={k}", build_knn_graphs(neighbours)(k)
    for sigma in SIGMAS:
        yield f"sigma={sigma}", build_gaussian_graph(X, sigma)


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "name",
    [
        "iris",
        "moons",
        *(pytest.param(name, marks=pytest.mark.slow(nightly=True)) for name in ("wine", "blobs")),
    ],
)
def test_the_objective_is_no_worse_than_scikit_learns_on_the_same_places(name):
    ratios = []
    for _, graph in graphs(SETS[name]):
        placed = embed_graph(graph.copy(), 10)
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


def test_from_the_main_directions_of_rows_wide_graphs_need_fewer_products(monkeypatch):
    X = np.random.default_rng(0).normal(size=(900, 12)) * np.linspace(1, 0.1, 12)
    X[:, 5] = 1.0
    graph, products = build_gaussian_graph(X, 6.0), []
    block_product = random_walk.native.block_product
    monkeypatch.setattr(
        random_walk.native, "block_product", lambda *a: products.append(a) or block_product(*a)
    )
    usual, usually = embed_graph(graph.copy(), 8), len(products)
    placed = embed_graph(graph.copy(), 8, 2, X)
    assert len(products) - usually <= usually - 2
    np.testing.assert_allclose(placed, usual, atol=1e-6 * np.abs(usual).max())


@pytest.mark.parametrize("name", SETS)
def test_columns_are_the_first_eigenvectors_of_the_walk(name):
    for words, graph in graphs(SETS[name]):
        placed = embed_graph(graph.copy(), 10)
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
    one = build_gaussian_graph(SETS["iris"][:60], 0.2)
    graph = sp.csr_array(sp.block_diag([one] * 3))
    error, values = residual(graph, embed_graph(graph, 6))
    assert error < 1e-8
    np.testing.assert_allclose(values[:3], 1)
    np.testing.assert_allclose(values[3:], values[3])


def test_large_graphs_with_nearly_separate_parts_are_solved():
    X = np.vstack(
        [make_blobs(150, 2, centers=[[c, 0]], cluster_std=0.05, random_state=c)[0] for c in range(3)]
    )
    for sigma in (0.01, 0.12, 0.2, 1.0):
        placed = embed_graph(build_gaussian_graph(X, sigma), 3)
        assert np.isfinite(placed).all()
    labels = spectral_labels(build_gaussian_graph(X, 0.2), [3], (0,))[0]
    assert adjusted_rand_score(np.repeat(range(3), 150), labels) == 1


def test_rows_far_from_all_others_follow_their_neighbours():
    X = np.r_[np.zeros(30), np.ones(30), 1.6][:, None] + np.random.default_rng(0).normal(0, 0.02, (61, 1))
    graph = build_gaussian_graph(X, 0.07)
    labels = spectral_labels(graph, [2], (0,))[0]
    assert len(set(labels[:30])) == len(set(labels[30:])) == 1


def test_a_graph_without_edges_fails():
    assert spectral_labels(build_gaussian_graph(np.eye(5), 0.01), [2, 3], (0,)) == [None, None]
    assert embed_graph(sp.csr_array(np.eye(4)), 2) is None


# ---------------------------------------------------------------- eigenvectors
@st.composite
def random_graphs(draw):
    """Dense or sparse, in one part or more, with degrees that differ much."""
    n, parts = draw(st.sampled_from([30, 260, 420])), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    dense = draw(st.booleans())
    W = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < (0.4 if dense else 0.03))
    strength = 10.0 ** rng.uniform(-draw(st.sampled_from([0, 2, 5])), 0, n)
    W = np.maximum(W, W.T) * strength * strength[:, None]
    part = np.arange(n) % parts
    W *= part == part[:, None]
    return W if dense else sp.csr_array(W)


@settings(max_examples=40, deadline=None)
@given(random_graphs())
def test_vectors_of_random_graphs_are_those_of_a_dense_solver(graph):
    W = graph.toarray() if sp.issparse(graph) else graph.copy()
    np.fill_diagonal(W, 0)
    degree = W.sum(axis=1)
    placed = embed_graph(graph.copy(), 6)
    root = np.sqrt(np.where(degree > 0, degree, 1))
    joined = np.flatnonzero(degree > 0)
    exact = np.sort(np.linalg.eigvalsh((W / root / root[:, None])[np.ix_(joined, joined)]))[::-1]
    vectors = placed * root[:, None]
    vectors[degree == 0] = 0
    used = np.linalg.norm(vectors, axis=0) > 0  # a row without edges is a component without weight
    vectors = vectors[:, used] / np.linalg.norm(vectors[:, used], axis=0)
    after = W / root / root[:, None] @ vectors
    values = (vectors * after).sum(axis=0)
    np.testing.assert_allclose(np.linalg.norm(after - values * vectors, axis=0), 0, atol=1e-7)
    np.testing.assert_allclose(np.sort(values)[::-1], exact[: used.sum()], atol=1e-7)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(used.sum()), atol=1e-5)


def test_a_pair_far_from_all_others_has_a_vector_of_its_own():
    """Its degree is 1e-14 of the others', and a solver's rounding is larger than what it is worth."""
    X = np.r_[np.linspace(0, 1, 250), 3.0, 3.01][:, None]
    graph = build_gaussian_graph(X, 0.3) ** 1.5
    graph[-2:, -2:] = 1e-12
    error, values = residual(graph, embed_graph(graph.copy(), 4))
    assert error < 1e-6
    assert values[1] > 0.9


@pytest.mark.parametrize("sigma", [0.05, 0.3, 2.0])
def test_the_factorised_path_leads_to_the_same_places(sigma, monkeypatch):
    X = make_blobs(450, 2, centers=[[0, 0], [3, 3], [9, 0]], cluster_std=0.6, random_state=0)[0]
    graph = build_gaussian_graph(X, sigma)
    usual = embed_graph(graph.copy(), 5)
    monkeypatch.setattr(random_walk, "PRODUCTS", 4)
    kept = graph.copy()
    factorised = embed_graph(kept, 5)
    np.testing.assert_allclose(factorised, usual, atol=1e-5 * np.abs(usual).max())


def test_a_graph_is_whole_again_after_its_factorisation():
    weights = build_gaussian_graph(SETS["moons"], 0.2)
    np.fill_diagonal(weights, 0)
    before, root = weights.copy(), np.sqrt(weights.sum(axis=0))
    vector = np.random.default_rng(0).normal(size=(1, len(root)))
    with random_walk._Factorised(weights, root) as solved:
        found = solved(vector)
    np.testing.assert_allclose(weights, before, rtol=1e-12)
    shifted = (1 + random_walk.BEYOND) * np.eye(len(root)) - before / root / root[:, None]
    np.testing.assert_allclose(found @ shifted, vector, atol=1e-9)


def test_parts_of_a_dense_graph_are_scipys():
    part = np.random.default_rng(0).integers(0, 4, 300)
    graph = np.where(part == part[:, None], np.random.default_rng(1).uniform(size=(300, 300)) < 0.05, 0.0)
    graph = np.maximum(graph, graph.T)
    number, component = random_walk._find_components(graph, graph.sum(axis=0))
    theirs = sp.csgraph.connected_components(sp.csr_array(graph))
    assert number == theirs[0]
    assert adjusted_rand_score(component, theirs[1]) == 1


# ---------------------------------------------------------------- memory
@pytest.mark.parametrize("sigma", [0.05, 0.15, 0.5, 3.0])
def test_no_second_array_of_all_pairs_is_made(sigma):
    X = np.random.default_rng(0).uniform(size=(1500, 3))
    tracemalloc.start()
    try:
        labels = spectral_labels(build_gaussian_graph(X, sigma), [2, 10], (0,), 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert all(found is not None for found in labels)
    assert peak < 1.6 * 8 * len(X) ** 2


def test_landmarks_need_no_array_of_all_pairs():
    X = np.random.default_rng(0).uniform(size=(6000, 3))
    tracemalloc.start()
    try:
        landmark_labels(X, 0.5, choose_landmarks(X, (0,))[:200], [2, 3], (0,), 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.2 * 8 * len(X) ** 2


# ---------------------------------------------------------------- landmarks
@pytest.mark.parametrize("sigma", [0.2, 0.5, 2.0])
def test_landmarks_lead_to_nearly_the_same_clusterings(sigma):
    X = minmax_scale(make_blobs(900, 4, centers=6, cluster_std=1.5, random_state=2)[0])
    exact = spectral_labels(build_gaussian_graph(X, sigma), [2, 4, 6], (0,))
    near = landmark_labels(X, sigma, choose_landmarks(X, (0,))[:300], [2, 4, 6], (0,))
    assert np.mean([adjusted_rand_score(a, b) for a, b in zip(exact, near, strict=True)]) > 0.95


def test_landmarks_are_distinct_rows():
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 2)), 5, axis=0)
    rows = choose_landmarks(X, (3,))
    assert len(rows) == 40
    assert len(np.unique(X[rows], axis=0)) == 40


def test_rows_that_no_landmark_reaches_fail():
    X = np.arange(20.0)[:, None]
    assert landmark_labels(X, 0.01, np.arange(5), [2, 3], (0,)) == [None, None]


# ---------------------------------------------------------------- the same everywhere
def test_labels_do_not_depend_on_threads_or_on_what_else_is_asked():
    for _, graph in graphs(SETS["wine"]):
        one = spectral_labels(graph.copy(), KS, (5,), 1)
        many = spectral_labels(graph.copy(), KS, (5,), 3)
        for a, b in zip(one, many, strict=True):
            assert (a == b).all()


@pytest.mark.parametrize("sigma", [1e-3, 0.01, 0.1])
def test_duplicates_and_rows_alone_are_clustered(sigma):
    X = np.r_[np.repeat(np.eye(4), 60, axis=0), 5 * np.eye(4)]
    for labels, k in zip(spectral_labels(build_gaussian_graph(X, sigma), [2, 4], (0,)), (2, 4), strict=True):
        assert set(labels) == set(range(k))
        assert all(len(set(labels[at : at + 60])) == 1 for at in range(0, 240, 60))


# ---------------------------------------------------------------- the scaling of 2016
def distances(places):
    return np.linalg.norm(places[:, None] - places, axis=2)


@pytest.mark.parametrize("name", ["knn", "Gaussian"])
def test_rows_may_be_placed_as_scikit_learn_did_until_2017(name, monkeypatch):
    X, _ = make_blobs(60, centers=3, cluster_std=2.5, random_state=0)
    X = minmax_scale(X)
    if name == "knn":
        graph = build_knn_graphs(NearestNeighbors(n_neighbors=20).fit(X).kneighbors(X)[1])(15)
        weights = graph.toarray()
    else:
        graph = build_gaussian_graph(X, 0.2)
        weights = graph.copy()
    placed = []
    monkeypatch.setattr(spectral, "_label_embedding", lambda found, *_: placed.append(found))
    spectral_labels(graph, [3], (0,), 1, by_degree=True)
    np.testing.assert_allclose(
        distances(placed[0]), distances(reference.embedding_by_degree(weights, 3)), atol=1e-6
    )


def test_landmarks_may_have_that_scaling_too(monkeypatch):
    X = minmax_scale(make_blobs(50, centers=3, cluster_std=2.0, random_state=1)[0])
    placed = []
    monkeypatch.setattr(spectral, "_label_embedding", lambda found, *_: placed.append(found))
    landmark_labels(X, 0.3, np.arange(50), [3], (0,), 1, by_degree=True)
    wanted = reference.embedding_by_degree(build_gaussian_graph(X, 0.3), 3)
    np.testing.assert_allclose(distances(placed[0]), distances(wanted), rtol=1e-3, atol=1e-3)


def test_a_pool_has_that_scaling_only_if_its_preset_says_so():
    X, _ = make_blobs(40, centers=3, cluster_std=3.0, random_state=0)
    graphs = {"n_runs": 0, "n_eps": 0, "clusters": (3, 4), "neighbours": (5, 9), "sigmas": (0.2,)}
    pools = [
        lw.build_pool(X, preset=lw.Preset(**graphs, **by), seed=0).labels
        for by in ({}, {"by_degree": False}, {"by_degree": True})
    ]
    np.testing.assert_array_equal(pools[0], pools[1])
    assert pools[0].tobytes() != pools[2].tobytes()


def test_a_graph_of_next_to_no_weights_is_clustered_with_that_scaling():
    X = minmax_scale(load_wine().data)
    graph = build_gaussian_graph(X, 0.01)
    found = spectral_labels(graph, [2, 5], (0,), 1, X, by_degree=True)
    assert all(labels is None or len(labels) == len(X) for labels in found)
