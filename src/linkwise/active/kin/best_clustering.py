"""The clustering with the highest expected adjusted Rand index.

Items i and j belong together with probability

    p_ij = s_i s_j P_i R P_j' + (1 - s_i s_j) q(f_i, f_j).

P_i: which neighbourhood item i belongs to, by the regression, if it belongs to one at all. s_i: how far that
is trusted. R: how likely two neighbourhoods are one. q: how likely items of two small clusters belong
together, by the kernel alone, where f_i is the small cluster of item i. Before any answer all s are 0, and q
alone counts.

Average linkage merges groups of items that are together anyway (neighbourhoods, or else small clusters) by
their mean p, never across a cannot-link. Of all its clusterings the coarsest is taken that is almost the
best, and then single items move. The expected index treats numerator and denominator of the index of Hubert
and Arabie (1985) apart.

All sums over pairs follow from sums over clusters, so no n x n table is made: O(n (k + m)) time for n items,
k neighbourhoods and m small clusters, and O(g² (k + m)) for g groups.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from linkwise import native
from linkwise.active.kin.kernels import Rows, Table
from linkwise.active.kin.placement import Mask
from linkwise.parallel import one_blas_thread

HOME = 0.2  # s max P from which an item starts with its likeliest neighbourhood, else with its small cluster
LEAST = 0.001  # s P below which an item is taken to have no part in a neighbourhood
LOWEST = 0.02  # mean p below which nothing is merged
SLACK = 0.001  # of the expected index; the coarsest clustering that is so near to the best is taken
SWEEPS = 2  # over single items
FEW_ITEMS = 300  # up to which tables are dense
TINY = 1e-12

Shares: TypeAlias = Any  # a table, or a sparse array


class PairChances(NamedTuple):
    """How likely two items belong together; the module says how it follows."""

    join: Table
    """(n, k) P, each row a distribution."""
    trust: Table
    """(n,) s, from 0 to 1."""
    same: Table
    """(k, k) R, symmetric, 1 on its diagonal and 0 where neighbourhoods are apart."""
    fine: Rows
    """(n,) small cluster of each item."""
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
    joined: Shares
    """(n, k) s P, without what is below `LEAST`."""
    fine: Shares
    """(n, m) the small cluster of each item."""
    own: Table
    """(n,) what the sums count for each item with itself, which is no pair."""


class _Sums(NamedTuple):
    """Sums over the rows of each of C clusters."""

    join: Shares
    """(C, k) of s P."""
    fine: Shares
    """(C, m) of ones, by small cluster."""
    trusted: Shares
    """(C, m) of s, by small cluster."""
    size: Rows
    """(C,) of ones."""


class _Gains(NamedTuple):
    """What the parts of an item add to the expected pairs of each of C clusters that belong together."""

    join: Table
    """(C, k) for s P."""
    fine: Table
    """(C, m) for its small cluster."""
    trusted: Table
    """(C, m) for s, by small cluster; subtracted."""
    size: Rows
    """(C,) rows."""


def find_best_clustering(pairs: PairChances, known: Rows, label: Rows, apart: Mask) -> BestClustering:
    """Find the clustering with the highest expected index.

    Parameters
    ----------
    pairs : PairChances
    known, label : ndarray of shape (l,)
        Items whose neighbourhood is known, and which it is. They stay together.
    apart : ndarray of shape (k, k)
        Neighbourhoods that are known to differ.
    """
    likeliest = np.pad(pairs.join.round(9), ((0, 0), (0, 1)), constant_values=-1).argmax(axis=1)
    is_home = (pairs.trust * pairs.join.max(axis=1, initial=0)).round(9) >= HOME
    group = np.where(is_home, likeliest, pairs.join.shape[1] + pairs.fine)
    group[known] = label
    number, group = np.unique(group, return_inverse=True)
    with one_blas_thread():
        parts = _split(pairs)
        return _move_items(parts, _link_groups(parts, number, group, apart), known)


def estimate_belonging(pairs: PairChances, labels: Rows) -> Table:
    """Compute how likely each item is with what it belongs to: its mean p to the others of its cluster.

    An item that is alone is right if it belongs to no other cluster.

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
    n, m = len(pairs.fine), len(pairs.alike)
    joined = pairs.join * pairs.trust[:, None]
    joined = _keep(np.where(joined < LEAST, 0, joined), n)
    fine = _mark(pairs.fine, np.ones(n), m).T
    own = (1 - pairs.trust**2) * pairs.alike[pairs.fine, pairs.fine]
    own = own + (joined * (joined @ pairs.same)).sum(axis=1)
    return _Parts(pairs, joined, fine, own * pairs.size.astype(np.float64) ** 2)


def _sum_clusters(parts: _Parts, labels: Rows, n_clusters: int) -> _Sums:
    pairs = parts.pairs
    member = _mark(labels, pairs.size, n_clusters)
    trusted = _mark(labels, pairs.size * pairs.trust, n_clusters)
    return _Sums(
        member @ parts.joined,
        member @ parts.fine,
        trusted @ parts.fine,
        np.bincount(labels, pairs.size, n_clusters).astype(np.int64),
    )


def _mark(labels: Rows, amount: NDArray[Any], n_clusters: int) -> Shares:
    """(n_clusters, n) an amount of each item, at its cluster."""
    n = len(labels)
    if n > FEW_ITEMS:
        return csr_array((amount.astype(np.float64), (labels, np.arange(n))), shape=(n_clusters, n))
    found = np.zeros((n_clusters, n))
    found[labels, np.arange(n)] = amount
    return found


def _keep(table: Table, n: int) -> Shares:
    """Keep a table of n items sparse, if they are many; the small ones are quicker as they are."""
    return csr_array(table) if n > FEW_ITEMS else table


def _count_belonging(pairs: PairChances, sums: _Sums) -> Table:
    """(C, C) expected pairs of two clusters that belong together; within one, both ways round."""
    found = (sums.join @ pairs.same) @ sums.join.T
    found += (sums.fine @ pairs.alike) @ sums.fine.T
    found -= (sums.trusted @ pairs.alike) @ sums.trusted.T
    return np.asarray(found)


def _find_gains(pairs: PairChances, sums: _Sums) -> _Gains:
    join, fine = sums.join @ pairs.same, sums.fine @ pairs.alike
    return _Gains(join, fine, sums.trusted @ pairs.alike, sums.size)


def _add_gains(parts: _Parts, gains: _Gains) -> Table:
    """(n, C) expected rows of each cluster that belong together with each item, itself among them."""
    pairs = parts.pairs
    found = np.asarray(parts.joined @ gains.join.T)
    found += gains.fine.T[pairs.fine]
    found -= pairs.trust[:, None] * gains.trusted.T[pairs.fine]
    return found


def _count_pairs(size: Rows, of: Rows) -> float:
    """Twice the pairs of rows of different items within clusters of these sizes."""
    return float(size @ size - of @ of)


# ---------------------------------------------------------------- groups, then single items
def _link_groups(parts: _Parts, number: Rows, group: Rows, apart: Mask) -> Rows:
    """Merge groups by average linkage, as far as it raises the expected index."""
    pairs, n_groups, k = parts.pairs, len(number), len(parts.pairs.same)
    sums = _sum_clusters(parts, group, n_groups)
    belonging = _count_belonging(pairs, sums)
    within = belonging.diagonal() - np.bincount(group, parts.own, n_groups)
    belong = (belonging.sum() - belonging.trace() + within.sum()) / 2
    distances = (1 - belonging / np.multiply.outer(sums.size.astype(np.float64), sums.size)).round(9)
    known = np.flatnonzero(number < k)
    barred = apart[np.ix_(number[known], number[known])]
    distances[np.ix_(known, known)] = np.where(barred, np.inf, distances[np.ix_(known, known)])
    merges, heights = native.agglomerate(distances, sums.size.copy(), "average", 1, 1 - LOWEST)
    size, label, gains = sums.size.copy(), np.arange(n_groups), []
    for a, b in merges.tolist():
        gains.append(size[a] * size[b])
        size[a] += size[b]
    gain = np.array(gains, dtype=np.float64)
    together = _count_pairs(sums.size, pairs.size) / 2 + np.cumsum(np.r_[0.0, gain])
    right = within.sum() / 2 + np.cumsum(np.r_[0.0, gain * (1 - heights)])
    n_pairs = _count_pairs(np.array([pairs.size.sum()]), pairs.size) / 2
    value = expected_ari(right, together, belong, n_pairs)
    for a, b in merges[: int(np.flatnonzero(value >= value.max() - SLACK)[-1])].tolist():
        label[label == b] = a
    return np.unique(label[group], return_inverse=True)[1]


def _move_items(parts: _Parts, labels: Rows, known: Rows) -> BestClustering:
    """Move single items, all at once, while it raises the expected index.

    With an index of e, a pair gains by being together if it belongs together with a probability above
    e / 2 + (1 - e) times the share of all pairs that do.
    """
    pairs, own, n_clusters = parts.pairs, parts.own, int(labels.max(initial=-1)) + 1
    size = pairs.size.astype(np.float64)
    whole = _sum_clusters(parts, np.zeros_like(labels), 1)
    belong = (_count_belonging(pairs, whole).sum() - own.sum()) / 2
    n_pairs = _count_pairs(whole.size, pairs.size) / 2

    def judge(labels: Rows) -> tuple[float, _Gains]:
        sums = _sum_clusters(parts, labels, n_clusters)
        gains = _find_gains(pairs, sums)
        within = (sums.join * gains.join).sum() + (sums.fine * gains.fine).sum()
        within -= (sums.trusted * gains.trusted).sum()
        right, together = (within - own.sum()) / 2, _count_pairs(sums.size, pairs.size) / 2
        return float(expected_ari(right, together, belong, n_pairs)), gains

    value, gains = judge(labels)
    for _ in range(SWEEPS):
        least = value / 2 + (1 - value) * belong / max(n_pairs, 1)
        gain = _add_gains(parts, gains) - least * gains.size
        gain[np.arange(len(labels)), labels] -= own / size - least * size
        moved = gain.round(9).argmax(axis=1)
        moved[known] = labels[known]
        better, its_gains = judge(moved)
        if better <= value + 1e-9:
            break
        labels, value, gains = moved, better, its_gains
    return BestClustering(np.unique(labels, return_inverse=True)[1], value)
