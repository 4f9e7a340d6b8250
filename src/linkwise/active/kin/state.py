"""Items, what is known of them, and what follows: what `linkwise.active.kin.kin` decides by.

Everything here is a function of the list of known items with their neighbourhoods (`Known`) and of the
forest that has learned from an earlier one. It is remembered by a digest of these, so that a run that is
repeated computes nothing again, whoever repeats it: undo, reopening, looking ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.active.kin.borders import Cells, borders, weights_of
from linkwise.active.kin.facts import KnownOfShown
from linkwise.active.kin.forest_kernel import PARTS, ForestKernel
from linkwise.active.kin.kernels import Items, Matrix, Rows, shown_rows
from linkwise.active.kin.labels import Shown, agreement, shown
from linkwise.active.kin.model import Covariance, Known, Model, Table, model_of
from linkwise.active.kin.placement import Roll, Standing
from linkwise.active.neighbourhoods import PointEvidence, Points
from linkwise.asking.consistency import respecting
from linkwise.asking.learner import Labels, Problem, rng_at

JITTER = 0.05
STAYS_NEW = 0.5  # mean chance of being new from which a cluster without an answer stays
FIRST_FOREST = 12  # known items
MOST_UNSURE = 2  # so many pairs are tried before the relation of two neighbourhoods is left open
REMEMBERED = 2**26  # bytes
FORESTS = 6  # that are kept

Pair = tuple[int, int]


class Prepared(NamedTuple):
    """What needs no answer."""

    items: Items
    rows: NDArray[np.float64]
    """(n_items, n_columns) the rows that stand for the items, in units of the whole."""
    kernel: Matrix
    base: NDArray[np.int32]
    """(n_items,) the clustering before any answer."""
    cells: Cells | None
    seed: int


class Learned(NamedTuple):
    """Items that a forest learns from."""

    key: bytes
    items: Rows
    home: Rows


class Place(NamedTuple):
    """Where one item may belong."""

    home: Table
    """(k,) probability of each neighbourhood."""
    new: float
    cover: float
    alike: Table
    """(l,) its kernel to each known item."""


class Field:
    """The items of one run, and what is known of them by now."""

    def __init__(self, problem: Problem) -> None:
        X, evidence, askable = problem.X, problem.evidence, problem.askable
        prepared: Prepared = problem.prepared
        self.items, self.units, self._kernel0, self.base, self._cells, self._seed = prepared
        self._memo = problem.memo
        self.row = shown_rows(X, self.items, askable)
        self.askable = np.ones(len(self.row), dtype=bool) if askable is None else askable[self.row]
        points = Points(self.items.of, self.items.first)
        mixed = self.items.centers is not None
        self._facts = KnownOfShown(evidence, self.row) if mixed else PointEvidence(evidence, points)
        self._evidence = evidence
        self._X = X
        self._roll = Roll(len(self.row))
        self._doubtful: set[int] = set()
        self._blamed: set[int] = set()  # of these, those with which nothing could be compared
        self._tried: set[int] = set()
        self._spent: set[Pair] = set()
        self._weight = self.items.size / self.items.size.mean()
        self._forest: Learned | None = None  # that counts now
        self._growing: Learned | None = None
        self._model: tuple[bytes, Model] | None = None
        self.placing = -1
        self.asked: Pair | None = None  # about which items, last
        self._standing: tuple[tuple[int, int, int], Standing] | None = None

    def copy(self) -> Field:
        """The same, to be read: reading gives places to items, which changes what the run asks."""
        twin = copy(self)
        twin._roll = self._roll.copy()
        return twin

    # ------------------------------------------------------------ what is known
    @property
    def n_facts(self) -> int:
        """Number of facts that this run has heard."""
        return len(self._evidence)

    def standing(self) -> Standing:
        """What is known of items; where the one that is asked about belongs is not, unless it joined."""
        now = len(self._evidence), len(self._roll), self.placing
        if self._standing is None or self._standing[0] != now:
            made = self._roll.standing(self._facts.current().groups(), self.placing)
            self._standing = (len(self._evidence), len(self._roll), self.placing), made
        return self._standing[1]

    def known(self) -> Known:
        """The items whose neighbourhood is known."""
        return self.standing().known

    def apart(self) -> NDArray[np.bool_]:
        """(k, k) which neighbourhoods are known to differ."""
        return self.standing().apart

    def is_known(self, item: int) -> bool:
        """Whether the neighbourhood of an item is known."""
        self.known()
        return bool(self._roll.listed[item])

    def verdicts(self, item: int) -> list[str | None]:
        """What is known of an item and each neighbourhood."""
        known, facts = self.known(), self._facts.current()
        firsts = known.items[known.founders()].tolist()
        return [facts.verdict(item, first) for first in firsts]

    def refuted(self) -> bool:
        """Whether there are two facts, and the first clustering breaks one; else it stays."""
        said = self._facts.current().groups()
        n_groups = int(said.number.max(initial=-1)) + 1
        if len(said.row) - n_groups + len(said.foes) < 2:
            return False
        own = self.base[said.row]
        of_group = np.empty(n_groups, dtype=own.dtype)
        of_group[said.number] = own
        one, other = of_group[said.foes].T
        return bool((own != of_group[said.number]).any() or (one == other).any())

    # ------------------------------------------------------------ pairs to show
    def pair(self, first: Rows, second: Rows, alike: Table) -> Pair | None:
        """The most alike items that can be shown and compared; None: there are none, or they were in doubt.

        Parameters
        ----------
        first, second : ndarray
            Known items of two neighbourhoods, or one item alone and those of a neighbourhood.
        alike : ndarray of shape (n_first, n_second)
        """
        unsure = 0
        for at in np.argsort(-alike, axis=None, kind="stable").tolist():
            a, b = int(first[at // len(second)]), int(second[at % len(second)])
            if not (self.askable[a] and self.askable[b]):
                continue
            said = self._evidence.verdict(int(self.row[a]), int(self.row[b]))
            unsure += said == "unsure"
            if unsure == MOST_UNSURE:
                return None
            if said is None and (a, b) not in self._spent:
                return a, b
        return None

    def spend(self, pair: Pair) -> tuple[int, int]:
        """The rows to show for a pair of items, which is not shown again."""
        self.asked = pair
        self._spent.update((pair, pair[::-1]))
        return int(self.row[pair[0]]), int(self.row[pair[1]])

    # ------------------------------------------------------------ what follows
    def key(self) -> bytes:
        """A short name for all that the model depends on."""
        known = self.known()
        name = blake2b(self._forest.key if self._forest else b"", digest_size=16)
        for part in known:
            name.update(part.tobytes())
            name.update(b"and")
        return name.digest()

    def _follows(self, *what: Any, compute: Callable[[], Any]) -> Any:
        return self._memo.get("follows", (self.key(), *what), compute, max_bytes=REMEMBERED)

    def kernel(self) -> tuple[Matrix, Covariance]:
        """The kernel that counts now, and its posterior covariance."""
        key = self._forest.key if self._forest else b""

        def mix() -> tuple[Matrix, Covariance]:
            made = self._kernel0 if self._forest is None else self._grown(self._forest).mixed(self._kernel0)
            return made, Covariance(made)

        return self._memo.get("kernel", key, mix, max_values=1)

    def model(self) -> Model:
        """The model of what is known now."""
        key = self.key()
        if self._model is None or self._model[0] != key:
            self._model = key, model_of(self.kernel()[0], self.known())
        return self._model[1]

    def _model_of(self, known: Known) -> Model:
        return self.model() if known is self.known() else model_of(self.kernel()[0], known)

    def place_of(self, item: int) -> Place:
        """Where an item may belong."""

        def compute() -> Place:
            at = self.model().chances
            alike = self.kernel()[0][item, self.known().items].astype(np.float64)
            return Place(at.home[item], float(at.new[item]), float(at.cover[item]), alike)

        found: Place = self._follows("place", item, compute=compute)
        return found

    def alike(self) -> Table:
        """(k, k) how likely the items of each neighbourhood belong to each other one."""
        found: Table = self._follows("alike", compute=lambda: self.model().alike())
        return found

    def closeness(self, a: int, b: int) -> Table:
        """The kernel between the items of two neighbourhoods."""

        def compute() -> Table:
            known = self.known()
            one, other = (known.items[known.home == home] for home in (a, b))
            return self.kernel()[0][np.ix_(one, other)].astype(np.float64)

        found: Table = self._follows("close", a, b, compute=compute)
        return found

    def choose(self) -> int | None:
        """The item that explains most of what is uncertain; None: all are known, or none may be shown."""
        known = self.known()
        able = self.askable & ~self._roll.listed
        able[list(self._tried | self._doubtful)] = False
        if not able.any():
            return None
        turn = len(self._tried)
        chosen: int = self._follows(
            "choose", turn, blake2b(able.tobytes()).digest(), compute=lambda: self._best(known, able, turn)
        )
        self._tried.add(chosen)
        return chosen

    def _best(self, known: Known, able: NDArray[np.bool_], turn: int) -> int:
        if self._growing is not None:
            self._grown(self._growing).grow(len(known.items) - len(self._growing.items) + 1)
        unsure = 1 - self.model().chances.home.max(axis=1) if len(known.items) else np.ones(len(able))
        learned = self.model().known.items if len(known.items) else known.items
        gain = self.kernel()[1].explained(learned, self._weight * unsure)
        gain *= 1 + JITTER * rng_at(self._seed, 5, turn).standard_normal(len(gain))
        gain[~able] = -1
        return int(gain.argmax())

    # ------------------------------------------------------------ what is learned
    def put(self, item: int, cover: float | None, *, doubtful: bool) -> None:
        """An item was placed, or nobody could tell where it belongs."""
        if cover is not None:
            self._roll.covered[item] = cover
            self._standing = None
        if doubtful:
            self._doubtful.add(item)
            self._blame()
        elif not self._roll.listed[item]:
            self._roll.add([item])

    def _blame(self) -> None:
        """Give up the first item where nobody can compare it with others; these get their turn again."""
        blamed, again = self._roll.alone(self._facts.current().groups()), self._doubtful - self._blamed
        if blamed is None or len(again) < MOST_UNSURE:
            return
        self._roll.remove(blamed)
        self._standing = None
        self._tried -= again
        self._roll.covered[list(again)] = np.nan  # nothing came of those questions
        self._blamed.add(blamed)
        self._doubtful = set(self._blamed)

    def learn(self) -> None:
        """Let a forest count, and begin to grow the next one, at fixed numbers of known items."""
        known = self.known()
        n = len(known.items)
        if self._growing is not None and n >= len(self._growing.items) + PARTS:
            self._forest, self._growing = self._growing, None
        if self._growing is None and n >= FIRST_FOREST and 1 < known.n_homes <= n / 2:
            name = blake2b(known.items.tobytes() + known.home.tobytes(), digest_size=16)
            self._growing = Learned(name.digest(), known.items, known.home)

    def _grown(self, learned: Learned) -> ForestKernel:
        _, items, home = learned
        grow = partial(ForestKernel, self.units, items, home, self._seed)
        return self._memo.get("forest", learned.key, grow, max_values=FORESTS)

    # ------------------------------------------------------------ clusterings
    def labels(self) -> Labels:
        """The best clustering of all rows at this moment."""
        labels = self.item_labels()
        as_before = labels.min() >= self.known().n_homes
        if not as_before and self.placing >= 0 and not self._roll.listed[self.placing]:
            labels = labels.copy()
            labels[self._placed()] = self._likeliest(self.placing, int(labels.max()) + 1)
        made = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        made = respecting(made, self._facts.current())
        shown = made.take(self.items.of)
        if not as_before and self._cells is not None:
            rows, home = self._follows("rows", self._name(), compute=self._by_row)
            shown[rows] = made[self.known().items[self.known().founders()]][home]
        return shown if self.items.centers is None else respecting(shown, self._evidence)

    def _by_row(self) -> tuple[Rows, Rows]:
        """Rows at the borders of neighbourhoods, and which one is likeliest for each."""
        home, labels = self.shown().at.home, self.item_labels()
        assert self._cells is not None
        found = []
        for item in borders(self._cells, labels, home).tolist():
            weigh = partial(weights_of, self._X, self.items, self._cells, item)
            found.append(self._memo.get("weights", item, weigh))
        if not found:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        rows, near, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
        likely = sum(weight[:, at, None] * home[near[:, at]] for at in range(near.shape[1]))
        return rows, np.asarray(likely).argmax(axis=1)

    def item_labels(self) -> NDArray[np.int16]:
        """Neighbourhood of each item; above those the number of its cluster in the first clustering."""
        if not self.refuted():
            return np.asarray(self.known().n_homes + self.base, dtype=np.int16)
        found: NDArray[np.int16] = self._follows("labels", self._name(), compute=self._labels)
        return found

    def _name(self) -> bytes:
        return blake2b(self.standing().name(), digest_size=16).digest()

    def _labels(self) -> NDArray[np.int16]:
        standing = self.standing()
        known, (at, place, first) = standing.known, self.shown()
        as_before = known.n_homes + self.base
        if agreement(first, standing) < agreement(self.base, standing):
            return np.asarray(as_before, dtype=np.int16)
        labels = at.home.argmax(axis=1)
        labels[standing.waiting] = np.where(place < 0, labels[standing.waiting], place)
        met = np.concatenate([known.items, standing.waiting[place >= 0]])
        count = np.bincount(self.base, self._weight)
        mean_new = np.bincount(self.base, at.new * self._weight) / count
        mean_new[self.base[met]] = 0
        apart = mean_new[self.base] > STAYS_NEW
        apart[standing.waiting[at.home[standing.waiting].max(axis=1) <= 0]] = True  # there is no place for it
        labels[apart] = as_before[apart]
        labels[known.items] = known.home
        return np.asarray(labels, dtype=np.int16)

    def shown(self) -> Shown:
        """Where everything likeliest belongs."""
        return shown(self.standing(), self._model_of)

    def _placed(self) -> list[int]:
        """The item that is asked about, and what belongs together with it."""
        facts = self._facts.current()
        said = facts.groups()
        at = int(np.searchsorted(said.row, self.placing))
        if at == len(said.row) or said.row[at] != self.placing:
            return [self.placing]
        company: list[int] = said.row[said.number == said.number[at]].tolist()
        return company

    def _likeliest(self, item: int, new: int) -> int:
        """The likeliest neighbourhood of an item that it is not known to be apart from, or a new one."""
        at = self.place_of(item)
        open_ones = np.array([said != "no" for said in self.verdicts(item)], dtype=bool)
        left = at.home * open_ones
        return int(left.argmax()) if left.max(initial=0) > at.new else new
