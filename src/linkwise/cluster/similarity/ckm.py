"""CKM: k-means that satisfies constraints in the order of their priorities.

Okabe and Yamada (2018), "Clustering using boosted constrained k-means algorithm", section 3.2, Algorithm 2
(see `weak_learner`), by itself, with constraints of equal priority in random order.

Settled where the paper is silent: labels are cleared at the start of every pass and all pairs looked at
again; the run ends when labels repeat and gives the pass that broke least (``CKM.authors()``: where the
inertia does not fall, the pass before, as the authors' program). Added: several starts, kernels, weights of
constraints as priorities; plain k-means is returned where it satisfies more.

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

from linkwise.asking.learner import Labels, Progress, rng_at
from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans.components import compact_labels
from linkwise.cluster.kmeans.penalised import improve_by_plain
from linkwise.cluster.kmeans.starts import check_init
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


def _has_centers(model: CKM) -> bool:
    return model.kernel == "linear"


class CKM(CenteredClusterer):
    """k-means that satisfies constraints in the order of their priorities.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    kernel : {"linear", "rbf", "precomputed"}, default="linear"
        Where distances are taken: among the rows as they are; under a Gaussian kernel with local scales (the
        distance to the 7th neighbour); or X is the symmetric, positive semidefinite matrix of similarities.
    init : {"k-means++", "farthest"} or array of shape (n_clusters, n_features), default="k-means++"
        Where centres start: rows drawn in proportion to their squared distance, rows each farthest from those
        before, or given (kernel "linear" only, in one start).
    n_init : int, default=10
        Starts; the one that breaks least weight is kept, of equal ones that of least inertia.
    max_passes : int, default=100
        Passes of one start.
    convergence : {"repeat", "first rise"}, default="repeat"
        When a start ends and what it gives: when labels repeat, the pass that broke least; or where the
        inertia does not fall, the pass before.
    ties : {"random", "columns"}, default="random"
        In which order constraints of equal priority are looked at: at random; or row by row, as they stand in
        the columns of a matrix, so that each row's are side by side.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        With kernel "linear" only.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break.
    n_passes_ : int
        Passes up to the one that was kept; 0 where plain k-means was.
    fell_back_ : bool
        Whether plain k-means satisfied more constraints and is the result.

    Notes
    -----
    ``predict`` (kernel "linear" only) gives new rows the nearest centre. Kernels other than "linear" need all
    similarities: at most 10 000 rows.

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
        "convergence": [StrOptions({"repeat", "first rise"})],
        "ties": [StrOptions({"random", "columns"})],
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
        ties: Ties = "random",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.init = init
        self.n_init = n_init
        self.max_passes = max_passes
        self.convergence = convergence
        self.ties = ties
        self.random_state = random_state

    @classmethod
    def authors(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """As the authors' program, which explains the paper's figures of CKM.

        One start from rows far apart, constraints row by row, ended where the inertia does not fall.
        """
        preset: dict[str, Any] = {
            "init": "farthest",
            "n_init": 1,
            "convergence": "first rise",
            "ties": "columns",
        }
        return cls(n_clusters, **{**preset, **parameters})

    def _fit(self, X: Any, constraints: Constraints, k: int, seed: int, progress: Progress | None) -> Labels:
        starts = self._given(X, k)
        space = make_space(X, self.kernel) if starts is None else Vectors(X)
        self.fell_back_, self.n_passes_ = False, 0
        if constraints.n_constraints == 0:
            return self._finished(X, self._plain(X, space, starts, k, seed), k)
        best = self._best(space, starts, constraints, k, seed, progress)
        self.n_passes_ = best.n_passes
        labels = best.labels
        if self.kernel == "linear":
            lists = [list(points.draw_starts(X, k, seed, self.n_init) if starts is None else starts)]
            other = improve_by_plain(X, constraints, labels, lists, self.max_passes, 1e-4)
            better = None if other is None else other.labels
        else:
            better = prefer_more_satisfied(self._plain(X, space, None, k, seed), labels, constraints)
        if better is not None:
            self.fell_back_, self.n_passes_, labels = True, 0, better
        return self._finished(X, labels, k)

    def _given(self, X: Any, k: int) -> points.Centers | None:
        """(1, k, d) centres, where they are given."""
        if isinstance(self.init, str):
            return None
        if self.kernel != "linear":
            raise ValueError(
                f"init gives centres, but kernel={self.kernel!r} has none. Give 'k-means++' or 'farthest'."
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
            rise = self.convergence == "first rise"
            found.append(
                constrained_k_means(space, means, pairs, order, share, self.max_passes, first_rise=rise)
            )
            if progress is not None:
                progress(number + 1, n_starts)
        return min(found, key=lambda weak: (weak.loss, -weak.means.spread))

    def _start(
        self, space: Space, starts: points.Centers | None, k: int, rng: np.random.Generator
    ) -> SpaceMeans:
        if starts is not None:
            return SpaceMeans(starts[0], 0.0)
        init: Any = self.init
        return space.seeded(k, rng, init)

    def _plain(self, X: Any, space: Space, starts: points.Centers | None, k: int, seed: int) -> Labels:
        if starts is not None:
            labels: Labels = points.run_lloyd(X, starts, max_iter=self.max_passes).labels[0]
            return labels
        return run_plain(X, space, self.kernel, k, seed, self.n_init, self.max_passes)

    def _finished(self, X: Any, labels: Labels, k: int) -> Labels:
        labels, _ = compact_labels(labels, k)
        if self.kernel == "linear":
            empty = np.zeros((int(labels.max()) + 1, X.shape[1]))
            self.cluster_centers_ = points.cluster_means(X, labels, empty)
        return labels

    predict = available_if(_has_centers)(CenteredClusterer.predict)
    score = available_if(_has_centers)(CenteredClusterer.score)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
