"""Cut a graph into more than two clusters as COSC 1.1, the program of its authors.

Rangapuram and Hein (2012) describe the cut into two. These facts about the program for more clusters are not
in the paper:

- The cut of a part may break cannot-links that later cuts can satisfy. If k' is the share of the part in the
  k clusters, rounded down and at least 2, it may break (k' - 2) / k' of those within the part.
- The price begins at 0 and grows by 0.1, and by twice as much from then on whenever the cut does not change.
  Each descent continues from its vector for the last price. After five prices the set of least cut is taken,
  however many pairs it breaks.
- One descent begins at the second eigenvector, and one at random.
- The next part to be cut is the one that leads to the least cut, of those whose cut separates enough
  cannot-links. The last part is the one whose cut separates most.
- A part that is not connected is cut between its connected parts, or within one of them.
- The result is the clustering of least cut of all runs, however many cannot-links it breaks. No label is
  improved or repaired later.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from linkwise import native
from linkwise.cluster.graph.partition import eigenvectors, restrict_problem
from linkwise.cluster.graph.ratio_cut import CutProblem, Floats
from linkwise.types import Labels

Nodes = NDArray[np.int64]

_PRICES = 5
_PRICE_STEP = 0.1
_SAME_CUT = 1e-8


class PartCut(NamedTuple):
    """A set of nodes that is cut off from its part."""

    nodes: Nodes
    """Without the first node of the part, which keeps its label."""
    values: tuple[float, float]
    """cut / vol of the rest and of the set."""
    separated: int
    """Number of pairs between the two."""
    size: int
    """Number of nodes of the part."""


def divide_as_program(
    problem: CutProblem, k: int, rng: np.random.Generator, max_iter: int
) -> tuple[float, Labels]:
    """Cut the whole, then again and again one of its parts; return the sum of cut / vol, and the labels."""
    labels = np.zeros(len(problem.volume), dtype=np.int32)
    degree = np.asarray(problem.weights.sum(axis=0)).ravel()
    splits: dict[int, PartCut] = {}
    values, separated = [0.0], 0
    for made in range(1, k):
        for label in sorted(set(range(made)) - set(splits)):
            nodes = np.flatnonzero(labels == label)
            splits[label] = _split_part(problem, degree, nodes, k, rng, max_iter)
        label = _choose_part(splits, values, separated, len(problem.apart), k, len(labels))
        split = splits.pop(label)
        if len(split.nodes) == 0:
            break
        labels[split.nodes] = made
        values[label] = split.values[0]
        values.append(split.values[1])
        separated += split.separated
    return sum(values), labels


def _choose_part(
    splits: dict[int, PartCut], values: list[float], separated: int, q: int, k: int, m: int
) -> int:
    """Choose the part that is cut next."""
    made = len(values)
    wholes = {label: sum(values) - values[label] + sum(split.values) for label, split in splits.items()}
    best, least, most = -1, np.inf, 0
    for label, split in sorted(splits.items()):
        if split.separated < _share(split.size, m, k, q):
            continue
        if q and made + 1 == k:
            is_better = (-split.separated, wholes[label]) < (-most, least)
        else:
            expected = (2 * k - made - 1) * made * q / (k * (k - 1))
            is_enough = split.separated >= most or split.separated + separated >= expected
            is_better = is_enough and wholes[label] < least
        if is_better:
            best, least, most = label, wholes[label], split.separated
    return best if best >= 0 else min(splits, key=lambda label: (-splits[label].separated, wholes[label]))


def _share(size: int, m: int, k: int, q: int) -> int:
    """The number of pairs that the cut of a part has to separate to be preferred."""
    return int(2 * (_count_clusters(size, m, k) - 1) * q / (k * (k - 1)))


def _count_clusters(size: int, m: int, k: int) -> int:
    """The share of a part in the clusters."""
    return max(2, size * k // m)


# ---------------------------------------------------------------- one part
class _Part(NamedTuple):
    """A connected part of a part, and the rest of that one, which joins either side of a cut."""

    within: CutProblem
    nodes: Nodes
    degree: Floats
    """Of the nodes, in the whole graph."""
    rest_cut: float
    """Weight of the edges that leave the rest."""
    rest_volume: float


def _split_part(
    problem: CutProblem, degree: Floats, nodes: Nodes, k: int, rng: np.random.Generator, max_iter: int
) -> PartCut:
    """Find the cut of a part of least value in the whole graph."""
    if len(nodes) == 1:
        return PartCut(nodes[:0], (np.inf, np.inf), 0, 1)
    count, number = connected_components(problem.weights[nodes][:, nodes], directed=False)
    found = [nodes[number == c] for c in range(count)] if count > 1 else []
    for c in range(count):
        own, rest = nodes[number == c], nodes[number != c]
        if len(own) > 1:
            within = restrict_problem(problem, own)
            leaving = _weigh_leaving(problem, degree, rest)
            part = _Part(within, own, degree[own], leaving, float(problem.volume[rest].sum()))
            clusters, pairs = _count_clusters(len(own), len(degree), k), len(within.apart)
            found.append(_cut_part(part, (clusters - 2) * pairs // clusters, rng, max_iter))
    made = [_describe_split(problem, degree, nodes, off) for off in found]
    return min(made, key=lambda split: sum(split.values))


def _weigh_leaving(problem: CutProblem, degree: Floats, nodes: Nodes) -> float:
    """Sum the weights of the edges that leave a set of nodes."""
    inside = float(problem.weights[nodes][:, nodes].sum()) if len(nodes) else 0.0
    return max(float(degree[nodes].sum()) - inside, 0.0)


def _describe_split(problem: CutProblem, degree: Floats, nodes: Nodes, off: Nodes) -> PartCut:
    kept = np.setdiff1d(nodes, off)
    if kept[0] != nodes[0]:
        kept, off = off, kept
    side = np.zeros(len(degree), dtype=np.int8)
    side[kept], side[off] = 1, 2
    one, other = side[problem.apart].T
    values = [
        _weigh_leaving(problem, degree, each) / float(problem.volume[each].sum()) for each in (kept, off)
    ]
    return PartCut(off, (values[0], values[1]), int(np.count_nonzero(one * other == 2)), len(nodes))


def _cut_part(part: _Part, allowed: int, rng: np.random.Generator, max_iter: int) -> Nodes:
    """Raise the price until the best set breaks few enough pairs, and return the set of least cut."""
    graph, pairs = part.within.to_native(), part.within.apart
    vectors = [eigenvectors(part.within, 1)[:, 0].copy(), rng.normal(size=len(part.nodes))]
    price, step, before = 0.0, _PRICE_STEP, np.inf
    earlier: list[tuple[float, Nodes]] = []
    for _ in range(_PRICES):
        found: list[tuple[float, Nodes]] = []
        ratios: list[tuple[float, int]] = []
        for at, vector in enumerate(vectors):
            vectors[at] = native.ratio_descent(graph, price, vector, max_iter=max_iter).f[-1]
            cut, off = _find_threshold(part, vectors[at], price)
            found.append((cut, part.nodes[off]))
            one, other = off[pairs].T
            broken = int(np.count_nonzero(one == other))
            ratios.append((_weigh_ratio(part.within, off, price * broken), broken))
        if min(ratios)[1] <= allowed:
            return min(found, key=lambda each: each[0])[1]
        earlier += found
        least = min(cut for cut, _ in found)
        step *= 2 if abs(least - before) < _SAME_CUT else 1
        price, before = price + step, least
    return min(earlier, key=lambda each: each[0])[1]


def _weigh_ratio(within: CutProblem, off: NDArray[np.bool_], price: float) -> float:
    """Compute the priced ratio of a set in its part."""
    edges, volume = within.weights, within.volume
    cut = float(edges[off][:, ~off].sum())
    return (cut + price) * (1 / float(volume[off].sum()) + 1 / float(volume[~off].sum()))


def _find_threshold(part: _Part, f: Floats, price: float) -> tuple[float, NDArray[np.bool_]]:
    """Find the threshold of least priced value; return its value without the price, and what it cuts off."""
    order = np.argsort(f, kind="stable")
    rank = np.empty(len(f), dtype=np.int64)
    rank[order] = np.arange(len(f))
    edges, volume = part.within.weights.tocoo(), part.within.volume[order]
    inside = np.bincount(np.maximum(rank[edges.row], rank[edges.col]), edges.data, len(f)).cumsum()
    above = np.bincount(np.minimum(rank[edges.row], rank[edges.col]), edges.data, len(f))
    inside_above = above[::-1].cumsum()[::-1]
    degree = part.degree[order].cumsum()
    low, low_volume = (degree - inside)[:-1], volume.cumsum()[:-1]
    high, high_volume = degree[-1] - degree[:-1] - inside_above[1:], volume.sum() - low_volume
    ends = np.sort(rank[part.within.apart], axis=1)
    parted = np.bincount(ends[:, 0], minlength=len(f)) - np.bincount(ends[:, 1], minlength=len(f))
    broken = len(ends) - parted.cumsum()[:-1]
    is_threshold = np.diff(f[order]) > 0
    best: tuple[float, float, NDArray[np.bool_]] | None = None
    for joins_low in (True, False):  # the rest
        cut = (low + part.rest_cut * joins_low) / (low_volume + part.rest_volume * joins_low)
        cut = cut + (high + part.rest_cut * (not joins_low)) / (
            high_volume + part.rest_volume * (not joins_low)
        )
        priced = np.where(is_threshold, cut + price * broken * (1 / low_volume + 1 / high_volume), np.inf)
        at = int(priced.argmin())
        if best is None or priced[at] < best[0]:
            best = float(priced[at]), float(cut[at]), (rank > at) == joins_low
    assert best is not None
    return best[1], best[2]
