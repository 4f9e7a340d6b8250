"""Sums over pairs of items that belong together, by clusters.

Items i and j belong together with probability

    p_ij = s_i s_j P_i R P_j' + (1 - s_i s_j) q(f_i, f_j).

P_i: which neighbourhood item i belongs to, by the regression, if it belongs to one at all. s_i: how far that
is trusted. R: how likely two neighbourhoods are one. q: how likely items of two fine clusters belong
together, by the kernel alone, where f_i is the fine cluster of item i.

So p_ij = x_i W x_j', where x_i has few entries: those of s_i P_i that are not tiny, 1 for the fine cluster,
and s_i for it. W is made of the blocks R, q and -q. All sums over pairs follow from sums of these rows, so no
n x n table is made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise import native, parallel
from linkwise.learn.kin.kernels import Rows, Table

LEAST = 0.001  # s P below which an item is taken to have no part in a neighbourhood
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


def count_pairs(size: Table, of: Table) -> float:
    """Twice the pairs of rows of different items within clusters of these sizes."""
    return float(size @ size - of @ of)


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
