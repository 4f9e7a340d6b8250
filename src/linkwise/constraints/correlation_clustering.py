"""Find the wrong pairs among pairs that contradict each other, by correlation clustering.

A must-link is evidence that two rows are together, and a cannot-link that they are apart. The search looks
for the partition of the rows that breaks the smallest total weight of pairs, and takes those pairs as wrong.
If all pairs are wrong with the same probability below one half, no partition makes the pairs more probable,
whatever that probability is. The problem is NP-hard, so the search may miss the best partition.

1. *Start.* Clusters are joined as long as fewer pairs are broken (greedy additive edge contraction), in the
   order of their net weight relative to their sizes. Rows that agree about third rows come earlier.
2. *Moves.* A row moves to another cluster or to one of its own, two clusters are joined, a cluster is cut at
   an edge of the largest spanning tree of its must-links, or it is dissolved and its rows move, until none of
   these helps.
3. *Chances.* The share of wrong pairs is estimated from the broken pairs among those that were spare. The
   chance that a broken pair is wrong compares this partition with similar ones that keep the pair.

Components under the must-links without a cannot-link inside contradict nothing: they stay as they are, since
cutting them helps nothing. So a file without contradictions costs only the search for components. Nothing
is drawn at random, and ties go to the lower row.

Correlation clustering is due to Bansal, Blum and Chawla (2004), and the start to Keuper et al. (2015), except
for the order of the joins. `linkwise.constraints.belief_search` solves a similar problem for answers about
rows with a kernel, and its cost grows with the cube of the number of rows. Here n pairs cost about
O(n log n).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import ConstraintKind
from linkwise.constraints.closure import Pairs, find_components
from linkwise.constraints.error_rates import FIRST_RIGHT, FIRST_WRONG, HIGHEST_RATE, LOWEST_RATE

Net = list[dict[int, int]]  # of every node, its neighbours with the net weight in units

CAUTION = 0.75  # by which log odds are multiplied, since only few other partitions are compared
UNIT = 1_000_000  # the mean weight of a pair; weights are integers, so that sums and ties are exact
AGREEMENT, MOST_AGREEMENT = (
    UNIT // 10,
    4,
)  # what a common neighbour counts in the order of joins; most that count
DIGITS = 6  # of probabilities


class SuspectPair(NamedTuple):
    """A given pair that is probably wrong.

    Attributes
    ----------
    first, second : int
        Its rows, the lower one first.
    kind : {"must-link", "cannot-link"}
        What was given.
    chance : float
        Estimated probability that it is wrong, given all other pairs.
    """

    first: int
    second: int
    kind: ConstraintKind
    chance: float


class GivenPairs(NamedTuple):
    """Pairs as they were given, repetitions included."""

    pairs: Pairs
    is_must: NDArray[np.bool_]
    weight: NDArray[np.float64]


def find_suspects(n_rows: int, given: GivenPairs, error_rate: float | None = None) -> list[SuspectPair]:
    """Find the pairs that are probably wrong; without them the others contradict nothing.

    A pair counts by its weight relative to the mean weight. The error rate is estimated by default.
    Returns each pair and kind once, the likeliest to be wrong first.
    """
    component = find_components(n_rows, given.pairs[given.is_must])
    ends = component[given.pairs]
    is_inside = ends[:, 0] == ends[:, 1]
    in_conflict = np.unique(ends[is_inside & ~given.is_must, 0])
    at = np.flatnonzero(is_inside & np.isin(ends[:, 0], in_conflict))
    if len(at) == 0:
        return []
    rows, nodes = np.unique(given.pairs[at], return_inverse=True)
    nodes = nodes.reshape(-1, 2)
    signed = np.where(given.is_must, 1.0, -1.0) * _in_units(given.weight)
    net = _sum_weights(len(rows), nodes, signed[at])
    found = _partition(net)
    label = component.copy()
    label[rows] = n_rows + np.array(found)
    rate = _estimate_rate(given, label) if error_rate is None else error_rate
    broken = at[(label[given.pairs[at, 0]] == label[given.pairs[at, 1]]) != given.is_must[at]]
    place = np.searchsorted(rows, np.sort(given.pairs[broken], axis=1))
    asked = sorted(set(zip(*place.T.tolist(), given.is_must[broken].tolist(), strict=True)))
    chances = _chances_of_error(net, found, CAUTION / UNIT * math.log((1 - rate) / rate), asked)
    suspects = [
        SuspectPair(int(rows[one]), int(rows[other]), "must-link" if is_must else "cannot-link", chance)
        for (one, other, is_must), chance in zip(asked, chances, strict=True)
    ]
    return sorted(suspects, key=lambda suspect: (-suspect.chance, *suspect[:3]))


def _in_units(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights relative to their mean, as whole units of at least 1; sums of large ones must not overflow."""
    scaled = weight / weight.max()
    return np.asarray(np.maximum(np.rint(scaled / scaled.mean() * UNIT), 1))


def _sum_weights(n: int, pairs: Pairs, signed: NDArray[np.float64]) -> Net:
    """Add up the weights of repeated pairs; pairs that balance each other vanish."""
    ordered = np.sort(pairs, axis=1)
    codes, of = np.unique(ordered[:, 0] * n + ordered[:, 1], return_inverse=True)
    total = np.bincount(of.ravel(), signed).astype(np.int64)
    net: Net = [{} for _ in range(n)]
    for code, value in zip(codes.tolist(), total.tolist(), strict=True):
        if value != 0:
            one, other = divmod(code, n)
            net[one][other] = net[other][one] = value
    return net


def _estimate_rate(given: GivenPairs, label: NDArray[np.int64]) -> float:
    """Estimate the share of wrong pairs by those that a partition breaks.

    A partition of n rows into k clusters takes n - k pairs and one for each two clusters to tell. Only the
    other pairs are spare: they can be contradicted.
    """
    clusters, ends = np.unique(label[given.pairs], return_inverse=True)
    ends = np.sort(ends.reshape(-1, 2), axis=1)
    is_together = ends[:, 0] == ends[:, 1]
    n_broken = int((is_together != given.is_must).sum())
    n_apart = len(np.unique(ends[~is_together] @ np.array([len(clusters), 1])))
    n_needed = len(np.unique(given.pairs)) - len(clusters) + n_apart
    n_spare = max(len(ends) - n_needed, n_broken)
    rate = (FIRST_WRONG + n_broken) / (FIRST_WRONG + FIRST_RIGHT + n_spare)
    return min(max(rate, LOWEST_RATE), HIGHEST_RATE)


# ---------------------------------------------------------------- the search
def _partition(net: Net) -> list[int]:
    """Partition the nodes: a cluster for each of them."""
    bonus = _agreements(net)
    label = _contract(net, [1] * len(net), bonus)
    tried: set[tuple[int, ...]] = set()
    while True:
        is_better = _Clusters(net, label).move_nodes(range(len(net))) > 0
        if _join_clusters(net, label) or is_better or _cut_clusters(net, label, bonus):
            continue
        if not _dissolve_clusters(_Clusters(net, label), tried):
            return label


def _agreements(net: Net) -> dict[tuple[int, int], int]:
    """How well the two nodes of each pair agree about third nodes; it decides between equal net weights."""
    found = {}
    for a, b in _edges(net):
        few, many = (net[a], net[b]) if len(net[a]) <= len(net[b]) else (net[b], net[a])
        agreement = 0
        for c, value in few.items():
            other = many.get(c, 0)
            if other and (value > 0 or other > 0):
                agreement += 1 if value > 0 and other > 0 else -1
        found[a, b] = AGREEMENT * max(-MOST_AGREEMENT, min(agreement, MOST_AGREEMENT))
    return found


def _edges(net: Net) -> list[tuple[int, int]]:
    return [(a, b) for a, near in enumerate(net) for b in near if a < b]


def _contract(net: Net, size: list[int], bonus: dict[tuple[int, int], int]) -> list[int]:
    """Join two clusters after the other while it breaks fewer pairs; return the cluster of each node."""
    net, size, into = [dict(near) for near in net], list(size), list(range(len(net)))

    def rank(a: int, b: int) -> int:
        return -round(net[a][b] / math.sqrt(math.sqrt(size[a] * size[b])))

    heap = [(rank(a, b) - bonus.get((a, b), 0), a, b, net[a][b]) for a, b in _edges(net) if net[a][b] > 0]
    heapify(heap)
    while heap:
        _, a, b, value = heappop(heap)
        if net[a].get(b) != value:  # one of both has changed since
            continue
        if len(net[a]) < len(net[b]):
            a, b = b, a
        into[b], size[a], rest, net[b] = a, size[a] + size[b], net[b], {}
        del net[a][b], rest[a]
        for c, more in rest.items():
            del net[c][b]
            net[a][c] = net[c][a] = total = net[a].get(c, 0) + more
            if total > 0:
                heappush(heap, (rank(a, c), min(a, c), max(a, c), total))
    return _follow(into)


def _follow(into: list[int]) -> list[int]:
    """Where each node ends up if it follows the others."""
    for node in range(len(into)):
        end = node
        while into[end] != end:
            end = into[end]
        while into[node] != end:
            into[node], node = end, into[node]
    return into


class _Clusters:
    """Clusters that nodes move between; `label` is changed in place."""

    def __init__(self, net: Net, label: list[int]) -> None:
        self.net, self.label, self._new = net, label, max(label) + 1
        self.members: dict[int, set[int]] = defaultdict(set)
        for node, cluster in enumerate(label):
            self.members[cluster].add(node)

    def move(self, node: int, target: int) -> None:
        """Move a node to another cluster."""
        self.members[self.label[node]].remove(node)
        self.members[target].add(node)
        self.label[node] = target

    def isolate(self, node: int) -> None:
        """Move a node to a cluster of its own."""
        self.move(node, self._new)
        self._new += 1

    def move_nodes(self, nodes: Iterable[int], changed: dict[int, int] | None = None) -> int:
        """Move nodes, and then those beside them, until none gains; return the whole gain.

        `changed` takes the cluster that each moved node was in.
        """
        queue, gain = list(nodes), 0
        is_queued = set(queue)
        for node in queue:  # the queue grows
            is_queued.remove(node)
            own, links = self.label[node], _links(self.net, self.label, node)
            now = links.pop(own, 0)
            best, target = max(((value, -cluster) for cluster, value in links.items()), default=(0, 0))
            more = max(best, 0) - now
            if more <= 0:
                continue
            if changed is not None:
                changed.setdefault(node, own)
            if best > 0:
                self.move(node, -target)
            else:
                self.isolate(node)
            gain += more
            queue += (beside := [other for other in self.net[node] if other not in is_queued])
            is_queued.update(beside)
        return gain


def _dissolve_clusters(clusters: _Clusters, tried: set[tuple[int, ...]]) -> bool:
    """Dissolve each cluster into its nodes, the small ones first, and undo it if their moves gain nothing.

    `tried` takes the clusters that gained nothing, which are not dissolved again.
    """
    is_better = False
    order = sorted((len(nodes), min(nodes), cluster) for cluster, nodes in clusters.members.items() if nodes)
    for _, _, cluster in order:
        nodes = tuple(sorted(clusters.members[cluster]))
        if len(nodes) < 3 or nodes in tried:  # a smaller one is dissolved by moves
            continue
        inside = sum(_links(clusters.net, clusters.label, node).get(cluster, 0) for node in nodes) // 2
        changed = dict.fromkeys(nodes, cluster)
        for node in nodes:
            clusters.isolate(node)
        if clusters.move_nodes(nodes, changed) > inside:
            is_better = True
            continue
        tried.add(nodes)
        for node, before in changed.items():
            clusters.move(node, before)
    return is_better


def _links(net: Net, label: list[int], node: int) -> dict[int, int]:
    """The net weight between a node and each cluster beside it."""
    found: dict[int, int] = defaultdict(int)
    for other, value in net[node].items():
        found[label[other]] += value
    return found


def _join_clusters(net: Net, label: list[int]) -> int:
    """Join whole clusters while it breaks fewer pairs; return how many joined another."""
    number = {cluster: at for at, cluster in enumerate(sorted(set(label)))}
    between: Net = [{} for _ in number]
    size = [0] * len(number)
    for node, near in enumerate(net):
        own = number[label[node]]
        size[own] += 1
        for other, value in near.items():
            cluster = number[label[other]]
            if cluster != own:
                between[own][cluster] = between[own].get(cluster, 0) + value
    into = _contract(between, size, {})
    label[:] = [into[number[cluster]] for cluster in label]
    return sum(at != end for at, end in enumerate(into))


# ---------------------------------------------------------------- cuts
class _Forest(NamedTuple):
    """The largest spanning trees of the must-links inside clusters, and what cutting each edge takes away."""

    order: NDArray[np.int64]
    """Nodes, each after its parent and all of a subtree in a row."""
    place: NDArray[np.int64]
    """Place of each node in `order`."""
    end: NDArray[np.int64]
    """Where in `order` its subtree ends."""
    parent: NDArray[np.int64]
    """-1 at the top of a tree."""
    depth: NDArray[np.int64]
    top: NDArray[np.int64]
    """Top of the tree of each node."""
    across: NDArray[np.int64]
    """Net weight between the subtree of each node and the rest of its tree."""

    def find_meeting(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """The lowest common ancestors of different nodes of one tree: parents of the highest between them."""
        low, high = np.sort(self.place[np.stack([one, other])], axis=0)
        low, length = low + 1, high - low
        depth, highest, step, found = (
            self.depth[self.order],
            np.arange(len(self.order)),
            1,
            np.zeros_like(low),
        )
        while len(low) and step <= length.max():
            at = (step <= length) & (length < 2 * step)
            left, right = highest[low[at]], highest[high[at] - step + 1]
            found[at] = np.where(depth[right] < depth[left], right, left)
            left, right = highest[:-step], highest[step:]
            highest = np.where(depth[right] < depth[left], right, left)
            step *= 2
        return np.asarray(self.parent[self.order[found]])


def _grow_forest(net: Net, label: list[int], bonus: dict[tuple[int, int], int]) -> _Forest:
    n = len(net)
    inside = [(a, b) for a, b in _edges(net) if label[a] == label[b]]
    tree: list[list[int]] = [[] for _ in range(n)]
    group = list(range(n))

    def find(node: int) -> int:
        while group[node] != node:
            group[node] = node = group[group[node]]
        return node

    links = [(-net[a][b] - bonus[a, b], a, b) for a, b in inside if net[a][b] > 0]
    for _, a, b in sorted(links):
        one, other = find(a), find(b)
        if one != other:
            group[other] = one
            tree[a].append(b)
            tree[b].append(a)
    order: list[int] = []
    parent, depth, top = [-1] * n, [0] * n, list(range(n))
    is_seen = [False] * n
    for start in range(n):
        stack = [] if is_seen[start] else [start]
        while stack:
            node = stack.pop()
            is_seen[node] = True
            order.append(node)
            for child in tree[node]:
                if child != parent[node]:
                    parent[child], depth[child], top[child] = node, depth[node] + 1, top[node]
                    stack.append(child)
    size = np.ones(n, dtype=np.int64)
    for node in reversed(order):
        if parent[node] >= 0:
            size[parent[node]] += size[node]
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    forest = _Forest(
        np.array(order),
        place,
        place + size,
        np.array(parent),
        np.array(depth),
        np.array(top),
        np.zeros_like(size),
    )
    pairs = [(a, b) for a, b in inside if top[a] == top[b]]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    value = np.array([net[a][b] for a, b in pairs])
    meeting = forest.find_meeting(*ends)
    leaving = sum(np.bincount(nodes, value, n) for nodes in ends) - 2 * np.bincount(meeting, value, n)
    before = np.concatenate([[0], np.cumsum(leaving[forest.order])]).astype(np.int64)
    return forest._replace(across=before[forest.end] - before[place])


def _cut_clusters(net: Net, label: list[int], bonus: dict[tuple[int, int], int]) -> int:
    """Cut each cluster that this helps at its weakest edge; return how many clusters are new."""
    forest = _grow_forest(net, label, bonus)
    tops = forest.top.tolist()
    n_before = len(set(label))
    label[:] = tops  # what no must-link joins falls apart
    weakest: dict[int, tuple[int, int]] = {}
    for node, value in enumerate(forest.across.tolist()):
        if tops[node] != node and value < 0:
            weakest[tops[node]] = min(weakest.get(tops[node], (value, node)), (value, node))
    for _, node in weakest.values():
        for below in forest.order[forest.place[node] : forest.end[node]].tolist():
            label[below] = len(net) + node
    return len(set(label)) - n_before


# ---------------------------------------------------------------- chances
def _chances_of_error(
    net: Net, label: list[int], odds: float, pairs: list[tuple[int, int, bool]]
) -> list[float]:
    """How likely broken pairs are wrong: the partition against those beside it that keep the pair.

    A must-link holds if one of its rows moves to the other, or if their clusters are joined. A cannot-link
    holds if the cluster is cut at an edge of the tree between its rows, or if one of them leaves alone.
    """
    forest = _grow_forest(net, label, _agreements(net))
    size = Counter(label)
    links = {node: _links(net, label, node) for node in {end for pair in pairs for end in pair[:2]}}
    between: dict[tuple[int, int], int] = defaultdict(int)
    for a, b in _edges(net):
        between[min(label[a], label[b]), max(label[a], label[b])] += net[a][b]
    n_children = np.bincount(forest.parent + 1, minlength=len(net) + 1)[1:]
    degree = n_children + (forest.parent >= 0)

    # the sum of the odds of all cuts between a node and the top of its tree
    above = np.where(forest.parent >= 0, np.exp(-odds * forest.across), 0)
    for node in forest.order.tolist():
        if forest.parent[node] >= 0:
            above[node] += above[forest.parent[node]]
    is_inside = np.array([not is_must for _, _, is_must in pairs])
    ends = np.array([pair[:2] for pair in pairs], dtype=np.int64)
    meeting = np.zeros(len(pairs), dtype=np.int64)
    meeting[is_inside] = forest.find_meeting(*ends[is_inside].T)

    def leaves(node: int, cluster: int, value: int) -> float:
        return math.exp(-odds * (links[node].get(cluster, 0) - value))

    found = []
    for (a, b, is_must), top in zip(pairs, meeting.tolist(), strict=True):
        if is_must:
            joined = between[min(label[a], label[b]), max(label[a], label[b])]
            right = math.exp(odds * joined)
            for x, y in ((a, b), (b, a)):
                if size[label[x]] > 1:
                    right += leaves(x, label[x], links[x].get(label[y], 0))
        else:
            right = float(above[a] + above[b] - 2 * above[top])
            right += sum(leaves(x, label[x], 0) for x in (a, b) if degree[x] > 1)
        found.append(round(1 / (1 + max(right, 0)), DIGITS))
    return found
