"""Find the best ratio cut of a graph into two, with a price for broken cannot-links.

Rangapuram and Hein (2012), sections 2 to 4. Of a set C of nodes, neither empty nor all,

    F(C) = (cut(C) + gamma broken(C)) / balance(C)

is minimised, where broken(C) counts the broken cannot-links. Its minimum is also that of a ratio of functions
of vectors f, F(f) = (R1(f) - R2(f)) / S(f), all of them convex and of degree 1:

    R1(f) = sum over edges of w_ij |f_i - f_j| + gamma q (max f - min f)
    R2(f) = gamma sum over the q pairs of |f_i - f_j|

and S the Lovász extension of the balance; for some threshold the set {f > t} is no worse than f. RatioDCA
takes R2 and S as linear at the vector it has, solves what is left, which is convex
(`linkwise.native.ratio_step`), and never makes the ratio rise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linkwise import native, parallel

Floats = NDArray[np.float64]
Sides = NDArray[np.bool_]
Balance = Literal["ncut", "cheeger"]

LEAST_GAIN = 0.01  # relative, of a step; what is gained less is left
TINY = 1e-9  # of the length of g: where the bound is below, there is nothing to gain
MOST_STEPS = 50  # of RatioDCA
LEAST_RATIO = 0.01  # that a price is measured by
RUNGS = 6  # of the price, each four times the one before


class CutProblem(NamedTuple):
    """A graph to be cut."""

    weights: sp.csr_array
    """(m, m) symmetric, no loops."""
    volume: Floats
    """(m,) of the nodes, above 0."""
    apart: NDArray[np.int64]
    """(q, 2) pairs of nodes."""
    balance: Balance


class CutSplit(NamedTuple):
    """A set of nodes and its value."""

    sides: Sides
    cut: float
    """Cut over balance."""
    broken: int


def compute_balance(volume: Floats, total: float, balance: Balance) -> Floats:
    """Compute the divisor of a cut between sets of these volumes.

    vol(C) vol(rest) / vol(all), so that it comes to cut / vol(C) + cut / vol(rest); or the smaller volume.
    """
    if balance == "ncut":
        product: Floats = volume * (total - volume) / total
        return product
    return np.minimum(volume, total - volume)


# ---------------------------------------------------------------- thresholds
class LevelSets(NamedTuple):
    """The sets {f > t}, from all nodes but those of least f to those of greatest."""

    order: NDArray[np.int64]
    """(m,) nodes by f."""
    gap: Floats
    """(m - 1,) between one f and the next."""
    cut: Floats
    balance: Floats
    broken: Floats


def sort_levels(problem: CutProblem, f: Floats) -> LevelSets:
    """Compute all level sets of a vector."""
    m = len(f)
    order = np.argsort(f, kind="stable")
    rank = np.empty(m, dtype=np.int64)
    rank[order] = np.arange(m)
    edges = problem.weights
    first = np.repeat(rank, np.diff(edges.indptr))
    other = rank[edges.indices]
    up = first < other
    cut = _weight_between(first[up], other[up], edges.data[up], m)
    pairs = np.sort(rank[problem.apart], axis=1)
    parted = _weight_between(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)), m)
    above = problem.volume[order][::-1].cumsum()[::-1][1:]
    whole = float(problem.volume.sum())
    balance = compute_balance(above, whole, problem.balance)
    return LevelSets(order, np.diff(f[order]), cut, balance, len(pairs) - parted)


def _weight_between(low: NDArray[np.int64], high: NDArray[np.int64], weight: Floats, m: int) -> Floats:
    """(m - 1,) weight of what begins at or before a rank and ends after it."""
    change = np.bincount(low, weight, m) - np.bincount(high, weight, m)
    weight_at: Floats = np.maximum(change.cumsum()[:-1], 0.0)
    return weight_at


def ratio(at: LevelSets, gamma: float) -> float:
    """F(f)."""
    under = float(at.gap @ at.balance)
    return float(at.gap @ (at.cut + gamma * at.broken)) / under if under > 0 else np.inf


def best_split(at: LevelSets, gamma: float) -> CutSplit:
    """Find the threshold of least ratio between different values."""
    value = np.where(at.gap > 0, (at.cut + gamma * at.broken) / at.balance, np.inf)
    best = int(value.argmin())
    sides = np.zeros(len(at.order), dtype=bool)
    sides[at.order[best + 1 :]] = True
    return CutSplit(sides, float(at.cut[best] / at.balance[best]), round(float(at.broken[best])))


# ---------------------------------------------------------------- RatioDCA
class DescentState(NamedTuple):
    """The current point of RatioDCA."""

    f: Floats
    ratio: float
    split: CutSplit
    """The best threshold."""


def descend(problem: CutProblem, gamma: float, start: Floats, max_iter: int) -> Iterator[DescentState]:
    """Yield the vectors of RatioDCA, each with a lower ratio than the one before.

    Parameters
    ----------
    problem : CutProblem
        The graph to cut.
    gamma : float
        Price of a broken cannot-link.
    start : ndarray of shape (m,)
        The first vector; it must not be constant.
    max_iter : int
        Largest number of iterations of each convex problem.
    """
    edges, m = problem.weights, len(start)
    graph = (edges.indptr.astype(np.int64), edges.indices.astype(np.int32), edges.data)
    simplex = np.full(m, 1 / m)
    dual = (np.zeros(len(edges.data)), simplex, simplex)
    state = _make_state(problem, gamma, start)
    yield state
    for _ in range(MOST_STEPS if edges.nnz else 0):
        f, before = state.f, state.ratio
        if before < TINY:
            return
        g = gamma * pair_subgradient(problem.apart, f) + before * balance_subgradient(problem, f)
        # what is gained is at most the bound over the balance, which changes slowly
        now = before * float(f @ balance_subgradient(problem, f)) / float(np.linalg.norm(f - f.mean()))
        least = max(TINY * float(np.linalg.norm(g)), LEAST_GAIN * now)
        step = native.ratio_step(
            *graph,
            g,
            gamma * len(problem.apart),
            dual,
            max_iter=max_iter,
            least=least,
            n_threads=parallel.n_threads(),
        )
        if not step.value < -least:
            return
        dual, state = step.dual, _make_state(problem, gamma, step.f)
        if not state.ratio < before:
            return
        yield state
        if before - state.ratio < LEAST_GAIN * before:
            return


def _make_state(problem: CutProblem, gamma: float, f: Floats) -> DescentState:
    at = sort_levels(problem, f)
    return DescentState(f, ratio(at, gamma), best_split(at, gamma))


def pair_subgradient(apart: NDArray[np.int64], f: Floats) -> Floats:
    """A subgradient of the sum over pairs of |f_i - f_j|."""
    one, other = apart.T
    sign = np.sign(f[one] - f[other])
    return (np.bincount(one, sign, len(f)) - np.bincount(other, sign, len(f))).astype(np.float64)


def balance_subgradient(problem: CutProblem, f: Floats) -> Floats:
    """A subgradient of the Lovász extension of the balance."""
    volume = problem.volume
    values, place = np.unique(f, return_inverse=True)
    at_value = np.bincount(place, volume, len(values))
    below = at_value.cumsum() - at_value
    whole = float(volume.sum())
    above = whole - below - at_value
    if problem.balance == "ncut":
        slope: Floats = volume * ((below - above) / whole)[place]
        return slope
    # -1 below the median, 1 above, and at it what makes the sum 0
    sign = np.where(above >= whole / 2, -1.0, np.where(below >= whole / 2, 1.0, 0.0))
    middle = sign == 0
    if middle.any():
        sign[middle] = -(sign @ at_value) / at_value[middle].sum()
    around: Floats = volume * sign[place]
    return around


# ---------------------------------------------------------------- the price
def find_splits(problem: CutProblem, start: Floats, max_iter: int) -> Iterator[CutSplit]:
    """Run RatioDCA from a start with growing prices until no cannot-link is broken.

    Each price begins at the start again: nothing separates two nodes once their values are equal.
    """
    *_, found = descend(problem, 0.0, start, max_iter)
    yield found.split
    if found.split.broken == 0:
        return
    # the price of all pairs at which what costs most of all cuts is a quarter of what no pair costs now
    whole = problem.volume.sum()
    most = max(found.ratio, LEAST_RATIO) * float(compute_balance(whole / 2, whole, problem.balance))
    gamma = most / (4 * len(problem.apart))
    for _ in range(RUNGS):
        *_, found = descend(problem, gamma, start, max_iter)
        yield found.split
        if found.split.broken == 0:
            return
        gamma *= 4
