"""KIN, slow and obvious: every quantity anew whenever it is needed, in 64 bits, by loops and full matrices.

`kernel_of_view` is what comes before the first answer, `kin` the questions, a generator of
``(first, second, labels)`` that takes "yes", "no" or "unsure". All rows are distinct. What is drawn at
random, k-means and trees are passed in, so that another implementation can be compared on the same draws.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import cohen_kappa_score

RIDGE, LIKE, LIKELY = 0.05, 0.15, 0.15
TREES, FIRST, EVERY = 100, 12, 4  # the first forest is grown on so many rows, a new one every so many
MOST_SHARE, HALF = 0.5, 50


# ---------------------------------------------------------------- before the first answer
def kernel_of_view(V, median, clusterings):
    """Sum of the five kernels of one view."""
    n = len(V)
    d = cdist(V, V)
    total = np.zeros((n, n))
    for width in (0.5, 0.25):
        total += np.exp(-(d**2) / (2 * (width * median) ** 2))
    weights = np.zeros((n, n))
    k = min(10, n - 1)
    scale = np.array([np.sort(row)[k] for row in d])
    for i in range(n):
        for j in np.argsort(d[i], kind="stable")[: k + 1]:
            if i != j:
                weights[i, j] = weights[j, i] = np.exp(-(d[i, j] ** 2) / (scale[i] * scale[j]))
    degree = weights.sum(axis=1)
    S = weights / np.sqrt(np.outer(degree, degree))
    for share in (0.9, 0.99):
        walk = np.linalg.inv(np.eye(n) - share * S)
        total += walk / np.sqrt(np.outer(np.diag(walk), np.diag(walk)))
    for labels in clusterings:
        total += (labels[:, None] == labels) / len(clusterings)
    return total


def silhouette(X, labels):
    """Mean over all rows; 0 for a row that is alone."""
    found = []
    for i, own in enumerate(labels):
        far = np.linalg.norm(X - X[i], axis=1)
        if (labels == own).sum() == 1:
            found.append(0.0)
            continue
        inside = far[labels == own].sum() / ((labels == own).sum() - 1)
        outside = min(far[labels == other].mean() for other in set(labels.tolist()) - {own})
        found.append((outside - inside) / max(inside, outside))
    return np.mean(found)


# ---------------------------------------------------------------- the state
class State:
    """Rows whose neighbourhood is known, in order, and what came of those that were asked about."""

    def __init__(self, facts, kernel, askable):
        self.facts, self.plain, self.askable = facts, kernel, askable
        self.order, self.cover, self.doubtful, self.tried, self.shown = [], {}, set(), set(), set()
        self.blamed = set()
        self.placing, self.supposed = None, []
        self.in_force = self.growing = None  # rows learned from, shares of trees with both rows in one leaf

    def blame(self):
        """After two rows that nobody could compare with the only one that has a place: another begins."""
        waiting_again = self.doubtful - self.blamed
        if len(self.order) != 1 or len(waiting_again) < 2:
            return
        (first,) = self.order
        if any(said in ("yes", "no") for at, said in enumerate(self.facts.known[first]) if at != first):
            return
        self.order.clear()
        self.tried -= waiting_again
        for row in waiting_again:
            self.cover.pop(row, None)
        self.blamed.add(first)
        self.doubtful = set(self.blamed)

    def company(self, row):
        """All that is known to belong together with a row."""
        return np.flatnonzero(self.facts.known[row] == "yes").tolist()

    def look(self):
        """Take in rows that answers speak of."""
        for row in range(self.facts.n):
            if row not in self.order and any(other in self.order for other in self.company(row)):
                self.order.append(row)
        while True:
            founders = [
                company
                for company in (self.company(row) for row in range(self.facts.n))
                if len(company) > 1
                and self.placing not in company
                and all(self.facts.verdict(company[0], row) == "no" for row in self.order)
            ]
            if not founders:
                return
            self.order += max(founders, key=lambda company: (len(company), -company[0]))

    def waiting(self):
        """Rows that something is known of, though not where they belong: what belongs together as one."""
        busy = [] if self.placing is None else self.company(self.placing)
        spoken_of = [
            row for row in range(self.facts.n)
            if (self.facts.known[row] != None).sum() > 1 and row not in self.order and row not in busy  # noqa: E711
        ]  # fmt: skip
        return [self.company(row) for row in spoken_of if row == self.company(row)[0]]

    def homes(self):
        """Neighbourhoods, as lists of rows in the order in which they became known."""
        self.look()
        found = []
        for row in self.order:
            for home in found:
                if self.facts.verdict(row, home[0]) == "yes":
                    home.append(row)
                    break
            else:
                found.append([row])
        return found

    def learn(self, forest):
        """After a row was placed: the forest in growth may come into force, and another be begun."""
        homes = self.homes()
        n = len(self.order)
        if self.growing is not None and n >= len(self.growing[0]) + EVERY:
            self.in_force, self.growing = self.growing, None
        if self.growing is None and n >= FIRST and 1 < len(homes) <= n / 2:
            number = {row: at for at, home in enumerate(homes) for row in home}
            rows = list(self.order)
            leaves = forest(rows, [number[row] for row in rows])
            shared = sum((leaves[:, None, t] == leaves[None, :, t]) for t in range(TREES)) / TREES
            self.growing = rows, shared

    def kernel_now(self):
        """With the forest that is in force."""
        if self.in_force is None:
            return self.plain
        rows, shared = self.in_force
        share = MOST_SHARE * len(rows) / (len(rows) + HALF)
        return (1 - share) * self.plain + share * shared

    # ------------------------------------------------------------ the model
    def inverse(self):
        K = self.kernel_now()[np.ix_(self.order, self.order)]
        return np.linalg.inv(K + RIDGE * np.eye(len(K)))

    def members(self, homes):
        return np.array([[float(row in home) for home in homes] for row in self.order])

    def new_at(self, cover, homes):
        above, below = 1.0 * (1 - cover), 1.0
        for row, was in self.cover.items():
            if row in self.order and row not in self.supposed:
                like = np.exp(-((cover - was) ** 2) / (2 * LIKE**2))
                founder = row in [home[0] for home in homes]
                above, below = above + like * founder, below + like
        return above / below

    def chances(self, score, homes):
        """Probability of each neighbourhood, that of a new one, and the coverage, for one row's scores."""
        score = np.maximum(score, 0)
        cover = min(score.sum(), 1.0)
        new = self.new_at(cover, homes)
        return score / max(score.sum(), 1e-9) * (1 - new), new, cover

    def all_chances(self, homes):
        scores = self.kernel_now()[:, self.order] @ self.inverse() @ self.members(homes)
        return [self.chances(score, homes) for score in scores]

    def alike(self, a, homes):
        """How likely the rows of a neighbourhood belong to each other one, told by the others alone."""
        inverse = self.inverse()
        of = [at for at, row in enumerate(self.order) if row in homes[a]]
        rest = (inverse @ self.members(homes))[of]
        scores = -np.linalg.inv(inverse[np.ix_(of, of)]) @ rest
        scores[:, a] = 0
        return np.mean([self.chances(score, homes)[0] for score in scores], axis=0)

    def explained(self, weight):
        """How much each row would explain of what is uncertain."""
        homes, K = self.homes(), self.kernel_now()
        C, unsure = K, np.ones(len(K))
        if self.order:
            C = K - K[:, self.order] @ self.inverse() @ K[self.order]
            unsure = np.array([1 - home.max() for home, _, _ in self.all_chances(homes)])
        return (C**2 * weight * unsure).sum(axis=1) / (np.diag(C) + RIDGE)

    # ------------------------------------------------------------ what is shown
    def pair(self, first, second):
        """The most alike rows that can be compared; None when two pairs of them were in doubt."""
        K, unsure = self.kernel_now(), 0
        for a, b in sorted(((a, b) for a in first for b in second), key=lambda p: -K[p]):
            if self.askable[a] and self.askable[b]:
                said = self.facts.verdict(a, b)
                unsure += said == "unsure"
                if unsure == 2:
                    return None
                if said is None:
                    return a, b
        return None

    def labels(self, base, weight):
        """The clustering that is shown."""
        homes = self.homes()
        if _independent(self.facts.known) < 2 or _agrees(base, self.facts.known):
            return base
        found, joined = self.with_waiting(homes)
        plain = self.all_chances(homes)
        first = np.array([home.argmax() for home, _, _ in plain])
        labels = np.array([home.argmax() for home, _, _ in found])
        parts = self.waiting()
        met = list(self.order) + [row for part in parts if part[0] in joined for row in part]
        for part in set(base.tolist()):
            rows = np.flatnonzero(base == part)
            visited = any(row in met for row in rows.tolist())
            new = not visited and np.average([found[r][1] for r in rows], weights=weight[rows]) > 0.5
            for row in rows.tolist():
                if new or (any(row in part for part in parts) and found[row][0].max() <= 0):
                    labels[row] = len(homes) + part
        for at, home in enumerate(homes):
            labels[home] = at
        if self.agreement(first, homes) < self.agreement(base, homes):
            return base
        row = self.placing
        if row is not None and row not in self.order:
            p = [
                0.0 if self.facts.verdict(row, home[0]) == "no" else plain[row][0][at]
                for at, home in enumerate(homes)
            ]
            place = np.argmax(p) if max(p, default=0.0) > plain[row][1] else labels.max() + 1
            labels[self.company(row)] = place
        return labels

    def with_waiting(self, homes):
        """Chances of all rows, with what waits; the first rows of parts that count as known."""
        parts, place = self.waiting(), {}
        found = self.all_chances(homes)
        for turn in range(4):
            wanted = []
            for part in parts:
                barred = self.barred(part, homes, place)
                p = np.where(barred, 0, np.mean([found[row][0] for row in part], axis=0))
                wanted.append(p / max(p.sum() + np.mean([found[row][1] for row in part]), 1e-9))
            if turn == 3:
                break
            new = False
            for at in sorted(range(len(parts)), key=lambda at: -round(max(wanted[at], default=0.0), 9)):
                p = np.where(self.barred(parts[at], homes, place), 0, wanted[at])
                if round(max(wanted[at]), 9) >= 0.5 and parts[at][0] not in place and max(p) >= 0.5:
                    place[parts[at][0]], new = int(p.argmax()), True
            if not new:
                break
            more = [row for part in parts if part[0] in place for row in part]
            number = {row: place[part[0]] for part in parts if part[0] in place for row in part}
            order, self.order, self.supposed = self.order, self.order + sorted(more), more
            found = self.all_chances(
                [home + [r for r in more if number[r] == at] for at, home in enumerate(homes)]
            )
            self.order, self.supposed = order, []
        for part, p in zip(parts, wanted, strict=True):
            if part[0] in place:
                p = np.eye(len(homes))[place[part[0]]]
            for row in part:
                found[row] = (p, *found[row][1:])
        return found, place

    def barred(self, part, homes, place):
        """Where a part is not, by what is known and by what counts as known."""
        found = [self.facts.verdict(part[0], home[0]) == "no" for home in homes]
        for other, at in place.items():
            found[at] |= self.facts.verdict(part[0], other) == "no"
        return found

    def agreement(self, labels, homes):
        """How far labels agree with what is known of the rows that wait, beyond chance."""
        parts = self.waiting()
        together = [labels[row] == labels[part[0]] for part in parts for row in part[1:]]
        firsts = [part[0] for part in parts]
        others = [home[0] for home in homes]
        apart = [
            labels[a] != labels[b]
            for at, a in enumerate(firsts)
            for b in firsts[at + 1 :] + others
            if self.facts.verdict(a, b) == "no"
        ]
        known = [True] * (len(together) + 2) + [False] * (len(apart) + 2)
        said = [True, False, *together, True, False, *(not right for right in apart)]
        return cohen_kappa_score(known, said)


def _agrees(labels, known):
    """Whether labels break nothing that is known."""
    together = labels[:, None] == labels
    return together[known == "yes"].all() and not together[known == "no"].any()


def _independent(known):
    """Answers from which all the others follow."""
    groups = {tuple(np.flatnonzero(row == "yes")) for row in known}
    first = [min(group) for group in groups]
    apart = sum(known[a, b] == "no" for a in first for b in first) // 2
    return len(known) - len(groups) + apart


# ---------------------------------------------------------------- the method
def kin(facts, kernel, base, *, weight, forest, jitter, askable):
    """Ask until nothing is open."""
    state = State(facts, kernel, askable)

    def ask(pair):
        return (yield from facts.ask(*pair, state.labels(base, weight)))

    state.homes()
    state.learn(forest)
    while True:
        yield from compare(state, LIKELY, ask)
        state.look()
        gone = {*state.order, *state.tried, *state.doubtful}
        able = [r for r in range(facts.n) if askable[r] and r not in gone]
        if not able:
            break
        gain = state.explained(weight) * (1 + 0.05 * jitter(len(state.tried)))
        row = max(able, key=lambda r: gain[r])
        state.tried.add(row)
        yield from place(state, row, ask)
        state.learn(forest)
    yield from compare(state, 0.0, ask)
    return state.labels(base, weight)


def compare(state, least, ask):
    """Neighbourhoods that may be one."""
    while True:
        homes = state.homes()
        wanted = []
        for a in range(len(homes)):
            differs = [state.facts.verdict(homes[a][0], home[0]) == "no" for home in homes]
            if all(differs[b] or a == b for b in range(len(homes))):
                continue
            p = state.alike(a, homes)
            left = max(1 - p[differs].sum(), 1e-6)
            wanted += [(p[b] / left, a, b) for b in range(len(homes)) if b != a and not differs[b]]
        for chance, a, b in sorted(wanted, key=lambda w: (-round(w[0], 9), w[1:])):
            pair = state.pair(homes[a], homes[b]) if round(chance, 9) >= least else None
            if pair is not None:
                break
        else:
            return
        yield from ask(pair)


def place(state, row, ask):
    """Where a row belongs."""
    state.placing, cover, given_up, doubtful = row, None, [], False
    while True:
        homes = state.homes()
        if row in state.order or not homes:
            break
        p, new, now = state.all_chances(homes)[row]
        rest = [
            at for at, home in enumerate(homes)
            if state.facts.verdict(row, home[0]) != "no" and home[0] not in given_up
        ]  # fmt: skip
        if not rest:
            break
        best = max(rest, key=lambda at: (round(p[at], 9), -at))
        if cover is not None and p[best] / max(p[rest].sum() + new, 1e-9) < LIKELY:
            break
        pair = state.pair([row], homes[best])
        if pair is None:
            given_up.append(homes[best][0])
            continue
        cover = now if cover is None else cover
        doubtful |= (yield from ask(pair)) == "unsure"
    if cover is not None:
        state.cover[row] = cover
    if row not in state.order:
        state.doubtful.add(row) if doubtful else state.order.append(row)
        if doubtful:
            state.blame()
    state.placing = None
