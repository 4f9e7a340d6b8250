"""What KIN believes before any answer: fine clusters, how many classes there are, and what is alike.

Nearest neighbours tell more than similarities where there are many classes. Two items share neighbours as far
as their lists of nearest items agree, where near ones count more, and mutual ones count more than others
(Jarvis and Patrick 1973). The lists come from the kernel and from the cosines of the centred rows.

Average linkage on shared neighbours gives fine clusters, and clusterings of any number of clusters. The
number of classes is the smallest one whose clusterings of random parts of the items agree almost as well as
any (Ben-Hur, Elisseeff and Guyon 2002). A few outliers are found again and again, too, so numbers before a
deep dip do not count.

How likely two items belong together by similarity alone is a logistic regression:

    logit q_ij = w0 + w1 φ_ij + w2 ψ_ij

φ is the logarithm of the kernel, less what both items have in common with all others, so that hubs do not
seem similar to everything. ψ grows with the nearest neighbours that two items share. The prior of the
weights follows from the number of classes that are expected: with more classes fewer pairs belong together,
and shared neighbours say more. Answers then give the weights of highest posterior probability, by Newton's
method.

Cost: O(n²) for n items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linkwise import native, parallel
from linkwise.learn.kin.kernels import BLOCK, Matrix, Rows, Table
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at

NEAREST = 10
LISTED = 30  # nearest neighbours among all items, from which those among parts follow
ONE_SIDED = 0.3  # weight of a neighbour that does not have the item as one
SHARED = 0.02  # ψ = log(1 + shared / SHARED)
LEAST_SIMILARITY = -1.0  # of φ
MOST_FINE, ITEMS_OF_FINE = 300, 4  # fine clusters: at most so many, and so many items of each on average
LEVELS = (3, 5, 8, 12, 20, 30, 45, 70, 100, 150, 220, 320, 450)  # numbers of clusters that are tried
N_PARTS, PART = 3, 0.75  # pairs of random parts of the items, and their share
BELOW, DIP = 0.1, 0.25  # how far below the best agreement one is good enough, and how far below that is a dip
FEWEST = 0.22  # at least n ** FEWEST classes are expected
TOO_FEW = 20  # items below which two classes are expected
UNIT = 0.01  # relative deviation of the norms of rows that are directions

PRIOR = np.array([(0.25, -1.1), (2.3, -0.2), (0.2, 0.25)])  # means of w: a + b log(number of classes)
DEVIATION = np.array([0.5, 0.5, 0.2])
PAIR_WEIGHT = 10.0  # each pair of l known items counts min(1, PAIR_WEIGHT / l): pairs are not independent
LEAST = (-np.inf, 0.2, 0.0)  # similarity never speaks against
STEPS = 12
LONGEST = 2.0  # step of a weight
TINY = 1e-6

ROOM = 64  # least number of items that there is room for


class PriorBelief(NamedTuple):
    """What is believed before any answer."""

    mean: NDArray[np.float64]
    """(n,) mean kernel of each item to all others."""
    shared: csr_array
    """(n, n) how far the neighbours of two items agree, from 0 to 1; sparse."""
    fine: Rows
    """(n,) fine cluster of each item."""
    fine_similarity: Table
    """(m, m) mean φ of the items of two fine clusters."""
    fine_shared: Table
    """(m, m) mean ψ of them."""
    n_classes: float

    def similarity(self, kernel: Matrix, items: Rows, others: Rows | None = None) -> Table:
        """φ of some items and others: the logarithm of their kernel, less what they have with all others."""
        others = items if others is None else others
        return _log_similarity(kernel[items[:, None], others], self.mean[items], self.mean[others])

    def sharing(self, items: Rows, others: Rows | None = None) -> Table:
        """ψ of some items and others."""
        others = items if others is None else others
        starts, place = self.shared.indptr, np.full(len(self.mean), -1)
        place[others] = np.arange(len(others))
        length = (starts[1:] - starts[:-1])[items]
        row = np.repeat(np.arange(len(items)), length)
        at = np.arange(len(row)) + np.repeat(starts[items] - (np.cumsum(length) - length), length)
        column = place[self.shared.indices[at]]
        is_there, found = column >= 0, np.zeros((len(items), len(others)))
        found[row[is_there], column[is_there]] = np.log1p(self.shared.data[at[is_there]] / SHARED)
        return found


def find_prior_belief(
    rows: NDArray[np.float64], kernel: Matrix, seed: int, *, are_directions: bool
) -> PriorBelief:
    """Find fine clusters and the number of classes, from centred rows and the kernel of the items.

    If only the directions of rows mean something (`are_unit_rows`), the kernel names no neighbours.
    """
    n = len(rows)
    mean = (kernel.sum(axis=1, dtype=np.float64) - 1) / max(n - 1, 1)
    near: list[NDArray[Any]] = [_cosines(rows)]
    if not are_directions:
        near.insert(0, kernel.round(6))
    nearest = [list_nearest(each, min(LISTED, n - 1)) for each in near]
    shared = find_shared_neighbours(nearest, NEAREST)
    n_classes = estimate_classes(near, nearest, seed)
    del near, nearest  # large tables, which are gone before the next ones are made
    fine = _cut(_link(shared), n, min(MOST_FINE, max(2, n // ITEMS_OF_FINE)))
    sharing = shared.copy()
    sharing.data = np.log1p(sharing.data / SHARED)
    similar, shares = _average_similarity(kernel, mean, fine), _average_pairs(sharing, fine)
    return PriorBelief(mean, shared, fine, similar, shares, n_classes)


def are_unit_rows(X: NDArray[np.float64]) -> bool:
    """Whether all rows have about the same norm, as embeddings and normalised counts do."""
    norm = np.linalg.norm(X, axis=1)
    return bool(norm.std() < UNIT * norm.mean())


# ---------------------------------------------------------------- shared neighbours
def _cosines(rows: NDArray[np.float64]) -> Table:
    """Cosines in 64 bits: where one column is much larger than the others they differ by little."""
    directions = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    with one_blas_thread():
        found: Table = directions @ directions.T
    return np.round(found, 9, out=found)


def list_nearest(similarity: NDArray[Any], k: int, rows: Rows | None = None) -> Rows:
    """(n, k + 1) each item itself and its `k` nearest neighbours, the nearest first.

    Of `rows` alone if given. Among equally similar items the first ones count as nearest. Give rounded
    similarities, so that rounding errors, which differ between processors, decide nothing.
    """
    wanted = np.arange(len(similarity)) if rows is None else rows
    nearest = np.empty((len(wanted), k + 1), dtype=np.int64)
    for a in range(0, len(wanted), BLOCK):
        some = wanted[a : a + BLOCK]
        far = np.rint(similarity[some] * np.float64(-1e9))
        far[np.arange(len(some)), some] = -np.inf  # an item itself comes first
        nearest[a : a + BLOCK] = native.smallest_columns(far, k + 1, parallel.n_threads())
    return nearest


def _list_nearest_in_part(similarity: NDArray[Any], nearest: Rows, part: Rows, k: int) -> Rows:
    """(len(part), k + 1) the same among some items, which are sorted, from longer lists among all."""
    place = np.full(len(similarity), -1)
    place[part] = np.arange(len(part))
    listed = place[nearest[part]]
    is_first = np.cumsum(listed >= 0, axis=1)
    is_first = (listed >= 0) & (is_first <= k + 1)
    is_short = is_first.sum(axis=1) <= k
    found = np.empty((len(part), k + 1), dtype=np.int64)
    found[~is_short] = listed[~is_short][is_first[~is_short]].reshape(-1, k + 1)
    if is_short.any():
        found[is_short] = list_nearest(similarity[np.ix_(part, part)], k, np.flatnonzero(is_short))
    return found


def find_shared_neighbours(nearest: Sequence[Rows], k: int) -> csr_array:
    """Compute the mean cosine of the items' lists of `k` nearest neighbours, over several similarities.

    Each list begins with the item itself, and the nearest come first.
    """
    total = _share(nearest[0], k)
    for each in nearest[1:]:
        total = total + _share(each, k)
    total.data /= len(nearest)
    total.setdiag(1.0)
    return csr_array(total)


def _share(nearest: Rows, k: int) -> csr_array:
    """(n, n) cosines of the lists of `k` nearest neighbours."""
    n = len(nearest)
    k = min(k, n - 1)
    nearest = nearest[:, : k + 1]
    is_listed = np.zeros((n, n), dtype=bool)
    is_listed[np.arange(n)[:, None], nearest] = True
    is_mutual = is_listed[nearest, np.arange(n)[:, None]]
    weight = np.exp(-np.arange(k + 1) / max(k / 2, 1))
    weights = weight * ONE_SIDED + weight * is_mutual * (1 - ONE_SIDED)
    starts = np.arange(0, n * (k + 1) + 1, k + 1)
    weights /= np.sqrt(np.add.reduceat((weights * weights).ravel(), starts[:-1]))[:, None]
    # small products are added first
    lists = csr_array((weights[:, ::-1].ravel(), nearest[:, ::-1].ravel(), starts), shape=(n, n))
    return csr_array(lists @ lists.T)


# ---------------------------------------------------------------- clusterings
def _link(shared: csr_array) -> NDArray[np.int64]:
    """List the merges of average linkage, the nearest first."""
    shared.sort_indices()
    distances = np.maximum(1 - shared.data, 0).round(9)
    start, column = shared.indptr.astype(np.int32), shared.indices.astype(np.int32)
    return native.agglomerate_near(distances, column, start)[0]


def _cut(merges: NDArray[np.int64], n: int, k: int) -> Rows:
    """Label n items by the clustering of k clusters."""
    return label_merges(n, merges[: max(n - k, 0)])


def estimate_classes(near: Sequence[NDArray[Any]], nearest: Sequence[Rows], seed: int) -> float:
    """Estimate the number of classes by the agreement of clusterings of random parts of the items."""
    n = len(near[0])
    levels = [k for k in LEVELS if k <= max(n / 6, 5)]
    if n < TOO_FEW or len(levels) < 2:
        return max(2.0, float(n**FEWEST))
    rng, agreement = rng_at(seed, 6), np.zeros(len(levels))
    for _ in range(N_PARTS):
        parts = [np.sort(rng.permutation(n)[: int(PART * n)]) for _ in range(2)]
        trees = [_link(_share_part(near, nearest, part)) for part in parts]
        _, *both = np.intersect1d(parts[0], parts[1], return_indices=True)
        for at, k in enumerate(levels):
            one, other = (
                _cut(tree, len(part), k)[where] for tree, part, where in zip(trees, parts, both, strict=True)
            )
            agreement[at] += rand_index(one, other) / N_PARTS
    return max(_find_level(agreement, levels), float(n**FEWEST))


def rand_index(one: Rows, other: Rows) -> float:
    """The adjusted Rand index of two clusterings whose clusters are numbered 0, 1, ..."""
    n, width = len(one), int(other.max(initial=-1)) + 1
    both, of_one, of_other = (
        int((np.bincount(of) ** 2).sum()) for of in (one * width + other, one, other)
    )  # ordered pairs of rows that are together, each row with itself included
    if both == of_one == of_other:
        return 1.0
    only_one, only_other, together = of_one - both, of_other - both, both - n
    apart = n * n - both - only_one - only_other
    expected = (together + only_one) * (only_one + apart) + (together + only_other) * (only_other + apart)
    return 2 * (together * apart - only_one * only_other) / expected


def _share_part(near: Sequence[NDArray[Any]], nearest: Sequence[Rows], part: Rows) -> csr_array:
    k = round(PART * NEAREST)
    some = min(k, len(part) - 1)
    found = [
        _list_nearest_in_part(similarity, listed, part, some)
        for similarity, listed in zip(near, nearest, strict=True)
    ]
    return find_shared_neighbours(found, k)


def _find_level(agreement: NDArray[np.float64], levels: Sequence[int]) -> float:
    """Find the smallest number whose agreement is good enough, between two levels by its logarithm."""
    enough = agreement.max() - BELOW
    high, low = np.flatnonzero(agreement >= enough), np.flatnonzero(agreement < enough - DIP)
    after = high[high > low.max(initial=-1)]
    first = int(after[0]) if len(after) else int(high[0])
    if first == 0:
        return float(levels[0])
    share = (enough - agreement[first - 1]) / (agreement[first] - agreement[first - 1])
    return float(levels[first - 1] ** (1 - share) * levels[first] ** share)


# ---------------------------------------------------------------- means of fine clusters
def _log_similarity(kernel: Matrix, one: NDArray[np.float64], other: NDArray[np.float64]) -> Table:
    scale = np.multiply.outer(one, other)
    np.sqrt(np.maximum(scale, 1e-12, out=scale), out=scale)
    relative = np.divide(kernel, scale, out=scale)
    np.maximum(relative, np.exp(LEAST_SIMILARITY), out=relative)
    return np.asarray(np.log(relative, out=relative))


def _average_similarity(kernel: Matrix, mean: NDArray[np.float64], fine: Rows) -> Table:
    """(m, m) mean φ of the pairs of two fine clusters."""
    n, of, count = len(fine), fine.astype(np.int32), np.bincount(fine)
    half = np.zeros((len(count), len(count)))
    for a in range(0, n, BLOCK):
        rows, columns = slice(a, min(a + BLOCK, n)), slice(0, min(a + BLOCK, n))
        block = np.tril(_log_similarity(kernel[rows, columns], mean[rows], mean[columns]), a - 1)
        by_row = native.label_sums(block, of[rows], len(count), None, 1)[0]
        across = np.ascontiguousarray(by_row.T)
        half += native.label_sums(across, of[columns], len(count), None, 1)[0]
    return _divide_by_pairs(half + half.T, count)


def _average_pairs(table: csr_array, fine: Rows) -> Table:
    """(m, m) mean of a sparse table over the pairs of two fine clusters."""
    n, count = len(fine), np.bincount(fine)
    member = csr_array((np.ones(n), fine, np.arange(n + 1)), shape=(n, len(count)))
    total = (member.T @ (table @ member)).toarray()
    total[np.diag_indices(len(count))] -= np.bincount(fine, table.diagonal())
    return _divide_by_pairs((total + total.T) / 2, count)  # symmetric to the last bit


def _divide_by_pairs(total: Table, count: Rows) -> Table:
    pairs = np.multiply.outer(count, count) - np.diag(count)
    return np.asarray(total / np.maximum(pairs, 1))


# ---------------------------------------------------------------- clusterings of a hierarchy
def label_merges(n: int, merges: Rows) -> Rows:
    """Label n things after merges of `linkwise.native.agglomerate`, in the order of their first ones."""
    first = np.arange(n)
    first[merges[:, 1]] = merges[:, 0]
    while (further := first[first]).tobytes() != first.tobytes():
        first = further
    found: Rows = (np.cumsum(first == np.arange(n)) - 1)[first]
    return found


# ---------------------------------------------------------------- pairs that belong together
class PairWeights(NamedTuple):
    """The weights of the module's formula."""

    constant: float
    similarity: float
    shared: float

    def chances(self, similarity: Table, shared: Table, *, are_symmetric: bool = False) -> Table:
        """How likely pairs with this φ and this ψ belong together."""
        n_threads = parallel.n_threads()
        return native.pair_chances(similarity, shared, self, n_threads, are_symmetric=are_symmetric)


def expect_weights(n_classes: float) -> PairWeights:
    """The weights before any answer."""
    return PairWeights(*(PRIOR @ (1.0, np.log(n_classes))).tolist())


def fit_pair_weights(similarity: Table, shared: Table, together: Table, n_classes: float) -> PairWeights:
    """Fit the weights to the pairs of known items, all of shape (l, l).

    `similarity` and `shared` are φ and ψ. `together` is 1 where two belong together, 0 where they do not,
    a chance where it is open, and nan where nothing is known.
    """
    is_known = ~np.isnan(together)
    upper = np.flatnonzero(np.triu(is_known, 1))
    pairs = similarity.take(upper), shared.take(upper), together.take(upper)
    weight = min(1.0, PAIR_WEIGHT * len(together) / max(is_known.sum(), 1))
    mean: NDArray[np.float64] = np.array(expect_weights(n_classes))
    precision, found = 1 / DEVIATION**2, mean.copy()
    for _ in range(STEPS):
        slope, curve = native.logistic_slopes(*pairs, PairWeights(*found.tolist()))
        slope = weight * slope - precision * (found - mean)
        curve = weight * curve + np.diag(precision)
        step = np.clip(np.linalg.solve(curve, slope), -LONGEST, LONGEST)
        found = found + step
        if np.abs(step).max() < TINY:
            break
    return PairWeights(*np.maximum(found, LEAST).tolist())


class NamedPairs:
    """What is alike among some items before any answer.

    A pair has the same φ and ψ whichever items are named, so nothing depends on the order.
    """

    def __init__(self, prior: PriorBelief, kernel: Matrix) -> None:
        self._prior, self._kernel = prior, kernel
        self._items: Rows = np.empty(0, dtype=np.int64)
        self._place = np.full(len(kernel), -1, dtype=np.int32)
        self._tables = [np.empty((ROOM, ROOM)) for _ in range(2)]

    def among(self, items: Rows) -> list[Table]:
        """φ and ψ of all pairs of some items."""
        at = self._find(items)
        return [table[at[:, None], at] for table in self._tables]

    def average(self, items: Rows, label: Rows, k: int) -> list[Table]:
        """Mean φ and mean ψ of the items of any two of k labels."""
        at, of = self._find(items), label.astype(np.int32)
        return [native.average_pairs(table, at, of, k) for table in self._tables]

    def _find(self, items: Rows) -> NDArray[np.int32]:
        """The places of items in the tables; new ones get the next places."""
        new = items[self._place[items] < 0]
        if len(new):
            every = np.concatenate([self._items, new])
            self._make_room(len(every))
            place = self._place.copy()
            place[new] = np.arange(len(self._items), len(every))
            for rows, columns in ((new, every), (self._items, new)):  # ψ is symmetric only but for rounding
                at = place[rows][:, None], place[columns]
                self._tables[0][at] = self._prior.similarity(self._kernel, rows, columns)
                self._tables[1][at] = self._prior.sharing(rows, columns)
            self._items, self._place = every, place  # now, so that an interruption leaves nothing half-made
        found: NDArray[np.int32] = self._place[items]
        return found

    def _make_room(self, n: int) -> None:
        room = len(self._tables[0])
        if n > room:
            wider = [np.zeros((max(n, 2 * room),) * 2) for _ in self._tables]
            for table, old in zip(wider, self._tables, strict=True):
                table[:room, :room] = old
            self._tables = wider
