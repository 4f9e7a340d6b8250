"""What evidence about rows says of the rows that stand for small clusters.

Small clusters may be mixed: what is said of one of their rows need not hold for the others. Facts count for
the row that is shown, with what follows of it from those of all rows; so nothing wrong follows from a chain
through mixed ones.
"""

from __future__ import annotations

import numpy as np

from linkwise.active.kin.kernels import Rows
from linkwise.constraints.evidence import Evidence, Groups


class KnownOfShown:
    """Evidence about rows, as evidence about items of which each shows one row; follows it."""

    def __init__(self, evidence: Evidence, row: Rows) -> None:
        self._evidence, self._row = evidence, row
        self._item = np.full(evidence.n_rows, -1, dtype=np.int64)
        self._item[row] = np.arange(len(row))
        self._made: tuple[int, Groups] | None = None

    def current(self) -> KnownOfShown:
        """All that is known by now."""
        return self

    def verdict(self, i: int, j: int) -> str | None:
        """What is known of two items."""
        return self._evidence.verdict(int(self._row[i]), int(self._row[j]))

    def groups(self) -> Groups:
        """Groups of items that belong together, and which of them are apart."""
        if self._made is None or self._made[0] != len(self._evidence):
            self._made = len(self._evidence), self._of_items(self._evidence.groups())
        return self._made[1]

    def _of_items(self, said: Groups) -> Groups:
        item = self._item[said.row]
        kept = np.flatnonzero(item >= 0)
        kept = kept[np.argsort(item[kept])]
        items, number = item[kept], said.number[kept]
        names, first = np.unique(number, return_index=True)
        new = np.full(int(said.number.max(initial=-1)) + 1, -1, dtype=np.int64)
        new[names[np.argsort(first)]] = np.arange(len(names))
        foes = np.sort(new[said.foes], axis=1)
        return Groups(items, new[number], foes[(foes >= 0).all(axis=1)])
