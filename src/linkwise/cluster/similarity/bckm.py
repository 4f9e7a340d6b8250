"""BCKM: boosted constrained k-means.

Okabe and Yamada (2018), "Clustering using boosted constrained k-means algorithm", Algorithm 3: rounds of
constrained k-means (Algorithm 2). The constraints that a round breaks gain priority for the next, as examples
do in AdaBoost. Each round votes, with weight alpha, on which rows share a cluster; kernel k-means on all
votes gives the clustering.

Kept: all of it, with alpha* = 100 for a round that breaks nothing and ends the search. Settled: equal
priorities are ordered at random in every round, though the paper says that only the initial order is random
(section 3.2); priorities may start at the weights of the constraints. If the first round breaks half of all
priority, all votes are 0 as printed (lines 8, 9, 13); here it is used alone, with a warning.

Changed, each by a parameter: each round starts from centres of its own, as in the authors' program; a first
round that breaks half or more is tried up to 10 times, and a later one 3 times, before the rounds end; each
round returns its best pass, and ends after ten passes without a better one; the round that breaks nothing in
effect decides the result, so it runs from several starts and the one of least inertia counts; plain k-means
is returned if it satisfies more constraints. `BCKM.paper` is the method as printed, without these.

The matrix of votes is never formed: K follows from the labels of the rounds, one byte for each row and round.

Cost: for each round that of `CKM`; at the end O(n rounds k) a pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise.cluster.similarity.rounds import Rounds, RoundsClusterer, label_type, vote_weight
from linkwise.cluster.similarity.spaces import Init, Kernel, Space, SpaceMeans
from linkwise.cluster.similarity.weak_learner import (
    Convergence,
    PairList,
    Ties,
    WeakClustering,
    constrained_k_means,
    order_by_priority,
)
from linkwise.errors import ConstraintWarning
from linkwise.rng import rng_at
from linkwise.types import Progress

_PRINTED: dict[str, Any] = {
    "convergence": "stable",
    "last_starts": 1,
    "first_tries": 1,
    "later_tries": 1,
    "fallback": False,
}


class _Common(NamedTuple):
    """What all rounds have in common."""

    space: Space
    pairs: PairList
    k: int
    seed: int
    centers: SpaceMeans | None
    """The centres that each round starts from; None: every round chooses its own."""


class BCKM(RoundsClusterer):
    """Boosted constrained k-means: the consensus of many constrained clusterings.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : {"linear", "rbf", "precomputed"}, default="linear"
        Space of the distances: the rows as they are ("linear"); a Gaussian kernel with local scales, the
        distance to the 7th neighbour ("rbf"); or X is a symmetric, positive semidefinite matrix of
        similarities ("precomputed").
    n_rounds : int, default=100
        Largest number of rounds.
    alpha_star : float, default=100.0
        Weight of a round that breaks nothing, which is the last round.
    init : {"k-means++", "farthest"}, default="k-means++"
        How a round chooses its first rows: drawn in proportion to their squared distance (from a sample of
        100 000 rows if there are more), or each the farthest from those before.
    same_centers : bool, default=False
        Whether all rounds start from the same centres. Then several tries or starts of a round differ only in
        the order of constraints.
    n_init : int, default=10
        Number of starts of the final k-means.
    last_starts : int, optional
        Number of starts of the round that breaks nothing, of which the one of least inertia counts; by
        default `n_init` with convergence "repeat", and 1 with others.
    first_tries, later_tries : int, default=10 and 3
        How often the first round, and each later one, is tried before it may break half of all priority.
    max_passes : int, default=100
        Largest number of passes of a round.
    convergence : {"repeat", "stable", "first rise"}, default="repeat"
        When a round ends, see `CKM`.
    patience : int or None, default=10
        Number of passes without a better one after which a round ends, with convergence "repeat" only. With
        None only `max_passes` limits it.
    ties : {"random", "columns"}, default="random"
        Order of constraints with equal priority: random; or row by row, as in the columns of a matrix.
    full_distances : bool, default=True
        Whether two rows are compared by their squared distances. If False, the squared length of a row is
        left out, as in the authors' program, so rows far from the origin come first. This is slower.
    refill : bool, default=True
        Whether an empty cluster takes a far row. If False, it keeps its centre, as in the authors' program.
    fallback : bool, default=True
        Whether to return plain k-means if it satisfies more constraints.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break.
    n_rounds_ : int
        Number of rounds that count.
    alphas_, errors_ : ndarray of shape (n_rounds,)
        Weight of each round, and the share of priority that it breaks.
    hypotheses_ : ndarray of shape (n_rows, n_rounds)
        Labels of the rounds, one byte each for up to 256 clusters.
    kernel_ : CoMembership
        The matrix of votes as an operator.
    reason_ : {"consistent", "rounds", "half is broken", "no constraints"}
        Why the rounds ended: one broke nothing; `n_rounds` was reached; one broke half of the priority; or
        there are no constraints.
    fell_back_ : bool
        Whether plain k-means satisfied more constraints and is the result.

    Notes
    -----
    Constraints may be broken although all can be satisfied; with `fallback` the result satisfies at least as
    much weight as plain k-means. If no constraint may be broken, use `COPKMeans`.

    `predict` lets the rounds vote on new rows. For this the model stores the centres of all rounds, n_rounds
    x n_clusters x n_features numbers, or a copy of the rows if that is smaller. Kernels other than "linear"
    store all similarities, for at most 10 000 rows.

    References
    ----------
    Okabe and Yamada (2018), Clustering using boosted constrained k-means algorithm. Frontiers in Robotics
    and AI 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> c = lw.Constraints.sample(y, 500, random_state=0)
    >>> model = lw.BCKM(3, random_state=0).fit(X, constraints=c)
    >>> bool(lw.constraint_score(model.labels_, c) > 0.99)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"linear", "rbf", "precomputed"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "alpha_star": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"k-means++", "farthest"})],
        "same_centers": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "last_starts": [Interval(Integral, 1, None, closed="left"), None],
        "first_tries": [Interval(Integral, 1, None, closed="left")],
        "later_tries": [Interval(Integral, 1, None, closed="left")],
        "max_passes": [Interval(Integral, 1, None, closed="left")],
        "convergence": [StrOptions({"repeat", "stable", "first rise"})],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "ties": [StrOptions({"random", "columns"})],
        "full_distances": ["boolean"],
        "refill": ["boolean"],
        "fallback": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Kernel = "linear",
        n_rounds: int = 100,
        alpha_star: float = 100.0,
        init: Init = "k-means++",
        same_centers: bool = False,
        n_init: int = 10,
        last_starts: int | None = None,
        first_tries: int = 10,
        later_tries: int = 3,
        max_passes: int = 100,
        convergence: Convergence = "repeat",
        patience: int | None = 10,
        ties: Ties = "random",
        full_distances: bool = True,
        refill: bool = True,
        fallback: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_rounds = n_rounds
        self.alpha_star = alpha_star
        self.init = init
        self.same_centers = same_centers
        self.n_init = n_init
        self.last_starts = last_starts
        self.first_tries = first_tries
        self.later_tries = later_tries
        self.max_passes = max_passes
        self.convergence = convergence
        self.patience = patience
        self.ties = ties
        self.full_distances = full_distances
        self.refill = refill
        self.fallback = fallback
        self.random_state = random_state

    @classmethod
    def paper(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as printed (Algorithms 2 and 3).

        All rounds start from one set of initial centres, drawn by k-means++, which is how we read Section
        5.2. No round is tried again, each returns its last pass, the round that breaks nothing has one start,
        and plain k-means is never returned. The paper leaves two more things open: the final k-means keeps
        its 10 starts, and a round has at most 100 passes, since passes may go on without end.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `BCKM` that replace those of the preset.

        Returns
        -------
        BCKM
            The method, not fitted.
        """
        return cls(n_clusters, **{**_PRINTED, "same_centers": True, **parameters})

    @classmethod
    def authors(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as in the authors' public program.

        It is the printed method, except for the rounds. Each starts from rows of its own, far apart, compares
        two rows without their squared lengths, leaves empty clusters as they are, and ends when the inertia
        does not fall. Constraints of equal priority are ordered row by row. The final k-means is not in that
        program; it is ours.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `BCKM` that replace those of the preset.

        Returns
        -------
        BCKM
            The method, not fitted.
        """
        preset: dict[str, Any] = {
            "init": "farthest",
            "convergence": "first rise",
            "ties": "columns",
            "full_distances": False,
            "refill": False,
        }
        return cls(n_clusters, **{**_PRINTED, **preset, **parameters})

    def _rounds(self, space: Space, pairs: PairList, k: int, seed: int, progress: Progress | None) -> Rounds:
        self._pairs = pairs
        same = space.choose_centers(k, rng_at(seed, 1), self.init) if self.same_centers else None
        common = _Common(space, pairs, k, seed, same)
        hypotheses = np.empty((space.n, self.n_rounds), dtype=label_type(k))
        alphas: list[float] = []
        errors: list[float] = []
        priority = np.log(pairs.weight)  # in logarithms: it may grow beyond all numbers
        reason = "rounds"
        for t in range(self.n_rounds):
            weak = self._round(common, priority, t)
            if progress is not None:
                progress(t + 1, self.n_rounds)
            if weak.loss >= 0.5 and t > 0:
                reason = "half is broken"
                break
            if not weak.broken.any():
                weak = self._best_consistent(common, priority, t, weak)
            hypotheses[:, t] = weak.labels
            errors.append(weak.loss)
            if weak.loss >= 0.5:
                reason = "half is broken"
                alphas.append(1.0)
                _warn_of_half(weak.loss)
                break
            if not weak.broken.any():
                reason = "consistent"
                alphas.append(self.alpha_star)
                break
            alpha = vote_weight(weak.loss)
            alphas.append(alpha)
            priority += alpha * (2.0 * weak.broken - 1.0)
        return Rounds(hypotheses, np.array(alphas), np.array(errors), reason)

    def staged_priorities(self) -> Iterator[NDArray[np.float64]]:
        """Yield the priority of each constraint in each round, as shares of their sum.

        They are equal at first, or proportional to the weights of the constraints. A constraint that a round
        breaks gains a factor exp(alpha) for the next round, and one that it satisfies loses this factor.

        Yields
        ------
        ndarray of shape (n_constraints,)
            Priorities of the must-links, then of the cannot-links, in the order of `fit`'s constraints. There
            are `n_rounds_` of them, or none without constraints.
        """
        check_is_fitted(self)
        if self.reason_ == "no constraints":
            return
        priority = np.log(self._pairs.weight)
        must = self._pairs.must.astype(bool)
        for labels, alpha in zip(self.hypotheses_.T, self.alphas_, strict=True):
            share = np.exp(priority - priority.max())
            yield share / share.sum()
            together = labels[self._pairs.ends[:, 0]] == labels[self._pairs.ends[:, 1]]
            priority = priority + np.where(together != must, alpha, -alpha)

    def _best_consistent(
        self, common: _Common, priority: NDArray[np.float64], t: int, weak: WeakClustering
    ) -> WeakClustering:
        """Return the run of least inertia among several that break nothing; it decides the result."""
        starts = self.last_starts
        if starts is None:
            starts = self.n_init if self.convergence == "repeat" else 1
        for attempt in range(1, starts):
            other = self._run(common, priority, t, attempt)
            if not other.broken.any() and other.spread > weak.spread:
                weak = other
        return weak

    def _round(self, common: _Common, priority: NDArray[np.float64], t: int) -> WeakClustering:
        """Run constrained k-means, again if it breaks half of the priority."""
        for attempt in range(self.later_tries if t else self.first_tries):
            weak = self._run(common, priority, t, attempt)
            if weak.loss < 0.5:
                break
        return weak

    def _run(self, common: _Common, priority: NDArray[np.float64], t: int, attempt: int) -> WeakClustering:
        space, pairs, k, seed, centers = common
        rng = rng_at(seed, 0, t, attempt)
        share = np.exp(priority - priority.max())
        share /= share.sum()
        order = order_by_priority(pairs, priority, rng, self.ties)
        means = space.choose_centers(k, rng, self.init) if centers is None else centers
        return constrained_k_means(
            space,
            means,
            pairs,
            order,
            share,
            self.max_passes,
            convergence=self.convergence,
            patience=self.patience,
            full_distances=self.full_distances,
            refill=self.refill,
        )


def _warn_of_half(loss: float) -> None:
    warnings.warn(
        f"The first round breaks {loss:.0%} of the constraints, so no other round follows and "
        "the result is this round alone.",
        ConstraintWarning,
        stacklevel=5,
    )
