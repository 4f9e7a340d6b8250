"""φ and ψ of the items that facts name, kept while more items are named."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.learn.kin.kernels import Matrix, Rows, Table
from linkwise.learn.kin.prior_belief import PriorBelief

ROOM = 64  # least number of items that there is room for


class NamedPairs:
    """What is alike among some items before any answer.

    A pair has the same φ and ψ whichever items are named, so nothing depends on the order.

    Parameters
    ----------
    prior : PriorBelief
    kernel : ndarray of shape (n_items, n_items)
    """

    def __init__(self, prior: PriorBelief, kernel: Matrix) -> None:
        self._prior, self._kernel = prior, kernel
        self._items: Rows = np.empty(0, dtype=np.int64)
        self._place = np.full(len(kernel), -1, dtype=np.int32)
        self._tables = [np.empty((ROOM, ROOM)) for _ in range(2)]

    def among(self, items: Rows) -> list[Table]:
        """φ and ψ of all pairs of some items."""
        at = self._find(items)
        return [table[np.ix_(at, at)] for table in self._tables]

    def average(self, items: Rows, label: Rows, k: int) -> list[Table]:
        """Mean φ and mean ψ of the items of any two of k labels."""
        at, of = self._find(items), label.astype(np.int32)
        return [native.average_pairs(table, at, of, k) for table in self._tables]

    def _find(self, items: Rows) -> NDArray[np.int32]:
        """The places of items in the tables; new ones get the next places."""
        new = items[self._place[items] < 0]
        if len(new):
            every = np.concatenate([self._items, new])
            self._make_room(len(every))
            place = self._place.copy()
            place[new] = np.arange(len(self._items), len(every))
            for rows, columns in ((new, every), (self._items, new)):  # ψ is symmetric only but for rounding
                at = np.ix_(place[rows], place[columns])
                self._tables[0][at] = self._prior.similarity(self._kernel, rows, columns)
                self._tables[1][at] = self._prior.sharing(rows, columns)
            self._items, self._place = every, place  # now, so that an interruption leaves nothing half-made
        found: NDArray[np.int32] = self._place[items]
        return found

    def _make_room(self, n: int) -> None:
        room = len(self._tables[0])
        if n > room:
            wider = [np.zeros((max(n, 2 * room),) * 2) for _ in self._tables]
            for table, old in zip(wider, self._tables, strict=True):
                table[:room, :room] = old
            self._tables = wider
