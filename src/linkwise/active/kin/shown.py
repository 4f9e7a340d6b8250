"""What KIN shows: a neighbourhood for every item, and a cluster for every row.

Facts may name items that have no place yet, because no question led to them. Their components go to the
likeliest neighbourhood that they are not known to be apart from. A component that is certain enough counts as
known for the others, and no component that is apart from it may go to the same neighbourhood.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linkwise.active.kin.belief import (
    Belief,
    current_kernel,
    current_model,
    is_prior_refuted,
    item_chances,
    verdicts,
)
from linkwise.active.kin.borders import border_items, weigh_rows
from linkwise.active.kin.kernels import Rows
from linkwise.active.kin.model import Chances, Known, Table, fit_model
from linkwise.active.kin.placement import Mask, Placement
from linkwise.asking.consistency import enforce_answers
from linkwise.asking.learner import Labels

ROUNDS = 3
SURE = 0.5  # probability from which a component counts as known
STAYS_NEW = 0.5  # mean chance of being new from which a cluster without an answer stays


class Outcome(NamedTuple):
    """The likeliest neighbourhood of everything."""

    at: Chances
    """Of all items; the items of an unplaced component have theirs in common."""
    place: Rows
    """Neighbourhood of each unplaced item that counts as known; -1 for the others."""
    by_placed: Rows
    """Likeliest neighbourhood of all items, by the placed ones alone."""


# ---------------------------------------------------------------- rows
def row_labels(belief: Belief) -> Labels:
    """The best clustering of all rows."""
    task, known, placing = belief.task, belief.known, belief.placing
    labels = item_labels(belief)
    is_prior = labels.min() >= known.n_neighbourhoods
    if not is_prior and placing >= 0 and not belief.placed.mask[placing]:
        labels = labels.copy()
        labels[_component(belief, placing)] = _likeliest(belief, placing, int(labels.max()) + 1)
    numbered = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    numbered = enforce_answers(numbered, task.evidence.current())
    shown = numbered.take(task.items.of)
    if not is_prior and task.prepared.cells is not None:
        rows, label = belief.remember(
            "rows", belief.placement_key, compute=lambda: _label_border_rows(belief)
        )
        shown[rows] = numbered[known.items[known.is_first()]][label]
    return shown if task.items.centers is None else enforce_answers(shown, task.problem.evidence)


def _label_border_rows(belief: Belief) -> tuple[Rows, Rows]:
    """Rows at the borders of neighbourhoods, and the likeliest neighbourhood of each."""
    task = belief.task
    join, labels, cells = settle(belief).at.join, item_labels(belief), task.prepared.cells
    assert cells is not None
    found = []
    for item in border_items(cells, labels, join).tolist():
        weigh = partial(weigh_rows, task.problem.X, task.items, cells, item)
        found.append(task.problem.memo.get("weights", item, weigh))
    if not found:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    rows, near, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    likely = sum(weight[:, at, None] * join[near[:, at]] for at in range(near.shape[1]))
    return rows, np.asarray(likely).argmax(axis=1)


def _component(belief: Belief, item: int) -> list[int]:
    """The items that belong together with an item, and the item itself."""
    groups = belief.groups
    at = int(np.searchsorted(groups.row, item))
    if at == len(groups.row) or groups.row[at] != item:
        return [item]
    found: list[int] = groups.row[groups.number == groups.number[at]].tolist()
    return found


def _likeliest(belief: Belief, item: int, new: int) -> int:
    """The likeliest neighbourhood of an item that it is not known to be apart from, or a new one."""
    at = item_chances(belief, item)
    left = at.join * np.array([verdict != "no" for verdict in verdicts(belief, item)], dtype=bool)
    return int(left.argmax()) if left.max(initial=0) > at.new else new


# ---------------------------------------------------------------- items
def item_labels(belief: Belief) -> NDArray[np.int16]:
    """Neighbourhood of each item; above those the number of its cluster in the prior clustering."""
    if not is_prior_refuted(belief):
        return np.asarray(belief.known.n_neighbourhoods + belief.task.prepared.base, dtype=np.int16)
    return belief.remember("labels", belief.placement_key, compute=lambda: _label_items(belief))


def _label_items(belief: Belief) -> NDArray[np.int16]:
    base, weight = belief.task.prepared.base, belief.task.weight
    placement, known, unplaced = belief.placement, belief.known, belief.placement.unplaced
    at, place, by_placed = settle(belief)
    prior = known.n_neighbourhoods + base
    if agreement(by_placed, placement) < agreement(base, placement):
        return np.asarray(prior, dtype=np.int16)
    labels = at.join.argmax(axis=1)
    labels[unplaced] = np.where(place < 0, labels[unplaced], place)
    certain = np.concatenate([known.items, unplaced[place >= 0]])
    mean_new = np.bincount(base, at.new * weight) / np.bincount(base, weight)
    mean_new[base[certain]] = 0
    stays = mean_new[base] > STAYS_NEW
    stays[unplaced[at.join[unplaced].max(axis=1) <= 0]] = True  # no neighbourhood is possible
    labels[stays] = prior[stays]
    labels[known.items] = known.label
    return np.asarray(labels, dtype=np.int16)


def settle(belief: Belief) -> Outcome:
    """Find the likeliest neighbourhood of everything, given at least one neighbourhood."""
    placement = belief.placement
    known, component = placement.known, placement.component
    at = current_model(belief).chances
    by_placed = at.join.argmax(axis=1)
    if len(component) == 0:
        return Outcome(at, component, by_placed)
    place, excluded = np.full(len(placement.excluded), -1), placement.excluded.copy()
    for _ in range(ROUNDS):
        chance = _component_chances(at, placement, excluded)
        if not _join(chance, place, excluded, placement.components_apart):
            break
        sure = place[component] >= 0
        more = _with(known, placement.unplaced[sure], place[component[sure]])
        at = fit_model(current_kernel(belief)[0], more).chances
    join = at.join.copy()
    join[placement.unplaced] = _component_chances(at, placement, excluded)[component]
    return Outcome(at._replace(join=join), place[component], by_placed)


def _component_chances(at: Chances, placement: Placement, excluded: Mask) -> Table:
    """(n_components, k) mean chances over the items of each component, without excluded neighbourhoods."""
    component = placement.component
    member = csr_array((1 / np.bincount(component)[component], (component, np.arange(len(component)))))
    chance = np.where(excluded, 0, member @ at.join[placement.unplaced])
    rest = chance.sum(axis=1) + member @ at.new[placement.unplaced]
    return np.asarray(chance / np.maximum(rest, 1e-9)[:, None])


def _join(chance: Table, place: Rows, excluded: Mask, components_apart: Rows) -> bool:
    """Give components that are certain enough their place, the surest first; whether there was one."""
    best = chance.max(axis=1, initial=0).round(9)
    starts = np.searchsorted(components_apart[:, 0], np.arange(len(place) + 1))
    has_joined = False
    for a in np.argsort(-best, kind="stable").tolist():
        if best[a] < SURE:
            break
        left = np.where(excluded[a], 0, chance[a])
        to = int(left.argmax())
        if place[a] < 0 and left[to] >= SURE:
            place[a], has_joined = to, True
            excluded[components_apart[starts[a] : starts[a + 1], 1], to] = True
    return has_joined


def _with(known: Known, items: Rows, label: Rows) -> Known:
    coverage = np.concatenate([known.coverage, np.full(len(items), np.nan)])
    return Known(np.concatenate([known.items, items]), np.concatenate([known.label, label]), coverage)


# ---------------------------------------------------------------- agreement with what is known
def agreement(labels: NDArray[np.integer], placement: Placement) -> float:
    """How far labels agree with what is known of the unplaced items: Cohen's kappa.

    Over all pairs of rows that would be the adjusted Rand index; here it is over the pairs that are known,
    where components and neighbourhoods are represented by their first items. Pairs of one kind alone show
    nothing beyond chance, so one pair of each kind is taken to agree and one to disagree.
    """
    lead = placement.unplaced[np.unique(placement.component, return_index=True)[1]]
    first = placement.known.items[placement.known.is_first()]
    together = labels[placement.unplaced] == labels[lead[placement.component]]
    one, other = placement.components_apart[
        placement.components_apart[:, 0] < placement.components_apart[:, 1]
    ].T
    component, neighbourhood = np.nonzero(placement.excluded)
    apart = np.concatenate(
        [labels[lead[one]] != labels[lead[other]], labels[lead[component]] != labels[first[neighbourhood]]]
    )
    n_together = len(together) - len(lead)  # the first items agree with themselves
    joined, parted = together.sum() - len(lead) + 1, apart.sum() + 1
    return kappa(joined, n_together + 2 - joined, len(apart) + 2 - parted, parted)


def kappa(joined: float, divided: float, mixed: float, parted: float) -> float:
    """Cohen's kappa (1960) of pairs that belong together, and are or are not, and of pairs that do not."""
    n = joined + divided + mixed + parted
    by_chance = (joined + divided) * (joined + mixed) + (mixed + parted) * (divided + parted)
    return float((n * (joined + parted) - by_chance) / (n * n - by_chance))
