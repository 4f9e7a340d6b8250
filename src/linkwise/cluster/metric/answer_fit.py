"""Whether the answers follow the compared columns, and which other columns they follow instead.

A learner asks whether a row belongs to the cluster that similarity suggests. If similarity says nothing, the
answer is "yes" as often as the cluster has a share of the rows seen so far, and `measure_excess` compares the
two. This holds whatever the learner chooses to ask. A second test asks whether rows of one cluster are more
alike than others, by the compared columns.

Where both find nothing, other columns are tested on the same pairs: on those that were answered and, with the
same weight, on those that follow from them. The statistic is the difference of the mean Savage scores (Hájek
and Šidák 1967), which count near pairs most, since rows that are far from each other are equally far whatever
they are. How large it gets by chance is found by permutations of the rows, and the largest statistic of all
columns in each permutation corrects for their number.

Cost: O(answers) while the answers follow the columns. Otherwise O(rows² · columns · permutations) for at most
`MOST_ROWS` rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.facts import Fact
from linkwise.rng import rng_at

Array = NDArray[np.float64]
LEAST_PAIRS = 20  # with an answer, before anything is said
LEAST_OF_EACH = 2  # answers of a kind
MOST_EXCESS = 1.0  # standard errors up to which the first `LEAST_PAIRS` answers look random to similarity
MOST_LATER = 2.5  # the same for all answers: later ones join parts of clusters, whose shares are small
MOST_STRENGTH = 1.645  # the same for the compared columns: 1 of 20 by chance
MOST_ROWS = 80  # that the tests look at, those of the latest answers
_MOST_CHANCE = 0.01  # that any of the other columns predicts the answers as well
_MOST_SHARE = 0.6  # of `AnswerFit` up to which the compared columns say little
_LEAST_GAIN = 0.2  # by which the share of another column is larger
_LEAST_STRENGTH = 0.6  # share of the strongest column's statistic that another proposed one has
_N_PERMUTATIONS = 999


@dataclass(frozen=True, slots=True)
class Predictor:
    """A column that predicts the answers.

    Attributes
    ----------
    name : str
        The column.
    share : float
        The probability that of a pair answered "yes" and one answered "no" the first is more alike in this
        column; 0.5 is chance.
    """

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class AnswerFit:
    """Answers that do not follow the compared columns, and the columns that they follow.

    Attributes
    ----------
    n_pairs : int
        Number of answered pairs.
    compared : tuple of str
        The columns that are compared.
    share : float
        As for `Predictor`, by all compared columns together.
    predictors : tuple of Predictor
        The columns that are not compared and predict the answers, the strongest first; at least one.
    """

    n_pairs: int
    compared: tuple[str, ...]
    share: float
    predictors: tuple[Predictor, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predictors."""
        return tuple(one.name for one in self.predictors)


class AnsweredPairs(NamedTuple):
    """Rows with answers, ascending, and what the answers say of their pairs.

    `pairs` has the places of the answered pairs in `rows`, `is_same` whether the answer was "yes", `cluster`
    the component of each row, and `apart` whether an answer separates the components of two rows.
    """

    rows: NDArray[np.int64]
    pairs: NDArray[np.int64]
    is_same: NDArray[np.bool_]
    cluster: NDArray[np.int64]
    apart: NDArray[np.bool_]


def find_predictors(
    facts: Sequence[Fact],
    X: NDArray[np.floating],
    compared: Sequence[str],
    measure_others: Callable[[NDArray[np.int64]], Mapping[str, Array]],
) -> AnswerFit | None:
    """Find the columns that the answers follow, if these are not the compared ones.

    `X` holds the rows as they are compared. `measure_others` returns, for some rows, the distances between
    them by each other column; it is called only if the answers do not follow the compared columns. Returns
    None if they do, if no other column predicts them, and while there are fewer than 20 answered pairs or
    fewer than 2 of a kind.
    """
    if not has_no_excess(facts):
        return None
    seen = list_pairs(facts)
    if not is_random(facts, X, seen):
        return None
    n_same = int(seen.is_same.sum())
    if min(n_same, len(seen.pairs) - n_same) < LEAST_OF_EACH:
        return None
    own = _measure_share(_square_distances(X[seen.rows].astype(np.float64)), seen)
    others = measure_others(seen.rows) if own < _MOST_SHARE else {}
    if not others:
        return None
    strengths, chances = _test(_weigh_answers(seen) + _weigh_components(seen), list(others.values()))
    strongest = float(strengths.max())
    found = [
        (strength, Predictor(name, _measure_share(distances, seen)))
        for (name, distances), strength, chance in zip(others.items(), strengths, chances, strict=True)
        if chance <= _MOST_CHANCE and strength >= _LEAST_STRENGTH * strongest
    ]
    by_strength = sorted(found, key=lambda each: -each[0])
    predictors = tuple(one for _, one in by_strength if one.share >= own + _LEAST_GAIN)
    if not predictors:
        return None
    return AnswerFit(len(seen.pairs), tuple(compared), own, predictors)


def is_random(facts: Sequence[Fact], X: NDArray[np.floating], seen: AnsweredPairs | None = None) -> bool:
    """Whether the answers look random to the similarity of the rows; False with fewer than 20 of them."""
    if not has_no_excess(facts):
        return False
    seen = list_pairs(facts) if seen is None else seen
    between = _square_distances(X[seen.rows].astype(np.float64))
    if not np.isfinite(between).all():
        return False
    return _measure_strength(_weigh_components(seen), _score(between)) < MOST_STRENGTH


def has_no_excess(facts: Sequence[Fact]) -> bool:
    """Whether the answers to questions are "yes" no more often than if similarity said nothing.

    False with fewer than 20 answered pairs.
    """
    known = [fact for fact in facts if fact.answer != "unsure"]
    if len(known) < LEAST_PAIRS or measure_excess(known[:LEAST_PAIRS]) >= MOST_EXCESS:
        return False
    return measure_excess(known) < MOST_LATER


def measure_excess(facts: Iterable[Fact]) -> float:
    """Measure by how many standard errors there are more "yes" than if similarity said nothing.

    Then two components are one with a probability that is the share of the larger one among the rows that
    the smaller one may belong to, where one more row stands for clusters that nobody has seen. Answers that
    follow from earlier ones, as questions that check, count neither way.
    """
    of: dict[int, int] = {}  # component of each row
    size: dict[int, int] = {}
    apart: dict[int, set[int]] = {}
    surplus = variance = 0.0
    for fact in facts:
        if fact.answer == "unsure":
            continue
        for row in fact.pair:
            if row not in of:
                of[row] = row
                size[row], apart[row] = 1, set()
        large, small = sorted((of[fact.first], of[fact.second]), key=lambda one: -size[one])
        if large == small or small in apart[large]:
            continue
        n_free = len(of) - size[small] - sum(size[one] for one in apart[small])
        chance = size[large] / (n_free + 1)
        if fact.asked and len(of) > 2:
            surplus += (fact.answer == "yes") - chance
            variance += chance * (1 - chance)
        if fact.answer == "no":
            apart[large].add(small)
            apart[small].add(large)
            continue
        of.update((row, large) for row, one in of.items() if one == small)
        size[large] += size.pop(small)
        for one in apart.pop(small):
            apart[one].remove(small)
            apart[one].add(large)
            apart[large].add(one)
    return float(surplus / variance**0.5) if variance > 0 else 0.0


def list_pairs(facts: Sequence[Fact]) -> AnsweredPairs:
    """List the answered pairs, with the components of their rows; of many rows those of the last answers."""
    taken: list[Fact] = []
    named: set[int] = set()
    for fact in reversed(facts):
        if fact.answer != "unsure":
            if len(named | {*fact.pair}) > MOST_ROWS:
                break
            named |= {*fact.pair}
            taken.append(fact)
    taken.reverse()
    rows = np.array(sorted(named), dtype=np.int64)
    pairs = np.searchsorted(rows, np.array([fact.pair for fact in taken], dtype=np.int64).reshape(-1, 2))
    is_same = np.array([fact.answer == "yes" for fact in taken], dtype=bool)
    cluster = np.arange(len(rows))
    for first, second in pairs[is_same]:
        cluster[cluster == cluster[second]] = cluster[first]
    between = np.zeros((len(rows), len(rows)), dtype=bool)
    between[tuple(cluster[pairs[~is_same]].T)] = True
    apart = (between | between.T)[cluster][:, cluster] & (cluster[:, None] != cluster)
    return AnsweredPairs(rows, pairs, is_same, cluster, apart)


# ---------------------------------------------------------------- the test
def _weigh_answers(seen: AnsweredPairs) -> Array:
    """(m, m) weights that give the mean score of the pairs answered "no" less that of the others."""
    same, apart = (np.zeros(seen.apart.shape) for _ in range(2))
    np.add.at(same, tuple(seen.pairs[seen.is_same].T), 1.0)
    np.add.at(apart, tuple(seen.pairs[~seen.is_same].T), 1.0)
    weight: Array = apart / max(apart.sum(), 1.0) - same / max(same.sum(), 1.0)
    return weight


def _weigh_components(seen: AnsweredPairs) -> Array:
    """The same for all pairs within a component and between two that are separate."""
    same = np.triu(seen.cluster[:, None] == seen.cluster, 1).astype(float)
    apart = np.triu(seen.apart, 1).astype(float)
    weight: Array = apart / max(apart.sum(), 1.0) - same / max(same.sum(), 1.0)
    return weight


def _measure_strength(weight: Array, scores: Array) -> float:
    """The statistic in standard errors over all permutations of the rows (Mantel 1967, equation 8)."""
    n, weight = len(weight), (weight + weight.T) / 2
    if n < 4:
        return 0.0
    parts = []
    for table in (weight, scores):
        squares, rows, total = (table**2).sum(), (table.sum(axis=1) ** 2).sum(), table.sum()
        parts.append((2 * squares, 4 * (rows - squares), total**2 + 2 * squares - 4 * rows, total))
    pairs, threes, fours = n * (n - 1), n * (n - 1) * (n - 2), n * (n - 1) * (n - 2) * (n - 3)
    (a, b, c, t), (d, e, f, u) = parts
    mean = t * u / pairs
    variance = a * d / 2 / pairs + b * e / 4 / threes + c * f / fours - mean**2
    return float(((weight * scores).sum() - mean) / variance**0.5) if variance > 1e-18 else 0.0


def _test(weight: Array, distances: Sequence[Array]) -> tuple[Array, Array]:
    """Return the statistic of each column, in standard errors, and the chance that any gets as large."""
    scores = np.array([_score(each) for each in distances])
    first, second = np.nonzero(weight)
    weights, rng = weight[first, second], rng_at(0, len(weight))
    found = scores[:, first, second] @ weights
    by_chance = np.empty((_N_PERMUTATIONS, len(scores)))
    for at in range(_N_PERMUTATIONS):
        order = rng.permutation(len(weight))
        by_chance[at] = scores[:, order[first], order[second]] @ weights
    mean, spread = by_chance.mean(axis=0), by_chance.std(axis=0)
    spread[spread < 1e-12] = np.inf  # a column without differences says nothing
    strengths = (found - mean) / spread
    largest = ((by_chance - mean) / spread).max(axis=1)
    chances = (1 + (largest[:, None] >= strengths).sum(axis=0)) / (1 + _N_PERMUTATIONS)
    return strengths, chances


def _score(distances: Array) -> Array:
    """(m, m) Savage scores of the pairs by their distances, from far below 0 for the nearest pair to 0."""
    upper = np.triu_indices(len(distances), 1)
    values = distances[upper]
    # sums in another order differ in the last bits
    _, group = np.unique(values.round(9), return_inverse=True)
    ranked = np.empty(len(values))
    ranked[np.argsort(values, kind="stable")] = np.log(np.arange(1, len(values) + 1) / len(values))
    mean = np.bincount(group, ranked) / np.bincount(group)
    scores = np.zeros(distances.shape)
    scores[upper] = mean[group]
    found: Array = scores + scores.T
    return found


def _measure_share(distances: Array, seen: AnsweredPairs) -> float:
    """How often a pair answered "yes" is nearer than one answered "no"; ties count half."""
    between = distances[tuple(seen.pairs.T)].round(9)
    same, apart = between[seen.is_same][:, None], between[~seen.is_same]
    return float((same < apart).mean() + (same == apart).mean() / 2)


def _square_distances(X: Array) -> Array:
    """(m, m) squared Euclidean distances."""
    with np.errstate(over="ignore", invalid="ignore"):  # whoever reads them checks that they are finite
        found: Array = np.square(X[:, None] - X).sum(axis=2) if X.size < 1e5 else _by_products(X)
    return found


def _by_products(X: Array) -> Array:
    """The same for many features, without a table of all differences."""
    norms = np.square(X).sum(axis=1)
    found: Array = np.maximum(norms[:, None] + norms - 2 * X @ X.T, 0.0)
    return found
