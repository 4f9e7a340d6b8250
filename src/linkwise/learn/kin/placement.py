"""Which items have a place in a neighbourhood, and what is known of the others.

An item is placed by questions, and with it its whole component. Facts that nobody asked for make components
without a place: two of them may well be one cluster. They stay unplaced, like items that nothing is known of;
but a component that is apart from all neighbourhoods is a neighbourhood of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.facts import Groups
from linkwise.learn.kin.kernels import Rows, Table
from linkwise.learn.kin.model import Known

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PlacedItems:
    """The items that have a place.

    Attributes
    ----------
    order : ndarray of shape (n_placed,)
        These items, in the order in which they were placed.
    coverage : ndarray of shape (n_items,)
        Coverage of each item when it was asked about; nan for the others.
    """

    order: Rows
    coverage: Table

    @classmethod
    def none(cls, n_items: int) -> PlacedItems:
        """No item has a place yet."""
        return cls(np.empty(0, dtype=np.int64), np.full(n_items, np.nan))

    @cached_property
    def mask(self) -> Mask:
        """(n_items,) which items have a place."""
        found = np.zeros(len(self.coverage), dtype=bool)
        found[self.order] = True
        return found

    def add(self, items: Rows) -> PlacedItems:
        """The same with more items, which come last."""
        return replace(self, order=np.concatenate([self.order, items])) if len(items) else self

    def remove(self, item: int) -> PlacedItems:
        """The same without an item."""
        return replace(self, order=self.order[self.order != item])

    def set_coverage(self, items: list[int], coverage: float) -> PlacedItems:
        """The same with another coverage of some items."""
        changed = self.coverage.copy()
        changed[items] = coverage
        return replace(self, coverage=changed)

    def only_item(self, groups: Groups) -> int | None:
        """The only item that has a place, if there is one and no fact names it."""
        return None if len(self.order) != 1 or self.order[0] in groups.row else int(self.order[0])


class Placement(NamedTuple):
    """The neighbourhoods, and what is known of items outside them."""

    known: Known
    apart: Mask
    """(k, k) which neighbourhoods are known to differ."""
    unplaced: Rows
    """(w,) items that facts name, and that have no place."""
    component: Rows
    """(w,) component of each of them, numbered 0, 1, ..."""
    excluded: Mask
    """(n_components, k) the neighbourhoods that a component is known not to be in."""
    components_apart: Rows
    """(m, 2) components that are known to differ, both ways round."""

    def to_bytes(self) -> bytes:
        """Bytes that differ where anything of it does."""
        parts = (
            *self.known,
            self.apart,
            self.unplaced,
            self.component,
            self.excluded,
            self.components_apart,
        )
        return b"and".join(np.ascontiguousarray(part).tobytes() for part in parts)


def place_items(placed: PlacedItems, groups: Groups, placing: int) -> tuple[PlacedItems, Placement]:
    """Give a place to all items for which one follows from the facts.

    Parameters
    ----------
    placed : PlacedItems
    groups : Groups
        Components of items, by the facts so far.
    placing : int
        The item that is asked about; its component starts no neighbourhood meanwhile. -1: there is none.

    Returns
    -------
    PlacedItems
        Those that had a place, then those for which one follows.
    Placement
    """
    group = np.full(len(placed.mask), -1, dtype=np.int64)
    group[groups.row] = groups.number
    has_place = np.zeros(int(groups.number.max(initial=-1)) + 1, dtype=bool)
    has_place[group[placed.order[group[placed.order] >= 0]]] = True
    placed = placed.add(groups.row[has_place[groups.number] & ~placed.mask[groups.row]])
    may_start = np.bincount(groups.number, minlength=len(has_place)) > 1
    if placing >= 0 and group[placing] >= 0:
        may_start[group[placing]] = False
    apart = groups.both_ways
    for number in _new_neighbourhoods(placed, groups, apart, has_place, may_start & ~has_place):
        placed = placed.add(groups.row[groups.number == number])
    return placed, _placement(placed, groups, apart, group, -1 if placing < 0 else int(group[placing]))


def _new_neighbourhoods(
    placed: PlacedItems, groups: Groups, apart: Rows, has_place: Mask, left: Mask
) -> list[int]:
    """Groups that are apart from all neighbourhoods and from each other, the largest first."""
    has_unnamed = len(placed.order) > int(placed.mask[groups.row].sum())  # nothing is known of those
    if has_unnamed or not left.any():
        return []
    to_placed = apart[has_place[apart[:, 1]], 0]
    left = left & (np.bincount(to_placed, minlength=len(has_place)) == has_place.sum())
    size, found = np.bincount(groups.number, minlength=len(has_place)), []
    while left.any():
        chosen = int(np.where(left, size, 0).argmax())
        found.append(chosen)
        from_chosen = np.zeros_like(left)
        from_chosen[apart[apart[:, 0] == chosen, 1]] = True
        left &= from_chosen
    return found


def _placement(
    placed: PlacedItems, groups: Groups, apart: Rows, group: Rows, group_in_question: int
) -> Placement:
    items = placed.order
    n_groups = int(groups.number.max(initial=-1)) + 1
    of = group[items]
    of[of < 0] = n_groups + np.arange(int((of < 0).sum()))
    number = np.full(n_groups + len(items), -1, dtype=np.int64)
    first = np.sort(np.unique(of, return_index=True)[1])
    number[of[first]] = np.arange(len(first))
    known = Known(items, number[of], placed.coverage[items])
    unplaced = groups.row[~placed.mask[groups.row] & (groups.number != group_in_question)]
    used, component = np.unique(group[unplaced], return_inverse=True)
    component_of = np.full(n_groups, -1, dtype=np.int64)
    component_of[used] = np.arange(len(used))
    one, other = number[apart].T
    components = component_of[apart]
    return Placement(
        known,
        _mark((len(first), len(first)), one, other),
        unplaced,
        component,
        _mark((len(used), len(first)), components[:, 0], other),
        components[(components >= 0).all(axis=1)],
    )


def _mark(shape: tuple[int, int], one: Rows, other: Rows) -> Mask:
    """A table that is true at the pairs of which no number is negative."""
    table = np.zeros(shape, dtype=bool)
    both = (one >= 0) & (other >= 0)
    table[one[both], other[both]] = True
    return table
