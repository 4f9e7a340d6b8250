"""How often the sources of answers are wrong, by the answers that the belief breaks.

Other answers can contradict an answer only if it is *spare*. A yes is needed, and not spare, if it is a
bridge: without it the yes answers would fall into more parts. A no is needed if it is the only one between
two parts. Only the similarity of the rows can show that a needed answer is wrong, so it counts half. The rate
of a source is the share of broken answers, shrunk towards the rate of all sources together, as a beta
posterior: the less, the more the sources differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

AssumedRate = float | Mapping[str, float | None] | None
"""A share of wrong answers, None to estimate it, or one of both for each source."""

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

FIRST_WRONG, FIRST_RIGHT = 1.0, 19.0  # answers that the prior of the error rate counts like
LOWEST_RATE, HIGHEST_RATE = 0.005, 0.3  # that a search for wrong answers assumes
STRENGTH = 10.0  # answers that the rate of all sources counts like for one of them, at most
LEAST_STRENGTH = 2.0  # the same where the sources differ most, as where one of them lies
CAREFUL_STRENGTH = 40.0  # the same where answers are weighed: an early estimate must not mislead the search
HALF = 0.5  # of an answer that only the similarity of the rows can show to be wrong
LOW_QUANTILE, HIGH_QUANTILE = 0.025, 0.975  # quantiles of the interval


class SourceRate(NamedTuple):
    """How often a source is wrong.

    Attributes
    ----------
    n_answers : int
        Its yes and no answers.
    n_doubted : int
        Those of them that are probably wrong.
    rate : float
        Estimated share of wrong answers, or the share that was given.
    low, high : float
        Interval that contains the share with a probability of 95 %.
    """

    n_answers: int
    n_doubted: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """How often answers are wrong.

    Attributes
    ----------
    overall : SourceRate
        All sources together, but those that are never wrong.
    by_source : dict of str to SourceRate
        Each source that gave a yes or a no, in the order of their names. An unknown one has the name "".
    """

    overall: SourceRate
    by_source: dict[str, SourceRate]


def estimate_rates(
    sources: Sequence[str],
    is_broken: Mask,
    is_spare: Mask,
    given: Mapping[str, float | None],
    strength: float | None = None,
    share: NDArray[np.float64] | None = None,
) -> ErrorRates:
    """Estimate the error rate of each source.

    For each yes or no there are its source, whether the belief breaks it, whether other answers say
    something about the same relation, and how far it counts, fully by default. For each source a rate is
    `given`, or None. `strength` is how many answers the rate of all sources counts like for one of them:
    by default at most 10, and fewer the more the sources differ.
    """
    of = np.array(sources, dtype=object)
    tested = np.where(is_spare | is_broken, 1.0, HALF)
    is_fallible = np.array([given[source] != 0 for source in sources], dtype=bool)
    share = np.ones(len(sources)) if share is None else share
    overall = _estimate(
        is_broken[is_fallible], tested[is_fallible], share[is_fallible], FIRST_WRONG, FIRST_RIGHT
    )
    told = [rate for source in sources if (rate := given[source]) is not None and rate != 0]
    if told and len(told) == len(is_fallible[is_fallible]):  # nothing to estimate
        shared = share_rates(told)
        overall = overall._replace(rate=shared, low=shared, high=shared)
    names = sorted(set(sources))
    unknown = [of == source for source in names if given[source] is None]
    strength = _measure_strength(is_broken, tested, unknown) if strength is None else strength
    found = {}
    for source in names:
        here, rate = of == source, given[source]
        if rate is None:
            wrong = strength * overall.rate
            found[source] = _estimate(is_broken[here], tested[here], share[here], wrong, strength - wrong)
        else:
            found[source] = SourceRate(int(here.sum()), int(is_broken[here].sum()), rate, rate, rate)
    return ErrorRates(overall, found)


def _measure_strength(is_broken: Mask, tested: NDArray[np.float64], parts: list[Mask]) -> float:
    """The answers that the shared rate counts like, by how far the sources differ beyond chance.

    The moments of a beta distribution of the rates (DerSimonian and Laird 1986 for the variance).
    """
    n = np.array([tested[part].sum() for part in parts])
    wrong = np.array([is_broken[part].sum() for part in parts])
    order = np.lexsort((wrong, n))  # so that the names of the sources do not matter, not even by rounding
    n, wrong = n[order], wrong[order]
    if len(parts) < 2 or not wrong.any() or (wrong == n).all():
        return STRENGTH
    mean = wrong.sum() / n.sum()
    chance = mean * (1 - mean)
    spread = (n * (wrong / n - mean) ** 2).sum() - (len(n) - 1) * chance
    variance = spread / (n.sum() - (n**2).sum() / n.sum())
    return STRENGTH if variance * (STRENGTH + 1) <= chance else max(chance / variance - 1, LEAST_STRENGTH)


def share_rates(rates: Sequence[float]) -> float:
    """The mean of some rates; without rounding if they are equal."""
    return rates[0] if len(set(rates)) == 1 else float(np.mean(rates))


def _estimate(
    is_broken: Mask, tested: NDArray[np.float64], share: NDArray[np.float64], wrong: float, right: float
) -> SourceRate:
    """The mean and the interval of the posterior after a beta prior."""
    n_broken = float(share[is_broken].sum())
    a, b = wrong + n_broken, right + float((tested * share).sum()) - n_broken
    low, high = (float(betaincinv(a, b, quantile)) for quantile in (LOW_QUANTILE, HIGH_QUANTILE))
    return SourceRate(len(is_broken), int(is_broken.sum()), a / (a + b), low, high)


def estimate_by_tests(n_tested: int, n_wrong: int) -> SourceRate:
    """Estimate the error rate by the answers that other answers test, and those that contradict them."""
    is_wrong, each = np.arange(n_tested) < n_wrong, np.ones(n_tested)
    return _estimate(is_wrong, each, each, FIRST_WRONG, FIRST_RIGHT)


def find_spare(first: Rows, second: Rows, is_yes: Mask) -> Mask:
    """Find the answers that are not needed to tell the clusters.

    That is False for a bridge of the yes answers, and for the only no between two of their parts.
    """
    rows, ends = np.unique(np.stack([first, second]), return_inverse=True)
    one, other = ends.reshape(2, -1)
    is_spare = np.ones(len(first), dtype=bool)
    yes = np.flatnonzero(is_yes)
    is_bridge, part = _find_bridges(len(rows), list(zip(one[yes].tolist(), other[yes].tolist(), strict=True)))
    is_spare[yes[is_bridge]] = False
    no = np.flatnonzero(~is_yes)
    between = np.sort(np.stack([part[one[no]], part[other[no]]], axis=1), axis=1)
    _, of, count = np.unique(between, axis=0, return_inverse=True, return_counts=True)
    is_spare[no[count[of.ravel()] == 1]] = False
    return is_spare


def _find_bridges(n: int, edges: Sequence[tuple[int, int]]) -> tuple[Mask, Rows]:
    """Find the edges that are in no circle, and the connected part of each node (Tarjan 1974)."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for edge, (a, b) in enumerate(edges):
        neighbours[a].append((b, edge))
        neighbours[b].append((a, edge))
    is_bridge, part = np.zeros(len(edges), dtype=bool), np.zeros(n, dtype=np.int64)
    number, lowest = [-1] * n, [0] * n
    n_met = 0
    for start in range(n):
        if number[start] >= 0:
            continue
        path = [(start, -1, iter(neighbours[start]))]
        number[start] = lowest[start] = n_met
        part[start] = start
        n_met += 1
        while path:
            node, came_by, rest = path[-1]
            for other, edge in rest:
                if number[other] < 0:
                    number[other] = lowest[other] = n_met
                    part[other] = start
                    n_met += 1
                    path.append((other, edge, iter(neighbours[other])))
                    break
                if edge != came_by:
                    lowest[node] = min(lowest[node], number[other])
            else:
                path.pop()
                if path:
                    before = path[-1][0]
                    lowest[before] = min(lowest[before], lowest[node])
                    is_bridge[came_by] = lowest[node] == number[node]
    return is_bridge, part
