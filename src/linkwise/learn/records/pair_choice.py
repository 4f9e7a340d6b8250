"""Choose the pair of records to ask about next.

Most questions are about the most doubtful decision between two groups, weighted by the root of the number
of pairs that it decides. The others are drawn at random: they teach the model what the doubtful ones do
not, and precision and recall are estimated from them. Two of three are drawn in proportion to p (1 - p),
where p is the chance of a match, and one of three evenly among the pairs inside of groups, since a model
that is wrongly sure of a large group would not be asked about it otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, expit

from linkwise.rng import rng_at

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
    rng = rng_at(seed, n_answers)
    if rng.random() < SHARE_AT_RANDOM:
        weight = _weigh_draws(log_odds[open_pairs], is_inside[open_pairs])
        total = weight.cumsum()
        at = min(int(np.searchsorted(total, rng.random() * total[-1], side="right")), len(total) - 1)
        return ChosenPair(int(open_pairs[at]), float(weight[at] / total[-1]))
    doubt, own = measure_doubt(score[open_pairs]), measure_doubt(log_odds[open_pairs])
    worth = doubt * np.sqrt(n_decided[open_pairs]) * ((1 - OF_THE_PAIR) + OF_THE_PAIR * own)
    worth[is_recent[open_pairs]] *= RECENT
    return ChosenPair(int(open_pairs[int(worth.round(9).argmax())]), None)


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
