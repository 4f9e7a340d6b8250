"""What KIN shows: the clustering with the highest expected index, of items and then of rows.

Facts may name items that have no place yet, because no question led to them. Each of their components counts
as a neighbourhood of its own that may be one with others; a component that is certain enough counts as known
for the others, and no component that is apart from it may go to the same neighbourhood. A component is one
with another group as two items belong together: as far as the regression is trusted by its chances, and else
by similarity alone (`linkwise.learn.kin.best_clustering`).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import bdtr, bdtrc

from linkwise import native
from linkwise.constraints.belief import knows_enough_clusters
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.item_labels import ItemLabels
from linkwise.learn.kin.best_clustering import SLACK, PairChances, find_best_clustering, find_slack
from linkwise.learn.kin.kernels import Mask, Rows, Table, border_items, weigh_rows
from linkwise.learn.kin.model import Chances, Known, expect_classes, first_largest
from linkwise.learn.kin.posterior import (
    Placement,
    Posterior,
    Task,
    current_chances,
    current_model,
    fit_assumed,
    neighbourhood_chances,
    sum_up_chances,
    verdicts,
)
from linkwise.learn.kin.prior_belief import (
    NamedPairs,
    PairWeights,
    PriorBelief,
    expect_weights,
    fit_pair_weights,
)
from linkwise.parallel import one_blas_thread

NO_ROWS = np.empty(0, dtype=np.int64)
ROUNDS = 3
SURE = 0.5  # probability from which a component counts as known
GIVEN = 0.1  # weight, in items that were asked about, of an item that only given facts have put where it is
BY_CHANCE = 0.05  # probability below which given facts are no random pairs
MOST_YES = 0.5  # share of random pairs that belong together, at most
MOST_PAIRED = 200  # known items from whose pairs similarities are judged


class Outcome(NamedTuple):
    """The chances of everything."""

    at: Chances
    """Of all items; the items of an unplaced component have theirs in common."""
    component: Table
    """(n_components, k) how likely each unplaced component belongs to each neighbourhood."""


class Anchors(NamedTuple):
    """Items that facts name: those of neighbourhoods, and those of components without a place."""

    items: Rows
    label: Rows
    """Neighbourhood, or k and more for a component."""
    apart: Mask
    """(k + n_components, k + n_components) which of these are known to differ."""


# ---------------------------------------------------------------- rows
def row_labels(posterior: Posterior) -> ItemLabels:
    """The best clustering of all rows; answers about rows that items do not show are not in it yet."""
    task, known = posterior.task, posterior.known
    numbered = enforce_answers(item_labels(posterior), task.evidence.current())
    rows, own = NO_ROWS, numbered[:0]
    if len(known.items) and task.prepared.cells is not None:
        rows, label = posterior.remember(
            "rows", *name_labels(posterior), compute=lambda: _label_border_rows(posterior)
        )
        own = numbered[known.items[known.is_first()]][label]
    return ItemLabels(numbered, task.items.of, task.items.size, rows, own)


def _label_border_rows(posterior: Posterior) -> tuple[Rows, Rows]:
    """Rows at the borders of neighbourhoods, and the likeliest neighbourhood of each."""
    task, known = posterior.task, posterior.known
    join, labels, cells = settle(posterior).at.join, item_labels(posterior), task.prepared.cells
    assert cells is not None
    likeliest = first_largest(join)
    is_there = labels[known.items[known.is_first()]][likeliest] == labels
    place = np.where(is_there, likeliest, known.n_neighbourhoods)
    found = []
    for item in border_items(cells, place, join).tolist():
        weigh = partial(weigh_rows, task.problem.X, task.items, cells, item)
        found.append(task.problem.memo.get("weights", item, weigh))
    if not found:
        return NO_ROWS, NO_ROWS
    rows, near, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(rows)
    rows, near, weight = rows[order], near[order], weight[order]
    likely = sum(weight[:, at, None] * join[near[:, at]] for at in range(near.shape[1]))
    return rows, first_largest(np.asarray(likely))


def _component(posterior: Posterior, item: int) -> list[int]:
    """The items that belong together with an item, and the item itself."""
    groups = posterior.groups
    at = int(np.searchsorted(groups.row, item))
    if at == len(groups.row) or groups.row[at] != item:
        return [item]
    found: list[int] = groups.row[groups.number == groups.number[at]].tolist()
    return found


# ---------------------------------------------------------------- items
def item_labels(posterior: Posterior) -> NDArray[np.int32]:
    """Cluster of each item, numbered 0, 1, ..."""
    return posterior.remember("labels", *name_labels(posterior), compute=lambda: _label_items(posterior))


def name_labels(posterior: Posterior) -> tuple[object, ...]:
    """What labels depend on beside the chances: places, and what is known of the item in question."""
    if posterior.placing < 0 or posterior.placed.mask[posterior.placing]:
        return (posterior.placement_key,)
    ruled_out = verdicts(posterior, posterior.placing) if len(posterior.known.items) else []
    if "no" not in ruled_out:
        return (posterior.placement_key,)
    return posterior.placement_key, tuple(_component(posterior, posterior.placing)), tuple(ruled_out)


def _label_items(posterior: Posterior) -> NDArray[np.int32]:
    prior = posterior.task.prepared.prior
    if len(posterior.known.items) == 0:
        return prior_labels(posterior.task)
    else:
        anchors, known = find_anchors(posterior), posterior.known
        counts = tells_apart(known, expect_classes(known, prior.n_classes))
        slack = find_slack(len(anchors.items)) if counts else SLACK
        found = find_best_clustering(
            pair_chances(posterior), anchors.items, anchors.label, anchors.apart, slack
        )
    return found.labels.astype(np.int32)


def prior_labels(task: Task) -> NDArray[np.int32]:
    """Cluster of each item before any answer."""

    def compute() -> NDArray[np.int32]:
        nobody = np.empty(0, dtype=np.int64)
        found = find_best_clustering(initial_pair_chances(task), nobody, nobody, np.zeros((0, 0), dtype=bool))
        return found.labels.astype(np.int32)

    return task.problem.memo.get("prior", "labels", compute)


def initial_pair_chances(task: Task) -> PairChances:
    """How likely two items belong together before any answer."""
    prior, n = task.prepared.prior, len(task.items.first)
    weights = expect_weights(prior.n_classes)
    none = np.zeros((n, 0))
    return PairChances(
        none, np.zeros(n), np.zeros((0, 0)), prior.fine, _fine_chances(prior, weights), task.items.size
    )


def find_anchors(posterior: Posterior) -> Anchors:
    """The items that facts name, and what is known to differ."""
    placement, known = posterior.placement, posterior.known
    k, n_components = known.n_neighbourhoods, len(placement.excluded)
    apart = np.zeros((k + n_components, k + n_components), dtype=bool)
    apart[:k, :k] = placement.apart
    apart[k:, :k] = placement.excluded
    apart[:k, k:] = placement.excluded.T
    one, other = placement.components_apart.T
    apart[k + one, k + other] = True
    items = np.concatenate([known.items, placement.unplaced])
    return Anchors(items, np.concatenate([known.label, k + placement.component]), apart)


def pair_chances(posterior: Posterior) -> PairChances:
    """How likely two items belong together, given at least one neighbourhood."""
    return posterior.remember(
        "pairs", *name_labels(posterior), compute=lambda: _compute_pair_chances(posterior)
    )


def _compute_pair_chances(posterior: Posterior) -> PairChances:
    task, model, outcome, anchors = (
        posterior.task,
        current_model(posterior),
        settle(posterior),
        find_anchors(posterior),
    )
    prior, n = task.prepared.prior, len(task.items.first)
    at = _rule_out(posterior, outcome.at)
    n_classes = expect_classes(posterior.known, prior.n_classes)
    is_met, trust = 1 - model.chance_of_new(n_classes), np.zeros(n)
    sums = sum_up_chances(posterior, at)
    if tells_apart(posterior.known, n_classes):
        trust = np.sqrt(sums.largest * is_met)
    join = native.divide_rows(at.join, np.maximum(sums.positive, 1e-12), len(anchors.apart))
    join[anchors.items] = 0
    join[anchors.items, anchors.label] = 1
    trust[anchors.items] = 1
    component = posterior.placement.component
    size = np.bincount(component)
    belongs = (
        outcome.component * (np.bincount(component, is_met[posterior.placement.unplaced]) / size)[:, None]
    )
    with one_blas_thread():
        weights, same = _judge_similarity(posterior, anchors, belongs, n_classes)
    return PairChances(join, trust, same, prior.fine, _fine_chances(prior, weights), task.items.size)


def tells_apart(known: Known, n_classes: float) -> bool:
    """Whether the regression may say which items without an answer belong together.

    One neighbourhood says nothing about what differs, and the first few of many attract everything. Items are
    asked about where they tell most; those that given facts happen to name tell less, and count less.
    """
    k, n_asked = known.n_neighbourhoods, int((~np.isnan(known.coverage)).sum())
    n_given = len(known.items) - n_asked
    worth = n_asked + max(min(n_given, 1), GIVEN * n_given)  # nobody is asked about the first item of all
    return knows_enough_clusters(k, worth, n_classes)


def _rule_out(posterior: Posterior, at: Chances) -> Chances:
    """The chances, where the item that is being placed is in no neighbourhood that it is apart from."""
    placing = posterior.placing
    if placing < 0 or posterior.placed.mask[placing]:
        return at
    is_open = np.array([verdict != "no" for verdict in verdicts(posterior, placing)], dtype=bool)
    if is_open.all():
        return at
    items = _component(posterior, placing)
    join, new = at.join.copy(), at.new.copy()
    left, rest = join[items].mean(axis=0) * is_open, new[items].mean()
    join[items], new[items] = left / max(left.sum() + rest, 1e-9), rest / max(left.sum() + rest, 1e-9)
    return Chances(join, new)


def _judge_similarity(
    posterior: Posterior, anchors: Anchors, belongs: Table, n_classes: float
) -> tuple[PairWeights, Table]:
    """The weights of similarities, and how likely the anchors' groups are the same.

    `belongs` tells how likely each component belongs to each neighbourhood, as far as that is trusted.
    """
    k, among = posterior.known.n_neighbourhoods, neighbourhood_chances(posterior)
    alike = among + among.T
    alike /= 2
    used = some = np.arange(len(anchors.items))
    if len(some) > MOST_PAIRED:
        some = np.linspace(0, len(some) - 1, MOST_PAIRED).astype(np.int64)
        used = np.union1d(some, np.unique(anchors.label, return_index=True)[1])
    named, of = _name_pairs(posterior.task), anchors.label[some]
    similarity, shared = named.among(anchors.items[some])
    known = np.full(anchors.apart.shape, np.nan)  # of two components nothing may be known
    known[:k, :k] = alike
    known[anchors.apart] = 0
    np.fill_diagonal(known, 1)
    together = known[of[:, None], of]
    if _are_selected(posterior.known, anchors, n_classes):
        is_given = _given_items(posterior.known, anchors)[some]
        together[is_given[:, None] | is_given] = np.nan
    weights = fit_pair_weights(similarity, shared, together, n_classes)
    means = named.average(anchors.items[used], anchors.label[used], len(anchors.apart))
    same = weights.chances(*means)
    np.maximum(same[:k, :k], alike, out=same[:k, :k])
    same[anchors.apart] = 0
    np.fill_diagonal(same, 1)
    if len(belongs):
        trust = np.concatenate([np.ones(k), belongs.sum(axis=1)])
        judged = belongs @ same[:k, :k]
        judged = np.hstack([judged, judged @ belongs.T])
        judged += (1 - np.multiply.outer(trust[k:], trust)) * same[k:]
        same[k:], same[:, k:] = judged, judged.T
        same[anchors.apart] = 0
        np.fill_diagonal(same, 1)
    return weights, same


def _given_items(known: Known, anchors: Anchors) -> Mask:
    """Which anchors only given facts name; nobody is asked about the first item of all."""
    is_given = np.ones(len(anchors.items), dtype=bool)
    is_given[: len(known.items)] = np.isnan(known.coverage)
    is_given[:1] &= bool(is_given[: len(known.items)].all())
    return is_given


def _are_selected(known: Known, anchors: Anchors, n_classes: float) -> bool:
    """Whether given facts hold far more pairs of one kind than random pairs would.

    Such a file, of duplicates alone for instance, does not tell how many pairs belong together.
    """
    is_given, k = _given_items(known, anchors), len(anchors.apart)
    if not is_given.any():
        return False
    is_of_given = np.bincount(anchors.label[~is_given], minlength=k) == 0
    n_yes = int(is_given.sum() - is_of_given.sum())
    n_no = int(np.triu(anchors.apart & (is_of_given[:, None] | is_of_given)).sum())
    n_pairs, least = n_yes + n_no, min(MOST_YES, 1 / (2 * n_classes))
    by_chance = bdtrc(n_yes - 1, n_pairs, MOST_YES), bdtr(n_yes, n_pairs, least)
    return n_pairs > 0 and min(by_chance) < BY_CHANCE


def _name_pairs(task: Task) -> NamedPairs:
    """What is known of pairs of items before any answer, remembered once it is asked for."""
    prepared = task.prepared
    make = partial(NamedPairs, prepared.prior, prepared.kernels.mean)
    return task.problem.memo.get("named", "pairs", make)


def _fine_chances(prior: PriorBelief, weights: PairWeights) -> Table:
    return weights.chances(prior.fine_similarity, prior.fine_shared, are_symmetric=True)


def settle(posterior: Posterior) -> Outcome:
    """Find the chances of everything, given at least one neighbourhood."""
    if len(posterior.placement.component) == 0:
        return Outcome(current_chances(posterior), np.empty((0, posterior.known.n_neighbourhoods)))
    return posterior.remember("settled", posterior.placement_key, compute=lambda: _settle(posterior))


def _settle(posterior: Posterior) -> Outcome:
    placement, sharpness = posterior.placement, posterior.learned.sharpness
    known, component, at = placement.known, placement.component, current_chances(posterior)
    place, excluded = np.full(len(placement.excluded), -1), placement.excluded.copy()
    for _ in range(ROUNDS):
        chance = _component_chances(at, placement, excluded)
        if not _join(chance, place, excluded, placement.components_apart):
            break
        sure = place[component] >= 0
        more = _with(known, placement.unplaced[sure], place[component[sure]])
        at = fit_assumed(posterior, more).chances(sharpness)
    join, by_component = at.join.copy(), _component_chances(at, placement, excluded)
    join[placement.unplaced] = by_component[component]
    return Outcome(at._replace(join=join), by_component)


def _component_chances(at: Chances, placement: Placement, excluded: Mask) -> Table:
    """(n_components, k) mean chances over the items of each component, without excluded neighbourhoods."""
    component = placement.component
    member = csr_array((1 / np.bincount(component)[component], (component, np.arange(len(component)))))
    chance = np.where(excluded, 0, member @ at.join[placement.unplaced])
    rest = chance.sum(axis=1) + member @ at.new[placement.unplaced]
    return np.asarray(chance / np.maximum(rest, 1e-9)[:, None])


def _join(chance: Table, place: Rows, excluded: Mask, components_apart: Rows) -> bool:
    """Give components that are certain enough their place, the surest first; whether there was one."""
    chance = chance.round(9)
    best, likeliest = chance.max(axis=1, initial=0), first_largest(chance)
    starts = np.searchsorted(components_apart[:, 0], np.arange(len(place) + 1))
    has_joined = False
    order = np.argsort(-best, kind="stable")
    for a in order[(best >= SURE)[order]].tolist():
        if place[a] >= 0:
            continue
        to = int(likeliest[a])
        if excluded[a, to]:  # by now
            left = np.where(excluded[a], 0, chance[a])
            to = int(first_largest(left))
            if left[to] < SURE:
                continue
        place[a], has_joined = to, True
        excluded[components_apart[starts[a] : starts[a + 1], 1], to] = True
    return has_joined


def _with(known: Known, items: Rows, label: Rows) -> Known:
    coverage = np.concatenate([known.coverage, np.full(len(items), np.nan)])
    corrected = None if known.corrected is None else np.append(known.corrected, np.zeros(len(items), bool))
    return Known(
        np.concatenate([known.items, items]), np.concatenate([known.label, label]), coverage, corrected
    )
