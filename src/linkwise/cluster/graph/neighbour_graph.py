"""Build the graph of nearest rows, with weights that adapt to the unit and the density of the rows.

Each row is joined to its K nearest ones with weights exp(-4 d² / sigma²), where sigma is how far the K-th of
them is (Bühler and Hein 2009, after the local scaling of Zelnik-Manor and Perona 2004); of the two weights of
a pair the larger counts. Equal rows without constraints are one node, since copies would fill the lists of
neighbours.

The graph is always connected. If the nearest rows leave several parts, each part is joined to the row nearest
to it with weight exp(-4) sigma_i sigma_j / d²: the weight of a K-th neighbour, less the farther it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from linkwise import native, parallel
from linkwise.constraints.constraints import Constraints

Floats = NDArray[np.float64]

SCALE = 4.0
DIGITS = 9  # of logarithms of weights: what another unit changes in the last bits makes no other graph
NARROWEST = 1e-100  # width of a Gaussian, in units of the rows
FARTHEST = 1e12  # squared, in widths: beyond that an edge that joins parts weighs no less
CELLS = 2**22  # differences that are looked at together


class NeighbourGraph(NamedTuple):
    """A weighted graph of nodes, and the node of each row."""

    weights: sp.csr_array
    """(m, m) symmetric, none of them negative, no loops; connected."""
    node: NDArray[np.int64]
    """(n,) node of each row."""

    def suits(self, constraints: Constraints) -> bool:
        """Whether this is the graph under the constraints, too: no row that they name shares its node."""
        named = self.node[np.concatenate([constraints.must_link, constraints.cannot_link])]
        return bool((np.bincount(self.node)[named] == 1).all())


def build_neighbour_graph(
    X: NDArray[Any], constraints: Constraints, n_neighbors: int, sigma: float | None = None
) -> NeighbourGraph:
    """Join each row to its nearest ones; rows with constraints are nodes of their own.

    With `sigma`, in units of the features, weights are exp(-d² / (2 sigma²)).
    """
    node, first = _number_nodes(X, constraints)
    points = X[first].astype(np.float64)
    points -= points.mean(axis=0)
    unit = float(np.abs(points).max()) or 1.0  # squares might leave the range of a float otherwise
    points /= unit
    m = len(points)
    if m == 1:
        return NeighbourGraph(sp.csr_array((1, 1)), node)
    k = min(n_neighbors, m - 1)
    ends, squares = _nearest_rows(points, k)
    starts = np.repeat(np.arange(m), k)
    width = _local_scales(squares)
    if sigma is not None:
        width[:] = np.clip(2 * np.sqrt(2.0) * sigma / unit, NARROWEST, 1 / NARROWEST)
    weights = np.exp(-np.round(SCALE * squares / width[:, None] ** 2, DIGITS))
    edges = sp.csr_array((weights.ravel(), (starts, ends.ravel())), shape=(m, m))
    edges.eliminate_zeros()
    return NeighbourGraph(_connect_parts(sp.csr_array(edges.maximum(edges.T)), points, width), node)


def _number_nodes(X: NDArray[Any], constraints: Constraints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Node of each row, in order of their first rows, and these."""
    free = np.ones(len(X), dtype=bool)
    free[constraints.must_link] = free[constraints.cannot_link] = False
    rows = np.flatnonzero(free)
    _, first, copy = np.unique(X[rows] + 0.0, axis=0, return_index=True, return_inverse=True)
    known_by = np.arange(len(X))
    known_by[rows] = rows[first[copy.ravel()]]
    firsts, node = np.unique(known_by, return_inverse=True)
    return node, firsts


def _nearest_rows(points: Floats, k: int) -> tuple[NDArray[np.int64], Floats]:
    """(m, k) nearest other rows, ascending, and their squared distances."""
    m = len(points)
    found = NearestNeighbors(n_neighbors=k + 1).fit(points).kneighbors(points, return_distance=False)
    itself = found == np.arange(m)[:, None]
    itself[~itself.any(axis=1), -1] = True  # among many copies a row need not find itself
    ends = found[~itself].reshape(m, k).astype(np.int64)
    squares = np.empty((m, k))
    step = max(CELLS // (k * points.shape[1]), 1)
    for at in range(0, m, step):
        rows = slice(at, at + step)
        squares[rows] = ((points[rows, None] - points[ends[rows]]) ** 2).sum(axis=2)
    order = np.argsort(squares, axis=1, kind="stable")
    return np.take_along_axis(ends, order, axis=1), np.take_along_axis(squares, order, axis=1)


def _local_scales(squares: Floats) -> Floats:
    """Distance to the last of the nearest rows; for a row with copies only, the median of all others."""
    width = np.sqrt(squares[:, -1])
    differ = width > 0
    width[~differ] = np.median(width[differ]) if differ.any() else 1.0
    return width


def _connect_parts(weights: sp.csr_array, points: Floats, width: Floats) -> sp.csr_array:
    """Join the parts of a graph to one."""
    while True:
        number, part = connected_components(weights, directed=False)
        if number == 1:
            return weights
        largest = int(np.bincount(part).argmax())
        links = [_find_link(points, part == p) for p in range(number) if p != largest]
        one, other = np.array(links).T
        squares = ((points[one] - points[other]) ** 2).sum(axis=1)
        near = width[one] * width[other]
        farther = np.divide(squares, near, out=np.ones(len(near)), where=squares > near)
        weight = np.exp(-SCALE - np.round(np.log(np.minimum(farther, FARTHEST)), DIGITS))
        bridges = sp.csr_array((weight, (one, other)), shape=weights.shape)
        weights = sp.csr_array(weights.maximum(bridges.maximum(bridges.T)))


def _find_link(points: Floats, inside: NDArray[np.bool_]) -> tuple[int, int]:
    """Find the row of a part that is nearest to a row outside, and that row."""
    own, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    nearest, squares = native.nearest_points(points[own], points[others], parallel.n_threads())
    best = int(squares.argmin())
    return int(own[best]), int(others[nearest[best]])
