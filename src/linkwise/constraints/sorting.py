"""Rows that somebody has sorted into piles: what follows from them, and how much each pair of them counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.facts import Fact

Pile = tuple[int, ...]
MOST_SORTED = 100  # rows of one answer; the pairs between them grow with the square


@dataclass(frozen=True, eq=False)
class Sorting:
    """The piles into which somebody has sorted rows.

    Rows of one pile belong together, and those of two piles do not. Build it with `make_sorting`, which puts
    everything in order.

    Attributes
    ----------
    piles : tuple of tuple of int
        The rows of each pile; its first row stands for it.
    unsure : tuple of int
        Rows that are in no pile, because the person was not sure.
    cards : tuple of int
        Rows whose place the person decided, unsure ones included. The others had their place before.
    """

    piles: tuple[Pile, ...]
    unsure: Pile
    cards: Pile

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sorting) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[tuple[Pile, ...], Pile, Pile]:
        return self.piles, self.unsure, self.cards

    @cached_property
    def order(self) -> Pile:
        """All rows: those that had their place, then the cards, then those that nobody was sure about."""
        sorted_rows = [row for pile in self.piles for row in pile]
        known = [row for row in sorted_rows if row not in self.cards]
        return (*known, *(row for row in self.cards if row in self.pile_of), *self.unsure)

    @cached_property
    def pile_of(self) -> dict[int, int]:
        """The number of the pile of each row that is in one."""
        return {row: number for number, pile in enumerate(self.piles) for row in pile}

    def facts(self) -> list[Fact]:
        """The least set of pairs from which all others follow, in the order of `order`."""
        return [fact for row in self.order for fact in self.facts_about(row)]

    def facts_about(self, row: int) -> list[Fact]:
        """The pairs among `facts` of a row and rows before it in `order`.

        They are a yes with the row that stands for its pile; or, if it stands for a pile itself, a no with
        each row that stands for a pile before it.
        """
        number = self.pile_of.get(row)
        if number is None:
            return [Fact(pile[0], row, "unsure") for pile in self.piles]
        if row != self.piles[number][0]:
            return [Fact(self.piles[number][0], row, "yes")]
        return [Fact(pile[0], row, "no") for pile in self.piles[:number]]

    def shared_facts_about(self, row: int) -> list[Fact]:
        """All pairs of a row and rows before it, each with the share of an answer that it counts.

        All answers about one card come from one look at it, so they count about like one: a yes counts one
        divided by the other rows of the pile, and a no one divided by the mean size of both piles. Pairs
        of two rows that had their place before are left out.
        """
        number = self.pile_of.get(row)
        if number is None:
            return self.facts_about(row)
        found = []
        for other in self.order[: self.order.index(row)]:
            if row not in self.cards and other not in self.cards:
                continue
            pile = self.pile_of[other]
            if pile == number:
                found.append(Fact(other, row, "yes", share=1 / max(1, len(self.piles[pile]) - 1)))
            else:
                n_rows = len(self.piles[pile]) + len(self.piles[number])
                found.append(Fact(other, row, "no", share=2 / n_rows))
        return found

    def is_least(self, fact: Fact) -> bool:
        """Whether one of `shared_facts_about` is among `facts`."""
        return fact.first in self._heads and (fact.answer != "no" or fact.second in self._heads)

    @cached_property
    def _heads(self) -> frozenset[int]:
        return frozenset(pile[0] for pile in self.piles)

    def shared_facts(self) -> list[Fact]:
        """The pairs of `shared_facts_about` of all rows, in the order of `order`."""
        return [fact for row in self.order for fact in self.shared_facts_about(row)]

    def move(self, here: Mapping[int, int]) -> Sorting | None:
        """The same with other positions of the rows, without those that are gone; None if too few are left.

        Parameters
        ----------
        here : mapping of int to int
            The new position of each row that is left.
        """
        piles = ([here[row] for row in pile if row in here] for pile in self.piles)
        unsure, cards = ([here[row] for row in rows if row in here] for rows in (self.unsure, self.cards))
        left = [pile for pile in piles if pile]
        return make_sorting(left, unsure, cards) if sum(map(len, left)) + len(unsure) > 1 else None


def make_sorting(piles: Iterable[Iterable[int]], unsure: Iterable[int], cards: Sequence[int]) -> Sorting:
    """Order piles: rows that are no cards first, then as in `cards`.

    If there is no pile, the first row that nobody was sure about is one: nothing follows from that.
    """
    place = {row: at for at, row in enumerate(cards)}
    left = tuple(dict.fromkeys(unsure))
    ordered = [tuple(sorted(pile, key=lambda row: place.get(row, -1))) for pile in piles]
    if not ordered:
        ordered, left = [left[:1]], left[1:]
    ordered.sort(key=lambda pile: place.get(pile[0], -1))
    return Sorting(tuple(ordered), left, tuple(cards))


def read_sorting(facts: Sequence[Fact], cards: Sequence[int]) -> Sorting:
    """Read the piles whose `facts` these are. There is at least one fact."""
    piles: dict[int, list[int]] = {facts[0].first: [facts[0].first]}
    unsure: dict[int, None] = {}
    for fact in facts:
        if fact.answer == "unsure":
            unsure[fact.second] = None
        elif fact.answer == "no":
            piles.setdefault(fact.second, [fact.second])
        else:
            piles.setdefault(fact.first, [fact.first]).append(fact.second)
    return make_sorting(piles.values(), unsure, cards)


class SortedRows(NamedTuple):
    """The rows of one sorting that have a place in a belief."""

    row: NDArray[np.int64]
    pile: NDArray[np.int64]
    is_card: NDArray[np.bool_]


def find_misplaced(rows: SortedRows, label: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Find the fewest cards that must change their pile, so that each pile is a part of one cluster.

    Two piles are parts of different clusters. Rows that had a place before hold their pile.

    Parameters
    ----------
    rows : SortedRows
    label : ndarray of shape (n,)
        The cluster that is believed of each of these rows.

    Returns
    -------
    ndarray of bool, shape (n,)
        Which rows are misplaced cards.
    """
    from scipy.optimize import linear_sum_assignment  # which is slow to import

    if len(rows.row) == 0:
        return np.zeros(0, dtype=bool)
    _, pile = np.unique(rows.pile, return_inverse=True)
    _, cluster = np.unique(label, return_inverse=True)
    table = np.zeros((pile.max() + 1, cluster.max() + 1))
    np.add.at(table, (pile, cluster), np.where(rows.is_card, 1.0, len(rows.row)))
    own = np.full(len(table), -1)
    of_pile, of_cluster = linear_sum_assignment(-table)
    own[of_pile] = of_cluster
    return np.asarray(rows.is_card & (own[pile] != cluster))


def list_rows(sortings: Iterable[Sorting]) -> Iterator[SortedRows]:
    """The rows of each sorting that are in a pile, as arrays."""
    for sorting in sortings:
        row = [row for row in sorting.order if row in sorting.pile_of]
        pile = [sorting.pile_of[one] for one in row]
        is_card = [one in sorting.cards for one in row]
        yield SortedRows(np.array(row), np.array(pile), np.array(is_card, dtype=bool))
