"""The pairs that say where rows belong which a person moves: to another cluster, out of one, or together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.facts import Fact, Groups
from linkwise.errors import SessionError
from linkwise.types import Labels

Target = int | Literal["new"] | None
"""Where rows are moved: to a cluster, to a new one, or (None) out of the cluster that they are in."""


def pair_moved_rows(
    rows: Sequence[int], to: Target, labels: Labels, groups: Groups, X: NDArray[Any] | None
) -> list[Fact]:
    """Return the fewest pairs that say where rows belong.

    A row that goes to a cluster is joined with the lead of that cluster, and separated from the lead of its
    own; rows that leave a cluster are separated from its lead alone. Rows that become a cluster are joined
    with the first of them, which is separated from the lead of every other cluster.

    Parameters
    ----------
    rows : sequence of int
        The rows that are moved, each once.
    to : int, "new" or None
    labels : ndarray of shape (n_rows,)
        The present clusters; noise is -1.
    groups : Groups
        What answers join.
    X : ndarray of shape (n_rows, n_features) or None
        The data; without them the first row of a cluster without answers leads it.

    Raises
    ------
    SessionError
        The rows cannot be moved there.
    """
    leads = find_leads(labels, groups, X, without=rows)
    homes = {row: int(labels[row]) for row in rows}
    if to == "new":
        first, *others = rows
        return [
            *(Fact(first, row, "yes") for row in others),
            *(Fact(first, lead, "no") for lead in leads.values()),
        ]
    if to is None:
        stays = next((homes[row] for row in rows if homes[row] not in leads), None)
        if stays is not None:
            raise SessionError(
                "All rows of a cluster are to leave it, so none stays to differ from. Pass fewer rows, or the"
                " number of another cluster."
                if stays >= 0
                else "Rows in no cluster cannot leave one. Pass the number of a cluster."
            )
        return [Fact(row, leads[homes[row]], "no") for row in rows]
    if to not in leads:
        raise SessionError(
            f"Cluster {to} does not exist, or all its rows are to be moved. Pass the number of a cluster of"
            " other rows."
        )
    lead = _find_lead_of(rows, to, labels, groups, X)
    lead = leads[to] if lead is None else lead
    facts = []
    for row in (row for row in rows if homes[row] != to):
        facts.append(Fact(row, lead, "yes"))
        if homes[row] in leads:
            facts.append(Fact(row, leads[homes[row]], "no"))
    return facts


def list_moved_rows(facts: Sequence[Fact], labels: Labels) -> list[int]:
    """Return the rows that the pairs of `pair_moved_rows` move out of the clusters that they were in.

    Rows that become a cluster differ from all leads, also from that of the row that they are joined with.
    """
    differs = {(fact.first, int(labels[fact.second])) for fact in facts if fact.answer == "no"}
    joined = {
        fact.second
        for fact in facts
        if fact.answer == "yes" and (fact.first, int(labels[fact.second])) in differs
    }
    return sorted({fact.first for fact in facts} | joined)


def _find_lead_of(
    rows: Sequence[int], to: int, labels: Labels, groups: Groups, X: NDArray[Any] | None
) -> int | None:
    """Return the lead of a cluster without rows that are known to differ from one of `rows`.

    The cluster may still hold rows that do not belong there, and its lead may be one of them.
    """
    number = np.full(len(labels), -1, dtype=np.int64)
    number[groups.row] = groups.number
    mine = set(number[list(rows)].tolist()) - {-1}
    others = {other for pair in groups.apart for other in pair if mine & set(pair)}
    differing = groups.row[np.isin(groups.number, list(others))]
    free = np.where(labels == to, 0, -1)
    free[differing] = -1
    return find_leads(free, groups, X, without=rows).get(0)


def find_leads(
    labels: Labels, groups: Groups, X: NDArray[Any] | None, *, without: Sequence[int] = ()
) -> dict[int, int]:
    """Return the row that stands for each cluster: one of its largest group of answers, or the most typical.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Clusters; noise, which nothing stands for, is -1.
    groups : Groups
    X : ndarray of shape (n_rows, n_features) or None
    without : sequence of int
        Rows that stand for nothing. A cluster without other rows has no lead.
    """
    free = labels >= 0
    free[list(without)] = False
    leads: dict[int, int] = {}
    for rows in sorted((group[free[group]] for group in groups.rows), key=len, reverse=True):
        if len(rows) > 1:
            leads.setdefault(int(labels[rows[0]]), int(rows[0]))
    for number in np.unique(labels[free]).tolist():
        if number not in leads:
            members = np.flatnonzero(free & (labels == number))
            leads[number] = int(members[0 if X is None else _find_typical(np.asarray(X[members]))])
    return dict(sorted(leads.items()))


def _find_typical(X: NDArray[Any]) -> int:
    """Return the row nearest to the mean."""
    return int(np.square(X - X.mean(axis=0)).sum(axis=1).argmin())
