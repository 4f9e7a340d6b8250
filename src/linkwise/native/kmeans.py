"""Lloyd's iteration, rows that clusters share, and labels of rows that constraints name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library


class LloydRuns(NamedTuple):
    """The results of Lloyd's iteration from R starts."""

    labels: NDArray[np.int32]
    """(R, n) cluster of each row."""
    centers: NDArray[np.float64]
    """(R, k, d)."""
    inertia: NDArray[np.float64]
    """(R,) sum of squared distances of the rows to their centres."""
    n_iter: NDArray[np.int32]
    """(R,) iterations, counted as scikit-learn does."""


class TwoMeans(NamedTuple):
    """The result of Lloyd's iteration for two clusters."""

    labels: NDArray[np.uint8]
    """(n,) 0 or 1."""
    centers: NDArray[np.float64]
    """(2, d)."""
    inertia: float
    """Sum of squared distances of the rows to their centres."""
    n_iter: int
    """Iterations, counted as scikit-learn does."""


class SharedRows(NamedTuple):
    """The rows that clusters of two clusterings share."""

    table: NDArray[np.int64]
    """(k, m) rows with each label of one and each of the other, from the lowest label to the highest."""
    low: tuple[int, int]
    """The lowest label of each."""


def lloyd(
    X: NDArray[Any],
    starts: NDArray[np.float64],
    max_iter: int,
    tol: float,
    n_threads: int,
    weight: NDArray[np.int64] | None = None,
) -> LloydRuns:
    """Name what `_native.lloyd` returns."""
    return LloydRuns(*library.lloyd(X, starts, max_iter, tol, n_threads, weight))


def two_means(
    X: NDArray[Any], start: NDArray[np.float64], max_iter: int, tol: float, n_threads: int
) -> TwoMeans:
    """Name what `_native.two_means` returns."""
    return TwoMeans(*library.two_means(X, start, max_iter, tol, n_threads))


def shared_rows(
    one: NDArray[np.int32], other: NDArray[np.int32], most: int, n_threads: int
) -> SharedRows | None:
    """Count rows by their labels, (n,), in two clusterings; None if the table had more than `most` values."""
    low, high = (int(one.min()), int(other.min())), (int(one.max()), int(other.max()))
    k, m = high[0] - low[0] + 1, high[1] - low[1] + 1
    if k * m > most:
        return None
    return SharedRows(library.count_pairs(one, other, *low, k, m, n_threads), low)


# ---------------------------------------------------------------- labels of named rows
# Iterated conditional modes for rows with constraints.
Pairs = NDArray[np.int32]
Table = NDArray[np.float64]


class PairGraph(NamedTuple):
    """The pairs of each of m rows. Only `make_pair_graph` makes it, since native code trusts its values."""

    must_start: NDArray[np.int64]
    """(m + 1,) where the must-links of each row begin in the next two."""
    must_other: NDArray[np.int32]
    """(2 p,) the other row."""
    must_pair: NDArray[np.int32]
    """(2 p,) the pair."""
    cannot_start: NDArray[np.int64]
    cannot_other: NDArray[np.int32]
    cannot_pair: NDArray[np.int32]
    member_start: NDArray[np.int64]
    """(groups + 1,) where the rows of each component begin in the next one."""
    member: NDArray[np.int32]
    """(m,)"""
    group: NDArray[np.int32]
    """(m,) component of each row."""


class NamedStep(NamedTuple):
    """Some rows with pairs among them, and what a step needs of them."""

    rows: NDArray[np.int64]
    """(m,) positions in X."""
    graph: PairGraph
    """Their pairs."""
    must_penalty: Table
    """(p, 1 or k)."""
    cannot_penalty: Table
    """(q, 1 or k)."""
    order: NDArray[np.int32]
    """(m,) the order in which they move."""
    max_sweeps: int
    """Largest number of sweeps."""


def make_pair_graph(must: Pairs, cannot: Pairs, group: NDArray[np.int32]) -> PairGraph:
    """Name what `_native.pair_graph` returns."""
    return PairGraph(*library.pair_graph(must, cannot, group), group)


def assign_named(
    X: NDArray[Any], centers: Table, named: NamedStep, before: NDArray[np.int32] | None, n_threads: int
) -> tuple[NDArray[np.int32], Table, Table, NDArray[np.int64]]:
    """Call `_native.assign_named` with a step."""
    return library.assign_named(X, centers, named.rows, before, *named.graph, *named[2:], n_threads)


def assign_named_under(
    X: NDArray[Any],
    centers: Table,
    maps: Table,
    offset: Table,
    named: NamedStep,
    before: NDArray[np.int32],
    n_threads: int,
) -> tuple[NDArray[np.int32], Table, NDArray[np.int64]]:
    """Call `_native.assign_named_under` with a step."""
    return library.assign_named_under(
        X, centers, maps, offset, named.rows, before, *named.graph, *named[2:], n_threads
    )
