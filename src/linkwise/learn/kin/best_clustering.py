"""The clustering with the highest expected adjusted Rand index.

Items i and j belong together with probability

    p_ij = s_i s_j P_i R P_j' + (1 - s_i s_j) q(f_i, f_j).

P_i: which neighbourhood item i belongs to, by the regression, if it belongs to one at all. s_i: how far that
is trusted. R: how likely two neighbourhoods are one. q: how likely items of two fine clusters belong
together, by the kernel alone, where f_i is the fine cluster of item i. Before any answer all s are 0, and q
alone counts.

So p_ij = x_i W x_j', where x_i has few entries: those of s_i P_i that are not tiny, 1 for the fine cluster,
and s_i for it. W is made of the blocks R, q and -q. All sums over pairs follow from sums of these rows, so no
n x n table is made.

Average linkage merges groups of items that are together anyway (neighbourhoods, or else fine clusters) by
their mean p. Of all its clusterings the coarsest is taken that is almost the best, and then single items
move. The expected index treats numerator and denominator of the index of Hubert and Arabie (1985) apart.

Linkage that never merges across a cannot-link may be led astray by a single one: two halves of a class stay
apart for good because each holds one of two items that differ. So groups are also linked as if nothing kept
them apart, and then those that have to leave a cluster move to the next best one. The better clustering of
the two is shown.

Cost: O(n (k + m)) time for n items, k neighbourhoods and m fine clusters, and O(g² (k + m)) for g groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise import native, parallel
from linkwise.learn.kin.kernels import Mask, Rows, Table
from linkwise.learn.kin.prior_belief import label_merges

LEAST = 0.001  # s P below which an item is taken to have no part in a neighbourhood
TINY = 1e-12

HOME = 0.2  # s max P from which an item starts with its likeliest neighbourhood, else with its fine cluster
LOWEST = 0.02  # mean p below which nothing is merged
SLACK = 0.001  # of the expected index: the coarsest clustering at most so much below the best is taken
SLACK_FOR_EACH, MOST_SLACK = 5e-5, 0.005  # once the regression counts, it grows with the known items
SWEEPS = 2  # over single items


# ---------------------------------------------------------------- sums over pairs
class PairChances(NamedTuple):
    """How likely two items belong together; the module says how it follows."""

    join: Table
    """(n, k) P, each row a distribution."""
    trust: Table
    """(n,) s, from 0 to 1."""
    same: Table
    """(k, k) R, symmetric, 1 on its diagonal and 0 where neighbourhoods are apart."""
    fine: Rows
    """(n,) fine cluster of each item."""
    alike: Table
    """(m, m) q, symmetric."""
    size: Rows
    """(n,) rows of each item."""


class Parts(NamedTuple):
    """What the sums over pairs need, of n items."""

    rows: native.SparseRows
    """(n, k + 2 m) x."""
    form: native.PairForm
    """W."""
    size: Table
    """(n,) rows of each item."""
    own: Table
    """(n,) what the sums count for each item with itself, which is no pair."""
    likeliest: NDArray[np.int32]
    """(n,) the likeliest neighbourhood of each."""
    most: Table
    """(n,) its s P."""


def split_pairs(pairs: PairChances) -> Parts:
    """Split the chances of pairs into those of items."""
    alike, size = np.ascontiguousarray(pairs.alike), pairs.size.astype(np.float64)
    found = native.split_chances(
        np.ascontiguousarray(pairs.join), pairs.trust, pairs.fine.astype(np.int32), len(alike), LEAST
    )
    form = native.PairForm(np.ascontiguousarray(pairs.same), alike)
    own = native.evaluate_form(found.rows, form) * size**2
    return Parts(found.rows, form, size, own, found.likeliest, found.most)


def sum_items(parts: Parts, items: Rows, weight: Table, label: Rows, n_clusters: int) -> native.SparseRows:
    """Sum the rows of some items, with a weight each, by cluster."""
    return native.sum_rows(
        parts.rows,
        items.astype(np.int32),
        weight,
        label.astype(np.int32),
        n_clusters,
        parts.form.width,
    )


def sum_clusters(parts: Parts, labels: Rows, n_clusters: int) -> native.SparseRows:
    """Sum the rows of all items by cluster."""
    return sum_items(parts, np.arange(len(labels)), parts.size, labels, n_clusters)


def sum_sizes(parts: Parts, labels: Rows, n_clusters: int) -> Table:
    """Sum the rows of the items of each cluster."""
    return np.bincount(labels, parts.size, n_clusters).astype(np.float64)


def find_gains(parts: Parts, sums: native.SparseRows) -> Table:
    """(C, k + 2 m) what each part of an item adds to the expected pairs of each cluster."""
    return native.multiply_form(sums, parts.form, parallel.n_threads())


def expected_ari(right: ArrayLike, together: ArrayLike, belong: float, n_pairs: float) -> Table:
    """Compute the expected index from numbers of pairs.

    `right` of the pairs `together` are expected to belong together, and `belong` of all `n_pairs`.
    """
    right, together = np.asarray(right, dtype=np.float64), np.asarray(together, dtype=np.float64)
    by_chance = n_pairs * (belong + together) - 2 * belong * together
    return np.asarray(2 * (right * n_pairs - belong * together) / np.maximum(by_chance, TINY))


def count_pairs(size: Table, of: Table) -> float:
    """Twice the pairs of rows of different items within clusters of these sizes."""
    return float(size @ size - of @ of)


def estimate_belonging(pairs: PairChances, labels: Rows) -> Table:
    """Estimate how likely each item belongs to its cluster, by its mean p to the other rows there.

    An item that is alone belongs to its cluster unless it belongs to another one.
    """
    n, n_clusters = len(labels), int(labels.max(initial=-1)) + 1
    at, parts = (np.arange(n), labels), split_pairs(pairs)
    gains = find_gains(parts, sum_clusters(parts, labels, n_clusters))
    chance = native.multiply_across(parts.rows, gains, parallel.n_threads())
    others: Table = np.tile(sum_sizes(parts, labels, n_clusters), (n, 1))
    others[at] -= parts.size
    chance[at] -= parts.own / parts.size
    is_alone = others[at] == 0
    chance /= np.maximum(others, 1)
    own = chance[at]
    chance[at] = 0
    return np.clip(np.where(is_alone, 1 - chance.max(axis=1), own), 0, 1)


# ---------------------------------------------------------------- the best clustering
class BestClustering(NamedTuple):
    """Labels of the items, and the adjusted Rand index that is expected of them."""

    labels: Rows
    expected_ari: float


class _Groups(NamedTuple):
    """Groups of items that are together anyway."""

    of: Rows
    """(n,) group of each item."""
    size: Table
    """(g,) rows of each group."""
    gains: Table
    """(g, k + 2 m) what each part of an item gains by each group."""
    belonging: Table
    """(g, g) expected pairs of two groups that belong together; within one, both ways round."""
    distances: Table
    """(g, g) 1 less their mean p."""
    belong: float
    """Expected pairs of rows that belong together."""
    barred: Rows
    """Places of the pairs that are known to differ in a table of g rows, in its order."""


def find_best_clustering(
    pairs: PairChances, known: Rows, label: Rows, apart: Mask, slack: float = SLACK
) -> BestClustering:
    """Find the coarsest clustering whose expected index is at most `slack` below the best one.

    `known` items stay together by their neighbourhoods `label`; `apart`, of shape (k, k), are those that
    differ.
    """
    parts = split_pairs(pairs)
    is_home = parts.most.round(9) >= HOME
    is_home[known] = False
    group = np.where(is_home, parts.likeliest, pairs.join.shape[1] + pairs.fine)
    group[known] = label
    groups = _measure_groups(parts, group, apart)
    free = _link_groups(parts, groups, groups.barred[:0], slack)
    mended = _mend(groups, *free)
    if mended is free[0]:  # no cannot-link is in the way
        return _move_items(parts, mended, groups, known)
    barred = _link_groups(parts, groups, groups.barred, slack)[0]
    found = [_move_items(parts, labels, groups, known) for labels in (barred, mended)]
    return max(found, key=lambda clustering: round(clustering.expected_ari, 9))


def find_slack(n_known: int) -> float:
    """The slack once the regression counts, by the number of known items.

    Late most of the clusters that are kept apart for a tiny gain have no answer, and tell nobody anything.
    """
    return max(SLACK, min(SLACK_FOR_EACH * n_known, MOST_SLACK))


# ---------------------------------------------------------------- groups
def _measure_groups(parts: Parts, group: Rows, apart: Mask) -> _Groups:
    number, of = _number(group)
    sums = sum_clusters(parts, of, len(number))
    gains, size = find_gains(parts, sums), sum_sizes(parts, of, len(number))
    one, other = np.nonzero(apart)  # the first groups are the neighbourhoods, each of which has an item
    barred = one * len(number) + other
    belonging = native.multiply_across(sums, gains, parallel.n_threads(), is_symmetric=True)
    belong = float(belonging.sum() - parts.own.sum()) / 2
    return _Groups(of, size, gains, belonging, native.mean_distances(belonging, size), belong, barred)


def _link_groups(parts: Parts, groups: _Groups, barred: Rows, slack: float) -> tuple[Rows, float]:
    """Merge groups by average linkage, as far as it raises the expected index.

    Returns the cluster of each group, and the chance from which a pair gains by being together.
    """
    size, belong = groups.size, groups.belong
    within = groups.belonging.trace() - parts.own.sum()
    distances = groups.distances.copy()
    distances.ravel()[barred] = np.inf
    merges, heights = native.agglomerate(distances, size.astype(np.int64), "average", 1, 1 - LOWEST)
    count, gains = size.tolist(), []
    for a, b in merges.tolist():
        gains.append(count[a] * count[b])
        count[a] += count[b]
    gain = np.array(gains, dtype=np.float64)
    together = count_pairs(size, parts.size) / 2 + np.cumsum(np.r_[0.0, gain])
    right = within / 2 + np.cumsum(np.r_[0.0, gain * (1 - heights)])
    n_pairs = _count_all_pairs(parts)
    value = expected_ari(right, together, belong, n_pairs)
    last = int(np.flatnonzero(value >= value.max() - slack)[-1])
    return label_merges(len(size), merges[:last]), _find_threshold(float(value[last]), belong, n_pairs)


def _count_all_pairs(parts: Parts) -> float:
    return count_pairs(parts.size.sum(keepdims=True), parts.size) / 2


def _find_threshold(value: float, belong: float, n_pairs: float) -> float:
    """The chance from which a pair gains by being together, where the expected index is `value`.

    With an index of e that is e / 2 + (1 - e) times the share of all pairs that belong together.
    """
    return value / 2 + (1 - value) * belong / max(n_pairs, 1)


def _mend(groups: _Groups, label: Rows, least: float) -> Rows:
    """Take groups that are known to differ out of one cluster; the same array where there are none.

    Groups that gain most by staying stay. Each of the others goes where it gains most and may be, or
    makes a cluster of its own. `least` is the chance from which a pair gains by being together.
    """
    one, other = np.divmod(groups.barred, len(label))
    if not (label[one] == label[other]).any():
        return label
    some, begin = np.unique(one, return_index=True)  # the others bar nothing, and stay
    gain = _measure_moves(groups, label, least, some)
    at = np.arange(len(some))
    elsewhere = gain.copy()
    elsewhere[at, label[some]] = 0  # for a cluster of its own
    margin = (gain[at, label[some]] - elsewhere.max(axis=1)).round(9)
    order, begin = np.argsort(-margin, kind="stable"), np.append(begin, len(other))
    return _number(native.mend_clusters(order, some, begin, other, gain, label))[1]


def _measure_moves(groups: _Groups, label: Rows, least: float, some: Rows) -> Table:
    """(len(some), C) how much each of some groups gains by its place in each cluster."""
    n_clusters, size, at = int(label.max()) + 1, groups.size, np.arange(len(some))
    others: Table = np.tile(np.bincount(label, size), (len(some), 1))
    others[at, label[some]] -= size[some]
    total = native.label_sums(
        groups.belonging, label.astype(np.int32), n_clusters, None, parallel.n_threads()
    )[0]
    gain: Table = total.T[some]
    gain[at, label[some]] -= groups.belonging[some, some]
    others *= least * size[some, None]
    gain -= others
    gain /= size.sum()
    return np.round(gain, 9, out=gain)


# ---------------------------------------------------------------- single items
def _move_items(parts: Parts, label: Rows, groups: _Groups, known: Rows) -> BestClustering:
    """Move single items, all at once, while it raises the expected index."""
    size, labels, n_clusters = parts.size, label[groups.of], int(label.max(initial=-1)) + 1
    is_free = np.ones(len(labels), dtype=bool)
    is_free[known] = False
    free, n_threads = np.flatnonzero(is_free), parallel.n_threads()
    free = free[np.argsort(labels[free], kind="stable")]  # one cluster's items read the same gains
    belong, n_pairs = groups.belong, _count_all_pairs(parts)

    def judge(within: float, sizes: Table) -> float:
        right, together = (within - parts.own.sum()) / 2, count_pairs(sizes, size) / 2
        return float(expected_ari(right, together, belong, n_pairs))

    gains: Table = native.label_sums(groups.gains, label.astype(np.int32), n_clusters, None, n_threads)[0]
    within = float(sum_clusters(parts, labels, n_clusters).dot(gains).sum())
    sizes = sum_sizes(parts, labels, n_clusters)
    value = judge(within, sizes)
    for sweep in range(SWEEPS):
        least, moved = _find_threshold(value, belong, n_pairs), labels.copy()
        moved[free] = native.best_clusters(
            free.astype(np.int32),
            parts.rows,
            gains,
            least * sizes,
            parts.own / size - least * size,
            labels.astype(np.int32),
            n_threads,
        )
        changed = np.flatnonzero(moved != labels)
        if len(changed) == 0:
            break
        touched, place = _number(np.concatenate([moved[changed], labels[changed]]))
        change = sum_items(
            parts,
            np.concatenate([changed, changed]),
            np.concatenate([size[changed], -size[changed]]),
            place,
            len(touched),
        )
        added = (2 * change.dot(gains[touched]), native.evaluate_form(change, parts.form))
        within += sum(float(np.bincount(touched, each, n_clusters).sum()) for each in added)
        sizes = sum_sizes(parts, moved, n_clusters)
        better = judge(within, sizes)
        if better <= value + 1e-9:
            break
        labels, value = moved, better
        if sweep + 1 < SWEEPS:
            gains[touched] += find_gains(parts, change)
    return BestClustering(_number(labels)[1], value)


def _number(labels: Rows) -> tuple[Rows, Rows]:
    """What `np.unique` returns with its inverse, for numbers that are not much larger than their count."""
    is_used = np.zeros(int(labels.max(initial=-1)) + 1, dtype=bool)
    is_used[labels] = True
    return np.flatnonzero(is_used), (np.cumsum(is_used) - 1)[labels]
