"""What one run of KIN has asked so far, and what it believes by now."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from linkwise.active.kin.belief import Belief, Task, TrainingItems, believe, grow_forest
from linkwise.active.kin.forest_kernel import PARTS
from linkwise.active.kin.placement import PlacedItems

FIRST_FOREST = 12  # known items
MOST_UNSURE = 2  # so many pairs are tried before the relation of two neighbourhoods is left open

Pair = tuple[int, int]


class KINState:
    """The state of one run.

    Attributes
    ----------
    task : Task
    placed : PlacedItems
    placing : int
        The item that is asked about; -1 while two neighbourhoods are compared.
    asked : pair of int, or None
        The items that were asked about last; None when nothing is left to ask.
    tried : set of int
        Items that had their turn.
    doubtful : set of int
        Items that nobody could place.
    shown_pairs : set of pairs of int
        Pairs of items that were shown, both ways round.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.placed = PlacedItems.none(len(task.row))
        self.placing = -1
        self.asked: Pair | None = None
        self.tried: set[int] = set()
        self.doubtful: set[int] = set()
        self.shown_pairs: set[Pair] = set()
        self._incomparable: set[int] = set()  # doubtful items with which nothing could be compared
        self._forest: TrainingItems | None = None  # that counts now
        self._growing: TrainingItems | None = None
        self._belief: Belief | None = None

    def believe(self) -> Belief:
        """What KIN believes now. Items for which a place follows have it from now on."""
        self._belief = self.read()
        self.placed = self._belief.placed
        return self._belief

    def read(self) -> Belief:
        """What KIN believes now; to read it changes nothing."""
        last = self._belief
        is_current = (
            last is not None
            and last.n_facts == len(self.task.problem.evidence)
            and last.placed is self.placed
            and last.placing == self.placing
            and last.forest is self._forest
        )
        if last is not None and is_current:
            return last
        return believe(self.task, self.placed, self.placing, self._forest)

    def show(self, pair: Pair) -> tuple[int, int]:
        """The rows to show for a pair of items, which is not shown again."""
        self.asked = pair
        self.shown_pairs.update((pair, pair[::-1]))
        return int(self.task.row[pair[0]]), int(self.task.row[pair[1]])

    # ------------------------------------------------------------ after an item
    def place(self, item: int, coverage: float | None, *, is_doubtful: bool) -> None:
        """Give an item its place, unless nobody could tell where it belongs."""
        if coverage is not None:
            self.placed = self.placed.set_coverage([item], coverage)
        if is_doubtful:
            self.doubtful.add(item)
            self._give_up_first_item()
        elif not self.placed.mask[item]:
            self.placed = self.placed.add(np.array([item]))

    def _give_up_first_item(self) -> None:
        """Give up the only placed item if nobody can compare it with others; these get another turn."""
        item = self.placed.only_item(self.task.evidence.current().groups())
        again = self.doubtful - self._incomparable
        if item is None or len(again) < MOST_UNSURE:
            return
        self.placed = self.placed.remove(item).set_coverage(list(again), np.nan)  # as if never asked about
        self.tried -= again
        self._incomparable.add(item)
        self.doubtful = set(self._incomparable)

    # ------------------------------------------------------------ the forest
    def learn(self) -> None:
        """Let a forest count, and begin to grow the next one, at fixed numbers of known items."""
        known = self.believe().known
        n = len(known.items)
        if self._growing is not None and n >= len(self._growing.items) + PARTS:
            self._forest, self._growing = self._growing, None
        if self._growing is None and n >= FIRST_FOREST and 1 < known.n_neighbourhoods <= n / 2:
            name = blake2b(known.items.tobytes() + known.label.tobytes(), digest_size=16)
            self._growing = TrainingItems(name.digest(), known.items, known.label)

    def grow(self) -> None:
        """Grow the next forest by a part for each item that was placed since it began."""
        if self._growing is not None:
            n_new = len(self.believe().known.items) - len(self._growing.items)
            grow_forest(self.task, self._growing).grow(n_new + 1)
