"""The first eigenvectors of the random walk on a graph.

They place the nodes for spectral clustering (Shi and Malik 2000; von Luxburg 2007, section 4.2). A
component of the graph is an eigenvector of its own, known without computation, and each component is
solved for itself. Where there are more components than vectors wanted, those of most weight are taken;
the other rows stay together at the origin.

Dense graphs are solved by a block Krylov method that starts anew from its best vectors (Golub and
Underwood 1977; Wu and Simon 2000): a block finds eigenvalues that coincide, and a product with many
vectors costs little more than one with a single vector. Where it is slow, and for sparse graphs, it
runs on the inverse near the largest eigenvalue, of which one factorisation is made.

Cost: some ten products with a dense graph, or the factorisation of a sparse one. Memory: a dense graph
is worked on in place, and no second array of its size is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, eigsh, splu

from linkwise.learner import rng_at

Graph = Any  # a dense or a sparse array, which have no common type
Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-14  # a step of the random walk that is rarer than this is none
SPARSE = 0.05  # share of entries below which a graph is kept as a sparse one
CHUNK = 64  # rows of a dense graph that are looked at together
SMALL = 200  # rows of a component that is solved by a dense method
LARGE = 100_000  # entries of a sparse graph that is factorised only where products do not lead to the end
BEYOND = 1e-4  # how far from 1, the largest eigenvalue there can be, the shift lies
LEAST_WEIGHT = 1e-6  # share of the greatest degree, or component, below which a row, or component, is tiny
LEAST_STEP = 0.01  # eigenvalue below which a step of the walk says nothing
OWN = 1e-3  # share of an eigenvector on tiny rows from which on it is theirs
TOLERANCE = 1e-9
INVERSE_TOLERANCE = 1e-8  # relative, which tells more: eigenvalues of the inverse lie far apart
UNLIKE = 1e-3  # share of the greatest length in a block below which rounding shows in its directions
ROUNDS = 4  # in which such directions are cleaned
GUARD = 2  # vectors in a block beyond those wanted
BLOCKS = 10  # in a basis
FIRST_CHECK = 5  # products before which no basis is good enough
FASTEST = 2.5  # digits that a product can gain
PRODUCTS = 60  # of a block with a dense graph, before it is factorised
INVERSE_PRODUCTS = 100
LANCZOS_VECTORS = 40
RESTARTS = 12  # of the Lanczos method on a large sparse graph, before it is factorised


class Pairs(NamedTuple):
    """Eigenvalues, descending, and unit eigenvectors, one a row."""

    values: Floats
    vectors: Floats


def embedding(graph: Graph, width: int) -> Floats | None:
    """The first eigenvectors of the random walk on a graph, those of its components before all others.

    Parameters
    ----------
    graph : ndarray or sparse array of shape (n_rows, n_rows)
        Symmetric weights, not negative; the diagonal is ignored and a dense array is overwritten.
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
    number, component = _component_of(weights, degree)
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
    except (ArpackError, np.linalg.LinAlgError, RuntimeError):
        return None
    found.sort(key=lambda pair: -pair[0])
    for column, (_, rows, vector) in enumerate(found[: width - number], start=number):
        placed[rows, column] = vector
    return placed


# ---------------------------------------------------------------- the graph
def _chunks(n: int) -> Iterator[slice]:
    return (slice(at, min(at + CHUNK, n)) for at in range(0, n, CHUNK))


def _thinned(graph: Graph) -> tuple[Graph, Floats]:
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
    kept = 0
    for rows in _chunks(len(graph)):
        part = graph[rows]
        part[part <= NEGLIGIBLE * np.minimum(degree[rows, None], degree)] = 0
        kept += int(np.count_nonzero(part))
    if kept < SPARSE * graph.size:
        return sp.vstack([sp.csr_array(graph[rows]) for rows in _chunks(len(graph))], format="csr"), degree
    return graph, degree


def _component_of(weights: Graph, degree: Floats) -> tuple[int, NDArray[np.int32]]:
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
def _inner(
    weights: Graph, degree: Floats, rows: NDArray[np.int64], wanted: int
) -> list[tuple[float, NDArray[np.int64], Floats]]:
    """Eigenvalues and eigenvectors of the walk within one component, but for the constant one."""
    wanted = min(wanted, len(rows) - 1)
    if wanted == 0:
        return []
    root = np.sqrt(degree[rows])
    if len(rows) <= max(SMALL, 4 * (wanted + 1 + GUARD)) or sp.issparse(weights):
        part = weights if len(rows) == len(degree) else weights[rows][:, rows]
        values, vectors = _of_part(part, root, wanted + 1)
    else:
        values, vectors = _of_dense(weights, degree, rows, wanted + 1)
    placed = vectors / root
    tiny = np.flatnonzero(root**2 < LEAST_WEIGHT * root.max() ** 2)
    if len(tiny):
        theirs = (vectors[:, tiny] ** 2).sum(axis=1) > OWN
        follow = np.flatnonzero(~theirs & (values > LEAST_STEP))
        placed[follow] = _followed(weights, degree, rows, tiny, values[follow], placed[follow])
    placed *= np.where(placed[np.arange(wanted + 1), np.abs(placed).argmax(axis=1)] < 0, -1, 1)[:, None]
    return [(float(values[j]), rows, placed[j]) for j in range(1, wanted + 1)]


def _followed(
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


def _of_part(part: Graph, root: Floats, wanted: int) -> Pairs:
    """Of a component cut out of its graph, small or sparse: the largest pairs of D^-1/2 W D^-1/2."""
    n = len(root)
    if n <= max(SMALL, 4 * (wanted + GUARD)):
        dense = part.toarray() if sp.issparse(part) else part
        values, vectors = eigh(dense / root / root[:, None], subset_by_index=(n - wanted, n - 1))
        return Pairs(values[::-1], vectors.T[::-1])
    by = sp.diags_array(1 / root)
    normal = sp.csr_array(by @ part @ by)
    if normal.nnz > LARGE:
        try:
            values, vectors = eigsh(
                normal, wanted, which="LA", ncv=max(LANCZOS_VECTORS, 2 * wanted),
                v0=rng_at(n).uniform(-1, 1, n), tol=TOLERANCE, maxiter=RESTARTS,
            )  # fmt: skip
            return Pairs(values[::-1], vectors.T[::-1])
        except ArpackNoConvergence:
            pass
    shifted = sp.csc_array((1 + BEYOND) * sp.eye_array(n) - normal)
    factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return _by_inverse(lambda block: factor.solve(block.T).T, start_block(root, wanted), wanted)


def _of_dense(weights: Floats, degree: Floats, rows: NDArray[np.int64], wanted: int) -> Pairs:
    """Of a component within a dense graph: as `_of_part`, without cutting it out."""
    root = np.sqrt(np.where(degree > 0, degree, 1))
    start = start_block(root[rows], wanted)

    def within(whole: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        return whole if len(rows) == len(degree) else partial(_padded, whole, rows, len(degree))

    walked = within(lambda block: (block / root) @ weights / root)
    found = largest_pairs(walked, start, wanted, PRODUCTS)
    if found is not None:
        return found
    with _Factorised(weights, root) as solved:
        return _by_inverse(within(solved), start, wanted)


def _padded(whole: Callable[[Floats], Floats], rows: NDArray[np.int64], n: int, block: Floats) -> Floats:
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


# ---------------------------------------------------------------- the solver
def start_block(root: Floats, wanted: int) -> Floats:
    """A block of random vectors, and the eigenvector that is known: the root of the degrees."""
    n = len(root)
    start = rng_at(n).uniform(-1, 1, (wanted + GUARD, n))
    start[0] = root
    return start


def _by_inverse(solved: Callable[[Floats], Floats], start: Floats, wanted: int) -> Pairs:
    """The largest pairs of a matrix of which 1 + BEYOND - matrix can be solved."""
    found = largest_pairs(solved, start, wanted, INVERSE_PRODUCTS, INVERSE_TOLERANCE)
    if found is None:
        raise np.linalg.LinAlgError("the eigenvectors of a graph were not found")
    return Pairs(1 + BEYOND - 1 / found.values, found.vectors)


def largest_pairs(
    product: Callable[[Floats], Floats],
    start: Floats,
    wanted: int,
    products: int,
    tolerance: float = TOLERANCE,
) -> Pairs | None:
    """The largest pairs of a symmetric matrix; None where so many products do not lead there.

    Each block is orthogonal to all before it, and the matrix, seen from the basis, is diagonalised. A
    full basis is cut down to its best vectors, half of them or more.
    """
    block, n = start.shape
    room = block * max(3, min(BLOCKS, n // (2 * block)))
    basis, seen = np.empty((room, n)), np.zeros((room, room))
    new, size, check = _orthonormal(start)[0], 0, FIRST_CHECK
    for step in range(1, products + 1):
        if size + block > room:
            values, mix = np.linalg.eigh(seen[:size, :size])
            kept = max(wanted + block, room // 2)
            basis[:kept] = mix[:, -kept:].T @ basis[:size]
            size = kept
            seen[:] = 0
            np.fill_diagonal(seen[:size, :size], values[-size:])
        now = slice(size, size + block)
        size += block
        basis[now] = new
        image = product(new)
        seen[:size, now] = basis[:size] @ image.T
        seen[now, :size] = seen[:size, now].T
        new, rest = _orthonormal(_without(_without(image, basis[:size]), basis[:size]))
        if step == check:
            values, mix = eigh(seen[:size, :size], subset_by_index=(size - wanted, size - 1))
            error = (np.linalg.norm(rest @ mix[now], axis=0) / np.maximum(1.0, values)).max() / tolerance
            if error <= 1:
                return Pairs(values[::-1], mix.T[::-1] @ basis[:size])
            check += 1 + int(np.log10(error) / FASTEST)
        new = _cleaned(new, rest, basis[:size])
    return None


def _cleaned(block: Floats, rest: Floats, basis: Floats) -> Floats:
    """Orthonormal rows orthogonal to a basis, where some were made of rounding and point anywhere."""
    for _ in range(ROUNDS):
        length = np.abs(rest.diagonal())
        if length.min() >= UNLIKE * length.max():
            break
        block, rest = _orthonormal(_without(block, basis))
    return block


def _without(block: Floats, basis: Floats) -> Floats:
    """What of a block is orthogonal to a basis."""
    return block - (block @ basis.T) @ basis


def _orthonormal(block: Floats) -> tuple[Floats, Floats]:
    """Orthonormal rows Q and R with block' = Q' R."""
    q, r = np.linalg.qr(block.T)
    return np.ascontiguousarray(q.T), r
