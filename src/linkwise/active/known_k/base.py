"""What learners share that know how many clusters there are: neighbourhoods, a clusterer that is refitted.

The number of clusters is given, and a clusterer that takes constraints does the rest: at every
question it is fitted to what is known by then. What is asked serves to place rows in neighbourhoods
(see `linkwise.active.neighbourhoods`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils._param_validation import HasMethods, Interval

from linkwise import native, parallel
from linkwise.active.base import ActiveLearner
from linkwise.active.known_k.estimators import labels_of, made
from linkwise.active.neighbourhoods import (
    KnownOfPoints,
    Points,
    Standing,
    distinct_points,
    shown_rows,
    standing,
    with_implied,
)
from linkwise.asking.consistency import enforce_answers
from linkwise.asking.learner import Labels, Problem, Progress, Question, rng_at
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Answer, Evidence
from linkwise.errors import InfeasibleConstraintsError

MAX_ROWS = 20_000  # rows that a clusterer is fitted to at a question
MOST_KNOWN = 1000  # rows whose distances are taken at once, of the many that an import may name
REMEMBERED = 2**26  # bytes of labels that are kept for undo

Placing = Generator[Question, Answer, None]


class Prepared(NamedTuple):
    """What needs no answer, and what was computed on the way."""

    points: Points
    order: NDArray[np.int64]
    """The points in random order."""
    memo: dict[bytes, Labels]
    """Labels by what was known when they were made."""


class KnownClusters(ActiveLearner):
    """A learner with a given number of clusters; a method writes ``run``."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "estimator": [str, HasMethods(["fit", "get_params"]), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.estimator = estimator
        self.random_state = random_state

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Prepared:
        """The distinct rows, in a random order; the clusterer is looked up."""
        made(self.estimator, self.n_clusters, X.shape[1], seed)
        points = distinct_points(X)
        return Prepared(points, rng_at(seed).permutation(len(points.first)), {})

    def start(self, problem: Problem) -> Ground:
        """Return the points with what is known of them."""
        return Ground(self, problem)

    def describe(self, ground: Ground) -> list[str]:
        """How many clusters have been met, and how many rows are placed."""
        now = ground.standing()
        met = len(now.members) if ground.is_anything_known else 0
        placed = int((now.place >= 0)[ground.points.of].sum()) if met else 0
        clusters = f"{met} of {max(met, self.n_clusters)} clusters"
        return [f"{clusters} have been met; {placed} {'row is' if placed == 1 else 'rows are'} placed."]

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        """What the clusterer makes of the constraints alone."""
        labels = Ground(self, Problem(X, self.prepare(X, seed), evidence, seed)).labels()
        return enforce_answers(labels, evidence)


class Ground:
    """The points, what is known of them, and the clustering that follows; keeps up with the evidence."""

    def __init__(self, learner: KnownClusters, problem: Problem) -> None:
        X, prepared, evidence, seed, askable, _ = problem
        self.points, self.order, self._memo = prepared
        self.k = min(learner.n_clusters, len(self.order))
        self.rows = shown_rows(self.points, askable)
        self.askable = np.ones(len(self.rows), dtype=bool) if askable is None else askable[self.rows]
        self._learner, self._rows_of_X, self.seed = learner, X, seed
        self._known = KnownOfPoints(evidence, self.points)
        self._evidence = evidence
        self._standing: tuple[tuple[int, int | None], Standing] | None = None
        self._labels: tuple[int, Labels] | None = None
        self._gap: NDArray[np.float64] | None = None
        self._counted = np.zeros(len(self.rows), dtype=bool)
        self.X = X if len(self.rows) == len(X) else np.ascontiguousarray(X[self.rows])

    @property
    def is_anything_known(self) -> bool:
        """Whether any yes or no has been given."""
        return len(self._evidence.groups().row) > 0

    def standing(self, last: int | None = None) -> Standing:
        """Where everything stands now; `last` as in `standing`."""
        now = len(self._evidence), last
        if self._standing is None or self._standing[0] != now:
            self._standing = now, standing(self._known.now(), self.k, self.askable, self.order, last)
        return self._standing[1]

    def eligible(self) -> NDArray[np.int64]:
        """Points to ask about: where there are some that are known to belong together with others, these."""
        now = self.standing()
        linked = np.flatnonzero(now.eligible & now.linked)
        return linked if len(linked) else np.flatnonzero(now.eligible)

    # ------------------------------------------------------------ distances
    def gap(self) -> NDArray[np.float64]:
        """Squared distance of each point to the nearest that is in a neighbourhood."""
        placed = self.standing().place >= 0
        if self._gap is None or (self._counted & ~placed).any():
            self._gap, self._counted = np.full(len(placed), np.inf), np.zeros_like(placed)
        new = np.flatnonzero(placed & ~self._counted)
        if len(new):
            some = self.X[spread(new, MOST_KNOWN)].astype(np.float64)
            nearest = native.nearest_points(self.X, some, parallel.n_threads())[1]
            self._gap, self._counted = np.minimum(self._gap, nearest), placed
        return self._gap

    def farthest(self) -> int:
        """The point to ask about that is farthest from all that are in a neighbourhood."""
        points = self.eligible()
        return int(points[self.gap()[points].argmax()])

    def drawn(self) -> int:
        """A point to ask about, drawn at random."""
        return int(self.order[np.isin(self.order, self.eligible())][0])

    def by_distance(self, point: int) -> NDArray[np.int64]:
        """Neighbourhoods by the distance of their means to a point, the nearest first."""
        means = np.stack([self.X[m].mean(axis=0, dtype=np.float64) for m in self.standing(point).members])
        return np.argsort(((means - self.X[point]) ** 2).sum(axis=1), kind="stable")

    # ------------------------------------------------------------ questions
    def place(
        self, point: int, why: str, preferred: Callable[[int], NDArray[np.int64]] | None = None
    ) -> Placing:
        """Ask in which neighbourhood a point is, until it is known, or somebody is unsure."""
        while (now := self.standing(point)).eligible[point]:
            open_ones = now.open(point)
            wanted = (preferred or self.by_distance)(point)
            target = int(wanted[np.isin(wanted, open_ones)][0])
            members = now.members[target]
            members = members[self.askable[members] & (now.group[members] == now.core[target])]
            nearest = ((self.X[members].astype(np.float64) - self.X[point]) ** 2).sum(axis=1).argmin()
            first, second = self.rows[[point, members[nearest]]].tolist()
            yield Question(first, second, self.labels(), why)

    # ------------------------------------------------------------ the clustering
    def labels(self) -> Labels:
        """The clusterer fitted to what is known now."""
        if self._labels is None or self._labels[0] != len(self._evidence):
            known = with_implied(self._known.now(), self.standing().implied)
            constraints = known.to_constraints()
            key = _digest(constraints)
            if key not in self._memo:
                self._remember(key, self._fitted(known, constraints))
            self._labels = len(self._evidence), self._memo[key]
        return self._labels[1]

    def _fitted(self, known: Evidence, constraints: Constraints) -> Labels:
        """Labels of all rows, identical ones alike."""
        X = self._rows_of_X
        of_rows = Constraints(len(X), self.rows[constraints.must_link], self.rows[constraints.cannot_link])
        k = max(self.k, len(self.standing().members))  # answers may show more clusters than were expected
        clusterer = made(self._learner.estimator, k, X.shape[1], self.seed)
        try:
            found = labels_of(clusterer, X, of_rows, self.rows[self.order], MAX_ROWS)
        except InfeasibleConstraintsError:
            if self._labels is not None:
                return self._labels[1]
            found = labels_of(clusterer, X, Constraints(len(X)), self.rows[self.order], MAX_ROWS)
        labels = matched(found[self.rows], self.standing().members)
        shown: Labels = enforce_answers(labels, known)[self.points.of]
        return shown

    def _remember(self, key: bytes, labels: Labels) -> None:
        while self._memo and (len(self._memo) + 1) * labels.nbytes > REMEMBERED:
            del self._memo[next(iter(self._memo))]
        self._memo[key] = labels


def matched(labels: NDArray[Any], members: tuple[NDArray[np.int64], ...]) -> Labels:
    """Labels 0, 1, ... in which every neighbourhood has a cluster of its own, where most of its rows are.

    A clusterer that may break constraints can put two neighbourhoods into one cluster. They are
    dealt out so that most rows stay where they are, and no cluster is added unless there are fewer
    clusters than neighbourhoods.
    """
    made, found = np.unique(labels, return_inverse=True)
    n = max(len(made), len(members))
    stay = (
        np.stack([np.bincount(found[rows], minlength=n) for rows in members]) if members else np.empty((0, n))
    )
    for rows, label in zip(members, linear_sum_assignment(stay, maximize=True)[1].tolist(), strict=True):
        found[rows] = label
    return np.unique(found, return_inverse=True)[1].astype(np.int32)


def spread(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many of the rows, evenly spread."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _digest(constraints: Constraints) -> bytes:
    """A short name for a set of pairs."""
    name = blake2b(constraints.must_link.tobytes(), digest_size=16)
    name.update(b"and")
    name.update(constraints.cannot_link.tobytes())
    return name.digest()
