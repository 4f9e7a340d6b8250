"""The colour of each cluster, as a number: it stays with the rows that had it, answer by answer.

Colours follow from the events that hold and from nothing else, so that they are the same after a restart,
for a second reader, and after an undo as before the answer that it took back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.learner import Labels
from linkwise.session.events import Event


class Colours:
    """The colours after each event that a run is told.

    When a run is repeated, after an undo, colours are computed from the first event on that differs.

    Attributes
    ----------
    now : list of int
        The colour of each cluster after the last event.
    """

    def __init__(self) -> None:
        self.now: list[int] = []
        self._steps: list[tuple[list[Event], list[int]]] = []  # what was told, and the colours after it
        self._n_told = 0

    def begin(self, known: Sequence[Event], labels: Labels) -> None:
        """Start with what is known before the first answer: there a colour is the number of its cluster."""
        self._n_told = 0
        if not self._remembers(list(known)):
            self._add(list(known), list(range(int(labels.max()) + 1)))

    def follow(self, event: Event, before: Labels, after: Labels) -> None:
        """Take in one more event, with the labels before and after it."""
        if not self._remembers([event]):
            self._add([event], self.now if before is after else colours_after(before, self.now, after))

    def _remembers(self, told: list[Event]) -> bool:
        """Go one step on if it is the one of the last time."""
        if self._n_told == len(self._steps) or self._steps[self._n_told][0] != told:
            return False
        self.now = self._steps[self._n_told][1]
        self._n_told += 1
        return True

    def _add(self, told: list[Event], colours: list[int]) -> None:
        """Go one step on to what was not told the last time."""
        self._steps[self._n_told :] = [(told, colours)]
        self.now = colours
        self._n_told += 1


def colours_after(before: Labels, colours: Sequence[int], after: Labels) -> list[int]:
    """The colour of each cluster of `after`, as a number.

    Clusters are numbered anew after an answer, and a colour should stay with the rows that had it: each new
    cluster takes the colour of the old one that it shares most rows with, if that is free; the others take
    the lowest numbers that are free, in the order of the clusters. No two clusters have the same number.

    Parameters
    ----------
    before, after : ndarray of shape (n_rows,)
        Clusters 0, 1, ...; noise is -1 and has no colour.
    colours : sequence of int
        Of the clusters of `before`.
    """
    source, target, rows = shared(before, after)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for at in np.lexsort((target, source, -rows)).tolist():
        old, new = int(source[at]), int(target[at])
        if min(old, new) >= 0 and new not in found and colours[old] not in taken:
            found[new] = colours[old]
            taken.add(colours[old])
    free = (colour for colour in count() if colour not in taken)
    return [found[new] if new in found else next(free) for new in range(int(after.max()) + 1)]


def shared(before: Labels, after: Labels) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Clusters before and after that have rows in common, and how many; by their numbers."""
    low, least = int(before.min()), int(after.min())
    width = int(after.max()) - least + 1
    pairs = (before.astype(np.int64) - low) * width + (after - least)
    if pairs.max() < 4 * len(pairs):
        counts = np.bincount(pairs)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, counts = np.unique(pairs, return_counts=True)
    return keys // width + low, keys % width + least, counts
