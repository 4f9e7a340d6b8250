"""Cut a graph into several clusters by repeated cuts into two.

The value of a clustering is the number of cannot-links that it breaks, then the sum over its clusters of cut
/ vol (under "cheeger", of cut / the smaller of vol and the volume of the rest). Lower is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linkwise import native
from linkwise.cluster.graph.eigenpairs import is_small, solve_dense, solve_sparse
from linkwise.cluster.graph.random_walk import embed_graph
from linkwise.cluster.graph.ratio_cut import Balance, CutProblem, find_splits
from linkwise.cluster.kmeans.feasible import find_separating_labels
from linkwise.cluster.kmeans.lloyd import k_means
from linkwise.constraints.closure import find_components
from linkwise.errors import InfeasibleConstraintsError
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at
from linkwise.types import Labels

Floats = NDArray[np.float64]

MIXED = 10  # eigenvectors in a mixture
SWEEPS = 50  # of exchanges, where labels are repaired


class PartitionValue(NamedTuple):
    """The value of a clustering; lower is better."""

    broken: int
    lacking: int
    """Less the number of its clusters."""
    cut: float


def evaluate_partition(problem: CutProblem, labels: Labels) -> PartitionValue:
    """Evaluate a clustering."""
    k = int(labels.max()) + 1
    volume = np.bincount(labels, problem.volume, k).astype(np.float64)
    values = _ratio(_cut_weights(problem, labels, k), volume, float(volume.sum()), problem.balance)
    return PartitionValue(_count_broken(problem, labels), -int(np.count_nonzero(volume)), float(values.sum()))


def _count_broken(problem: CutProblem, labels: Labels) -> int:
    """Count the pairs within one cluster."""
    one, other = problem.apart.T
    return int(np.count_nonzero(labels[one] == labels[other]))


def _cut_weights(problem: CutProblem, labels: Labels, k: int) -> Floats:
    """(k,) weight of the edges that leave each cluster."""
    edges = problem.weights
    own = np.repeat(labels, np.diff(edges.indptr))
    leaves = own != labels[edges.indices]
    return np.bincount(own[leaves], edges.data[leaves], k).astype(np.float64)


def _ratio(cut: Floats, volume: Floats, whole: float, balance: Balance) -> Floats:
    under = volume if balance == "ncut" else np.minimum(volume, whole - volume)
    found: Floats = np.divide(np.maximum(cut, 0.0), under, out=np.zeros_like(cut), where=under > 0)
    return found


def merge_nodes(problem: CutProblem, number: NDArray[np.int64]) -> CutProblem:
    """Merge groups of nodes, given by their numbers, into single nodes."""
    m, count = len(number), int(number.max()) + 1
    into = sp.csr_array((np.ones(m), number, np.arange(m + 1)), shape=(m, count))
    merged = (into.T @ problem.weights @ into).tocoo()
    edge = merged.row != merged.col
    weights = sp.csr_array((merged.data[edge], (merged.row[edge], merged.col[edge])), shape=(count, count))
    pairs = np.sort(number[problem.apart], axis=1)
    apart = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    volume = np.bincount(number, problem.volume, count).astype(np.float64)
    return CutProblem(weights, volume, apart, problem.balance)


def restrict_problem(problem: CutProblem, nodes: NDArray[np.int64]) -> CutProblem:
    """Restrict the problem to some nodes, which keep their volumes."""
    place = np.full(len(problem.volume), -1)
    place[nodes] = np.arange(len(nodes))
    pairs = place[problem.apart]
    weights = sp.csr_array(problem.weights[nodes][:, nodes])
    return CutProblem(weights, problem.volume[nodes], pairs[(pairs >= 0).all(axis=1)], problem.balance)


# ---------------------------------------------------------------- two clusters
def cut_into_two(problem: CutProblem, n_init: int, seed: int, max_iter: int) -> Iterator[Labels]:
    """Find the best clustering into two from each start.

    All nodes with a cannot-link to the same node are merged, if all cannot-links can be satisfied.
    """
    number = _number_sides(problem)
    within = merge_nodes(problem, number)
    for start in _find_starts(within, n_init, seed):
        splits = find_splits(within, start, max_iter)
        made = [settle_partition(within, sides.astype(np.int32), 2) for sides in splits]
        best = min(made, key=lambda labels: evaluate_partition(within, labels))
        yield best[number]


def _number_sides(problem: CutProblem) -> NDArray[np.int64]:
    """Number nodes so that both sides of the cannot-links are single nodes, unless they form odd cycles."""
    m = len(problem.volume)
    if len(problem.apart) == 0:
        return np.arange(m)
    try:
        colour = find_separating_labels(problem.apart.astype(np.int32), m, 2, np.arange(m))
    except InfeasibleConstraintsError:
        return np.arange(m)
    assert colour is not None  # for two labels it is always known
    camps = 2 * find_components(m, problem.apart) + colour
    number: NDArray[np.int64] = np.unique(camps, return_inverse=True)[1]
    return number


def _find_starts(problem: CutProblem, n_init: int, seed: int) -> Iterator[Floats]:
    """Return starts: the eigenvector with opposite cannot-linked nodes, the second one, and mixtures."""
    foes = len(problem.apart) > 0
    vectors = _opposed_eigenvectors(problem, MIXED) if foes else eigenvectors(problem, MIXED)
    yield vectors[:, 0]
    if foes and n_init > 1:
        yield eigenvectors(problem, 1)[:, 0]
    for at in range(1 + foes, n_init):
        yield vectors @ rng_at(seed, at).normal(size=vectors.shape[1])


def eigenvectors(problem: CutProblem, most: int) -> Floats:
    """(m, ...) eigenvectors of the random walk but the first, at most so many."""
    m = len(problem.volume)
    with one_blas_thread():
        placed = embed_graph(problem.weights, min(most + 1, m))
    return rng_at(m).normal(size=(m, 1)) if placed is None else placed[:, 1:]


def _opposed_eigenvectors(problem: CutProblem, most: int) -> Floats:
    """(m, ...) the first eigenvectors of the cut under f_i = -f_j for every pair, each node in one pair.

    f = S g, and what is sought are the least g' S' L S g / g' S' B S g, L the Laplacian, B the volumes.
    """
    m, (one, other) = len(problem.volume), problem.apart.T
    known_by, sign = np.arange(m), np.ones(m)
    known_by[other], sign[other] = one, -1
    column = np.unique(known_by, return_inverse=True)[1]
    opposite = sp.csr_array((sign, column, np.arange(m + 1)))
    degree = np.asarray(problem.weights.sum(axis=0)).ravel()
    laplacian = opposite.T @ (sp.diags_array(degree) - problem.weights) @ opposite
    by = sp.diags_array(1 / np.sqrt(np.bincount(column, problem.volume)))
    size = opposite.shape[1]
    matrix = sp.csr_array(sp.eye_array(size) - by @ laplacian @ by)
    wanted = min(most, size)
    with one_blas_thread():
        found = (
            solve_dense(matrix.toarray(), wanted)
            if is_small(size, wanted)
            else solve_sparse(matrix, np.ones(size), wanted)
        )
    vectors: Floats = opposite @ (by @ found.vectors.T)
    return vectors


# ---------------------------------------------------------------- several
class PartStart(NamedTuple):
    """What is the same whenever a part is cut."""

    within: CutProblem
    vectors: Floats
    """(m, ...) eigenvectors, from mixtures of which a descent starts."""
    splits: NDArray[np.bool_]
    """What the descent from the first one finds."""


KnownParts = dict[bytes, PartStart]
"""The parts that were cut before, by their nodes."""


def divide(
    problem: CutProblem, k: int, seed: int, run: int, max_iter: int, known: KnownParts | None = None
) -> Labels:
    """Cut the whole, then again and again one of its parts, until there are k or no part can be cut.

    Each step makes the cut with the least value plus share of broken pairs. Several runs may share `known`.
    """
    known = {} if known is None else known
    labels = np.zeros(len(problem.volume), dtype=np.int32)
    cuts: dict[int, list[NDArray[np.int64]]] = {}
    for made in range(1, k):
        for label in range(made):
            if label not in cuts:
                cuts[label] = _list_cuts(
                    problem, np.flatnonzero(labels == label), (seed, run, made, label), max_iter, known
                )
        tried = [(label, moved) for label, sets in cuts.items() for moved in sets]
        if not tried:
            break
        priced = [_price(problem, _relabel(labels, nodes, made)) for _, nodes in tried]
        label, nodes = tried[int(np.argmin(priced))]
        labels = _relabel(labels, nodes, made)
        cuts.pop(label)
    return labels


def cluster_embedding(problem: CutProblem, k: int, seed: int) -> Labels:
    """Spectral clustering without constraints."""
    with one_blas_thread():
        placed = embed_graph(problem.weights, k)
    if placed is None:
        return np.zeros(len(problem.volume), dtype=np.int32)
    length = np.linalg.norm(placed, axis=1, keepdims=True)
    return k_means(placed / np.where(length > 0, length, 1), k, seed).labels


def recut(problem: CutProblem, found: list[Labels], max_iter: int) -> list[Labels]:
    """Cut every two clusters of each clustering again as long as that improves it, for a few rounds.

    Two clusters are left as they are if the same nodes have been cut before, or if no cannot-link is broken
    within them and the cut between them is below 1 % of the value of the clustering.
    """
    stacked = np.stack(found)
    return list(native.recut(problem.to_native(), stacked, int(stacked.max()) + 1, max_iter=max_iter))


def _list_cuts(
    problem: CutProblem,
    nodes: NDArray[np.int64],
    place: tuple[int, ...],
    max_iter: int,
    known: KnownParts,
) -> list[NDArray[np.int64]]:
    """List sets of nodes that may be cut off from a part."""
    if len(nodes) < 2:
        return []
    part = known.get(nodes.tobytes())
    if part is None:
        within = restrict_problem(problem, nodes)
        vectors = eigenvectors(within, MIXED)
        part = PartStart(within, vectors, find_splits(within, vectors[:, 0], max_iter))
        known[nodes.tobytes()] = part
    mixture = part.vectors @ rng_at(*place).normal(size=part.vectors.shape[1])
    found = np.vstack([part.splits, find_splits(part.within, mixture, max_iter)])
    return [nodes[sides] for sides in {sides.tobytes(): sides for sides in found}.values()]


def _relabel(labels: Labels, nodes: NDArray[np.int64], to: int) -> Labels:
    then = labels.copy()
    then[nodes] = to
    return then


def _price(problem: CutProblem, labels: Labels) -> float:
    value = evaluate_partition(problem, labels)
    return value.cut + value.broken / max(len(problem.apart), 1)


# ---------------------------------------------------------------- the end
def settle_partition(problem: CutProblem, labels: Labels, k: int) -> Labels:
    """Repair broken pairs and move single nodes as long as the clustering improves."""
    if _count_broken(problem, labels):
        labels = _repair(problem, labels, k)
    return native.move_nodes(problem.to_native(), labels, k)


def _repair(problem: CutProblem, labels: Labels, k: int) -> Labels:
    """Relabel so that no pair is broken, at low cost by exchanges."""
    nodes, place = np.unique(problem.apart, return_inverse=True)
    pairs = place.reshape(-1, 2).astype(np.int32)
    near = _sums_by_label(problem.weights, labels, k)[nodes]
    costs = np.ascontiguousarray(near.max(axis=1, keepdims=True) - near)
    order = np.arange(len(nodes), dtype=np.int32)
    starts = [labels[nodes]]
    try:
        colours = find_separating_labels(pairs, len(nodes), k, nodes)
    except InfeasibleConstraintsError:
        colours = None
    if colours is not None:
        starts.append(colours)
    made = [labels]
    for start in starts:
        then = labels.copy()
        then[nodes] = native.assign_apart(costs, pairs, start.astype(np.int32), order, SWEEPS, 0)[0]
        made.append(then)
    return min(made, key=lambda then: evaluate_partition(problem, then))


def _sums_by_label(edges: sp.csr_array, labels: Labels, k: int) -> Floats:
    """(m, k) weight of the edges from each node to each cluster."""
    m = len(labels)
    cell = np.repeat(np.arange(m), np.diff(edges.indptr)) * k + labels[edges.indices]
    return np.bincount(cell, edges.data, m * k).astype(np.float64).reshape(m, k)
