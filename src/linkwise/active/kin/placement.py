"""What answers say of items: which neighbourhoods there are, and what still waits for a place in one.

An item is placed by questions, and with it all that belongs together with it. Facts that nobody asked for
make groups that have no place yet: two of them may well be one cluster. They wait, like items that nobody
knows anything of; but one that is apart from all neighbourhoods is a neighbourhood of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.active.kin.kernels import Rows
from linkwise.active.kin.model import Known
from linkwise.constraints.evidence import Groups

Mask = NDArray[np.bool_]


class Standing(NamedTuple):
    """What is known of items."""

    known: Known
    apart: Mask
    """(k, k) which neighbourhoods are known to differ."""
    waiting: Rows
    """(w,) items of which something is known, but not where they belong."""
    part: Rows
    """(w,) what each of them belongs together with, numbered 0, 1, ..."""
    barred: Mask
    """(n_parts, k) the neighbourhoods that a part is known not to be in."""
    foes: Rows
    """(m, 2) parts that are known to differ, both ways round."""

    def name(self) -> bytes:
        """All of it, told from all else."""
        parts = (*self.known, self.apart, self.waiting, self.part, self.barred, self.foes)
        return b"and".join(np.ascontiguousarray(part).tobytes() for part in parts)


class Roll:
    """The items that have a place, in the order in which they got it.

    Parameters
    ----------
    n_items : int
    """

    def __init__(self, n_items: int) -> None:
        self.listed = np.zeros(n_items, dtype=bool)
        self.covered = np.full(n_items, np.nan)
        self._order: list[int] = []

    def __len__(self) -> int:
        return len(self._order)

    def copy(self) -> Roll:
        """The same items, to go on from here."""
        twin = Roll(len(self.listed))
        twin.listed, twin.covered, twin._order = self.listed.copy(), self.covered.copy(), self._order.copy()
        return twin

    def add(self, items: list[int]) -> None:
        """Items that have a place from now on."""
        self.listed[items] = True
        self._order += items

    def remove(self, item: int) -> None:
        """An item that has no place any more."""
        self.listed[item] = False
        self._order.remove(item)

    def alone(self, said: Groups) -> int | None:
        """The one item that has a place, where there is one and nothing is said of it."""
        return None if len(self) != 1 or self._order[0] in said.row else self._order[0]

    def standing(self, said: Groups, placing: int) -> Standing:
        """Where everything stands; what follows from what is said has a place from now on.

        Parameters
        ----------
        said : Groups
        placing : int
            The item that is asked about; what it belongs to founds no neighbourhood meanwhile. -1: none is.
        """
        group = np.full(len(self.listed), -1, dtype=np.int64)
        group[said.row] = said.number
        home = self._settled(said, group)
        free = np.bincount(said.number, minlength=len(home)) > 1
        if placing >= 0 and group[placing] >= 0:
            free[group[placing]] = False
        foes = _both_ways(said.cannot_link)
        for found in self._founded(said, foes, home, free):
            self.add(said.row[said.number == found].tolist())
        return self._made(said, foes, group, -1 if placing < 0 else int(group[placing]))

    def _settled(self, said: Groups, group: Rows) -> Mask:
        """The groups in which an item has a place; then all of them have it."""
        home = np.zeros(int(said.number.max(initial=-1)) + 1, dtype=bool)
        order = np.array(self._order, dtype=np.int64)
        home[group[order[group[order] >= 0]]] = True
        self.add(said.row[home[said.number] & ~self.listed[said.row]].tolist())
        return home

    def _founded(self, said: Groups, foes: Rows, home: Mask, free: Mask) -> list[int]:
        """Groups that are apart from all neighbourhoods and from each other, the largest first."""
        alone = len(self) > int(self.listed[said.row].sum())  # nothing is known of those
        left = free & ~home
        if alone or not left.any():
            return []
        to_home = foes[home[foes[:, 1]], 0]
        left &= np.bincount(to_home, minlength=len(home)) == home.sum()
        size, found = np.bincount(said.number, minlength=len(home)), []
        while left.any():
            chosen = int(np.where(left, size, 0).argmax())
            found.append(chosen)
            apart = np.zeros_like(left)
            apart[foes[foes[:, 0] == chosen, 1]] = True
            left &= apart
        return found

    def _made(self, said: Groups, foes: Rows, group: Rows, placed: int) -> Standing:
        items = np.array(self._order, dtype=np.int64)
        n_groups = int(said.number.max(initial=-1)) + 1
        of = group[items]
        of[of < 0] = n_groups + np.arange(int((of < 0).sum()))
        number = np.full(n_groups + len(items), -1, dtype=np.int64)
        first = np.sort(np.unique(of, return_index=True)[1])
        number[of[first]] = np.arange(len(first))
        known = Known(items, number[of], self.covered[items])
        waiting = said.row[~self.listed[said.row] & (said.number != placed)]
        held, part = np.unique(group[waiting], return_inverse=True)
        part_of = np.full(n_groups, -1, dtype=np.int64)
        part_of[held] = np.arange(len(held))
        one, other = number[foes].T
        apart = _marked((len(first), len(first)), one, other)
        waits = part_of[foes]
        barred = _marked((len(held), len(first)), waits[:, 0], other)
        return Standing(known, apart, waiting, part, barred, waits[(waits >= 0).all(axis=1)])


def _marked(shape: tuple[int, int], one: Rows, other: Rows) -> Mask:
    table = np.zeros(shape, dtype=bool)
    there = (one >= 0) & (other >= 0)
    table[one[there], other[there]] = True
    return table


def _both_ways(pairs: Rows) -> Rows:
    """Different pairs, each both ways round, sorted."""
    n = int(pairs.max(initial=0)) + 1
    name = np.sort(np.concatenate([pairs[:, 0] * n + pairs[:, 1], pairs[:, 1] * n + pairs[:, 0]]))
    return np.stack(divmod(name[np.diff(name, prepend=-1) > 0], n), axis=1)
