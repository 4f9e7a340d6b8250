"""The steps of k-means on dense or sparse rows: distances to centres, means, starts.

Rows are dense (C-contiguous, float32 or float64) or a CSR array; centres are dense float64. Sparse rows stay
sparse: squared distances to k centres cost one product with the k x d matrix of centres.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from linkwise import native, parallel

Centers = NDArray[np.float64]
Weight = NDArray[np.int64] | None


def _resolve_threads(n_threads: int | None) -> int:
    return parallel.n_threads() if n_threads is None else n_threads


def squared_center_distances(
    X: Any, centers: Centers, n_threads: int | None = None, lengths: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Compute the (n, k) squared distances of every row to every centre.

    `lengths` are the squared lengths of sparse rows, if they are known.
    """
    if not issparse(X):
        return native.squared_distances(X, centers, _resolve_threads(n_threads))
    product = X @ centers.T
    own = _squared_lengths(X) if lengths is None else lengths
    squares: NDArray[np.float64] = own[:, None] - 2 * product + (centers**2).sum(axis=1)
    return np.maximum(squares, 0, out=squares)


def nearest_centers(
    X: Any, centers: Centers, n_threads: int | None = None, lengths: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Find the nearest centre of each row, the lower index of equals, and its squared distance.

    `lengths` are the squared lengths of sparse rows, if they are known.
    """
    if not issparse(X):
        labels, squares = native.nearest_points(X, centers, _resolve_threads(n_threads))
        return labels.astype(np.int32), squares
    table = squared_center_distances(X, centers, lengths=lengths)
    found = table.argmin(axis=1)
    return found.astype(np.int32), table[np.arange(len(found)), found]


def cluster_sums(
    X: Any, labels: NDArray[np.int32], k: int, weight: Weight = None, n_threads: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Compute the (k, d) sums and (k,) counts of the rows of each cluster; label -1 is in no cluster."""
    if not issparse(X):
        return native.label_sums(X, labels, k, weight, _resolve_threads(n_threads))
    each = np.ones(len(labels), dtype=np.int64) if weight is None else weight
    is_in = labels >= 0
    counts = np.zeros(k, dtype=np.int64)
    np.add.at(counts, labels[is_in], each[is_in])
    return _sparse_sums(X, labels, k, each.astype(np.float64)), counts


def _sparse_sums(
    X: Any, labels: NDArray[np.int32], k: int, weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add the stored values of each cluster and column, (k, d), in the order of the rows."""
    d, stored = X.shape[1], np.diff(X.indptr)
    place = np.repeat(labels.astype(np.int64) * d, stored) + X.indices
    value = np.repeat(weight, stored) * X.data
    if (labels < 0).any():
        is_in = np.repeat(labels >= 0, stored)
        place, value = place[is_in], value[is_in]
    sums = np.bincount(place, weights=value, minlength=k * d).astype(np.float64, copy=False)
    return sums.reshape(k, d)


def cluster_means(
    X: Any, labels: NDArray[np.int32], centers: Centers, weight: Weight = None, n_threads: int | None = None
) -> Centers:
    """Compute the mean of each cluster; the centre of an empty cluster does not move."""
    total, counts = cluster_sums(X, labels, len(centers), weight, n_threads)
    used = counts > 0
    moved = centers.copy()
    moved[used] = total[used] / counts[used, None]
    return moved


def mean_variance(X: Any, weight: Weight = None) -> float:
    """Compute the mean variance of the features."""
    if issparse(X):
        return _sparse_mean_variance(X, np.ones(X.shape[0]) if weight is None else weight.astype(np.float64))
    if weight is None:
        return float(X.var(axis=0, dtype=np.float64).mean())
    mean = np.average(X, axis=0, weights=weight)
    return float(np.average((X - mean) ** 2, axis=0, weights=weight).mean())


def _sparse_mean_variance(X: Any, weight: NDArray[np.float64]) -> float:
    """Sum squared deviations, as for dense rows: a difference of squares may be negative."""
    total, d = weight.sum(), X.shape[1]
    mean = (weight @ X) / total
    each = np.repeat(weight, np.diff(X.indptr))
    empty = total - np.bincount(X.indices, weights=each, minlength=d)  # exact: weights are integers
    return float((each @ (X.data - mean[X.indices]) ** 2 + empty @ mean**2) / (total * d))


# ---------------------------------------------------------------- starts
def draw_starts(
    X: Any,
    k: int,
    seed: int | np.random.SeedSequence,
    n_init: int,
    *,
    weight: Weight = None,
    given: Centers | None = None,
    n_threads: int | None = None,
) -> Centers:
    """Draw first centres by greedy k-means++: (n_init, k', d).

    `weight` counts the rows. Every start begins with the `given` centres, and only the others are drawn.
    k' is k, or the number of distinct rows if that is smaller. There is one start if nothing is drawn.

    Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding.
    """
    entropy = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    known = np.empty((0, X.shape[1])) if given is None else np.ascontiguousarray(given[:k])
    drawn = k - len(known)
    if drawn <= 0:
        return known[None]
    seeds = entropy.generate_state(n_init, np.uint64).astype(np.uint64, copy=False)
    before = known if len(known) else None
    candidates = 2 + int(log(k))
    if issparse(X):
        rows = np.stack([_draw_sparse_plusplus(X, drawn, s, candidates, weight, before) for s in seeds])
    else:
        rows = native.kmeans_plusplus(
            X, drawn, seeds, candidates, _resolve_threads(n_threads), weight, before
        )
    if (rows < 0).any():
        rows = _add_distinct_rows(X, rows, known)
    found = X[rows.ravel()]
    chosen = (found.toarray() if issparse(X) else found).astype(np.float64)
    chosen = chosen.reshape(len(rows), rows.shape[1], X.shape[1])
    centers = np.concatenate([np.broadcast_to(known, (len(rows), *known.shape)), chosen], axis=1)
    return np.ascontiguousarray(centers)  # one feature: the axes of what is joined may have any order


def _add_distinct_rows(X: Any, rows: NDArray[np.int64], given: Centers) -> NDArray[np.int64]:
    """Add distinct rows where none were drawn because they differ by less than rounding.

    Every start gets the same number: k, or all distinct rows that are not a given centre.
    """
    dense = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64) + 0.0  # -0.0 is 0.0
    number = np.unique(np.vstack([given + 0.0, dense]), axis=0, return_inverse=True)[1].ravel()
    taken, of_row = set(number[: len(given)].tolist()), number[len(given) :]
    first = {int(n): row for row, n in reversed(list(enumerate(of_row.tolist()))) if n not in taken}
    full = np.full((len(rows), min(rows.shape[1], len(first))), -1, dtype=np.int64)
    for start, drawn in zip(full, rows, strict=True):
        there = drawn[drawn >= 0]
        left = [row for n, row in first.items() if n not in set(of_row[there].tolist())]
        start[:] = [*there.tolist(), *sorted(left)][: len(start)]
    return full


def _draw_sparse_plusplus(
    X: Any, k: int, seed: np.uint64, n_candidates: int, weight: Weight, given: Centers | None
) -> NDArray[np.int64]:
    """Draw one start as ``native.kmeans_plusplus`` does; places without a row hold -1."""
    rng = np.random.default_rng(int(seed))
    key = X @ np.cos(np.arange(X.shape[1]))  # weights without any relation to each other
    each = np.ones(X.shape[0]) if weight is None else weight.astype(np.float64)
    chosen, lengths = np.full(k, -1), _squared_lengths(X)
    if given is None:
        chosen[0] = rng.choice(X.shape[0], p=each / each.sum())
        first = X[chosen[:1]].toarray().astype(np.float64)
        left = squared_center_distances(X, first, lengths=lengths)[:, 0]
        left[_find_equal_rows(X, chosen[0], key)] = 0
    else:
        left = squared_center_distances(X, given, lengths=lengths).min(axis=1)
        left[left <= 1e-12 * lengths] = 0  # rounding of a row that is a given centre
    for c in range(int(given is None), k):
        mass = left * each
        if mass.sum() <= 0:
            break
        rows = rng.choice(X.shape[0], size=n_candidates, p=mass / mass.sum())
        candidates = X[rows].toarray().astype(np.float64)
        after = np.minimum(left[:, None], squared_center_distances(X, candidates, lengths=lengths))
        best = int((each @ after).argmin())
        chosen[c], left = rows[best], after[:, best]
        left[_find_equal_rows(X, rows[best], key)] = 0
    return chosen


def _find_equal_rows(X: Any, row: int, key: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Find the rows that equal one row in every cell; equal rows have equal keys."""
    same: NDArray[np.bool_] = key == key[row]
    cells = slice(X.indptr[row], X.indptr[row + 1])
    for other in np.flatnonzero(same):
        theirs = slice(X.indptr[other], X.indptr[other + 1])
        alike = (np.array_equal(part[cells], part[theirs]) for part in (X.indices, X.data))
        same[other] = all(alike)
    return same


def _squared_lengths(X: Any) -> NDArray[np.float64]:
    """Squared length of every sparse row, in float64: squares of float32 may overflow."""
    cells = csr_array((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
    squares: NDArray[np.float64] = np.asarray(cells.sum(axis=1)).ravel()
    return squares


# ---------------------------------------------------------------- plain k-means
def run_lloyd(
    X: Any,
    starts: Centers,
    *,
    max_iter: int = 300,
    tol: float = 1e-4,
    weight: Weight = None,
    n_threads: int | None = None,
) -> native.LloydRuns:
    """Run plain k-means from each start; `tol` is relative to the mean variance of the features."""
    bound = tol * mean_variance(X, weight)
    if not issparse(X):
        return native.lloyd(
            X, np.ascontiguousarray(starts), max_iter, bound, _resolve_threads(n_threads), weight
        )
    lengths = _squared_lengths(X)
    runs = [_run_sparse_lloyd(X, lengths, start, max_iter, bound, weight) for start in starts]
    labels, centers, inertia, n_iter = (np.stack(part) for part in zip(*runs, strict=True))
    return native.LloydRuns(labels, centers, inertia, n_iter.astype(np.int32))


def _run_sparse_lloyd(
    X: Any, lengths: NDArray[np.float64], start: Centers, max_iter: int, tol: float, weight: Weight
) -> tuple[NDArray[np.int32], Centers, np.float64, np.int32]:
    """Run one start by the rules of ``native.lloyd``."""
    centers, before = start.copy(), np.full(X.shape[0], -1, dtype=np.int32)
    each = np.ones(X.shape[0], dtype=np.int64) if weight is None else weight
    n_iter = 0
    for _ in range(max_iter):
        n_iter += 1
        labels, squares = nearest_centers(X, centers, lengths=lengths)
        changed = bool((labels != before).any())
        moved = cluster_means(
            X,
            fill_empty_clusters(labels, squares, len(centers), each) if changed else labels,
            centers,
            weight,
        )
        shift = float(((moved - centers) ** 2).sum())
        centers, before = moved, labels
        if not changed or shift <= tol:
            break
    labels, squares = nearest_centers(X, centers, lengths=lengths)
    return labels, centers, np.float64(each @ squares), np.int32(n_iter)


def fill_empty_clusters(
    labels: NDArray[np.int32], squares: NDArray[np.float64], k: int, weight: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Give each empty cluster the row that is farthest from its centre.

    The row comes from a cluster with other rows. If all such rows lie on their centres, the cluster stays
    empty.
    """
    counts = np.bincount(labels, weights=weight, minlength=k)
    if counts.all():
        return labels
    labels, squares = labels.copy(), squares.copy()
    for empty in np.flatnonzero(counts == 0):
        movable = np.where(counts[labels] > weight, squares, 0.0)
        far = int(movable.argmax())
        if movable[far] <= 0:
            break
        counts[labels[far]] -= weight[far]
        labels[far], counts[empty], squares[far] = empty, weight[far], 0.0
    return labels
