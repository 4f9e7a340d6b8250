"""A plain transcription of ClusILC: every constraint that follows is written out, every split tried anew.

Struyf and Džeroski (2007). Labels are chosen as in their system: an old label needs a must-link to it
("evidence"), the lowest of equals wins, an old label wins against a new one; both orders are tried.
Where any label will do, a new one wins among equals, then the label whose rows have the nearest mean.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

NEW = -1


def closure(n, must, cannot, repeats=False):
    """All must-links and cannot-links that follow.

    With `repeats`, as in their system, a cannot-link is there once for each given one that leads to it.
    """
    group = list(range(n))
    for a, b in must:
        old, new = group[a], group[b]
        group = [new if g == old else g for g in group]
    members = {g: [i for i in range(n) if group[i] == g] for g in set(group)}
    together = [pair for rows in members.values() for pair in combinations(rows, 2)]
    foes = {tuple(sorted((group[a], group[b]))) for a, b in cannot}
    if repeats:
        foes = [(group[a], group[b]) for a, b in cannot]
    apart = [(a, b) for g, h in foes for a in members[g] for b in members[h]]
    return together, apart


def squares(X, weight, rows):
    """Sum of squares of some rows about their mean."""
    w = weight[rows]
    centred = X[rows] - w @ X[rows] / w.sum()
    return float(w @ (centred**2).sum(axis=1))


def pick(must, cannot, old, banned, n_free, near):
    """Fewest broken constraints of one side, and its label; None where there is none.

    `near`: how far each old label is; None where a label needs evidence.
    """
    total = must.sum()
    able = [(cannot[c] + total - must[c], 0 if near is None else near[c], c) for c in old if c != banned]
    able = [broken for broken in able if near is not None or must[broken[2]] > 0]
    best = min(able, default=None)
    if n_free > 0 and (best is None or total < best[0] or (near is not None and total == best[0])):
        return total, NEW
    return None if best is None else (best[0], best[2])


def sides(must, cannot, old, n_free, near):
    """Broken constraints and labels of both sides, the better of both orders."""
    found = None
    for first, then in ((0, 1), (1, 0)):
        a = pick(must[first], cannot[first], old, None, n_free, near[first])
        if a is None:
            continue
        banned, left = (None, n_free - 1) if a[1] == NEW else (a[1], n_free)
        b = pick(must[then], cannot[then], old, banned, left, near[then])
        if b is not None and (found is None or a[0] + b[0] < found[0]):
            found = a[0] + b[0], {first: a[1], then: b[1]}
    return found


class Reference:
    """The tree of the paper; ``labels``, ``heuristics`` (after each split) and ``tests`` (column, rows)."""

    def __init__(self, X, must, cannot, k=None, gamma=0.5, least=2, evidence=True, weight=None, parts=None,
                 program=False):  # fmt: skip
        self.X = np.asarray(X, float)  # what is tested
        self.Z = self.X - self.X.mean(axis=0) if parts is None else parts  # what the squares are made of
        self.weight = np.ones(len(self.X)) if weight is None else weight
        self.program = program  # repeats count, and k bounds the largest label
        self.must, self.cannot = closure(len(self.X), must, cannot, program)
        self.n_constraints = len(self.must) + len(self.cannot)
        self.k = len(self.X) if k is None else k
        self.gamma, self.least, self.evidence = gamma, least, evidence
        self.total = squares(self.Z, self.weight, np.arange(len(self.X)))
        self.leaves, self.label = [np.arange(len(self.X))], [0]
        self.labels = np.zeros(len(self.X), int)
        self.heuristics, self.tests = [], []
        while (split := self.best_split()) is not None:
            self.apply(split)

    def heuristic(self, squares_within, broken):
        first = squares_within / self.total if self.total > 0 else 0.0
        second = broken / self.n_constraints if self.n_constraints else 0.0
        return (1 - self.gamma) * first + self.gamma * second

    def broken(self, labels):
        return sum(labels[a] != labels[b] for a, b in self.must) + sum(
            labels[a] == labels[b] for a, b in self.cannot
        )

    def now(self):
        return self.heuristic(
            sum(squares(self.Z, self.weight, rows) for rows in self.leaves), self.broken(self.labels)
        )

    def best_split(self):
        best, found = self.now(), None
        for leaf, rows in enumerate(self.leaves):
            old = sorted({c for i, c in enumerate(self.label) if i != leaf})
            for column in range(self.X.shape[1]):
                values = np.unique(self.X[rows, column])
                for smallest in values[:0:-1]:
                    yes = rows[self.X[rows, column] >= smallest]
                    no = rows[self.X[rows, column] < smallest]
                    if min(self.weight[yes].sum(), self.weight[no].sum()) < self.least:
                        continue
                    value = self.value(leaf, yes, no, old)
                    if value is not None and value[0] < best - 1e-12:
                        best, found = value[0], (leaf, column, yes, no, old, value[1])
        return found

    def value(self, leaf, yes, no, old):
        """H after a split, and the labels of its sides."""
        must, cannot = np.zeros((2, len(self.X) + 1), int), np.zeros((2, len(self.X) + 1), int)
        inside = np.zeros(len(self.X), int)
        inside[yes], inside[no] = 1, 2
        fixed = 0
        for pairs, table, is_must in ((self.must, must, True), (self.cannot, cannot, False)):
            for a, b in pairs:
                if inside[a] and inside[b]:
                    fixed += (inside[a] != inside[b]) == is_must
                elif inside[a] or inside[b]:
                    end, other = (a, b) if inside[a] else (b, a)
                    table[inside[end] - 1, self.labels[other]] += 1
                else:
                    fixed += (self.labels[a] != self.labels[b]) == is_must
        near = [None if self.evidence else self.distances(leaf, rows, old) for rows in (yes, no)]
        labels = sides(must, cannot, old, len(self.free(leaf, old)), near)
        if labels is None:
            return None
        others = sum(squares(self.Z, self.weight, rows) for i, rows in enumerate(self.leaves) if i != leaf)
        within = squares(self.Z, self.weight, yes) + squares(self.Z, self.weight, no)
        return self.heuristic(others + within, fixed + labels[0]), labels[1]

    def free(self, leaf, old):
        """New labels for the sides of a leaf, in order; in their system only its own one is given again."""
        if not self.program:
            return [c for c in range(len(old) + 2) if c not in old][: max(0, min(self.k - len(old), 2))]
        above = max(old, default=-1) + 1
        own = self.label[leaf]
        again = [own] if own not in old and own < above else []
        return [*again, *range(above, self.k)][:2]

    def distances(self, leaf, rows, old):
        """Squared distance of the mean of some rows to that of each label on other leaves."""
        found = {}
        for c in old:
            theirs = np.concatenate(
                [r for i, r in enumerate(self.leaves) if i != leaf and self.label[i] == c]
            )
            one, other = (np.average(self.Z[r], axis=0, weights=self.weight[r]) for r in (rows, theirs))
            found[c] = round(float(((one - other) ** 2).sum()) / self.total, 12)
        return found

    def apply(self, split):
        leaf, column, yes, no, old, labels = split
        chosen, free = [labels[0], labels[1]], self.free(leaf, old)
        for side in (0, 1):
            if chosen[side] == NEW:
                chosen[side] = next(c for c in free if c not in chosen)
        self.leaves[leaf : leaf + 1] = [yes, no]
        self.label[leaf : leaf + 1] = chosen
        self.labels[yes], self.labels[no] = chosen
        self.tests.append((column, len(yes)))
        self.heuristics.append(self.now())
