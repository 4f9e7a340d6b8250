"""The similarity of rows: kernels of the data, and what answers make of them.

The items are the distinct rows. Beyond `MOST_ITEMS` of them the items are small clusters of rows, represented
by the rows nearest to their centres. At the border of two neighbourhoods such an item may hold rows of both.
Each row there takes the mean chances of the items around it, weighted by their nearness. The least certain
items come first, up to a fixed number of rows; the rows of all other items go with their item.

Before any answer there are 18 kernels of three views of the data. The shape of the clusters is not known yet,
so no kernel is chosen: the mean of many is taken. Each of them has ones on its diagonal, so that none
outweighs the others. For each view two are Gaussian, two follow chains of nearest neighbours (diffusion, Zhou
et al. 2004, with the self-tuning weights of Zelnik-Manor and Perona 2004), and one is how often short k-means
runs put two rows together (Fred and Jain 2005). The sixth, which the first mean leaves out, is a Gaussian
with those self-tuning widths. The views are the rows as they are, with columns of unit variance, and
whitened.

Answers weigh the kernels (`linkwise.learn.kin.model`) and teach a forest. Extremely randomised trees (Geurts,
Ernst and Wehenkel 2006; their kernel is in section 5) learn from the items whose neighbourhood is known: two
items are alike as often as trees put them into one leaf. This kernel is mixed in with a share that grows with
the number of these items. The trees are grown in parts, one for each further item that is asked about, so
that no question waits for all of them. The forest counts when all parts are there. The model reads a few rows
of the mixed kernel, again and again, and its covariance the lower triangle. So the whole is never made.

Cost: O(n² d) for distances and O(n³) for six inverses by Cholesky (of connected parts), in 32 bits and in
place; one n x n array for a view at a time and one for the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from linkwise import native, parallel
from linkwise.cluster.kmeans.lloyd import k_means_runs
from linkwise.learn.neighbourhoods import distinct_points
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at

MOST_ITEMS = 2000  # distinct rows up to which each is an item of its own
SMALL_CLUSTERS = 1000  # items beyond that
SAMPLE = 20_000  # rows from which small clusters are made
SAMPLE_PASSES = 10
WIDTHS = (0.5, 0.25)  # of the Gaussians, in median distances; the second is half the first
DIFFUSION = (0.9, 0.99)
NEIGHBOURS = 10
TUNED = 7  # the neighbour whose distance is the width of a self-tuned Gaussian
CLUSTERINGS = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20)
WHITENED = 0.02  # components below this share of the largest singular value are left out
PAIRS = 100_000  # from which the median distance is estimated
BLOCK = 256  # rows of a block of a matrix
FULL = 2**16 - 1  # 1.0 where a kernel is kept in 16 bits

Matrix = NDArray[np.float32]
Packed = NDArray[np.uint16]  # values from 0 to 1, in units of 1 / FULL
Rows = NDArray[np.int64]
Table = NDArray[np.float64]
Mask = NDArray[np.bool_]

AROUND = 8  # centres among which the nearest to a row are looked for
NEAREST = 3
MEETS = 4  # nearest centres of an item, itself included; if one is in another cluster, it is at a border
MOST_ROWS = 20_000  # whose cluster is computed one by one
TINY = 1e-12

TREES = 25  # of a part
PARTS = 4
MOST_SHARE = 0.5  # of the mixed kernel
HALF = 50  # known items at which half of that share is reached


class KINItems(NamedTuple):
    """The things that are clustered: distinct rows, or small clusters of rows."""

    of: Rows
    """(n_rows,) item of each row."""
    first: Rows
    """(n_items,) the representative of each."""
    size: Rows
    """(n_items,) rows of each."""
    centers: NDArray[np.float64] | None
    """(n_items, n_features) of small clusters; None where items are distinct rows."""


# ---------------------------------------------------------------- items
def make_items(X: NDArray[Any], seed: int) -> KINItems:
    """Make items of the distinct rows, or of small clusters if there are more than `MOST_ITEMS` of them."""
    if len(X) <= SAMPLE:
        points = distinct_points(X)
        if len(points.first) <= MOST_ITEMS:
            return KINItems(points.of, points.first, np.bincount(points.of), None)
    rows = X
    if len(X) > SAMPLE:
        rows = X[np.sort(rng_at(seed, 0).choice(len(X), SAMPLE, replace=False, shuffle=False))]
    centers = k_means_runs(rows, SMALL_CLUSTERS, (seed, 1), 1, max_iter=SAMPLE_PASSES).centers[0]
    of = native.nearest_points(X, centers, parallel.n_threads())[0]
    used = np.bincount(of, minlength=len(centers)) > 0
    of, centers = (np.cumsum(used) - 1)[of], np.ascontiguousarray(centers[used])
    return KINItems(of, _nearest(X, of, centers, None), np.bincount(of), centers)


def choose_shown_rows(X: NDArray[Any], items: KINItems, askable: NDArray[np.bool_] | None) -> Rows:
    """The row that each item shows: one that may be shown, or else its representative."""
    if askable is None:
        return items.first
    if items.centers is None:
        rows = np.flatnonzero(askable)[::-1]
        shown = items.first.copy()
        shown[items.of[rows]] = rows  # the last one assigned is the first row
        return shown
    nearest = _nearest(X, items.of, items.centers, askable)
    return np.where(nearest < 0, items.first, nearest)


def _nearest(
    X: NDArray[Any], of: Rows, centers: NDArray[np.float64], askable: NDArray[np.bool_] | None
) -> Rows:
    return native.nearest_rows(X, of.astype(np.int32), centers, askable, parallel.n_threads())


# ---------------------------------------------------------------- views
def scale_rows(X: NDArray[Any]) -> NDArray[np.float64]:
    """Centre the columns that vary and scale the largest value to 1; a column of zeros if none varies."""
    varies = X.min(axis=0) < X.max(axis=0)
    if not varies.any():
        return np.zeros((len(X), 1))
    rows = X[:, varies].astype(np.float64)
    rows /= np.abs(rows).max()  # first, since sums of squares might overflow
    rows -= rows.mean(axis=0)
    return np.ascontiguousarray(rows / np.abs(rows).max())


def make_views(rows: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The rows of `scale_rows` as they are, with columns of unit variance, and whitened.

    Whitened rows that span n - 1 dimensions, the most that n rows can, are all equally far from each other,
    up to rounding. Such a view is left out: it carries no information, and its rounding, which differs
    between processors, would break ties.
    """
    spread = rows.std(axis=0)
    left = _find_strong_components(rows)
    if not left.shape[1]:
        return [rows]
    scaled = np.ascontiguousarray(rows / np.where(spread > 0, spread, 1))
    if left.shape[1] >= len(rows) - 1:
        return [rows, scaled]
    return [rows, scaled, np.ascontiguousarray(left * np.sqrt(len(rows)))]


def _find_strong_components(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, m) left singular vectors of the components that are strong enough (`WHITENED`).

    They follow from the products of the columns, or of the rows where these are fewer.
    """
    n, d = rows.shape
    with one_blas_thread():
        squares, vectors = np.linalg.eigh(rows.T @ rows if d <= n else rows @ rows.T)
        strong = squares > WHITENED**2 * max(squares[-1], TINY)
        if d > n:
            return np.asarray(vectors[:, strong])
        return np.asarray(rows @ (vectors[:, strong] / np.sqrt(squares[strong])))


# ---------------------------------------------------------------- kernels
class Kernels(NamedTuple):
    """Similarities before any answer; all are symmetric, with ones on their diagonals."""

    mean: Matrix
    """(n_items, n_items) of all kernels of all views."""
    families: tuple[Packed, ...]
    """Means over the views: diffusion, Gaussian, self-tuned Gaussian, and shares of k-means runs."""

    def among(self, items: Rows) -> list[Table]:
        """The mean and each family between some items."""
        at = np.ix_(items, items)
        return [self.mean[at].astype(np.float64), *(each[at] / FULL for each in self.families)]


def make_kernels(
    views: list[NDArray[np.float64]], seed: int, step: Callable[[], object] = lambda: None
) -> Kernels:
    """Make the mean of all kernels of all views, and the means of the families.

    Call `step` after each view.
    """
    n = len(views[0])
    if n < 2:
        return Kernels(np.ones((n, n), dtype=np.float32), ())
    # of these and of all arrays only the lower triangle counts
    narrow, diffusion, wide, tuned, joined = (np.zeros((n, n), dtype=np.float32) for _ in range(5))
    work = np.empty((n, n), dtype=np.float32)
    pairs = draw_pairs(n, seed)
    # of few columns most kernels are about 0, and their inverse is made of what lies far below
    with one_blas_thread(), native.subnormals_as_zero():
        for number, view in enumerate(views):
            squared_distances(view, work)
            near = native.smallest_columns(work, min(NEIGHBOURS, n - 1) + 1, parallel.n_threads())
            graph = connect_neighbours(work, near)
            _add_gaussians(wide, narrow, tuned, work, near, median_distance(work, pairs))
            add_diffusion(diffusion, graph, work)
            ks = [k for k in CLUSTERINGS if k < n]
            if ks:
                labels = np.stack([_cluster(view, k, (seed, number, k)) for k in ks]).astype(np.uint8)
                native.add_together(joined, labels, 1 / len(ks), parallel.n_threads())
            step()
        for block in _lower_blocks(n):
            for each in (wide, diffusion, joined):
                narrow[block] += each[block]
    n_kernels = len(WIDTHS) + len(DIFFUSION) + (n > CLUSTERINGS[0])
    families = [(diffusion, len(DIFFUSION)), (wide, 1), (tuned, 1)]
    if n > CLUSTERINGS[0]:
        families.append((joined, 1))
    del work, diffusion, wide, tuned, joined  # so that each is gone as soon as it is packed
    packed = []
    while families:
        family, n_summands = families.pop(0)
        packed.append(native.pack_lower(family, n_summands * len(views)))
    for rows, columns in _lower_blocks(n):
        narrow[rows, columns] /= np.float32(n_kernels * len(views))
    native.mirror_lower(narrow)
    np.fill_diagonal(narrow, 1)
    return Kernels(narrow, tuple(packed))


def _lower_blocks(n: int) -> Iterator[tuple[slice, slice]]:
    """Blocks that cover a lower triangle, and little above it."""
    for a in range(0, n, BLOCK):
        yield slice(a, a + BLOCK), slice(0, a + BLOCK)


def _add_gaussians(
    wide: Matrix, narrow: Matrix, tuned: Matrix, squares: Matrix, nearest: Rows, median: float
) -> None:
    """Add two Gaussian kernels, and one as wide as the distance to a near neighbour.

    Zelnik-Manor and Perona (2004) tune the widths of the third.
    """
    n = len(squares)
    scale = np.float32(-0.5 / (WIDTHS[0] * median) ** 2)
    tuning = nearest[:, min(TUNED, n - 1)]
    near = np.maximum(np.sqrt(squares[np.arange(n), tuning]), np.float32(1e-6))
    native.add_gaussians(wide, narrow, tuned, squares, float(scale), near, parallel.n_threads())


def squared_distances(rows: NDArray[np.float64], out: Matrix | None = None) -> Matrix:
    """Squared distances of all pairs; differences are taken in 64 bits."""
    n, squares = len(rows), (rows**2).sum(axis=1, keepdims=True)
    one = np.hstack([-2 * rows, np.ones((n, 1)), squares])  # products of these are squared differences
    other = np.hstack([rows, squares, np.ones((n, 1))])
    found = np.empty((n, n), dtype=np.float32) if out is None else out
    room = np.empty(min(BLOCK, n) * n)
    for block in _lower_blocks(n):
        shape = found[block].shape
        part = room[: shape[0] * shape[1]].reshape(shape)
        np.matmul(one[block[0]], other[block[1]].T, out=part)
        np.maximum(part, 0, out=found[block], casting="same_kind")
    native.mirror_lower(found)
    np.fill_diagonal(found, 0)
    return found


def draw_pairs(n: int, seed: int) -> tuple[Rows, Rows]:
    """Draw pairs of n items; return their places in a flat lower triangle, and how often each was drawn."""
    i, j = rng_at(seed, 2).integers(0, n, (2, PAIRS))
    places = (np.maximum(i, j) * n + np.minimum(i, j))[i != j]
    if n * n > PAIRS:
        return places, np.ones(len(places), dtype=np.int64)
    counts = np.bincount(places)
    drawn = np.flatnonzero(counts)
    return drawn, counts[drawn]


def median_distance(squares: Matrix, pairs: tuple[Rows, Rows]) -> float:
    """The median distance of the pairs that were drawn."""
    places, counts = pairs
    far = squares.ravel()[places]
    if len(far) < PAIRS // 2:  # with few items most pairs were drawn often
        order = far.argsort()
        ends = counts[order].cumsum()
        middle = np.searchsorted(ends, [(ends[-1] - 1) // 2, ends[-1] // 2], side="right")
        far = far[order[middle]]
    return max(float(np.sqrt(np.median(far))), 1e-6)


def connect_neighbours(squares: Matrix, near: Rows) -> csr_array:
    """Self-tuning weights between nearest neighbours, divided by the roots of the degrees of both ends.

    `near`, of shape (n, k + 1), has the nearest rows of each by `squares`, itself included; of equally
    near ones the first.
    """
    n, k = len(squares), near.shape[1] - 1
    apart = np.take_along_axis(squares, near, axis=1).astype(np.float64)
    scale = np.sqrt(apart.max(axis=1))
    scale = np.maximum(scale, np.median(scale) * 1e-3 + 1e-12)
    weights = np.exp(-apart / (scale[:, None] * scale[near]))
    starts = np.repeat(np.arange(n), k + 1)
    other = starts != near.ravel()
    pointed = csr_array((weights.ravel()[other], (starts[other], near.ravel()[other])), shape=(n, n))
    joined = csr_array(pointed.maximum(pointed.T))
    degree = joined.sum(axis=1)
    root = np.divide(1, np.sqrt(degree), out=np.zeros(n), where=degree > 0)
    by_row = np.repeat(root, np.diff(joined.indptr))
    return csr_array((joined.data * by_row * root[joined.indices], joined.indices, joined.indptr), (n, n))


def add_diffusion(total: Matrix, graph: csr_array, work: Matrix) -> None:
    """Add (I - a S)⁻¹ for the weights S and each share a, with ones on its diagonal, to a lower triangle.

    Parts of the graph that nothing connects are inverted one by one. `work`, of shape (n, n), is written
    over.
    """
    n_threads, part = parallel.n_threads(), connected_components(graph, directed=False)[1]
    order, ends = np.argsort(part, kind="stable"), np.cumsum(np.bincount(part)).tolist()
    by_part = csr_array(graph[order][:, order]) if len(ends) > 1 else graph
    row = np.repeat(np.arange(len(total)), np.diff(by_part.indptr))
    for start, end in pairwise([0, *ends]):
        rows, entries = order[start:end], slice(*by_part.indptr[[start, end]])
        at = row[entries] - start, by_part.indices[entries] - start
        room = work.ravel()[: len(rows) ** 2].reshape(len(rows), len(rows))
        for share in DIFFUSION:
            room[:] = 0
            room[at] = -share * by_part.data[entries]
            inverse = _invert(room)
            scale = (1 / np.sqrt(inverse.diagonal())).astype(np.float32)
            native.add_scaled_part(total, inverse, scale, rows, n_threads)


def _invert(among: Matrix) -> Matrix:
    """The inverse of a matrix whose diagonal is to be ones, in its place; a lower triangle."""
    np.fill_diagonal(among, 1)
    factor, failed = lapack.spotrf(among.T, lower=0, overwrite_a=1)
    inverse, singular = lapack.spotri(factor, lower=0, overwrite_c=1)
    assert not failed
    assert not singular
    found: Matrix = inverse.T
    return found


def _cluster(rows: NDArray[np.float64], k: int, seed: tuple[int, ...]) -> NDArray[np.int32]:
    """Cluster by one short run of k-means."""
    labels: NDArray[np.int32] = k_means_runs(rows, k, seed, 1).labels[0]
    return labels


# ---------------------------------------------------------------- small clusters and those around them
class Cells(NamedTuple):
    """Small clusters and those around them."""

    row: Rows
    """(n_rows,) rows, item by item."""
    start: Rows
    """(n_items + 1,) where the rows of each item begin."""
    around: Rows
    """(n_items, m) the nearest centres, an item's own the first."""


def find_cells(items: KINItems) -> Cells | None:
    """The small clusters; None where items are distinct rows."""
    if items.centers is None or len(items.centers) < 2:
        return None
    row = np.argsort(items.of, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(items.of, minlength=len(items.first)))])
    around = cKDTree(items.centers).query(items.centers, k=min(AROUND, len(items.centers)))[1]
    around[:, 0] = np.arange(len(around))  # of equal centres another may come first
    return Cells(row, start, around)


def border_items(cells: Cells, labels: NDArray[Any], join: Table) -> Rows:
    """Items next to one of another neighbourhood, the least certain first, up to `MOST_ROWS` rows.

    `labels` is the neighbourhood of each, or a number above; `join`, of shape (n_items, k), the
    probability of each.
    """
    near = labels[cells.around[:, :MEETS]]
    mixed = ((near != labels[:, None]) & (near < join.shape[1])).any(axis=1) & (labels < join.shape[1])
    found = np.flatnonzero(mixed)
    found = found[np.argsort(margins(join[found]).round(9), kind="stable")]
    size = np.diff(cells.start)[found]
    return found[np.cumsum(size) <= MOST_ROWS]


def margins(join: Table) -> Table:
    """(n,) the largest probability minus the second largest one, which is 0 if k is 1."""
    with_impossible = np.pad(join, ((0, 0), (2, 0)))  # there may be none, or a single one
    best = np.partition(with_impossible, -2, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0])


def weigh_rows(X: NDArray[Any], items: KINItems, cells: Cells, item: int) -> tuple[Rows, Rows, Table]:
    """The rows of an item, the items whose centres are nearest to each, and how much those count."""
    assert items.centers is not None
    row = cells.row[cells.start[item] : cells.start[item + 1]]
    around = cells.around[item]
    apart = ((X[row].astype(np.float64)[:, None] - items.centers[around]) ** 2).sum(axis=2)
    near = np.argsort(apart, axis=1, kind="stable")[:, :NEAREST]
    weight = 1 / (np.take_along_axis(apart, near, axis=1) + TINY)
    return row, around[near], weight / weight.sum(axis=1, keepdims=True)


# ---------------------------------------------------------------- the forest and the mixed kernel
class ForestKernel:
    """The leaves that items share, by trees that learned the neighbourhoods of the known `items`."""

    def __init__(self, rows: NDArray[np.float64], items: Rows, label: Rows, seed: int) -> None:
        self._rows, self._items, self._label, self._seed = rows, items, label, seed
        self._leaves: list[NDArray[np.int32]] = []
        self._packed: native.PackedLeaves | None = None

    def grow(self, parts: int) -> None:
        """Grow the forest to so many parts."""
        for part in range(len(self._leaves), min(parts, PARTS)):
            seed = int(rng_at(self._seed, 4, len(self._items), part).integers(2**63))
            threads = parallel.n_threads()
            leaves = native.random_trees(self._rows, self._items, self._label, TREES, seed, threads)
            self._leaves.append(leaves)

    def share(self) -> native.ForestShare:
        """What is mixed into the kernel: the shared leaves, with the share that the number of items earns."""
        self.grow(PARTS)
        if self._packed is None:
            self._packed = native.pack_leaves(np.hstack(self._leaves))
        n = len(self._items)
        share = MOST_SHARE * n / (n + HALF)
        return native.ForestShare(self._packed, np.float32(1 - share), np.float32(share / (TREES * PARTS)))


class MixedKernel:
    """A weighted mean of the mean kernel and the families, with the share of a forest.

    The weights are those of the mean kernel and of the families; empty if only the mean kernel counts.
    """

    def __init__(
        self, kernels: Kernels, weights: tuple[float, ...] = (), forest: native.ForestShare | None = None
    ) -> None:
        weights = weights or (1.0,)
        self._mean, self._forest = kernels.mean, forest
        used = [number for number, weight in enumerate(weights[1:]) if weight > 0]
        self._families = [kernels.families[number] for number in used]
        self._factors = np.array(
            [weights[0], *(weights[1 + number] / FULL for number in used)], dtype=np.float32
        )

        self._is_mean = not used and weights[0] == 1 and forest is None
        self._mixed = np.empty_like(self._mean)  # its rows are mixed when they are read
        self._is_mixed = np.zeros(len(self._mean), dtype=bool)

    def __len__(self) -> int:
        return len(self._mean)

    def rows(self, items: Rows) -> Matrix:
        """(m, n_items) the rows of some items, a new array."""
        if self._is_mean:
            return self._mean[items]
        new = items[~self._is_mixed[items]]
        if len(new):
            self._mixed[new] = self._mix(new)
            self._is_mixed[new] = True  # now, so that an interruption leaves nothing half-made
        return self._mixed[items]

    def _mix(self, items: Rows) -> Matrix:
        found: Matrix = self._mean[items] * self._factors[0]
        for each, factor in zip(self._families, self._factors[1:], strict=True):
            found += np.multiply(each[items], factor, dtype=np.float32)
        if self._forest is not None:
            found *= self._forest.kept
            shared = native.shared_leaves(self._forest.leaves, items, parallel.n_threads())
            found += shared * self._forest.factor
        return found

    def row(self, item: int) -> Matrix:
        """(n_items,) the row of one item."""
        found: Matrix = self.rows(np.array([item]))[0]
        return found

    def fill_lower(self, out: Matrix) -> None:
        """Write the lower triangle, diagonal included, into an array of shape (n_items, n_items)."""
        native.mix_lower(out, self._mean, self._families, self._factors, self._forest, parallel.n_threads())
