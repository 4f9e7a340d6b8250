"""Constrained k-means: the first centres are the means of known groups of rows, which keep their clusters.

Basu, Banerjee and Mooney (2002), "Semi-supervised clustering by seeding", section 3: as seeded k-means, but
the rows of a seed keep their cluster in every pass, so that seeds must be right.

Kept: the algorithm. Added: seeds come from constraints, as in `SeededKMeans`. Where constraints name more
groups than there are clusters, only as many are seeds; the others are moved as wholes to the nearest centre
(their cannot-links are not looked at, see `COPKMeans`).

Cost: that of k-means.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans.components import Blocks, build_blocks, compact_labels
from linkwise.cluster.kmeans.seeding import choose_seeds, draw_seeded_starts
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels, Progress


class ConstrainedKMeans(CenteredClusterer):
    """k-means in which known groups of rows keep their clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : "seeds" or array of shape (n_clusters, n_features), default="seeds"
        First centres: the means of the seeds, filled up by k-means++; or given centres, in one start, matched
        to the seeds as well as possible.
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
        Number of constraints that `labels_` break: 0 while there are no more groups than clusters.
    inertia_ : float
        Sum of squared distances of the rows to the centres of their clusters.
    n_iter_ : int
        Number of iterations of the chosen start.
    n_seeds_ : int
        Number of seeds.

    Notes
    -----
    Known classes become seeds by ``Constraints.from_labels(y)``, with -1 for rows of unknown class.
    ``predict`` assigns new rows to the nearest centre. For the fitted rows this is `labels_`, except for rows
    that a constraint keeps in another cluster.

    References
    ----------
    Basu, Banerjee and Mooney (2002), Semi-supervised clustering by seeding. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> c = lw.Constraints.from_labels([0, -1, 0, 1])
    >>> lw.ConstrainedKMeans(2, random_state=0).fit(X, constraints=c).labels_.tolist()
    [0, 0, 0, 1]
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
        starts, home = draw_seeded_starts(X, blocks, seeds, self.n_clusters, k, seed, self.init, self.n_init)
        self.n_seeds_ = len(seeds)
        if len(seeds) == 0:
            runs = points.run_lloyd(X, starts, max_iter=self.max_iter, tol=self.tol)
            at = int(runs.inertia.argmin())
            best = _Run(runs.labels[at], runs.centers[at], float(runs.inertia[at]), int(runs.n_iter[at]))
            labels = best.labels
        else:
            bound = self.tol * points.mean_variance(X)
            tried = []
            for number, start in enumerate(starts):
                tried.append(_run(blocks, start, seeds, home, self.max_iter, bound))
                if progress is not None:
                    progress(number + 1, len(starts))
            best = min(tried, key=lambda run: run.inertia)
            labels = best.labels[blocks.number]
        self.inertia_, self.n_iter_ = best.inertia + blocks.scatter, best.n_iter
        labels, used = compact_labels(labels, len(best.centers))
        self.cluster_centers_ = best.centers[used]
        return labels


class _Run(NamedTuple):
    """The result of one start."""

    labels: Labels
    centers: Centers
    inertia: float
    n_iter: int


def _run(
    blocks: Blocks,
    start: Centers,
    seeds: NDArray[np.int64],
    home: NDArray[np.int32],
    max_iter: int,
    shift_bound: float,
) -> _Run:
    """Alternate between labels and means; the labels of the seeds never change."""
    centers = start
    for n_iter in range(1, max_iter + 1):  # noqa: B007  # its last value is returned
        labels, squares = _assign(blocks, centers, seeds, home)
        squares[seeds] = 0  # a seed fills no empty cluster
        filled = points.fill_empty_clusters(labels, squares, len(centers), blocks.weight)
        moved = points.cluster_means(blocks.X, filled, centers, blocks.weight)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= shift_bound:
            break
    labels, squares = _assign(blocks, centers, seeds, home)
    return _Run(labels, centers, float(blocks.weight @ squares), n_iter)


def _assign(
    blocks: Blocks, centers: Centers, seeds: NDArray[np.int64], home: NDArray[np.int32]
) -> tuple[Labels, NDArray[np.float64]]:
    """Assign each block to the nearest centre, but seeds to their clusters; also return distances."""
    labels, squares = points.nearest_centers(blocks.X, centers)
    labels[seeds] = home
    squares[seeds] = points.squared_center_distances(blocks.X[seeds], centers)[np.arange(len(seeds)), home]
    return labels, squares
