"""Find what to believe: a partition of the rows that answers are about.

The search starts from the last belief, and makes moves until none makes the partition more probable:

- a row moves to another cluster, or to one of its own,
- two clusters that answers join become one,
- a cluster is cut in two where few answers hold it together.

The posterior of a row's place has two parts: the answers about the row, each with the log odds that it is
right, and kernel ridge regression on the other rows (leave-one-out), whose scores F give the chances
P(c) = F_c^g / (sum of F^g + f0^g). A cluster pays for being apart, so that a few wrong answers do not begin
one.

The rate of wrong answers follows from the answers that the belief breaks, among those that were spare: a
partition of n rows into k clusters takes n - k answers and one for each pair of clusters to tell, and only
the others can be contradicted. It is at most what contradictions among the answers allow
(`linkwise.constraints.belief`), so that rows whose similarity misleads do not make the answers seem
wrong.

Correlation clustering (Bansal, Blum and Chawla 2004) knows the answers alone; here the rows count, too.

Cost: O(n k) for a move among n rows in k clusters, O(n) and the answers where many move in turn
(`linkwise.constraints.belief_moves`), and O(n³) for each belief.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from linkwise.constraints.belief import (
    Answers,
    Belief,
    Cut,
    Nearness,
    Rows,
    Table,
    knows_enough_clusters,
    limit_rate,
    log_odds,
)
from linkwise.constraints.belief_moves import MoveRules, MoveTables
from linkwise.constraints.error_rates import FIRST_RIGHT, FIRST_WRONG, HIGHEST_RATE, LOWEST_RATE
from linkwise.constraints.facts import Groups
from linkwise.constraints.sorting import SortedRows, find_misplaced
from linkwise.parallel import one_blas_thread

RIDGE, DOUBTFUL_RIDGE = 0.05, 0.5  # ridge of a row, and what is added as far as its place is doubtful
PRICE, MOST_PRICE = 0.3, 1.0  # a cluster of its own pays min(MOST_PRICE w, PRICE e w answers inside)
MARGIN = 0.3  # log odds by which a move must be better
FEW_MOVES, MANY_ALONE = 3, 30  # moves in turn, or nodes alone, that are worth tables which follow each move
MOST_MOVES, MOST_JOINS, MOST_CUTS = 2, 4, 4  # of a row; in one update
WEAK_CUT = 3.5  # log odds of the answers across a cut up to which it is looked at
CUTS_TRIED = 3  # in a cluster
CERTAIN = 1000.0  # least log odds of what constraints say; more than all answers have together
LONGEST = 30.0  # log odds; larger ones are clipped


def update_belief(
    last: Belief,
    answers: Answers,
    nearness: Nearness,
    certain: Groups,
    error_rate: float | None = None,
) -> Belief:
    """Find the belief after more answers.

    The search starts from the `last` belief; `answers` are all, with those that it knows. `certain` are
    the groups that certain constraints form. The error rate is estimated by default.
    """
    named = np.stack([answers.first, answers.second], axis=1).ravel()
    found, at = np.unique(named, return_index=True)
    new = found[np.argsort(at)]
    new = new[~np.isin(new, last.rows)]
    if len(last.rows) + len(new) == 0:
        return last
    rows = np.concatenate([last.rows, new])
    label = np.concatenate([last.label, last.n_clusters + np.arange(len(new))])
    certainty = np.concatenate([last.certainty, np.ones(len(new))])
    with one_blas_thread():
        search = _Search(
            rows, label, certainty, answers, nearness, certain, last.assumed_rate, last.careful_rate
        )
        search.run()
        return search.conclude(error_rate)


class _Search:
    """The moves of one update."""

    def __init__(
        self,
        rows: Rows,
        label: Rows,
        certainty: Table,
        answers: Answers,
        nearness: Nearness,
        certain: Groups,
        rate: float,
        careful: float,
    ) -> None:
        n = len(rows)
        node = np.empty(int(rows.max()) + 1, dtype=np.int64)
        node[rows] = np.arange(n)
        self.rows, self.label, self.nearness, self.rate = rows, label, nearness, rate
        self.answers = Answers(node[answers.first], node[answers.second], *answers[2:])
        piles = answers.of_piles
        self.sortings = [] if piles is None else [_find_nodes(each, node, rows) for each in piles.sortings]
        self.odds, self.careful = log_odds(rate), log_odds(careful)
        self.net, self.count = np.zeros((n, n)), np.zeros((n, n))
        sign = np.where(answers.is_yes, 1.0, -1.0) * (1.0 if answers.weight is None else answers.weight)
        for one, other in (self.answers[:2], self.answers[1::-1]):
            np.add.at(self.net, (one, other), sign)
            np.add.at(self.count, (one, other), 1.0 if piles is None else piles.is_least)
        self.net *= self.odds
        self._keep_certain(certain)
        self.kernel = nearness.similarity(rows)
        self.pairs = None if nearness.chances is None else nearness.chances(rows).copy()
        if self.pairs is not None:
            np.fill_diagonal(self.pairs, 0)
        ridge = np.diag(RIDGE + DOUBTFUL_RIDGE * (1 - certainty))
        self.inverse = np.linalg.inv(self.kernel + ridge).astype(np.float64, copy=False)
        self._sums: dict[bytes, Table] = {}  # see `_sum_over_clusters`
        self._number()

    def _keep_certain(self, certain: Groups) -> None:
        """Start from a partition that breaks no constraint, and let no move break one."""
        nodes = np.flatnonzero(np.isin(self.rows, certain.row))
        if len(nodes) == 0:
            return
        number = certain.number[np.searchsorted(certain.row, self.rows[nodes])]
        of, group = np.unique(number, return_inverse=True)
        place = np.full(int(certain.number.max()) + 1, -1)
        place[of] = np.arange(len(of))
        apart = place[certain.cannot_link]
        is_apart = np.zeros((len(of), len(of)), dtype=bool)
        is_apart[tuple(apart[(apart >= 0).all(axis=1)].T)] = True
        is_apart |= is_apart.T
        strength = np.equal.outer(group, group) - is_apart[np.ix_(group, group)].astype(np.float64)
        np.fill_diagonal(strength, 0)
        # `net` has each answer twice, so no set of answers outweighs a constraint
        self.net[np.ix_(nodes, nodes)] += max(CERTAIN, float(np.abs(self.net).sum())) * strength
        label = np.array([np.bincount(self.label[nodes[group == g]]).argmax() for g in range(len(of))])
        for g in range(1, len(of)):
            if (is_apart[g, :g] & (label[:g] == label[g])).any():
                label[g] = max(self.label.max(), label.max()) + 1
        self.label[nodes] = label[group]

    def _number(self) -> None:
        """Number the clusters in the order of their first nodes."""
        _, first, of = np.unique(self.label, return_index=True, return_inverse=True)
        self.label = np.argsort(np.argsort(first))[of]
        self.k = len(first)
        self.member = np.zeros((len(self.label), self.k))
        self.member[np.arange(len(self.label)), self.label] = 1

    # ------------------------------------------------------------ chances by the rows
    def _chances(self, score: Table, near: Table | None, size: Table) -> Table:
        """(n, k + 1) chances that nodes are in each cluster, and in none of them.

        `score`, of shape (n, k), is by regression, without what the nodes themselves say. `near`, of shape
        (n, k), has the sums of the pairs with the nodes of each cluster, and `size` how many these are,
        without the nodes themselves.
        """
        power, unknown, doubt = self.nearness.power, self.nearness.unknown, self.nearness.doubt
        raised = np.maximum(score, 0) ** power
        chance = np.column_stack([raised, np.full(len(score), unknown**power)])
        chance /= chance.sum(axis=1, keepdims=True)
        if near is not None:
            trust, mean = self._trust(), np.minimum(near / np.maximum(size, 1), 1 - 1e-6)
            odds = np.column_stack([mean / (1 - mean), np.ones(len(score))])
            chance = trust * chance + (1 - trust) * odds / odds.sum(axis=1, keepdims=True)
        return np.asarray((1 - doubt) * chance + doubt / chance.shape[1])

    def _trust(self, k: int | None = None) -> float:
        """How far regression counts, by the share of the expected clusters that answers have reached."""
        k, expected = self.k if k is None else k, self.nearness.n_expected
        return (
            min(1.0, (k + 1) / expected) ** 2 if knows_enough_clusters(k, len(self.label), expected) else 0.0
        )

    def _left_out(self, nodes: Rows, cluster: int, rest: Rows) -> Table:
        """(k + 1,) mean chances of some nodes of a cluster, by all others; `rest` is what else is in it."""
        size, by_cluster = self.size.copy(), self.by_cluster[nodes]
        size[cluster] = len(rest)
        by_cluster[:, cluster] = self.inverse[np.ix_(nodes, rest)].sum(axis=1)
        near = None if self.near is None else self.near[nodes]
        if near is not None and self.pairs is not None:
            near[:, cluster] = self.pairs[np.ix_(nodes, rest)].sum(axis=1)
        if len(nodes) == 1:
            score = -by_cluster / self.inverse[nodes[0], nodes[0]]
        else:
            score = -np.linalg.solve(self.inverse[np.ix_(nodes, nodes)], by_cluster)
        return np.asarray(self._chances(score, near, size).mean(axis=0))

    def _price(self, n_answers: Table) -> Table:
        """What a cluster of its own costs, so that wrong answers found none."""
        return np.minimum(MOST_PRICE * self.odds, PRICE * self.rate * self.odds * n_answers)

    # ------------------------------------------------------------ the search
    def run(self) -> None:
        """Move, join and cut until nothing is more probable."""
        n_moved, n_joins, n_cuts = np.zeros(len(self.label), dtype=np.int64), 0, 0
        n_in_turn = FEW_MOVES if np.count_nonzero(self.member.sum(axis=0) == 1) > MANY_ALONE else 0
        while True:
            if n_in_turn == FEW_MOVES:
                self._move_many(n_moved)
            self._number()
            places = self._places()
            gain = np.where(np.isfinite(places), places, -np.inf)
            at = np.arange(len(self.label))
            own = np.where(self.is_alone, places[:, -1], places[at, self.label])
            gain[at, self.label] = -np.inf
            gain[self.is_alone, -1] = -np.inf
            gain[n_moved >= MOST_MOVES] = -np.inf
            gain = gain.max(axis=1) - own
            mover = int(gain.round(9).argmax())
            if gain[mover] > MARGIN:
                choice = places[mover].copy()
                choice[self.label[mover]] = -np.inf
                self.label[mover] = int(choice.round(9).argmax())  # the last column is a new number
                n_moved[mover] += 1
                n_in_turn += 1
                continue
            n_in_turn = 0
            together, joined = self._together()
            if self.k > 1 and n_joins < MOST_JOINS:
                a, b = divmod(int(joined.round(9).argmax()), self.k)
                if joined[a, b] > 0.5:
                    self.label[self.label == b] = a
                    n_joins += 1
                    continue
            self.cuts = self._find_cuts()
            if self.cuts and self.cuts[0].chance < -MARGIN and n_cuts < MOST_CUTS:
                self.label[self.cuts[0].side] = self.k
                n_cuts += 1
                continue
            self.places, self.together = places, together
            return

    def _move_many(self, n_moved: Rows) -> None:
        """Move nodes as `run` does, with tables that follow each move, until none gains enough."""
        near = self.nearness
        self._number()
        rules = MoveRules(near.power, near.unknown, near.doubt, MARGIN, MOST_MOVES)
        tables = MoveTables(self.inverse, self.net, self.count, self.pairs, self.label, rules)
        prices = MOST_PRICE * self.odds, PRICE * self.rate * self.odds
        while (found := tables.find_move(n_moved, self._trust(tables.n_clusters), prices)) is not None:
            tables.move(*found)
            n_moved[found[0]] += 1
        self.label = tables.label

    def _places(self) -> Table:
        """(n, k + 1) log posterior of each node's place, given all others; last: a cluster of its own."""
        member, of = self.member, self.label
        self.by_cluster, net, count = self._sum_over_clusters()
        score = member - self.by_cluster / self.inverse.diagonal()[:, None]
        self.size = member.sum(axis=0)
        self.near = None if self.pairs is None or self._trust() == 1 else self.pairs @ member
        self.is_alone = self.size[of] == 1
        alone = np.flatnonzero(self.is_alone)
        score[alone, of[alone]] = 0
        found = np.log(self._chances(score, self.near, self.size - member))
        found[:, :-1] += net
        found[alone, of[alone]] = -np.inf
        self.inside, self.between = (count * member).sum(axis=0) / 2, member.T @ count
        if self.k > 1 or not self.is_alone.all():
            best = found[:, :-1].argmax(axis=1)
            more = np.where(best == of, 0, count[np.arange(len(of)), best])
            found[:, -1] -= self._price(self.inside[best] + more)
        return np.asarray(found)

    def _sum_over_clusters(self) -> tuple[Table, Table, Table]:
        """(n, k) each: the sums of `inverse`, `net` and `count` over the nodes of each cluster.

        A move changes two clusters, so the sums of the others are remembered by their nodes.
        """
        names = [column.tobytes() for column in np.ascontiguousarray(self.member.T, dtype=np.bool_)]
        new = [at for at, name in enumerate(names) if name not in self._sums]
        tables = self.inverse, self.net, self.count
        for at in new:
            nodes = np.flatnonzero(self.member[:, at])
            self._sums[names[at]] = np.stack([table[nodes].sum(axis=0) for table in tables])
        self._sums = {name: self._sums[name] for name in names}
        inverse, net, count = np.stack([self._sums[name] for name in names], axis=2)
        return inverse, net, count

    def _together(self) -> tuple[Table, Table]:
        """How likely two clusters are one: to ask about, and, where yes prevails, to join."""
        k = self.k
        by_rows = np.zeros((k, k + 1))
        for a in range(k):
            by_rows[a] = self._left_out(np.flatnonzero(self.label == a), a, np.zeros(0, dtype=np.int64))
        by_rows = by_rows[:, :-1]
        np.fill_diagonal(by_rows, 0)
        net, other = self.member.T @ self.net @ self.member, ~np.eye(k, dtype=bool)
        price = self._price(self.inside[:, None] + self.inside + self.between)
        ask = np.exp(np.clip(net * (self.careful / self.odds), -LONGEST, LONGEST)) * other
        join = np.exp(np.clip(net + price, -LONGEST, LONGEST)) * other

        def given(odds: Table) -> Table:
            weighed = by_rows * odds
            rest = 1 - by_rows.sum(axis=1, keepdims=True) + weighed.sum(axis=1, keepdims=True)
            return np.asarray(weighed / np.maximum(rest, 1e-6))

        return given(ask), np.where(net > 0, given(join), 0)

    def _find_cuts(self) -> tuple[Cut, ...]:
        """In each cluster the weakest edges of the largest spanning tree of its answers."""
        found: list[Cut] = []
        for cluster in np.flatnonzero(self.member.sum(axis=0) >= 3).tolist():
            nodes = np.flatnonzero(self.label == cluster)
            net, kernel = self.net[np.ix_(nodes, nodes)], self.kernel[np.ix_(nodes, nodes)]
            order, before = _walk_tree(1000.0 - 10 * net.round(9) - kernel.round(6))
            side = np.eye(len(nodes), dtype=bool)
            for node in order[:0:-1]:
                side[before[node]] |= side[node]
            inner = side.astype(np.float64)
            across = ((inner @ net) * (1 - inner)).sum(axis=1)
            near = -((inner @ self.inverse[np.ix_(nodes, nodes)]) * (1 - inner)).sum(axis=1)
            size = np.minimum(inner.sum(axis=1), len(nodes) - inner.sum(axis=1))
            able = [node for node in order[1:] if size[node] >= 2 and across[node] <= WEAK_CUT]
            able.sort(key=lambda node: round(float(across[node] + near[node]), 9))
            for node in able[:CUTS_TRIED]:
                one, rest = nodes[side[node]], nodes[~side[node]]
                if len(one) > len(rest):
                    one, rest = rest, one
                chance = self._left_out(one, cluster, rest)
                prior = np.log(chance[cluster] / (chance.sum() - chance[cluster]))
                found.append(
                    Cut(
                        float(prior + across[node] + self._price(self.inside[cluster])),
                        float(prior + across[node] * self.careful / self.odds),
                        one,
                        rest,
                    )
                )
        return tuple(sorted(found, key=lambda cut: round(cut.chance, 9)))

    # ------------------------------------------------------------ what follows
    def conclude(self, error_rate: float | None) -> Belief:
        """The belief at the end of the search."""
        at = np.arange(len(self.label))
        posterior = _normalise(self.places)
        more = np.pad(self.net @ self.member, ((0, 0), (0, 1))) * (self.careful / self.odds - 1)
        careful = _normalise(self.places + more)
        certainty = np.where(self.is_alone, 1.0, posterior[at, self.label])
        rate, deviation = self._estimate_rate() if error_rate is None else (max(error_rate, 0.001), 0.0)
        return Belief(
            self.rows,
            self.label,
            certainty,
            posterior,
            self.together,
            self.cuts,
            careful,
            self.net,
            rate,
            deviation,
        )

    def _estimate_rate(self) -> tuple[float, float]:
        """The share of wrong answers by those that the partition breaks, and its deviation.

        If rows were sorted, each misplaced card is one wrong answer.
        """
        answers, piles = self.answers, self.answers.of_piles
        is_broken = (self.label[answers.first] == self.label[answers.second]) != answers.is_yes
        n_broken = 0.0
        if piles is not None:
            n_broken = float(sum(find_misplaced(each, self.label[each.row]).sum() for each in self.sortings))
            is_broken &= piles.is_single
            least = (None if part is None else part[piles.is_least] for part in answers[:5])
            answers, is_broken = Answers(*least), is_broken[piles.is_least]  # type: ignore[arg-type]
        one, other = self.label[answers.first], self.label[answers.second]
        low, high = np.minimum(one, other), np.maximum(one, other)
        between = low * self.k + high
        n_answers, n_needed = len(one), len(self.label) - self.k + len(np.unique(between[low != high]))
        weight = answers.weight
        if weight is not None and not weight.all():  # certain answers are no evidence of the rate
            first, second, is_yes = (part[weight == 0] for part in answers[:3])
            nodes = len(self.label), len(self.label)
            n_parts = connected_components(coo_array((is_yes, (first, second)), nodes), directed=False)[0]
            n_needed -= len(self.label) - n_parts + len(np.unique(between[weight == 0][~is_yes]))
            n_answers -= len(is_yes)
        n_spare = float(n_answers - n_needed)
        if answers.share is None:
            n_broken += float(is_broken.sum())
        else:  # an answer that its source doubts tells less about the source
            share = answers.share if weight is None else answers.share[weight > 0]
            n_broken += float(answers.share[is_broken].sum())
            n_spare *= float(share.mean()) if len(share) else 1.0
        n_spare = max(n_spare, n_broken)
        wrong, right = FIRST_WRONG + n_broken, FIRST_RIGHT + n_spare - n_broken
        total = wrong + right
        rate = float(np.clip(min(wrong / total, limit_rate(answers)), LOWEST_RATE, HIGHEST_RATE))
        return rate, float(np.sqrt(wrong * right / (total + 1)) / total)


def _find_nodes(rows: SortedRows, node: Rows, named: Rows) -> SortedRows:
    """The nodes of sorted rows; without rows that no answer names yet."""
    is_named = np.isin(rows.row, named)
    return SortedRows(node[rows.row[is_named]], rows.pile[is_named], rows.is_card[is_named])


def _walk_tree(weight: Table) -> tuple[list[int], list[int]]:
    """Return the nodes of the smallest spanning tree, outwards from the first, and the one before each."""
    is_edge = weight != 0
    ends = np.append(0, is_edge.sum(axis=1).cumsum())
    # SciPy is slow with dense graphs, and in small ones its walks take longer to check than to do
    graph = csr_array((weight[is_edge], is_edge.nonzero()[1], ends), weight.shape)
    tree = minimum_spanning_tree(graph).tocoo()
    near: list[list[int]] = [[] for _ in weight]
    for one, other in zip(tree.row.tolist(), tree.col.tolist(), strict=True):
        near[one].append(other)
        near[other].append(one)
    order, before = [0], [-1] * len(near)
    for node in order:
        for found in sorted(near[node]):
            if found != before[node]:
                before[found] = node
                order.append(found)
    return order, before


def _normalise(logarithm: Table) -> Table:
    found = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))
