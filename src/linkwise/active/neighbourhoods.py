"""Neighbourhoods: rows known to be in one cluster, each of them known to be apart from the others.

Basu, Banerjee and Mooney (2004), "Active semi-supervision for pairwise constrained clustering": with one
neighbourhood for each cluster, a row is placed by questions against one row of each, and with k of them
known the last need not be asked. All of it is read off the groups of Evidence, whoever added to it: what
is imported or volunteered counts like an answer.

Identical rows are one point here, and belong together unless an answer says otherwise, so that no two
questions show the same two points.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import ANSWERS, Evidence, Fact

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Points(NamedTuple):
    """The distinct rows."""

    of: Rows
    """(n_rows,) point of each row."""
    first: Rows
    """(n_points,) first row of each point, ascending."""


def distinct_points(X: NDArray[Any]) -> Points:
    """Identical rows are one point; points are numbered in order of their first rows."""
    _, first, of = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    return Points(number[of.ravel()], first[order])


def shown_rows(points: Points, askable: Mask | None) -> Rows:
    """The row that stands for each point: the first that may be shown, where there is one."""
    if askable is None:
        return points.first
    rows = np.flatnonzero(askable)[::-1]
    shown = points.first.copy()
    shown[points.of[rows]] = rows  # the last one assigned is the first row
    return shown


class PointEvidence:
    """Evidence about rows as evidence about points; follows it, whoever adds to it.

    Rows that are identical may have answers that contradict each other as answers about points. Then the
    earlier fact counts; of the facts that are there from the start, whose order means nothing, must-links
    come first.
    """

    def __init__(self, evidence: Evidence, points: Points) -> None:
        self._evidence, self._of = evidence, points.of
        self._has_duplicates = len(points.first) < len(points.of)
        self._points = Evidence(len(points.first)) if self._has_duplicates else evidence
        self._n_read = 0
        if self._has_duplicates:
            order = {answer: at for at, answer in enumerate(ANSWERS)}
            self._add(sorted(evidence, key=lambda fact: (order[fact.answer], sorted(fact[:2]))))

    def current(self) -> Evidence:
        """All that is known of points by now; a cannot-link between identical rows is left out."""
        if self._has_duplicates:
            self._add(self._evidence.since(self._n_read))
        return self._points

    def _add(self, facts: Iterable[Fact]) -> None:
        """Add facts one by one, so that it does not matter when somebody looks."""
        for first, second, answer in facts:
            i, j = int(self._of[first]), int(self._of[second])
            if i != j and self._points.verdict(i, j) in (None, "unsure"):
                self._points.add(i, j, answer)
        self._n_read = len(self._evidence)


class Neighbourhoods(NamedTuple):
    """Where everything stands: neighbourhoods, and what is known of each point."""

    members: tuple[Rows, ...]
    """Points of each neighbourhood, also those that follow from the number of clusters."""
    core: Rows
    """(n_neighbourhoods,) the group in `group` that each is made of, as far as answers say."""
    place: Rows
    """(n_points,) neighbourhood of each point, also where it follows from the number of clusters; else -1."""
    eligible: Mask
    """(n_points,) points that may be asked about and are in no neighbourhood; nobody was unsure of them."""
    group: Rows
    """(n_points,) group of each point that an answer speaks of; -1: none does."""
    linked: Mask
    """(n_points,) whether it is known to belong together with another point."""
    against: Mask
    """(n_groups, n_neighbourhoods) whether a group is known to be apart from a neighbourhood."""
    implied: Rows
    """(n_implied, 2) pairs of points that belong together since there are no more clusters than were met."""

    def open(self, point: int) -> Rows:
        """Neighbourhoods that the point may be in."""
        if self.group[point] < 0:
            return np.arange(len(self.members))
        return np.flatnonzero(~self.against[self.group[point]])


def find_neighbourhoods(
    evidence: Evidence, k: int, askable: Mask, order: Rows, last: int | None = None
) -> Neighbourhoods:
    """What the evidence says about points, with k clusters in all.

    Parameters
    ----------
    evidence : Evidence
    k : int
    askable : ndarray of bool, shape (n_points,)
        A neighbourhood none of whose points may be shown does not count.
    order : ndarray of shape (n_points,)
        Before there is any neighbourhood, the first eligible point in this order is one.
    last : int, optional
        A point that founds a neighbourhood only where it is apart from all others.

    Returns
    -------
    Standing
    """
    said = evidence.groups()
    group = np.full(evidence.n_rows, -1, dtype=np.int64)
    group[said.row] = said.number
    size = np.bincount(said.number)
    shown = np.bincount(said.number, weights=askable[said.row], minlength=len(size)) > 0
    foes = np.unique(said.foes, axis=0).reshape(-1, 2)
    newcomer = -1 if last is None else int(group[last])
    chosen = _apart_from_each_other(size, foes, shown, newcomer)
    against = _against(foes, chosen, len(size))
    home = np.full(len(size) + 1, -1, dtype=np.int64)  # the last one is for points without a group
    home[chosen] = np.arange(len(chosen))
    implied = _implied(against, home, k)
    first = np.flatnonzero(np.diff(said.number[by := np.argsort(said.number, kind="stable")], prepend=-1))
    lead = said.row[by][first]
    pairs = np.stack([lead[implied], lead[chosen[home[implied]]]], axis=1)
    place = home[group]
    eligible = askable & (place < 0) & ~_in_doubt(evidence, group)
    members = tuple(np.flatnonzero(place == at) for at in range(len(chosen)))
    linked = (size >= 2)[group] & (group >= 0) if len(size) else np.zeros(evidence.n_rows, dtype=bool)
    if not members and eligible.any():
        start = int(order[eligible[order].argmax()])
        members, against = (np.array([start]),), np.zeros((len(size), 1), dtype=bool)
        chosen = np.array([-1])
        place[start], eligible[start] = 0, False
    if k == 1:  # nothing is open
        eligible = np.zeros_like(eligible)
    return Neighbourhoods(members, chosen, place, eligible, group, linked, against, pairs)


def _apart_from_each_other(size: Rows, foes: Rows, shown: Mask, newcomer: int) -> Rows:
    """Groups no two of which may be together: the largest first, then those that are apart from most."""
    degree = np.bincount(foes.ravel(), minlength=len(size))
    left, chosen = shown.copy(), []
    for g in np.lexsort((-degree, -size, np.arange(len(size)) == newcomer)).tolist():
        if left[g]:
            chosen.append(g)
            apart = np.zeros_like(left)
            apart[foes[foes[:, 0] == g, 1]] = apart[foes[foes[:, 1] == g, 0]] = True
            left &= apart
    return np.array(chosen, dtype=np.int64)


def _against(foes: Rows, chosen: Rows, n_groups: int) -> Mask:
    """Which groups are apart from which of the chosen ones."""
    number = np.full(n_groups, -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    against = np.zeros((n_groups, len(chosen)), dtype=bool)
    for one, other in (foes.T, foes.T[::-1]):
        met = number[other] >= 0
        against[one[met], number[other[met]]] = True
    return against


def _implied(against: Mask, home: Rows, k: int) -> Rows:
    """Groups for which one neighbourhood is left, there being as many as clusters; gives them that home."""
    if against.shape[1] != k:
        return np.empty(0, dtype=np.int64)
    found: Rows = np.flatnonzero((home[:-1] < 0) & (against.sum(axis=1) == k - 1))
    home[found] = against[found].argmin(axis=1)
    return found


def _in_doubt(evidence: Evidence, group: Rows) -> Mask:
    """Points of which somebody was asked and did not know, and those that belong together with them."""
    pairs = [(i, j) for i, j in evidence.answered("unsure").tolist() if evidence.verdict(i, j) == "unsure"]
    doubt = np.zeros(len(group), dtype=bool)
    points = np.array(pairs, dtype=np.int64).ravel()
    doubt[points] = True
    return doubt | (np.isin(group, group[points]) & (group >= 0))


def add_implied(evidence: Evidence, implied: Rows) -> Evidence:
    """What is known, and what follows from the number of clusters: no answer, but good for a clustering.

    Pairs stand in one order, whatever the order of the answers. Where more clusters than k show up, what
    was implied may be wrong: what it contradicts is left out.
    """
    pairs = [_sorted(evidence.answered(answer)) for answer in ("yes", "no")]
    known = Evidence(evidence.n_rows, Constraints(evidence.n_rows, *pairs))
    for i, j in implied.tolist():
        if known.verdict(i, j) is None:
            known.add(i, j, "yes")
    return known


def _sorted(pairs: Rows) -> Rows:
    return np.unique(np.sort(pairs, axis=1), axis=0).reshape(-1, 2)
