"""COBRA and COBRAS, slow and obvious, from the printed algorithms.

Van Craenendonck, Dumančić and Blockeel (2017); Van Craenendonck, Dumančić, Van Wolputte and Blockeel
(2018), Algorithms 1 and 2. Facts about pairs of rows are closed by matrices, super-instances are lists of
rows, everything is computed again whenever it is needed. K-means and the random choice are passed in,
so that another implementation can be compared on the same splits.

Both are generators of ``(first, second, labels)`` that take "yes", "no" or "unsure".
"""

from __future__ import annotations

import numpy as np

from reference.closure import verdicts

TRIES = 3  # pairs that are tried where the user is unsure


class Facts:
    """All answers, and what follows from them."""

    def __init__(self, n, must=(), cannot=()):
        self.n, self.must, self.cannot, self.unsure, self.asked = n, list(must), list(cannot), set(), 0
        self.known = verdicts(n, self.must, self.cannot)

    def verdict(self, i, j):
        return self.known[i, j] or ("unsure" if frozenset((i, j)) in self.unsure else None)

    def ask(self, i, j, labels):
        answer = self.verdict(i, j)
        if answer is None:
            answer = yield i, j, labels
            self.asked += 1
            {"yes": self.must.append, "no": self.cannot.append, "unsure": self._doubt}[answer]((i, j))
            self.known = verdicts(self.n, self.must, self.cannot)
        return answer

    def _doubt(self, pair):
        self.unsure.add(frozenset(pair))


class Part:
    """A super-instance: rows, their mean (or that of the askable rows), and the askable row nearest to it."""

    askable_means = False

    def __init__(self, X, askable, rows, place):
        self.rows, self.place = sorted(rows), place
        self.askable = [r for r in self.rows if askable[r]]
        self.mean = mean(X, self.askable if Part.askable_means and self.askable else self.rows)
        self.central = sorted(self.askable, key=lambda r: (squared(X[r], self.mean), r))
        self.representative = self.central[0] if self.central else None


def mean(X, rows):
    total = np.zeros(X.shape[1])
    for r in rows:
        total = total + X[r]
    return total / len(rows)


def squared(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total


def distance(a, b):
    return float(np.sqrt(squared(a, b)))


# ---------------------------------------------------------------- splitting
def split(X, askable, part, k, k_means):
    """Parts of a super-instance by k-means; those without an askable row are given away."""
    if len(part.askable) < 2:
        return [part]
    k = min(k, len(part.rows))
    if k == len(part.rows) == 2:
        found = [0, int((X[part.rows[0]] != X[part.rows[1]]).any())]
    else:
        found = k_means(part.rows, part.place, k)
    groups = [
        [r for r, label in zip(part.rows, found, strict=True) if label == g] for g in range(max(found) + 1)
    ]
    parts = [Part(X, askable, g, None) for g in groups]
    heirs = [p for p in parts if p.askable]
    received = {id(p): list(p.rows) for p in heirs}
    for orphan in parts:
        if not orphan.askable:
            heir = min(heirs, key=lambda p: distance(orphan.mean, X[p.representative]))
            received[id(heir)] += orphan.rows
    if len(heirs) == 1:
        return [part]
    return [Part(X, askable, received[id(p)], (*part.place, k, j)) for j, p in enumerate(heirs)]


def different(X, rows):
    """At most TRIES rows, no two of them identical."""
    chosen = []
    for r in rows:
        if len(chosen) < TRIES and all((X[r] != X[other]).any() for other in chosen):
            chosen.append(r)
    return chosen


def same(X, one, two, facts, labels):
    """Whether two halves belong together, by their representatives or rows near them."""
    answer = "unsure"
    for i, j in zip(different(X, one.central), different(X, two.central), strict=False):
        answer = yield from facts.ask(i, j, labels)
        if answer != "unsure":
            break
    return answer


def split_level(X, askable, part, facts, labels, k_means, pick, descend):
    """Algorithm 2."""
    d, inside = 0, part
    while True:
        halves = split(X, askable, inside, 2, k_means)
        if len(halves) < 2:
            break
        answer = yield from same(X, *halves, facts, labels)
        if answer != "no":
            break
        d += 1
        halves = [h for h in halves if len(h.askable) >= 2]
        if not halves:
            break
        wanted = descend
        if descend == "adaptive":
            wanted = "largest" if part.place == () else "smallest"
        if wanted == "random":
            inside = halves[pick(inside.place, len(halves))]
        elif wanted == "largest":
            inside = sorted(halves, key=lambda h: -len(h.rows))[0]
        else:
            inside = sorted(halves, key=lambda h: len(h.rows))[0]
    return 2 ** max(d, 1)


# ---------------------------------------------------------------- clusters of super-instances
def clusters_of(parts, facts):
    """Lists of super-instances whose representatives are known to be together, by first row."""
    clusters = []
    for part in parts:
        for cluster in clusters:
            if facts.verdict(cluster[0].representative, part.representative) == "yes":
                cluster.append(part)
                break
        else:
            clusters.append([part])
    return sorted(clusters, key=lambda cluster: min(p.rows[0] for p in cluster))


def labels_of(clusters, n):
    labels = np.empty(n, dtype=int)
    for number, cluster in enumerate(clusters):
        for part in cluster:
            labels[part.rows] = number
    return labels


def held_apart(one, two, facts):
    """Whether a row of one cluster is known to differ from a representative of the other.

    A row that differs from the representative of its own cluster says nothing of that cluster.
    """
    for here, there in ((one, two), (two, one)):
        for row in (r for part in here for r in part.rows):
            strays = facts.verdict(row, here[0].representative) == "no"
            if not strays and any(facts.verdict(row, p.representative) == "no" for p in there):
                return True
    return False


def pair_to_show(X, one, two, facts):
    """The closest pair of representatives of two clusters about which the user has not been unsure."""
    pairs = [(distance(X[p.representative], X[q.representative]), a, b)
             for a, p in enumerate(one) for b, q in enumerate(two)]  # fmt: skip
    doubts = 0
    for _, a, b in sorted(pairs):
        i, j = one[a].representative, two[b].representative
        if facts.verdict(i, j) is None:
            return i, j
        doubts += facts.verdict(i, j) == "unsure"
        if doubts == TRIES:
            return None
    return None


def merge(X, parts, facts, standing):
    """COBRA's merging: ask about the closest clusters until all relations are known."""
    while True:
        clusters = clusters_of(parts, facts)
        by_gap = sorted(
            (min(distance(p.mean, q.mean) for p in one for q in two), a, b)
            for a, one in enumerate(clusters)
            for b, two in enumerate(clusters)
            if a < b and not held_apart(one, two, facts)
        )
        pairs = (pair_to_show(X, clusters[a], clusters[b], facts) for _, a, b in by_gap)
        pair = next((p for p in pairs if p is not None), None)
        if pair is None:
            return labels_of(clusters, len(X))
        yield from facts.ask(*pair, labels_of(clusters, len(X)) if standing is None else standing)


# ---------------------------------------------------------------- the two algorithms
def cobra(X, facts, k_means, n_super_instances, *, askable):
    whole = Part(X, askable, range(len(X)), ())
    parts = split(X, askable, whole, n_super_instances, k_means)
    if len(parts) == 1:
        return np.zeros(len(X), dtype=int)
    return (yield from merge(X, parts, facts, None))


def cobras(
    X,
    facts,
    k_means,
    pick,
    *,
    askable,
    budget,
    max_split,
    descend,
    impure_first,
    split_within_budget,
    first_merge,
):
    """Algorithm 1."""
    parts = [Part(X, askable, range(len(X)), ())]
    labels, published, solid = np.zeros(len(X), dtype=int), False, []
    while True:
        candidates = [p for p in parts if len(p.rows) > 1 and len(p.askable) > 1 and p not in solid]
        if not candidates:
            return labels
        chosen = max(candidates, key=lambda p: (impure_first and impure(p, facts), len(p.rows)))
        k = yield from split_level(X, askable, chosen, facts, labels, k_means, pick, descend)
        if max_split is not None:
            k = min(k, max_split)
        if published and budget is not None and split_within_budget:
            k = min(k, max(2, budget - facts.asked))
        new = split(X, askable, chosen, k, k_means)
        if len(new) == 1:
            solid.append(chosen)
            continue
        at = parts.index(chosen)
        parts = [*parts[:at], new[0], *parts[at + 1 :], *new[1:]]
        if not published:
            labels = labels_of(clusters_of(parts, facts), len(X)) if first_merge == "parts" else None
        labels = yield from merge(X, parts, facts, labels)
        published = True


def impure(part, facts):
    return any(facts.verdict(i, j) == "no" for i in part.rows for j in part.rows)
