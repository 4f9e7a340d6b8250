"""Normalised spectral clustering of one graph for many numbers of clusters.

The rows are placed at the first eigenvectors of the random walk on the graph (Shi and Malik 2000;
the placing of von Luxburg 2007, section 4.2, without rescaled rows) and clustered there by k-means,
as scikit-learn's ``SpectralClustering`` does. One solution serves every number of clusters.

Changed, and why: a component of the graph is an eigenvector of its own, known without computation.
Solvers that look for one vector after another find some of them twice and others never, so each
component is solved for itself. Where there are more components than vectors wanted, those of most
weight are taken; the other rows stay together at the origin.

Cost: one factorisation of a sparse graph, or some 50 products with a dense one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh
from threadpoolctl import ThreadpoolController

from linkwise.cluster.common.kmeans import k_means
from linkwise.learner import rng_at

Graph = Any  # a dense or a sparse array, which have no common type

N_INIT = 10  # starts of k-means
NEGLIGIBLE = 1e-14  # a step of the random walk that is rarer than this is none
SPARSE = 0.05  # share of entries below which a graph is kept as a sparse one
SMALL = 200  # rows of a component that is solved by a dense method
BEYOND = 1e-4  # how far from 1, the largest eigenvalue there can be, the shift lies
LEAST_WEIGHT = 1e-6  # weight of a component, of the heaviest one, below which its scale is kept
STEPS = 3  # by which rows of tiny degree follow the others
LEAST_STEP = 0.01  # eigenvalue below which such a step says nothing
TOLERANCE = 1e-9
LANCZOS_VECTORS = 25
RESTARTS = 20  # of the Lanczos method on a dense graph, before it is factorised


def knn_graphs(neighbours: NDArray[np.int64]) -> Callable[[int], sp.csr_array]:
    """Graphs that join each row to its k nearest, itself included, with weight 1 where both agree, else 1/2.

    Parameters
    ----------
    neighbours : ndarray of shape (n_rows, k_max)
        Rows by distance, as ``NearestNeighbors.kneighbors`` of the same rows gives them.
    """

    def graph(k: int) -> sp.csr_array:
        n = len(neighbours)
        ends = neighbours[:, :k].astype(np.int32).ravel()
        starts = np.arange(0, n * k + 1, k, dtype=np.int32)
        directed = sp.csr_array((np.full(n * k, 0.5), ends, starts), shape=(n, n))
        return sp.csr_array(directed + directed.T)

    return graph


def gaussian_graph(squared_distances: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """Weights exp(-d² / (2 sigma²)) between all rows."""
    weights: NDArray[np.float64] = squared_distances * (-0.5 / sigma**2)
    return np.exp(weights, out=weights)


def spectral_labels(
    graph: Graph, clusters: Sequence[int], seed: tuple[int, ...], n_threads: int | None = None
) -> list[NDArray[np.int32] | None]:
    """Cluster the nodes of a graph, once for each number of clusters.

    Parameters
    ----------
    graph : ndarray or sparse array of shape (n_rows, n_rows)
        Symmetric weights, not negative; the diagonal is ignored and a dense array is overwritten.
    clusters : sequence of int
        Numbers of clusters, each at least 1 and at most n_rows.
    seed : tuple of int
        Of the k-means starts.
    n_threads : int, optional

    Returns
    -------
    list of ndarray of shape (n_rows,), or None
        None where the graph has no edges, or its eigenvectors were not found.
    """
    # One thread: sums are then the same on every machine, and threads that spin between the many small
    # products cost more than they gain.
    with _threads().limit(limits=1, user_api="blas"):
        placed = embedding(graph, max(clusters))
    if placed is None:
        return [None] * len(clusters)
    return [
        k_means(placed[:, :k], k, (*seed, k), n_init=N_INIT, n_threads=n_threads).labels for k in clusters
    ]


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def embedding(graph: Graph, width: int) -> NDArray[np.float64] | None:
    """The first eigenvectors of the random walk on a graph, those of its components before all others.

    Parameters
    ----------
    graph : ndarray or sparse array of shape (n_rows, n_rows)
        As for `spectral_labels`.
    width : int
        Vectors wanted, at most n_rows.

    Returns
    -------
    ndarray of shape (n_rows, width), or None
        None where there are no edges, or a solver failed.
    """
    weights, degree = _thinned(graph)
    if not degree.any():
        return None
    number, component = _component_of(weights)
    heavy = np.bincount(component, weights=degree)
    chosen = np.argsort(-heavy, kind="stable")[:width]
    scale = np.sqrt(np.maximum(heavy, LEAST_WEIGHT * heavy.max()))
    placed = np.zeros((len(degree), width))
    for column, c in enumerate(chosen):
        placed[component == c, column] = 1 / scale[c]
    if number >= width:
        return placed
    try:
        found = [
            pair
            for c in range(number)
            for pair in _inner(weights, degree, np.flatnonzero(component == c), width - number)
        ]
    except (ArpackError, np.linalg.LinAlgError):
        return None
    found.sort(key=lambda pair: -pair[0])
    for column, (_, rows, vector) in enumerate(found[: width - number], start=number):
        placed[rows, column] = vector
    return placed


def _thinned(graph: Graph) -> tuple[Graph, NDArray[np.float64]]:
    """Weights without loops and without the edges that the walk all but never takes, and the degrees.

    Sparse where few edges are left.
    """
    if sp.issparse(graph):
        edges = graph.tocoo()
        other = edges.row != edges.col
        weights: Graph = sp.csr_array(
            (edges.data[other], (edges.row[other], edges.col[other])), shape=graph.shape
        )
        return weights, np.asarray(weights.sum(axis=0)).ravel()
    np.fill_diagonal(graph, np.inf)
    least = graph.min()
    np.fill_diagonal(graph, 0.0)
    degree = graph.sum(axis=0)
    if least > NEGLIGIBLE * degree.max():
        return graph, degree
    taken = graph > NEGLIGIBLE * np.minimum(degree[:, None], degree)
    if np.count_nonzero(taken) < SPARSE * taken.size:
        rows, columns = np.nonzero(taken)
        return sp.csr_array((graph[rows, columns], (rows, columns)), shape=graph.shape), degree
    graph *= taken
    return graph, degree


def _component_of(weights: Graph) -> tuple[int, NDArray[np.int32]]:
    if not sp.issparse(weights):
        zeros = weights.size - np.count_nonzero(weights)
        if zeros == len(weights):  # the diagonal only
            return 1, np.zeros(len(weights), dtype=np.int32)
    number, component = connected_components(sp.csr_array(weights), directed=False)
    return int(number), component


def _inner(
    weights: Graph, degree: NDArray[np.float64], rows: NDArray[np.int64], wanted: int
) -> list[tuple[float, NDArray[np.int64], NDArray[np.float64]]]:
    """Eigenvalues and eigenvectors of the walk within one component, but for the constant one."""
    wanted = min(wanted, len(rows) - 1)
    if wanted == 0:
        return []
    whole = len(rows) == len(degree)
    part = weights if whole else weights[rows][:, rows]
    root = np.sqrt(degree[rows])
    values, vectors = _largest(_normalised(part, root), wanted + 1)
    placed = vectors / root[:, None]
    tiny = np.flatnonzero(root**2 < LEAST_WEIGHT * root.max() ** 2)
    if len(tiny):
        # such rows are lost in the rounding of the others: they follow these by a few steps of the walk
        placed[tiny] = 0
        steps, stretch = part[tiny], root[tiny, None] ** 2 * np.where(values > LEAST_STEP, values, 1)
        for _ in range(STEPS):
            placed[tiny] = (steps @ placed) / stretch
    placed *= np.where(placed[np.abs(placed).argmax(axis=0), np.arange(wanted + 1)] < 0, -1, 1)
    return [(float(values[j]), rows, placed[:, j]) for j in range(1, wanted + 1)]


def _normalised(weights: Graph, root: NDArray[np.float64]) -> Graph:
    """D^-1/2 W D^-1/2."""
    if sp.issparse(weights):
        by = sp.diags_array(1 / root)
        return sp.csr_array(by @ weights @ by)
    normal = weights / root[:, None]
    normal /= root
    return normal


def _largest(normal: Graph, wanted: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The largest eigenvalues of a symmetric matrix, descending, and their vectors."""
    n = normal.shape[0]
    if n <= max(SMALL, 2 * LANCZOS_VECTORS):
        dense = normal.toarray() if sp.issparse(normal) else normal
        values, vectors = eigh(dense, subset_by_index=(n - wanted, n - 1))
        return values[::-1], vectors[:, ::-1]
    settings: dict[str, Any] = {"k": wanted, "tol": TOLERANCE, "v0": rng_at(n).uniform(-1, 1, n)}
    if sp.issparse(normal):
        shifted = sp.csc_array(normal - sp.eye_array(n))
        values, vectors = eigsh(shifted, sigma=BEYOND, **settings)
        values = values + 1
    else:
        try:
            values, vectors = eigsh(normal, which="LA", ncv=LANCZOS_VECTORS, maxiter=RESTARTS, **settings)
        except ArpackNoConvergence:
            values, vectors = _shifted(normal, settings)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _shifted(
    normal: NDArray[np.float64], settings: dict[str, Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """As `eigsh` near 1, by one Cholesky factorisation: what is slow for products is quick for this."""
    n = len(normal)
    factor = cho_factor((1 + BEYOND) * np.eye(n) - normal, lower=True, overwrite_a=True)
    inverse = LinearOperator((n, n), matvec=lambda x: -cho_solve(factor, x), dtype=np.float64)
    values, vectors = eigsh(normal, sigma=1 + BEYOND, OPinv=inverse, **settings)
    return values, vectors
