"""Embed a graph by the first eigenvectors of its random walk.

They place the nodes for spectral clustering (Shi and Malik 2000; von Luxburg 2007, section 4.2). The
indicator of a component is an eigenvector, and each component is solved separately. If there are more
components than vectors, those of most weight are used; the other rows stay at the origin.

Dense graphs are solved by products of a block of vectors (`eigenpairs`); where that is slow, and for sparse
graphs, by the inverse near the largest eigenvalue, of which one factorisation is made.

Cost: some ten products with a dense graph, or the factorisation of a sparse one. Memory: a dense graph is
overwritten, and there is no second array of its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, splu

from linkwise import native
from linkwise.cluster.graph.eigenpairs import (
    BEYOND,
    Eigenpairs,
    draw_start_block,
    is_small,
    solve_by_inverse,
    solve_dense,
    solve_largest,
    solve_sparse,
)

Graph = Any  # a dense or a sparse array, which have no common type
Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-14  # a step of the random walk that is rarer than this is none
SPARSE = 0.05  # share of entries below which a graph is kept as a sparse one
CHUNK = 64  # rows of a dense graph that are looked at together
LEAST_WEIGHT = 1e-6  # share of the greatest degree, or component, below which a row, or component, is tiny
LEAST_STEP = 0.01  # eigenvalue below which a step of the walk says nothing
OWN = 1e-3  # share of an eigenvector on tiny rows from which on it is theirs
MANY_FEATURES = 64  # above which the main directions of rows cost as much as products with a graph
PRODUCTS = 60  # of a block with a dense graph, before it is factorised


def embed_graph(graph: Graph, width: int, n_threads: int = 1, X: Floats | None = None) -> Floats | None:
    """The first eigenvectors of the random walk on a graph, those of its components before all others.

    Weights are symmetric and not negative; the diagonal is ignored, and a dense array is overwritten. `X`
    are rows of which a dense graph is Gaussian: their main directions are near the eigenvectors of wide
    weights, and a solver that begins there needs fewer products. None if there are no edges, or if a
    solver fails.
    """
    weights, degree = _thin_graph(graph)
    if not degree.any():
        return None
    number, component = _find_components(weights, degree)
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
            for pair in _solve_component(
                weights, degree, np.flatnonzero(component == c), width - number, n_threads, X
            )
        ]
    except (ArpackError, np.linalg.LinAlgError, RuntimeError):
        return None
    found.sort(key=lambda pair: -pair[0])
    for column, (_, rows, vector) in enumerate(found[: width - number], start=number):
        placed[rows, column] = vector
    return placed


def laplacian_eigenvalues(graph: Graph, vectors: Floats) -> Floats:
    """Eigenvalues of the normalised Laplacian, from the eigenvectors of the random walk on a graph.

    The graph has no loops. Eigenvalues ascend, from 0 to 2.
    """
    degree = np.asarray(graph.sum(axis=0)).ravel()[:, None]
    within = (vectors * (degree * vectors - graph @ vectors)).sum(axis=0)
    mass = (degree * vectors**2).sum(axis=0)
    values: Floats = np.divide(within, mass, out=np.zeros_like(mass), where=mass > 0)
    return np.sort(np.clip(values, 0.0, 2.0))


# ---------------------------------------------------------------- the graph
def _chunks(n: int) -> Iterator[slice]:
    return (slice(at, min(at + CHUNK, n)) for at in range(0, n, CHUNK))


def _thin_graph(graph: Graph) -> tuple[Graph, Floats]:
    """Drop loops and edges of negligible weight; return the weights and the degrees.

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
    kept = 0
    for rows in _chunks(len(graph)):
        part = graph[rows]
        part[part <= NEGLIGIBLE * np.minimum(degree[rows, None], degree)] = 0
        kept += int(np.count_nonzero(part))
    if kept < SPARSE * graph.size:
        return sp.vstack([sp.csr_array(graph[rows]) for rows in _chunks(len(graph))], format="csr"), degree
    return graph, degree


def _find_components(weights: Graph, degree: Floats) -> tuple[int, NDArray[np.int32]]:
    """Number of components, and the component of each row."""
    if sp.issparse(weights):
        number, component = connected_components(weights, directed=False)
        return int(number), component
    component = np.full(len(weights), -1, dtype=np.int32)
    number = 0
    for first in [int(degree.argmax()), *range(len(weights))]:
        if component[first] >= 0:
            continue
        component[first] = number
        reached = np.array([first])
        while len(reached) and (component < 0).any():
            near = (weights[reached[:CHUNK]] > 0).any(axis=0) & (component < 0)
            component[near] = number
            reached = np.concatenate([reached[CHUNK:], np.flatnonzero(near)])
        number += 1
    return number, component


# ---------------------------------------------------------------- one component
def _solve_component(
    weights: Graph,
    degree: Floats,
    rows: NDArray[np.int64],
    wanted: int,
    n_threads: int,
    X: Floats | None,
) -> list[tuple[float, NDArray[np.int64], Floats]]:
    """Eigenvalues and eigenvectors of the walk within one component, but for the constant one."""
    wanted = min(wanted, len(rows) - 1)
    if wanted == 0:
        return []
    root = np.sqrt(degree[rows])
    if is_small(len(rows), wanted + 1) or sp.issparse(weights):
        part = weights if len(rows) == len(degree) else weights[rows][:, rows]
        values, vectors = _solve_extracted(part, root, wanted + 1)
    else:
        values, vectors = _solve_within_dense(weights, degree, rows, wanted + 1, n_threads, X)
    placed = vectors / root
    tiny = np.flatnonzero(root**2 < LEAST_WEIGHT * root.max() ** 2)
    if len(tiny):
        theirs = (vectors[:, tiny] ** 2).sum(axis=1) > OWN
        follow = np.flatnonzero(~theirs & (values > LEAST_STEP))
        placed[follow] = _extend_to_tiny_degrees(weights, degree, rows, tiny, values[follow], placed[follow])
    placed *= np.where(placed[np.arange(wanted + 1), np.abs(placed).argmax(axis=1)] < 0, -1, 1)[:, None]
    return [(float(values[j]), rows, placed[j]) for j in range(1, wanted + 1)]


def _extend_to_tiny_degrees(
    weights: Graph,
    degree: Floats,
    rows: NDArray[np.int64],
    tiny: NDArray[np.int64],
    values: Floats,
    placed: Floats,
) -> Floats:
    """Places of rows of tiny degree, of which a solver knows nothing: they follow from all others'.

    Of value y = P y, for the walk P, the other rows' y are known: (value - P_tiny) y_tiny = P_others y.
    """
    which = rows[tiny]
    others = np.zeros((len(placed), len(degree)))
    others[:, rows] = placed
    others[:, which] = 0
    from_others = (weights @ others.T)[which].T / degree[which]
    among = weights[np.ix_(which, which)]
    if sp.issparse(among):
        steps = sp.csc_array(sp.diags_array(1 / degree[which]) @ among)
        unit = sp.eye_array(len(which), format="csc")
    else:
        steps, unit = among / degree[which, None], np.eye(len(which))
    for j, value in enumerate(values):
        system = value * unit - steps
        found = splu(system).solve if sp.issparse(among) else partial(np.linalg.solve, system)
        placed[j, tiny] = found(from_others[j])
    return placed


def _solve_extracted(part: Graph, root: Floats, wanted: int) -> Eigenpairs:
    """Of a component cut out of its graph, small or sparse: the largest pairs of D^-1/2 W D^-1/2."""
    n = len(root)
    if is_small(n, wanted):
        dense = part.toarray() if sp.issparse(part) else part
        return solve_dense(dense / root / root[:, None], wanted)
    by = sp.diags_array(1 / root)
    return solve_sparse(sp.csr_array(by @ part @ by), root, wanted)


def _solve_within_dense(
    weights: Floats,
    degree: Floats,
    rows: NDArray[np.int64],
    wanted: int,
    n_threads: int,
    X: Floats | None,
) -> Eigenpairs:
    """Of a component within a dense graph: as `_solve_extracted`, without cutting it out."""
    root = np.sqrt(np.where(degree > 0, degree, 1))
    start = draw_start_block(root[rows], wanted)
    if X is not None:
        near = _main_directions(X[rows], root[rows], wanted - 1)
        start[1 : 1 + len(near)] = near

    def within(whole: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        return whole if len(rows) == len(degree) else partial(_pad_operator, whole, rows, len(degree))

    walked = within(
        lambda block: native.block_product(block / root, np.ascontiguousarray(weights), n_threads) / root
    )
    found = solve_largest(walked, start, wanted, PRODUCTS)
    if found is not None:
        return found
    with _Factorised(weights, root) as solved:
        return solve_by_inverse(within(solved), start, wanted)


def _main_directions(X: Floats, root: Floats, most: int) -> Floats:
    """The main directions of rows, weighted by degrees, one a row; none for many features."""
    if X.shape[1] > MANY_FEATURES:
        return np.empty((0, len(X)))
    spread = (X - np.average(X, axis=0, weights=root**2)) * root[:, None]
    mass, directions = np.linalg.eigh(spread.T @ spread)
    varied = directions[:, mass > NEGLIGIBLE * mass[-1]]
    return np.ascontiguousarray((spread @ varied[:, ::-1][:, :most]).T)


def _pad_operator(
    whole: Callable[[Floats], Floats], rows: NDArray[np.int64], n: int, block: Floats
) -> Floats:
    """What a product or a solution for all n rows makes of vectors on some of them."""
    padded = np.zeros((len(block), n))
    padded[:, rows] = block
    return whole(padded)[:, rows]


class _Factorised:
    """A dense graph as the Cholesky factor of 1 + BEYOND - D^-1/2 W D^-1/2, in its own memory.

    The factor takes one triangle; from the other the graph is made whole again.
    """

    def __init__(self, weights: Floats, root: Floats):
        self.weights, self.root = weights, root

    def __enter__(self) -> Callable[[Floats], Floats]:
        self.weights /= -self.root[:, None]
        self.weights /= self.root
        np.fill_diagonal(self.weights, 1 + BEYOND)
        factor = cho_factor(self.weights.T, lower=True, overwrite_a=True, check_finite=False)
        return lambda block: cho_solve(factor, block.T, check_finite=False).T

    def __exit__(self, *_: object) -> None:
        for rows in _chunks(len(self.weights)):
            after = slice(rows.stop, None)
            square = np.tril(self.weights[rows, rows], -1)
            self.weights[rows, rows] = square + square.T
            self.weights[rows, after] = self.weights[after, rows].T
        self.weights *= -self.root[:, None]
        self.weights *= self.root
