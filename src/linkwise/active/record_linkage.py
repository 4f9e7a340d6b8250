"""Record linkage: many small groups, found by one threshold that answers decide.

Rows are merged by average linkage, and merges higher than a threshold are left out. Each question is about
the open merge that is nearest to the threshold, so the first answers bisect the heights of all merges, and
later ones check the merges that remain doubtful. Each answer holds in the clustering: must-linked rows start
as one cluster, and a cannot-link forbids a merge. Identical rows belong together without a question.

The threshold separates the answers "yes" and "no" by the heights at which their rows meet without any answer,
with the fewest errors. So the answers near it correct a wrong turn of the bisection. The method is linkwise's
own.

Cost: O(n²) memory and time for n rows; O(m²) a question, for m components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.active.base import ActiveLearner
from linkwise.asking.consistency import enforce_answers
from linkwise.asking.learner import Asking, Labels, Problem, Progress, Question
from linkwise.constraints.closure import find_components
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Groups
from linkwise.errors import DataError
from linkwise.validation import check_rows
from linkwise.wording import count_noun

MOST_ROWS = 10_000  # their distances take 0.8 GB, twice during a merge
MOST_UNSURE = 3  # answers "unsure" about a merge after which it is left open
_WHY = "Groups as near as theirs are the hardest to judge: nearer ones probably belong together."


class LinkageMerges(NamedTuple):
    """The merges of average linkage, the nearest first.

    Attributes
    ----------
    pairs : ndarray of int64, shape (n_merges, 2)
        The cluster that stays, and the one that is put into it.
    heights : ndarray of float64, shape (n_merges,)
        Their mean distances.
    """

    pairs: NDArray[np.int64]
    heights: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """What follows from the rows alone.

    Attributes
    ----------
    between : ndarray of float64, shape (n_rows, n_rows)
        Distances in units of the largest absolute value.
    rows : ndarray of float64, shape (n_rows, n_features)
        The rows around their mean, in these units.
    mean : ndarray of float64, shape (n_features,)
    unit : float
    point : ndarray of int64, shape (n_rows,)
        Identical rows have the same number.
    merges : LinkageMerges
        The merges without any answer.
    """

    between: NDArray[np.float64]
    rows: NDArray[np.float64]
    mean: NDArray[np.float64]
    unit: float
    point: NDArray[np.int64]
    merges: LinkageMerges


@dataclass(slots=True, eq=False)
class LinkageState:
    """One run of `RecordLinkage`.

    Attributes
    ----------
    problem : Problem
        The data and the facts of the run.
    labels : ndarray of shape (n_rows,), int32
        The clustering at the last question.
    open : Question or None
        The question that waits for its answer.
    merged : tuple or None
        The component of each row and the merges at the start, until the first question uses them.
    """

    problem: Problem
    labels: Labels
    open: Question | None = None
    merged: tuple[NDArray[np.int64], LinkageMerges] | None = None


class RecordLinkage(ActiveLearner):
    """Active clustering into many small groups, such as the records of the same person.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Not used, because the method draws nothing. Every learner has this parameter.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,), int32
        Cluster of each row.
    threshold_ : float
        Largest distance of a new row from the nearest row of the group that it belongs to, in the units of
        X. It is infinite after `fit` without an oracle.
    n_clusters_, n_questions_, history_, reason_, constraints_, violations_, suspects_
        As for `COBRAS`.

    Raises
    ------
    DataError
        There are more than 10 000 rows.

    Notes
    -----
    The distances between all rows are stored: 32 MB for 2000 rows. An answer about two groups moves the
    threshold for all, which works if typing errors are alike everywhere. For more rows use a program
    that compares within blocks, such as dedupe or Splink.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0], [0.1], [5.0], [5.2], [9.0]])
    >>> y = [0, 0, 1, 1, 2]
    >>> lw.RecordLinkage().fit(X, oracle=lw.TruthOracle(y), budget=3).labels_.tolist()
    [0, 0, 1, 1, 2]
    """

    leaves_noise: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"random_state": ["random_state"]}

    def __init__(self, *, random_state: int | np.random.RandomState | None = None) -> None:
        self.random_state = random_state

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Distances:
        """Measure all distances, and merge without answers."""
        if len(X) > MOST_ROWS:
            raise DataError(
                f"There are {len(X)} rows, too many to store all their distances (at most {MOST_ROWS})."
                " Link a sample, or use a program that compares within blocks, such as dedupe or Splink."
            )
        report = progress or (lambda done, planned: None)
        mean, rows, unit = _scale_rows(X)
        between = native.squared_distances(rows, rows, parallel.n_threads())
        np.sqrt(between, out=between)
        report(1, 2)
        size = np.ones(len(X), dtype=np.int64)
        merges = LinkageMerges(*native.agglomerate(between.copy(), size, "average", 1))
        report(2, 2)
        point = np.unique(X + 0.0, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
        return Distances(between, rows, mean, unit, point, merges)

    def start(self, problem: Problem) -> LinkageState:
        """Cluster by what is known before the first question."""
        merged = _merge_components(problem.prepared, problem.evidence)
        threshold = find_threshold(problem.prepared.merges, problem.evidence)
        return LinkageState(problem, _cut(*merged, threshold), merged=merged)

    def fork(self, state: LinkageState, problem: Problem) -> LinkageState:
        """Copy a run; the copy first yields the question that is open."""
        return LinkageState(problem, state.labels, state.open, state.merged)

    def ask(self, state: LinkageState) -> Asking:
        """Ask about the open merge that is nearest to the threshold, until no merge is open."""
        problem, prepared = state.problem, state.problem.prepared
        while True:
            if state.open is None:
                number, merges = state.merged or _merge_components(prepared, problem.evidence)
                state.merged = None
                threshold = find_threshold(prepared.merges, problem.evidence)
                state.labels = _cut(number, merges, threshold)
                pair = _choose_pair(problem, number, merges, threshold)
                if pair is None:
                    return state.labels
                state.open = Question(*pair, state.labels, _WHY)
            yield state.open
            state.open = None

    def current_labels(self, state: LinkageState) -> Labels:
        """The clustering at the last question."""
        return state.labels

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        """Cluster by the constraints alone, in which no threshold is learned."""
        mean, rows, unit = _scale_rows(X)
        self._fitted, self.threshold_ = (mean, rows, unit), np.inf
        return super()._unasked(X, evidence, seed)

    def _keep_more(self, X: NDArray[Any], state: LinkageState) -> None:
        """Keep the threshold, and the rows that new ones are compared with."""
        prepared = state.problem.prepared
        self._fitted = prepared.mean, prepared.rows, prepared.unit
        self.threshold_ = find_threshold(prepared.merges, state.problem.evidence) * prepared.unit

    def predict(self, X: ArrayLike) -> Labels:
        """Predict the group of new rows: that of the nearest row of `fit`, if it is near enough.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The new rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row; -1 for a row that is farther than `threshold_` from all rows of `fit`, and so
            belongs to none of their groups.
        """
        check_is_fitted(self, "labels_")
        mean, fitted, unit = self._fitted
        rows = (check_rows(X, self, reset=False) - mean) / unit
        nearest, squared = native.nearest_points(rows, fitted, parallel.n_threads())
        is_near = np.sqrt(squared) * unit <= self.threshold_
        return np.where(is_near, self.labels_[nearest], -1).astype(np.int32)

    def describe(self, state: LinkageState) -> tuple[str, ...]:
        """How many groups there are, and how many rows have a group of their own."""
        sizes = np.bincount(enforce_answers(state.labels, state.problem.evidence))
        groups, alone = int((sizes > 1).sum()), int((sizes == 1).sum())
        return (
            f"There are {count_noun(groups, 'group')} of several rows, and {count_noun(alone, 'row')} alone.",
        )


def _scale_rows(X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The mean of the rows, the rows around it in units of their largest absolute value, and this unit."""
    mean = X.mean(axis=0, dtype=np.float64)
    rows = X - mean
    unit = float(np.abs(rows).max()) or 1.0
    return mean, rows / unit, unit  # squares might leave the range of a float otherwise


# ---------------------------------------------------------------- the threshold
def find_threshold(merges: LinkageMerges, evidence: Evidence) -> float:
    """Find the height that separates the answers with the fewest errors.

    Parameters
    ----------
    merges : LinkageMerges
        The merges of all rows without answers.
    evidence : Evidence
        The answers.

    Returns
    -------
    float
        The median height of the merges that no answer decides, or the middle of the answers around it.
    """
    facts = [fact for fact in evidence.read_believed(0) if fact.answer != "unsure"]
    if len(merges.heights) == 0:
        return 0.0
    heights = merges.heights[merges.heights > 0]  # identical rows belong together without a question
    met = _meeting_heights(merges, [fact.pair for fact in facts], evidence.n_rows)
    is_yes = np.array([fact.answer == "yes" for fact in facts], dtype=bool)
    order = np.argsort(met, kind="stable")
    bounds = np.r_[-np.inf, met[order], np.inf]
    # a cut below the first answer has each "yes" as an error; each answer that it passes changes that by one
    errors = np.r_[0, np.cumsum(np.where(is_yes[order], -1, 1))]
    low, high = bounds[:-1], bounds[1:]
    first = np.searchsorted(heights, low, side="right")
    inside = np.searchsorted(heights, high, side="left") - first
    is_gap = low < high
    best = np.flatnonzero(is_gap & (errors == errors[is_gap].min()))
    chosen = best[np.argmax(inside[best])]
    if inside[chosen] > 0:
        return float(heights[first[chosen] + (inside[chosen] - 1) // 2])
    a, b = max(low[chosen], 0.0), high[chosen]
    return float(a if np.isinf(b) else (a + b) / 2)


def _meeting_heights(merges: LinkageMerges, pairs: list[tuple[int, int]], n_rows: int) -> NDArray[np.float64]:
    """The height of the merge that first joins the rows of each pair."""
    parent = np.full(n_rows + len(merges.pairs), -1)
    node = np.arange(n_rows)
    for at, (stays, goes) in enumerate(merges.pairs.tolist(), n_rows):
        parent[node[stays]] = parent[node[goes]] = at
        node[stays] = at
    up, met = parent.tolist(), np.empty(len(pairs))
    for at, (a, b) in enumerate(pairs):
        while a != b:  # nodes are numbered in the order of the merges
            a, b = (up[a], b) if a < b else (a, up[b])
        met[at] = merges.heights[a - n_rows]
    return met


# ---------------------------------------------------------------- merging under answers
def _merge_components(prepared: Distances, evidence: Evidence) -> tuple[NDArray[np.int64], LinkageMerges]:
    """The component of each row, in order of first rows, and all merges of components that may be made.

    Without answers and copies of rows these are the prepared merges.
    """
    groups = evidence.groups()
    if len(groups.row) == 0 and prepared.point.max() == len(prepared.point) - 1:
        return np.arange(len(prepared.point)), prepared.merges
    number = find_components(evidence.n_rows, _link_rows(prepared.point, groups))
    first, size = np.unique(number, return_index=True, return_counts=True)[1:]
    distances = prepared.between[np.ix_(first, first)]
    for component in np.flatnonzero(size > 1).tolist():
        rows = np.flatnonzero(number == component)
        sums = np.bincount(number, prepared.between[rows].mean(axis=0), len(first))
        distances[component] = distances[:, component] = sums / size
    ends = np.array([rows[0] for rows in groups.rows], dtype=np.int64)
    one, other = number[ends[groups.cannot_link]].T
    distances[one, other] = distances[other, one] = np.inf
    return number, LinkageMerges(*native.agglomerate(distances, size.astype(np.int64), "average", 1))


def _link_rows(point: NDArray[np.int64], groups: Groups) -> NDArray[np.int64]:
    """Pairs of rows in one component: must-linked rows, and rows without answers with their copies."""
    grouped = np.zeros(len(point), dtype=bool)
    grouped[groups.row] = True
    order = np.lexsort((~grouped, point))
    copy_of = order[np.searchsorted(point[order], point)]  # a row with answers, if a copy has any
    free = np.flatnonzero(~grouped & (copy_of != np.arange(len(point))))
    leader = np.array([rows[0] for rows in groups.rows], dtype=np.int64)[groups.number]
    return np.vstack([np.column_stack([free, copy_of[free]]), np.column_stack([groups.row, leader])])


def _cut(number: NDArray[np.int64], merges: LinkageMerges, threshold: float) -> Labels:
    """Label the rows by the merges up to a threshold."""
    kept = merges.pairs[merges.heights <= threshold]
    return find_components(int(number.max()) + 1, kept)[number].astype(np.int32)


def _choose_pair(
    problem: Problem, number: NDArray[np.int64], merges: LinkageMerges, threshold: float
) -> tuple[int, int] | None:
    """The nearest rows of the open merge that is nearest to the threshold; None if no merge is open."""
    at = np.searchsorted(merges.heights, threshold)  # merges are compared by rank, whatever the unit is
    n_identical = int(np.searchsorted(merges.heights, 0, side="right"))
    order = np.argsort(np.abs(np.arange(len(merges.pairs)) - at + 0.25), kind="stable")
    for merge in order[order >= n_identical].tolist():
        cluster = find_components(int(number.max()) + 1, merges.pairs[:merge])[number]
        sides = [np.flatnonzero(cluster == cluster[number == one][0]) for one in merges.pairs[merge].tolist()]
        if problem.askable is not None:
            sides = [rows[problem.askable[rows]] for rows in sides]
        point = problem.prepared.point
        sides = [rows[np.unique(point[rows], return_index=True)[1]] for rows in sides]
        pair = _nearest_unknown(problem.prepared.between, sides[0], sides[1], problem.evidence)
        if pair is not None:
            return pair
    return None


def _nearest_unknown(
    between: NDArray[np.float64], some: NDArray[np.intp], others: NDArray[np.intp], evidence: Evidence
) -> tuple[int, int] | None:
    """The nearest pair that a person has not been unsure about; None: leave the merge open."""
    unsure = 0
    for at in np.argsort(between[np.ix_(some, others)], axis=None, kind="stable").tolist():
        a, b = int(some[at // len(others)]), int(others[at % len(others)])
        verdict = evidence.verdict(a, b)
        if verdict is None:
            return a, b
        unsure += verdict == "unsure"
        if unsure == MOST_UNSURE:
            break
    return None
