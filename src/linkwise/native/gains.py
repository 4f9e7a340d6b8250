"""Sums over pairs of items of which each is a sparse row, and the cluster where each item gains most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_layout, check_range
from linkwise.native.library import library

Table = NDArray[np.float64]
Labels = NDArray[np.int32]


class SparseRows(NamedTuple):
    """A table of which each row has few entries, as in `scipy.sparse.csr_array`."""

    data: Table
    """(e,) entries, row by row."""
    column: Labels
    """(e,) column of each; they rise within a row."""
    start: Labels
    """(n + 1,) where the entries of each row begin."""

    def dot(self, table: Table) -> Table:
        """(n,) products of each row with the same row of a dense table."""
        row = np.repeat(np.arange(len(table)), np.diff(self.start))
        found: Table = np.bincount(row, self.data * table[row, self.column], len(table)).astype(np.float64)
        return found


class PairForm(NamedTuple):
    """How much two rows belong together: x W y', where W has three blocks."""

    same: Table
    """(k, k) the first block, symmetric."""
    alike: Table
    """(m, m) the second one, and the third one with the other sign; symmetric."""

    @property
    def width(self) -> int:
        """Number of columns of a row."""
        return len(self.same) + 2 * len(self.alike)


class SplitChances(NamedTuple):
    """Chances as sparse rows, and the likeliest column of each row."""

    rows: SparseRows
    """(n, k + 2 m) shares times trust, then 1 and the trust in the columns of the fine cluster."""
    likeliest: Labels
    """(n,) the first of the largest shares when rounded to nine decimals."""
    most: Table
    """(n,) the largest share times the trust."""


def split_chances(join: Table, trust: Table, fine: Labels, n_fine: int, least: float) -> SplitChances:
    """Make sparse rows of the shares, the trust and the fine cluster of each item.

    Parameters
    ----------
    join : (n, k) float64, C-contiguous
        Shares, none below 0.
    trust : (n,) float64
        From 0 to 1.
    fine : (n,) int32
        Fine cluster of each item, 0 to m - 1.
    n_fine : int, at least 1
        m.
    least : float
        Shares times trust below it are left out.

    Returns
    -------
    SplitChances
    """
    check_array("trust", trust, (None,))
    check_array("join", join, (len(trust), join.shape[-1]))
    check_array("fine", fine, (len(trust),), np.int32)
    check_range("fine", fine, 0, n_fine - 1)
    rows, likeliest, most = library.split_chances(join, trust, fine, least, n_fine)
    return SplitChances(SparseRows(*rows), likeliest, most)


def sum_rows(
    rows: SparseRows, items: Labels, weight: Table, label: Labels, n_groups: int, width: int
) -> SparseRows:
    """Sum sparse rows by their labels.

    Parameters
    ----------
    rows : SparseRows
        Of `width` columns.
    items : (a,) int32
        The rows that are added; one may be there many times.
    weight : (a,) float64
        The factor of each.
    label : (a,) int32
        The sum that each goes to, 0 to n_groups - 1.
    n_groups, width : int
        Number of sums, and of columns.

    Returns
    -------
    SparseRows
        (n_groups, width), the terms of a sum added in their order. Time O(a e + n_groups), and the time to
        sort the columns of each sum, for e entries of a row.
    """
    n = _check_sparse(rows, width)
    check_layout("items", items, items.shape[:1])
    check_array("items", items, items.shape, np.int32)
    check_range("items", items, 0, n - 1)
    check_array("weight", weight, items.shape)
    check_array("label", label, items.shape, np.int32)
    check_range("label", label, 0, n_groups - 1)
    return SparseRows(*library.sum_rows(*rows, items, weight, label, n_groups, width))


def multiply_form(rows: SparseRows, form: PairForm, n_threads: int) -> Table:
    """Multiply sparse rows by the table of a form.

    Parameters
    ----------
    rows : SparseRows
        Of shape (n, k + 2 m).
    form : PairForm
        C-contiguous tables.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n, k + 2 m) float64
        X W, the terms of a sum added in the order of their columns.
    """
    _check_form(rows, form)
    check_count("n_threads", n_threads)
    return library.multiply_form(*rows, *form, n_threads)


def evaluate_form(rows: SparseRows, form: PairForm) -> Table:
    """Compute x W x' for each sparse row x.

    Parameters
    ----------
    rows : SparseRows
        Of shape (n, k + 2 m).
    form : PairForm
        C-contiguous tables.

    Returns
    -------
    (n,) float64
        Time O(n e²) for e entries of a row.
    """
    _check_form(rows, form)
    return library.evaluate_form(*rows, *form)


def multiply_across(rows: SparseRows, table: Table, n_threads: int, *, is_symmetric: bool = False) -> Table:
    """Multiply sparse rows by those of a dense table.

    Parameters
    ----------
    rows : SparseRows
        Of shape (n, w).
    table : (c, w) float64, C-contiguous
        The dense rows.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    is_symmetric : bool, default=False
        The result is symmetric; then half of it is computed.

    Returns
    -------
    (n, c) float64
        The terms of a sum are added in the order of their columns.
    """
    check_array("table", table, (None, None))
    n = _check_sparse(rows, table.shape[1])
    if is_symmetric and n != len(table):
        raise ValueError(f"{n} rows times {len(table)} rows are not symmetric.")
    check_count("n_threads", n_threads)
    return library.multiply_across(*rows, table, is_symmetric, n_threads)


def mean_distances(belonging: Table, size: Table) -> Table:
    """Compute how far groups are apart: 1 less the mean chance that their rows belong together.

    Parameters
    ----------
    belonging : (g, g) float64, C-contiguous
        Expected pairs of rows of two groups that belong together.
    size : (g,) float64
        Rows of each group.

    Returns
    -------
    (g, g) float64
        Rounded to nine decimals.
    """
    check_array("size", size, (None,))
    check_array("belonging", belonging, (len(size), len(size)))
    return library.mean_distances(belonging, size)


def mend_clusters(
    order: NDArray[np.int64],
    some: NDArray[np.int64],
    begin: NDArray[np.int64],
    differs: NDArray[np.int64],
    gain: Table,
    label: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Take groups that are known to differ out of one cluster.

    Parameters
    ----------
    order : (s,) int64
        Places in `some`, in the order in which groups stay where they are.
    some : (s,) int64
        The groups that differ from others.
    begin : (s + 1,) int64
        Where the groups that each differs from begin in `differs`, and where the last ones end.
    differs : (q,) int64
        These groups.
    gain : (s, c) float64, C-contiguous
        What each of some groups gains by each cluster.
    label : (g,) int64
        Cluster of each group, 0 to c - 1.

    Returns
    -------
    (g,) int64
        The same, but a group that differs from one before it in its cluster is where it gains most, or in a
        new cluster if it gains nowhere.
    """
    n_groups, count = len(label), len(some)
    check_array("gain", gain, (count, gain.shape[-1]))
    for name, rows, length, high in (
        ("order", order, count, count - 1),
        ("some", some, count, n_groups - 1),
        ("begin", begin, count + 1, len(differs)),
        ("differs", differs, len(differs), n_groups - 1),
        ("label", label, n_groups, gain.shape[1] - 1),
    ):
        check_array(name, rows, (length,), np.int64)
        check_range(name, rows, 0, high)
    if (np.diff(begin) < 0).any():
        raise ValueError("begin must never fall.")
    return library.mend_clusters(order, some, begin, differs, gain, label)


def best_clusters(
    items: Labels,
    rows: SparseRows,
    gains: Table,
    cost: Table,
    stay: Table,
    labels: Labels,
    n_threads: int,
) -> Labels:
    """Find the cluster where each item gains most.

    Item i gains in cluster c the sum of ``rows[i, h] * gains[c, h]`` over all h less ``cost[c]``. In its
    present cluster it gains ``stay[i]`` less. Gains are rounded to nine decimals, and the first of equal
    ones counts.

    Parameters
    ----------
    items : (a,) int32
        Items whose cluster is wanted; quicker if those of a cluster stand together.
    rows : SparseRows
        Of shape (n, w), no entry below 0.
    gains : (C, w) float64, C-contiguous
        The gain of one unit of each entry in each cluster.
    cost : (C,) float64
        Cost of each cluster.
    stay : (n,) float64
        See above.
    labels : (n,) int32
        Present cluster of each item, 0 to C - 1.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (a,) int32
        Time O(C w), and O(C / 32) for each entry of an item that gains most where it is.
    """
    check_array("gains", gains, (None, None))
    check_array("cost", cost, (len(gains),))
    n = _check_sparse(rows, gains.shape[1])
    check_array("labels", labels, (n,), np.int32)
    check_range("labels", labels, 0, len(gains) - 1)
    check_array("stay", stay, (n,))
    check_array("items", items, (len(items),), np.int32)
    check_range("items", items, 0, n - 1)
    if (rows.data < 0).any():
        raise ValueError(f"rows must hold no entry below 0, got {rows.data.min()}.")
    check_count("n_threads", n_threads)
    return library.best_clusters(items, *rows, gains, cost, stay, labels, n_threads)


def _check_form(rows: SparseRows, form: PairForm) -> None:
    for name, table in zip(("same", "alike"), form, strict=True):
        check_array(name, table, (len(table), len(table)))
    _check_sparse(rows, form.width)


def _check_sparse(rows: SparseRows, n_columns: int) -> int:
    """Check sparse rows, and return how many there are."""
    check_array("data", rows.data, (len(rows.data),))
    check_array("column", rows.column, (len(rows.data),), np.int32)
    check_range("column", rows.column, 0, n_columns - 1)
    check_array("start", rows.start, (None,), np.int32)
    if rows.start[0] != 0 or rows.start[-1] != len(rows.data) or (rows.start[1:] < rows.start[:-1]).any():
        raise ValueError(f"The starts of rows must rise from 0 to {len(rows.data)}, the number of entries.")
    return len(rows.start) - 1
