"""The colour of each cluster, as a number that stays with its rows from answer to answer.

Colours depend only on the events that count. They are therefore the same after a restart and for a second
reader, and after an undo they are as they were before the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.learner import Labels
from linkwise.session.events import Event


class Colours:
    """The colours after each event of a run.

    When a run is repeated after an undo, colours are computed from the first event that differs.

    Attributes
    ----------
    now : list of int
        The colour of each cluster after the last event.
    """

    def __init__(self) -> None:
        self.now: list[int] = []
        self._steps: list[tuple[list[Event], list[int]]] = []  # events, and the colours after them
        self._n_applied = 0

    def begin(self, known: Sequence[Event], labels: Labels) -> None:
        """Start with the events before the first answer: there the colour of a cluster is its number."""
        self._n_applied = 0
        if not self._repeat_step(list(known)):
            self._add_step(list(known), list(range(int(labels.max()) + 1)))

    def follow(self, event: Event, before: Labels, after: Labels) -> None:
        """Add one event, with the labels before and after it."""
        if not self._repeat_step([event]):
            self._add_step([event], self.now if before is after else carry_colours(before, self.now, after))

    def _repeat_step(self, events: list[Event]) -> bool:
        """Repeat the next step of the previous run if its events are the same; return whether they are."""
        if self._n_applied == len(self._steps) or self._steps[self._n_applied][0] != events:
            return False
        self.now = self._steps[self._n_applied][1]
        self._n_applied += 1
        return True

    def _add_step(self, events: list[Event], colours: list[int]) -> None:
        """Replace the rest of the previous run by a new step."""
        self._steps[self._n_applied :] = [(events, colours)]
        self.now = colours
        self._n_applied += 1


def carry_colours(before: Labels, colours: Sequence[int], after: Labels) -> list[int]:
    """Carry the colours of the clusters before an answer over to the clusters after it.

    Clusters get new numbers after an answer, but a colour should stay with its rows: each new cluster takes
    the colour of the old one with which it shares most rows, if that is free; the others take the lowest free
    numbers, in the order of the clusters. No two clusters have the same colour.

    Parameters
    ----------
    before, after : ndarray of shape (n_rows,)
        Clusters 0, 1, ...; noise is -1 and has no colour.
    colours : sequence of int
        The colour of each cluster of `before`.

    Returns
    -------
    list of int
        The colour of each cluster of `after`.
    """
    source, target, rows = count_shared_rows(before, after)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for at in np.lexsort((target, source, -rows)).tolist():
        old, new = int(source[at]), int(target[at])
        if min(old, new) >= 0 and new not in found and colours[old] not in taken:
            found[new] = colours[old]
            taken.add(colours[old])
    free = (colour for colour in count() if colour not in taken)
    return [found[new] if new in found else next(free) for new in range(int(after.max()) + 1)]


def count_shared_rows(
    before: Labels, after: Labels
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of clusters before and after an answer that share rows, and the number of shared rows."""
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
