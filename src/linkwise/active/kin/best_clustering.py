"""The clustering with the highest expected adjusted Rand index.

Items i and j belong together with probability

    p_ij = s_i s_j P_i R P_j' + (1 - s_i s_j) q(f_i, f_j).

P_i: which neighbourhood item i belongs to, by the regression, if it belongs to one at all. s_i: how far that
is trusted. R: how likely two neighbourhoods are one. q: how likely items of two fine clusters belong
together, by the kernel alone, where f_i is the fine cluster of item i. Before any answer all s are 0, and q
alone counts.

Average linkage merges groups of items that are together anyway (neighbourhoods, or else fine clusters) by
their mean p. Of all its clusterings the coarsest is taken that is almost the best, and then single items
move. The expected index treats numerator and denominator of the index of Hubert and Arabie (1985) apart.

Linkage that never merges across a cannot-link may be led astray by a single one: two halves of a class stay
apart for good because each holds one of two items that differ. So groups are also linked as if nothing kept
them apart, and then those that have to leave a cluster move to the next best one. The better clustering of
the two is shown.

All sums over pairs follow from sums over clusters, so no n x n table is made: O(n (k + m)) time for n items,
k neighbourhoods and m fine clusters, and O(g² (k + m)) for g groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwise import native, parallel
from linkwise.active.kin.kernels import Rows, Table
from linkwise.active.kin.placement import Mask
from linkwise.active.kin.ties import first_largest
from linkwise.constraints.closure import find_components
from linkwise.parallel import one_blas_thread

HOME = 0.2  # s max P from which an item starts with its likeliest neighbourhood, else with its fine cluster
LEAST = 0.001  # s P below which an item is taken to have no part in a neighbourhood
LOWEST = 0.02  # mean p below which nothing is merged
SLACK = 0.001  # of the expected index: the coarsest clustering at most so much below the best is taken
SLACK_FOR_EACH, MOST_SLACK = 5e-5, 0.005  # once the regression counts, it grows with the known items
SWEEPS = 2  # over single items
TINY = 1e-12


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


class BestClustering(NamedTuple):
    """Labels of the items, and the adjusted Rand index that is expected of them."""

    labels: Rows
    expected_ari: float


class _Parts(NamedTuple):
    """What the sums over pairs need, of n items."""

    pairs: PairChances
    entries: native.SparseRows
    """(n, k) s P, without what is below `LEAST`."""
    item: Rows
    """(e,) item of each entry."""
    own: Table
    """(n,) what the sums count for each item with itself, which is no pair."""


class _Sums(NamedTuple):
    """Sums over the rows of each of C clusters."""

    join: Table
    """(C, k) of s P."""
    fine: Table
    """(C, m) of ones, by fine cluster."""
    trusted: Table
    """(C, m) of s, by fine cluster."""
    size: Rows
    """(C,) of ones."""


class _Groups(NamedTuple):
    """Groups of items that are together anyway."""

    of: Rows
    """(n,) group of each item."""
    size: Rows
    """(g,) rows of each group."""
    belonging: Table
    """(g, g) expected pairs of two groups that belong together; within one, both ways round."""
    distances: Table
    """(g, g) 1 less their mean p."""
    barred: Mask
    """(g, g) which of them are known to differ."""


class _Gains(NamedTuple):
    """What the parts of an item add to the expected pairs of each of C clusters that belong together."""

    join: Table
    """(C, k) for s P."""
    fine: Table
    """(C, m) for its fine cluster."""
    trusted: Table
    """(C, m) for s, by fine cluster; subtracted."""
    size: Rows
    """(C,) rows."""

    def by_part(self) -> tuple[Table, Table, Table]:
        """The three tables, the other way round."""
        join, fine, trusted = (np.ascontiguousarray(each.T) for each in self[:3])
        return join, fine, trusted

    def update(self, pairs: PairChances, sums: _Sums, clusters: Rows) -> _Gains:
        """The gains after a change of some clusters."""
        found = _Gains._make(each.copy() for each in self)
        some = _find_gains(pairs, _Sums._make(each[clusters] for each in sums))
        for all_clusters, each in zip(found, some, strict=True):
            all_clusters[clusters] = each
        return found


def find_best_clustering(
    pairs: PairChances, known: Rows, label: Rows, apart: Mask, slack: float = SLACK
) -> BestClustering:
    """Find the clustering with the highest expected index.

    Parameters
    ----------
    pairs : PairChances
    known, label : ndarray of shape (l,)
        Items whose neighbourhood is known, and which it is. They stay together.
    apart : ndarray of shape (k, k)
        Neighbourhoods that are known to differ.
    slack : float
        The coarsest clustering is taken whose expected index is at most so much below the best one.
    """
    is_home = (pairs.trust * pairs.join.max(axis=1, initial=0)).round(9) >= HOME
    is_home[known] = False
    group = pairs.join.shape[1] + pairs.fine
    if is_home.any():
        group[is_home] = first_largest(pairs.join[is_home])
    group[known] = label
    with one_blas_thread():
        parts = _split(pairs)
        groups = _measure_groups(parts, group, apart)
        free = _link_groups(parts, groups, np.zeros_like(groups.barred), slack)
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


def estimate_belonging(pairs: PairChances, labels: Rows) -> Table:
    """Estimate how likely each item belongs to its cluster, by its mean p to the other rows there.

    An item that is alone belongs to its cluster unless it belongs to another one.

    Parameters
    ----------
    pairs : PairChances
    labels : ndarray of shape (n,)
        Clusters of the items, numbered 0, 1, ...
    """
    n, n_clusters = len(labels), int(labels.max(initial=-1)) + 1
    at, size = (np.arange(n), labels), pairs.size.astype(np.float64)
    with one_blas_thread():
        parts = _split(pairs)
        sums = _sum_clusters(parts, labels, n_clusters)
        chance = _add_gains(parts, _find_gains(pairs, sums))
    others = np.tile(sums.size.astype(np.float64), (n, 1))
    others[at] -= size
    chance[at] -= parts.own / size
    is_alone = others[at] == 0
    chance /= np.maximum(others, 1)
    own = chance[at]
    chance[at] = 0
    return np.clip(np.where(is_alone, 1 - chance.max(axis=1), own), 0, 1)


# ---------------------------------------------------------------- sums over pairs
def expected_ari(right: ArrayLike, together: ArrayLike, belong: float, n_pairs: float) -> Table:
    """Compute the expected index from numbers of pairs.

    Parameters
    ----------
    right : array-like
        Expected number of pairs that are together and belong together.
    together : array-like
        Pairs that are together.
    belong : float
        Expected number of pairs that belong together.
    n_pairs : float
        All pairs.
    """
    right, together = np.asarray(right, dtype=np.float64), np.asarray(together, dtype=np.float64)
    by_chance = n_pairs * (belong + together) - 2 * belong * together
    return np.asarray(2 * (right * n_pairs - belong * together) / np.maximum(by_chance, TINY))


def _split(pairs: PairChances) -> _Parts:
    n, k = pairs.join.shape
    joined = (pairs.join * pairs.trust[:, None]).ravel()
    at = np.flatnonzero(joined >= LEAST)
    item, column = np.divmod(at, max(k, 1))
    start = np.r_[0, np.cumsum(np.bincount(item, minlength=n))].astype(np.int32)
    entries = native.SparseRows(joined[at], column.astype(np.int32), start)
    own = (1 - pairs.trust**2) * pairs.alike[pairs.fine, pairs.fine]
    own += native.sparse_forms(entries, np.ascontiguousarray(pairs.same))
    return _Parts(pairs, entries, item, own * pairs.size.astype(np.float64) ** 2)


def _sum_clusters(parts: _Parts, labels: Rows, n_clusters: int) -> _Sums:
    pairs, entries, size = parts.pairs, parts.entries, parts.pairs.size.astype(np.float64)
    k, m = pairs.join.shape[1], len(pairs.alike)
    by_join, by_fine = labels[parts.item] * k + entries.column, labels * m + pairs.fine
    return _Sums(
        _add_up(by_join, entries.data * size[parts.item], (n_clusters, k)),
        _add_up(by_fine, size, (n_clusters, m)),
        _add_up(by_fine, size * pairs.trust, (n_clusters, m)),
        np.bincount(labels, size, n_clusters).astype(np.int64),
    )


def _add_up(place: Rows, amount: Table, shape: tuple[int, int]) -> Table:
    """Sum amounts by their places in a table."""
    total = np.bincount(place, amount, shape[0] * shape[1])
    return np.asarray(total.reshape(shape), dtype=np.float64)


def _multiply(shares: Table, table: Table) -> Table:
    """Multiply a table of mostly zeros by another one."""
    return native.multiply_sparse(
        np.ascontiguousarray(shares), np.ascontiguousarray(table), parallel.n_threads()
    )


def _count_belonging(pairs: PairChances, sums: _Sums) -> Table:
    """(C, C) expected pairs of two clusters that belong together; within one, both ways round."""
    gains = _find_gains(pairs, sums)
    found = _multiply(sums.join, gains.join.T)
    found += _multiply(sums.fine, gains.fine.T)
    found -= _multiply(sums.trusted, gains.trusted.T)
    return found


def _find_gains(pairs: PairChances, sums: _Sums) -> _Gains:
    return _Gains(
        _multiply(sums.join, pairs.same),
        _multiply(sums.fine, pairs.alike),
        _multiply(sums.trusted, pairs.alike),
        sums.size,
    )


def _add_gains(parts: _Parts, gains: _Gains) -> Table:
    """(n, C) expected rows of each cluster that belong together with each item, also itself."""
    pairs, joined = parts.pairs, np.zeros_like(parts.pairs.join)
    joined[parts.item, parts.entries.column] = parts.entries.data
    found = _multiply(joined, gains.join.T)
    found += gains.fine.T[pairs.fine]
    found -= pairs.trust[:, None] * gains.trusted.T[pairs.fine]
    return found


def _count_pairs(size: Rows, of: Rows) -> float:
    """Twice the pairs of rows of different items within clusters of these sizes."""
    return float(size @ size - of @ of)


# ---------------------------------------------------------------- groups, then single items
def _measure_groups(parts: _Parts, group: Rows, apart: Mask) -> _Groups:
    number, of = _number(group)
    sums = _sum_clusters(parts, of, len(number))
    barred = np.zeros((len(number), len(number)), dtype=bool)
    known = np.flatnonzero(number < len(apart))
    barred[np.ix_(known, known)] = apart[np.ix_(number[known], number[known])]
    belonging, size = _count_belonging(parts.pairs, sums), sums.size.astype(np.float64)
    distances = (1 - belonging / np.multiply.outer(size, size)).round(9)
    return _Groups(of, sums.size, belonging, distances, barred)


def _link_groups(parts: _Parts, groups: _Groups, barred: Mask, slack: float) -> tuple[Rows, float]:
    """Merge groups by average linkage, as far as it raises the expected index.

    Returns
    -------
    ndarray of shape (g,)
        Cluster of each group, numbered 0, 1, ...
    float
        The chance from which a pair gains by being together.
    """
    pairs, belonging, size = parts.pairs, groups.belonging, groups.size
    within = belonging.diagonal() - np.bincount(groups.of, parts.own, len(size))
    belong = (belonging.sum() - belonging.trace() + within.sum()) / 2
    distances = np.where(barred, np.inf, groups.distances)
    merges, heights = native.agglomerate(distances, size.copy(), "average", 1, 1 - LOWEST)
    count, gains = size.tolist(), []
    for a, b in merges.tolist():
        gains.append(count[a] * count[b])
        count[a] += count[b]
    gain = np.array(gains, dtype=np.float64)
    together = _count_pairs(size, pairs.size) / 2 + np.cumsum(np.r_[0.0, gain])
    right = within.sum() / 2 + np.cumsum(np.r_[0.0, gain * (1 - heights)])
    n_pairs = _count_pairs(np.array([pairs.size.sum()]), pairs.size) / 2
    value = expected_ari(right, together, belong, n_pairs)
    last = int(np.flatnonzero(value >= value.max() - slack)[-1])
    return find_components(len(size), merges[:last]), _find_threshold(float(value[last]), belong, n_pairs)


def _find_threshold(value: float, belong: float, n_pairs: float) -> float:
    """The chance from which a pair gains by being together, where the expected index is `value`.

    With an index of e that is e / 2 + (1 - e) times the share of all pairs that belong together.
    """
    return value / 2 + (1 - value) * belong / max(n_pairs, 1)


def _mend(groups: _Groups, label: Rows, least: float) -> Rows:
    """Take groups that are known to differ out of one cluster; the same array where there are none.

    Groups that gain most by staying stay. Each of the others goes where it gains most and may be, or makes a
    cluster of its own.

    Parameters
    ----------
    groups : _Groups
    label : ndarray of shape (g,)
        Cluster of each group, numbered 0, 1, ...
    least : float
        The chance from which a pair gains by being together.
    """
    if not (groups.barred & (label[:, None] == label)).any():
        return label
    at, size = (np.arange(len(label)), label), groups.size.astype(np.float64)
    order, n_clusters = np.argsort(label, kind="stable"), int(label.max()) + 1
    starts = np.searchsorted(label[order], np.arange(n_clusters))
    others: Table = np.tile(np.bincount(label, size), (len(label), 1))
    others[at] -= size
    gain = np.add.reduceat(groups.belonging[:, order], starts, axis=1)
    gain[at] -= groups.belonging.diagonal()
    gain = ((gain - least * size[:, None] * others) / size.sum()).round(9)
    elsewhere = gain.copy()
    elsewhere[at] = 0  # for a cluster of its own
    margin = (gain[at] - elsewhere.max(axis=1)).round(9)
    is_barred, mended, n_mended = np.zeros((n_clusters, len(label)), dtype=bool), label.copy(), n_clusters
    for a in np.argsort(-margin, kind="stable").tolist():
        to = int(label[a])
        if is_barred[to, a]:
            left = np.where(is_barred[:, a], 0, gain[a])
            to = int(left.argmax())
            if left[to] <= 0:
                to, n_mended = n_mended, n_mended + 1
            mended[a] = to
        if to < n_clusters:
            is_barred[to] |= groups.barred[a]
    return _number(mended)[1]


def _move_items(parts: _Parts, label: Rows, groups: _Groups, known: Rows) -> BestClustering:
    """Move single items, all at once, while it raises the expected index."""
    pairs, own, labels, n_clusters = parts.pairs, parts.own, label[groups.of], int(label.max(initial=-1)) + 1
    size, is_free = pairs.size.astype(np.float64), np.ones(len(labels), dtype=bool)
    is_free[known] = False
    free = np.flatnonzero(is_free)
    belong = (groups.belonging.sum() - own.sum()) / 2
    n_pairs = _count_pairs(np.array([pairs.size.sum()]), pairs.size) / 2

    def judge(sums: _Sums, gains: _Gains) -> float:
        within = (sums.join * gains.join).sum() + (sums.fine * gains.fine).sum()
        within -= (sums.trusted * gains.trusted).sum()
        right, together = (within - own.sum()) / 2, _count_pairs(sums.size, pairs.size) / 2
        return float(expected_ari(right, together, belong, n_pairs))

    sums = _sum_clusters(parts, labels, n_clusters)
    gains = _find_gains(pairs, sums)
    value = judge(sums, gains)
    for _ in range(SWEEPS):
        least, moved = _find_threshold(value, belong, n_pairs), labels.copy()
        moved[free] = native.best_clusters(
            free.astype(np.int32),
            parts.entries,
            native.ClusterGains(*gains.by_part(), np.asarray(least * gains.size, dtype=np.float64)),
            pairs.fine.astype(np.int32),
            pairs.trust,
            own / size - least * size,
            labels.astype(np.int32),
            parallel.n_threads(),
        )
        changed = np.flatnonzero(moved != labels)
        if len(changed) == 0:
            break
        sums = _sum_clusters(parts, moved, n_clusters)
        touched = _number(np.concatenate([labels[changed], moved[changed]]))[0]
        its_gains = gains.update(pairs, sums, touched)
        better = judge(sums, its_gains)
        if better <= value + 1e-9:
            break
        labels, value, gains = moved, better, its_gains
    return BestClustering(_number(labels)[1], value)


def _number(labels: Rows) -> tuple[Rows, Rows]:
    """What `np.unique` returns with its inverse, for numbers that are not much larger than their count."""
    is_used = np.zeros(int(labels.max(initial=-1)) + 1, dtype=bool)
    is_used[labels] = True
    return np.flatnonzero(is_used), (np.cumsum(is_used) - 1)[labels]
