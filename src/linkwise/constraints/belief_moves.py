"""Move many nodes of a belief, one after the other, at the cost of what each move changes.

A table of all chances costs O(n k) for each move. Here a move costs O(n + answers): it changes the sums of
two clusters, and the best place of a node is the better of two. Where answers join a node to a cluster, the
chance counts with these answers, so each of these pairs is looked at. Of all other clusters only the highest
chance matters, and it is remembered for each node.

While the answers have reached few of the expected clusters, two kinds of chances are mixed, with a share that
changes with the number of clusters. Then the highest one is looked for anew, in a table of few clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.constraints.belief import Rows, Table

NONE = -1.0  # below any chance: of clusters that are empty, that answers name, or that a node is in


@dataclass(frozen=True, eq=False)
class MoveRules:
    """What does not change while nodes move.

    Attributes
    ----------
    power, unknown, doubt : float
        Those of `linkwise.constraints.belief.Nearness`.
    margin : float
        Log odds by which a move must be better.
    most_moves : int
        Largest number of moves of a node.
    """

    power: float
    unknown: float
    doubt: float
    margin: float
    most_moves: int


def sum_clusters(table: Table, label: Rows) -> Table:
    """Sum the rows of a table over the nodes of each cluster, in their order; no number may be unused."""
    order = np.argsort(label, kind="stable")
    starts = np.append(0, np.bincount(label).cumsum()[:-1])
    return np.asarray(np.add.reduceat(table[order], starts, axis=0))


class MoveTables:
    """The tables of one search, as large as nodes times clusters; each cluster has a place in them.

    Parameters
    ----------
    inverse, net, count : ndarray of shape (n, n)
        Those of the search.
    pairs : ndarray of shape (n, n) or None
        Chances before any answer, 0 between a node and itself.
    label : ndarray of shape (n,)
        The cluster of each node.
    rules : MoveRules

    Attributes
    ----------
    label : ndarray of shape (n,)
        The place of the cluster of each node.
    n_clusters : int
        Number of clusters.
    """

    def __init__(
        self, inverse: Table, net: Table, count: Table, pairs: Table | None, label: Rows, rules: MoveRules
    ) -> None:
        n, k = len(label), int(label.max()) + 1
        self.label, self._rules, self.n_clusters = label.copy(), rules, k
        self._inverse, self._net, self._count, self._pairs = inverse, net, count, pairs
        self._diagonal = inverse.diagonal().copy()
        self._size, self._first = np.bincount(label, minlength=n), np.full(n, n)
        np.minimum.at(self._first, label, np.arange(n))
        self._sums, self._inside = np.zeros((3, n, n)), np.zeros(n)
        for table, sums in zip((inverse, net, count), self._sums, strict=True):
            sums[:k] = sum_clusters(table, label)
        self._raised, self._free, self._total = np.zeros((n, n)), np.full((n, n), NONE), np.zeros(n)
        if pairs is not None:
            self._pair_sums, self._odds, self._all_odds = np.zeros((n, n)), np.zeros((n, n)), np.ones(n)
            self._pair_sums[:k] = sum_clusters(pairs, label)
        self._fill(np.arange(k))
        edges = net != 0
        np.fill_diagonal(edges, True)  # so that no node is without
        self._from, self._to = np.nonzero(edges)
        self._starts = np.append(0, edges.sum(axis=1).cumsum()[:-1])
        self._highest, self._at = self._free[:k].max(axis=0), self._free[:k].argmax(axis=0)

    # ------------------------------------------------------------ the tables
    def _fill(self, at: Rows) -> None:
        """Compute the chances of all nodes in some clusters, of which one may be empty."""
        inverse, net, count = self._sums[:, at]
        is_in, size = self.label == at[:, None], self._size[at][:, None]
        is_empty = self._size[at] == 0
        score = np.maximum(is_in - inverse / self._diagonal, 0)
        score[is_in & (size == 1)] = 0
        raised = score**self._rules.power
        raised[is_empty] = 0
        self._total += (raised - self._raised[at]).sum(axis=0)
        self._raised[at] = raised
        self._free[at] = np.where(is_in | (net != 0) | is_empty[:, None], NONE, raised)
        self._inside[at] = (count * is_in).sum(axis=1) / 2
        if self._pairs is not None:
            mean = np.minimum(self._pair_sums[at] / np.maximum(size - is_in, 1), 1 - 1e-6)
            odds = mean / (1 - mean)
            odds[is_empty] = 0
            self._all_odds += (odds - self._odds[at]).sum(axis=0)
            self._odds[at] = odds

    def _remember_highest(self, cluster: int) -> Rows:
        """Take up the chances of a cluster that changed; return the nodes that must look at all clusters."""
        free = self._free[cluster]
        is_here = self._at == cluster
        is_lower = is_here & (free < self._highest)
        is_higher = (free > self._highest) | is_here
        self._highest[is_higher] = free[is_higher]
        self._at[is_higher] = cluster
        return np.flatnonzero(is_lower)

    def move(self, node: int, to: int) -> None:
        """Move a node to another cluster, or to an empty place."""
        left = int(self.label[node])
        self.label[node] = to
        self.n_clusters += int(self._size[to] == 0) - int(self._size[left] == 1)
        for cluster, sign in ((left, -1), (to, 1)):
            self._size[cluster] += sign
            for table, sums in zip((self._inverse, self._net, self._count), self._sums, strict=True):
                sums[cluster] += sign * table[node]
            if self._pairs is not None:
                self._pair_sums[cluster] += sign * self._pairs[node]
        if self._first[left] == node:
            self._first[left] = np.argmax(self.label == left) if self._size[left] else len(self.label)
        self._first[to] = min(self._first[to], node)
        if not self._size[left]:
            self._sums[:, left] = 0
        self._fill(np.array([left, to]))
        stale = np.concatenate([self._remember_highest(left), self._remember_highest(to)])
        if len(stale):
            some = self._free[:, stale]
            self._highest[stale], self._at[stale] = some.max(axis=0), some.argmax(axis=0)

    # ------------------------------------------------------------ chances
    def _logarithm(self, raised: Table, odds: Table | None, nodes: Rows | slice, trust: float) -> Table:
        """Log chances of nodes in clusters, of what regression and pairs say about them."""
        unknown = self._rules.unknown**self._rules.power
        chance = raised / (self._total[nodes] + unknown)
        if odds is not None:
            chance = trust * chance + (1 - trust) * (odds / self._all_odds[nodes])
        doubt = self._rules.doubt
        return np.asarray(np.log((1 - doubt) * chance + doubt / (self.n_clusters + 1)))

    def _find_highest(self, trust: float) -> tuple[Table, Table | None, Rows]:
        """Find the likeliest cluster of each node that no answer names: its score, odds and first node.

        The score is `NONE` where there is no such cluster.
        """
        if self._pairs is None or trust == 1:
            found, odds, at = self._highest, None, self._at
        else:
            active = np.flatnonzero(self._size)
            free = self._free[active]
            unknown = self._rules.unknown**self._rules.power
            mixed = trust * (free / (self._total + unknown))
            mixed += (1 - trust) * (self._odds[active] / self._all_odds)
            mixed[free == NONE] = NONE
            nodes = np.arange(len(self.label))
            at = mixed.argmax(axis=0)
            found = np.where(mixed[at, nodes] == NONE, NONE, free[at, nodes])
            at = active[at]
            odds = self._odds[at, nodes]
        first = self._first[at]
        level = np.flatnonzero((found == 0) & (True if odds is None else odds == 0))
        if len(level):  # several clusters are as unlikely: the one with the first node
            active = np.flatnonzero(self._size)
            for cluster in active[self._first[active].argsort()].tolist():
                is_free = self._free[cluster, level] == 0
                first[level[is_free]] = self._first[cluster]
                level = level[~is_free]
                if not len(level):
                    break
        return found, odds, first

    def find_move(self, n_moved: Rows, trust: float, price: tuple[float, float]) -> tuple[int, int] | None:
        """The node that gains most by a move, and its best place; None if none gains enough.

        A cluster of its own costs as much as the lower of the two prices, the second for each answer.
        """
        n, label = len(self.label), self.label
        nodes, everywhere = np.arange(n), slice(None)
        is_alone = self._size[label] == 1
        mixes = self._pairs is not None and trust < 1
        found, odds, first = self._find_highest(trust)
        free = self._logarithm(np.maximum(found, 0), odds, everywhere, trust)
        free[found == NONE] = -np.inf
        nets, place = self._sums[1], label * n + nodes
        own = self._logarithm(
            self._raised.take(place), self._odds.take(place) if mixes else None, everywhere, trust
        )
        own += nets.take(place)
        own[is_alone] = -np.inf
        one, other = self._from, label[self._to]
        place = other * n + one
        named = self._logarithm(
            self._raised.take(place), self._odds.take(place) if mixes else None, one, trust
        )
        named += nets.take(place)
        named[other == label[one]] = -np.inf
        answered = np.maximum.reduceat(named, self._starts)
        named_first = np.where(named == answered[one], self._first[other], n)
        best = np.maximum(np.maximum(free, answered), own)
        first = np.where(free == best, first, n)
        np.minimum(first, np.minimum.reduceat(named_first, self._starts), out=first, where=answered == best)
        np.minimum(first, self._first[label], out=first, where=own == best)
        if n > 1:
            cluster = label[np.minimum(first, n - 1)]
            more = np.where(cluster == label, 0, self._sums[2].take(cluster * n + nodes))
            cost = np.minimum(price[0], price[1] * (self._inside[cluster] + more))
        else:
            cost = np.zeros(n)
        nothing, one_odds = np.full(n, self._rules.unknown**self._rules.power), np.ones(n) if mixes else None
        apart = self._logarithm(nothing, one_odds, everywhere, trust) - cost
        gain = np.maximum(free, answered)
        gain = np.where(is_alone, gain - apart, np.maximum(gain, apart) - own)
        gain[n_moved >= self._rules.most_moves] = -np.inf
        mover = int(gain.round(9).argmax())
        if not gain[mover] > self._rules.margin:
            return None
        return mover, self._find_place(mover, trust, float(apart[mover]))

    def _find_place(self, node: int, trust: float, apart: float) -> int:
        """The best place of a node that is not the one where it is."""
        active = np.flatnonzero(self._size)
        active = active[self._first[active].argsort()]
        active = active[active != self.label[node]]
        odds = self._odds[active, node] if self._pairs is not None and trust < 1 else None
        chances = self._logarithm(self._raised[active, node], odds, np.full(len(active), node), trust)
        chances += self._sums[1, active, node]
        best = float(chances.max(initial=-np.inf))
        if self._size[self.label[node]] > 1 and round(apart, 9) > round(best, 9):
            return int(np.flatnonzero(self._size == 0)[0])
        return int(active[chances.round(9).argmax()])
