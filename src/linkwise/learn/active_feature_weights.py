"""ActiveFeatureWeights: the weights of the dimensions, tuned while a person looks on and says what is wrong.

Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008), "A clustering framework based on subjective
and objective validity criteria", section 3.5. The clustering in the two leading dimensions is shown; the
person says what belongs together and what does not; the weights are tuned by `FeatureWeightClustering`, and
while some of what was said is not satisfied dimensions are added in each round.

Kept: two dimensions first, one more a round while the person is not satisfied, everything that was said
counts in every round. Settled or changed:

- From eight dimensions on a quarter more join in a round, not one: of hundreds nobody would see the end.
  `ActiveFeatureWeights.paper` adds one at a time and tunes as `FeatureWeightClustering.paper` does.
- A round is so many facts, whether they were asked for or volunteered; of very many it takes
  more. The person is not satisfied as long as the clustering breaks one of them.
- In the paper the person looks for pairs. Here a pair is also proposed, of two kinds by turns: the most
  central rows of the two nearest clusters that were not compared yet, and the row that is nearest to the
  border of its cluster with that cluster's most central row.
- In the paper answers only choose the weights. Here a row whose label contradicts an answer also moves, to a
  cluster of its own if need be, so no answer is contradicted. `ActiveFeatureWeights.paper` moves no row.
- The weights are a function of the facts in the order in which they came, so that undo and another client
  come to the same clustering.

Cost: a fit of FeatureWeightClustering with at most `max_evals` clusterings for each answer; above 20 000 rows
it is fitted to a sample and what answers name, and the others go to the nearest centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from linkwise.cluster.feature_weights.feature_weights import (
    MANY,
    FeatureWeightClustering,
    column_shares,
    find_dimensions,
    project,
    transform_rows,
)
from linkwise.cluster.points import cluster_means, nearest_centers
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Fact
from linkwise.errors import short_repr
from linkwise.learn.base import ActiveLearner
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.known_k.estimators import fit_labels
from linkwise.learn.learner import Asking, Problem, Question
from linkwise.learn.neighbourhoods import PointEvidence, Points, choose_shown_rows, distinct_points
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows

MAX_ROWS = 20_000  # that a clusterer is fitted to at an answer
REMEMBERED = 2**26  # bytes of clusterings that are kept for undo
FIRST = 2  # dimensions
MORE = 4  # a quarter more in each round, and one at least


class WeightedClustering(NamedTuple):
    """A clustering in weighted dimensions."""

    labels: Labels
    """(n,) of all rows."""
    dimensions: int
    """Number of dimensions in use."""
    directions: NDArray[np.float64]
    """(m, d): rows in the weighted dimensions are ``X @ directions.T``; with a transformation, of ``Z``."""
    shares: NDArray[np.float64] | None
    """(d,) how much each column counts; None with a transformation."""
    satisfied: bool
    """Whether it satisfies every answer."""


class PreparedDimensions(NamedTuple):
    """What needs no answer."""

    points: Points
    order: NDArray[np.int64]
    """First rows of the points in random order."""
    components: NDArray[np.float64] | None
    """(rank, d) directions of the singular value decomposition; None with another transformation."""
    Z: NDArray[np.float64]
    """(n, rank) rows in these dimensions."""
    transformation: Any = None
    """The fitted transformation, if there is one."""

    def rows_to_map(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return what the directions of a `WeightedClustering` are applied to: X, or the transformed rows."""
        return X if self.transformation is None else self.Z


class ActiveFeatureWeights(ActiveLearner):
    """Active feature weighting that tunes the weights after each answer, and adds dimensions as needed.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; at most the number of distinct rows is used. If answers separate rows that the
        weights cannot separate, these rows get clusters of their own, so `labels_` may have more clusters
        (unless `enforce` is False).
    per_round : int, default=5
        Number of answers (other than "unsure") and volunteered pairs after which a dimension is added, if
        some of them are not satisfied.
    max_evals : int, default=60
        Largest number of clusterings for each answer.
    estimator : FeatureWeightClustering, optional
        The clusterer that tunes the weights. Its transformation, clusterer, validity and the parameters of
        its climb are used; its `n_clusters`, `n_dimensions`, `sequential`, `max_evals` and `random_state` are
        not.
    one_by_one : bool, default=False
        Whether a round adds one dimension, as in the paper, or a quarter of those in use.
    enforce : bool, default=True
        Whether rows change their cluster if its label contradicts an answer. If False, answers only choose
        the weights, as in the paper, and `labels_` may break some of them.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    n_questions_ : int
        Number of questions asked, including those answered with "unsure".
    history_ : sequence of ndarray
        ``history_[q - 1]``: labels after q questions.
    reason_ : str
        Why the questions ended: "budget", "exhausted" (no question is left), "stopped", or "no oracle" (the
        labels then follow from the given constraints).
    constraints_ : Constraints
        Everything that was given or answered.
    violations_ : int
        Number of those constraints that `labels_` break.
    suspects_ : list of Suspect
        The answers that are probably wrong, the most probable ones first; empty if `fit` takes all answers
        as right (``error_rate=0``).

    Notes
    -----
    `predict` assigns a new row to the nearest mean of a cluster, in the weighted dimensions. A transformation
    of the estimator is applied first, with its ``transform``.

    References
    ----------
    Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008), A clustering framework based on subjective
    and objective validity criteria. ACM TKDD 1(4), article 18.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import minmax_scale
    >>> import linkwise as lw
    >>> X, y = load_wine(return_X_y=True)
    >>> model = lw.ActiveFeatureWeights(3, random_state=0)
    >>> model.fit(minmax_scale(X), oracle=lw.TruthOracle(y), budget=12).n_questions_
    12
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "per_round": [Interval(Integral, 1, None, closed="left")],
        "max_evals": [Interval(Integral, 1, None, closed="left")],
        "estimator": [HasMethods(["fit_predict", "get_params"]), None],
        "one_by_one": ["boolean"],
        "enforce": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        per_round: int = 5,
        max_evals: int = 60,
        estimator: Any = None,
        one_by_one: bool = False,
        enforce: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.per_round = per_round
        self.max_evals = max_evals
        self.estimator = estimator
        self.one_by_one = one_by_one
        self.enforce = enforce
        self.random_state = random_state

    @classmethod
    def paper(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as printed (Section 3.5): one dimension more a round, tuned by Algorithm 1.

        Answers only choose the weights, so `labels_` may break some of them. The paper leaves the choice of
        pairs to the person; the pairs that are proposed are ours.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `ActiveFeatureWeights` that replace those of the preset.

        Returns
        -------
        ActiveFeatureWeights
            The learner, not fitted.
        """
        printed = {
            "estimator": FeatureWeightClustering.paper(n_clusters),
            "one_by_one": True,
            "enforce": False,
            "max_evals": MANY,
        }
        return cls(n_clusters, **{**printed, **parameters})

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> PreparedDimensions:
        """Compute the dimensions, and put the distinct rows into a random order."""
        points = distinct_points(X)
        order = points.first[rng_at(seed).permutation(len(points.first))]
        tuner = self._tuner()
        if tuner.transformation is not None:
            fitted, Z, _ = transform_rows(X, tuner.transformation, "none")
            return PreparedDimensions(points, order, None, np.ascontiguousarray(Z), fitted)
        mean, components = find_dimensions(X, tuner.svd, tuner.center)
        return PreparedDimensions(points, order, components, project(X, mean, components))

    def _tuner(self) -> FeatureWeightClustering:
        """Return what tunes the weights."""
        if self.estimator is None:
            return FeatureWeightClustering()
        if not isinstance(self.estimator, FeatureWeightClustering):
            raise TypeError(
                f"estimator={short_repr(self.estimator)} tunes no weights. Pass a FeatureWeightClustering,"
                " whose clusterer may be any."
            )
        return self.estimator

    def start(self, problem: Problem) -> FeatureWeightState:
        """Return the rows that may be shown and what is known of them."""
        points: Points = problem.prepared.points
        rows = choose_shown_rows(points, problem.askable)
        if problem.askable is not None:
            rows = rows[problem.askable[rows]]
        if len(rows) > MAX_ROWS:
            rows = rows[np.sort(rng_at(problem.seed, 1).permutation(len(rows))[:MAX_ROWS])]
        return FeatureWeightState(problem, rows, PointEvidence(problem.evidence, points))

    def ask(self, state: FeatureWeightState) -> Asking:
        """Show, ask and tune until no pair is left to propose."""
        prepared: PreparedDimensions = state.problem.prepared
        X, known = prepared.rows_to_map(state.problem.X), state.known
        points: Points = prepared.points
        while True:
            now = state.tuned = self._find_weights(state.problem, list_facts(known))
            evidence = known.current()
            shown = self._enforce(now.labels[points.first], evidence)[points.of]
            question = propose_pair(X, state.rows, now, shown, points.of, evidence)
            if question is None:
                return shown
            answer = yield question
            known.hear(int(points.of[question.first]), int(points.of[question.second]), answer)

    def describe(self, state: FeatureWeightState) -> list[str]:
        """How many dimensions are in use, which columns count most, and how many clusters answers added."""
        now = state.tuned
        if now is None:
            return []
        most = state.problem.prepared.Z.shape[1]
        lines = [
            f"{now.dimensions} of at most {most} {'dimensions are' if most > 1 else 'dimension is'} in use."
        ]
        shown = len(np.unique(self._enforce(now.labels, state.problem.evidence)))
        if shown > self.n_clusters:
            lines.append(
                f"{shown} clusters are shown, {shown - self.n_clusters} more than {self.n_clusters}, so "
                "that no answer is contradicted."
            )
        return lines

    def column_shares(self, state: FeatureWeightState) -> NDArray[np.float64] | None:
        """The share of each column in the learned distance."""
        return None if state.tuned is None else state.tuned.shares

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        """Cluster by the constraints alone."""
        problem = Problem(X, self.prepare(X, seed), evidence, seed)
        facts = list_facts(PointEvidence(evidence, problem.prepared.points))
        tuned = self._find_weights(problem, facts)
        labels = self._enforce(tuned.labels, evidence)
        self._keep_centers(X, problem.prepared, tuned, labels)
        return labels

    def _enforce(self, labels: Labels, evidence: Evidence) -> Labels:
        """Move the rows whose labels contradict an answer, unless `enforce` is False."""
        return enforce_answers(labels, evidence) if self.enforce else labels

    # ------------------------------------------------------------ new rows
    def _keep_more(self, X: NDArray[Any], state: FeatureWeightState) -> None:
        self._keep_centers(X, state.problem.prepared, state.tuned, self.labels_)

    def _keep_centers(
        self, X: NDArray[Any], prepared: PreparedDimensions, tuned: WeightedClustering | None, labels: Labels
    ) -> None:
        rows = prepared.rows_to_map(X)
        directions = np.eye(rows.shape[1])  # all alike, if no dimension counts
        if tuned is not None and len(tuned.directions):
            directions = tuned.directions
        before = labels if tuned is None else tuned.labels
        used, number = np.unique(before, return_inverse=True)
        Z = rows @ directions.T
        empty = np.zeros((len(used), Z.shape[1]))
        self._transformation, self._directions = prepared.transformation, directions
        self._centers = cluster_means(Z, number.ravel().astype(np.int32), empty)
        votes = np.zeros((len(used), int(labels.max()) + 1), dtype=np.int64)
        np.add.at(votes, (number.ravel(), labels), 1)
        self._names = votes.argmax(axis=1).astype(np.int32)

    def predict(self, X: ArrayLike) -> Labels:
        """Assign each row to the nearest mean of a cluster, in the weighted dimensions.

        The means are those of the clusters before answers place single rows elsewhere.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row. Fitted rows get their own labels, unless an answer placed them elsewhere.
        """
        check_is_fitted(self, "labels_")
        rows = check_rows(X, self, reset=False)
        if self._transformation is not None:
            rows = np.asarray(self._transformation.transform(rows), dtype=np.float64)
        Z = np.ascontiguousarray(rows @ self._directions.T)
        found: Labels = self._names[nearest_centers(Z, self._centers)[0]]
        return found

    # ------------------------------------------------------------ the clustering
    def _find_weights(self, problem: Problem, facts: list[Fact]) -> WeightedClustering:
        """Cluster by all facts, in the number of dimensions that the earlier rounds led to."""
        ends = [*round_ends(len(facts), self.per_round), len(facts)]
        digests = _digests(facts, ends)
        most = problem.prepared.Z.shape[1]
        m = min(FIRST, most)
        for end, key in zip(ends[:-1], digests[:-1], strict=True):
            if m >= most:
                break
            if not self._tune_once(problem, facts[:end], key, m).satisfied:
                m = min(most, m + (1 if self.one_by_one else max(1, m // MORE)))
        return self._tune_once(problem, facts, digests[-1], m)

    def _tune_once(self, problem: Problem, facts: list[Fact], key: bytes, m: int) -> WeightedClustering:
        """The same as `_tune`, remembered by a digest of the facts, from which m follows."""
        tune = partial(self._tune, problem.prepared, facts, m, problem.seed)
        return problem.memo.get("tuned", key, tune, max_bytes=REMEMBERED)

    def _tune(self, prepared: PreparedDimensions, facts: list[Fact], m: int, seed: int) -> WeightedClustering:
        """Tune the weights of m dimensions by these facts."""
        first = prepared.points.first
        pairs = {
            said: [(first[fact.first], first[fact.second]) for fact in facts if fact.answer == said]
            for said in ("yes", "no")
        }
        said = Constraints(len(prepared.Z), pairs["yes"], pairs["no"])
        model = clone(self._tuner()).set_params(
            n_clusters=min(self.n_clusters, len(first)),
            svd="none",
            center=True,
            transformation=None,
            n_dimensions=m,
            sequential=False,
            max_evals=self.max_evals,
            random_state=seed,
        )
        labels = fit_labels(model, prepared.Z, said, prepared.order, MAX_ROWS).astype(np.int32)
        used = model.weights_ > 0
        components = prepared.components
        directions = np.eye(prepared.Z.shape[1]) if components is None else components
        return WeightedClustering(
            labels,
            m,
            np.sqrt(model.weights_[used])[:, None] * directions[used],
            None if components is None else column_shares(model.weights_, components, prepared.Z),
            not any(broken.any() for broken in said.find_violations(labels)),
        )


@dataclass(slots=True)
class FeatureWeightState:
    """One run. `rows` may be shown, and no two of them are identical.

    `tuned` is the clustering that the present question is about; None before the first.
    """

    problem: Problem
    rows: NDArray[np.int64]
    known: PointEvidence
    tuned: WeightedClustering | None = None


def list_facts(known: PointEvidence) -> list[Fact]:
    """All that was said about points, in its order, without what is "unsure"."""
    return [fact for fact in known.current().read_believed(0) if fact.answer != "unsure"]


def round_ends(n_facts: int, per_round: int) -> list[int]:
    """After how many facts each round ended: `per_round` more, or a quarter more, where that is greater."""
    ends: list[int] = []
    end = per_round
    while end < n_facts:
        ends.append(end)
        end += max(per_round, end // 4)
    return ends


def _digests(facts: list[Fact], ends: list[int]) -> list[bytes]:
    """A short name for the first facts, as many as each of `ends`, in their order."""
    name, at, found = blake2b(digest_size=16), 0, []
    for end in ends:
        for fact in facts[at:end]:
            name.update(f"{fact.first},{fact.second},{fact.answer};".encode())
        at = end
        found.append(name.digest())
    return found


# ---------------------------------------------------------------- what is proposed
def propose_pair(
    X: NDArray[Any],
    rows: NDArray[np.int64],
    now: WeightedClustering,
    shown: Labels,
    point: NDArray[np.int64],
    known: Evidence,
) -> Question | None:
    """Propose a pair to judge; None if every such pair is known.

    `rows` may be shown, and no two of them are identical. `shown` is the clustering as the person sees
    it, and `point` the point of each row, as `known` names it.
    """
    if len(rows) < 2:
        return None
    Z = X[rows] @ now.directions.T
    clusters, of = np.unique(shown[rows], return_inverse=True)
    of = of.ravel()
    means = np.stack([Z[of == c].mean(axis=0) for c in range(len(clusters))])
    distance = cdist(Z, means, "sqeuclidean")
    central = np.array([np.flatnonzero(of == c)[distance[of == c, c].argmin()] for c in range(len(clusters))])
    kinds = [_neighbours(central, means), _at_the_border(of, distance, central)]
    if len(known) % 2:
        kinds.reverse()
    for one, other, why, expected in chain(*kinds):
        first, second = int(rows[one]), int(rows[other])
        if one != other and known.verdict(int(point[first]), int(point[second])) is None:
            return Question(first, second, shown, why, expected)
    return None


Pair = tuple[int, int, str, Any]


def _neighbours(central: NDArray[np.intp], means: NDArray[np.float64]) -> Iterator[Pair]:
    """The most central rows of two clusters, the nearest clusters first."""
    one, other = np.triu_indices(len(central), 1)
    gaps = ((means[one] - means[other]) ** 2).sum(axis=1)
    for at in np.argsort(gaps, kind="stable"):
        yield (
            int(central[one[at]]),
            int(central[other[at]]),
            "They are the most central rows of two clusters that are near each other: are these one?",
            "no",
        )


def _at_the_border(
    of: NDArray[np.intp], distance: NDArray[np.float64], central: NDArray[np.intp]
) -> Iterator[Pair]:
    """A row and the most central one of its cluster, rows nearest to the border first."""
    if distance.shape[1] < 2:
        margin = -distance[:, 0]
    else:
        own = distance[np.arange(len(of)), of]
        others = distance.copy()
        others[np.arange(len(of)), of] = np.inf
        margin = others.min(axis=1) - own
    for row in np.argsort(margin, kind="stable"):
        yield (
            int(row),
            int(central[of[row]]),
            "The first is at the border of its cluster, the second in the middle: does it belong there?",
            "yes",
        )
