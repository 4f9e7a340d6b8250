"""RCKM: the consensus of constrained k-means in random orders.

Okabe and Yamada (2018), "Clustering using boosted constrained k-means algorithm", section 5.1: like BCKM, but
with the constraints in random order in every round, so rounds do not learn from each other.

Settled: the paper does not say how rounds are weighted. Here they are weighted by their error rate as in
BCKM, with the same alpha* for a round that breaks nothing (the rounds go on); a round that breaks half or
more has no vote. With ``weights="equal"`` each round has one vote.

Changed: each round starts from centres of its own, ends after ten passes without a better one, and returns
its best pass. The paper's figures are those of rounds that all start from the same centres, far apart, and
end when the inertia does not fall (``RCKM.authors()``): then the rounds differ in the order alone, and are
far worse on spiral and sonar.

Cost: as BCKM.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.cluster.similarity.rounds import Rounds, RoundsClusterer, label_type, vote_weight
from linkwise.cluster.similarity.spaces import Init, Kernel, Space
from linkwise.cluster.similarity.weak_learner import Convergence, PairList, constrained_k_means
from linkwise.rng import rng_at
from linkwise.types import Progress


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
    same_centers : bool, default=False
        Whether all rounds start from the same centres.
    n_init : int, default=10
        Number of starts of the final k-means.
    max_passes : int, default=100
        Largest number of passes of a round.
    convergence : {"repeat", "stable", "first rise"}, default="repeat"
        When a round ends, see `CKM`.
    patience : int or None, default=10
        Number of passes without a better one after which a round ends, with convergence "repeat" only. With
        None only `max_passes` limits it.
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
    Constraints may be broken although all can be satisfied; with `fallback` the result satisfies at least as
    much weight as plain k-means. If no constraint may be broken, use `COPKMeans`.

    `predict` lets the rounds vote on new rows. For this the model stores the centres of all rounds, n_rounds
    x n_clusters x n_features numbers, or a copy of the rows if that is smaller.

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
        "same_centers": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_passes": [Interval(Integral, 1, None, closed="left")],
        "convergence": [StrOptions({"repeat", "stable", "first rise"})],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
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
        weights: Literal["error", "equal"] = "error",
        alpha_star: float = 100.0,
        init: Init = "k-means++",
        same_centers: bool = False,
        n_init: int = 10,
        max_passes: int = 100,
        convergence: Convergence = "repeat",
        patience: int | None = 10,
        full_distances: bool = True,
        refill: bool = True,
        fallback: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_rounds = n_rounds
        self.weights = weights
        self.alpha_star = alpha_star
        self.init = init
        self.same_centers = same_centers
        self.n_init = n_init
        self.max_passes = max_passes
        self.convergence = convergence
        self.patience = patience
        self.full_distances = full_distances
        self.refill = refill
        self.fallback = fallback
        self.random_state = random_state

    @classmethod
    def paper(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as described: constraints in random order, and rounds as printed (Algorithm 2).

        All rounds start from one set of initial centres, drawn by k-means++, which is how we read Section
        5.2, and return their last pass; plain k-means is never returned. How rounds are weighted is not said.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `RCKM` that replace those of the preset.

        Returns
        -------
        RCKM
            The method, not fitted.
        """
        printed = {"same_centers": True, "convergence": "stable", "fallback": False}
        return cls(n_clusters, **{**printed, **parameters})

    @classmethod
    def authors(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method that comes closest to the printed figures.

        The authors' program of RCKM is not public. This one has the constrained k-means of their public
        program, as `CKM.authors` has it but in random order, and the same first centres in all rounds.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `RCKM` that replace those of the preset.

        Returns
        -------
        RCKM
            The method, not fitted.
        """
        program = {
            "same_centers": True,
            "init": "farthest",
            "convergence": "first rise",
            "full_distances": False,
            "refill": False,
            "fallback": False,
        }
        return cls(n_clusters, **{**program, **parameters})

    def _rounds(self, space: Space, pairs: PairList, k: int, seed: int, progress: Progress | None) -> Rounds:
        hypotheses = np.empty((space.n, self.n_rounds), dtype=label_type(k))
        errors = np.empty(self.n_rounds)
        share = pairs.weight / pairs.weight.sum()
        same = space.choose_centers(k, rng_at(seed, 1), self.init) if self.same_centers else None
        for t in range(self.n_rounds):
            rng = rng_at(seed, 0, t)
            order = rng.permutation(len(share)).astype(np.int32)
            means = space.choose_centers(k, rng, self.init) if same is None else same
            weak = constrained_k_means(
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
