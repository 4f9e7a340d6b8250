"""The clusters that a person asks for in the dialogue: the largest, a range, or those that a text finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from linkwise.app.project.cluster_search import MOST_HITS, RowHits, cluster_names, create_matcher, find_rows
from linkwise.types import Labels

PAGE = 30  # clusters that are listed at once
MOST_LISTED = 300  # of a range
RANGE = re.compile(r"(\d{1,9}) *[-–] *(\d{1,9})")


@dataclass(frozen=True, slots=True)
class ListedCluster:
    """A cluster of the list; the largest has rank 1.

    `found` are the rows that a search found in it, and `first` its first rows, so that a person
    recognises it without a name.
    """

    rank: int
    number: int
    size: int
    name: str
    found: RowHits | None = None
    first: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterListing:
    """Some of the clusters, the largest first.

    `wanted` is the text that was searched for; empty if a range was asked for, or the largest clusters.
    `n_more` clusters come next, and are not listed.
    """

    wanted: str
    clusters: tuple[ListedCluster, ...]
    n_clusters: int
    n_more: int


def list_clusters(
    wanted: str, labels: Labels, names: Mapping[int, str], text_of: Callable[[int], str]
) -> ClusterListing:
    """List the largest clusters, those at places by size such as ``31-60``, or those that hold a text.

    The text is searched for in the names of clusters, and in what `text_of` gives of rows: the name of a
    row, or its name and its text.
    """
    ranked = _rank_clusters(labels, names)
    wanted = wanted.strip()
    if wanted and not RANGE.fullmatch(wanted):
        matches = create_matcher(wanted)
        hits = find_rows(matches, text_of, labels)
        found = [
            replace(c, found=hits.get(c.number))
            for c in ranked
            if c.number in hits or any(map(matches, cluster_names(c.number, c.name)))
        ]
        listed, n_more = found[:PAGE], len(found[PAGE:])
    else:
        wanted, (first, last) = "", _read_range(wanted)
        listed = ranked[first - 1 : min(last, first - 1 + MOST_LISTED)]
        n_more = len(ranked) - listed[-1].rank if listed else 0
    described = tuple(replace(c, first=_first_rows(labels, c.number)) for c in listed)
    return ClusterListing(wanted, described, len(ranked), n_more)


def _first_rows(labels: Labels, number: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(labels == number)[:MOST_HITS].tolist())


def _rank_clusters(labels: Labels, names: Mapping[int, str]) -> list[ListedCluster]:
    """Return all clusters, the largest first."""
    numbers, sizes = np.unique(labels, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    pairs = zip(numbers[order].tolist(), sizes[order].tolist(), strict=True)
    return [ListedCluster(rank, k, size, names.get(k, "")) for rank, (k, size) in enumerate(pairs, 1)]


def _read_range(wanted: str) -> tuple[int, int]:
    """Return the first and the last place; blank stands for the largest clusters."""
    found = RANGE.fullmatch(wanted)
    if found is None:
        return 1, PAGE
    first, last = sorted(int(number) for number in found.groups())
    return max(first, 1), max(last, 1)
