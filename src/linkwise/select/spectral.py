"""Normalised spectral clustering of one graph for many numbers of clusters.

The rows are placed at the first eigenvectors of the random walk on the graph (Shi and Malik 2000;
the placing of von Luxburg 2007, section 4.2, without rescaled rows) and clustered there by k-means,
as scikit-learn's ``SpectralClustering`` does. One solution serves every number of clusters. Until 2017
scikit-learn multiplied eigenvectors by the root of the degree where it should divide by it; `by_degree` does
so, too.

Changed, and why: with few features k-means has many optima, and the result should not depend on luck. After
Lloyd's iteration each run moves single rows (Hartigan 1975), and runs are repeated until the best clustering
was found three times: on the graphs of COBS that misses the best of 30 runs less often than ten runs do.

If there are too many rows for all weights, a Gaussian graph is approximated by its weights to some rows, the
landmarks (Fowlkes, Belongie, Chung and Malik 2004).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from linkwise import native, parallel
from linkwise.cluster.graph.eigenpairs import draw_start_block, solve_largest
from linkwise.cluster.graph.random_walk import PRODUCTS, Graph, embed_graph
from linkwise.parallel import one_blas_thread

LANDMARKS = 600
NO_RANK = 1e-10  # share of the largest eigenvalue below which one between the landmarks is rounding
LEAST_DEGREE = 1e-8  # of the greatest one
STARTS = 3  # of k-means, made together
MOST_STARTS = 30
SEEN = 3  # runs that end at the best clustering, after which no more are made
SAME = 1e-7  # relative difference of the sums of squares of one clustering
MAX_ITERATIONS = 300
TOLERANCE = 1e-3  # of Lloyd's iteration: single rows are moved after it


def build_knn_graphs(neighbours: NDArray[np.int64]) -> Callable[[int], sp.csr_array]:
    """Build graphs of the k nearest rows, the row included; mutual edges weigh 1, others 1/2.

    `neighbours`, of shape (n_rows, k_max), are by distance, as ``NearestNeighbors.kneighbors`` returns
    them for the same rows.
    """

    def graph(k: int) -> sp.csr_array:
        n = len(neighbours)
        ends = neighbours[:, :k].astype(np.int32).ravel()
        starts = np.arange(0, n * k + 1, k, dtype=np.int32)
        directed = sp.csr_array((np.full(n * k, 0.5), ends, starts), shape=(n, n))
        return sp.csr_array(directed + directed.T)

    return graph


def build_gaussian_graph(
    X: NDArray[np.float64], sigma: float, *, n_threads: int = 1, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Build the graph of weights exp(-d² / (2 sigma²)) between all rows, in `out` if given."""
    weights = np.empty((len(X), len(X))) if out is None else out
    native.gaussian_weights(np.ascontiguousarray(X), 0.5 / sigma**2, weights, n_threads)
    return weights


def spectral_labels(
    graph: Graph,
    clusters: Sequence[int],
    seed: tuple[int, ...],
    n_threads: int | None = None,
    X: NDArray[np.float64] | None = None,
    *,
    by_degree: bool = False,
) -> list[NDArray[np.int32] | None]:
    """Cluster the nodes of a graph, once for each number of clusters.

    Weights are symmetric and not negative; the diagonal is ignored, and a dense array is overwritten. `X`
    are rows of which a dense graph is Gaussian; see `embed_graph`. None if the graph has no edges, or the
    solver did not converge.
    """
    threads = parallel.n_threads() if n_threads is None else n_threads
    degree = _sum_degrees(graph) if by_degree else None
    with one_blas_thread():
        placed = embed_graph(graph, max(clusters), threads, X)
    if placed is not None and degree is not None:
        placed = placed * degree[:, None]
    return _label_embedding(placed, clusters, seed, threads)


def _sum_degrees(graph: Graph) -> NDArray[np.float64]:
    """Sum the weights of each node without its loop; before a dense graph is overwritten."""
    total = np.asarray(graph.sum(axis=0), dtype=np.float64).ravel()
    degree: NDArray[np.float64] = total - graph.diagonal()
    return degree


def choose_landmarks(X: NDArray[np.float64], seed: tuple[int, ...], n_threads: int = 1) -> NDArray[np.int64]:
    """Choose landmarks: at most 600 rows that are far from each other.

    They are drawn like the starts of k-means++ (Arthur and Vassilvitskii 2007).
    """
    rows = native.kmeans_plusplus(
        np.ascontiguousarray(X), min(LANDMARKS, len(X)), _draw_seeds(seed, 1), 1, n_threads
    )
    return rows[rows >= 0]


def _draw_seeds(seed: tuple[int, ...], how_many: int) -> NDArray[np.uint64]:
    return np.random.SeedSequence(seed).generate_state(how_many, np.uint64).astype(np.uint64, copy=False)


def landmark_labels(
    X: NDArray[np.float64],
    sigma: float,
    landmarks: NDArray[np.int64],
    clusters: Sequence[int],
    seed: tuple[int, ...],
    n_threads: int | None = None,
    *,
    by_degree: bool = False,
) -> list[NDArray[np.int32] | None]:
    """Compute `spectral_labels` of a Gaussian graph from the weights of all rows to the landmarks alone.

    Fowlkes, Belongie, Chung and Malik (2004), Spectral grouping using the Nyström method.
    """
    threads = parallel.n_threads() if n_threads is None else n_threads
    with one_blas_thread():
        placed = _landmark_embedding(X, sigma, landmarks, max(clusters), by_degree)
    return _label_embedding(placed, clusters, seed, threads)


def _landmark_embedding(
    X: NDArray[np.float64], sigma: float, landmarks: NDArray[np.int64], width: int, by_degree: bool
) -> NDArray[np.float64] | None:
    """The first eigenvectors of the walk on the graph F F' without its loops, F = C A^-1/2.

    C holds the weights between rows and landmarks, A those between landmarks.
    """
    factor = cdist(X, X[landmarks], "sqeuclidean")
    np.exp(np.multiply(factor, -0.5 / sigma**2, out=factor), out=factor)
    values, vectors = np.linalg.eigh(factor[landmarks])
    told = values > NO_RANK * values[-1]
    factor = factor @ (vectors[:, told] / np.sqrt(values[told]))
    loops = np.einsum("ij,ij->i", factor, factor)
    degree = factor @ factor.sum(axis=0) - loops
    if not degree.max() > 0:
        return None
    root = np.sqrt(np.maximum(degree, LEAST_DEGREE * degree.max()))

    def product(block: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = block / root
        walked: NDArray[np.float64] = ((scaled @ factor) @ factor.T - scaled * loops) / root
        return walked

    found = solve_largest(product, draw_start_block(root, width), width, PRODUCTS)
    if found is None:
        return None
    placed: NDArray[np.float64] = found.vectors * root if by_degree else found.vectors / root
    return placed.T


def _label_embedding(
    placed: NDArray[np.float64] | None, clusters: Sequence[int], seed: tuple[int, ...], n_threads: int
) -> list[NDArray[np.int32] | None]:
    if placed is None:
        return [None] * len(clusters)
    varies = np.ptp(placed, axis=0) > 0  # the vector of a connected graph is the same everywhere
    varies[-1] = True
    return [
        _best_labels(np.ascontiguousarray(placed[:, _columns(varies[:k])]), k, (*seed, k), n_threads)
        for k in clusters
    ]


def _columns(varies: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The columns that vary; the last one if none does, as where all degrees are next to 0."""
    found = np.flatnonzero(varies)
    return found if len(found) else np.array([len(varies) - 1])


def _best_labels(X: NDArray[np.float64], k: int, seed: tuple[int, ...], n_threads: int) -> NDArray[np.int32]:
    """Find the k-means labels of least inertia, with starts until they occur repeatedly."""
    seeds = _draw_seeds(seed, MOST_STARTS)
    labels: list[NDArray[np.int32]] = []
    inertia = np.empty(0)
    tol = TOLERANCE * float(X.var(axis=0).mean())
    for at in range(0, MOST_STARTS, STARTS):
        found, sums = _runs(X, k, seeds[at : at + STARTS], tol, n_threads)
        labels.extend(found)
        inertia = np.append(inertia, sums)
        if np.count_nonzero(inertia <= inertia.min() * (1 + SAME)) >= SEEN:
            break
    best = labels[int(inertia.argmin())]
    return np.unique(best, return_inverse=True)[1].astype(np.int32)  # no cluster is empty


def _runs(
    X: NDArray[np.float64], k: int, seeds: NDArray[np.uint64], tol: float, n_threads: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    rows = native.kmeans_plusplus(X, k, seeds, 2 + int(log(k)), n_threads)
    starts = X[rows[:, : np.count_nonzero(rows[0] >= 0)]]
    runs = native.lloyd(X, starts, MAX_ITERATIONS, tol, n_threads)
    return native.exchange(X, runs.labels, k, MAX_ITERATIONS, n_threads)
