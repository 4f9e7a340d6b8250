"""φ and ψ of the items that facts name, kept while more items are named."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.active.kin.kernels import Matrix, Rows, Table
from linkwise.active.kin.prior_belief import PriorBelief

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
            n, every = len(self._items), np.concatenate([self._items, new])
            self._make_room(len(every))
            rows = (self._prior.similarity(self._kernel, new, every), self._prior.sharing(new, every))
            for table, part in zip(self._tables, rows, strict=True):
                table[n : len(every), : len(every)] = part
                table[: len(every), n : len(every)] = part.T
            self._items, self._place[new] = every, np.arange(n, len(every))
        found: NDArray[np.int32] = self._place[items]
        return found

    def _make_room(self, n: int) -> None:
        room = len(self._tables[0])
        if n > room:
            wider = [np.zeros((max(n, 2 * room),) * 2) for _ in self._tables]
            for table, old in zip(wider, self._tables, strict=True):
                table[:room, :room] = old
            self._tables = wider
