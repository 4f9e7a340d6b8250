"""What KIN believes: the neighbourhoods, and what follows from them for every item.

An item is placed in a neighbourhood by questions, and with it its whole component. Facts that nobody asked
for make components without a place: two of them may well be one cluster. They stay unplaced, like items that
nothing is known of; but a component that is apart from all neighbourhoods is a neighbourhood of its own.

Where the items are small clusters, each of which shows one row, a cluster may be mixed: a fact about one of
its rows need not hold for the others. So a fact counts for the row that is shown, with all that follows for
it from facts about any rows. Nothing wrong follows from a chain through mixed clusters.

An item may be assumed to be in a neighbourhood because answers have ruled out all others that are likely. It
counts as known there, but it is no evidence: its facts say nothing about the neighbourhood, and nobody is
asked about it in the name of the others.

A posterior is a value. All that follows from it is a function of the known items with their neighbourhoods
(`Known`) and of the forest that has learned from an earlier list of them. It is remembered by a digest of
these, so a run that is repeated (undo, reopening, looking ahead) computes nothing again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer, Groups
from linkwise.learn.kin.calibration import Checks, FarRate, Sharpness
from linkwise.learn.kin.kernels import (
    Cells,
    ForestKernel,
    Kernels,
    KINItems,
    Mask,
    MixedKernel,
    Rows,
    Table,
    choose_shown_rows,
)
from linkwise.learn.kin.model import Chances, Covariance, FirstKnown, Known, Model, fit_model
from linkwise.learn.kin.prior_belief import PriorBelief
from linkwise.learn.learner import Problem
from linkwise.learn.neighbourhoods import PointEvidence, Points

REMEMBERED = 2**26  # bytes of what follows from beliefs; as many again of tables
TABLES = ("chances", "pairs", "settled")  # large, and of no use once what follows from them is remembered
FORESTS = 6  # that are remembered
MODELS = 2
LEAST_LEFT = 1e-6  # chance that is left for neighbourhoods that are not ruled out

Value = TypeVar("Value")


# ---------------------------------------------------------------- places
@dataclass(frozen=True, eq=False)
class PlacedItems:
    """The items that have a place, in the order in which they got it.

    `coverage` is that of each item when it was asked about; nan for the others. `assumed` names the first
    item of the neighbourhood in which an item is assumed to be; -1 for the others.
    """

    order: Rows
    coverage: Table
    assumed: Rows

    @classmethod
    def none(cls, n_items: int) -> PlacedItems:
        """No item has a place yet."""
        return cls(np.empty(0, dtype=np.int64), np.full(n_items, np.nan), np.full(n_items, -1))

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
        return replace(self.assume([item], -1), order=self.order[self.order != item])

    def assume(self, items: list[int], first: int) -> PlacedItems:
        """The same with some items assumed to be in the neighbourhood of `first`; -1: in none."""
        changed = self.assumed.copy()
        changed[items] = first
        return replace(self, assumed=changed)

    @cached_property
    def guesses(self) -> Rows:
        """The items whose place is assumed, in the order in which they got it."""
        found: Rows = self.order[self.assumed[self.order] >= 0]
        return found

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


def place_items(
    placed: PlacedItems, groups: Groups, placing: int, corrected: Rows
) -> tuple[PlacedItems, Placement]:
    """Give a place to all items for which one follows from the facts; those that had one come first.

    `groups` are the components of items by now. The component of the item `placing`, which is asked
    about, starts no neighbourhood meanwhile; -1 means that there is none. A person has moved the `corrected`.
    """
    group = np.full(len(placed.mask), -1, dtype=np.int64)
    group[groups.row] = groups.number
    has_place = np.zeros(int(groups.number.max(initial=-1)) + 1, dtype=bool)
    has_place[group[placed.order[group[placed.order] >= 0]]] = True
    placed = placed.add(groups.row[has_place[groups.number] & ~placed.mask[groups.row]])
    placed = _drop_refuted(placed, groups, group)
    has_place[group[placed.guesses]] = False
    may_start = np.bincount(groups.number, minlength=len(has_place)) > 1
    if placing >= 0 and group[placing] >= 0:
        may_start[group[placing]] = False
    apart = groups.both_ways
    for number in _new_neighbourhoods(placed, groups, apart, has_place, may_start & ~has_place):
        placed = placed.add(groups.row[groups.number == number])
    in_question = -1 if placing < 0 else int(group[placing])
    return placed, _placement(placed, groups, apart, group, in_question, corrected)


def _drop_refuted(placed: PlacedItems, groups: Groups, group: Rows) -> PlacedItems:
    """Drop assumptions about items that differ from their neighbourhood, or that others belong to."""
    if len(placed.guesses) == 0:
        return placed
    own, assumed = group[placed.guesses], group[placed.assumed[placed.guesses]]
    size, apart = np.bincount(groups.number, minlength=1), groups.both_ways @ (len(group), 1)
    is_refuted = (own < 0) | (size[own] > 1) | np.isin(own * len(group) + assumed, apart)
    return placed.assume(placed.guesses[is_refuted].tolist(), -1) if is_refuted.any() else placed


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
    placed: PlacedItems,
    groups: Groups,
    apart: Rows,
    group: Rows,
    group_in_question: int,
    corrected: Rows,
) -> Placement:
    items = placed.order
    n_groups = int(groups.number.max(initial=-1)) + 1
    of = group[items]
    of[of < 0] = n_groups + np.arange(int((of < 0).sum()))
    at = np.empty(len(group), dtype=np.int64)
    at[items] = np.arange(len(items))
    of[at[placed.guesses]] = of[at[placed.assumed[placed.guesses]]]
    number = np.full(n_groups + len(items), -1, dtype=np.int64)
    first = np.sort(np.unique(of, return_index=True)[1])
    number[of[first]] = np.arange(len(first))
    known = Known(items, number[of], placed.coverage[items], np.isin(items, corrected))
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


# ---------------------------------------------------------------- facts about items that show one row
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


# ---------------------------------------------------------------- the posterior
class PreparedItems(NamedTuple):
    """What needs no answer."""

    items: KINItems
    rows: NDArray[np.float64]
    """(n_items, n_columns) the representatives of the items, in units of the whole."""
    kernels: Kernels
    prior: PriorBelief
    cells: Cells | None


@dataclass(frozen=True, eq=False)
class Task:
    """What does not change during a run: the items, and which row each of them shows."""

    problem: Problem
    row: Rows
    """(n_items,) the row that each shows."""
    askable: Mask
    """(n_items,) whether that row may be shown."""
    evidence: ShownRowEvidence | PointEvidence
    """About items; it grows as the evidence about rows does."""

    @classmethod
    def of(cls, problem: Problem) -> Task:
        """Choose the rows to show."""
        items: KINItems = problem.prepared.items
        row = choose_shown_rows(problem.X, items, problem.askable)
        askable = np.ones(len(row), dtype=bool) if problem.askable is None else problem.askable[row]
        if items.centers is None:
            return cls(problem, row, askable, PointEvidence(problem.evidence, Points(items.of, items.first)))
        return cls(problem, row, askable, ShownRowEvidence(problem.evidence, row))

    def fork(self, problem: Problem) -> Task:
        """The same task with evidence of its own."""
        if isinstance(self.evidence, PointEvidence):
            return replace(self, problem=problem, evidence=self.evidence.fork(problem.evidence))
        return replace(self, problem=problem, evidence=ShownRowEvidence(problem.evidence, self.row))

    @property
    def prepared(self) -> PreparedItems:
        """What needs no answer."""
        found: PreparedItems = self.problem.prepared
        return found

    @property
    def items(self) -> KINItems:
        """The things that are clustered."""
        return self.prepared.items

    @cached_property
    def weight(self) -> Table:
        """(n_items,) rows of each item, 1 on average."""
        return np.asarray(self.items.size / self.items.size.mean())


class TrainingItems(NamedTuple):
    """Items that a forest learns from."""

    key: bytes
    items: Rows
    label: Rows
    """Neighbourhood of each."""
    n_known: int
    """Known items when it began to grow."""


class Learned(NamedTuple):
    """What answers have changed in the kernel and in the chances."""

    forest: TrainingItems | None
    """What the forest that counts has learned from."""
    weights: tuple[float, ...]
    """Of the mean kernel and of the families; empty while the mean kernel counts alone."""
    sharpness: Sharpness
    far_rate: FarRate
    checks: Checks = Checks()
    n_known: int = 0
    """Known items when this kernel began to count."""

    @property
    def kernel_key(self) -> bytes:
        """A short name for the kernel and when it began to count."""
        return (self.forest.key if self.forest else b"") + np.array([*self.weights, self.n_known]).tobytes()


class Forecast(NamedTuple):
    """What is known of the clusters before the next answer."""

    n_unsure: float | None
    """The expected number of rows in a wrong cluster; None while it is too early to tell."""
    most_unsure: float | None
    """Two standard deviations more; None while it is too early to tell."""
    n_open: int
    """Pairs of clusters that may be one, and are worth a question; 0 while it is too early to tell."""
    n_changed: float | None
    """The expected number of rows that the next answer moves; None where nothing is asked."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What KIN believes after some facts."""

    task: Task
    n_facts: int
    groups: Groups
    """Components of items, by these facts."""
    placed: PlacedItems
    placement: Placement
    placing: int
    """The item that is asked about; -1: there is none."""
    learned: Learned

    @property
    def known(self) -> Known:
        """The items that have a place."""
        return self.placement.known

    @cached_property
    def model_key(self) -> bytes:
        """A short name for all that the regression depends on."""
        name = blake2b(self.learned.kernel_key, digest_size=16)
        for part in self.known:
            name.update(np.ascontiguousarray(part).tobytes())
            name.update(b"and")
        return name.digest()

    @cached_property
    def key(self) -> bytes:
        """A short name for all that the chances depend on."""
        return self.model_key + np.array(self.learned.sharpness).tobytes()

    @cached_property
    def verdicts(self) -> dict[tuple[int, int], list[Answer | None]]:
        """What `verdicts` has looked up, by item and number of facts."""
        return {}

    @cached_property
    def forecasts(self) -> dict[tuple[int, int] | None, Forecast]:
        """What `linkwise.learn.kin.confidence.forecast` has computed, by the pair that is asked about."""
        return {}

    @cached_property
    def placement_key(self) -> bytes:
        """A short name for the placement."""
        return blake2b(self.placement.to_bytes(), digest_size=16).digest()

    def remember(self, *what: object, compute: Callable[[], Value]) -> Value:
        """Something that follows from the known items and the forest."""
        topic = "tables" if what[0] in TABLES else "posterior"
        return self.task.problem.memo.get(topic, (self.key, *what), compute, max_bytes=REMEMBERED)


class ItemChances(NamedTuple):
    """Which neighbourhood one item may belong to."""

    join: Table
    """(k,) probability of each neighbourhood."""
    new: float
    """Probability that it is none of them."""
    score: Table
    """(k,) what the regression gives for each."""
    coverage: float
    similarity: Table
    """(l,) its kernel to each known item."""


def believe(
    task: Task, placed: PlacedItems, placing: int, learned: Learned, last: Posterior | None = None
) -> Posterior:
    """What follows from all facts by now.

    The item `placing` is asked about; -1 means that there is none. The placement of the `last` belief is
    used again if it cannot have changed.
    """
    n_facts, groups = len(task.problem.evidence), task.evidence.current().groups()
    is_same = last is not None and last.groups is groups and last.placed is placed
    if last is not None and is_same and _group_of(groups, last.placing) == _group_of(groups, placing):
        return replace(last, task=task, n_facts=n_facts, placing=placing, learned=learned)
    corrected = task.items.of[sorted(task.problem.evidence.corrected)]
    found = place_items(placed, groups, placing, corrected)
    return Posterior(task, n_facts, groups, *found, placing, learned)


def _group_of(groups: Groups, item: int) -> int:
    """The group of an item; -1: there is none."""
    at = int(np.searchsorted(groups.row, item))
    return int(groups.number[at]) if at < len(groups.row) and groups.row[at] == item else -1


def verdicts(posterior: Posterior, item: int) -> list[Answer | None]:
    """What is known of an item and each neighbourhood."""
    found, name = posterior.verdicts, (item, len(posterior.task.problem.evidence))
    if name not in found:
        evidence, known = posterior.task.evidence.current(), posterior.known
        found[name] = evidence.verdicts(item, known.items[known.is_first()].tolist())
    return found[name]


# ---------------------------------------------------------------- the model
def grow_forest(task: Task, training: TrainingItems) -> ForestKernel:
    """The forest that learns from some items, as far as it is grown."""
    rows, seed = task.prepared.rows, task.problem.seed
    plant = partial(ForestKernel, rows, training.items, training.label, seed)
    return task.problem.memo.get("forest", training.key, plant, max_values=FORESTS)


def current_kernel(posterior: Posterior) -> MixedKernel:
    """The kernel that counts now."""
    task, learned = posterior.task, posterior.learned

    def mix() -> MixedKernel:
        forest = None if learned.forest is None else grow_forest(task, learned.forest).share()
        return MixedKernel(task.prepared.kernels, learned.weights, forest)

    return task.problem.memo.get("kernel", learned.kernel_key, mix, max_values=1)


def uncertainty_reductions(posterior: Posterior, items: Rows, weight: Table) -> Table:
    """How much a question about each item would lessen the weighted uncertainty of all."""
    learned, kernel = posterior.learned, current_kernel(posterior)
    covariance = posterior.task.problem.memo.get("covariance", "table", Covariance)
    return covariance.uncertainty_reductions(kernel, learned.kernel_key, learned.n_known, items, weight)


def current_model(posterior: Posterior) -> Model:
    """The regression on the items that are known now."""
    return posterior.task.problem.memo.get(
        "model", posterior.model_key, lambda: _fit(posterior, posterior.known, "first"), max_values=MODELS
    )


def fit_assumed(posterior: Posterior, known: Known) -> Model:
    """Fit the regression to the known items and to others that are assumed to be known."""
    return _fit(posterior, known, "first settled")


def _fit(posterior: Posterior, known: Known, topic: str) -> Model:
    memo, kernel_key = posterior.task.problem.memo, posterior.learned.kernel_key

    def find_first(kernel: MixedKernel, items: Rows) -> FirstKnown:
        key = kernel_key + blake2b(items.tobytes(), digest_size=16).digest()
        return memo.get(topic, key, partial(FirstKnown, kernel, items), max_values=1)

    return fit_model(current_kernel(posterior), known, find_first)


def current_chances(posterior: Posterior) -> Chances:
    """Which neighbourhood every item may belong to."""
    return posterior.remember(
        "chances", compute=lambda: current_model(posterior).chances(posterior.learned.sharpness)
    )


def sum_up_chances(posterior: Posterior, at: Chances) -> native.RowSums:
    """Find the largest chances of each item; for those of `current_chances` they are remembered."""
    if at is not current_chances(posterior):
        return native.sum_up_rows(at.join)
    return posterior.remember("sums", compute=lambda: native.sum_up_rows(at.join))


def item_chances(posterior: Posterior, item: int) -> ItemChances:
    """Which neighbourhood an item may belong to."""

    def compute() -> ItemChances:
        at, model = current_chances(posterior), current_model(posterior)
        similarity = current_kernel(posterior).row(item)[posterior.known.items].astype(np.float64)
        join, score = at.join[item].copy(), model.score[item].copy()  # so that the tables can be forgotten
        return ItemChances(join, float(at.new[item]), score, float(model.coverage[item]), similarity)

    return posterior.remember("item", item, compute=compute)


def neighbourhood_chances(posterior: Posterior) -> Table:
    """(k, k) how likely the items of each neighbourhood belong to each other one."""
    return posterior.remember(
        "neighbourhoods",
        compute=lambda: current_model(posterior).neighbourhood_chances(posterior.learned.sharpness),
    )


def open_chances(posterior: Posterior) -> Table:
    """(k, k) the same, given those to which each is known not to belong; 0 for these."""

    def compute() -> Table:
        chance, apart = neighbourhood_chances(posterior), posterior.placement.apart
        left = np.maximum(1 - np.where(apart, chance, 0).sum(axis=1), LEAST_LEFT)
        return np.asarray(np.where(apart, 0, np.minimum(chance / left[:, None], 1)))

    return posterior.remember("open", posterior.placement_key, compute=compute)


def kernel_between(posterior: Posterior, a: int, b: int) -> Table:
    """The kernel between the items of two neighbourhoods."""

    def compute() -> Table:
        one, other = posterior.known.members(a), posterior.known.members(b)
        return current_kernel(posterior).rows(one)[:, other].astype(np.float64)

    return posterior.remember("between", a, b, compute=compute)
