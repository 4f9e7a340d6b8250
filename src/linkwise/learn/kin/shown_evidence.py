"""Evidence about rows as evidence about small clusters, each of which shows one row.

A small cluster may be mixed: a fact about one of its rows need not hold for the others. So a fact counts for
the row that is shown, with all that follows for it from facts about any rows. Nothing wrong follows from a
chain through mixed clusters.
"""

from __future__ import annotations

import numpy as np

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer, Groups
from linkwise.learn.kin.kernels import Rows


class ShownRowEvidence:
    """Evidence about items of which each shows one row; follows the evidence about rows."""

    def __init__(self, evidence: Evidence, row: Rows) -> None:
        self._evidence, self._row = evidence, row
        self._order = np.argsort(row)
        self._groups: tuple[int, Groups] | None = None

    def current(self) -> ShownRowEvidence:
        """All that is known by now."""
        return self

    def verdict(self, i: int, j: int) -> str | None:
        """What is known of two items."""
        return self._evidence.verdict(int(self._row[i]), int(self._row[j]))

    def verdicts(self, i: int, others: list[int]) -> list[Answer | None]:
        """What is known of an item and each of several others."""
        return self._evidence.verdicts(int(self._row[i]), self._row[others].tolist())

    def groups(self) -> Groups:
        """Groups of items that belong together, and which of them are apart."""
        if self._groups is None or self._groups[0] != len(self._evidence):
            self._groups = len(self._evidence), self._groups_of_items(self._evidence.groups())
        return self._groups[1]

    def _groups_of_items(self, of_rows: Groups) -> Groups:
        at = np.minimum(np.searchsorted(self._row, of_rows.row, sorter=self._order), len(self._row) - 1)
        item = self._order[at]
        shown = np.flatnonzero(self._row[item] == of_rows.row)
        shown = shown[np.argsort(item[shown])]
        items, number = item[shown], of_rows.number[shown]
        names, first = np.unique(number, return_index=True)
        new = np.full(int(of_rows.number.max(initial=-1)) + 1, -1, dtype=np.int64)
        new[names[np.argsort(first)]] = np.arange(len(names))
        apart = new[of_rows.cannot_link]
        apart = apart[(apart >= 0).all(axis=1)]
        key = np.sort(apart.min(axis=1, initial=len(names)) * len(names) + apart.max(axis=1, initial=0))
        return Groups(items, new[number], np.stack(np.divmod(key, max(len(names), 1)), axis=1))
