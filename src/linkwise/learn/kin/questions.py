"""What KIN asks: which neighbourhoods to compare, which item to place, and which rows to show for them."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from linkwise.learn.kin.confidence import item_certainty
from linkwise.learn.kin.first_known import RIDGE
from linkwise.learn.kin.kernels import Rows, Table
from linkwise.learn.kin.model import TINY
from linkwise.learn.kin.placement import Mask
from linkwise.learn.kin.posterior import (
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
from linkwise.learn.kin.relations import relation_chances, relation_worths
from linkwise.learn.kin.shown import item_labels, pair_chances
from linkwise.learn.kin.state import MOST_UNSURE, KINState, Pair
from linkwise.learn.kin.ties import first_largest
from linkwise.rng import rng_at

JITTER = 0.05
ROUNDING = 1e-8  # more than rounding to nine decimals changes
GAIN_DECIMALS = 5  # of a share of the largest gain, which is computed in 32 bits
PATIENCE = 12.0  # an item is placed unless an open relation is worth so many times as much
CLEAR = 0.5  # exponent of the chance that the two likeliest places, or a new one, are right


def likeliest_pair(state: KINState, least: float) -> Pair | None:
    """The closest items of the two neighbourhoods that are likeliest one, given those they differ from.

    Parameters
    ----------
    state : State
    least : float
        Probability below which neighbourhoods are not compared.
    """
    posterior = state.believe()
    known, apart = posterior.known, posterior.placement.apart
    k = known.n_neighbourhoods
    if k < 2 or np.count_nonzero(apart) == k * (k - 1):
        return None
    chance = open_chances(posterior)
    a, b = np.nonzero((chance >= least - ROUNDING) & ~apart)
    a, b = a[a != b], b[a != b]
    likely = chance[a, b].round(9)  # what is 0 but for rounding is 0
    order = np.argsort(-likely, kind="stable")
    order = order[likely[order] >= least]
    return _first_open_pair(state, a[order], b[order])


def worthiest_pair(state: KINState, least: float) -> Pair | None:
    """The closest items of the two neighbourhoods whose relation is worth most; None if all are worth less.

    Parameters
    ----------
    state : KINState
    least : float
        The least worth of the relation, in pairs of rows that are expected to be corrected.
    """
    posterior = state.believe()
    k, apart = posterior.known.n_neighbourhoods, posterior.placement.apart
    if k < 2 or np.count_nonzero(apart) == k * (k - 1):
        return None
    pairs = pair_chances(posterior)
    worth = relation_worths(posterior, item_labels(posterior), pairs.join[:, :k], pairs.trust)
    a, b = np.nonzero(np.triu(worth > least, 1))
    order = np.argsort(-worth[a, b].round(6), kind="stable")
    return _first_open_pair(state, a[order], b[order])


def item_worth(state: KINState, item: int) -> float:
    """Pairs of rows that an answer about the place of an item is expected to correct.

    Each row counts by the chance that it is in a wrong cluster, times the rows there, times the share of its
    variance that the answer explains.
    """
    posterior = state.believe()
    if len(posterior.known.items) == 0:
        return np.inf
    labels, size = item_labels(posterior), posterior.task.items.size
    wrong = 1 - item_certainty(posterior).clip(0, 1)
    response = current_model(posterior).response(item, current_kernel(posterior).row(item).astype(np.float64))
    variance = RIDGE / max(float(1 - response[item]), TINY)  # of the item, with the ridge
    return float((size * wrong * np.bincount(labels, size)[labels]) @ np.square(response) * variance)


def _first_open_pair(state: KINState, first: Rows, second: Rows) -> Pair | None:
    """The closest items of the first two neighbourhoods that can be compared."""
    posterior = state.believe()
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        items = posterior.known.members(one), posterior.known.members(other)
        similarity = kernel_between(posterior, one, other)
        pair = closest_open_pair(state, *items, similarity)
        if pair is not None:
            return pair
    return None


def closest_open_pair(state: KINState, first: Rows, second: Rows, similarity: Table) -> Pair | None:
    """The most similar items that can be shown and compared; None: there are none, or they were in doubt.

    Parameters
    ----------
    state : State
    first, second : ndarray
        Known items of two neighbourhoods, or one item alone and those of a neighbourhood.
    similarity : ndarray of shape (n_first, n_second)
    """
    task, n_unsure = state.task, 0
    for at in np.argsort(-similarity.round(6), axis=None, kind="stable").tolist():
        a, b = int(first[at // len(second)]), int(second[at % len(second)])
        if not (task.askable[a] and task.askable[b]):
            continue
        verdict = task.problem.evidence.verdict(int(task.row[a]), int(task.row[b]))
        n_unsure += verdict == "unsure"
        if n_unsure == MOST_UNSURE:
            return None
        if verdict is None and (a, b) not in state.shown_pairs:
            return a, b
    return None


def answer_chance(state: KINState, first: int, second: int) -> float:
    """The probability that the rows of the present question belong together."""
    posterior, item = state.read(), state.task.items.of
    known, a, b = posterior.known, int(item[first]), int(item[second])
    if state.placing >= 0:
        place = known.label[known.items == (b if a == state.placing else a)]
        if len(place) == 0:
            return 0.5
        at, verdict = item_chances(posterior, state.placing), verdicts(posterior, state.placing)
        is_open = np.array([found in (None, "unsure") for found in verdict])
        return float(at.join[place[0]] / max(at.join[is_open].sum() + at.new, TINY))
    one, other = known.label[known.items == a], known.label[known.items == b]
    if len(one) == 0 or len(other) == 0:
        return 0.5
    return float(relation_chances(posterior)[one[0], other[0]])


def choose_item(state: KINState) -> int | None:
    """The item that explains most of what is uncertain; None: all are known, or none may be shown."""
    posterior = state.believe()
    eligible = state.task.askable & ~posterior.placed.mask
    eligible[list(state.tried | state.doubtful)] = False
    if not eligible.any():
        return None
    turn = len(state.tried)

    def compute() -> int:
        state.grow()
        return _most_informative(posterior, eligible, turn)

    item = posterior.remember("choose", turn, blake2b(eligible.tobytes()).digest(), compute=compute)
    state.tried.add(item)
    return item


def _most_informative(posterior: Posterior, eligible: Mask, turn: int) -> int:
    """The item that lessens the variance of uncertain items most."""
    task, learned = posterior.task, posterior.known.items
    unsure, clear = np.ones(len(eligible)), np.ones(len(eligible))
    if len(learned):
        at, learned = current_chances(posterior), current_model(posterior).known.items
        sums = sum_up_chances(posterior, at)
        unsure = 1 - sums.largest
        two = sums.largest + np.maximum(sums.second, 0)
        clear = np.minimum(two + at.new, 1) ** CLEAR
    gain = uncertainty_reductions(posterior, learned, task.weight * unsure) * clear
    gain *= 1 + JITTER * rng_at(task.problem.seed, 5, turn).standard_normal(len(gain))
    gain[~eligible] = -1
    return int(first_largest(gain / max(gain.max(), TINY), GAIN_DECIMALS))
