"""The number of clusters by the gap between eigenvalues."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import linkwise as lw
from linkwise.select.eigengap import laplacian_eigenvalues
from linkwise.select.spectral import embed_graph

AFFINITIES = ("local_scaling", "nearest_neighbors")


@parametrize_with_checks([lw.EigengapSearch(random_state=0)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def exact(graph, n):
    """The n smallest eigenvalues of the normalised Laplacian, by a dense solver."""
    dense = graph.toarray() if sp.issparse(graph) else graph
    root = np.sqrt(dense.sum(axis=0))
    return np.linalg.eigvalsh(np.eye(len(dense)) - dense / root / root[:, None])[:n]


@pytest.mark.parametrize("affinity", AFFINITIES)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_eigenvalues_are_those_of_a_dense_solver(affinity, load):
    X = minmax_scale(load().data)
    model = lw.EigengapSearch(affinity=affinity, random_state=0).fit(X)
    values = exact(model._graph(X), 11)
    np.testing.assert_allclose(model.eigenvalues_, values, atol=1e-7)
    gaps = np.diff(values)[1:]
    np.testing.assert_allclose([*model.gaps_.values()], gaps, atol=1e-7)
    assert list(model.gaps_) == list(range(2, 11))
    assert model.n_clusters_ == 2 + gaps.argmax()


def test_eigenvalues_by_hand():
    """Two separate edges: 0 and 2 each. A path of three rows: 0, 1 and 2."""
    edges = np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(
        laplacian_eigenvalues(edges, embed_graph(edges.copy(), 4)), [0, 0, 2, 2], atol=1e-12
    )
    path = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(
        laplacian_eigenvalues(path, embed_graph(path.copy(), 3)), [0, 1, 2], atol=1e-12
    )


@pytest.mark.parametrize("affinity", AFFINITIES)
@pytest.mark.parametrize("k", [3, 6])
def test_separate_blobs_are_counted(affinity, k):
    centers = 14 * np.c_[np.arange(k), np.arange(k) % 2]
    X, y = make_blobs(50 * k, 2, centers=centers, random_state=0)
    model = lw.EigengapSearch(affinity=affinity, random_state=0).fit(X)
    assert model.n_clusters_ == k
    assert adjusted_rand_score(y, model.labels_) > 0.99


def test_the_clustering_is_the_spectral_one_of_that_graph():
    X = minmax_scale(load_wine().data)
    model = lw.EigengapSearch(random_state=0).fit(X)
    theirs = SpectralClustering(model.n_clusters_, affinity="precomputed", random_state=0)
    assert adjusted_rand_score(theirs.fit_predict(model._graph(X)), model.labels_) > 0.95


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_the_number_of_threads_changes_nothing(affinity):
    X = minmax_scale(load_wine().data)
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            found.append(lw.EigengapSearch(affinity=affinity, random_state=0).fit(X))
    np.testing.assert_array_equal(found[0].eigenvalues_, found[1].eigenvalues_)
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)


@pytest.mark.parametrize("affinity", AFFINITIES)
@pytest.mark.parametrize("X", [[[3.0, 4.0]], [[0.0], [1.0]], [[0.0], [1.0], [5.0]], [[1.0]] * 12])
def test_few_rows(affinity, X):
    model = lw.EigengapSearch(affinity=affinity, random_state=0).fit(X)
    distinct = len(np.unique(X, axis=0))
    assert len(model.labels_) == len(X)
    assert model.n_clusters_ == len(np.unique(model.labels_)) <= max(distinct - 1, 1)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"affinity": "rbf"}, "affinity"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"min_clusters": 5, "max_clusters": 4}, r"min_clusters=5 is above max_clusters=4\. Swap them"),
    ],
)
def test_bad_settings_raise_errors(parameters, words):
    with pytest.raises(ValueError, match=words):
        lw.EigengapSearch(**parameters).fit(np.eye(3))
