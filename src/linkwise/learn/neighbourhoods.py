"""Neighbourhoods: sets of rows that are known to be in one cluster each, and apart from one another.

Basu, Banerjee and Mooney (2004), "Active semi-supervision for pairwise constrained clustering": with one
neighbourhood per cluster, a row is placed by questions about it and one row of each; once k neighbourhoods
are known, the last question is not needed. Neighbourhoods are computed from the groups of Evidence, so
imported and volunteered pairs count like answers.

Identical rows are one point here. They belong together unless an answer contradicts it, so no two questions
show the same two points.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import ANSWERS, Answer, Fact

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
Version = tuple[int, int, int]
"""What `PointEvidence` knows at a time."""


class Points(NamedTuple):
    """The distinct rows."""

    of: Rows
    """(n_rows,) point of each row."""
    first: Rows
    """(n_points,) first row of each point, ascending."""


def distinct_points(X: NDArray[Any]) -> Points:
    """Find the distinct rows; points are numbered in order of their first rows."""
    _, first, of = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[order] = np.arange(len(first))
    return Points(number[of.ravel()], first[order])


def choose_shown_rows(points: Points, askable: Mask | None) -> Rows:
    """The row that each point shows: the first that may be shown, or else the first."""
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
        self._n_read, self._n_revisions = 0, evidence.n_revisions
        if self._has_duplicates:
            order = {answer: at for at, answer in enumerate(ANSWERS)}
            known = evidence.read_believed(0)
            self._add(sorted(known, key=lambda fact: (order[fact.answer], sorted(fact.pair))))

    def current(self) -> Evidence:
        """All that is known of points by now; a cannot-link between identical rows is left out."""
        if self._has_duplicates:
            if self._n_revisions != self._evidence.n_revisions:
                self._n_revisions, self._n_read = self._evidence.n_revisions, 0
                self._points = Evidence(self._points.n_rows)
            self._add(self._evidence.read_believed(self._n_read))
        return self._points

    @property
    def version(self) -> Version:
        """Another one whenever more, or something else, is known."""
        return len(self._evidence), self._evidence.n_revisions, len(self._points)

    def hear(self, first: int, second: int, answer: Answer) -> None:
        """Take up what follows about the rows of two points, if that does not follow about the points.

        If facts about identical rows contradict each other, one of them is left out here, together with what
        follows from it.
        """
        if self.current().verdict(first, second) is None:
            self._points.add(first, second, answer)

    def fork(self, evidence: Evidence) -> PointEvidence:
        """The same evidence about points; it follows a copy of the evidence about rows."""
        twin = copy.copy(self)
        twin._evidence = evidence
        twin._points = self._points.copy() if self._has_duplicates else evidence
        return twin

    def _add(self, facts: Iterable[Fact]) -> None:
        """Add facts one by one, so that it does not matter when somebody looks."""
        for fact in facts:
            i, j = int(self._of[fact.first]), int(self._of[fact.second])
            if i != j and self._points.verdict(i, j) in (None, "unsure"):
                self._points.add(i, j, fact.answer)
            self._n_read += 1


class Neighbourhoods(NamedTuple):
    """The neighbourhoods, and what is known of each point."""

    members: tuple[Rows, ...]
    """Points of each neighbourhood, with those that follow from the number of clusters."""
    core: Rows
    """(n_neighbourhoods,) the group in `group` that each consists of, by answers alone."""
    place: Rows
    """(n_points,) neighbourhood of each point, by answers or the number of clusters; -1 for none."""
    eligible: Mask
    """(n_points,) points that may be shown, are in no neighbourhood and have no answer "unsure"."""
    group: Rows
    """(n_points,) group of each point that an answer names; -1 for the others."""
    linked: Mask
    """(n_points,) whether it is known to belong together with another point."""
    against: Mask
    """(n_groups, n_neighbourhoods) whether a group is known to be apart from a neighbourhood."""
    implied: Rows
    """(n_implied, 2) pairs of points that belong together because there are no more than k clusters."""

    def open(self, point: int) -> Rows:
        """Neighbourhoods that the point may be in."""
        if self.group[point] < 0:
            return np.arange(len(self.members))
        return np.flatnonzero(~self.against[self.group[point]])


def find_neighbourhoods(
    evidence: Evidence, k: int, askable: Mask, order: Rows, last: int | None = None
) -> Neighbourhoods:
    """Find the neighbourhoods of points, with k clusters in all.

    A neighbourhood without an askable point does not count. If there is none, the first eligible point in
    this `order` becomes one. The group of `last` becomes one only if it is apart from all others.
    """
    groups = evidence.groups()
    group = np.full(evidence.n_rows, -1, dtype=np.int64)
    group[groups.row] = groups.number
    size = np.bincount(groups.number)
    shown = np.bincount(groups.number, weights=askable[groups.row], minlength=len(size)) > 0
    apart = groups.cannot_link
    newcomer = -1 if last is None else int(group[last])
    chosen = _choose_groups(size, apart, shown, newcomer)
    against = _against(apart, chosen, len(size))
    place_of = np.full(len(size) + 1, -1, dtype=np.int64)  # the last one is for points without a group
    place_of[chosen] = np.arange(len(chosen))
    implied = _place_implied(against, place_of, k)
    first = np.flatnonzero(np.diff(groups.number[by := np.argsort(groups.number, kind="stable")], prepend=-1))
    lead = groups.row[by][first]
    pairs = np.stack([lead[implied], lead[chosen[place_of[implied]]]], axis=1)
    place = place_of[group]
    eligible = askable & (place < 0) & ~_doubtful_points(evidence, group)
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


def _choose_groups(size: Rows, apart: Rows, shown: Mask, newcomer: int) -> Rows:
    """Choose groups that are apart from each other: the largest first, then those apart from most."""
    degree = np.bincount(apart.ravel(), minlength=len(size))
    left, chosen = shown.copy(), []
    for g in np.lexsort((-degree, -size, np.arange(len(size)) == newcomer)).tolist():
        if left[g]:
            chosen.append(g)
            from_g = np.zeros_like(left)
            from_g[apart[apart[:, 0] == g, 1]] = from_g[apart[apart[:, 1] == g, 0]] = True
            left &= from_g
    return np.array(chosen, dtype=np.int64)


def _against(apart: Rows, chosen: Rows, n_groups: int) -> Mask:
    """(n_groups, n_chosen) which groups are apart from which of the chosen ones."""
    number = np.full(n_groups, -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    against = np.zeros((n_groups, len(chosen)), dtype=bool)
    for one, other in (apart.T, apart.T[::-1]):
        is_chosen = number[other] >= 0
        against[one[is_chosen], number[other[is_chosen]]] = True
    return against


def _place_implied(against: Mask, place_of: Rows, k: int) -> Rows:
    """Place the groups for which one of k neighbourhoods is left, and return them."""
    if against.shape[1] != k:
        return np.empty(0, dtype=np.int64)
    found: Rows = np.flatnonzero((place_of[:-1] < 0) & (against.sum(axis=1) == k - 1))
    place_of[found] = against[found].argmin(axis=1)
    return found


def _doubtful_points(evidence: Evidence, group: Rows) -> Mask:
    """Points with an answer "unsure", and those that belong together with them."""
    pairs = [
        (i, j) for i, j in evidence.pairs_with_answer("unsure").tolist() if evidence.verdict(i, j) == "unsure"
    ]
    doubt = np.zeros(len(group), dtype=bool)
    points = np.array(pairs, dtype=np.int64).ravel()
    doubt[points] = True
    return doubt | (np.isin(group, group[points]) & (group >= 0))


def add_implied(evidence: Evidence, implied: Rows) -> Evidence:
    """Add what follows from the number of clusters, which is no answer but helps a clusterer.

    Pairs have one order, whatever the order of the answers. If answers show more than k clusters, an implied
    pair may be wrong; pairs that contradict an answer are left out.
    """
    pairs = [_sorted(evidence.pairs_with_answer(answer)) for answer in ("yes", "no")]
    known = Evidence(evidence.n_rows, Constraints(evidence.n_rows, *pairs))
    for i, j in implied.tolist():
        if known.verdict(i, j) is None:
            known.add(i, j, "yes")
    return known


def _sorted(pairs: Rows) -> Rows:
    return np.unique(np.sort(pairs, axis=1), axis=0).reshape(-1, 2)
