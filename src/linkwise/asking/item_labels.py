"""Labels of items, from which those of the rows are made when somebody reads them.

A learner that groups many rows into few items answers in the time that the items need: the labels of all rows
of each question are made only for those who look at them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class ItemLabels:
    """Each row has the label of its item, or one of its own.

    Attributes
    ----------
    items : ndarray of shape (n_items,)
        Cluster of each item.
    of : ndarray of shape (n_rows,)
        Item of each row.
    size : ndarray of shape (n_items,)
        Number of rows of each item.
    rows : ndarray of shape (n_own,)
        Rows with a label of their own.
    own : ndarray of shape (n_own,)
        These labels.
    """

    items: NDArray[np.int32]
    of: NDArray[np.int64]
    size: NDArray[np.int64]
    rows: NDArray[np.int64]
    own: NDArray[np.int32]

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


Shown = NDArray[np.int32] | ItemLabels


def read_labels(shown: Shown) -> NDArray[np.int32]:
    """Return the cluster of each row."""
    return shown.of_rows() if isinstance(shown, ItemLabels) else shown


def count_labels(shown: Shown) -> NDArray[np.int64]:
    """Return the number of rows of each cluster."""
    return shown.count_rows() if isinstance(shown, ItemLabels) else np.bincount(shown)
