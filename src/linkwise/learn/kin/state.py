"""What one run of KIN has asked so far, and what it believes by now."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from linkwise.learn.kin.calibration import MOST_WRONG, Calibration, FarRate, PlaceAnswer
from linkwise.learn.kin.kernels import PARTS, Table
from linkwise.learn.kin.model import are_weights_due, weigh_kernels
from linkwise.learn.kin.posterior import (
    Learned,
    PlacedItems,
    Posterior,
    Task,
    TrainingItems,
    believe,
    current_model,
    grow_forest,
)
from linkwise.learn.learner import Problem, Question

FIRST_FOREST = 12  # known items in neighbourhoods of two and more
MOST_UNSURE = 2  # so many pairs are tried before the relation of two neighbourhoods is left open

Pair = tuple[int, int]


class Turn(NamedTuple):
    """An item that is asked about until it has its place."""

    item: int
    coverage: float | None = None
    """Its coverage at its first question; None before."""
    left_open: frozenset[int] = frozenset()
    """First items of neighbourhoods with which it cannot be compared."""
    is_doubtful: bool = False
    """Whether an answer about it was "unsure"."""


class Asked(NamedTuple):
    """A question that waits for its answer."""

    question: Question
    score: Table | None = None
    """What the regression gives for each neighbourhood, where an item is placed; None otherwise."""
    best: int = -1
    """The neighbourhood that the item is compared with."""
    rest: tuple[int, ...] = ()
    """All that it may be in."""
    is_check: bool = False
    """Whether the answer tells if the item could have been assumed to be there."""
    chance: float = 1.0
    """How likely "yes" is if the far rate is 0; 1 where the answer tells nothing about that rate."""


class KINState:
    """The state of one run.

    The item `placing` is asked about, -1 while two neighbourhoods are compared, and `turn` is what the
    questions about it have found. `is_last` tells whether only relations are left that no item needs.
    `left` has the coverage of items that answers to others were about, and that have no place yet.
    `asked` are the items that were asked about last; None when nothing is left to ask. Items in `tried`
    had their turn, and nobody could place the `doubtful`. `shown_pairs` has pairs both ways round.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.placed = PlacedItems.none(len(task.row))
        self.placing = -1
        self.turn: Turn | None = None
        self.open: Asked | None = None
        self.is_last = False
        self.left: dict[int, float] = {}
        self.asked: Pair | None = None
        self.tried: set[int] = set()
        self.doubtful: set[int] = set()
        self.shown_pairs: set[Pair] = set()
        self._incomparable: set[int] = set()  # doubtful items with which nothing could be compared
        self._calibration = Calibration.begin()
        self._learned = Learned(None, (), self._calibration.best(), FarRate.begin())
        self._weighed_at = 0  # known items when kernels were weighed
        self._growing: TrainingItems | None = None
        self._posterior: Posterior | None = None

    def fork(self, problem: Problem) -> KINState:
        """The same state, with evidence of its own."""
        twin = copy.copy(self)
        twin.task = self.task.fork(problem)
        twin.tried, twin.doubtful = {*self.tried}, {*self.doubtful}
        twin.left = {**self.left}
        twin.shown_pairs, twin._incomparable = {*self.shown_pairs}, {*self._incomparable}
        if self._posterior is not None:
            twin._posterior = replace(self._posterior, task=twin.task)
        return twin

    def believe(self) -> Posterior:
        """What KIN believes now. Items for which a place follows have it from now on."""
        self._posterior = self.read()
        self.placed = self._posterior.placed
        return self._posterior

    def posterior_of_last_belief(self) -> Posterior:
        """What KIN believed before the facts that are new, with the kernel of now."""
        last = self._posterior
        return self.believe() if last is None else replace(last, learned=self._learned)

    def take_left(self) -> Turn | None:
        """The turn of the first item that answers to others have left without a place."""
        mask = self.believe().placed.mask
        while self.left:
            item = next(iter(self.left))
            coverage = self.left.pop(item)
            if mask[item]:
                self.placed = self.placed.set_coverage([item], coverage)
            elif item not in self.doubtful:
                self.tried.add(item)
                return Turn(item, coverage)
        return None

    def put_back(self, turn: Turn | None) -> None:
        """Let the item whose turn it would be wait for a later turn."""
        if turn is None:
            return
        self.tried.discard(turn.item)
        if turn.coverage is not None:
            self.left = {turn.item: turn.coverage, **self.left}

    def last_posterior(self) -> Posterior:
        """The posterior with the kernel of now, whatever the facts."""
        if self._posterior is not None and self._posterior.learned is self._learned:
            return self._posterior
        return believe(self.task, self.placed, self.placing, self._learned)

    def read(self) -> Posterior:
        """What KIN believes now; to read it changes nothing."""
        last = self._posterior
        is_current = (
            last is not None
            and last.n_facts == len(self.task.problem.evidence)
            and last.placed is self.placed
            and last.placing == self.placing
            and last.learned is self._learned
        )
        if last is not None and is_current:
            return last
        return believe(self.task, self.placed, self.placing, self._learned, last)

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

    # ------------------------------------------------------------ learning
    def calibrate(self, answer: PlaceAnswer) -> None:
        """Learn from an answer how sharp the chances are."""
        self._calibration = self._calibration.learn(answer)
        self._learned = self._learned._replace(sharpness=self._calibration.best())

    def learn_rate(self, chance: float, *, is_yes: bool) -> None:
        """Learn from an answer how often what looks different is one."""
        rate = self._learned.far_rate.learn(chance, is_yes=is_yes)
        if rate is not self._learned.far_rate:
            self._learned = self._learned._replace(far_rate=rate)

    def check(self, *, is_right: bool) -> None:
        """Learn from an answer how often assumptions are wrong; if that is too often, none is left."""
        checks = self._learned.checks.learn(is_right=is_right)
        self._learned = self._learned._replace(checks=checks)
        if checks.error() > MOST_WRONG and len(self.placed.guesses):
            self.placed = self.placed.assume(self.placed.guesses.tolist(), -1)

    def may_assume(self) -> bool:
        """Whether one more item may be assumed to be where it is likeliest."""
        return self._learned.checks.allow(len(self.placed.guesses))

    def take_assumed(self) -> None:
        """Take back the first assumption, so that its item can be asked about."""
        item = int(self.placed.guesses[0])
        self.placed = self.placed.remove(item)
        self.tried.discard(item)

    def learn(self) -> None:
        """At fixed numbers of items: weigh the kernels, let a forest count, begin to grow the next one."""
        posterior = self.believe()
        known, kernels, before = posterior.known, self.task.prepared.kernels, self._learned
        n = len(known.items)
        if are_weights_due(known, self._weighed_at) and kernels.families:
            self._weighed_at, used = n, current_model(posterior).known
            weigh = partial(weigh_kernels, kernels, used)
            key = blake2b(used.items.tobytes() + used.label.tobytes(), digest_size=16).digest()
            self._learned = self._learned._replace(weights=self.task.problem.memo.get("weighed", key, weigh))
        if self._growing is not None and n >= self._growing.n_known + PARTS:
            self._learned, self._growing = self._learned._replace(forest=self._growing), None
        if self._learned is not before:
            self._learned = self._learned._replace(n_known=len(current_model(posterior).known.items))
        shared = known.is_shared()
        if (
            self._growing is None
            and shared.sum() >= FIRST_FOREST
            and len(set(known.label[shared].tolist())) > 1
        ):
            items, label = known.items[shared], np.unique(known.label[shared], return_inverse=True)[1]
            name = blake2b(items.tobytes() + label.tobytes(), digest_size=16)
            self._growing = TrainingItems(name.digest(), items, label, n)

    def grow(self) -> None:
        """Grow the next forest by a part for each item that was placed since it began."""
        if self._growing is not None:
            n_new = len(self.believe().known.items) - self._growing.n_known
            grow_forest(self.task, self._growing).grow(n_new + 1)
