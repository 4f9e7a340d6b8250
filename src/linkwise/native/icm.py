"""Iterated conditional modes for rows with constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_row_array
from linkwise.native.library import library

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


def make_pair_graph(must: Pairs, cannot: Pairs, group: NDArray[np.int32]) -> PairGraph:
    """Find the pairs of each row, once for many steps.

    Parameters
    ----------
    must, cannot : (p, 2), (q, 2) int32
        Rows of each pair; must-links only within components.
    group : (m,) int32
        Component of each row, 0, 1, ...

    Returns
    -------
    PairGraph
        The pairs by rows.
    """
    check_array("group", group, (None,), np.int32)
    _check_below("group", group, len(group))
    for name, pairs in (("must", must), ("cannot", cannot)):
        check_array(name, pairs, (len(pairs), 2), np.int32)
        _check_below(name, pairs, len(group))
    return PairGraph(*library.pair_graph(must, cannot, group), group)


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


def assign_named(
    X: NDArray[Any], centers: Table, named: NamedStep, before: NDArray[np.int32] | None, n_threads: int
) -> tuple[NDArray[np.int32], Table, Table, NDArray[np.int64]]:
    """Assign rows to the nearest centre, settle those with pairs by `conditional_modes`, and sum clusters.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    centers : (k, d) float64
        Centres of the clusters.
    named : NamedStep
        The rows with pairs.
    before : (n,) int32 or None
        Labels from which these rows are moved, 0 to k - 1; by default the nearest centres.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n,) int32
        Label of each row.
    (n,) float64
        Squared distance to the centre of this cluster.
    (k, d) float64
        Sums of the clusters, as of `label_sums`.
    (k,) int64
        Rows of each cluster.
    """
    _check_step(X, centers, named, before, n_threads)
    return library.assign_named(X, centers, *_step_arguments(named, before, n_threads))


def assign_named_under(
    X: NDArray[Any],
    centers: Table,
    maps: Table,
    offset: Table,
    named: NamedStep,
    before: NDArray[np.int32],
    n_threads: int,
) -> tuple[NDArray[np.int32], Table, NDArray[np.int64]]:
    """Do as `assign_named` does, with distances after linear maps plus an offset for each centre.

    Parameters
    ----------
    X, centers, named, before, n_threads
        As for `assign_named`.
    maps : (1 or k, d) or (1 or k, r, d) float64
        As for `metric_distances`.
    offset : (k,) float64
        Added to the squared distances to each centre.

    Returns
    -------
    (n,) int32
        Label of each row.
    (k, d) float64
        Sums of the clusters.
    (k,) int64
        Rows of each cluster.
    """
    _check_step(X, centers, named, before, n_threads)
    k, d = centers.shape
    rows = () if maps.ndim < 3 else (None,)
    check_array("maps", maps, (1 if maps.shape[:1] == (1,) else k, *rows, d))
    check_array("offset", offset, (k,))
    return library.assign_named_under(X, centers, maps, offset, *_step_arguments(named, before, n_threads))


def _check_step(
    X: NDArray[Any], centers: Table, named: NamedStep, before: NDArray[np.int32] | None, n_threads: int
) -> None:
    check_row_array(X)
    check_array("centers", centers, (None, X.shape[1]))
    m, k = len(named.graph.group), len(centers)
    check_array("rows", named.rows, (m,), np.int64)
    check_array("order", named.order, (m,), np.int32)  # native code checks the values of both
    for name, ends, penalty in (
        ("must_penalty", named.graph.must_pair, named.must_penalty),
        ("cannot_penalty", named.graph.cannot_pair, named.cannot_penalty),
    ):
        check_array(name, penalty, (len(ends) // 2, 1 if penalty.ndim == 2 and penalty.shape[1] == 1 else k))
    if before is not None:
        check_array("before", before, (len(X),), np.int32)
    check_count("max_sweeps", named.max_sweeps)
    check_count("n_threads", n_threads)


def _step_arguments(named: NamedStep, before: NDArray[np.int32] | None, n_threads: int) -> tuple[Any, ...]:
    prices = (named.must_penalty, named.cannot_penalty)
    return (named.rows, before, *named.graph, *prices, named.order, named.max_sweeps, n_threads)


def conditional_modes(
    costs: Table,
    labels: NDArray[np.int32],
    must: Pairs,
    must_penalty: Table,
    cannot: Pairs,
    cannot_penalty: Table,
    group: NDArray[np.int32],
    order: NDArray[np.int32],
    max_sweeps: int,
) -> NDArray[np.int32]:
    """Move rows, and whole components of rows, to where they cost least, until none can gain.

    A clustering costs the sum of ``costs[i, label of i]``, for each must-link p between clusters g and h
    ``(must_penalty[p, g] + must_penalty[p, h]) / 2``, and for each cannot-link p within a cluster h
    ``cannot_penalty[p, h]``. No step raises it. Time O(sweeps (m + pairs) k); one thread, since each choice
    depends on those before.

    Parameters
    ----------
    costs : (m, k) float64
        Cost of each label for each row.
    labels : (m,) int32
        First label of each row, 0 to k - 1.
    must, cannot : (p, 2), (q, 2) int32
        Rows of each pair; must-links only within components.
    must_penalty, cannot_penalty : (p, 1 or k), (q, 1 or k) float64
        One column: the same in every cluster.
    group : (m,) int32
        Component of each row, 0, 1, ...
    order : (m,) int32
        The order of the rows.
    max_sweeps : int, at least 1
        Largest number of sweeps.

    Returns
    -------
    (m,) int32
        Label of each row.
    """
    check_array("costs", costs, (None, None))
    m, k = costs.shape
    for name, rows, bound in (("labels", labels, k), ("group", group, m), ("order", order, m)):
        check_array(name, rows, (m,), np.int32)
        _check_below(name, rows, bound)
    _check_pairs("must", must, must_penalty, m, k)
    _check_pairs("cannot", cannot, cannot_penalty, m, k)
    check_count("max_sweeps", max_sweeps)
    return library.conditional_modes(
        costs, labels, must, must_penalty, cannot, cannot_penalty, group, order, max_sweeps
    )


def _check_pairs(name: str, pairs: Pairs, penalty: Table, m: int, k: int) -> None:
    check_array(name, pairs, (len(pairs), 2), np.int32)
    _check_below(name, pairs, m)
    columns = 1 if penalty.ndim == 2 and penalty.shape[1] == 1 else k
    check_array(f"{name}_penalty", penalty, (len(pairs), columns))


def _check_below(name: str, values: NDArray[Any], bound: int) -> None:
    if values.size and (values.min() < 0 or values.max() >= bound):
        raise ValueError(f"{name} holds {values.min()} to {values.max()}. Pass 0 to {bound - 1}.")
