"""What KIN asks: which neighbourhoods to compare, which item to place, and which rows to show for them."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from linkwise.constraints.facts import Answer
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.kin.calibration import LEFT, PlaceAnswer
from linkwise.learn.kin.confidence import LIKELY, item_certainty, relation_chances, relation_worths
from linkwise.learn.kin.kernels import Mask, Rows, Table
from linkwise.learn.kin.model import RIDGE, TINY, expect_classes, first_largest
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
from linkwise.learn.kin.shown import item_labels, pair_chances, prior_labels, row_labels, tells_apart
from linkwise.learn.kin.state import MOST_UNSURE, Asked, KINState, Pair, Turn
from linkwise.learn.learner import NO_LABELS, Question
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at

JITTER = 0.05
ROUNDING = 1e-8  # more than rounding to nine decimals changes
GAIN_DECIMALS = 5  # of a share of the largest gain, which is computed in 32 bits
PATIENCE = 12.0  # an item is placed unless an open relation is worth so many times as much
EVEN = 0.5  # probability from which "yes" is the likelier answer
CLEAR = 0.5  # exponent of the chance that the two likeliest places, or a new one, are right


# ---------------------------------------------------------------- the next question
def next_question(state: KINState) -> Asked | None:
    """What KIN asks next; None when nothing is left."""
    with one_blas_thread():  # one limit is quicker than one for each product
        return _find_next_question(state)


def _find_next_question(state: KINState) -> Asked | None:
    while True:
        if state.turn is not None:
            asked = _ask_about_place(state, state.turn)
            if asked is not None:
                return asked
            _end_turn(state, state.turn)
        pair = likeliest_pair(state, 0.0 if state.is_last else LIKELY)
        if pair is not None:
            return Asked(_show(state, pair, "These are the closest rows of two clusters that may be one."))
        if state.is_last:
            return None
        turn = state.take_left() or _choose_turn(state)
        pair = worthiest_pair(state, None if turn is None else turn.item)
        if pair is not None:
            state.put_back(turn)
            why = "These two clusters look different. Are they one all the same?"
            return Asked(_show(state, pair, why), chance=0.0)
        state.is_last = turn is None
        if turn is not None:
            state.placing, state.turn = turn.item, turn


def _choose_turn(state: KINState) -> Turn | None:
    item = choose_item(state)
    if item is None and len(state.placed.guesses):
        state.take_assumed()
        item = choose_item(state)
    return None if item is None else Turn(item)


def _show(state: KINState, pair: tuple[int, int], why: str) -> Question:
    """Ask about a pair of items."""
    first, second = state.show(pair)
    if state.task.problem.shows_labels:
        return Question(first, second, row_labels(state.believe()), why)
    return Question(first, second, NO_LABELS, why, _expect_answer(state, pair))


def _expect_answer(state: KINState, pair: tuple[int, int]) -> Answer:
    """The likelier answer: by the prior clustering, until the regression tells items apart."""
    posterior = state.believe()
    known, prior = posterior.known, posterior.task.prepared.prior
    if len(known.items) and tells_apart(known, expect_classes(known, prior.n_classes)):
        rows = state.task.row[list(pair)].tolist()
        return "yes" if answer_chance(state, *rows) >= EVEN else "no"
    labels = enforce_answers(prior_labels(state.task), state.task.evidence.current())
    return "yes" if labels[pair[0]] == labels[pair[1]] else "no"


def _ask_about_place(state: KINState, turn: Turn) -> Asked | None:
    """Ask where an item belongs: in the likeliest neighbourhood, then in others that are likely enough."""
    item = turn.item
    while not (posterior := state.believe()).placed.mask[item] and (k := posterior.known.n_neighbourhoods):
        known, at, verdict = posterior.known, item_chances(posterior, item), verdicts(posterior, item)
        first_items = known.items[known.is_first()].tolist()
        rest = [
            c for c in range(k) if verdict[c] in (None, "unsure") and first_items[c] not in turn.left_open
        ]
        if not rest:
            return None
        least = at.join[rest].max() - ROUNDING  # what is lower is so when rounded, too
        best = max((c for c in rest if at.join[c] >= least), key=lambda c: round(float(at.join[c]), 9))
        is_first = turn.coverage is None
        likely = at.join[best] / max(at.join[rest].sum() + at.new, TINY)
        if not is_first and likely < LIKELY:
            return None
        is_check = bool(likely >= LEFT) and _is_left(posterior, best, verdict)
        if is_check and not (is_first or turn.is_doubtful) and state.may_assume():
            state.placed = posterior.placed.assume([item], first_items[best])
            return None
        members = np.flatnonzero(known.label == best)
        similarity = at.similarity[None, members]
        pair = closest_open_pair(state, np.array([item]), known.items[members], similarity)
        if pair is None:
            turn = turn._replace(left_open=turn.left_open | {first_items[best]})
            state.turn = turn
            continue
        if is_first:
            state.turn = turn._replace(coverage=at.coverage)
        why = "Row A is the most informative one to place; row B is from its most likely cluster."
        question = _show(state, pair, why)
        chance = answer_chance(state, question.first, question.second) if is_first else 1.0
        return Asked(question, at.score, best, tuple(rest), is_check, chance)
    return None


def _is_left(posterior: Posterior, best: int, verdict: list[Answer | None]) -> bool:
    """Whether answers have ruled out neighbourhoods, and these differ from the best one that is left."""
    ruled_out = [c for c, found in enumerate(verdict) if found == "no"]
    return bool(ruled_out) and bool(posterior.placement.apart[best, ruled_out].all())


def _end_turn(state: KINState, turn: Turn) -> None:
    """Give an item its place, as far as the answers tell."""
    is_doubtful = turn.is_doubtful and not state.believe().placed.mask[turn.item]
    state.place(turn.item, turn.coverage, is_doubtful=is_doubtful)
    state.placing, state.turn = -1, None
    state.learn()


def hear_place(state: KINState, before: Posterior, item: int, other: int, answer: str | None) -> None:
    """Learn from an answer about an item and one that had its place before."""
    if item == state.placing or answer not in ("yes", "no"):
        return
    known, at = before.known, item_chances(before, item)
    place = int(known.label[known.items == other][0])
    rest = {c for c, found in enumerate(verdicts(before, item)) if found in (None, "unsure")} | {place}
    state.calibrate(PlaceAnswer(at.score, place, np.array(sorted(rest)), answer == "yes"))
    coverage = state.left.pop(item, at.coverage)
    if not state.believe().placed.mask[item] and _may_be_known(state, item):
        state.left[item] = coverage
        return
    state.tried.add(item)
    state.place(item, coverage, is_doubtful=False)
    state.learn()


def _may_be_known(state: KINState, item: int) -> bool:
    """Whether an item is likely enough to be in one of the neighbourhoods that are open."""
    posterior = state.believe()
    at = item_chances(posterior, item)
    rest = [c for c, found in enumerate(verdicts(posterior, item)) if found in (None, "unsure")]
    return bool(rest) and at.join[rest].max() / max(at.join[rest].sum() + at.new, TINY) >= LIKELY


def hear_answer(state: KINState, asked: Asked, answer: Answer) -> None:
    """Learn from the answer to the open question."""
    state.open = None
    if answer != "unsure":
        state.learn_rate(asked.chance, is_yes=answer == "yes")
    if asked.score is None or state.turn is None:
        return
    if answer == "unsure":
        state.turn = state.turn._replace(is_doubtful=True)
    else:
        state.calibrate(PlaceAnswer(asked.score, asked.best, np.array(asked.rest), answer == "yes"))
        if asked.is_check:
            state.check(is_right=answer == "yes")


# ---------------------------------------------------------------- what to compare, and what to place
def likeliest_pair(state: KINState, least: float) -> Pair | None:
    """The closest items of the two neighbourhoods that are likeliest one, given those they differ from.

    Below the probability `least` neighbourhoods are not compared.
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


def worthiest_pair(state: KINState, item: int | None) -> Pair | None:
    """The closest items of the two neighbourhoods whose relation is worth most; None if none is worth enough.

    The worth is in pairs of rows that are expected to be corrected, and is compared with that of an `item`
    whose turn is next; None if there is none.
    """
    posterior = state.believe()
    k, apart = posterior.known.n_neighbourhoods, posterior.placement.apart
    if k < 2 or np.count_nonzero(apart) == k * (k - 1):
        return None
    pairs = pair_chances(posterior)
    worth = relation_worths(posterior, item_labels(posterior), pairs.join[:, :k], pairs.trust)
    if not (worth > 0).any():  # whatever the item is worth
        return None
    least = 0.0 if item is None else PATIENCE * item_worth(state, item)
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

    `similarity`, of shape (n_first, n_second), is that of known items of two neighbourhoods, or of one
    item and a neighbourhood.
    """
    task, n_unsure, assumed = state.task, 0, state.placed.assumed
    for at in np.argsort(-similarity.round(6), axis=None, kind="stable").tolist():
        a, b = int(first[at // len(second)]), int(second[at % len(second)])
        if not (task.askable[a] and task.askable[b]) or max(assumed[a], assumed[b]) >= 0:
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
