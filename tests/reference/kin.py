"""KIN, slow and obvious: every quantity anew whenever it is needed, in 64 bits, by loops and full matrices.

`kernels_of_view` and `Start` are what comes before the first answer, `kin` the questions, a generator of
``(first, second, labels)`` that takes "yes", "no" or "unsure". The items are distinct. What is drawn at
random, k-means, parts and trees are passed in, so that another implementation can be compared on the same
draws.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import binom
from sklearn.metrics import adjusted_rand_score

RIDGE, LIKE, LIKELY, CLEAR = 0.05, 0.15, 0.3, 0.5
NEAREST, ONE_SIDED, SHARED = 10, 0.3, 0.02  # shared neighbours
LEVELS, BELOW, DIP, FEWEST = (3, 5, 8, 12, 20, 30, 45, 70, 100, 150, 220, 320, 450), 0.1, 0.25, 0.22
POWERS, UNKNOWN, DECAY = (1, 1.25, 1.5, 2, 2.5, 3), (0.01, 0.02, 0.04, 0.08, 0.15, 0.3), 0.97
PRIOR, DEVIATION = ((0.25, -1.1), (2.3, -0.2), (0.2, 0.25)), (0.5, 0.5, 0.2)  # of the weights of similarity
MET, PLACED = 0.4, 0.5  # shares of the expected classes
BY_CHANCE, MOST_YES = 0.05, 0.5  # of given pairs that are no random ones
GIVEN = 0.1  # weight of an item that nobody was asked about
GUESS = 1
RATES = np.array([0.5, 1, 2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800, 950]) / 1000
FAR, TOGETHER, PATIENCE = 0.15, 0.3, 12
HOME, LOWEST, SLACK, SLACK_FOR_EACH, MOST_SLACK, SWEEPS, LEAST = 0.2, 0.02, 0.001, 5e-5, 0.005, 2, 0.001
LEFT, MOST_WRONG, FOR_EACH_CHECK = 0.8, 0.1, 3  # of items that are assumed where a "no" has left them
TEMPER, STAY = 0.25, 4.0
FIRST_WEIGHTS, FIRST_FOREST, TREES, MOST_SHARE, HALF = 24, 12, 100, 0.5, 50


# ---------------------------------------------------------------- kernels
def kernels_of_view(V, median, clusterings):
    """The kernels of one view: two Gaussians, two diffusions, the self-tuned Gaussian, and co-association."""
    n = len(V)
    d = cdist(V, V)
    gaussians = [np.exp(-(d**2) / (2 * (width * median) ** 2)) for width in (0.5, 0.25)]
    weights = np.zeros((n, n))
    k = min(10, n - 1)
    scale = np.array([np.sort(row)[k] for row in d])
    for i in range(n):
        for j in np.argsort(d[i], kind="stable")[: k + 1]:
            if i != j:
                weights[i, j] = weights[j, i] = np.exp(-(d[i, j] ** 2) / (scale[i] * scale[j]))
    degree = weights.sum(axis=1)
    S = weights / np.sqrt(np.outer(degree, degree))
    diffusions = []
    for share in (0.9, 0.99):
        walk = np.linalg.inv(np.eye(n) - share * S)
        diffusions.append(walk / np.sqrt(np.outer(np.diag(walk), np.diag(walk))))
    near = np.array([np.sort(row)[min(7, n - 1)] for row in d])
    tuned = np.exp(-(d**2) / np.outer(near, near))
    together = sum(np.equal.outer(of, of) / len(clusterings) for of in clusterings)
    return gaussians, diffusions, tuned, together


# ---------------------------------------------------------------- before the first answer
class Start:
    """Small clusters, the number of classes, and what is alike.

    `parts` are three pairs of random parts of the items, three quarters of them each.
    """

    def __init__(self, rows, kernel, parts, are_directions):
        n = len(rows)
        norm = np.maximum(np.linalg.norm(rows, axis=1), 1e-12)
        cosines = ((rows @ rows.T) / np.outer(norm, norm)).round(9)
        near = [cosines] if are_directions else [np.float32(kernel).round(6), cosines]
        mean = (kernel.sum(axis=1) - 1) / max(n - 1, 1)
        self.phi = np.log(np.maximum(kernel / np.sqrt(np.maximum(np.outer(mean, mean), 1e-12)), np.exp(-1)))
        shared = shared_neighbours(near, NEAREST)
        self.psi = np.log(1 + shared / SHARED)
        self.fine = cut(linkage_of(shared), min(300, max(2, n // 4)))
        self.phi_fine, self.psi_fine = mean_pairs(self.phi, self.fine), mean_pairs(self.psi, self.fine)
        self.n_classes = number_of_classes(near, parts)
        self.prior = prior_weights(self.n_classes)


def shared_neighbours(near, k):
    """The cosine of two items' lists of nearest neighbours, on average over some similarities."""
    n = len(near[0])
    k = min(k, n - 1)
    total = np.zeros((n, n))
    for similarity in near:
        lists = np.zeros((n, n))
        for i in range(n):
            others = sorted(set(range(n)) - {i}, key=lambda j: (-similarity[i, j], j))
            for rank, j in enumerate([i, *others[:k]]):
                lists[i, j] = np.exp(-rank / max(k / 2, 1))
        lists = np.where(lists.T > 0, lists, ONE_SIDED * lists)
        lists /= np.linalg.norm(lists, axis=1, keepdims=True)
        total += lists @ lists.T / len(near)
    np.fill_diagonal(total, 1)
    return total


def linkage_of(shared):
    return average_linkage((1 - shared).round(9), np.ones(len(shared)))


def average_linkage(far, size, apart=None, most=np.inf):
    """Labels of all clusterings, the finest first, found by chains of nearest neighbours.

    Whatever two are each other's nearest become one; of equally near ones the one before in the chain is
    taken, and then the first. The things that are merged have a size and may have to stay apart. A cluster is
    named by its first one.
    """
    far, size, height = far.astype(float), np.array(size, dtype=float), np.zeros(len(far))
    far[np.eye(len(far), dtype=bool) if apart is None else apart | np.eye(len(far), dtype=bool)] = np.inf
    left, chain, merges = list(range(len(far))), [], []
    while left:
        chain = chain or left[:1]
        last, before = chain[-1], chain[-2:-1]
        nearest = min([*before, *left], key=lambda k: far[last, k])
        if far[last, nearest] == np.inf:
            left.remove(chain.pop())
        elif [nearest] != before:
            chain = [*chain, nearest]
        else:
            a, b = sorted((last, nearest))
            chain = chain[:-2]
            left.remove(b)
            height[a] = max(far[a, b], height[a], height[b])
            merges.append((height[a], a, b))
            far[a] = far[:, a] = (size[a] * far[a] + size[b] * far[b]) / (size[a] + size[b])
            far[a, a] = np.inf
            size[a] += size[b]
    found = [np.arange(len(far))]
    for at, a, b in sorted(merges, key=lambda merge: merge[0]):
        if at > most:
            break
        found.append(np.where(found[-1] == b, a, found[-1]))
    return found


def cut(clusterings, k):
    """Labels of the clustering of k clusters, numbered in order of their first items."""
    return np.unique(clusterings[max(len(clusterings) - k, 0)], return_inverse=True)[1]


def mean_pairs(table, labels):
    """Means over the pairs of items of two clusters; 0 where there is no pair."""
    k = labels.max() + 1
    found = np.zeros((k, k))
    for a in range(k):
        for b in range(k):
            values = [
                table[i, j]
                for i in np.flatnonzero(labels == a)
                for j in np.flatnonzero(labels == b)
                if i != j
            ]
            found[a, b] = np.mean(values) if values else 0
    return found


def number_of_classes(near, parts):
    """The smallest number of clusters of which random parts agree almost as well as of any."""
    n = len(near[0])
    levels = [k for k in LEVELS if k <= max(n / 6, 5)]
    if n < 20 or len(levels) < 2:
        return max(2, n**FEWEST)
    agreement = np.zeros(len(levels))
    for pair in parts:
        trees = [
            linkage_of(shared_neighbours([each[np.ix_(part, part)] for each in near], 8)) for part in pair
        ]
        both = sorted(set(pair[0].tolist()) & set(pair[1].tolist()))
        at = [[part.tolist().index(i) for i in both] for part in pair]
        for number, k in enumerate(levels):
            one, other = (cut(tree, k)[rows] for tree, rows in zip(trees, at, strict=True))
            agreement[number] += adjusted_rand_score(one, other) / len(parts)
    return max(level_of(agreement, levels), n**FEWEST)


def level_of(agreement, levels):
    """Where the agreement first reaches what is good enough, after the last deep dip."""
    enough = max(agreement) - BELOW
    deep = [at for at, value in enumerate(agreement) if value < enough - DIP]
    high = [at for at, value in enumerate(agreement) if value >= enough]
    first = min((at for at in high if not deep or at > max(deep)), default=high[0])
    if first == 0:
        return levels[0]
    share = (enough - agreement[first - 1]) / (agreement[first] - agreement[first - 1])
    return np.exp((1 - share) * np.log(levels[first - 1]) + share * np.log(levels[first]))


def logistic(z):
    return 1 / (1 + np.exp(-z))


# ---------------------------------------------------------------- what answers teach
def best_sharpness(answers):
    """Power and score of the unknown: the likeliest of a grid, by answers about places.

    An answer is the scores of an item, the neighbourhood in question, those that were open, and yes or no.
    """
    best, found = -np.inf, None
    for power in POWERS:
        for unknown in UNKNOWN:
            value = -(((power - 1.6) / 0.4) ** 2) / 2 - np.log(unknown / 0.08) ** 2 / 2
            for age, (score, asked, open_, is_yes) in enumerate(reversed(answers)):
                score = np.maximum(score, 1e-6) ** power
                chance = score[asked] / (sum(score[at] for at in open_) + unknown**power)
                chance = min(max(chance, 0.005), 0.995)
                value += DECAY**age * np.log(chance if is_yes else 1 - chance)
            if round(value, 9) > best:
                best, found = round(value, 9), (power, unknown)
    return found


def expected_rate(answers):
    """How often what looks different is one, by answers and how likely they were to be yes without that."""
    rates = RATES
    weight = rates**0.2 * (1 - rates) ** 0.8 * np.gradient(np.log(rates))
    for chance, is_yes in answers:
        yes = rates + (1 - rates) * chance
        weight = weight * (yes if is_yes else 1 - yes)
    return (weight @ rates) / weight.sum()


def prior_weights(n_classes):
    return np.array([a + b * np.log(n_classes) for a, b in PRIOR])


def similarity_weights(phi, psi, together, prior):
    """The weights of similarity of highest posterior probability, by pairs of which something is known."""
    n = len(together)
    pairs = [pair for pair in combinations(range(n), 2) if not np.isnan(together[pair])]
    A = np.array([(1, phi[pair], psi[pair]) for pair in pairs]).reshape(-1, 3)
    target = np.array([together[pair] for pair in pairs])
    n_known = max((~np.isnan(together)).sum(), 1)
    weight, precision = min(1, 10 * n / n_known), 1 / np.square(DEVIATION)

    def loss(w):
        z = A @ w
        return weight * (np.logaddexp(0, z) - target * z).sum() + (precision * (w - prior) ** 2).sum() / 2

    w = np.array(prior, dtype=float)
    for _ in range(100):
        p = logistic(A @ w)
        slope = weight * A.T @ (p - target) + precision * (w - prior)
        curve = weight * (A.T * (p * (1 - p))) @ A + np.diag(precision)
        step = np.linalg.solve(curve, slope)
        while loss(w - step) > loss(w) + 1e-12:
            step /= 2
        w = w - step
        if abs(step).max() < 1e-12:
            break
    return np.array([w[0], max(w[1], 0.2), max(w[2], 0)])


def weights_of_kernels(kernels, members):
    """How much each kernel counts: by how well it predicts the items that are not alone; the first stays."""
    values = []
    for K in kernels:
        n = len(K)
        inverse = np.linalg.inv(K + RIDGE * np.eye(n))
        scores = members - (inverse @ members) / np.diag(inverse)[:, None]
        by_power = []
        for power in (1, 1.5, 2, 3):
            value = -(((power - 1.6) / 0.5) ** 2) / 2
            for score, member in zip(scores, members, strict=True):
                if (members * member).sum() > 1:
                    raised = np.maximum(score, 0) ** power
                    value += np.log(max(raised[member == 1][0] / (raised.sum() + 0.08**power), 0.01))
            by_power.append(value)
        values.append(max(by_power))
    values[0] += STAY
    weights = np.exp(TEMPER * (np.array(values) - max(values)))
    weights = (weights / weights.sum()).round(2)
    return weights / weights.sum()


# ---------------------------------------------------------------- the best clustering
def expected_index(p, weight, labels):
    """Numerator and denominator of the adjusted Rand index apart, over all pairs."""
    pairs = np.triu(weight, 1)
    is_together = labels[:, None] == labels
    right, together = (pairs * p * is_together).sum(), (pairs * is_together).sum()
    belong, n_pairs = (pairs * p).sum(), pairs.sum()
    below = n_pairs * (belong + together) - 2 * belong * together
    return 2 * (right * n_pairs - belong * together) / max(below, 1e-12)


def best_clustering(p, size, group, apart, known, slack):
    """Average linkage of groups, cut where the expected index is highest, and then single items move."""
    weight = np.outer(size, size)
    number, group = np.unique(group, return_inverse=True)
    apart = apart[np.ix_(number, number)]
    free = linked(p, weight, group, np.zeros_like(apart), slack)
    if not any(apart[a, b] and free[a] == free[b] for a, b in combinations(range(len(number)), 2)):
        return moved(p, weight, free[group], known)[0]
    both = [linked(p, weight, group, apart, slack), mended(p, weight, group, apart, free)]
    return max((moved(p, weight, labels[group], known) for labels in both), key=lambda found: found[1])[0]


def linked(p, weight, group, apart, slack):
    """Cluster of each group, by average linkage."""
    member = np.equal.outer(np.arange(group.max() + 1), group) * np.sqrt(np.diag(weight))
    rows = member.sum(axis=1)
    far = 1 - member @ p @ member.T / np.outer(rows, rows)
    found = average_linkage(far.round(9), rows, apart, 1 - LOWEST)
    values = [expected_index(p, weight, labels[group]) for labels in found]
    last = max(at for at, value in enumerate(values) if value >= max(values) - slack)
    return np.unique(found[last], return_inverse=True)[1]


def threshold(p, weight, labels):
    """The chance from which a pair gains by being together."""
    share = np.triu(weight * p, 1).sum() / max(np.triu(weight, 1).sum(), 1)
    value = expected_index(p, weight, labels)
    return value / 2 + (1 - value) * share


def mended(p, weight, group, apart, labels):
    """Groups that differ leave a cluster that they share, for the next best one or one of their own."""
    least, n_rows = threshold(p, weight, labels[group]), np.sqrt(np.diag(weight)).sum()

    def gain(a, c):
        others = np.flatnonzero((labels[group] == c) & (group != a))
        pairs = np.ix_(np.flatnonzero(group == a), others)
        return ((weight * (p - least))[pairs].sum() / n_rows).round(9)

    clusters = range(labels.max() + 1)
    gains = [[gain(a, c) for c in clusters] for a in range(len(labels))]
    margin = [
        round(row[own] - max(0, *(row[c] for c in clusters if c != own), 0), 9)
        for row, own in zip(gains, labels, strict=True)
    ]
    placed, n_clusters = {}, labels.max() + 1
    for a in sorted(range(len(labels)), key=lambda a: -margin[a]):
        free = [c for c in clusters if not any(apart[a, b] and placed[b] == c for b in placed)]
        best = max(free, key=lambda c: gains[a][c], default=None)
        if labels[a] in free:
            placed[a] = labels[a]
        elif best is not None and gains[a][best] > 0:
            placed[a] = best
        else:
            placed[a], n_clusters = n_clusters, n_clusters + 1
    return np.array([placed[a] for a in range(len(labels))])


def moved(p, weight, labels, known):
    """Single items move while it raises the expected index; the labels, and that index."""
    size, labels = np.sqrt(np.diag(weight)), np.unique(labels, return_inverse=True)[1]
    n_clusters = labels.max() + 1
    others = p - np.diag(np.diag(p))
    for _ in range(SWEEPS):
        value, least = expected_index(p, weight, labels), threshold(p, weight, labels)
        member = np.array([(labels == c) * size for c in range(n_clusters)])
        gain = others @ member.T - least * (member.sum(axis=1) - (member > 0).T * size[:, None])
        better = np.where(known, labels, gain.round(9).argmax(axis=1))
        if expected_index(p, weight, better) <= value + 1e-9:
            break
        labels = better
    return np.unique(labels, return_inverse=True)[1], round(expected_index(p, weight, labels), 9)


# ---------------------------------------------------------------- the state
def items_of(groups):
    return [item for group in groups for item in group]


class State:
    """Items whose neighbourhood is known, in order, and what came of those that were asked about."""

    def __init__(self, facts, kernels, start, size, askable, corrected=frozenset()):
        self.facts, self.kernels, self.start, self.size, self.askable = facts, kernels, start, size, askable
        self.order, self.cover, self.doubtful, self.tried = [], {}, set(), set()
        self.blamed, self.placing, self.corrected = set(), None, corrected
        self.answers, self.sharpness = [], best_sharpness([])
        self.assumed, self.checks = {}, []  # the first item of where each is; which expected answers came
        self.far_answers = []  # how likely each was yes without the far rate, and whether it was
        self.weights, self.weighed_at = None, 0
        self.in_force = self.growing = None  # items learned from, known items then, shares of trees

    def blame(self):
        """After two items that nobody could compare with the only one that has a place: another begins."""
        waiting_again = self.doubtful - self.blamed
        if len(self.order) != 1 or len(waiting_again) < 2:
            return
        (first,) = self.order
        if any(said in ("yes", "no") for at, said in enumerate(self.facts.known[first]) if at != first):
            return
        self.order.clear()
        self.tried -= waiting_again
        for item in waiting_again:
            self.cover.pop(item, None)
        self.blamed.add(first)
        self.doubtful = set(self.blamed)

    def company(self, item):
        """All that is known to belong together with an item."""
        return np.flatnonzero(self.facts.known[item] == "yes").tolist()

    def are_apart(self, one, other):
        """Whether two items, or the first ones of two lists, are known to differ."""
        one = one[0] if isinstance(one, list) else one
        return self.facts.known[one, other[0] if isinstance(other, list) else other] == "no"

    def table_of_apart(self, groups):
        first = [group[0] for group in groups]
        return self.facts.known[np.ix_(first, first)] == "no"

    def look(self):
        """Take in items that answers speak of."""
        for item in range(self.facts.n):
            if item not in self.order and any(other in self.order for other in self.company(item)):
                self.order.append(item)
        for item, first in list(self.assumed.items()):
            if len(self.company(item)) > 1 or self.are_apart(item, first) or not self.is_named(item):
                del self.assumed[item]
        while True:
            founders = [
                company
                for company in (self.company(item) for item in range(self.facts.n))
                if len(company) > 1
                and self.placing not in company
                and all(self.are_apart(company, item) for item in self.order if item not in self.assumed)
            ]
            if not founders:
                return
            self.order += max(founders, key=lambda company: (len(company), -company[0]))

    def is_named(self, item):
        """Whether something is known of an item and another one."""
        return sum(said in ("yes", "no") for said in self.facts.known[item]) > 1

    def error(self):
        """The expected share of assumptions that are wrong."""
        return (self.checks.count(False) + 1) / (len(self.checks) + 6)

    def may_assume(self):
        """Whether one more item may be assumed to be in what is left."""
        return self.error() <= MOST_WRONG and len(self.assumed) < FOR_EACH_CHECK * len(self.checks)

    def is_left(self, item, home, homes):
        """Whether some neighbourhoods are ruled out, all of which differ from one that is left."""
        out = [other for other in homes if self.are_apart(item, other)]
        return bool(out) and all(self.are_apart(home, other) for other in out)

    def waiting(self):
        """Components of items that something is known of, though not where they belong."""
        busy = [] if self.placing is None else self.company(self.placing)
        spoken_of = [
            item for item in range(self.facts.n)
            if (self.facts.known[item] != None).sum() > 1 and item not in self.order and item not in busy  # noqa: E711
        ]  # fmt: skip
        return [self.company(item) for item in spoken_of if item == self.company(item)[0]]

    def homes(self):
        """Neighbourhoods, as lists of items in the order in which they became known."""
        self.look()
        found = []
        for item in self.order:
            for home in found:
                if self.facts.verdict(item, home[0]) == "yes" or self.assumed.get(item) in home:
                    home.append(item)
                    break
            else:
                found.append([item])
        return found

    # ------------------------------------------------------------ learning
    def learn(self, forest):
        """After an item was placed: weights of kernels, the forest in growth may count, another may begin."""
        homes, n = self.homes(), len(self.order)
        shared = [item for item in self.order if any(item in home and len(home) > 1 for home in homes)]
        if (
            n >= FIRST_WEIGHTS
            and n >= 1.15 * self.weighed_at + 3
            and len(shared) >= 4
            and len(self.kernels) > 1
        ):
            self.weighed_at = n
            taught = self.taught(homes)
            known = items_of(taught)
            among = [K[np.ix_(known, known)] for K in self.kernels]
            self.weights = weights_of_kernels(among, self.members(taught))
        if self.growing is not None and n >= self.growing[1] + 4:
            self.in_force, self.growing = self.growing, None
        several = [home for home in homes if len(home) > 1]
        if self.growing is None and len(shared) >= FIRST_FOREST and len(several) > 1:
            leaves = forest(
                shared, [next(at for at, h in enumerate(several) if item in h) for item in shared]
            )
            trees = sum((leaves[:, None, t] == leaves[None, :, t]) for t in range(TREES)) / TREES
            self.growing = shared, n, trees

    def kernel_now(self):
        """The weighted mean, with the forest that is in force."""
        K = self.kernels[0]
        if self.weights is not None:
            K = sum(weight * each for weight, each in zip(self.weights, self.kernels, strict=True))
        if self.in_force is None:
            return K
        items, _, trees = self.in_force
        share = MOST_SHARE * len(items) / (len(items) + HALF)
        return (1 - share) * K + share * trees

    # ------------------------------------------------------------ the model
    def members(self, homes):
        """Which neighbourhood each of their items is in."""
        return np.array([[float(item in home) for home in homes] for item in items_of(homes)])

    def taught(self, homes):
        """The items of each neighbourhood that teach: all, but of those that a person has moved only some.

        With these it has no more than the others have on average, or one more than were asked about.
        """
        asked, found = {item for item in self.order if item in self.cover}, []
        for a, home in enumerate(homes):
            others = [len(other) for b, other in enumerate(homes) if b != a] or [len(home)]
            most = max(sum(item in asked for item in home) + 1, int(np.ceil(np.mean(others))))
            moved = [item for item in home[1:] if item in self.corrected and item not in asked]
            kept = [item for item in home if item not in moved]
            kept += sorted(moved, key=lambda item: item * 2654435761 % 2**32)[: max(most - len(kept), 0)]
            found.append([item for item in home if item in kept])
        return found

    def scores(self, homes):
        """Scores of all items, by the items of these neighbourhoods."""
        homes, K = self.taught(homes), self.kernel_now()
        known = items_of(homes)
        inverse = np.linalg.inv(K[np.ix_(known, known)] + RIDGE * np.eye(len(known)))
        return K[:, known] @ inverse @ self.members(homes)

    def chances(self, score):
        """Probability of each neighbourhood, and that of none of them, for one item's scores."""
        power, unknown = self.sharpness
        raised = np.maximum(score, 0) ** power
        total = raised.sum() + unknown**power
        return raised / total, unknown**power / total

    def all_chances(self, homes):
        """The same for all items."""
        found = [self.chances(score) for score in self.scores(homes)]
        return np.array([join for join, _ in found]), np.array([new for _, new in found])

    def expected_classes(self, homes):
        """The number that the rows suggest; lower where the items asked about keep meeting the same few."""
        suggested, n_answers = self.start.n_classes, sum(item in self.order for item in self.cover)
        low, high = min(len(homes), suggested), suggested
        for _ in range(100):
            number = (low + high) / 2
            met = number * (1 - (1 - 1 / number) ** (n_answers + 1))
            low, high = (number, high) if met < len(homes) else (low, number)
        return np.exp((GUESS * np.log(suggested) + n_answers * np.log(high)) / (GUESS + n_answers))

    def chance_of_new(self, homes):
        """How likely each item starts a neighbourhood, by coverage."""
        met = min(1, (len(homes) + 1) / self.expected_classes(homes)) ** 2
        founders, found = [home[0] for home in homes], []
        for score in self.scores(homes):
            cover = min(np.maximum(score, 0).sum(), 1)
            above, below = 1 - cover * met, 1.0
            for item, was in self.cover.items():
                if item in self.order:
                    like = np.exp(-((cover - was) ** 2) / (2 * LIKE**2))
                    above, below = above + like * (item in founders), below + like
            found.append(above / below)
        return np.array(found)

    def alike(self, homes):
        """How likely the items of each neighbourhood belong to each other one, told by the others alone."""
        homes, K = self.taught(homes), self.kernel_now()
        known, found = items_of(homes), []
        for a, home in enumerate(homes):
            rest = [item for item in known if item not in home]
            members = np.array([[float(item in other) for other in homes] for item in rest])
            scores = np.zeros((len(home), len(homes)))
            if rest:
                inverse = np.linalg.inv(K[np.ix_(rest, rest)] + RIDGE * np.eye(len(rest)))
                scores = K[np.ix_(home, rest)] @ inverse @ members
            scores[:, a] = 0
            found.append(np.mean([self.chances(score)[0] for score in scores], axis=0))
        return np.array(found)

    def worth(self):
        """How much each item would explain of what is uncertain, if two questions can place it."""
        homes, C = self.homes(), self.kernel_now()
        unsure, clear = np.ones(len(C)), np.ones(len(C))
        if self.order:
            known = items_of(self.taught(homes))
            inverse = np.linalg.inv(C[np.ix_(known, known)] + RIDGE * np.eye(len(known)))
            C = C - C[:, known] @ inverse @ C[known]
            join, new = self.all_chances(homes)
            unsure = 1 - join.max(axis=1)
            clear = np.array(
                [min(sum(sorted(p)[-2:]) + rest, 1) ** CLEAR for p, rest in zip(join, new, strict=True)]
            )
        weight = self.size / self.size.mean()
        return (C**2 * weight * unsure).sum(axis=1) / (np.diag(C) + RIDGE) * clear

    # ------------------------------------------------------------ what is shown
    def pair(self, first, second):
        """The most alike items that can be compared; None when two pairs of them were in doubt."""
        K, unsure = self.kernel_now(), 0
        for a, b in sorted(((a, b) for a in first for b in second), key=lambda pair: -K[pair].round(6)):
            if self.askable[a] and self.askable[b] and not {a, b} & set(self.assumed):
                said = self.facts.verdict(a, b)
                unsure += said == "unsure"
                if unsure == 2:
                    return None
                if said is None:
                    return a, b
        return None

    def labels(self):
        """The clustering that is shown: that of the highest expected index."""
        homes, start, n = self.homes(), self.start, self.facts.n
        known = np.zeros(n, bool)
        if not homes:
            p = logistic(start.prior[0] + start.prior[1] * start.phi_fine + start.prior[2] * start.psi_fine)
            p = p[np.ix_(start.fine, start.fine)]
            return best_clustering(p, self.size, start.fine, np.zeros((n, n), bool), known, SLACK)
        p, P, trust, groups, counts = self.pairs(homes)
        known[items_of(groups)] = True
        is_home = (trust * P.max(axis=1)).round(9) >= HOME
        group = np.where(is_home, P.round(9).argmax(axis=1), len(groups) + start.fine)

        apart = np.zeros((len(groups) + n, len(groups) + n), bool)
        apart[: len(groups), : len(groups)] = self.table_of_apart(groups)
        slack = max(SLACK, min(SLACK_FOR_EACH * known.sum(), MOST_SLACK)) if counts else SLACK
        return best_clustering(p, self.size, group, apart, known, slack)

    def pairs(self, homes):
        """How likely two items belong together, and what that follows from."""
        start, n = self.start, self.facts.n
        join, new, wanted = self.settle(homes)
        parts = self.waiting()
        join, new = self.rule_out(join, new, homes)
        is_met = 1 - self.chance_of_new(homes)
        k, n_known = len(homes), sum(len(home) for home in homes)
        n_classes = self.expected_classes(homes)
        n_given = n_known - sum(item in self.order for item in self.cover)
        worth = n_known - n_given + max(min(n_given, 1), GIVEN * n_given)
        counts = k > 1 and (min(k, worth) >= MET * n_classes or worth >= PLACED * n_classes)
        trust = np.sqrt(join.max(axis=1) * is_met) if counts else np.zeros(len(join))
        groups, k = homes + parts, len(homes)
        P = np.zeros((n, len(groups)))
        P[:, :k] = join / np.maximum(join.sum(axis=1, keepdims=True), 1e-12)
        for at, group in enumerate(groups):
            P[group], trust[group] = np.eye(len(groups))[at], 1
        belongs = [p * is_met[part].mean() for part, p in zip(parts, wanted, strict=True)]
        R, w = self.same(homes, parts, np.vstack([np.eye(k), *belongs]))
        q = logistic(w[0] + w[1] * start.phi_fine + w[2] * start.psi_fine)[np.ix_(start.fine, start.fine)]
        trusted = np.outer(trust, trust)
        U = np.where(trust[:, None] * P < LEAST, 0, trust[:, None] * P)
        return U @ R @ U.T + (1 - trusted) * q, P, trust, groups, counts

    def certainty(self, homes, labels):
        """How likely each item belongs to its cluster."""
        p, P, trust, groups, _ = self.pairs(homes)
        cluster = np.array([labels[home[0]] for home in homes])
        together = np.empty(self.facts.n)
        for i, own in enumerate(labels):
            others = {c: [j for j in np.flatnonzero(labels == c) if j != i] for c in set(labels)}
            mean = {c: np.average(p[i, j], weights=self.size[j]) for c, j in others.items() if j}
            together[i] = mean[own] if own in mean else 1 - max(mean.values(), default=0)
        together = together.clip(0, 1)
        belongs = np.array([P[i, : len(homes)][cluster == own].sum() for i, own in enumerate(labels)])
        for c in set(labels):
            there = labels == c
            mean = np.average(together[there], weights=self.size[there])
            together[there] = (together[there] / np.sqrt(max(mean, 1e-12))).clip(0, 1)
        certain = trust * belongs + (1 - trust) * together
        certain[items_of(groups)] = 1
        certain[list(self.assumed)] = 1 - self.error()
        return certain.clip(0, 1)

    def likely(self, homes):
        """How likely the items of each neighbourhood belong to another, given those that they differ from."""
        alike, found = self.alike(homes), np.zeros((len(homes), len(homes)))
        for a, home in enumerate(homes):
            differs = np.array([self.are_apart(home, other) for other in homes])
            left = max(1 - alike[a][differs].sum(), 1e-6)
            found[a] = np.where(differs, 0, np.minimum(alike[a] / left, 1))
        return found

    def worths_of_relations(self, homes, labels):
        """Pairs of rows that an answer about two neighbourhoods is expected to correct."""
        _, P, trust, _, _ = self.pairs(homes)
        rows, sure = np.zeros(len(homes)), np.zeros(len(homes))
        for i, own in enumerate(labels):
            there = [at for at, home in enumerate(homes) if labels[home[0]] == own]
            if there:
                share = (P[i, there] + 1e-9) / (P[i, there] + 1e-9).sum()
                rows[there] += share * self.size[i]
                sure[there] += share * self.size[i] * trust[i]
        likely, rate, found = self.likely(homes), expected_rate(self.far_answers), {}
        for a, b in combinations(range(len(homes)), 2):
            if not self.are_apart(homes[a], homes[b]):
                chance = max(likely[a, b], likely[b, a])
                one = max(chance, rate) if chance >= LIKELY else rate
                right, gain = sure[a] * sure[b], TOGETHER * rows[a] * rows[b]
                if labels[homes[a][0]] == labels[homes[b][0]]:
                    found[a, b] = (1 - one) * TOGETHER * right
                else:
                    found[a, b] = one * (right - gain)
        return found

    def worth_of_item(self, item, homes, labels):
        """Pairs of rows that an answer about an item is expected to correct."""
        wrong, C = 1 - self.certainty(homes, labels), self.kernel_now()
        known = items_of(self.taught(homes))
        inverse = np.linalg.inv(C[np.ix_(known, known)] + RIDGE * np.eye(len(known)))
        left = C[item] - C[item, known] @ inverse @ C[known]
        rows = np.array([self.size[labels == own].sum() for own in labels])
        return (self.size * wrong * rows * left**2).sum() / (left[item] + RIDGE)

    def same(self, homes, parts, place):
        """How likely two groups of known items are one, and the weights of similarity that follow."""
        groups, k = homes + parts, len(homes)
        apart, alike = self.table_of_apart(groups), self.alike(homes)
        together = np.full((len(groups), len(groups)), np.nan)
        together[:k, :k] = (alike + alike.T) / 2
        together[apart] = 0
        np.fill_diagonal(together, 1)
        n_classes = self.expected_classes(homes)
        items, of = items_of(groups), [at for at, group in enumerate(groups) for _ in group]
        phi, psi = self.start.phi[np.ix_(items, items)], self.start.psi[np.ix_(items, items)]
        of_items, given = together[np.ix_(of, of)], self.given(items)
        if self.are_selected(groups, apart, given, n_classes):
            for a, b in product(range(len(items)), repeat=2):
                if items[a] in given or items[b] in given:
                    of_items[a, b] = np.nan
        w = similarity_weights(phi, psi, of_items, prior_weights(n_classes))
        mean = np.equal.outer(np.arange(len(groups)), of) / np.bincount(of)[:, None]
        q = logistic(w[0] + w[1] * mean @ phi @ mean.T + w[2] * mean @ psi @ mean.T)
        among = np.where(apart, 0, np.fmax(q, together))[:k, :k]
        np.fill_diagonal(among, 1)
        R = q.copy()
        for a in range(len(groups)):
            for b in range(len(groups)):
                if max(a, b) < k:
                    R[a, b] = among[a, b]
                else:
                    R[a, b] = place[a] @ among @ place[b] + (1 - place[a].sum() * place[b].sum()) * q[a, b]
        R[apart] = 0
        np.fill_diagonal(R, 1)
        return R, w

    def given(self, items):
        """The items that only given facts name."""
        asked = {item for item in self.order if item in self.cover}
        return {item for item in items if item not in asked} - ({self.order[0]} if asked else set())

    def are_selected(self, groups, apart, given, n_classes):
        """Whether nearly all given pairs are of one kind, unlike random ones."""
        of_given = [all(item in given for item in group) for group in groups]
        yes = len(given) - sum(of_given)
        pairs = combinations(range(len(groups)), 2)
        n = yes + sum(apart[a, b] for a, b in pairs if of_given[a] or of_given[b])
        least = min(MOST_YES, 1 / (2 * n_classes))
        return n > 0 and min(binom.sf(yes - 1, n, MOST_YES), binom.cdf(yes, n, least)) < BY_CHANCE

    def rule_out(self, join, new, homes):
        """The item that is being placed is in no neighbourhood that it is apart from."""
        item = self.placing
        if item is None or item in self.order or not any(self.are_apart(item, home) for home in homes):
            return join, new
        rows, join, new = self.company(item), join.copy(), new.copy()
        p = join[rows].mean(axis=0) * [not self.are_apart(item, home) for home in homes]
        rest = new[rows].mean()
        join[rows], new[rows] = p / max(p.sum() + rest, 1e-9), rest / max(p.sum() + rest, 1e-9)
        return join, new

    def settle(self, homes):
        """Chances of all items, and those of what waits; certain parts count as known for the others."""
        parts, place = self.waiting(), {}
        join, new = self.all_chances(homes)
        if not parts:
            return join, new, []
        for _ in range(3):
            wanted, is_new = self.wanted(parts, join, new, homes, place), False
            for at in sorted(range(len(parts)), key=lambda at: -round(max(wanted[at]), 9)):
                p = np.where(self.barred(parts[at], homes, place), 0, wanted[at])
                if round(max(wanted[at]), 9) >= 0.5 and parts[at][0] not in place and max(p) >= 0.5:
                    place[parts[at][0]], is_new = int(p.argmax()), True
            if not is_new:
                break
            more = [items_of(part for part in parts if place.get(part[0]) == at) for at in range(len(homes))]
            join, new = self.all_chances([home + rest for home, rest in zip(homes, more, strict=True)])
        wanted = self.wanted(parts, join, new, homes, place)
        for part, p in zip(parts, wanted, strict=True):
            join[part] = p
        return join, new, wanted

    def wanted(self, parts, join, new, homes, place):
        """Which neighbourhood each part may belong to."""
        found = []
        for part in parts:
            p = np.where(self.barred(part, homes, place), 0, join[part].mean(axis=0))
            found.append(p / max(p.sum() + new[part].mean(), 1e-9))
        return found

    def barred(self, part, homes, place):
        """Where a part is not, by what is known and by what counts as known."""
        found = [self.are_apart(part, home) for home in homes]
        for other, at in place.items():
            found[at] |= self.are_apart(part, other)
        return found


# ---------------------------------------------------------------- the method
def kin(facts, kernels, start, *, size, forest, jitter, askable, corrected=frozenset()):
    """Ask until nothing is open; `kernels` are the mean and the families."""
    state = State(facts, kernels, start, size, askable, corrected)

    def ask(pair):
        return (yield from facts.ask(*pair, state.labels()))

    state.learn(forest)
    while True:
        yield from compare(state, LIKELY, ask)
        state.look()
        gone = {*state.order, *state.tried, *state.doubtful}
        able = [item for item in range(facts.n) if askable[item] and item not in gone]
        item = None
        if able:
            gain = state.worth() * (1 + 0.05 * jitter(len(state.tried)))
            share = (gain / max(gain[able].max(), 1e-9)).round(5)
            item = max(able, key=lambda item: share[item])
        pair = worthiest(state, item)
        if pair is not None:
            said = yield from ask(pair)
            if said != "unsure":
                state.far_answers.append((0.0, said == "yes"))
            continue
        if item is None and state.assumed:
            item = next(item for item in state.order if item in state.assumed)
            del state.assumed[item]
            state.order.remove(item)
        if item is None:
            break
        state.tried.add(item)
        yield from place(state, item, ask)
        state.learn(forest)
    yield from compare(state, 0.0, ask)
    return state.labels()


def worthiest(state, item):
    """Two neighbourhoods that look different, if they are worth far more than an item."""
    homes = state.homes()
    if all(state.are_apart(one, other) for one, other in combinations(homes, 2)):
        return None
    labels = state.labels()
    worth = state.worths_of_relations(homes, labels)
    least = 0 if item is None else PATIENCE * state.worth_of_item(item, homes, labels)
    for a, b in sorted(worth, key=lambda pair: (-round(worth[pair], 6), pair)):
        pair = state.pair(homes[a], homes[b]) if worth[a, b] > least else None
        if pair is not None:
            return pair
    return None


def compare(state, least, ask):
    """Neighbourhoods that may be one."""
    while True:
        homes, wanted = state.homes(), []
        likely = state.likely(homes)
        for a in range(len(homes)):
            differs = [state.are_apart(homes[a], home) for home in homes]
            wanted += [(likely[a, b], a, b) for b in range(len(homes)) if b != a and not differs[b]]
        for chance, a, b in sorted(wanted, key=lambda w: (-round(w[0], 9), w[1:])):
            pair = state.pair(homes[a], homes[b]) if round(chance, 9) >= least else None
            if pair is not None:
                break
        else:
            return
        yield from ask(pair)


def place(state, item, ask):
    """Where an item belongs."""
    state.placing, cover, given_up, doubtful = item, None, [], False
    while True:
        homes = state.homes()
        if item in state.order or not homes:
            break
        scores = state.scores(homes)[item]
        p, new = state.chances(scores)
        possible = [at for at, home in enumerate(homes) if not state.are_apart(item, home)]
        rest = [at for at in possible if homes[at][0] not in given_up]
        if not rest:
            break
        best = max(rest, key=lambda at: (round(p[at], 9), -at))
        likely = p[best] / max(p[rest].sum() + new, 1e-9)
        if cover is not None and likely < LIKELY:
            break
        could_assume = likely >= LEFT and state.is_left(item, homes[best], homes)
        if could_assume and cover is not None and not doubtful and state.may_assume():
            state.assumed[item] = homes[best][0]
            break
        pair = state.pair([item], homes[best])
        if pair is None:
            given_up.append(homes[best][0])
            continue
        is_first, chance = cover is None, p[best] / max(p[possible].sum() + new, 1e-9)
        cover = min(np.maximum(scores, 0).sum(), 1) if is_first else cover
        said = yield from ask(pair)
        if said != "unsure" and is_first and chance < FAR:
            state.far_answers.append((chance, said == "yes"))
        doubtful |= said == "unsure"
        if said != "unsure":
            state.answers.append((scores, best, rest, said == "yes"))
            state.sharpness = best_sharpness(state.answers)
            if could_assume:
                state.checks.append(said == "yes")
                if state.error() > MOST_WRONG:
                    state.assumed.clear()
    if cover is not None:
        state.cover[item] = cover
    if item not in state.order:
        state.doubtful.add(item) if doubtful else state.order.append(item)
        if doubtful:
            state.blame()
    state.placing = None
