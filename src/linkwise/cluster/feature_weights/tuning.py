"""Tune weights of dimensions under which a clusterer satisfies constraints.

Halkidi et al. (2008), section 3.3: a weighting is as good as its clustering, first by the satisfied
constraints, then by a validity index; hill climbing tunes one weight after the other. The functions have no
state: a round takes a weighting and returns the next one, so constraints and dimensions may be added in
between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.cluster import points
from linkwise.cluster.kmeans.components import compact_labels
from linkwise.cluster.metric.mmc import diagonal_weights
from linkwise.cluster.metric.mmc_newton import newton_weights
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels, Progress

Array = NDArray[np.float64]
StepBase = Literal["mean", "weight"]
Start = Literal["best", "mmc", "newton"]

MIXES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)  # shares of the metric of the constraints, the rest is equal
FACTORS = (0.0, 0.25, 0.5, 0.8, 0.9, 1.1, 1.25, 2.0, 4.0)
GROWTH_FLOOR = 1 / 16  # of the mean weight: smaller ones grow as if they were this
HALVINGS = 5  # of delta, at most
DIFFERENT = 0.01  # validities farther apart differ significantly
ROUNDING = 1e-9  # validities nearer than this are equal
MAX_ITER = 300  # of one run of k-means


class Clustering(NamedTuple):
    """A clustering of weighted rows."""

    labels: Labels
    """(n,) 0..k-1, or -1 for noise."""
    centers: Array
    """(k, m) means of the clusters, in the weighted dimensions."""
    model: Any = None
    """The estimator that made it."""
    names: NDArray[Any] = np.empty(0)
    """(k,) what this calls the clusters."""
    noise: bool = False
    """Whether some labels are -1."""


Validity = Callable[[Array, Clustering], float]


class ClusterFunction(Protocol):
    """A function that clusters weighted rows."""

    def __call__(self, rows: Array, starts: Array | None, /) -> Clustering:
        """Cluster rows; `starts` are (k, m) centres of another weighting."""
        ...


class Aim(NamedTuple):
    """The data, constraints and quality that weights are tuned for."""

    Z: Array
    """(n, m) rows, in dimensions by rank."""
    constraints: Constraints
    cluster: ClusterFunction
    validity: Validity
    constraint_weight: float | None = None
    """w of Eq. 3: what all constraints together count beside validity; None: more than any validity."""

    def first(self, m: int) -> Aim:
        """Restrict the aim to the first m dimensions."""
        return self._replace(Z=np.ascontiguousarray(self.Z[:, :m]))


class Weighting(NamedTuple):
    """Weights of the first m dimensions, their clustering and its quality."""

    weights: Array
    """(m,), at least 0."""
    found: Clustering
    broken: int
    """Constraints that the clustering breaks."""
    satisfied: float
    """Weight of those that it satisfies."""
    validity: float
    quality: float | None = None
    """Eq. 3 with a given w; None: the satisfied constraints come first."""

    def better_than(self, other: Weighting) -> bool:
        """Compare by the satisfied constraints, then by validity; or by the quality."""
        if self.quality is not None and other.quality is not None:
            return self.quality > other.quality + ROUNDING
        if self.satisfied != other.satisfied:
            return self.satisfied > other.satisfied
        return self.validity > other.validity + ROUNDING


class Trials:
    """Evaluate weightings and count the clusterings."""

    def __init__(self, aim: Aim, most: int, progress: Progress | None = None, done: int = 0) -> None:
        self.aim, self.most, self.done, self.progress = aim, most, done, progress
        self._near: tuple[Weighting | None, Array | None] = None, None  # many trials start from the same

    @property
    def spent(self) -> bool:
        """Whether the largest number of clusterings is reached."""
        return self.done >= self.most

    def __call__(
        self, weights: Array, near: Weighting | None = None, rival: Weighting | None = None
    ) -> Weighting:
        """Cluster under these weights, starting from the clustering of similar weights if given.

        If a rival satisfies more, validity is not computed, but -inf.
        """
        self.done += 1
        if near is not self._near[0]:
            self._near = near, _means(self.aim, near)
        starts, scale = self._near[1], np.sqrt(weights)
        rows = self.aim.Z * scale
        found = self.aim.cluster(rows, None if starts is None else starts * scale)
        c = self.aim.constraints
        must, cannot = c.find_violations(found.labels)
        if found.noise:  # of which no two rows are together
            must |= (found.labels[c.must_link] < 0).all(axis=1)
        satisfied = float(c.must_link_weight @ ~must + c.cannot_link_weight @ ~cannot)
        if self.progress is not None:
            self.progress(min(self.done, self.most), self.most)
        w = self.aim.constraint_weight
        lost = w is None and rival is not None and satisfied < rival.satisfied
        validity = -np.inf if lost else self.aim.validity(rows, found)
        quality = None if w is None else w * _accuracy(satisfied, c) + validity
        return Weighting(weights, found, int(must.sum() + cannot.sum()), satisfied, validity, quality)


def _accuracy(satisfied: float, constraints: Constraints) -> float:
    """Compute the satisfied share of the weight of all constraints, 1 without any."""
    total = float(constraints.must_link_weight.sum() + constraints.cannot_link_weight.sum())
    return satisfied / total if total > 0 else 1.0


def _means(aim: Aim, near: Weighting | None) -> Array | None:
    """Compute (k, m) means of the clusters in the dimensions without weights."""
    if near is None or len(near.found.centers) == 0:
        return None
    return points.cluster_means(aim.Z, near.found.labels, np.zeros((len(near.found.centers), aim.Z.shape[1])))


Tune = Callable[[Trials, Weighting, int], Weighting]


# ---------------------------------------------------------------- one round
def tune_weights(
    trials: Trials,
    before: Weighting | None,
    tune: Tune,
    sweeps: int,
    *,
    start: Start = "best",
    until_satisfied: bool = True,
) -> Weighting:
    """Find the best weights of the first dimensions by hill climbing.

    `before` is the result of an earlier round, with as many weights or fewer. ``tune(trials, best,
    dimension)`` is `try_factors` or `make_step_search`. A pass over all dimensions without improvement is
    the last, after at most `sweeps`. With `start` "best" the climb may start between equal weights and
    the metric of the constraints; with "mmc" or "newton" only at that metric, or where Newton's method ends.
    Unless `until_satisfied`, it continues for validity when every constraint is satisfied.
    """
    best = _choose_start(trials, before, start)
    for _ in range(sweeps):
        first = best
        for dimension in range(len(best.weights)):
            if until_satisfied and not best.broken:
                return best
            best = tune(trials, best, dimension)
        if trials.spent or not best.better_than(first):
            break
    return best


def _choose_start(trials: Trials, before: Weighting | None, start: Start) -> Weighting:
    first: Weighting | None = None
    best: Weighting | None = None
    for weights in _list_starts(trials.aim, before, start):
        if best is not None and trials.spent:
            break
        found = trials(weights, first, best)
        first = first or found
        best = found if best is None or found.better_than(best) else best
    assert best is not None
    return best


def _list_starts(aim: Aim, before: Weighting | None, start: Start) -> Iterator[Array]:
    """List first weights, of mean 1."""
    c, m = aim.constraints, aim.Z.shape[1]
    learn = newton_weights if start == "newton" else diagonal_weights
    learned = learn(
        aim.Z,
        c.must_link,
        c.cannot_link,
        must_link_weight=c.must_link_weight,
        cannot_link_weight=c.cannot_link_weight,
    )
    yield from ((1 - t) + t * learned for t in (MIXES if start == "best" else MIXES[-1:]))
    if before is not None:
        known = before.weights
        further = m - len(known)
        yield from (np.r_[known, np.full(further, w)] for w in ((0.0, known.mean()) if further else (0.0,)))


# ---------------------------------------------------------------- one weight
def try_factors(trials: Trials, best: Weighting, dimension: int) -> Weighting:
    """Try a weight at several factors, from none to four times what it is."""
    start, weight = best, best.weights[dimension]
    base = max(weight, GROWTH_FLOOR * best.weights.mean())
    for value in (factor * base for factor in FACTORS):
        weights = _replace_weight(start.weights, dimension, value)
        if value == weight or trials.spent or not weights.any():
            continue
        found = trials(weights, start, best)
        best = found if found.better_than(best) else best
    return best


def make_step_search(delta: float, base: StepBase = "mean") -> Tune:
    """Make a search by steps of `delta` up or down while they help, halved if too large.

    A step is a share of the weight, as printed (`base` "weight"), or of the mean weight if that is larger
    ("mean"), so that a weight of 0 can grow.
    """

    def tune(trials: Trials, best: Weighting, dimension: int) -> Weighting:
        for sign in (1, -1):
            start = best
            while not trials.spent:
                found = _step(trials, best, dimension, sign * delta, base)
                if not found.better_than(best):
                    break
                best = found
            if best is not start:
                break
        return best

    return tune


def _step(trials: Trials, best: Weighting, dimension: int, delta: float, base: StepBase) -> Weighting:
    """Try a step and its halves until two of them hardly differ; return the better one."""

    def at(step: float) -> Weighting:
        weight = best.weights[dimension]
        size = weight if base == "weight" else max(weight, best.weights.mean())
        value = max(0.0, weight + step * size)
        weights = _replace_weight(best.weights, dimension, value)
        return trials(weights, best) if weights.any() and value != weight else best

    whole = at(delta)
    for halving in range(1, HALVINGS + 1):
        if trials.spent:
            break
        half = at(delta / 2**halving)
        alike = half.satisfied == whole.satisfied and (
            half.validity == whole.validity or abs(half.validity - whole.validity) <= DIFFERENT
        )
        if alike or halving == HALVINGS:
            return half if half.better_than(whole) else whole
        whole = half
    return whole


def _replace_weight(weights: Array, dimension: int, value: float) -> Array:
    changed = weights.copy()
    changed[dimension] = value
    return changed


# ---------------------------------------------------------------- k-means
def make_k_means(k: int, seed: int, n_init: int) -> ClusterFunction:
    """Make a k-means that starts from the centres of another weighting, or from `n_init` draws.

    Starts are drawn once for a set of dimensions. So weightings are not compared by the luck of their draws,
    and a run that starts near its end takes two or three iterations.
    """

    def cluster(rows: Array, starts: Array | None, /) -> Clustering:
        if starts is None or len(starts) < k:  # weights of 0 may have made rows equal
            starts = points.draw_starts(rows, k, seed, n_init)
        begin = starts.reshape(-1, *starts.shape[-2:])
        ended = native.lloyd(rows, begin, MAX_ITER, 0.0, parallel.n_threads())
        best = int(ended.inertia.argmin())
        labels, centers = ended.labels[best], ended.centers[best]
        if not np.bincount(labels, minlength=len(centers)).all():
            labels, used = compact_labels(labels, len(centers))
            centers = centers[used]
        return Clustering(labels, centers)

    return cluster
