"""Iterated conditional modes: move rows with constraints that may be broken at a price.

Few rows have constraints; all others go to the nearest centre. Rows with constraints are moved by iterated
conditional modes (Besag 1986): in random order, each moves to the cluster of least cost, its squared distance
plus the price of the constraints that it then breaks, until no row gains. High prices lock must-linked rows
together, so whole components move, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.cluster import points
from linkwise.cluster.metric.differences import constraint_prices
from linkwise.constraints.constraints import Constraints

_SWEEPS = 100

Table = NDArray[np.float64]
Labels = NDArray[np.int32]


class NamedRows(NamedTuple):
    """The rows that constraints name, and the constraints among them."""

    rows: NDArray[np.int64]
    """(m,) positions in X."""
    must: NDArray[np.int32]
    """(p, 2) places in `rows`."""
    cannot: NDArray[np.int32]
    """(q, 2) places in `rows`."""
    must_weight: NDArray[np.float64]
    cannot_weight: NDArray[np.float64]
    group: NDArray[np.int32]
    """(m,) component of each."""
    graph: native.PairGraph
    """The constraints of each row."""


class Prices(NamedTuple):
    """What it costs to break each must-link and each cannot-link: one column, or one for each cluster."""

    must: Table
    """(p, 1 or k); between two clusters it is the mean of both."""
    cannot: Table
    """(q, 1 or k)."""


def find_named_rows(X: Any, constraints: Constraints) -> NamedRows:
    """Find the rows that constraints name, ordered by their distance from the mean of all rows.

    The result then does not depend on the order of the rows in X.
    """
    is_named = np.zeros(constraints.n_rows, dtype=bool)
    is_named[constraints.must_link] = is_named[constraints.cannot_link] = True
    rows = np.flatnonzero(is_named)
    mean = points.cluster_means(X, np.zeros(X.shape[0], dtype=np.int32), np.zeros((1, X.shape[1])))
    rows = rows[np.argsort(points.squared_center_distances(X[rows], mean)[:, 0], kind="stable")]
    rank = np.empty(constraints.n_rows, dtype=np.int32)
    rank[rows] = np.arange(len(rows), dtype=np.int32)
    must, cannot = rank[constraints.must_link], rank[constraints.cannot_link]
    group = np.unique(constraints.component[rows], return_inverse=True)[1].astype(np.int32)
    graph = native.make_pair_graph(must, cannot, group)
    weights = constraints.must_link_weight, constraints.cannot_link_weight
    return NamedRows(rows, must, cannot, *weights, group, graph)


def separate_rows(named: NamedRows) -> NamedRows:
    """Return the same rows as if no must-link joined them, so that only single rows move."""
    group = np.arange(len(named.rows), dtype=np.int32)
    return named._replace(group=group, graph=native.make_pair_graph(named.must, named.cannot, group))


def equal_prices(named: NamedRows, w: float) -> Prices:
    """Return the price `w` for each constraint of weight 1."""
    return Prices(
        constraint_prices(named.must_weight[:, None], w), constraint_prices(named.cannot_weight[:, None], w)
    )


def improve_labels(
    costs: Table, labels: Labels, named: NamedRows, prices: Prices, rng: np.random.Generator
) -> Labels:
    """Improve the labels of the named rows until no row and no component can gain."""
    order = rng.permutation(len(costs)).astype(np.int32)
    pairs = (named.must, prices.must, named.cannot, prices.cannot)
    return native.conditional_modes(costs, labels, *pairs, named.group, order, _SWEEPS)


def order_step(named: NamedRows, prices: Prices, rng: np.random.Generator) -> native.NamedStep:
    """Return what native code needs to improve the labels of the named rows as `improve_labels` does."""
    order = rng.permutation(len(named.rows)).astype(np.int32)
    return native.NamedStep(named.rows, named.graph, prices.must, prices.cannot, order, _SWEEPS)


def price_paid(labels: Labels, named: NamedRows, prices: Prices) -> float:
    """Sum the prices of the broken constraints."""
    first, second = labels[named.must].T
    broken = np.flatnonzero(first != second)
    must = _price_of(prices.must, broken, first) + _price_of(prices.must, broken, second)
    same, other = labels[named.cannot].T
    inside = np.flatnonzero(same == other)
    return float(must.sum() / 2 + _price_of(prices.cannot, inside, same).sum())


def _price_of(table: Table, pairs: NDArray[np.int64], labels: Labels) -> NDArray[np.float64]:
    return table[pairs, 0] if table.shape[1] == 1 else table[pairs, labels[pairs]]
