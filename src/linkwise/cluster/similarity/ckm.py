"""CKM: k-means that satisfies constraints in the order of their priorities.

Okabe and Yamada (2018), "Clustering using boosted constrained k-means algorithm", section 3.2, Algorithm 2
(see `weak_learner`) on its own, with constraints of equal priority in random order.

Settled where the paper is silent: every pass clears all labels and goes through all pairs again; an empty
cluster takes a far row; passes that cycle end when labels repeat. Changed: a start also ends after ten passes
without a better one; the result is the pass that breaks least, of several starts, and plain k-means is
returned if it satisfies more constraints. ``CKM.paper()`` has one start, which ends when labels repeat or
after 100 passes, and returns its last pass; ``CKM.authors()`` ends as the authors' program does. Added:
kernels, and weights of constraints as priorities.

Cost: a pass is one of plain k-means and O(constraints).
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans.components import compact_labels
from linkwise.cluster.kmeans.penalised import is_satisfied
from linkwise.cluster.kmeans.starts import check_init
from linkwise.cluster.nearest_row import NearestRow
from linkwise.cluster.similarity.rounds import prefer_more_satisfied, run_plain
from linkwise.cluster.similarity.spaces import Init, Kernel, Space, SpaceMeans, Vectors, make_space
from linkwise.cluster.similarity.weak_learner import (
    Convergence,
    Ties,
    WeakClustering,
    constrained_k_means,
    list_pairs,
    order_by_priority,
)
from linkwise.constraints.constraints import Constraints
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress


def _has_rows(model: CKM) -> bool:
    return model.kernel != "precomputed"


class CKM(CenteredClusterer):
    """k-means that satisfies constraints in the order of their priorities.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : {"linear", "rbf", "precomputed"}, default="linear"
        Space of the distances: the rows as they are ("linear"); a Gaussian kernel with local scales, the
        distance to the 7th neighbour ("rbf"); or X is a symmetric, positive semidefinite matrix of
        similarities ("precomputed").
    init : {"k-means++", "farthest"} or array of shape (n_clusters, n_features), default="k-means++"
        First centres: rows drawn in proportion to their squared distance; rows that are each farthest from
        those before; or given centres (kernel "linear" only, in one start).
    n_init : int, default=10
        Number of starts; the result breaks the least weight, and of equal ones has the least inertia.
    max_passes : int, default=100
        Largest number of passes of one start.
    convergence : {"repeat", "stable", "first rise"}, default="repeat"
        When a start ends: when labels repeat, with the pass that breaks least; when labels repeat, with the
        last pass, as printed; or when the inertia does not fall, with the pass before.
    patience : int or None, default=10
        Number of passes without a better one after which a start ends, with convergence "repeat" only. With
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
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centre of each cluster, with kernel "linear" only.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break.
    n_passes_ : int
        Number of passes up to the chosen one; 0 if plain k-means is the result.
    fell_back_ : bool
        Whether plain k-means satisfied more constraints and is the result.

    Notes
    -----
    CKM may break constraints that can all be satisfied: a pass never takes an assignment back. As in the
    paper, only the first two in the order hold, those of the largest weights; the fallback to plain k-means
    may break these, too, for more weight of others. If no constraint may be broken, use `COPKMeans`.

    `predict` assigns new rows to the nearest centre; with kernel "rbf" this is approximated by the nearest
    fitted row, and with "precomputed" there is no `predict`. Kernels other than "linear"
    store all similarities, for at most 10 000 rows.

    References
    ----------
    Okabe and Yamada (2018), Clustering using boosted constrained k-means algorithm. Frontiers in Robotics
    and AI 5.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> c = lw.Constraints(4, must_link=[(1, 2)], cannot_link=[(0, 1)])
    >>> lw.CKM(2, random_state=0).fit(X, constraints=c).violations_
    0
    """

    sparse: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions({"linear", "rbf", "precomputed"})],
        "init": [StrOptions({"k-means++", "farthest"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
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
        init: Init | ArrayLike = "k-means++",
        n_init: int = 10,
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
        self.init = init
        self.n_init = n_init
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
        """Create the method as printed: one start, its last pass, and no plain k-means.

        Constraints are in random order (section 5.1), and first centres drawn by k-means++ (section 5.1).

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `CKM` that replace those of the preset.

        Returns
        -------
        CKM
            The method, not fitted.
        """
        printed: dict[str, Any] = {"n_init": 1, "convergence": "stable", "fallback": False}
        return cls(n_clusters, **{**printed, **parameters})

    @classmethod
    def authors(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as in the authors' program, which explains the paper's figures of CKM.

        It has one start from rows far apart, orders constraints row by row, compares two rows without their
        squared lengths, leaves empty clusters as they are, ends when the inertia does not fall, and never
        returns plain k-means.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `CKM` that replace those of the preset.

        Returns
        -------
        CKM
            The method, not fitted.
        """
        preset: dict[str, Any] = {
            "init": "farthest",
            "n_init": 1,
            "convergence": "first rise",
            "ties": "columns",
            "full_distances": False,
            "refill": False,
            "fallback": False,
        }
        return cls(n_clusters, **{**preset, **parameters})

    def _fit(self, X: Any, constraints: Constraints, k: int, seed: int, progress: Progress | None) -> Labels:
        starts = self._given_centers(X, k)
        space = make_space(X, self.kernel) if starts is None else Vectors(X)
        self.fell_back_, self.n_passes_ = False, 0
        if constraints.n_constraints == 0:
            return self._finish(X, self._plain(X, space, starts, k, seed), k)
        best = self._best(space, starts, constraints, k, seed, progress)
        self.n_passes_ = best.n_passes
        labels = best.labels
        if not self.fallback or is_satisfied(constraints, labels):
            return self._finish(X, labels, k)
        better = prefer_more_satisfied(self._plain(X, space, starts, k, seed), labels, constraints)
        if better is not None:
            self.fell_back_, self.n_passes_, labels = True, 0, better
        return self._finish(X, labels, k)

    def _given_centers(self, X: Any, k: int) -> points.Centers | None:
        """Return given centres, (1, k, d), or None."""
        if isinstance(self.init, str):
            return None
        if self.kernel != "linear":
            raise ValueError(
                f"init gives centres, but kernel={self.kernel!r} has none. Pass 'k-means++' or 'farthest'."
            )
        return check_init(self.init, self.n_clusters, k, X.shape[1])[None]

    def _best(
        self,
        space: Space,
        starts: points.Centers | None,
        constraints: Constraints,
        k: int,
        seed: int,
        progress: Progress | None,
    ) -> WeakClustering:
        pairs = list_pairs(constraints)
        share = pairs.weight / pairs.weight.sum()
        found = []
        n_starts = self.n_init if starts is None else 1
        for number in range(n_starts):
            rng = rng_at(seed, number)
            means = self._start(space, starts, k, rng)
            order = order_by_priority(pairs, pairs.weight, rng, self.ties)
            run = constrained_k_means(
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
            found.append(run)
            if progress is not None:
                progress(number + 1, n_starts)
        return min(found, key=lambda weak: (weak.loss, -weak.spread))

    def _start(
        self, space: Space, starts: points.Centers | None, k: int, rng: np.random.Generator
    ) -> SpaceMeans:
        if starts is not None:
            return SpaceMeans(starts[0], 0.0)
        init: Any = self.init
        return space.choose_centers(k, rng, init)

    def _plain(self, X: Any, space: Space, starts: points.Centers | None, k: int, seed: int) -> Labels:
        if starts is not None:
            labels: Labels = points.run_lloyd(X, starts, max_iter=self.max_passes).labels[0]
            return labels
        return run_plain(X, space, k, seed, self.n_init, self.max_passes)

    def _finish(self, X: Any, labels: Labels, k: int) -> Labels:
        labels, _ = compact_labels(labels, k)
        if self.kernel == "linear":
            empty = np.zeros((int(labels.max()) + 1, X.shape[1]))
            self.cluster_centers_ = points.cluster_means(X, labels, empty)
        return labels

    def _keep_rule(self, X: Any) -> None:
        if self.kernel == "rbf":
            self._nearest_row = NearestRow.remember(X, self.labels_)

    def _nearest(self, X: Any) -> Labels:
        return super()._nearest(X) if self.kernel == "linear" else self._nearest_row.find(X)

    predict = available_if(_has_rows)(CenteredClusterer.predict)
    score = available_if(_has_rows)(CenteredClusterer.score)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
