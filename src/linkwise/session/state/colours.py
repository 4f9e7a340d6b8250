"""The number and the colour of each cluster, which stay with its rows from answer to answer.

A learner numbers its clusters anew after each answer. People see another number, and exports hold it: each
cluster is given one when it appears, and keeps it while it keeps most of its rows. A number is given once, so
no cluster has the number of one that is gone (only when as many numbers as rows were given, they are given
again). Numbers and colours depend only on the events that count. They are therefore the same after a restart
and for a second reader, and after an undo they are as they were before the answer.

Not more than twelve colours can be told apart. Therefore the colour of a cluster is a shade: the number of a
colour family, and its place in the family. As long as there have never been more than twelve clusters, each
has a family of its own. A further cluster joins the family of the cluster that it split off from, so clusters
of one family lie near each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.learn.item_labels import Shown, count_labels, count_shared_rows, read_labels, renumber
from linkwise.session.journal.events import Event
from linkwise.types import Labels

N_FAMILIES = 12
ROUNDS = 10  # of k-means, when clusters that are there at the start are grouped into families
Shade = tuple[int, int]
"""A colour family, and the place in it."""


class Identity(NamedTuple):
    """What tells the clusters apart after an event.

    `numbers` are those that people see, of each cluster of the learner, and `shades` their colour
    families and shades. So many numbers were given so far.
    """

    numbers: tuple[int, ...] = ()
    shades: tuple[Shade, ...] = ()
    n_given: int = 0


class Identities:
    """The numbers and colours after each event of a run.

    When a run is repeated after an undo, they are computed from the first event that differs. The rows
    `X` group the clusters at the start into families if there are more than twelve.
    """

    def __init__(self, X: NDArray[Any] | None = None) -> None:
        self.now = Identity()
        self._X = X
        self._steps: list[tuple[list[Event], Identity]] = []  # events, and what follows them
        self._n_applied = 0

    def begin(
        self, imported: Sequence[Event], added: Sequence[Event], labels: Shown, first: Callable[[], Shown]
    ) -> None:
        """Start with the events before the first answer: the imports that come first, and all others.

        `labels` follow from both. The number of a cluster is that of the learner before a person
        added anything, by the labels that `first` returns.
        """
        self._n_applied = 0
        if self._repeat_step(list(imported)) and self._repeat_step(list(added)):
            return
        start = first() if added else labels
        if self._n_applied == 0:
            n_clusters = count_clusters(start)
            shades = tuple(begin_shades(start, self._X))
            self._add_step(imported, Identity(tuple(range(n_clusters)), shades, n_clusters))
        self._add_step(added, carry_identity(self.now, start, labels))

    def follow(self, event: Event, before: Shown, after: Shown) -> None:
        """Add one event, with the labels before and after it."""
        if not self._repeat_step([event]):
            self._add_step([event], carry_identity(self.now, before, after))

    def go_back(self, n_events: int) -> None:
        """Go back to the state some events after the start."""
        self._n_applied = n_events + 2
        self.now = self._steps[n_events + 1][1]

    def list_steps(self) -> list[Identity]:
        """List what held at the start, and after each event since."""
        return [identity for _, identity in self._steps[1 : self._n_applied]]

    def _repeat_step(self, events: list[Event]) -> bool:
        """Repeat the next step of the previous run if its events are the same; return whether they are."""
        if self._n_applied == len(self._steps) or self._steps[self._n_applied][0] != events:
            return False
        self.now = self._steps[self._n_applied][1]
        self._n_applied += 1
        return True

    def _add_step(self, events: Sequence[Event], now: Identity) -> None:
        """Replace the rest of the previous run by a new step."""
        self._steps[self._n_applied :] = [(list(events), now)]
        self.now = now
        self._n_applied += 1


def count_clusters(labels: Shown) -> int:
    """Return the number of clusters of the learner; noise is none."""
    return int(labels.max()) + 1 if isinstance(labels, np.ndarray) else len(count_labels(labels))


def number_rows(labels: Shown, numbers: Sequence[int]) -> Shown:
    """Give each cluster of the learner the number that people see; noise stays -1."""
    if list(numbers) == list(range(len(numbers))):
        return labels
    return renumber(labels, np.array([*numbers, -1], dtype=np.int32))


def match_numbers(before: Labels, after: Labels) -> tuple[int, ...]:
    """Find by which numbers clusters keep those that people have seen, when a replay gives them others.

    `before` is -1 for noise and for rows that are new. Returns the number to show for each number of a
    replay; higher ones stay, and no two are the same. A cluster that continues none of the earlier ones
    gets a higher number than these.
    """
    heirs, _ = find_heirs(before, after)
    others = [number for number in np.unique(after[after >= 0]).tolist() if number not in heirs]
    found = heirs | dict(zip(others, count(int(before.max()) + 1)))
    n = 1 + max(int(before.max()), int(after.max()), *found.values())
    left = iter(sorted(set(range(n)) - set(found.values())))
    return tuple(found[number] if number in found else next(left) for number in range(n))


def show_numbers(numbers: Sequence[int], shown: Sequence[int]) -> tuple[int, ...]:
    """Replace numbers of a replay by those of `match_numbers`."""
    return tuple(shown[number] if number < len(shown) else number for number in numbers)


def carry_identity(identity: Identity, before: Shown, after: Shown) -> Identity:
    """Carry numbers and shades of the clusters before an event over to the clusters after it.

    Each new cluster continues the old one with which it shares most rows, if no other one does. All
    others are given new numbers, in the order of the clusters. Noise is -1 and has neither number nor
    shade.
    """
    if before is after:
        return identity
    heirs, parents = find_heirs(before, after)
    n_clusters = count_clusters(after)
    found = {new: identity.numbers[old] for new, old in heirs.items()}
    taken, n_given = set(found.values()), identity.n_given
    for new in range(n_clusters):
        if new not in found:
            is_left = n_given < len(after)  # session files hold no higher number
            found[new] = n_given if is_left else next(n for n in count() if n not in taken)
            taken.add(found[new])
            n_given += is_left
    shades = carry_shades(identity.shades, heirs, parents, n_clusters)
    return Identity(tuple(found[new] for new in range(n_clusters)), tuple(shades), n_given)


def find_heirs(before: Shown, after: Shown) -> tuple[dict[int, int], dict[int, int]]:
    """Find the old cluster that each new one continues, if any, and the one that most of its rows come from.

    Each old cluster has at most one heir. Noise is no parent.
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


# ---------------------------------------------------------------- families
def begin_shades(labels: Shown, X: NDArray[Any] | None) -> list[Shade]:
    """Give each cluster a family of its own; if there are too few, clusters near each other share one.

    Without the rows, families are given in turn.
    """
    n_clusters = count_clusters(labels)
    if n_clusters <= N_FAMILIES or X is None:
        return [(cluster % N_FAMILIES, cluster // N_FAMILIES) for cluster in range(n_clusters)]
    sizes = [0] * N_FAMILIES
    shades = []
    for family in group_clusters(read_labels(labels), X).tolist():
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
