"""Labels of items, from which those of the rows are made when somebody reads them.

A learner that groups many rows into few items answers in the time that the items need: the labels of all rows
of each question are made only for those who look at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel


@dataclass(frozen=True, slots=True, eq=False)
class ItemLabels:
    """Each row has the label of its item, or one of its own.

    `items` has the cluster of each item, `of` the item of each row, and `size` the number of rows of each
    item. `rows`, ascending, have the labels `own`.
    """

    items: NDArray[np.int32]
    of: NDArray[np.int64]
    size: NDArray[np.int64]
    rows: NDArray[np.int64]
    own: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.of)

    def of_rows(self) -> NDArray[np.int32]:
        """Return the cluster of each row, a new array."""
        labels = self.items.take(self.of)
        labels[self.rows] = self.own
        return labels

    def count_rows(self) -> NDArray[np.int64]:
        """Return the number of rows of each cluster, without making the labels of all rows."""
        own = np.bincount(self.own)
        n_clusters = max(int(self.items.max()) + 1, len(own))
        count = np.bincount(self.items, self.size, n_clusters).astype(np.int64)  # exact: whole numbers
        count[: len(own)] += own
        count -= np.bincount(self.items[self.of[self.rows]], minlength=n_clusters)
        return np.trim_zeros(count, "b")

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the cluster of some rows."""
        labels = self.items[self.of[rows]]
        if len(self.rows):
            at = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            has_own = self.rows[at] == rows
            labels[has_own] = self.own[at[has_own]]
        return labels

    def replace(self, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> ItemLabels:
        """Give some rows, ascending, other labels."""
        kept = ~np.isin(self.rows, rows, assume_unique=True)
        every = np.concatenate([self.rows[kept], rows])
        own = np.concatenate([self.own[kept], labels.astype(np.int32)])
        order = np.argsort(every)
        return ItemLabels(self.items, self.of, self.size, every[order], own[order])

    def renumber(self, numbers: NDArray[np.int32]) -> ItemLabels:
        """Give each cluster another number; items whose rows all have labels of their own may get any."""
        items = np.maximum(numbers.take(self.items, mode="clip"), 0)  # their old one may not be in use
        return ItemLabels(items, self.of, self.size, self.rows, numbers[self.own])


Shown = NDArray[np.int32] | ItemLabels


class CommonRows(NamedTuple):
    """Pairs of clusters of two clusterings that share rows, ascending, and how many they share."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    n_rows: NDArray[np.int64]


def read_labels(shown: Shown) -> NDArray[np.int32]:
    """Return the cluster of each row."""
    return shown.of_rows() if isinstance(shown, ItemLabels) else shown


def count_labels(shown: Shown) -> NDArray[np.int64]:
    """Return the number of rows of each cluster."""
    return shown.count_rows() if isinstance(shown, ItemLabels) else np.bincount(shown)


def list_sizes(shown: Shown) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the clusters that have rows, ascending, noise included, and of these rows."""
    low = 0 if isinstance(shown, ItemLabels) else int(shown.min(initial=0))
    count = shown.count_rows() if isinstance(shown, ItemLabels) else np.bincount(shown - low)
    there = np.flatnonzero(count)
    return there + low, count[there]


def replace_labels(shown: Shown, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> Shown:
    """Give some rows, ascending, other labels."""
    if isinstance(shown, ItemLabels):
        return shown.replace(rows, labels)
    changed = shown.copy()
    changed[rows] = labels
    return changed


def renumber(shown: Shown, numbers: NDArray[np.int32]) -> Shown:
    """Give each cluster another number; the last of them is that of noise, -1, if there is noise."""
    return shown.renumber(numbers) if isinstance(shown, ItemLabels) else numbers.take(shown)


def count_shared_rows(one: Shown, other: Shown) -> CommonRows:
    """Count the rows that each cluster of one clustering shares with each cluster of another."""
    if isinstance(one, ItemLabels) and isinstance(other, ItemLabels) and one.of is other.of:
        return _count_shared_items(one, other)
    before, after = (np.ascontiguousarray(read_labels(shown), dtype=np.int32) for shown in (one, other))
    found = native.shared_rows(before, after, 4 * len(before), parallel.n_threads())
    if found is None:  # many clusters of few rows
        return _count_pairs(before.astype(np.int64), after.astype(np.int64))
    source, target = np.nonzero(found.table)
    return CommonRows(source + found.low[0], target + found.low[1], found.table[source, target])


def _count_shared_items(one: ItemLabels, other: ItemLabels) -> CommonRows:
    """Count the rows of whole items, then put right the rows that have a label of their own."""
    rows = np.union1d(one.rows, other.rows)
    item = one.of[rows]
    parts = (one.items, one.items[item], one.take(rows)), (other.items, other.items[item], other.take(rows))
    before, after = (np.concatenate(part).astype(np.int64) for part in parts)
    ones = np.ones(len(rows), dtype=np.int64)
    found = _count_pairs(before, after, np.concatenate([one.size, -ones, ones]))
    return CommonRows(*(part[found.n_rows > 0] for part in found))


def _count_pairs(
    one: NDArray[np.int64], other: NDArray[np.int64], weight: NDArray[np.int64] | None = None
) -> CommonRows:
    low, least = int(one.min()), int(other.min())
    width = int(other.max()) - least + 1
    keys, of, counts = np.unique(
        (one - low) * width + (other - least), return_inverse=True, return_counts=True
    )
    if weight is not None:
        counts = np.bincount(of, weight, len(keys)).astype(np.int64)  # exact: whole numbers
    return CommonRows(keys // width + low, keys % width + least, counts)
