"""Self-tuning spectral clustering: scale and number of clusters from the data.

Zelnik-Manor and Perona (2004). Every row has a scale of its own, the distance to its 7th neighbour, and the
affinity of two rows is exp(-d² / (sigma_i sigma_j)). If there are C clusters, the first C eigenvectors can be
rotated so that every row lies on one axis. The rotation is found by gradient descent over Givens angles; each
number of clusters continues from the rotated eigenvectors of the one before. Of the numbers that align about
equally well, the largest is chosen, and each row belongs to the axis it lies along.

Changed, and why:

- The eigenvectors are those of the random walk: each row is a multiple of the paper's, with the same cost and
  result.
- After each step the vectors are rotated and the angles start at 0 again, where the gradient is one product
  of matrices.
- A step is halved until the cost falls. The authors' program tries one step for each angle.
- If a row has 7 copies, its scale is the distance to the nearest different row.

Cost: O(n²) memory; one eigenproblem and some hundred products of n x C with C x C.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval

from linkwise.cluster.graph.random_walk import embed_graph
from linkwise.cluster.nearest_row import NearestRowPredictor
from linkwise.cluster.similarity.spaces import find_local_scales
from linkwise.parallel import one_blas_thread
from linkwise.types import Labels
from linkwise.validation import check_rows

Matrix = NDArray[np.float64]
Solution = TypeVar("Solution")

EQUAL = 1e-3  # alignments that differ by less are equal
MOST_STEPS = 200
LEAST_STEP = 1e-4
LEAST_GAIN = 1e-6
MOST_IDLE = 3  # steps of less than the least gain, one after the other


class SelfTuningSpectral(NearestRowPredictor, ClusterMixin, BaseEstimator):
    """Spectral clustering that finds its scale and its number of clusters.

    The method is deterministic.

    Parameters
    ----------
    n_neighbors : int, default=7
        Number of the neighbour whose distance is the scale of a row.
    min_clusters, max_clusters : int, default=2 and 10
        Range of the number of clusters, at most the number of rows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    alignment_ : dict of int to float
        For each number of clusters, how well the eigenvectors align with axes; 1 is exact.

    Notes
    -----
    Aligned eigenvectors have no rule for new rows, so `predict` is an approximation: the cluster of the
    nearest fitted row. For this the rows are stored.

    References
    ----------
    Zelnik-Manor and Perona (2004), Self-tuning spectral clustering. NeurIPS 17.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> import linkwise as lw
    >>> X, y = make_circles(200, factor=0.3, noise=0.03, random_state=0)
    >>> lw.SelfTuningSpectral().fit(X).n_clusters_
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "min_clusters": [Interval(Integral, 2, None, closed="left")],
        "max_clusters": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, *, n_neighbors: int = 7, min_clusters: int = 2, max_clusters: int = 10) -> None:
        self.n_neighbors = n_neighbors
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fit the clusterer.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            Not used; scikit-learn passes it.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        rows = check_rows(X, self)
        counts = list_cluster_counts(self.min_clusters, self.max_clusters, len(np.unique(rows, axis=0)))
        if counts == [1]:
            self.alignment_, labels = {1: 1.0}, np.zeros(len(rows), dtype=np.int32)
        else:
            squares = relative_squared_distances(rows)
            with one_blas_thread():
                placed = require_solution(
                    embed_graph(scale_affinities_locally(squares, self.n_neighbors), counts[-1])
                )
                found = rotate_vectors(placed, counts)
            self.alignment_ = {k: found[k].alignment for k in counts}
            labels = label_by_axes(found[choose_best_aligned(self.alignment_)].vectors, squares)
        self.labels_: Labels = labels
        self.n_clusters_ = len(np.unique(labels))
        self._keep_rule(rows)
        return self


def list_cluster_counts(least: int, most: int, n_distinct: int) -> list[int]:
    """List the numbers of clusters to try, at most the number of distinct rows."""
    if least > most:
        raise ValueError(f"min_clusters={least} is above max_clusters={most}. Swap them.")
    return list(range(min(least, n_distinct), min(most, n_distinct) + 1))


def relative_squared_distances(X: NDArray[Any]) -> Matrix:
    """Compute squared distances of all rows, in units of the widest range of a feature."""
    points = X.astype(np.float64)
    unit = float(np.ptp(points, axis=0).max()) or 1.0
    points = (points - points.mean(axis=0)) / unit
    squares: Matrix = cdist(points, points, "sqeuclidean")
    return squares


def scale_affinities_locally(squares: Matrix, n_neighbors: int) -> Matrix:
    """Compute affinities exp(-d² / (sigma_i sigma_j)), sigma_i the distance to the n-th neighbour."""
    sigma = find_local_scales(squares, n_neighbors)
    affinity: Matrix = np.exp(-squares / sigma[:, None] / sigma)
    np.fill_diagonal(affinity, 0.0)
    return affinity


def require_solution(found: Solution | None) -> Solution:
    """Return the result of a solver; raise if there is none."""
    if found is None:
        raise ValueError(
            "The solver found no eigenvectors for the graph of these rows. Scale the features, or try"
            " another "
            "n_neighbors."
        )
    return found


class RotatedVectors(NamedTuple):
    """The first eigenvectors, rotated towards the axes."""

    vectors: Matrix
    alignment: float
    """1 - (cost / n - 1) / C: 1 where every row lies on an axis."""


def rotate_vectors(placed: Matrix, counts: list[int]) -> dict[int, RotatedVectors]:
    """Rotate the first k eigenvectors for each k, beginning with the result for the one before."""
    found: dict[int, RotatedVectors] = {}
    vectors = placed[:, : counts[0]]
    for k in counts:
        if k > counts[0]:
            vectors = np.column_stack([vectors, placed[:, k - 1]])
        vectors = vectors @ find_aligning_rotation(vectors)
        found[k] = RotatedVectors(vectors, 1 - (alignment_cost(_directions(vectors)) - 1) / k)
    return found


def choose_best_aligned(alignment: dict[int, float]) -> int:
    """Choose the largest number of clusters whose alignment is the best, or almost."""
    best = max(alignment.values())
    return max(k for k, value in alignment.items() if best - value <= EQUAL)


def alignment_cost(Z: Matrix) -> float:
    """Compute J / n: the mean over rows of the sum of Z_ij² / M_i², M_i the largest entry of row i."""
    squares = Z**2
    return float((squares / squares.max(axis=1, keepdims=True)).sum() / len(Z))


def alignment_gradient(Z: Matrix) -> NDArray[np.float64]:
    """Compute derivatives of `alignment_cost` by the Givens angles of all pairs of axes, at angle 0."""
    row, top = np.arange(len(Z)), np.abs(Z).argmax(axis=1)
    largest = Z[row, top]
    by_entry = Z / largest[:, None] ** 2
    by_entry[row, top] = -((Z**2).sum(axis=1) - largest**2) / largest**3
    turned = Z.T @ by_entry * (2 / len(Z))
    first, second = np.triu_indices(Z.shape[1], 1)
    angles: NDArray[np.float64] = turned[first, second] - turned[second, first]
    return angles


def compose_givens(angles: NDArray[np.float64], k: int) -> Matrix:
    """Multiply the rotations in the planes of all pairs of k axes."""
    rotation = np.eye(k)
    for angle, i, j in zip(angles, *np.triu_indices(k, 1), strict=True):
        c, s = np.cos(angle), np.sin(angle)
        rotation[:, [i, j]] = rotation[:, [i, j]] @ np.array([[c, s], [-s, c]])
    return rotation


def find_aligning_rotation(vectors: Matrix) -> Matrix:
    """Find the aligning rotation by gradient descent from the identity, shape (k, k)."""
    Z, k = _directions(vectors), vectors.shape[1]
    rotation, now, step, idle = np.eye(k), alignment_cost(Z), 1.0, 0
    for _ in range(MOST_STEPS):
        downhill = -alignment_gradient(Z)
        turn = compose_givens(step * downhill, k)
        while (then := alignment_cost(Z @ turn)) >= now and step > LEAST_STEP:
            step /= 2
            turn = compose_givens(step * downhill, k)
        gain = now - then
        if gain <= 0:
            break
        Z, rotation, now, step = Z @ turn, rotation @ turn, then, 2 * step
        idle = idle + 1 if gain < LEAST_GAIN else 0  # one small gain may be that of a step cut short
        if idle == MOST_IDLE:
            break
    return rotation


def _directions(vectors: Matrix) -> Matrix:
    """Scale rows to length 1, without rows at the origin."""
    length = np.linalg.norm(vectors, axis=1)
    placed: Matrix = vectors[length > 0] / length[length > 0, None]
    return placed


def label_by_axes(vectors: Matrix, squares: Matrix) -> Labels:
    """Label rows by their axis; a row at the origin follows the nearest other row."""
    axis = np.abs(vectors).argmax(axis=1)
    placed = np.flatnonzero(vectors.any(axis=1))
    lost = np.flatnonzero(~vectors.any(axis=1))
    axis[lost] = axis[placed[squares[np.ix_(lost, placed)].argmin(axis=1)]]
    labels: Labels = np.unique(axis, return_inverse=True)[1].astype(np.int32)
    return labels
