"""ActiveFeatureWeights: the weights of the dimensions, tuned while a person looks on and says what is wrong.

Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008), "A clustering framework based on subjective
and objective validity criteria", section 3.5. The clustering in the two leading dimensions is shown; the
person says what belongs together and what does not; the weights are tuned by `FeatureWeightClustering`, and
while some of what was said is not satisfied a dimension is added in each round.

Kept: two dimensions first, one more a round while the person is not satisfied, everything that was said
counts in every round. Settled or changed:

- A round is so many facts, whether they were asked for or volunteered. The person is not satisfied as long as
  the clustering breaks one of them.
- In the paper the person looks for pairs. Here a pair is also proposed, of two kinds by turns: the most
  central rows of the two nearest clusters that were not compared yet, and the row that is nearest to the
  border of its cluster with that cluster's most central row.
- The weights are a function of the facts in the order in which they came, so that undo and another client
  come to the same clustering.

Cost: a fit of FeatureWeightClustering with at most `max_evals` clusterings for each answer; above 20 000 rows
it is fitted to a sample and what answers name, and the others go to the nearest centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval

from linkwise.active.base import ActiveLearner
from linkwise.active.estimators import labels_of
from linkwise.cluster.feature_weights import FeatureWeightClustering
from linkwise.constraints import Constraints
from linkwise.evidence import Evidence, Fact
from linkwise.learner import Asking, Labels, Progress, Question, respecting, rng_at

MAX_ROWS = 20_000  # that a clusterer is fitted to at an answer
REMEMBERED = 2**26  # bytes of clusterings that are kept for undo
NAMED = 3  # columns that a description names
FIRST = 2  # dimensions


class Weighed(NamedTuple):
    """A clustering in weighted dimensions."""

    labels: Labels
    """(n,) of all rows."""
    dimensions: int
    directions: NDArray[np.float64]
    """(m, d): rows in the weighted dimensions are ``X @ directions.T``."""
    shares: NDArray[np.float64]
    """(d,) how much each column counts."""
    satisfied: bool
    """Whether it satisfies all that was said."""


class Prepared(NamedTuple):
    """What needs no answer, and what was computed on the way."""

    order: NDArray[np.int64]
    """Rows in random order."""
    memo: dict[bytes, Weighed]
    """Clusterings by the facts that led to them."""


class ActiveFeatureWeights(ActiveLearner):
    """Weights of the dimensions, tuned answer by answer, with one dimension more where few do not do.

    Parameters
    ----------
    n_clusters : int
        At most the number of distinct rows is used.
    per_round : int
        Answers and volunteered pairs after which a dimension is added, if some of them are not satisfied.
    max_evals : int
        Clusterings for each answer, at most.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
    n_clusters_ : int
    n_questions_ : int
    history_ : sequence of ndarray
        ``history_[q - 1]``: labels after q questions.
    reason_ : str
        Why it ended: "budget", "exhausted" (no pair is left to propose), "stopped", or "no oracle" (the
        labels are then what the constraints give).
    constraints_ : Constraints
        Everything that was given or answered.
    violations_ : int
        Number of those constraints that `labels_` break.

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
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        per_round: int = 5,
        max_evals: int = 60,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.per_round = per_round
        self.max_evals = max_evals
        self.random_state = random_state

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Prepared:
        """The rows in a random order; nothing is remembered yet."""
        return Prepared(rng_at(seed).permutation(len(X)), {})

    def run(
        self,
        X: NDArray[Any],
        prepared: Prepared,
        evidence: Evidence,
        seed: int,
        *,
        askable: NDArray[np.bool_] | None = None,
        budget: int | None = None,
    ) -> Asking:
        """Show, ask, tune, until no pair is left to propose."""
        shown = (
            prepared.order[:MAX_ROWS]
            if askable is None
            else prepared.order[askable[prepared.order]][:MAX_ROWS]
        )
        while True:
            now = self._weighed(X, prepared, evidence, seed)
            question = proposed(X, np.sort(shown), now, evidence)
            if question is None:
                return now.labels
            yield question

    def describe(self, prepared: Prepared, evidence: Evidence) -> list[str]:
        """How many dimensions are in use, and which columns count most."""
        now = prepared.memo.get(_digest(list(evidence)))
        if now is None:
            return []
        counts = np.argsort(-now.shares, kind="stable")[:NAMED].tolist()
        columns = ", ".join(f"column {j} ({now.shares[j]:.0%})" for j in counts)
        return [f"{now.dimensions} of the dimensions are in use; what counts most: {columns}."]

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        """What the constraints alone give."""
        return respecting(self._weighed(X, self.prepare(X, seed), evidence, seed).labels, evidence)

    # ------------------------------------------------------------ the clustering
    def _weighed(self, X: NDArray[Any], prepared: Prepared, evidence: Evidence, seed: int) -> Weighed:
        """The clustering by all facts, in as many dimensions as the rounds before have led to."""
        facts, m, d = list(evidence), FIRST, X.shape[1]
        for end in range(self.per_round, len(facts), self.per_round):
            if m >= d:
                break
            m += not self._fitted(X, prepared, facts[:end], m, seed).satisfied
        return self._fitted(X, prepared, facts, m, seed)

    def _fitted(self, X: NDArray[Any], prepared: Prepared, facts: list[Fact], m: int, seed: int) -> Weighed:
        key = _digest(facts)
        if key not in prepared.memo:
            while prepared.memo and (len(prepared.memo) + 1) * 4 * len(X) > REMEMBERED:
                del prepared.memo[next(iter(prepared.memo))]
            prepared.memo[key] = self._tuned(X, prepared.order, facts, m, seed)
        return prepared.memo[key]

    def _tuned(
        self, X: NDArray[Any], order: NDArray[np.int64], facts: list[Fact], m: int, seed: int
    ) -> Weighed:
        said = Constraints(
            len(X),
            [fact[:2] for fact in facts if fact.answer == "yes"],
            [fact[:2] for fact in facts if fact.answer == "no"],
        )
        k = min(self.n_clusters, len(np.unique(X[order[:MAX_ROWS]], axis=0)))
        model = FeatureWeightClustering(
            k, n_dimensions=m, sequential=False, max_evals=self.max_evals, random_state=seed
        )
        labels = labels_of(model, X, said, order, MAX_ROWS).astype(np.int32)
        used = model.weights_ > 0
        return Weighed(
            labels,
            m,
            np.sqrt(model.weights_[used])[:, None] * model.components_[used],
            model.feature_weights_,
            not any(broken.any() for broken in said.violated(labels)),
        )


def _digest(facts: list[Fact]) -> bytes:
    """A short name for facts in their order."""
    name = blake2b(digest_size=16)
    for fact in facts:
        name.update(f"{fact.first},{fact.second},{fact.answer};".encode())
    return name.digest()


# ---------------------------------------------------------------- what is proposed
def proposed(X: NDArray[Any], rows: NDArray[np.int64], now: Weighed, evidence: Evidence) -> Question | None:
    """A pair to judge; None when all that could be proposed is known.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    rows : ndarray
        Rows that may be shown, ascending.
    now : Weighed
    evidence : Evidence
    """
    Z = X[rows] @ now.directions.T
    clusters, of = np.unique(now.labels[rows], return_inverse=True)
    if len(rows) < 2:
        return None
    means = np.stack([Z[of == c].mean(axis=0) for c in range(len(clusters))])
    distance = cdist(Z, means, "sqeuclidean")
    central = np.array([np.flatnonzero(of == c)[distance[of == c, c].argmin()] for c in range(len(clusters))])
    kinds = [_neighbours(central, means), _at_the_border(of.ravel(), distance, central)]
    if len(evidence) % 2:
        kinds.reverse()
    for kind in kinds:
        for one, other, why, expected in kind:
            first, second = int(rows[one]), int(rows[other])
            alike = np.array_equal(X[first], X[second])
            if first != second and not alike and evidence.verdict(first, second) is None:
                return Question(first, second, now.labels, why, expected)
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
