"""The colour of each cluster, as a number that stays with its rows from answer to answer.

Colours depend only on the events that count. They are therefore the same after a restart and for a second
reader, and after an undo they are as they were before the answer.

Not more than twelve colours can be told apart. Therefore a cluster also has a shade: the number of a colour
family, and its place in the family. As long as there have never been more than twelve clusters, each has a
family of its own, the one with the number of its colour. A further cluster joins the family of the cluster
that it split off from, so clusters of one family lie near each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.asking.learner import Labels
from linkwise.session.events import Event

N_FAMILIES = 12
ROUNDS = 10  # of k-means, when clusters that are there at the start are grouped into families
Shade = tuple[int, int]
"""A colour family, and the place in it."""


class Colours:
    """The colours after each event of a run.

    When a run is repeated after an undo, colours are computed from the first event that differs.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), optional
        The rows. They group the clusters at the start into families if there are more than twelve.

    Attributes
    ----------
    now : list of int
        The colour of each cluster after the last event.
    shades : list of (int, int)
        The family and the shade of each cluster.
    """

    def __init__(self, X: NDArray[Any] | None = None) -> None:
        self.now: list[int] = []
        self.shades: list[Shade] = []
        self._X = X
        self._steps: list[tuple[list[Event], list[int], list[Shade]]] = []  # events, and what follows them
        self._n_applied = 0

    def begin(self, known: Sequence[Event], labels: Labels) -> None:
        """Start with the events before the first answer: there the colour of a cluster is its number."""
        self._n_applied = 0
        if not self._repeat_step(list(known)):
            self._add_step(list(known), list(range(int(labels.max()) + 1)), begin_shades(labels, self._X))

    def follow(self, event: Event, before: Labels, after: Labels) -> None:
        """Add one event, with the labels before and after it."""
        if self._repeat_step([event]):
            return
        if before is after:
            self._add_step([event], self.now, self.shades)
        else:
            heirs, parents = find_heirs(before, after)
            n_clusters = int(after.max()) + 1
            shades = carry_shades(self.shades, heirs, parents, n_clusters)
            self._add_step([event], fill_colours(self.now, heirs, n_clusters), shades)

    def go_back(self, n_events: int) -> None:
        """Go back to the state some events after the start."""
        self._n_applied = n_events + 1
        _, self.now, self.shades = self._steps[n_events]

    def _repeat_step(self, events: list[Event]) -> bool:
        """Repeat the next step of the previous run if its events are the same; return whether they are."""
        if self._n_applied == len(self._steps) or self._steps[self._n_applied][0] != events:
            return False
        _, self.now, self.shades = self._steps[self._n_applied]
        self._n_applied += 1
        return True

    def _add_step(self, events: list[Event], colours: list[int], shades: list[Shade]) -> None:
        """Replace the rest of the previous run by a new step."""
        self._steps[self._n_applied :] = [(events, colours, shades)]
        self.now, self.shades = colours, shades
        self._n_applied += 1


def carry_colours(before: Labels, colours: Sequence[int], after: Labels) -> list[int]:
    """Carry the colours of the clusters before an answer over to the clusters after it.

    Clusters get new numbers after an answer, but a colour should stay with its rows: each new cluster takes
    the colour of the old one with which it shares most rows, if that is free; the others take the lowest free
    numbers, in the order of the clusters. No two clusters have the same colour.

    Parameters
    ----------
    before, after : ndarray of shape (n_rows,)
        Clusters 0, 1, ...; noise is -1 and has no colour.
    colours : sequence of int
        The colour of each cluster of `before`.

    Returns
    -------
    list of int
        The colour of each cluster of `after`.
    """
    return fill_colours(colours, find_heirs(before, after)[0], int(after.max()) + 1)


def find_heirs(before: Labels, after: Labels) -> tuple[dict[int, int], dict[int, int]]:
    """Find the old cluster that each new one continues, if any, and the one that most of its rows come from.

    Returns
    -------
    heirs : dict of int to int
        By new cluster, the old one that it continues. Each old cluster has at most one heir.
    parents : dict of int to int
        By new cluster, the old one with which it shares most rows. Noise is no parent.
    """
    source, target, rows = count_shared_rows(before, after)
    heirs: dict[int, int] = {}
    parents: dict[int, int] = {}
    taken: set[int] = set()
    for at in np.lexsort((target, source, -rows)).tolist():
        old, new = int(source[at]), int(target[at])
        if min(old, new) < 0:
            continue
        parents.setdefault(new, old)
        if new not in heirs and old not in taken:
            heirs[new] = old
            taken.add(old)
    return heirs, parents


def fill_colours(colours: Sequence[int], heirs: Mapping[int, int], n_clusters: int) -> list[int]:
    """Give heirs their colours, and the other clusters the lowest free numbers."""
    taken = {colours[old] for old in heirs.values()}
    free = (colour for colour in count() if colour not in taken)
    return [colours[heirs[new]] if new in heirs else next(free) for new in range(n_clusters)]


# ---------------------------------------------------------------- families
def begin_shades(labels: Labels, X: NDArray[Any] | None) -> list[Shade]:
    """Give each cluster a family of its own; if there are too few, clusters near each other share one.

    Without the rows, families are given in turn.
    """
    n_clusters = int(labels.max()) + 1
    if n_clusters <= N_FAMILIES or X is None:
        return [(cluster % N_FAMILIES, cluster // N_FAMILIES) for cluster in range(n_clusters)]
    sizes = [0] * N_FAMILIES
    shades = []
    for family in group_clusters(labels, X).tolist():
        shades.append((family, sizes[family]))
        sizes[family] += 1
    return shades


def group_clusters(labels: Labels, X: NDArray[Any]) -> NDArray[np.int64]:
    """Return the family of each cluster, by k-means of their means, in the order of the clusters."""
    there, scale = labels >= 0, max(float(X.max()), -float(X.min())) or 1.0
    members, sizes = labels[there], np.maximum(np.bincount(labels[there]), 1)
    means = np.stack([np.bincount(members, column[there] / scale) / sizes for column in X.T], axis=1)
    centers, nearest = means[:1], np.zeros(len(means), dtype=np.int64)
    while len(centers) < N_FAMILIES:  # the farthest mean from all centres is the next one
        gap = squared_distances(means, centers).min(axis=1)
        centers = np.vstack([centers, means[[gap.argmax()]]])
    for _ in range(ROUNDS):
        nearest = squared_distances(means, centers).argmin(axis=1)
        for family in np.unique(nearest).tolist():
            centers[family] = means[nearest == family].mean(axis=0)
    _, first, family = np.unique(nearest, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[family], dtype=np.int64)


def squared_distances(means: NDArray[np.float64], centers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance of each mean to each centre."""
    return np.stack([((means - center) ** 2).sum(axis=1) for center in centers], axis=1)


def carry_shades(
    shades: Sequence[Shade], heirs: Mapping[int, int], parents: Mapping[int, int], n_clusters: int
) -> list[Shade]:
    """Carry the shades of the clusters before an answer over to the clusters after it.

    Heirs keep their shades. Another cluster takes the lowest family that no cluster has. If there is none, it
    joins the family of its parent, or the smallest one if it has no parent, with the lowest free shade.
    """
    found = {new: shades[old] for new, old in heirs.items()}
    members: list[set[int]] = [set() for _ in range(N_FAMILIES)]
    for family, shade in found.values():
        members[family].add(shade)
    for new in range(n_clusters):
        if new in found:
            continue
        family = min(range(N_FAMILIES), key=lambda each: len(members[each]))
        if members[family] and new in parents:
            family = shades[parents[new]][0]
        shade = next(shade for shade in count() if shade not in members[family])
        found[new] = family, shade
        members[family].add(shade)
    return [found[new] for new in range(n_clusters)]


# ---------------------------------------------------------------- rows in common
def count_shared_rows(
    before: Labels, after: Labels
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of clusters before and after an answer that share rows, and the number of shared rows."""
    low, least = int(before.min()), int(after.min())
    width = int(after.max()) - least + 1
    pairs = (before.astype(np.int64) - low) * width + (after - least)
    if pairs.max() < 4 * len(pairs):
        counts = np.bincount(pairs)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, counts = np.unique(pairs, return_counts=True)
    return keys // width + low, keys % width + least, counts
