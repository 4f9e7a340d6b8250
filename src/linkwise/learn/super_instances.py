"""Super-instances: sets of rows that are treated as one; how they are split and grouped.

Shared by COBRA and COBRAS (Van Craenendonck et al., 2017 and 2018).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.spatial.distance import cdist

from linkwise.cluster.kmeans.lloyd import k_means
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer
from linkwise.learn.learner import Problem, Question
from linkwise.learn.memo import Memo
from linkwise.native import nearest_rows
from linkwise.parallel import n_threads
from linkwise.types import Labels

WHOLE: tuple[int, ...] = ()  # place of the super-instance that holds all rows
RECENT = 4  # splits whose parts stay in memory: a split into 2 is often needed again
MOST_UNSURE = 3  # pairs that are tried before the relation of two parts is left open
TABLE = 2**22  # values below it are looked up in a table, others by bisection


@dataclass(frozen=True, slots=True, eq=False)
class SuperInstance:
    """Rows treated as one, in ascending order; its place in the tree of splits seeds all random numbers.

    The `representative` is the askable row nearest to the mean, the lowest among equals.
    """

    place: tuple[int, ...]
    rows: NDArray[np.int64]
    mean: NDArray[np.float64]
    representative: int
    n_askable: int


@dataclass(slots=True)
class Splitter:
    """Split super-instances of one data set by k-means, and remember every split.

    Which rows may be shown decides which parts there are, so a split depends on them and on its place
    alone: a run that is repeated computes nothing again.
    """

    X: NDArray[Any]
    seed: int
    n_init: int | Literal["auto"]
    askable: NDArray[np.bool_] | None
    memo: Memo = field(default_factory=Memo)
    askable_means: bool = False
    """Whether means are those of the askable rows alone."""
    _recent: dict[tuple[tuple[int, ...], int], list[SuperInstance]] = field(default_factory=dict)
    _taken: tuple[NDArray[np.int64], NDArray[Any]] | None = None
    _shown: bytes = b""  # a digest of the rows that may be shown

    def __post_init__(self) -> None:
        if self.askable is not None:
            self._shown = blake2b(self.askable.tobytes(), digest_size=16).digest()

    def whole(self) -> SuperInstance:
        """All rows as one super-instance."""
        rows = np.arange(len(self.X))
        return replace(self._parts(WHOLE, rows, np.zeros(len(rows), np.uint16), 0)[0], place=WHOLE)

    def split(self, whole: SuperInstance, k: int) -> list[SuperInstance]:
        """At most `k` parts of a super-instance; a single one when it cannot be split."""
        if whole.n_askable < 2:
            return [whole]
        if (whole.place, k) not in self._recent:
            if len(self._recent) == RECENT:
                self._recent.pop(next(iter(self._recent)))
            self._recent[whole.place, k] = self._split(whole, k)
        return self._recent[whole.place, k]

    def _split(self, whole: SuperInstance, k: int) -> list[SuperInstance]:
        labels = self.memo.get(
            "split",
            (self._shown, whole.place, k),
            lambda: self._labels(whole, min(k, len(whole.rows))),
        )
        if not labels.any():
            return [whole]
        parts = self._parts(whole.place, whole.rows, labels, k)
        return parts if len(parts) > 1 else [whole]

    def _labels(self, whole: SuperInstance, k: int) -> NDArray[np.uint16]:
        if k == len(whole.rows) == 2:
            first, second = self.X[whole.rows]
            return np.array([0, (first != second).any()], dtype=np.uint16)
        found = k_means(self._take(whole.rows), k, (self.seed, *whole.place, k), n_init=self.n_init)
        return found.labels.astype(np.uint16)

    def _take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The rows of X; kept, since a super-instance is split into 2 and then into k."""
        if len(rows) == len(self.X):
            return self.X
        if self._taken is None or self._taken[0] is not rows:
            self._taken = (rows, self.X.take(rows, axis=0))
        return self._taken[1]

    def _parts(
        self, place: tuple[int, ...], rows: NDArray[np.int64], labels: NDArray[np.uint16], k: int
    ) -> list[SuperInstance]:
        """Super-instances of labelled rows; parts without an askable row are given away."""
        inside = self._take(rows)
        allowed = None if self.askable is None else self.askable[rows]
        means = self._centers(inside, labels, allowed)
        nearest = nearest_rows(inside, labels.astype(np.int32), means, allowed, n_threads())
        if (nearest < 0).any() and (nearest >= 0).any():
            labels = _give_away(inside, labels, means, nearest)
            means = self._centers(inside, labels, allowed)
            nearest = nearest_rows(inside, labels.astype(np.int32), means, allowed, n_threads())
        order = np.argsort(labels, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        return [
            SuperInstance(
                (*place, k, j),
                rows[part],
                means[j],
                int(rows[nearest[j]]) if nearest[j] >= 0 else -1,
                len(part) if allowed is None else int(allowed[part].sum()),
            )
            for j, part in enumerate(parts)
        ]

    def _centers(
        self, X: NDArray[Any], labels: NDArray[np.uint16], allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.float64]:
        """Means of the labelled rows; with `askable_means`, of the askable ones if there are any."""
        means = _means(X, labels)
        if self.askable_means and allowed is not None and allowed.any():
            present, compact = np.unique(labels[allowed], return_inverse=True)
            means[present] = _means(X[allowed], compact.ravel().astype(np.uint16))
        return means


def _means(X: NDArray[Any], labels: NDArray[np.uint16]) -> NDArray[np.float64]:
    counts = np.bincount(labels)
    member = csc_array((np.ones(len(X)), labels, np.arange(len(X) + 1)), shape=(len(counts), len(X)))
    return np.asarray(member @ X) / counts[:, None]


def _give_away(
    X: NDArray[Any], labels: NDArray[np.uint16], means: NDArray[np.float64], nearest: NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Rows of each part without a representative go to the part whose representative is nearest."""
    kept, orphans = np.flatnonzero(nearest >= 0), np.flatnonzero(nearest < 0)
    heir = np.arange(len(means))
    heir[orphans] = kept[cdist(means[orphans], X[nearest[kept]]).argmin(axis=1)]
    heirs, compact = np.unique(heir, return_inverse=True)
    assert len(heirs) == len(kept)
    return compact.ravel()[labels].astype(np.uint16)


@dataclass(slots=True)
class Partition:
    """All rows as disjoint super-instances; `at` is the position of the one that holds each row."""

    instances: list[SuperInstance]
    at: NDArray[np.int32]
    _distance: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, instances: list[SuperInstance], n_rows: int) -> Partition:
        """The partition into the given super-instances."""
        at = np.empty(n_rows, dtype=np.int32)
        for number, instance in enumerate(instances):
            at[instance.rows] = number
        return cls(instances, at)

    def replace(self, number: int, parts: list[SuperInstance]) -> None:
        """Put the parts of one super-instance in its place and at the end."""
        self.instances = [*self.instances]  # copies of the partition share both
        self.at = self.at.copy()
        self.instances[number] = parts[0]
        for part in parts[1:]:
            self.at[part.rows] = len(self.instances)
            self.instances.append(part)
        self._distance = None

    def fork(self) -> Partition:
        """Copy the partition, so that super-instances can be split in one of both."""
        return replace(self)

    @property
    def distance(self) -> NDArray[np.float64]:
        """Distances between the means; worked out only where something is left to ask."""
        if self._distance is None:
            self._distance = _between(self.instances)
        return self._distance

    def impure(self, evidence: Evidence) -> set[int]:
        """Positions of the super-instances that hold rows known to be apart."""
        groups = evidence.groups()
        n = len(self.instances)
        held = _distinct(groups.number * n + self.at[groups.row])  # group and super-instance, by group
        group, number = np.divmod(held, n)
        pair, place = _matches(group, groups.cannot_link[:, 0])
        both = _among(held, groups.cannot_link[pair, 1] * n + number[place])
        return set(number[place[both]].tolist())

    def representatives(self) -> NDArray[np.int64]:
        """Representative row of every super-instance."""
        return np.array([s.representative for s in self.instances])

    def row_representatives(self) -> NDArray[np.int64]:
        """The representative of each row's super-instance."""
        return self.representatives().take(self.at)


def _between(instances: list[SuperInstance]) -> NDArray[np.float64]:
    means = np.array([s.mean for s in instances])
    return np.asarray(cdist(means, means))


class Node(NamedTuple):
    """A super-instance without its rows."""

    place: tuple[int, ...]
    mean: NDArray[np.float64]
    representative: int
    size: int

    @classmethod
    def of(cls, instance: SuperInstance) -> Node:
        """What is kept of a super-instance that is split."""
        return cls(instance.place, instance.mean, instance.representative, len(instance.rows))


class Split(NamedTuple):
    """A super-instance, its parts, and the number of questions that were answered before the split."""

    whole: Node
    parts: tuple[Node, ...]
    n_questions: int


@dataclass(slots=True)
class SuperInstanceState:
    """One run of COBRA or COBRAS.

    `representatives` has that of each row's super-instance in the clustering that is shown; None before
    one is. `splits` are all splits of the partition so far, and `open` is the question that waits for its
    answer.
    """

    splitter: Splitter
    partition: Partition
    evidence: Evidence
    budget: int | None = None
    representatives: NDArray[np.int64] | None = None
    splits: list[Split] = field(default_factory=list)
    open: Question | None = None

    def fork(self, problem: Problem) -> Self:
        """Copy the state, with the evidence of a copy of the problem. Both remember splits together."""
        return replace(
            self,
            partition=self.partition.fork(),
            evidence=problem.evidence,
            budget=problem.budget,
            splits=[*self.splits],
        )

    def record_split(self, whole: SuperInstance, parts: list[SuperInstance]) -> None:
        """Remember that parts have taken the place of a super-instance."""
        nodes = tuple(Node.of(part) for part in parts)
        self.splits.append(Split(Node.of(whole), nodes, self.evidence.n_questions))


# ---------------------------------------------------------------- grouping by evidence
@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Clusters of super-instances, as far as the evidence tells, numbered in order of their first rows.

    `apart` tells which clusters are known to differ; it is True on the diagonal.
    """

    cluster: NDArray[np.int32]
    apart: NDArray[np.bool_]

    def labels(self, partition: Partition) -> Labels:
        """Cluster of every row."""
        return self.cluster.take(partition.at)


def group(partition: Partition, evidence: Evidence) -> Grouping:
    """Group super-instances by all answers ever given, and by all that follows from them.

    Representatives join super-instances and hold them apart. Any other row only holds its
    super-instance apart, from what the row is known to differ from. It joins nothing: a part that an outlier
    joins is lost until it is split again, while one that is held apart wrongly is corrected then.
    """
    groups = evidence.groups()
    at = partition.at[groups.row]
    represents = partition.representatives()[at] == groups.row
    n_groups = int(groups.number.max(initial=-1)) + 1
    key = n_groups + np.arange(len(partition.instances))  # super-instances that no answer names
    key[at[represents]] = groups.number[represents]
    cluster = _numbered(partition, key)

    n_keys = n_groups + len(key)
    cluster_of = np.full(n_keys, -1)  # of each group and each of the others, where there is one
    cluster_of[key] = cluster
    foes = np.vstack([groups.cannot_link, groups.cannot_link[:, ::-1]])
    foes = foes[cluster_of[foes[:, 1]] >= 0]
    speaks = _distinct(groups.number * n_keys + key[at])  # which group is spoken for, by whom
    # a stray in its super-instance speaks for itself only
    speaks = speaks[~_are_named(speaks, foes[:, 0] * n_keys + foes[:, 1])]
    spoken_for, own = np.divmod(speaks, n_keys)
    pair, place = _matches(spoken_for, foes[:, 0])
    one, other = cluster_of[own[place]], cluster_of[foes[pair, 1]]
    apart = np.eye(int(cluster.max()) + 1, dtype=bool)
    apart[one, other] = apart[other, one] = True
    return Grouping(cluster, apart)


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """What NumPy's unique gives for values of 0 and above; quicker where most of them differ."""
    ordered = np.sort(values)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def _among(ascending: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which values are among others that are sorted."""
    size = int(ascending.max(initial=-1)) + 1
    if size <= TABLE:
        is_there = np.zeros(size + 1, dtype=bool)
        is_there[ascending] = True
        found: NDArray[np.bool_] = is_there.take(np.minimum(values, size))
        return found
    found = ascending.take(np.searchsorted(ascending, values), mode="clip") == values
    return found


def _are_named(ascending: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of a few sorted values are among many others; these need no sorting."""
    found = np.zeros(len(ascending), dtype=bool)
    if len(ascending):
        place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
        found[place[ascending[place] == values]] = True
    return found


def _matches(
    ascending: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every place of every wanted value: positions in `wanted`, and in `ascending` where it is found."""
    size = max(ascending.max(initial=-1), wanted.max(initial=-1)) + 1
    count = np.bincount(ascending, minlength=size)
    start, n_places = (count.cumsum() - count)[wanted], count[wanted]
    which = np.repeat(np.arange(len(wanted)), n_places)
    before = np.cumsum(n_places) - n_places
    return which, np.arange(len(which)) + (start - before)[which]


def _numbered(partition: Partition, key: NDArray[np.int64]) -> NDArray[np.int32]:
    """Clusters of equal keys, numbered in order of their first rows."""
    first_row = np.array([s.rows[0] for s in partition.instances])
    lowest = np.full(int(key.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, key, first_row)
    return np.unique(lowest[key], return_inverse=True)[1].ravel().astype(np.int32)


# ---------------------------------------------------------------- merging by questions
def merge(state: SuperInstanceState, labels: Labels | None) -> Generator[Question, Answer, Grouping]:
    """COBRA's merging step: ask about the closest clusters until all relations are known.

    A question that is open already comes first. `labels` is the best clustering until all relations are
    known; None means what is merged so far.
    """
    partition, evidence = state.partition, state.evidence
    merged = np.empty(0, dtype=np.int32)  # cluster of each super-instance when `shown` was made
    shown = merged if labels is None else labels
    while True:
        if state.open is None:
            grouping = group(partition, evidence)
            pair = _closest_unknown(state.splitter.X, partition, grouping, evidence)
            if pair is None:
                return grouping
            if labels is None and not np.array_equal(merged, grouping.cluster):
                shown, merged = grouping.labels(partition), grouping.cluster
            why = "They represent the two closest parts of the data whose relation is not known yet."
            state.open = Question(*pair, shown, why)
        yield state.open
        state.open = None


def _closest_unknown(
    X: NDArray[Any], partition: Partition, grouping: Grouping, evidence: Evidence
) -> tuple[int, int] | None:
    """The pair of rows to ask about: representatives of the closest clusters not yet compared."""
    if grouping.apart.all():
        return None
    order = np.argsort(grouping.cluster, kind="stable")
    starts = np.searchsorted(grouping.cluster[order], np.arange(len(grouping.apart)))
    by_cluster = partition.distance[np.ix_(order, order)]
    gap = np.minimum.reduceat(np.minimum.reduceat(by_cluster, starts, axis=0), starts, axis=1)
    gap[grouping.apart] = np.inf
    gap[np.tril_indices(len(gap))] = np.inf
    for at in np.argsort(gap, axis=None, kind="stable"):
        a, b = np.unravel_index(at, gap.shape)
        if gap[a, b] == np.inf:
            return None
        reps = partition.representatives()
        pair = _pair_to_show(X, reps[grouping.cluster == a], reps[grouping.cluster == b], evidence)
        if pair is not None:
            return pair
    return None


def _pair_to_show(
    X: NDArray[Any], first: NDArray[np.int64], second: NDArray[np.int64], evidence: Evidence
) -> tuple[int, int] | None:
    """Closest pair of representatives that a person has not been unsure about; None: leave it open."""
    unsure = 0
    distance = cdist(X[first], X[second])
    for at in np.argsort(distance, axis=None, kind="stable"):
        i, j = first[at // len(second)], second[at % len(second)]
        if evidence.verdict(i, j) is None:
            return int(i), int(j)
        unsure += evidence.verdict(i, j) == "unsure"
        if unsure == MOST_UNSURE:
            break
    return None
