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

Cost: for n rows in k clusters O(n) and the answers for a move, and O(n³) for each belief.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from linkwise import native
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
from linkwise.constraints.error_rates import FIRST_RIGHT, FIRST_WRONG, HIGHEST_RATE, LOWEST_RATE
from linkwise.constraints.facts import Groups
from linkwise.constraints.sorting import SortedRows, find_misplaced
from linkwise.parallel import one_blas_thread

RIDGE, DOUBTFUL_RIDGE = 0.05, 0.5  # ridge of a row, and what is added as far as its place is doubtful
PRICE, MOST_PRICE = 0.3, 1.0  # a cluster of its own pays min(MOST_PRICE w, PRICE e w answers inside)
MARGIN = 0.3  # log odds by which a move must be better
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
        self.trust = np.array([self._trust_in_rows(k) for k in range(n + 1)])
        ridge = np.diag(RIDGE + DOUBTFUL_RIDGE * (1 - certainty))
        self.inverse = np.linalg.inv(self.kernel + ridge).astype(np.float64, copy=False)
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
            trust, mean = self.trust[self.k], np.minimum(near / np.maximum(size, 1), 1 - 1e-6)
            odds = np.column_stack([mean / (1 - mean), np.ones(len(score))])
            chance = trust * chance + (1 - trust) * odds / odds.sum(axis=1, keepdims=True)
        return np.asarray((1 - doubt) * chance + doubt / chance.shape[1])

    def _trust_in_rows(self, k: int) -> float:
        """How far regression counts, by the share of the expected clusters that answers have reached."""
        expected = self.nearness.n_expected
        knows_enough = knows_enough_clusters(k, len(self.rows), expected)
        return min(1.0, (k + 1) / expected) ** 2 if knows_enough else 0.0

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
        while True:
            n_moved = self._move(n_moved)
            self.places = self._places()
            if n_joins < MOST_JOINS and (join := self._find_join()) is not None:
                self.label[self.label == join[1]] = join[0]
                n_joins += 1
                continue
            self.cuts = self._find_cuts()
            if self.cuts and self.cuts[0].chance < -MARGIN and n_cuts < MOST_CUTS:
                self.label[self.cuts[0].side] = self.k
                n_cuts += 1
                continue
            self.together = self._are_one(self._sum_clusters(self.net_by) * (self.careful / self.odds))
            return

    def _move(self, n_moved: Rows) -> Rows:
        """Move nodes to likelier clusters; return how often each has moved now."""
        near = self.nearness
        self._number()
        self.label, n_moved = native.move_believed(
            self.inverse,
            self.net,
            self.count,
            self.pairs,
            self.label,
            n_moved,
            self.trust,
            near.power,
            near.unknown,
            near.doubt,
            MARGIN,
            MOST_PRICE * self.odds,
            PRICE * self.rate * self.odds,
            MOST_MOVES,
        )
        self._number()
        return n_moved

    def _places(self) -> Table:
        """(n, k + 1) log posterior of each node's place, given all others; last: a cluster of its own."""
        of = self.label
        member = np.equal.outer(of, np.arange(self.k)).astype(np.float64)
        self.by_cluster, self.net_by, count = (
            np.ascontiguousarray(self._sum_clusters(table).T)
            for table in (self.inverse, self.net, self.count)
        )
        score = member - self.by_cluster / self.inverse.diagonal()[:, None]
        self.size = member.sum(axis=0)
        self.near = (
            None if self.pairs is None or self.trust[self.k] == 1 else self._sum_clusters(self.pairs).T
        )
        self.is_alone = self.size[of] == 1
        alone = np.flatnonzero(self.is_alone)
        score[alone, of[alone]] = 0
        found = np.log(self._chances(score, self.near, self.size - member))
        found[:, :-1] += self.net_by
        found[alone, of[alone]] = -np.inf
        self.inside, self.between = (count * member).sum(axis=0) / 2, self._sum_clusters(count)
        if self.k > 1 or not self.is_alone.all():
            best = found[:, :-1].argmax(axis=1)
            more = np.where(best == of, 0, count[np.arange(len(of)), best])
            found[:, -1] -= self._price(self.inside[best] + more)
        return np.asarray(found)

    def _sum_clusters(self, table: Table) -> Table:
        """(k, ...) sums of the rows of a table over the nodes of each cluster."""
        starts = np.append(0, np.bincount(self.label).cumsum()[:-1])
        return np.asarray(np.add.reduceat(table[np.argsort(self.label, kind="stable")], starts, axis=0))

    def _find_join(self) -> tuple[int, int] | None:
        """The two clusters that are most likely one, among those that answers join; None if none is."""
        net = self._sum_clusters(self.net_by)
        np.fill_diagonal(net, 0)
        if not (net > 0).any():
            return None
        price = self._price(self.inside[:, None] + self.inside + self.between)
        chance = np.where(net > 0, self._are_one(net + price), 0)
        one, other = divmod(int(chance.round(9).argmax()), self.k)
        return (one, other) if chance[one, other] > 0.5 else None

    def _are_one(self, by_answers: Table) -> Table:
        """(k, k) how likely the nodes of a cluster belong to another one, by rows and log odds."""
        by_rows = np.zeros((self.k, self.k))
        for cluster in range(self.k):
            nodes = np.flatnonzero(self.label == cluster)
            by_rows[cluster] = self._left_out(nodes, cluster, np.zeros(0, dtype=np.int64))[:-1]
        np.fill_diagonal(by_rows, 0)
        weighed = by_rows * np.exp(np.clip(by_answers, -LONGEST, LONGEST))
        rest = 1 - by_rows.sum(axis=1, keepdims=True) + weighed.sum(axis=1, keepdims=True)
        return np.asarray(weighed / np.maximum(rest, 1e-6))

    def _find_cuts(self) -> tuple[Cut, ...]:
        """In each cluster the weakest edges of the largest spanning tree of its answers."""
        found: list[Cut] = []
        for cluster in np.flatnonzero(self.size >= 3).tolist():
            nodes = np.flatnonzero(self.label == cluster)
            inside = np.ix_(nodes, nodes)
            net, strength = self.net[inside], 10 * self.net[inside].round(9) + self.kernel[inside].round(6)
            walk, size, across, near = native.cut_largest_tree(strength, net, self.inverse[inside])
            able = np.flatnonzero((np.minimum(size, len(nodes) - size) >= 2) & (across <= WEAK_CUT))
            able = able[(across - near)[able].round(9).argsort(kind="stable")]
            for at in able[:CUTS_TRIED].tolist():
                one = np.sort(nodes[walk[at : at + size[at]]])
                rest = nodes[~np.isin(nodes, one)]
                if len(one) > len(rest):
                    one, rest = rest, one
                chance = self._left_out(one, cluster, rest)
                prior = np.log(chance[cluster] / (chance.sum() - chance[cluster]))
                found.append(
                    Cut(
                        float(prior + across[at] + self._price(self.inside[cluster])),
                        float(prior + across[at] * self.careful / self.odds),
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
        more = np.pad(self.net_by, ((0, 0), (0, 1))) * (self.careful / self.odds - 1)
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


def _normalise(logarithm: Table) -> Table:
    found = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))
