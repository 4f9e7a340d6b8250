"""Shared by the learners that take the number of clusters: the state of a run, and the clusterer they refit.

Questions place rows in neighbourhoods (see `linkwise.learn.neighbourhoods`). At every question whose
labels somebody sees, a clusterer that takes constraints is fitted to the answers so far.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.cluster.base import prepare_fits
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer
from linkwise.errors import InfeasibleConstraintsError
from linkwise.learn.base import ActiveLearner
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.known_k.estimators import find_rule, fit_labels, is_fitted_to_all, make_clusterer
from linkwise.learn.learner import NO_LABELS, Problem, Question
from linkwise.learn.neighbourhoods import (
    Neighbourhoods,
    PointEvidence,
    Points,
    Version,
    add_implied,
    choose_shown_rows,
    distinct_points,
    find_neighbourhoods,
)
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows

MAX_ROWS = 20_000  # rows that a clusterer is fitted to at a question
MOST_KNOWN = 1000  # placed rows that distances are taken to; an import may name many more
REMEMBERED = 2**26  # bytes of labels that are kept for undo

Placing = Generator[Question, Answer, None]


class PreparedPoints(NamedTuple):
    """What needs no answer."""

    points: Points
    order: NDArray[np.int64]
    """The points in random order."""
    for_fits: Mapping[str, object]
    """What the fits of the clusterer have in common."""


class KnownClusters(ActiveLearner):
    """A learner with a given number of clusters; a method writes ``run``."""

    last_is_implied: bool = True
    """Whether a row that is apart from all clusters but one is placed in that one without a question."""
    enforce: bool = True
    """Whether labels that contradict an answer are changed."""

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

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> PreparedPoints:
        """Put the distinct rows into a random order, check the clusterer, and prepare its fits."""
        clusterer = make_clusterer(self.estimator, self.n_clusters, X.shape[1], seed)
        points = distinct_points(X)
        order = rng_at(seed).permutation(len(points.first))
        for_fits = prepare_fits(clusterer, X) if is_fitted_to_all(clusterer, len(X), MAX_ROWS) else {}
        return PreparedPoints(points, order, for_fits)

    def start(self, problem: Problem) -> KnownKState:
        """Return the points of the run and their neighbourhoods."""
        return KnownKState(self, problem)

    def describe(self, state: KnownKState) -> list[str]:
        """How many clusters the answers have reached, of how many, and how many rows they place."""
        now = state.neighbourhoods()
        reached = len(now.members) if state.has_answers else 0
        placed = int((now.place >= 0)[state.points.of].sum()) if reached else 0
        clusters = f"{reached} of {max(reached, self.n_clusters)} clusters"
        rows = "1 row" if placed == 1 else f"{placed} rows"
        lines = [f"The answers have reached {clusters} and placed {rows}."]
        if reached > self.n_clusters:
            return [*lines, f"That is more than the number that was set, {self.n_clusters}."]
        return [*lines, f"The number of clusters is set to {self.n_clusters}."]

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        """Cluster by the constraints alone."""
        state = KnownKState(self, Problem(X, self.prepare(X, seed), evidence, seed))
        labels = enforce_answers(state.labels(), evidence) if self.enforce else state.labels()
        self._keep_clusterer(X, state.clusterer, labels)
        return labels

    def _keep_more(self, X: NDArray[Any], state: KnownKState) -> None:
        self._keep_clusterer(X, state.clusterer, self.labels_)

    def _keep_clusterer(self, X: NDArray[Any], clusterer: Any, labels: Labels) -> None:
        self.estimator_ = clusterer
        self._rule = find_rule(clusterer, X, labels)

    def predict(self, X: ArrayLike) -> Labels:
        """Assign each row to a cluster as `estimator_` predicts.

        A cluster of `estimator_` has the label that most of the fitted rows that it predicts there have. If
        `estimator_` has no ``predict``, a row gets the label of the nearest fitted row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row. Fitted rows get their own labels as far as `estimator_` predicts them; some
            may be elsewhere because of answers and constraints.
        """
        check_is_fitted(self, "labels_")
        return self._rule.find(check_rows(X, self, reset=False))


class KnownKState:
    """One run: its points, their neighbourhoods by the answers so far, and the clustering that follows."""

    def __init__(self, learner: KnownClusters, problem: Problem) -> None:
        self.learner, self.problem = learner, problem
        self.points, self.order, self._for_fits = problem.prepared
        self.k = min(learner.n_clusters, len(self.order))
        follows = learner.last_is_implied or self.k == 1
        self.most = self.k if follows else len(self.order) + 1  # neighbourhoods, as far as placing rows goes
        askable = problem.askable
        self.rows = choose_shown_rows(self.points, askable)
        self.askable = np.ones(len(self.rows), dtype=bool) if askable is None else askable[self.rows]
        n_rows = len(problem.X)
        self.X = problem.X if len(self.rows) == n_rows else np.ascontiguousarray(problem.X[self.rows])
        self._facts = PointEvidence(problem.evidence, self.points)
        self._distances = DistancesToPlaced(self.X)
        self._neighbourhoods: tuple[tuple[Version, int | None], Neighbourhoods] | None = None
        self._labels: tuple[Version, Labels] | None = None
        self.clusterer: Any = None  # as it was fitted last

    @property
    def has_answers(self) -> bool:
        """Whether there is any yes or no."""
        return len(self.problem.evidence.groups().row) > 0

    def neighbourhoods(self, last: int | None = None) -> Neighbourhoods:
        """The neighbourhoods by now; `last` as in `find_neighbourhoods`."""
        facts = self._facts.current()
        now = self._facts.version, last
        if self._neighbourhoods is None or self._neighbourhoods[0] != now:
            self._neighbourhoods = now, find_neighbourhoods(facts, self.most, self.askable, self.order, last)
        return self._neighbourhoods[1]

    # ------------------------------------------------------------ points to ask about
    def eligible_points(self) -> NDArray[np.int64]:
        """Points to ask about: first those that belong together with others, then all."""
        now = self.neighbourhoods()
        linked = np.flatnonzero(now.eligible & now.linked)
        return linked if len(linked) else np.flatnonzero(now.eligible)

    def distances_to_placed(self) -> NDArray[np.float64]:
        """Squared distance of each point to the nearest one that is in a neighbourhood."""
        return self._distances.update(self.neighbourhoods().place >= 0)

    def farthest_point(self) -> int:
        """The eligible point that is farthest from all that are in a neighbourhood."""
        points = self.eligible_points()
        return int(points[self.distances_to_placed()[points].argmax()])

    def random_point(self) -> int:
        """The first eligible point in random order."""
        return int(self.order[np.isin(self.order, self.eligible_points())][0])

    def rank_by_distance(self, point: int) -> NDArray[np.int64]:
        """Neighbourhoods by the distance of their means to a point, the nearest first."""
        members = self.neighbourhoods(point).members
        means = np.stack([self.X[m].mean(axis=0, dtype=np.float64) for m in members])
        return np.argsort(((means - self.X[point]) ** 2).sum(axis=1), kind="stable")

    def place_point(
        self, point: int, why: str, rank: Callable[[int], NDArray[np.int64]] | None = None
    ) -> Placing:
        """Ask which neighbourhood a point is in, until it is known, or somebody is unsure."""
        while (now := self.neighbourhoods(point)).eligible[point]:
            open_ones = now.open(point)
            ranked = (rank or self.rank_by_distance)(point)
            target = int(ranked[np.isin(ranked, open_ones)][0])
            members = now.members[target]
            members = members[self.askable[members] & (now.group[members] == now.core[target])]
            nearest = ((self.X[members].astype(np.float64) - self.X[point]) ** 2).sum(axis=1).argmin()
            other = int(members[nearest])
            first, second = self.rows[[point, other]].tolist()
            shown = self.labels() if self.problem.shows_labels else NO_LABELS
            self._facts.hear(point, other, (yield Question(first, second, shown, why)))

    # ------------------------------------------------------------ the clustering
    def labels(self) -> Labels:
        """Labels of all rows, by the clusterer fitted to what is known now."""
        facts = self._facts.current()
        now = self._facts.version
        if self._labels is None or self._labels[0] != now:
            known = add_implied(facts, self.neighbourhoods().implied)
            found = self._fit(known)
            if found is None:  # the clusterer gives up
                found = self._labels[1] if self._labels else self._fit_unconstrained(known)
            self._labels = now, found
        return self._labels[1]

    def _fit(self, known: Evidence) -> Labels | None:
        """Labels of all rows, remembered; None if no clustering satisfies what is known."""
        constraints = known.to_constraints()

        def compute() -> Labels | None:
            of_rows = (self.rows[constraints.must_link], self.rows[constraints.cannot_link])
            try:
                return self._cluster(known, Constraints(len(self.problem.X), *of_rows))
            except InfeasibleConstraintsError:
                return None

        place = digest(self.askable, constraints.must_link, constraints.cannot_link)
        return self.problem.memo.get("labels", place, compute, max_bytes=REMEMBERED)

    def _fit_unconstrained(self, known: Evidence) -> Labels:
        return self._cluster(known, Constraints(len(self.problem.X)))

    def _cluster(self, known: Evidence, constraints: Constraints) -> Labels:
        """Labels of all rows by a fit to constraints, identical rows alike."""
        X, members = self.problem.X, self.neighbourhoods().members
        k = max(self.k, len(members))  # answers may show more clusters than n_clusters
        clusterer = make_clusterer(self.learner.estimator, k, X.shape[1], self.problem.seed)
        order = self.rows[self.order]
        found = fit_labels(clusterer, X, constraints, order, MAX_ROWS, self._for_fits)
        self.clusterer = clusterer
        if not self.learner.enforce:
            return np.unique(found, return_inverse=True)[1].astype(np.int32)
        labels = match_labels(found[self.rows], members)
        shown: Labels = enforce_answers(labels, known)[self.points.of]
        return shown


class DistancesToPlaced:
    """Squared distance of each point to the nearest placed one, brought up to date as points are placed."""

    def __init__(self, X: NDArray[Any]) -> None:
        self._X = X
        self._distance = np.full(len(X), np.inf)
        self._placed = np.zeros(len(X), dtype=bool)

    def update(self, placed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The distances, now that these points are placed."""
        if (self._placed & ~placed).any():
            self._distance, self._placed = np.full(len(placed), np.inf), np.zeros_like(placed)
        new = np.flatnonzero(placed & ~self._placed)
        if len(new):
            some = self._X[spread(new, MOST_KNOWN)].astype(np.float64)
            nearest = native.nearest_points(self._X, some, parallel.n_threads())[1]
            self._distance, self._placed = np.minimum(self._distance, nearest), placed
        return self._distance


def match_labels(labels: NDArray[Any], members: tuple[NDArray[np.int64], ...]) -> Labels:
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


def digest(*arrays: NDArray[Any]) -> bytes:
    """A short name for some arrays."""
    name = blake2b(digest_size=16)
    for array in arrays:
        name.update(array.tobytes())
        name.update(b"and")
    return name.digest()
