"""Degenerate data sets, and kinds of answers, for the laws of learners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwise as lw
from linkwise.constraints.facts import Answer
from linkwise.learn.kin.kernels import MOST_ITEMS, SAMPLE
from registry import LEARNERS, Entry

MANY = MOST_ITEMS + 600  # rows; KIN makes items of small clusters then
QUESTIONS = 12  # asked of more than a dozen rows; of fewer all there are
SEED = 0


@dataclass(frozen=True, eq=False)
class World:
    """A data set, with what is known of it and the rows that may be shown."""

    name: str
    X: NDArray[np.float64]
    constraints: lw.Constraints | None = None
    askable: tuple[int, ...] | None = None

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Rows that may be shown, as `Run` takes them."""
        return None if self.askable is None else np.isin(np.arange(len(self.X)), self.askable)

    @property
    def budget(self) -> int | None:
        """Number of questions; None: until nothing is left to ask."""
        return None if len(self.X) <= QUESTIONS else QUESTIONS

    @property
    def has_distinct_rows(self) -> bool:
        """Whether no two rows are equal."""
        return len(np.unique(self.X, axis=0)) == len(self.X)


def normal(n: int, columns: int = 3) -> NDArray[np.float64]:
    """Rows of a standard normal distribution."""
    return np.random.default_rng(n).normal(size=(n, columns))


def two_blobs(n: int) -> NDArray[np.float64]:
    """Two round clusters, a thousand times as far apart as they are wide."""
    return normal(n) + 1000.0 * (np.arange(n) % 2)[:, None]


def two_points(n: int) -> NDArray[np.float64]:
    """Two distinct rows only."""
    return np.where((np.arange(n) % 2)[:, None], [1.0, 2.0], [3.0, 4.0])


def with_constant_columns(n: int) -> NDArray[np.float64]:
    """Two columns that vary between two that do not."""
    return np.column_stack([np.full(n, 5.0), normal(n, 2), np.zeros(n)])


def classes(n: int) -> lw.Constraints:
    """All that three classes say."""
    return lw.Constraints.from_labels(np.arange(n) % 3)


def some_classes(n: int) -> lw.Constraints:
    """All that a hundred classes of three rows each say."""
    y = np.full(n, -1)
    y[np.random.default_rng(0).choice(n, 300, replace=False)] = np.arange(300) % 100
    return lw.Constraints.from_labels(y)


def all_apart(n: int) -> lw.Constraints:
    """Every row is apart from every other one."""
    return lw.Constraints.from_labels(np.arange(n))


MANY_ROWS = normal(MANY)

WORLDS = (
    World("1 row", normal(1)),
    World("2 rows", normal(2)),
    World("3 rows", normal(3)),
    World("8 rows", normal(8)),
    World("300 rows", normal(300)),
    World("many rows", MANY_ROWS),
    World("12 identical rows", np.full((12, 2), 7.0)),
    World("300 identical rows", np.full((300, 2), 7.0)),
    World("many identical rows", np.full((MANY, 2), 7.0)),
    World("2 points, 12 rows", two_points(12)),
    World("constant columns, 8 rows", with_constant_columns(8)),
    World("1 column, 8 rows", normal(8, 1)),
    World("2 far blobs, 8 rows", two_blobs(8)),
    World("2 rows that belong together", normal(2), lw.Constraints(2, [(0, 1)])),
    World("8 rows in 1 class", normal(8), lw.Constraints.from_labels(np.zeros(8))),
    World("8 rows in 3 classes", normal(8), classes(8)),
    World("8 rows, all apart", normal(8), all_apart(8)),
    World("300 rows in 3 classes", normal(300), classes(300)),
    World("many rows in 3 classes", MANY_ROWS, classes(MANY)),
    *(World(f"8 rows, {n} to show", normal(8), askable=tuple(range(3, 3 + n))) for n in range(3)),
)

# Of the learners that ask, only KIN treats so many rows in another way than few. Others sample above
# 5 000 rows or more, or above 2 000 if nobody is asked; their own tests cover that with lower numbers.
WORLDS_OF_ITEMS = (
    World("2 points, many rows", two_points(MANY)),
    World("constant columns, many rows", with_constant_columns(MANY)),
    World("1 column, many rows", normal(MANY, 1)),
    World("2 far blobs, many rows", two_blobs(MANY)),
    World("a cluster and a far row", np.vstack([normal(MANY), np.full((1, 3), 1e6)])),
    World("many rows in 1 class", MANY_ROWS, lw.Constraints.from_labels(np.zeros(MANY))),
    World("many rows, 300 in 100 classes", MANY_ROWS, some_classes(MANY)),
    World("identical rows, more than are sampled", np.full((SAMPLE + 1, 2), 7.0)),
    World("2 points, more than are sampled", two_points(SAMPLE + 1)),
    *(World(f"many rows, {n} to show", MANY_ROWS, askable=tuple(range(3, 3 + n))) for n in range(3)),
)


# ---------------------------------------------------------------- answers
def random_answer(first: int, second: int) -> Answer:
    """Yes, no or unsure, by the pair alone, whatever follows from other answers."""
    draw = np.random.default_rng([min(first, second), max(first, second)]).random()
    return "unsure" if draw < 0.1 else "yes" if draw < 0.5 else "no"


Answering = Callable[[int, int, int], Answer]
"""``answer(number, first, second)``: the answer to question 0, 1, ... about two rows."""

ANSWERS: dict[str, Answering] = {
    "yes": lambda number, first, second: "yes",
    "no": lambda number, first, second: "no",
    "unsure": lambda number, first, second: "unsure",
    "yes and no in turn": lambda number, first, second: "no" if number % 2 else "yes",
    "at random": lambda number, first, second: random_answer(first, second),
    "yes 3 times, then no": lambda number, first, second: "yes" if number < 3 else "no",
    "no 3 times, then yes": lambda number, first, second: "no" if number < 3 else "yes",
    "unsure twice, then yes": lambda number, first, second: "unsure" if number < 2 else "yes",
}


# ---------------------------------------------------------------- learners in these worlds
SLOW = {  # what takes seconds a run, and is the same code with 300 rows
    "COBRA, all rows": ("many rows", "many rows in 3 classes"),
    "COBRAS": ("many rows in 3 classes",),
    "COBRAS, halves": ("many rows in 3 classes",),
    "COBRAS, smallest half": ("many rows in 3 classes",),
    "COBRAS, largest half, largest first": ("many rows in 3 classes",),
    "COBRAS of the paper": ("many rows", "many rows in 3 classes"),
    "ExploreConsolidate": ("many rows",),
    "MinMax": ("many rows",),
    "MinMax, 2 clusters": ("many rows",),
    "NPU": ("many rows",),
    "ActiveFeatureWeights": ("many rows",),
    "ThresholdLinkage": ("many rows",),
    "ActiveCOBS": ("many rows", "many rows in 3 classes"),
}

CELLS = [
    (entry, world)
    for entry in LEARNERS
    for world in (*WORLDS, *(WORLDS_OF_ITEMS if entry.name == "KIN" else ()))
    if world.name not in SLOW.get(entry.name, ())
]


_PREPARED: dict[tuple[str, int], Any] = {}


def learner_and_prepared(entry: Entry, world: World) -> tuple[Any, Any]:
    """A learner, and what it prepared for the rows of a world, once for all of its runs."""
    learner, key = entry.make(random_state=SEED), (entry.name, id(world.X))  # worlds live on
    if key not in _PREPARED:
        _PREPARED[key] = learner.prepare(world.X, SEED)
    return learner, _PREPARED[key]
