"""Choose the pair of records to ask about next.

Most questions are about the most doubtful decision between two groups, weighted by the root of the number
of pairs that it decides. The others, evenly spread over a session, are drawn at random. They teach the model
how often pairs match that do not stand out, and precision and recall are estimated from them. Two of three
are drawn in proportion to p (1 - p), where p is the chance of a match, and one of three evenly among the
pairs inside of groups, since a model that is wrongly sure of a large group would not be asked about it
otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, expit

from linkwise.rng import rng_at
from linkwise.types import Labels

SHARE_AT_RANDOM = 0.35
SHARE_INSIDE = 1 / 3  # of these
OF_THE_PAIR = 0.3  # weight of the doubt about the pair itself, beside that about its groups
RECENT = 0.1  # share of its worth that counts for a pair of groups that were just asked about
MOST_SURE = 8.0  # log-odds of a pair, where pairs are drawn at random: each can be drawn
SETTLED = 12.0  # log-odds of a decision from which nobody is asked
BEST = "The model cannot tell whether these two groups of records are one."
AT_RANDOM = "This pair was drawn at random, to measure how good the groups are."


class ChosenPair(NamedTuple):
    """The pair to ask about, and the chance with which it was drawn; None if it was not drawn at random."""

    pair: int
    drawn: float | None


def choose_pair(
    log_odds: NDArray[np.float64],
    score: NDArray[np.float64],
    n_decided: NDArray[np.float64],
    is_inside: NDArray[np.bool_],
    is_open: NDArray[np.bool_],
    is_recent: NDArray[np.bool_],
    seed: int,
    n_answers: int,
) -> ChosenPair | None:
    """Choose a pair.

    Parameters
    ----------
    log_odds : ndarray of shape (n_pairs,)
        What the model says of each pair.
    score : ndarray of shape (n_pairs,)
        Log-odds by which its two groups were joined, above 0, or kept apart.
    n_decided : ndarray of shape (n_pairs,)
        Number of pairs of records that this decision is about.
    is_inside : ndarray of bool, shape (n_pairs,)
        Whether both records are in one group.
    is_open : ndarray of bool, shape (n_pairs,)
        Whether somebody may be asked about the pair.
    is_recent : ndarray of bool, shape (n_pairs,)
        Whether its groups were asked about since the model last learned: it may soon know better.
    seed, n_answers : int
        They decide the random draws.

    Returns
    -------
    ChosenPair or None
        None if every decision is settled.
    """
    open_pairs = np.flatnonzero(is_open & (np.abs(score) < SETTLED))
    if len(open_pairs) == 0:
        return None
    if int((n_answers + 1) * SHARE_AT_RANDOM) > int(n_answers * SHARE_AT_RANDOM):
        return _draw(log_odds, is_inside, open_pairs, rng_at(seed, n_answers))
    doubt, own = measure_doubt(score[open_pairs]), measure_doubt(log_odds[open_pairs])
    worth = doubt * np.sqrt(n_decided[open_pairs]) * ((1 - OF_THE_PAIR) + OF_THE_PAIR * own)
    worth[is_recent[open_pairs]] *= RECENT
    return ChosenPair(int(open_pairs[int(worth.round(9).argmax())]), None)


def draw_pair(
    log_odds: NDArray[np.float64],
    score: NDArray[np.float64],
    is_inside: NDArray[np.bool_],
    is_open: NDArray[np.bool_],
    seed: int,
    n_answers: int,
) -> ChosenPair | None:
    """Draw a pair at random, as `choose_pair` does for a share of the questions; None if all is settled."""
    open_pairs = np.flatnonzero(is_open & (np.abs(score) < SETTLED))
    if len(open_pairs) == 0:
        return None
    return _draw(log_odds, is_inside, open_pairs, rng_at(seed, n_answers))


def _draw(
    log_odds: NDArray[np.float64],
    is_inside: NDArray[np.bool_],
    open_pairs: NDArray[np.int64],
    rng: np.random.Generator,
) -> ChosenPair:
    weight = _weigh_draws(log_odds[open_pairs], is_inside[open_pairs])
    total = weight.cumsum()
    at = min(int(np.searchsorted(total, rng.random() * total[-1], side="right")), len(total) - 1)
    return ChosenPair(int(open_pairs[at]), float(weight[at] / total[-1]))


def gather_rows(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    labels: Labels,
    score: NDArray[np.float64],
    n_decided: NDArray[np.float64],
    is_open: NDArray[np.bool_],
    start: Sequence[int],
    most: int,
) -> list[int]:
    """Gather records whose groups are in doubt with each other.

    After those of `start` come the two records of the most doubtful decision. Then comes, again and again,
    the one that most probably belongs to a group that is there already, though this is in doubt; if there is
    none, the next two.

    Parameters
    ----------
    first, second : ndarray of shape (n_pairs,)
        The records of each pair.
    labels : ndarray of shape (n_rows,)
        The groups.
    score, n_decided, is_open
        As for `choose_pair`.
    start : sequence of int
        Records that come first.
    most : int
        Largest number of records.

    Returns
    -------
    list of int
        The records, in this order; of a group one, or two if it may have to be split.
    """
    open_pairs = np.flatnonzero(is_open & (np.abs(score) < SETTLED))
    worth = measure_doubt(score[open_pairs]) * np.sqrt(n_decided[open_pairs])
    chance = expit(score[open_pairs])
    ends = np.array([first[open_pairs], second[open_pairs]])
    groups = labels[ends]
    is_split = groups[0] == groups[1]
    shown: list[int] = []
    gain = np.zeros(len(labels))  # of each record, by its doubtful decisions about groups that are shown
    seeds = iter(np.argsort(-worth.round(9), kind="stable").tolist())
    is_shown = np.zeros(int(labels.max(initial=0)) + 1, dtype=bool)

    def show(row: int) -> None:
        shown.append(row)
        is_shown[labels[row]] = True
        gain[labels == labels[row]] = 0
        for here, there in ((0, 1), (1, 0)):
            near = (groups[here] == labels[row]) & ~is_shown[groups[there]]
            np.add.at(gain, ends[there, near], worth[near] * chance[near])

    for row in start:
        show(row)
    while len(shown) < most:
        row = int(gain.round(9).argmax())
        if gain[row] > 0 and len(shown) > len(start):
            show(row)
            continue
        seed = next((at for at in seeds if not is_shown[groups[:, at]].any()), None)
        if seed is None or len(shown) + 2 > most:
            return shown
        show(int(ends[0, seed]))
        if is_split[seed]:
            shown.append(int(ends[1, seed]))
        else:
            show(int(ends[1, seed]))
    return shown


def _weigh_draws(log_odds: NDArray[np.float64], is_inside: NDArray[np.bool_]) -> NDArray[np.float64]:
    """In proportion to what each pair is drawn; the sum is 1 or, without a pair inside, less."""
    chance = expit(np.clip(log_odds, -MOST_SURE, MOST_SURE))
    doubt, inside = chance * (1 - chance), is_inside / max(int(is_inside.sum()), 1)
    weight: NDArray[np.float64] = (1 - SHARE_INSIDE) * doubt / doubt.sum() + SHARE_INSIDE * inside
    return weight


def measure_doubt(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entropy of a decision with such log-odds, in nats."""
    doubt: NDArray[np.float64] = entr(expit(log_odds)) + entr(expit(-log_odds))
    return doubt
