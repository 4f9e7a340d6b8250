"""RCKM: the consensus of constrained k-means in random orders.

Okabe and Yamada (2018), "Clustering using boosted constrained k-means algorithm", section 5.1: like BCKM, but
with the constraints in random order in every round, so rounds do not learn from each other.

Settled: the paper does not say how rounds are weighted. Here they are weighted by their error rate as in
BCKM, with the same alpha* for a round that breaks nothing (the rounds go on); a round that breaks half or
more has no vote. With ``weights="equal"`` each round has one vote.

Cost: as BCKM.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.asking.learner import Progress, rng_at
from linkwise.cluster.similarity.rounds import Rounds, RoundsClusterer, label_type, vote_weight
from linkwise.cluster.similarity.spaces import Init, Kernel, Space
from linkwise.cluster.similarity.weak_learner import PairList, constrained_k_means


class RCKM(RoundsClusterer):
    """The consensus of many runs of constrained k-means in random orders.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : {"linear", "rbf", "precomputed"}, default="linear"
        Space of the distances, see `BCKM`.
    n_rounds : int, default=100
        Number of rounds.
    weights : {"error", "equal"}, default="error"
        Votes of the rounds: by the share of constraints that they break, or one vote each.
    alpha_star : float, default=100.0
        Weight of a round that breaks nothing.
    init : {"k-means++", "farthest"}, default="k-means++"
        How a round chooses its first rows, see `BCKM`.
    n_init : int, default=10
        Number of starts of the final k-means.
    max_passes : int, default=100
        Largest number of passes of a round.
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
        Number of rounds with a vote.
    alphas_, errors_ : ndarray of shape (n_rounds,)
        Weight of each, and the share of the constraints' weight that it breaks.
    hypotheses_ : ndarray of shape (n_rows, n_rounds)
        Their labels, one byte each for up to 256 clusters.
    kernel_ : CoMembership
        The matrix of votes as an operator.
    reason_ : {"rounds", "half is broken", "no constraints"}
        Why there are no more rounds. "half is broken": every round broke half or more, and only the best one
        counts.
    fell_back_ : bool
        Whether plain k-means satisfied more constraints and is the result.

    Notes
    -----
    `predict` lets the rounds vote on new rows. For this the centres of all rounds are stored, n_rounds x
    n_clusters x n_features numbers.

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
    >>> lw.RCKM(3, random_state=0).fit(X, constraints=c).n_clusters_
    3
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"linear", "rbf", "precomputed"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"error", "equal"})],
        "alpha_star": [Interval(Real, 0, None, closed="neither")],
        "init": [StrOptions({"k-means++", "farthest"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_passes": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Kernel = "linear",
        n_rounds: int = 100,
        weights: Literal["error", "equal"] = "error",
        alpha_star: float = 100.0,
        init: Init = "k-means++",
        n_init: int = 10,
        max_passes: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_rounds = n_rounds
        self.weights = weights
        self.alpha_star = alpha_star
        self.init = init
        self.n_init = n_init
        self.max_passes = max_passes
        self.random_state = random_state

    def _rounds(self, space: Space, pairs: PairList, k: int, seed: int, progress: Progress | None) -> Rounds:
        hypotheses = np.empty((space.n, self.n_rounds), dtype=label_type(k))
        errors = np.empty(self.n_rounds)
        share = pairs.weight / pairs.weight.sum()
        for t in range(self.n_rounds):
            rng = rng_at(seed, 0, t)
            order = rng.permutation(len(share)).astype(np.int32)
            means = space.choose_centers(k, rng, self.init)
            weak = constrained_k_means(space, means, pairs, order, share, self.max_passes)
            hypotheses[:, t], errors[t] = weak.labels, weak.loss
            if progress is not None:
                progress(t + 1, self.n_rounds)
        votes = np.flatnonzero(errors < 0.5)
        if len(votes) == 0:
            best = int(errors.argmin())
            return Rounds(hypotheses[:, [best]], np.ones(1), errors[[best]], "half is broken")
        alphas = np.array([self._weight(error) for error in errors[votes]])
        return Rounds(np.ascontiguousarray(hypotheses[:, votes]), alphas, errors[votes], "rounds")

    def _weight(self, error: float) -> float:
        if self.weights == "equal":
            return 1.0
        return vote_weight(error) if error > 0 else self.alpha_star
