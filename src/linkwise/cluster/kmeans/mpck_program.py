"""MPCKMeans as WekaUT runs it, the program of its authors' group.

It has the objective of Bilenko, Basu and Mooney (2004) with one diagonal metric for all clusters. These facts
about the program are not in the paper:

- Each iteration is one pass over the rows in the order of the file. A row takes the cluster of least cost,
  given the labels so far; rows that have none yet do not count in the first pass.
- The farthest pair, which sets the price of a cannot-link, is the diagonal of the box around the rows and the
  origin.
- Neighbourhoods are components of two rows or more. If there are more than clusters, the largest comes first,
  and then those that are far from the ones before and large. If there are fewer, other centres are the mean
  of all rows, each coordinate changed by up to 35 %.
- Cannot-links between two neighbourhoods hold for all their rows, others for the two rows only.
- An empty cluster has its centre at the origin.
- It ends when the objective changes by less than 1e-5, or after 20 passes in which no row moves.

Cost: O(n k d + pairs d) a pass, in Python.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.closure import find_components
from linkwise.constraints.constraints import Constraints

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

_CHANGE = 1e-5  # of the objective
_IDLE_PASSES = 20
_PERTURBED = 0.7  # of each coordinate of the mean, half of it to each side


class ProgramRun(NamedTuple):
    """The result of the program."""

    labels: NDArray[np.int32]
    """(n,)"""
    centers: Array
    """(k, d)"""
    weights: Array
    """(d,) the diagonal of the metric."""
    objective: float
    n_iter: int


class _PricedPairs(NamedTuple):
    """What the passes need of the constraints."""

    w: float
    box: Array
    """(d,) squared sides of the box around the rows and the origin."""
    must: Pairs
    cannot: Pairs
    partners: list[tuple[Pairs, Pairs]]
    """For each row, the rows that a must-link and a cannot-link name with it."""


def run_in_file_order(
    X: NDArray[np.floating],
    constraints: Constraints,
    k: int,
    w: float,
    rng: np.random.Generator,
    max_iter: int,
) -> ProgramRun:
    """Run the program from its own start."""
    rows = np.asarray(X, dtype=np.float64)
    neighbourhoods = _list_neighbourhoods(constraints)
    centers = _choose_centers(rows, neighbourhoods, k, rng)
    box = (np.maximum(rows.max(axis=0), 0) - np.minimum(rows.min(axis=0), 0)) ** 2
    priced = _PricedPairs(w, box, *_link_rows(constraints, neighbourhoods))
    weights = np.ones(rows.shape[1])
    labels = np.full(len(rows), -1, dtype=np.int32)
    value, idle, n_iter = np.inf, 0, 0
    while n_iter < max_iter:
        n_iter, before = n_iter + 1, value
        moved = _assign_in_order(rows, centers, weights, labels, priced)
        counts = np.bincount(labels, minlength=k)
        sums = np.zeros_like(centers)
        np.add.at(sums, labels, rows)
        centers = sums / np.maximum(counts, 1)[:, None]
        scatter = _sum_scatter(rows, centers, labels, priced)
        weights = np.where(scatter > 0, len(rows) / np.where(scatter > 0, scatter, 1), weights)
        value = float(weights @ scatter - len(rows) * np.log(weights).sum())
        idle = 0 if moved else idle + 1
        if abs(before - value) < _CHANGE or idle >= _IDLE_PASSES:
            break
    return ProgramRun(labels, centers, weights, value, n_iter)


def _list_neighbourhoods(constraints: Constraints) -> list[Pairs]:
    """List the rows of components of two rows or more, the largest first."""
    number = find_components(len(constraints), constraints.must_link)
    order = np.argsort(number, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(number[order])) + 1)
    return sorted((part for part in parts if len(part) > 1), key=len, reverse=True)


def _link_rows(
    constraints: Constraints, neighbourhoods: list[Pairs]
) -> tuple[Pairs, Pairs, list[tuple[Pairs, Pairs]]]:
    """Add the constraints that follow within and between neighbourhoods."""
    of = np.full(len(constraints), -1)
    for at, part in enumerate(neighbourhoods):
        of[part] = at
    must = {tuple(sorted(pair)) for part in neighbourhoods for pair in combinations(part.tolist(), 2)}
    cannot = {tuple(sorted(pair)) for pair in constraints.cannot_link.tolist()}
    for one, other in {tuple(sorted(of[list(pair)].tolist())) for pair in cannot}:
        if 0 <= one < other:
            ends = (neighbourhoods[one].tolist(), neighbourhoods[other].tolist())
            cannot |= {tuple(sorted((i, j))) for i in ends[0] for j in ends[1]}
    lists = [np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2) for pairs in (must, cannot)]
    named = [_list_partners(len(constraints), pairs) for pairs in lists]
    return lists[0], lists[1], list(zip(*named, strict=True))


def _list_partners(n: int, pairs: Pairs) -> list[Pairs]:
    found: list[list[int]] = [[] for _ in range(n)]
    for i, j in pairs.tolist():
        found[i].append(j)
        found[j].append(i)
    return [np.array(partners, dtype=np.int64) for partners in found]


def _choose_centers(rows: Array, neighbourhoods: list[Pairs], k: int, rng: np.random.Generator) -> Array:
    """Choose means of neighbourhoods, far apart and large, and perturbed means of all rows for the rest."""
    means = np.array([rows[part].mean(axis=0) for part in neighbourhoods]).reshape(-1, rows.shape[1])
    sizes = np.array([len(part) for part in neighbourhoods])
    chosen = [0] if len(means) else []
    while len(chosen) < min(k, len(means)):
        away = np.sqrt(((means[:, None] - means[chosen]) ** 2).sum(axis=2)).min(axis=1)
        away[chosen] = -1
        chosen.append(int((away * sizes).argmax()))
    missing = k - len(chosen)
    noise = _PERTURBED * (rng.random((missing, rows.shape[1])) - 0.5)
    return np.vstack([means[chosen], rows.mean(axis=0) * (1 + noise)])


def _assign_in_order(
    rows: Array, centers: Array, weights: Array, labels: NDArray[np.int32], priced: _PricedPairs
) -> bool:
    """Assign each row in turn; return whether any moved."""
    cost = ((rows[:, None] - centers) ** 2) @ weights
    farthest, moved = float(weights @ priced.box), False
    for i, (together, apart) in enumerate(priced.partners):
        price = cost[i]
        if len(together):
            theirs = labels[together]
            square = ((rows[together] - rows[i]) ** 2) @ weights * (theirs >= 0)
            kept = np.bincount(np.maximum(theirs, 0), square, len(centers))
            price = price + priced.w * (square.sum() - kept)
        if len(apart):
            theirs = labels[apart]
            short = (farthest - ((rows[apart] - rows[i]) ** 2) @ weights) * (theirs >= 0)
            price = price + priced.w * np.bincount(np.maximum(theirs, 0), short, len(centers))
        best = int(price.argmin())
        moved |= best != labels[i]
        labels[i] = best
    return moved


def _sum_scatter(rows: Array, centers: Array, labels: NDArray[np.int32], priced: _PricedPairs) -> Array:
    """Sum the squares about the centres and of what is broken, for each column."""
    scatter: Array = ((rows - centers[labels]) ** 2).sum(axis=0)
    for pairs, are_broken_apart in ((priced.must, True), (priced.cannot, False)):
        one, other = pairs[(labels[pairs[:, 0]] != labels[pairs[:, 1]]) == are_broken_apart].T
        squares = (rows[one] - rows[other]) ** 2
        scatter = scatter + priced.w * (squares if are_broken_apart else priced.box - squares).sum(axis=0)
    return scatter
