"""Record linkage: many small groups, found by one threshold that answers decide.

Rows are merged by average linkage, and merges higher than a threshold are left out. Each question is about
the open merge that is nearest to the threshold, so the first answers bisect the heights of all merges, and
later ones check the merges that remain doubtful. Each answer holds in the clustering: must-linked rows start
as one cluster, and a cannot-link forbids a merge. Identical rows belong together without a question.

The higher two rows meet in the merges without any answer, the less likely is a "yes" about them. This
chance is taken for a logistic curve, and the threshold is where it is one half. The posterior of its place
and its slope follows from all answers, so a wrong answer, or a pair that no threshold separates, moves it
little. (A threshold that breaks the fewest answers follows a few of them, since "yes" and "no" mix near it.)
If answers may be wrong, the curve also tells which of them are improbable. It follows the answers as they
were given, because it would confirm itself by what is believed of them. The method is linkwise's own.

Given pairs are no answers to these questions: people list the duplicates that they know. Without an oracle
the threshold therefore follows the must-links alone. For each height, the share r of must-links that meet
below it estimates recall, and r² divided by the number of pairs that are joined is proportional to recall
times precision (Lee and Liu, 2003, Learning with positive and unlabeled examples using weighted logistic
regression, ICML). The height where it is largest is taken, or one nearly as
good with a wider gap to the next merge. With fewer than five must-links the widest gap alone decides.

Cost: O(n²) memory and time for n rows; O(m²) a question, for m components.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.constraints.belief import Nearness, measure_nearness
from linkwise.constraints.closure import find_components
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Groups
from linkwise.constraints.fallible import FallibleEvidence
from linkwise.errors import DataError
from linkwise.learn.base import ActiveLearner
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.learner import Asking, Problem, Question
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows
from linkwise.wording import count_noun

MOST_ROWS = 10_000  # their distances take 0.8 GB, twice during a merge
MOST_UNSURE = 3  # answers "unsure" about a merge after which it is left open
SLOPES = (0.003, 0.03, 0.3)  # widths of the curve of "yes", in shares of the merges; all as likely at first
MIDDLE = 3.0  # both parameters of the beta prior of the threshold, in shares of the merges
LEAST_ERRORS = 0.05  # share of the answers that the curve does not explain, at least
ROUNDING = 1e-9  # of sums of chances
LEAST_LINKS = 5  # given must-links that tell the threshold
GOOD_FIT = 0.9  # share of the best fit from which the widest gap between merges decides
DOUBT = 0.05  # of the curve, where it judges answers that may be wrong
_WHY = "Groups as near as theirs are the hardest to judge: nearer ones probably belong together."


class LinkageMerges(NamedTuple):
    """The merges of average linkage, the nearest first, with their mean distances.

    `pairs` has the cluster that stays, and the one that is put into it.
    """

    pairs: NDArray[np.int64]
    heights: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """What follows from the rows alone; distances are in units of the largest absolute value.

    `rows` are around their mean. Identical rows have the same `point`. `merges` are those without any
    answer.
    """

    between: NDArray[np.float64]
    rows: NDArray[np.float64]
    mean: NDArray[np.float64]
    unit: float
    point: NDArray[np.int64]
    merges: LinkageMerges


class Threshold(NamedTuple):
    """What the answers say about the heights of merges; those up to `height` count.

    `heights` are those of the merges of rows that are not identical, the lowest first. `chance`, one
    longer, is the chance that two rows belong together, by the number of merges lower than theirs.
    """

    height: float
    heights: NDArray[np.float64]
    chance: NDArray[np.float64]

    def chances(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chances that rows at these distances belong together."""
        return self.chance[np.searchsorted(self.heights, distances)]


@dataclass(slots=True, eq=False)
class LinkageState:
    """One run of `ThresholdLinkage`: the estimate, the clustering and the question of last time.

    `merged` has the component of each row and the merges at the start, until the first question uses
    them.
    """

    problem: Problem
    threshold: Threshold
    labels: Labels
    open: Question | None = None
    merged: tuple[NDArray[np.int64], LinkageMerges] | None = None


class ThresholdLinkage(ActiveLearner):
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
        X.
    n_clusters_, n_questions_, history_, reason_, constraints_, violations_, suspects_
        As for `COBRAS`.

    Raises
    ------
    DataError
        There are more than 10 000 rows.

    Notes
    -----
    Without an oracle the threshold follows the must-links, which should be a fair sample of the pairs that
    belong together. Twenty or more give a good one. With fewer than five it is the widest gap between the
    heights of merges.

    The distances between all rows are stored: 32 MB for 2000 rows. An answer about two groups moves the
    threshold for all, which works if typing errors are alike everywhere. For more rows use a program
    that compares within blocks, or, for records with texts, `RecordLinkage`.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0], [0.1], [5.0], [5.2], [9.0]])
    >>> y = [0, 0, 1, 1, 2]
    >>> lw.ThresholdLinkage().fit(X, oracle=lw.TruthOracle(y), budget=3).labels_.tolist()
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
                " Use RecordLinkage, which compares the columns of a table, or link a sample of the rows."
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
        threshold = estimate_threshold(problem.prepared.merges, problem.evidence)
        return LinkageState(problem, threshold, _cut(*merged, threshold.height), merged=merged)

    def fork(self, state: LinkageState, problem: Problem) -> LinkageState:
        """Copy a run; the copy first yields the question that is open."""
        return LinkageState(problem, state.threshold, state.labels, state.open, state.merged)

    def ask(self, state: LinkageState) -> Asking:
        """Ask about the open merge that is nearest to the threshold, until no merge is open."""
        problem, prepared = state.problem, state.problem.prepared
        while True:
            if state.open is None:
                number, merges = state.merged or _merge_components(prepared, problem.evidence)
                state.merged = None
                state.threshold = estimate_threshold(prepared.merges, problem.evidence)
                height = state.threshold.height
                state.labels = _cut(number, merges, height)
                pair = _choose_pair(problem, number, merges, height)
                if pair is None:
                    return state.labels
                state.open = Question(*pair, state.labels, _WHY)
            yield state.open
            state.open = None

    def current_labels(self, state: LinkageState) -> Labels:
        """The clustering at the last question."""
        return state.labels

    def nearness(self, state: LinkageState) -> Nearness:
        """How likely rows belong together by their distance alone, since most groups are tiny."""
        threshold, between = state.threshold, state.problem.prepared.between
        return replace(
            measure_nearness(state.problem.X),
            doubt=DOUBT,
            chances=lambda rows: threshold.chances(between[np.ix_(rows, rows)]),
            n_expected=np.inf,
            key=blake2b(threshold.chance.tobytes(), digest_size=16).digest(),
        )

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        """Cluster by the threshold that fits the given must-links."""
        prepared = self.prepare(X, seed)
        merges = prepared.merges
        height = fit_threshold(merges, evidence)
        self._keep_rule(prepared, height)
        links = np.array(_list_links(evidence), dtype=np.int64).reshape(-1, 2)
        joined = np.vstack([merges.pairs[merges.heights <= height], links])
        return enforce_answers(find_components(len(X), joined).astype(np.int32), evidence)

    def _keep_more(self, X: NDArray[Any], state: LinkageState) -> None:
        """Keep the threshold, and the rows that new ones are compared with."""
        prepared = state.problem.prepared
        self._keep_rule(prepared, estimate_threshold(prepared.merges, state.problem.evidence).height)

    def _keep_rule(self, prepared: Distances, height: float) -> None:
        self._fitted = prepared.mean, prepared.rows, prepared.unit
        self.threshold_ = height * prepared.unit

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
def estimate_threshold(merges: LinkageMerges, evidence: Evidence) -> Threshold:
    """Estimate the height at which "yes" and "no" are equally likely.

    It is the posterior median: without answers, half of the merges of all rows count.
    """
    heights = merges.heights[merges.heights > 0]  # identical rows belong together without a question
    n = len(heights)
    if n == 0:
        return Threshold(0.0, heights, np.ones(1))
    rank, is_yes = _rank_answers(merges, heights, evidence)
    share = (np.arange(n + 1) + 0.5) / (n + 1)
    prior = (MIDDLE - 1) * (np.log(share) + np.log1p(-share))
    prior[1:-1][heights[:-1] == heights[1:]] = -np.inf  # equal merges count all, or none of them
    errors = _share_of_errors(evidence)
    offset = np.arange(-n, n + 1) - 0.5  # of a threshold above k merges from a pair above r: k - r - 1 / 2
    curves = [expit(offset / (slope * n)) for slope in SLOPES]
    fits = np.stack([prior + _log_likelihood(errors + (1 - 2 * errors) * c, rank, is_yes) for c in curves])
    posterior = np.exp(fits - fits.max())
    posterior /= posterior.sum()
    passed = posterior.sum(axis=0).cumsum()
    k = int(np.searchsorted(passed, 0.5 - ROUNDING))
    low, high = (0.0 if k == 0 else heights[k - 1]), heights[min(k, n - 1)]
    chances = [np.correlate(c, weight)[::-1] for c, weight in zip(curves, posterior, strict=True)]
    return Threshold(float((low + high) / 2), heights, np.sum(chances, axis=0))


def fit_threshold(merges: LinkageMerges, evidence: Evidence) -> float:
    """Return the height that fits given must-links best: squared recall by the number of joined pairs.

    With few must-links the widest gap between two heights decides.
    """
    heights, pairs = merges.heights, _list_links(evidence)
    if len(heights) < 2:
        return 0.0
    size, joined = np.ones(evidence.n_rows), np.empty(len(heights))
    for at, (stays, goes) in enumerate(merges.pairs.tolist()):
        joined[at] = size[stays] * size[goes]
        size[stays] += size[goes]
    fit = np.ones(len(heights))
    if len(pairs) >= LEAST_LINKS:
        met = np.sort(_meeting_heights(merges, pairs, evidence.n_rows))
        fit = np.searchsorted(met, heights, "right") ** 2 / joined.cumsum()
    fit[:-1][heights[:-1] == heights[1:]] = 0  # equal merges count all
    gaps = np.where(fit >= GOOD_FIT * fit.max(), np.diff(heights, append=heights[-1]), -1)
    return float(heights[gaps.argmax()])


def _list_links(evidence: Evidence) -> list[tuple[int, int]]:
    return [fact.pair for fact in evidence if fact.answer == "yes"]


def _rank_answers(
    merges: LinkageMerges, heights: NDArray[np.float64], evidence: Evidence
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The number of merges that are lower than the one where each answer's rows meet, and what it says."""
    facts = [fact for fact in evidence if fact.answer != "unsure"]
    met = _meeting_heights(merges, [fact.pair for fact in facts], evidence.n_rows)
    is_yes = np.array([fact.answer == "yes" for fact in facts], dtype=bool)
    return np.searchsorted(heights, met[met > 0]), is_yes[met > 0]


def _share_of_errors(evidence: Evidence) -> float:
    """The share of the answers that do not follow the curve."""
    wrong = evidence.belief.error_rate if isinstance(evidence, FallibleEvidence) else 0.0
    return max(wrong, LEAST_ERRORS)


def _log_likelihood(
    curve: NDArray[np.float64], rank: NDArray[np.int64], is_yes: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """(n + 1,) log likelihood of the answers, for a threshold above 0, 1, ... n merges."""
    n = len(curve) // 2
    of_yes, of_no, total = np.log(curve), np.log1p(-curve), np.zeros(n + 1)
    for r, yes in zip(rank.tolist(), is_yes.tolist(), strict=True):
        total += (of_yes if yes else of_no)[n - r : 2 * n + 1 - r]
    return total


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
