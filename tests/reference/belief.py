"""What is believed when answers may be wrong, with loops, and with regressions that leave rows out by hand.

The constants are those of the library; all else is written anew. Clusters are lists of nodes, and nodes are
positions in the list of rows.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from linkwise.constraints.belief import CAUTION, HIGHEST_CAREFUL, MET, PLACED
from linkwise.constraints.belief_search import (
    CERTAIN,
    CUTS_TRIED,
    DOUBTFUL_RIDGE,
    FIRST_RIGHT,
    FIRST_WRONG,
    HIGHEST_RATE,
    LONGEST,
    LOWEST_RATE,
    MARGIN,
    MOST_CUTS,
    MOST_JOINS,
    MOST_MOVES,
    MOST_PRICE,
    PRICE,
    RIDGE,
    WEAK_CUT,
)


def limit_of(answers):
    """The highest rate that contradictions allow: the mean of its posterior and its deviation."""
    groups, apart = [], []
    tested = contradicting = 0
    for a, b, is_yes in answers:
        one, other = (next((group for group in groups if row in group), {row}) for row in (a, b))
        differ = any({x in one, y in one} == {x in other, y in other} == {True, False} for x, y in apart)
        if b in one or differ:
            tested += 1
            contradicting += (b in one) != is_yes
        elif is_yes:
            groups = [*(group for group in groups if a not in group and b not in group), one | other]
        else:
            apart.append((a, b))
    wrong, right = FIRST_WRONG + contradicting, FIRST_RIGHT + tested - contradicting
    total = wrong + right
    return wrong / total + math.sqrt(wrong / total * right / total / (total + 1))


def odds_of(rate):
    return math.log((1 - rate) / rate)


class PlainBelief:
    """What is believed by now; `update` takes all answers."""

    def __init__(self, kernel, nearness, error_rate=None, groups=(), apart=()):
        """`kernel` is of all rows; `groups` of rows are certain, and `apart` are pairs of their numbers."""
        self.kernel, self.nearness, self.given_rate = kernel, nearness, error_rate
        self.groups, self.apart = groups, {frozenset(pair) for pair in apart}
        self.chances = None if nearness.chances is None else nearness.chances(np.arange(len(kernel)))
        self.rows, self.label, self.certainty = [], [], []
        first = FIRST_WRONG / (FIRST_WRONG + FIRST_RIGHT)
        self.rate = first if error_rate is None else max(error_rate, 0.001)
        self.deviation = 0.0

    def update(self, answers):
        """Search from the last belief."""
        self.odds = odds_of(self.rate)
        self.careful_odds = odds_of(min(self.rate + CAUTION * self.deviation, HIGHEST_CAREFUL))
        for first, second, _ in answers:
            for row in (first, second):
                if row not in self.rows:
                    self.rows.append(row)
                    self.label.append(max(self.label, default=-1) + 1)
                    self.certainty.append(1.0)
        n = len(self.rows)
        self.answers = [(self.rows.index(i), self.rows.index(j), yes) for i, j, yes in answers]
        self.net = np.zeros((n, n))
        for a, b, yes in self.answers:
            self.net[a, b] += self.odds if yes else -self.odds
            self.net[b, a] = self.net[a, b]
        self.keep_certain()
        self.K = np.array([[self.kernel[i, j] for j in self.rows] for i in self.rows])
        self.ridge = [RIDGE + DOUBTFUL_RIDGE * (1 - q) for q in self.certainty]
        self.search()
        self.conclude()

    def keep_certain(self):
        of = {}
        for a, row in enumerate(self.rows):
            for number, group in enumerate(self.groups):
                if row in group:
                    of[a] = number
        for a, b in combinations(of, 2):
            more = 0.0
            if of[a] == of[b]:
                more = CERTAIN
            elif self.are_apart(of[a], of[b]):
                more = -CERTAIN
            self.net[a, b] += more
            self.net[b, a] += more
        chosen = {}
        for number in sorted(set(of.values())):
            votes = [self.label[a] for a in of if of[a] == number]
            chosen[number] = min(votes, key=lambda c: (-votes.count(c), c))
        for number in chosen:
            before = [other for other in chosen if other < number and self.are_apart(other, number)]
            if chosen[number] in [chosen[other] for other in before]:
                chosen[number] = max(*self.label, *chosen.values()) + 1
        for a, number in of.items():
            self.label[a] = chosen[number]

    def are_apart(self, group, other):
        return frozenset((group, other)) in self.apart

    # ------------------------------------------------------------ parts of the posterior
    def number(self):
        names = list(dict.fromkeys(self.label))
        self.label = [names.index(c) for c in self.label]
        self.k = len(names)

    def members(self, c):
        return [a for a, of in enumerate(self.label) if of == c]

    def n_inside(self, c):
        return sum(self.label[a] == self.label[b] == c for a, b, _ in self.answers)

    def n_between(self, nodes, others):
        return sum((a in nodes and b in others) or (b in nodes and a in others) for a, b, _ in self.answers)

    def price(self, n_answers):
        return min(MOST_PRICE * self.odds, PRICE * self.rate * self.odds * n_answers)

    def trust(self):
        n, k, expected = len(self.rows), self.k, self.nearness.n_expected
        if k == 1 or (k < MET * expected and n < PLACED * expected):
            return 0.0
        return min(1.0, ((k + 1) / expected) ** 2)

    def shares(self, left_out):
        """Mean chances of some nodes, by regression on the others and by pairs."""
        rest = [a for a in range(len(self.rows)) if a not in left_out]
        found = np.zeros(self.k + 1)
        member = np.array([[self.label[a] == c for c in range(self.k)] for a in rest], dtype=float)
        member = member.reshape(len(rest), self.k)
        inner = self.K[np.ix_(rest, rest)] + np.diag([self.ridge[a] for a in rest])
        weights = np.linalg.solve(inner, member) if rest else member
        near, trust = self.nearness, self.trust()
        for a in left_out:
            scores = [*(self.K[a, rest] @ weights), near.unknown]
            chance = np.array([max(score, 0) ** near.power for score in scores])
            chance /= chance.sum()
            if self.chances is not None and trust < 1:
                odds = []
                for c in range(self.k):
                    others = [self.chances[self.rows[a], self.rows[b]] for b in rest if self.label[b] == c]
                    mean = min(sum(others) / max(len(others), 1), 1 - 1e-6)
                    odds.append(mean / (1 - mean))
                odds = np.array([*odds, 1.0])
                chance = trust * chance + (1 - trust) * odds / odds.sum()
            found += (1 - near.doubt) * chance + near.doubt / (self.k + 1)
        return found / len(left_out)

    def log_places(self, a):
        """Log posterior of each place of a node; the last one is a cluster of its own."""
        found = np.log(self.shares([a]))
        own = self.label[a]
        for c in range(self.k):
            found[c] += sum(self.net[a, b] for b in self.members(c))
        if self.members(own) == [a]:
            found[own] = -np.inf
        if self.k > 1 or len(self.rows) > 1:
            best = max(range(self.k), key=lambda c: (found[c], -c))
            more = 0 if best == own else self.n_between([a], self.members(best))
            found[-1] -= self.price(self.n_inside(best) + more)
        return found

    def clusters_together(self):
        """How likely clusters are one: to ask about, and to join."""
        ask, join = np.zeros((self.k, self.k)), np.zeros((self.k, self.k))
        for a in range(self.k):
            shares = self.shares(self.members(a))
            others = [b for b in range(self.k) if b != a]
            odds = {}
            for b in others:
                net = sum(self.net[x, y] for x in self.members(a) for y in self.members(b))
                between = self.n_between(self.members(a), self.members(b))
                price = self.price(self.n_inside(a) + self.n_inside(b) + between)
                odds[b] = net, net * self.careful_odds / self.odds, net + price
            new = 1 - sum(shares[b] for b in others)
            for table, at in ((ask, 1), (join, 2)):
                weight = {b: shares[b] * math.exp(max(-LONGEST, min(LONGEST, odds[b][at]))) for b in others}
                for b in others:
                    table[a, b] = weight[b] / max(new + sum(weight.values()), 1e-6)
            for b in others:
                if odds[b][0] <= 0:
                    join[a, b] = 0
        return ask, join

    def find_cuts(self):
        """(log odds, careful log odds, side, rest) of cuts along weak edges of spanning trees."""
        inverse = np.linalg.inv(self.K + np.diag(self.ridge))
        found = []
        for c in range(self.k):
            nodes = self.members(c)
            if len(nodes) < 3:
                continue
            pairs = sorted(combinations(nodes, 2), key=lambda p: -10 * self.net[p] - round(self.K[p], 6))
            part, tree = {a: a for a in nodes}, []
            for a, b in pairs:  # Kruskal (1956)
                if part[a] != part[b]:
                    tree.append((a, b))
                    old = part[b]
                    part = {x: part[a] if of == old else of for x, of in part.items()}
            able = []
            for edge in tree:
                rest, grows = {nodes[0]}, True
                while grows:
                    more = {x for e in tree if e != edge and rest & {*e} for x in e} - rest
                    rest, grows = rest | more, bool(more)
                side = [a for a in nodes if a not in rest]
                rest = sorted(rest)
                across = sum(self.net[x, y] for x in side for y in rest)
                near = -sum(inverse[x, y] for x in side for y in rest)
                if min(len(side), len(rest)) >= 2 and across <= WEAK_CUT:
                    able.append((across + near, across, *sorted((side, rest), key=len)))
            for _, across, side, rest in sorted(able)[:CUTS_TRIED]:
                share = self.shares(side)
                prior = math.log(share[c] / (share.sum() - share[c]))
                sure = prior + across + self.price(self.n_inside(c))
                found.append((sure, prior + across * self.careful_odds / self.odds, side, rest))
        return sorted(found, key=lambda cut: cut[0])

    # ------------------------------------------------------------ the search
    def search(self):
        n_moved, n_joins, n_cuts = [0] * len(self.rows), 0, 0
        while True:
            self.number()
            self.places = [self.log_places(a) for a in range(len(self.rows))]
            moves = []
            for a, places in enumerate(self.places):
                is_alone = len(self.members(self.label[a])) == 1
                now = places[-1] if is_alone else places[self.label[a]]
                for c in range(self.k + 1 - is_alone):
                    if c != self.label[a] and n_moved[a] < MOST_MOVES:
                        moves.append((-round(places[c] - now, 9), a, c))
            if moves and -min(moves)[0] > MARGIN:
                _, a, c = min(moves)
                self.label[a] = c
                n_moved[a] += 1
                continue
            self.together, join = self.clusters_together()
            pairs = [(-round(join[a, b], 9), a, b) for a in range(self.k) for b in range(self.k)]
            best, a, b = min(pairs)
            if n_joins < MOST_JOINS and -best > 0.5:
                self.label = [a if c == b else c for c in self.label]
                n_joins += 1
                continue
            self.cuts = self.find_cuts()
            if self.cuts and self.cuts[0][0] < -MARGIN and n_cuts < MOST_CUTS:
                for x in self.cuts[0][2]:
                    self.label[x] = self.k
                n_cuts += 1
                continue
            return

    def conclude(self):
        self.posterior, self.careful, self.certainty = [], [], []
        for a, places in enumerate(self.places):
            more = [self.careful_odds / self.odds - 1 for _ in range(self.k)]
            for c in range(self.k):
                more[c] *= sum(self.net[a, b] for b in self.members(c))
            posterior, careful = (np.exp(p - p.max()) for p in (places, places + np.array([*more, 0.0])))
            self.posterior.append(posterior / posterior.sum())
            self.careful.append(careful / careful.sum())
            is_alone = len(self.members(self.label[a])) == 1
            self.certainty.append(1.0 if is_alone else float(self.posterior[-1][self.label[a]]))
        if self.given_rate is None:
            self.estimate_rate()
        else:
            self.rate, self.deviation = max(self.given_rate, 0.001), 0.0

    def estimate_rate(self):
        is_same = [self.label[a] == self.label[b] for a, b, _ in self.answers]
        broken = sum(same != yes for same, (_, _, yes) in zip(is_same, self.answers, strict=True))
        apart = {frozenset((self.label[a], self.label[b])) for a, b, _ in self.answers}
        needed = len(self.rows) - self.k + sum(len(pair) == 2 for pair in apart)
        spare = max(len(self.answers) - needed, broken)
        wrong, right = FIRST_WRONG + broken, FIRST_RIGHT + spare - broken
        self.rate = min(max(min(wrong / (wrong + right), limit_of(self.answers)), LOWEST_RATE), HIGHEST_RATE)
        total = wrong + right
        self.deviation = math.sqrt(wrong / total * right / total / (total + 1))

    # ------------------------------------------------------------ what to ask
    def choose_check(self, named, asked, askable, *, likely, sure, large, least):
        """The pair to ask about next; `named` are the rows of the last question that were new."""
        for row in named:
            if row in self.rows:
                a = self.rows.index(row)
                pair = self.check_place(a, asked, askable, likely, sure)
                if pair is not None:
                    return pair
        doubts = []
        for a, b in combinations(range(self.k), 2):
            chance = max(self.together[a, b], self.together[b, a])
            if self.are_asked(a, b) and chance >= likely:
                doubts.append((chance, self.members(a), self.members(b)))
        for _, careful, side, rest in self.cuts:
            chance = 1 / (1 + math.exp(careful))
            limit = max(likely * min(1, large / (self.rate * len(side))), least)
            if chance >= limit:
                doubts.append((chance * likely / limit, side, rest))
        for _, one, other in sorted(doubts, key=lambda doubt: -round(doubt[0], 9)):
            pair = self.closest(one, other, asked, askable)
            if pair is not None:
                return pair
        return None

    def are_asked(self, a, b):
        return any(self.net[x, y] != 0 for x in self.members(a) for y in self.members(b))

    def check_place(self, a, asked, askable, likely, sure):
        own = self.label[a]
        is_alone = len(self.members(own)) == 1
        places = [c for c in range(self.k) if not (is_alone and c == own)]
        best = max(places, key=lambda c: (round(self.careful[a][c], 9), -c))
        net = sum(self.net[a, b] for b in self.members(best))
        chance = self.careful[a][best]
        if chance < likely or (chance >= sure and net > 0):
            return None
        return self.closest([a], [b for b in self.members(best) if b != a], asked, askable)

    def closest(self, one, other, asked, askable):
        found = []
        for a in one:
            for b in other:
                worth = self.K[a, b] * self.certainty[a] ** 2 * self.certainty[b] ** 2
                pair = self.rows[a], self.rows[b]
                if frozenset(pair) not in asked and all(askable is None or askable[row] for row in pair):
                    found.append((round(worth, 6), pair))
        return max(found, key=lambda item: item[0])[1] if found else None
