"""The list of clusters: sizes, names and typical rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.facts import Groups
from linkwise.session.snapshot import Snapshot
from linkwise.types import Labels

MOST_CLUSTERS = 200  # in the list
EXEMPLARS = 5
SAMPLE = 20_000  # rows among which exemplars are searched


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """One cluster; its number is its label, -1 for noise.

    `exemplars` are rows near its mean, the nearest first; above 20 000 rows those of a sample. `done`
    tells whether all its rows are known to belong together.
    """

    number: int
    size: int
    exemplars: tuple[int, ...]
    name: str
    done: bool
    n_answered: int


def summarize_clusters(
    labels: Labels, typical: Mapping[int, tuple[int, ...]], now: Snapshot
) -> tuple[ClusterSummary, ...]:
    """Return all clusters, the largest first; `typical` has the exemplars of these labels."""
    numbers, first, sizes = _count_rows(labels)
    names, components = now.names, now.components
    done = _find_complete(labels, components, dict(zip(numbers.tolist(), sizes.tolist(), strict=True)))
    answered = np.bincount(np.searchsorted(numbers, labels[components.row]), minlength=len(numbers))
    found = [
        ClusterSummary(number, size, typical.get(number, (row,)), names.get(number, ""), number in done, n)
        for number, row, size, n in zip(
            numbers.tolist(), first.tolist(), sizes.tolist(), answered.tolist(), strict=True
        )
    ]
    return tuple(sorted(found, key=lambda c: (-c.size, c.number)))


def _count_rows(labels: Labels) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the clusters, with the first row and the number of rows of each."""
    low = min(int(labels.min(initial=0)), 0)
    sizes = np.bincount(labels - low)
    first = np.empty(len(sizes), dtype=np.int64)
    first[(labels - low)[::-1]] = np.arange(len(labels))[::-1]
    there = np.flatnonzero(sizes)
    return there + low, first[there], sizes[there]


def find_exemplars(labels: Labels, X: NDArray[Any]) -> dict[int, tuple[int, ...]]:
    """Return rows near the mean of each cluster, the nearest first; above 20 000 rows those of a sample."""
    rows = np.arange(len(X))
    if len(X) > SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(len(X), SAMPLE, replace=False))
    found = labels[rows]
    order = np.argsort(found, kind="stable")
    starts = np.flatnonzero(np.diff(found[order], prepend=found.min(initial=0) - 1))
    parts = np.split(rows[order], starts[1:])
    typical = {}
    for number, part in zip(found[order[starts]].tolist(), parts, strict=True):
        distance = ((X[part] - X[part].mean(axis=0)) ** 2).sum(axis=1)
        nearest = np.argsort(distance, kind="stable")[:EXEMPLARS]
        typical[number] = tuple(part[nearest].tolist())
    return typical


def _find_complete(labels: Labels, components: Groups, sizes: dict[int, int]) -> set[int]:
    """Return the clusters of two rows or more whose rows are all in one component."""
    if len(components.row) == 0:
        return set()
    keys, counts = np.unique(
        np.stack([labels[components.row].astype(np.int64), components.number], axis=1),
        axis=0,
        return_counts=True,
    )
    return {
        label
        for (label, _), count in zip(keys.tolist(), counts.tolist(), strict=True)
        if count == sizes[label] > 1
    }
