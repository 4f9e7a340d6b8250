"""Clusters of records of the same things: what their rows have in common, and what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.reasons.cluster_names import NOISE, call_cluster
from linkwise.reasons.explanation import read_labels
from linkwise.reasons.rules import Name
from linkwise.reasons.sentences import format_percent
from linkwise.wording import count_noun, shorten

LONGEST = 60  # characters of a value
MOST_VALUES = 4  # of one column that differ
MOST_ROWS = 8  # that are named


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """A cluster of several records.

    Attributes
    ----------
    cluster : str or int
    rows : tuple of int
    shared : dict of str to str
        The columns in which all rows agree that have a value, with the value.
    different : dict of str to tuple of str
        The other columns with their values, the most frequent first.
    """

    cluster: Name
    rows: tuple[int, ...]
    shared: dict[str, str]
    different: dict[str, tuple[str, ...]]

    def lines(self, ids: Sequence[str]) -> list[str]:
        """Lines about the cluster; `ids` has the names of all rows."""
        more = len(self.rows) - MOST_ROWS
        named = ", ".join(shorten(ids[row]) for row in self.rows[:MOST_ROWS])
        found = [
            f"{call_cluster(self.cluster)}: {count_noun(len(self.rows), 'row')}"
            f" ({named}{f' and {more} more' if more > 0 else ''})"
        ]
        if self.shared:
            shared = (f"{name} {shorten(value, LONGEST)}" for name, value in self.shared.items())
            found.append(f"  the same: {', '.join(shared)}")
        for name, values in self.different.items():
            rest = len(values) - MOST_VALUES
            some = " · ".join(shorten(value, LONGEST) for value in values[:MOST_VALUES])
            found.append(f"  {name} differs: {some}{f' and {rest} more' if rest > 0 else ''}")
        return found


@dataclass(frozen=True, slots=True)
class Duplicates:
    """All clusters of several records.

    Attributes
    ----------
    groups : list of DuplicateGroup
        In the order of the labels.
    n_alone : int
        Number of rows that are alone in their cluster, or in none.
    """

    groups: list[DuplicateGroup]
    n_alone: int

    @property
    def headline(self) -> str:
        """How many clusters there are, and in which columns their rows agree."""
        n = len(self.groups)
        alone = f"{count_noun(self.n_alone, 'row')} {'is' if self.n_alone == 1 else 'are'} alone."
        if not n:
            return f"No two rows are in one cluster. {alone}"
        agree: Counter[str] = Counter(name for one in self.groups for name in one.shared)
        known = agree + Counter(name for one in self.groups for name in one.different)
        shares = sorted(((agree[name] / known[name], name) for name in known), reverse=True)
        said = ", ".join(f"{name} in {format_percent(share)}" for share, name in shares)
        return f"{count_noun(n, 'cluster')} of several rows agree: {said} of those with a value. {alone}"


def compare_duplicates(labels: Any, cells: Mapping[str, Sequence[str]]) -> Duplicates:
    """Compare the rows of each cluster of several rows by their cells.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        The cluster of each row; -1 is none.
    cells : dict of str to sequence of str
        The cells of each column, as a person reads them; empty where there is none.

    Returns
    -------
    Duplicates
    """
    of_rows = read_labels(labels)
    names, group, sizes = np.unique(of_rows, return_inverse=True, return_counts=True)
    found, n_alone = [], 0
    for at, name in enumerate(names.tolist()):
        if sizes[at] == 1 or name == NOISE:
            n_alone += int(sizes[at])
            continue
        found.append(_compare_rows(name, np.flatnonzero(group == at), cells))
    return Duplicates(found, n_alone)


def _compare_rows(name: Name, rows: NDArray[np.intp], cells: Mapping[str, Sequence[str]]) -> DuplicateGroup:
    shared, different = {}, {}
    for column, values in cells.items():
        counts = Counter(values[row] for row in rows.tolist() if values[row])
        if len(counts) == 1:
            shared[column] = next(iter(counts))
        elif counts:
            different[column] = tuple(value for value, _ in counts.most_common())
    return DuplicateGroup(name, tuple(rows.tolist()), shared, different)
