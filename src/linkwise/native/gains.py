"""Products of sparse tables, and the cluster where each item gains most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_range
from linkwise.native.library import library

Table = NDArray[np.float64]
Labels = NDArray[np.int32]


class SparseRows(NamedTuple):
    """A table of which each row has few entries, as in `scipy.sparse.csr_array`."""

    data: Table
    """(e,) entries, row by row."""
    column: Labels
    """(e,) column of each."""
    start: Labels
    """(n + 1,) where the entries of each row begin."""


class ClusterGains(NamedTuple):
    """What the parts of an item gain in each of C clusters."""

    join: Table
    """(k, C) for each unit of its entries."""
    fine: Table
    """(m, C) for its fine cluster."""
    trusted: Table
    """(m, C) for its trust, by fine cluster; subtracted."""
    cost: Table
    """(C,) of each cluster; subtracted."""


def multiply_sparse(one: Table, other: Table, n_threads: int) -> Table:
    """Multiply a table of mostly zeros by another one.

    Parameters
    ----------
    one : (n, k) float64, C-contiguous
        Its zeros cost little.
    other : (k, w) float64, C-contiguous
        The other table.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n, w) float64
        The product, the terms of a sum added in their order.
    """
    _check_table("one", one, one.shape[-1])
    check_array("other", other, (one.shape[-1], other.shape[-1]))
    check_count("n_threads", n_threads)
    return library.multiply_sparse(one, other, n_threads)


def sparse_forms(one: SparseRows, table: Table) -> Table:
    """Compute x A x' for each row x of a sparse table.

    Parameters
    ----------
    one : SparseRows
        Of shape (n, k).
    table : (k, k) float64, C-contiguous
        A.

    Returns
    -------
    (n,) float64
        Time O(n e²) for e entries of a row.
    """
    _check_table("table", table, len(table))
    _check_sparse(one, len(table))
    return library.sparse_forms(*one, table)


def best_clusters(
    items: Labels,
    join: SparseRows,
    gains: ClusterGains,
    fine: Labels,
    trust: Table,
    stay: Table,
    labels: Labels,
    n_threads: int,
) -> Labels:
    """Find the cluster where each item gains most.

    Item i gains in cluster c the sum of ``join[i, h] * gains.join[h, c]`` over all h, and
    ``gains.fine[fine[i], c] - trust[i] * gains.trusted[fine[i], c] - gains.cost[c]``. In its present cluster
    it gains ``stay[i]`` less. Gains are rounded to nine decimals, and the first of equal ones counts.

    Parameters
    ----------
    items : (a,) int32
        Items whose cluster is wanted.
    join : SparseRows
        Of shape (n, k).
    gains : ClusterGains
        C-contiguous tables.
    fine : (n,) int32
        Fine cluster of each item, 0 to m - 1.
    trust, stay : (n,) float64
        See above.
    labels : (n,) int32
        Present cluster of each item, 0 to C - 1.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (a,) int32
        Time O(C) for each entry of an item.
    """
    check_array("gains.cost", gains.cost, (None,))
    n_clusters, n = len(gains.cost), len(fine)
    for name, table in zip(("join", "fine", "trusted"), gains[:3], strict=True):
        _check_table(f"gains.{name}", table, n_clusters)
    _check_sparse(join, len(gains.join))
    check_array("join.start", join.start, (n + 1,), np.int32)
    for name, rows, high in (
        ("fine", fine, min(len(gains.fine), len(gains.trusted))),
        ("labels", labels, n_clusters),
    ):
        check_array(name, rows, (n,), np.int32)
        check_range(name, rows, 0, high - 1)
    for name, amount in (("trust", trust), ("stay", stay)):
        check_array(name, amount, (n,))
    check_array("items", items, (len(items),), np.int32)
    check_range("items", items, 0, n - 1)
    check_count("n_threads", n_threads)
    return library.best_clusters(items, *join, *gains, fine, trust, stay, labels, n_threads)


def _check_table(name: str, table: Table, width: int) -> None:
    check_array(name, table, (len(table), width))


def _check_sparse(one: SparseRows, n_columns: int) -> None:
    check_array("data", one.data, (len(one.data),))
    check_array("column", one.column, (len(one.data),), np.int32)
    check_range("column", one.column, 0, n_columns - 1)
    check_array("start", one.start, (None,), np.int32)
    if one.start[0] != 0 or one.start[-1] != len(one.data) or (np.diff(one.start) < 0).any():
        raise ValueError(f"The starts of rows must rise from 0 to {len(one.data)}, the number of entries.")
