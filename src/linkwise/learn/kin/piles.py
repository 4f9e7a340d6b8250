"""Which items KIN lets a person sort into piles, and what it learns from the piles.

A screen has, in this order:

1. if answers may be wrong, some items whose place is doubtful, loose once more, each with an item of the
   neighbourhood that it is in and of the next likely one,
2. the closest items of two neighbourhoods that are likely enough to be one: KIN would ask about them first,
3. new items, one after the other: the one that lessens the uncertainty of all others most, divided by the
   root of the slots that it takes. The items that are on the screen already count as known. An item takes a
   slot for itself and one for each neighbourhood that KIN would ask about, if every answer were no.

The items of a screen get their places one after the other, each with its coverage. If all got them at once,
the coverage of later items would not count, and KIN would treat them as rows that nobody was asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from linkwise.constraints.fallible import FallibleEvidence
from linkwise.constraints.sorting import Pile, Sorting
from linkwise.learn.kin.calibration import PlaceAnswer
from linkwise.learn.kin.confidence import LIKELY
from linkwise.learn.kin.kernels import Mask, Table
from linkwise.learn.kin.model import TINY
from linkwise.learn.kin.posterior import (
    ItemChances,
    Posterior,
    current_chances,
    current_kernel,
    current_model,
    item_chances,
    kernel_between,
    open_chances,
    sum_up_chances,
    uncertainty_reductions,
    verdicts,
)
from linkwise.learn.kin.questions import CLEAR, JITTER
from linkwise.learn.kin.state import KINState
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at

CANDIDATES = 40  # new items whose slots are counted
NEEDED = 3  # neighbourhoods that are shown for one item
SLOTS = 0.5  # exponent of the slots that an item takes
CHECKED = 4  # one of so many slots is for an item whose place is doubtful
DOUBTFUL = 0.15  # chance that an item is elsewhere
MOST_CHECKS = 2  # of one item
SURE = 0.8  # certainty of the items that stand for a neighbourhood beside a doubtful one


class _Screen:
    """The items of a screen while it is filled: of each neighbourhood, and loose ones."""

    def __init__(self, m: int) -> None:
        self.m = m
        self.shown: dict[int, int] = {}  # by neighbourhood
        self.loose: list[int] = []

    @property
    def n_free(self) -> int:
        """Rows that fit on it."""
        return self.m - len(self.shown) - len(self.loose)


def gather(state: KINState, m: int, held: Sequence[Pile]) -> tuple[tuple[Pile, ...], Pile] | None:
    """Gather items that are worth sorting together; see `linkwise.learn.abilities.SupportsGather`."""
    with one_blas_thread():
        state.learn()
        state.grow()
        posterior = state.believe()
        item = posterior.task.items.of
        held_items = [[int(item[row]) for row in rows] for rows in held]
        screen = _Screen(m)
        if isinstance(posterior.task.problem.evidence, FallibleEvidence):
            _add_doubtful(posterior, screen, {each for items in held_items for each in items})
        _add_relations(posterior, screen, held_items)
        _add_new_items(state, posterior, screen, held_items)
    if len(screen.shown) + len(screen.loose) < 2:
        return None
    row = posterior.task.row
    known = tuple((int(row[shown]),) for shown in screen.shown.values())
    return known, tuple(int(row[loose]) for loose in screen.loose)


# ---------------------------------------------------------------- what a screen shows
def _add_relations(posterior: Posterior, screen: _Screen, held: Sequence[Sequence[int]]) -> None:
    """Show the closest items of neighbourhoods that are likely enough to be one, the likeliest first."""
    known, apart = posterior.known, posterior.placement.apart
    if known.n_neighbourhoods < 2:
        return
    place = dict(zip(known.items.tolist(), known.label.tolist(), strict=True))
    shown = [{place[item] for item in items if item in place} for items in held]
    chance = open_chances(posterior)
    chance = np.maximum(chance, chance.T).round(9)
    a, b = np.nonzero(np.triu(~apart, 1) & (chance >= LIKELY))
    for at in np.argsort(-chance[a, b], kind="stable").tolist():
        pair = int(a[at]), int(b[at])
        new = [number for number in pair if number not in screen.shown]
        if any(set(pair) <= each for each in shown):
            continue
        if len(new) > screen.n_free:
            return
        closest = _closest_items(posterior, *pair, screen.loose)
        if closest is not None:
            screen.shown.update({number: closest[number] for number in new})


def _closest_items(posterior: Posterior, a: int, b: int, loose: list[int]) -> dict[int, int] | None:
    """The closest items of two neighbourhoods that may be shown, and are not loose."""
    one, other = posterior.known.members(a), posterior.known.members(b)
    askable = _find_showable(posterior, loose)
    similarity = np.where(np.outer(askable[one], askable[other]), kernel_between(posterior, a, b), -np.inf)
    i, j = divmod(int(similarity.round(6).argmax()), len(other))
    return None if np.isneginf(similarity[i, j]) else {a: int(one[i]), b: int(other[j])}


def _find_showable(posterior: Posterior, loose: list[int]) -> Mask:
    """(n_items,) which items may stand for a neighbourhood: not those that are only assumed to be there."""
    found = posterior.task.askable & (posterior.placed.assumed < 0)
    found[loose] = False
    return found


def _add_new_items(
    state: KINState, posterior: Posterior, screen: _Screen, held: Sequence[Sequence[int]]
) -> None:
    """Fill a screen with items that have no place, and with the neighbourhoods that they need."""
    eligible = posterior.task.askable & ~posterior.placed.mask
    eligible[list(state.doubtful)] = False
    away = [item for items in held for item in items if not posterior.placed.mask[item]]
    eligible[away] = False
    needed: dict[int, list[int]] = {}
    while screen.n_free and eligible.any():
        worth = _measure_worth(posterior, [*away, *(x for x in screen.loose if not posterior.placed.mask[x])])
        item = _choose_new_item(posterior, screen, np.where(eligible, worth, -1), needed)
        screen.loose.append(item)
        eligible[item] = False
        for number in needed[item]:
            shown = _closest_member(posterior, number, item, screen.loose)
            if number not in screen.shown and screen.n_free and shown is not None:
                screen.shown[number] = shown


def _choose_new_item(
    posterior: Posterior, screen: _Screen, worth: Table, needed: dict[int, list[int]]
) -> int:
    """The item that is worth most for the slots that it takes, as far as they are free."""
    best, most = int(worth.argmax()), -1.0
    for item in np.argsort(-worth, kind="stable")[:CANDIDATES].tolist():
        if worth[item] < 0:
            break
        if item not in needed:
            needed[item] = _needed_neighbourhoods(posterior, item)
        n_slots = 1 + sum(number not in screen.shown for number in needed[item])
        if n_slots > 1 and screen.n_free < n_slots and screen.n_free > 1:
            continue
        value = round(worth[item] / n_slots**SLOTS, 9)
        if value > most:
            best, most = item, value
    if best not in needed:
        needed[best] = _needed_neighbourhoods(posterior, best)
    return best


def _measure_worth(posterior: Posterior, shown: list[int]) -> Table:
    """(n_items,) how much each item would lessen the uncertainty of all, beside those that are shown."""
    task, learned = posterior.task, posterior.known.items
    unsure, clear = np.ones(len(task.row)), np.ones(len(task.row))
    n_known = len(learned)
    if len(learned):
        at, learned = current_chances(posterior), current_model(posterior).known.items
        sums = sum_up_chances(posterior, at)
        unsure = 1 - sums.largest
        clear = np.minimum(sums.largest + np.maximum(sums.second, 0) + at.new, 1) ** CLEAR
    items = np.concatenate([learned, np.array(shown, dtype=np.int64)])
    gain = uncertainty_reductions(posterior, items, task.weight * unsure) * clear
    draws = rng_at(task.problem.seed, 6, n_known, len(shown)).standard_normal(len(gain))
    gain = gain * (1 + JITTER * draws)
    return np.asarray(gain / max(gain.max(), TINY)).round(5)


def _needed_neighbourhoods(posterior: Posterior, item: int) -> list[int]:
    """The neighbourhoods that KIN would ask about one after the other, if every answer were no."""
    found: list[int] = []
    if posterior.known.n_neighbourhoods == 0:
        return found
    at = item_chances(posterior, item)
    rest = _open_neighbourhoods(posterior, item)
    while rest and len(found) < NEEDED:
        best = max(rest, key=lambda number: round(float(at.join[number]), 9))
        if found and at.join[best] / max(at.join[rest].sum() + at.new, TINY) < LIKELY:
            break
        found.append(best)
        rest.remove(best)
    return found


def _open_neighbourhoods(posterior: Posterior, item: int) -> list[int]:
    """The neighbourhoods that an item may be in."""
    return [number for number, found in enumerate(verdicts(posterior, item)) if found in (None, "unsure")]


def _closest_member(posterior: Posterior, number: int, item: int, loose: list[int]) -> int | None:
    """The closest item of a neighbourhood that may be shown, and is not loose."""
    members = posterior.known.members(number)
    members = members[_find_showable(posterior, loose)[members]]
    if len(members) == 0:
        return None
    return int(members[current_kernel(posterior).row(item)[members].round(6).argmax()])


# ---------------------------------------------------------------- doubtful places
def _add_doubtful(posterior: Posterior, screen: _Screen, held: set[int]) -> None:
    """Show the items again whose place is most doubtful, loose, with an item of each likely place."""
    evidence = posterior.task.problem.evidence
    if not isinstance(evidence, FallibleEvidence) or posterior.known.n_neighbourhoods < 2:
        return
    belief, item = evidence.belief, posterior.task.items.of
    place = dict(zip(posterior.known.items.tolist(), posterior.known.label.tolist(), strict=True))
    n_shown = evidence.count_sorted()
    doubts = []
    for node, row in enumerate(belief.rows.tolist()):
        chance, own = belief.careful[node].copy(), int(belief.label[node])
        doubt = round(float(1 - chance[own]), 9)
        is_alone = np.count_nonzero(belief.label == own) == 1
        if doubt < DOUBTFUL or is_alone or item[row] not in place or n_shown.get(row, 0) > MOST_CHECKS:
            continue
        chance[own] = -1
        doubts.append((-doubt, node, int(item[row]), own, int(chance.argmax())))
    sure = belief.certainty > SURE
    for _, _, doubtful, own, other in sorted(doubts):
        if len(screen.loose) == max(1, screen.m // CHECKED):
            return
        if doubtful in held or doubtful in screen.shown.values() or not posterior.task.askable[doubtful]:
            continue
        similarity, beside = current_kernel(posterior).row(doubtful), {}
        for number in (own, other):
            rows = belief.rows[(belief.label == number) & sure]
            able = {int(item[one]) for one in rows.tolist()} - {doubtful, *screen.loose}
            able = {one for one in able if one in place and posterior.task.askable[one]}
            if able and not any(place[one] in screen.shown for one in able):
                closest = max(sorted(able), key=lambda one: round(float(similarity[one]), 6))
                beside[place[closest]] = closest
        if len(beside) < screen.n_free:
            screen.shown.update(beside)
            screen.loose.append(doubtful)


# ---------------------------------------------------------------- what the piles say
def hear_sorting(state: KINState, sorting: Sorting) -> Iterator[int]:
    """Give the items of piles their places, one after the other; see `SupportsGather`."""
    item, shown = state.task.items.of, state.task.row
    taken: list[int] = []  # rows in piles, whose facts are known
    for row in sorting.order:
        one, before = int(item[row]), state.believe()
        is_new = not before.placed.mask[one] and int(shown[one]) == row
        has_places = before.known.n_neighbourhoods > 0
        at = item_chances(before, one) if is_new and has_places else None
        rest = _open_neighbourhoods(before, one) if at is not None else []
        yield row
        if row not in sorting.pile_of:
            if is_new and not state.believe().placed.mask[one]:
                state.doubtful.add(one)
            continue
        if is_new:
            if at is not None:
                _calibrate(state, before, at, rest, [int(item[other]) for other in taken], row, sorting)
            state.tried.add(one)
            state.left.pop(one, None)
            state.place(one, None if at is None else at.coverage, is_doubtful=False)
        taken.append(row)
    state.learn()


def _calibrate(
    state: KINState,
    before: Posterior,
    at: ItemChances,
    rest: list[int],
    taken: list[int],
    row: int,
    sorting: Sorting,
) -> None:
    """Learn how sharp the chances are, by the pile of a new item and the neighbourhoods on the screen."""
    item, number = state.task.items.of, sorting.pile_of[row]
    piles = {int(item[other]): pile for other, pile in sorting.pile_of.items()}
    place = dict(zip(before.known.items.tolist(), before.known.label.tolist(), strict=True))
    met = {place[other]: piles[other] == number for other in taken if other in place}
    own = [label for label, is_own in met.items() if is_own and label in rest]
    others = [label for label, is_own in met.items() if not is_own and label in rest]
    if own:
        state.calibrate(PlaceAnswer(at.score, own[0], np.array(rest), True))
    elif others:
        likeliest = max(others, key=lambda label: round(float(at.join[label]), 9))
        state.calibrate(PlaceAnswer(at.score, likeliest, np.array(rest), False))
