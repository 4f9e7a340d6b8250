"""Sums over pairs of items of which each is a sparse row, and the cluster where each item gains most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

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
    """Name what `_native.split_chances` returns."""
    rows, likeliest, most = library.split_chances(join, trust, fine, least, n_fine)
    return SplitChances(SparseRows(*rows), likeliest, most)


def sum_rows(
    rows: SparseRows, items: Labels, weight: Table, label: Labels, n_groups: int, width: int
) -> SparseRows:
    """Call `_native.sum_rows` with sparse rows, and name what it returns."""
    return SparseRows(*library.sum_rows(*rows, items, weight, label, n_groups, width))


def multiply_form(rows: SparseRows, form: PairForm, n_threads: int) -> Table:
    """Call `_native.multiply_form` with sparse rows and a form."""
    return library.multiply_form(*rows, *form, n_threads)


def evaluate_form(rows: SparseRows, form: PairForm) -> Table:
    """Call `_native.evaluate_form` with sparse rows and a form."""
    return library.evaluate_form(*rows, *form)


def multiply_across(rows: SparseRows, table: Table, n_threads: int, *, is_symmetric: bool = False) -> Table:
    """Call `_native.multiply_across` with sparse rows."""
    return library.multiply_across(*rows, table, is_symmetric, n_threads)


def best_clusters(
    items: Labels,
    rows: SparseRows,
    gains: Table,
    cost: Table,
    stay: Table,
    labels: Labels,
    n_threads: int,
) -> Labels:
    """Call `_native.best_clusters` with sparse rows."""
    return library.best_clusters(items, *rows, gains, cost, stay, labels, n_threads)
