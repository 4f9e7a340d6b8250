"""Rows of small clusters that lie between neighbourhoods.

When there are many rows, the items are small clusters. At the border of two neighbourhoods an item may hold
rows of both. Each row there takes the mean chances of the items around it, weighted by their nearness. The
least certain items come first, up to a fixed number of rows; the rows of all other items go with their item.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from linkwise.learn.kin.kernels import KINItems, Rows, Table

AROUND = 8  # centres among which the nearest to a row are looked for
NEAREST = 3
MEETS = 4  # nearest centres of an item, itself included; if one is in another cluster, it is at a border
MOST_ROWS = 20_000  # whose cluster is computed one by one
TINY = 1e-12


class Cells(NamedTuple):
    """Small clusters and those around them."""

    row: Rows
    """(n_rows,) rows, item by item."""
    start: Rows
    """(n_items + 1,) where the rows of each item begin."""
    around: Rows
    """(n_items, m) the nearest centres, an item's own the first."""


def find_cells(items: KINItems) -> Cells | None:
    """The small clusters; None where items are distinct rows."""
    if items.centers is None or len(items.centers) < 2:
        return None
    row = np.argsort(items.of, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(items.of, minlength=len(items.first)))])
    around = cKDTree(items.centers).query(items.centers, k=min(AROUND, len(items.centers)))[1]
    around[:, 0] = np.arange(len(around))  # of equal centres another may come first
    return Cells(row, start, around)


def border_items(cells: Cells, labels: NDArray[Any], join: Table) -> Rows:
    """Items next to one of another neighbourhood, the least certain first, up to `MOST_ROWS` rows.

    Parameters
    ----------
    labels : ndarray of shape (n_items,)
        Neighbourhood of each, or a number above.
    join : ndarray of shape (n_items, k)
        Probability of each neighbourhood.
    """
    near = labels[cells.around[:, :MEETS]]
    mixed = ((near != labels[:, None]) & (near < join.shape[1])).any(axis=1) & (labels < join.shape[1])
    found = np.flatnonzero(mixed)
    found = found[np.argsort(margins(join[found]).round(9), kind="stable")]
    size = np.diff(cells.start)[found]
    return found[np.cumsum(size) <= MOST_ROWS]


def margins(join: Table) -> Table:
    """(n,) the largest probability minus the second largest one, which is 0 if k is 1."""
    with_impossible = np.pad(join, ((0, 0), (2, 0)))  # there may be none, or a single one
    best = np.partition(with_impossible, -2, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0])


def weigh_rows(X: NDArray[Any], items: KINItems, cells: Cells, item: int) -> tuple[Rows, Rows, Table]:
    """The rows of an item, the items whose centres are nearest to each, and how much those count."""
    assert items.centers is not None
    row = cells.row[cells.start[item] : cells.start[item + 1]]
    around = cells.around[item]
    apart = ((X[row].astype(np.float64)[:, None] - items.centers[around]) ** 2).sum(axis=2)
    near = np.argsort(apart, axis=1, kind="stable")[:, :NEAREST]
    weight = 1 / (np.take_along_axis(apart, near, axis=1) + TINY)
    return row, around[near], weight / weight.sum(axis=1, keepdims=True)
