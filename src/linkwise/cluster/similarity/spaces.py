"""The space of constrained k-means: the rows themselves, or the space of a kernel.

Both find, for the means of any clusters, the two nearest to every row. The linear kernel uses the rows as
they are; other kernels, and data with more features than rows, use a matrix of similarities, in which the
squared distance of row i to a mean is K_ii - 2 (mean of K_ij) + (mean of K_jl), with j and l in the cluster.
The terms K_ii matter, since distances of two different rows are compared (Okabe and Yamada 2018, Algorithm 2,
lines 10 and 18).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from linkwise import native, parallel
from linkwise.cluster import points
from linkwise.cluster.points import Centers
from linkwise.native import Passes, TwoNearest

Kernel = Literal["linear", "rbf", "precomputed"]
Init = Literal["k-means++", "farthest"]

MOST_SIMILARITIES = 10_000  # rows of a matrix of similarities: 0.8 GB, and 2 GB more while it is made
FEW, FEW_SPARSE = 1000, 5000  # rows, with more features, whose similarities are soon had
SEED_ROWS = 100_000  # rows among which seeds are drawn
NEIGHBOUR = 7  # whose distance is the local scale


class SpaceMeans(NamedTuple):
    """Means of clusters in the form of a space, and their spread."""

    at: Any
    spread: float
    """Sum over the clusters of rows times squared length of the mean: the larger, the less inertia."""
    empty: bool = False
    """Whether a cluster has no row."""


class PassPlan(NamedTuple):
    """What constrained k-means needs beside the rows, as `native.vector_passes` takes it."""

    pairs: NDArray[np.int32]
    must: NDArray[np.uint8]
    order: NDArray[np.int32]
    share: NDArray[np.float64]
    max_passes: int
    convergence: int
    patience: int


class Space(Protocol):
    """Rows among which there are distances."""

    n: int

    def choose_centers(self, k: int, rng: np.random.Generator, init: Init) -> SpaceMeans:
        """Choose rows as centres: drawn in proportion to the squared distance, or each the farthest."""

    def two_nearest(self, means: SpaceMeans) -> TwoNearest:
        """Find the two nearest centres of every row."""

    def update_means(self, labels: NDArray[np.int32], means: SpaceMeans) -> SpaceMeans:
        """Compute the means of clusters; the mean of an empty one stays."""

    def run_passes(self, means: SpaceMeans, plan: PassPlan) -> Passes | None:
        """Run constrained k-means in one call; None where there is no native code for it."""

    def square_lengths(self) -> NDArray[np.float64]:
        """Return the squared length of each row, (n,), K_ii for a kernel."""


class Vectors:
    """Rows as they are, dense or sparse."""

    def __init__(self, X: Any) -> None:
        self.X, self.n = X, X.shape[0]
        self._threads = parallel.n_threads()
        self._mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()

    def at(self, centers: Centers) -> SpaceMeans:
        """Return given centres as means."""
        return SpaceMeans(np.ascontiguousarray(centers, dtype=np.float64), 0.0)

    def choose_centers(self, k: int, rng: np.random.Generator, init: Init) -> SpaceMeans:
        """Choose rows as centres, from a sample of 100 000 if there are more."""
        some = self.X
        if self._squares is not None:
            rows = draw_rows(self._squares.__getitem__, self.n, k, rng, init)
            return self.at(self.X[rows])
        if self.n > SEED_ROWS:
            some = self.X[np.sort(rng.choice(self.n, SEED_ROWS, replace=False, shuffle=False))]
        rows = draw_rows(lambda row: self._far(some, row), some.shape[0], k, rng, init)
        centers = some[rows]
        return self.at(centers.toarray() if issparse(centers) else centers)

    @cached_property
    def _squares(self) -> NDArray[np.float64] | None:
        """Squared distances of all pairs of few dense rows, from which centres are drawn again and again."""
        if issparse(self.X) or self.n > FEW:
            return None
        every = np.ascontiguousarray(self.X, dtype=np.float64)
        return native.squared_distances(self.X, every, self._threads)

    @staticmethod
    def _far(some: Any, row: int) -> NDArray[np.float64]:
        centre = some[[row]]
        dense = np.asarray(centre.toarray() if issparse(centre) else centre, dtype=np.float64)
        return points.squared_center_distances(some, dense)[:, 0]

    def two_nearest(self, means: SpaceMeans) -> TwoNearest:
        """By squared distances."""
        if issparse(self.X):
            return two_smallest(points.squared_center_distances(self.X, means.at))
        return native.two_nearest(self.X, means.at, self._threads)

    def update_means(self, labels: NDArray[np.int32], means: SpaceMeans) -> SpaceMeans:
        """Means of the rows; the spread is about the mean of all."""
        total, counts = points.cluster_sums(self.X, labels, len(means.at), n_threads=self._threads)
        used = counts > 0
        centers = means.at.copy()
        centers[used] = total[used] / counts[used, None]
        from_mean = ((centers[used] - self._mean) ** 2).sum(axis=1)
        return SpaceMeans(centers, float(counts[used] @ from_mean), not used.all())

    def run_passes(self, means: SpaceMeans, plan: PassPlan) -> Passes | None:
        """Run constrained k-means on dense rows."""
        if issparse(self.X) or len(means.at) > native.MOST_CENTERS:
            return None
        return native.vector_passes(self.X, means.at, self._mean, *plan, self._threads)

    def square_lengths(self) -> NDArray[np.float64]:
        """Those of the rows as they are."""
        return _square_lengths(self.X)


class Similarities:
    """Rows given by their similarities, a positive semidefinite matrix."""

    def __init__(self, K: NDArray[np.float64], lengths: NDArray[np.float64] | None = None) -> None:
        """`lengths` are the squared lengths of rows whose products about their mean are the similarities."""
        self.K, self.n = K, len(K)
        self._threads = parallel.n_threads()
        self._own = np.ascontiguousarray(K.diagonal())
        self._lengths = self._own if lengths is None else lengths

    def choose_centers(self, k: int, rng: np.random.Generator, init: Init) -> SpaceMeans:
        """Centres at rows."""

        def far(row: int) -> NDArray[np.float64]:
            squares: NDArray[np.float64] = np.maximum(self._own + self._own[row] - 2 * self.K[row], 0)
            return squares

        rows = draw_rows(far, self.n, k, rng, init)
        return SpaceMeans((self.K[:, rows].copy(), self._own[rows].copy()), 0.0)

    def two_nearest(self, means: SpaceMeans) -> TwoNearest:
        """By squared distances in the space of the kernel."""
        to_mean, within = means.at
        return two_smallest(self._own[:, None] - 2 * to_mean + within)

    def update_means(self, labels: NDArray[np.int32], means: SpaceMeans) -> SpaceMeans:
        """Means known by the mean similarity of every row to their rows, and of these to each other."""
        to_mean, within = means.at
        k = len(within)
        total = native.similarity_sums(self.K, labels, k, self._threads)
        counts = np.bincount(labels, minlength=k)
        inner = np.bincount(labels, weights=total[np.arange(self.n), labels], minlength=k)
        used = counts > 0
        to_mean, within = to_mean.copy(), within.copy()
        to_mean[:, used] = total[:, used] / counts[used]
        within[used] = inner[used] / counts[used] ** 2
        return SpaceMeans((to_mean, within), float((inner[used] / counts[used]).sum()), not used.all())

    def run_passes(self, means: SpaceMeans, plan: PassPlan) -> Passes | None:
        """Run constrained k-means on the similarities."""
        to_mean, within = means.at
        return native.similarity_passes(self._symmetric, to_mean, within, *plan, self._threads)

    def square_lengths(self) -> NDArray[np.float64]:
        """The diagonal of the kernel."""
        return self._lengths

    @cached_property
    def _symmetric(self) -> NDArray[np.float64]:
        """The similarities, equal to the bit on both sides of the diagonal."""
        return self.K if (self.K == self.K.T).all() else (self.K + self.K.T) / 2


def two_smallest(squares: NDArray[np.float64]) -> TwoNearest:
    """Find the two nearest centres of each row in a table of squared distances."""
    at = np.arange(len(squares))
    best = squares.argmin(axis=1)
    square = squares[at, best]
    if squares.shape[1] == 1:
        return TwoNearest(best.astype(np.int32), best.astype(np.int32), square)
    squares[at, best] = np.inf
    return TwoNearest(best.astype(np.int32), squares.argmin(axis=1).astype(np.int32), square)


def draw_rows(far: Any, n: int, k: int, rng: np.random.Generator, init: Init) -> NDArray[np.int64]:
    """Draw at most k distinct rows; ``far(row)`` returns the squared distances to one of them."""
    rows = [int(rng.integers(n))]
    least = far(rows[0]).copy()
    least[rows[0]] = 0
    while len(rows) < k:
        total = least.cumsum()
        if not total[-1] > 0:
            break
        place = rng.random() * total[-1]
        row = int(least.argmax()) if init == "farthest" else int(total.searchsorted(place, side="right"))
        if row == n:  # the product was rounded up
            row = int(np.flatnonzero(least)[-1])
        rows.append(row)
        np.minimum(least, far(row), out=least)
        least[row] = 0
    return np.array(rows, dtype=np.int64)


# ---------------------------------------------------------------- similarities of rows
def make_space(X: Any, kernel: Kernel) -> Space:
    """Create the space of a kernel; with "precomputed" X is the matrix itself."""
    n = X.shape[0]
    if kernel == "linear" and (n <= 1 or X.shape[1] <= n or n > (FEW_SPARSE if issparse(X) else FEW)):
        return Vectors(X)
    if n > MOST_SIMILARITIES:
        raise ValueError(
            f"kernel={kernel!r} needs the similarities of all pairs of {n} rows, but at most"
            f" {MOST_SIMILARITIES} "
            "rows are possible. Use kernel='linear', or cluster a sample."
        )
    if kernel == "precomputed":
        return Similarities(check_similarities(X))
    squares = pairwise_squares(X)
    if kernel == "rbf":
        return Similarities(scale_locally(squares))
    return Similarities(center_products(squares), _square_lengths(X))


def _square_lengths(X: Any) -> NDArray[np.float64]:
    squares = X.multiply(X) if issparse(X) else np.asarray(X, dtype=np.float64) ** 2
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def pairwise_squares(X: Any) -> NDArray[np.float64]:
    """Compute squared distances of all pairs of rows, sparse ones from their products."""
    if issparse(X):
        products = np.asarray((X.astype(np.float64) @ X.T.astype(np.float64)).toarray())
        own = products.diagonal().copy()
        squares: NDArray[np.float64] = np.maximum(own[:, None] + own - 2 * products, 0)
    else:
        squares = points.squared_center_distances(X, np.ascontiguousarray(X, dtype=np.float64))
    np.fill_diagonal(squares, 0.0)
    return squares


def center_products(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute inner products of the rows about their mean from all squared distances."""
    rows = squares.mean(axis=1)
    inner: NDArray[np.float64] = np.ascontiguousarray((rows[:, None] + rows - squares - rows.mean()) / 2)
    return inner


def scale_locally(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute exp(-d_ij^2 / (s_i s_j)), where s_i is the distance of row i to its 7th neighbour.

    Zelnik-Manor and Perona (2004), Self-tuning spectral clustering.
    """
    scale = find_local_scales(squares, NEIGHBOUR)
    similar: NDArray[np.float64] = np.exp(-squares / (scale[:, None] * scale))
    return similar


def find_local_scales(squares: NDArray[np.float64], n_neighbors: int) -> NDArray[np.float64]:
    """Find the distance of each row to its n-th neighbour, or to the nearest different row if that is 0.

    If all rows are identical, the scales are 1.
    """
    at = min(n_neighbors, len(squares) - 1)
    scale = np.sqrt(np.partition(squares, at, axis=1)[:, at])
    copies = np.flatnonzero(scale == 0)
    near = np.sqrt(np.where(squares[copies] > 0, squares[copies], np.inf).min(axis=1))
    scale[copies] = np.where(np.isfinite(near), near, 1.0)
    return np.asarray(scale)


def check_similarities(K: Any) -> NDArray[np.float64]:
    """Return similarities as float64; raise unless they are a square, symmetric matrix."""
    if issparse(K):
        raise TypeError("X is sparse, but dense data is required by kernel='precomputed'. Pass X.toarray().")
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"X has shape {K.shape}, but kernel='precomputed' needs a square matrix of similarities."
        )
    similar = np.ascontiguousarray(K, dtype=np.float64)
    gap = np.abs(similar - similar.T)
    if gap.max() > 1e-6 * max(float(np.abs(similar).max()), 1e-300):
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"X[{i}, {j}] = {similar[i, j]:g}, but X[{j}, {i}] = {similar[j, i]:g}. Similarities must be "
            "symmetric. Pass (X + X.T) / 2."
        )
    own = np.maximum(similar.diagonal(), 0.0)
    beyond = similar**2 - np.outer(own, own) * (1 + 1e-6)
    if similar.diagonal().min() < 0 or beyond.max() > 1e-12 * max(float(own.max()) ** 2, 1e-300):
        i, j = np.unravel_index(int(beyond.argmax()), beyond.shape)
        raise ValueError(
            f"X[{i}, {j}] = {similar[i, j]:g} is too large beside X[{i}, {i}] = {similar[i, i]:g} and "
            f"X[{j}, {j}] = {similar[j, j]:g}: these look like distances. Pass similarities, for"
            " example exp(-X**2)."
        )
    return similar
