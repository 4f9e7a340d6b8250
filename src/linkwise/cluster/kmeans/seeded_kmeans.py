"""Seeded k-means: the first centres are the means of known groups of rows.

Basu, Banerjee and Mooney (2002), "Semi-supervised clustering by seeding", section 3: the mean of each seed,
a group of rows known to belong together, is a first centre; then plain k-means, in which seeds may move to
other clusters, so that wrong seeds do little harm.

Kept: the algorithm. Added: seeds come from constraints (each component that a constraint names); where there
are fewer seeds than clusters k-means++ draws the other centres, several times; where there are more, those
far from each other are taken, large ones first.

Cost: that of k-means.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans.components import build_blocks, compact_labels
from linkwise.cluster.kmeans.seeding import choose_seeds, draw_seeded_starts
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels, Progress


class SeededKMeans(CenteredClusterer):
    """k-means whose first centres are the means of known groups of rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : "seeds" or array of shape (n_clusters, n_features), default="seeds"
        First centres: the means of the seeds, filled up by k-means++; or given centres, in one start.
    n_init : int, default=10
        Number of starts, if k-means++ draws any centres; the run of least inertia is the result.
    max_iter : int, default=300
        Largest number of iterations of one start.
    tol : float, default=0.0001
        A start converges when the squared shift of the centres is at most `tol` times the mean variance of
        the features.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centre of each cluster.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break.
    inertia_ : float
        Sum of squared distances of the rows to their centres.
    n_iter_ : int
        Number of iterations of the chosen start.
    n_seeds_ : int
        Number of seeds.

    Notes
    -----
    Known classes become seeds by ``Constraints.from_labels(y)``, with -1 for rows of unknown class.
    After the start, constraints have no effect.

    References
    ----------
    Basu, Banerjee and Mooney (2002), Semi-supervised clustering by seeding. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> c = lw.Constraints.from_labels([0, -1, -1, 1])
    >>> lw.SeededKMeans(2, random_state=0).fit(X, constraints=c).labels_.tolist()
    [0, 0, 1, 1]
    """

    sparse: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"seeds"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "seeds",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, X: Any, constraints: Constraints, k: int, seed: int, progress: Progress | None) -> Labels:
        blocks = build_blocks(X, constraints.component)
        seeds = choose_seeds(blocks, constraints, k)
        starts, _ = draw_seeded_starts(X, blocks, seeds, self.n_clusters, k, seed, self.init, self.n_init)
        runs = []
        for number, start in enumerate(starts):
            runs.append(points.run_lloyd(X, start[None], max_iter=self.max_iter, tol=self.tol))
            if progress is not None:
                progress(number + 1, len(starts))
        best = min(runs, key=lambda run: float(run.inertia[0]))
        self.n_seeds_ = len(seeds)
        self.inertia_, self.n_iter_ = float(best.inertia[0]), int(best.n_iter[0])
        labels, used = compact_labels(best.labels[0], starts.shape[1])
        self.cluster_centers_ = best.centers[0][used]
        return labels
