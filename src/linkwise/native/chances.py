"""Chances of pairs and items, and what moves of items gain, which NumPy would compute in many passes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

Table = NDArray[np.float64]
CURVE = np.array([(3, 4, 5), (4, 6, 7), (5, 7, 8)])  # places of the second derivatives among the sums


class RowSums(NamedTuple):
    """What the rows of a table hold."""

    largest: Table
    """(n,) the largest value; minus infinity where there is none."""
    second: Table
    """(n,) the largest of the others."""
    positive: Table
    """(n,) the sum of the values above 0."""


def pair_chances(
    similarity: Table,
    shared: Table,
    weights: tuple[float, float, float],
    n_threads: int,
    *,
    are_symmetric: bool = False,
) -> Table:
    """Compute the logistic function of w0 + w1 * similarity + w2 * shared, float64 of any one shape.

    If both are symmetric tables, only their lower triangles are read.
    """
    if are_symmetric:
        return library.pair_chances_of_halves(similarity, shared, *weights)
    return library.pair_chances(similarity, shared, *weights, n_threads)


def logistic_slopes(
    similarity: Table, shared: Table, target: Table, weights: tuple[float, float, float]
) -> tuple[Table, Table]:
    """Compute the first two derivatives of the log-likelihood of a logistic regression by its weights.

    `similarity`, `shared` and `target`, 0 to 1, are (n,) float64; the weights those of `pair_chances`. The
    first, (3,), are sums of (t - c) x, where c is the chance, t the target and x is (1, similarity, shared);
    the second, (3, 3), sums of c (1 - c) x x'.
    """
    sums = library.logistic_slopes(similarity, shared, target, *weights)
    return sums[:3], sums[CURVE]


def sum_up_rows(table: Table) -> RowSums:
    """Name what `_native.sum_up_rows` returns."""
    return RowSums(*library.sum_up_rows(table))


# ---------------------------------------------------------------- subnormal numbers
# Treat numbers too small for full precision as 0, since they make arithmetic some hundred times slower.
@contextmanager
def subnormals_as_zero() -> Generator[None, None, None]:
    """Treat numbers below 1e-38 (float32; 1e-308 for float64) as 0 in this thread, within a context.

    It has an effect on x86-64 and AArch64 only.
    """
    before = library.flush_subnormals(True)
    try:
        yield
    finally:
        library.flush_subnormals(before)


# ---------------------------------------------------------------- gains
# Sums over pairs of items of which each is a sparse row, and the cluster where each item gains most.
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
