"""Iterated conditional modes for rows with constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

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
