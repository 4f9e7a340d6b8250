"""Self-tuning spectral clustering: scale and number of clusters from the data.

Zelnik-Manor and Perona (2004). Every row has a scale of its own, the distance to its 7th neighbour,
and the affinity of two rows is exp(-d² / (sigma_i sigma_j)). If there are C clusters, the first C
eigenvectors can be rotated so that every row lies on one axis. The rotation is found by gradient
descent over Givens angles; each number of clusters goes on from the rotated eigenvectors of the one
before. Of the numbers that align about equally well the largest is taken, and each row belongs to the
axis it lies along.

Changed, and why:

- The eigenvectors are those of the random walk: row by row a multiple of the paper's, which changes
  neither cost nor result.
- After each step the rotated vectors are kept and the angles begin at 0 again. The gradient there is
  one product of matrices.
- A step is halved until the cost falls. The authors' program tries one step an angle.
- Where a row has 7 copies, its scale is the distance to the nearest row that differs.

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

from linkwise.asking.learner import Labels
from linkwise.cluster.graph.random_walk import embed_graph
from linkwise.parallel import one_blas_thread
from linkwise.validation import check_rows

Matrix = NDArray[np.float64]
Solution = TypeVar("Solution")

EQUAL = 1e-3  # alignments that differ by less are equal
MOST_STEPS = 200
LEAST_STEP = 1e-4
LEAST_GAIN = 1e-6
MOST_IDLE = 3  # steps of less than the least gain, one after the other


class SelfTuningSpectral(ClusterMixin, BaseEstimator):
    """Spectral clustering that finds its scale and its number of clusters.

    Nothing is drawn at random.

    Parameters
    ----------
    n_neighbors : int, default=7
        The neighbour at which the scale of a row is taken.
    min_clusters, max_clusters : int
        Numbers of clusters that are tried; where rows are few, up to their number.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    alignment_ : dict of int to float
        For each number of clusters how well the eigenvectors align with axes: 1 is exactly.

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
        "n_neighbors.": [Interval(Integral, 1, None, closed="left")],
        "min_clusters": [Interval(Integral, 2, None, closed="left")],
        "max_clusters": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, *, n_neighbors: int = 7, min_clusters: int = 2, max_clusters: int = 10) -> None:
        self.n_neighbors = n_neighbors
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the rows.

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
            squares = scaled_squared_distances(rows)
            with one_blas_thread():
                placed = require_solution(
                    embed_graph(scale_affinities_locally(squares, self.n_neighbors), counts[-1])
                )
                found = rotate_vectors(placed, counts)
            self.alignment_ = {k: found[k].alignment for k in counts}
            labels = label_by_axes(found[choose_best_aligned(self.alignment_)].vectors, squares)
        self.labels_: Labels = labels
        self.n_clusters_ = len(np.unique(labels))
        return self


def list_cluster_counts(least: int, most: int, n_distinct: int) -> list[int]:
    """The numbers of clusters to try; none is above the number of rows that differ.

    Raises
    ------
    ValueError
        The smallest is above the largest.
    """
    if least > most:
        raise ValueError(f"min_clusters={least} is above max_clusters={most}. Swap them.")
    return list(range(min(least, n_distinct), min(most, n_distinct) + 1))


def scaled_squared_distances(X: NDArray[Any]) -> Matrix:
    """Between all rows, in units of the widest range of a feature."""
    points = X.astype(np.float64)
    unit = float(np.ptp(points, axis=0).max()) or 1.0
    points = (points - points.mean(axis=0)) / unit
    squares: Matrix = cdist(points, points, "sqeuclidean")
    return squares


def scale_affinities_locally(squares: Matrix, n_neighbors: int) -> Matrix:
    """Affinities exp(-d² / (sigma_i sigma_j)), sigma_i the distance to the n-th neighbour; 0 to itself."""
    at = min(n_neighbors, len(squares) - 1)
    sigma = np.sqrt(np.partition(squares, at, axis=1)[:, at])
    copies = np.flatnonzero(sigma == 0)
    sigma[copies] = np.sqrt(np.where(squares[copies] > 0, squares[copies], np.inf).min(axis=1))
    affinity: Matrix = np.exp(-squares / sigma[:, None] / sigma)
    np.fill_diagonal(affinity, 0.0)
    return affinity


def require_solution(found: Solution | None) -> Solution:
    """What a solver found, or an error."""
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
    """The largest of the numbers of clusters that align best, or as good as that."""
    best = max(alignment.values())
    return max(k for k, value in alignment.items() if best - value <= EQUAL)


def alignment_cost(Z: Matrix) -> float:
    """J / n: the mean over rows of the sum of Z_ij² / M_i², where M_i is the largest entry of row i."""
    squares = Z**2
    return float((squares / squares.max(axis=1, keepdims=True)).sum() / len(Z))


def alignment_gradient(Z: Matrix) -> NDArray[np.float64]:
    """Derivatives of `alignment_cost` by the Givens angles of all pairs of axes, at angle 0."""
    row, top = np.arange(len(Z)), np.abs(Z).argmax(axis=1)
    largest = Z[row, top]
    by_entry = Z / largest[:, None] ** 2
    by_entry[row, top] = -((Z**2).sum(axis=1) - largest**2) / largest**3
    turned = Z.T @ by_entry * (2 / len(Z))
    first, second = np.triu_indices(Z.shape[1], 1)
    angles: NDArray[np.float64] = turned[first, second] - turned[second, first]
    return angles


def compose_givens(angles: NDArray[np.float64], k: int) -> Matrix:
    """The product of the rotations in the planes of all pairs of k axes."""
    rotation = np.eye(k)
    for angle, i, j in zip(angles, *np.triu_indices(k, 1), strict=True):
        c, s = np.cos(angle), np.sin(angle)
        rotation[:, [i, j]] = rotation[:, [i, j]] @ np.array([[c, s], [-s, c]])
    return rotation


def find_aligning_rotation(vectors: Matrix) -> Matrix:
    """The rotation that gradient descent reaches from none, shape (k, k)."""
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
    """Rows of length 1, without those at the origin: they lie on no axis."""
    length = np.linalg.norm(vectors, axis=1)
    placed: Matrix = vectors[length > 0] / length[length > 0, None]
    return placed


def label_by_axes(vectors: Matrix, squares: Matrix) -> Labels:
    """The axis each row lies along; a row at the origin goes with the nearest row that is not there."""
    axis = np.abs(vectors).argmax(axis=1)
    placed = np.flatnonzero(vectors.any(axis=1))
    lost = np.flatnonzero(~vectors.any(axis=1))
    axis[lost] = axis[placed[squares[np.ix_(lost, placed)].argmin(axis=1)]]
    labels: Labels = np.unique(axis, return_inverse=True)[1].astype(np.int32)
    return labels
