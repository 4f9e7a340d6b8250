"""Metrics that are learned from clusters: one for all or one for each, diagonal or full.

A metric A is kept with a map L such that ``|L (x - y)|² = (x - y)' A (x - y)``, and with log det A.
Scatters are sums of ``(x - centre)(x - centre)'``, for diagonal metrics of its diagonal alone.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from linkwise import native, parallel
from linkwise.cluster.metric.differences import scale_weights
from linkwise.cluster.points import Centers

_CHUNK = 8192
HEAVIEST = 1e290  # weight of a pair, times its squared length
VARIANCE_FLOOR = 1e-12  # variance in shares of the greatest, where that is beyond what inverses can hold

Kind = Literal["diagonal", "full"]
Array = NDArray[np.float64]


class Metrics(NamedTuple):
    """Metrics of all clusters (g = 1) or of each (g = k)."""

    matrices: Array
    """(g, d) or (g, d, d)."""
    maps: Array
    """(g, d) or (g, d, d)."""
    log_det: Array
    """(g,)."""

    @property
    def full(self) -> bool:
        """Whether the metrics are matrices."""
        return self.matrices.ndim == 3

    def map_rows(self, rows: NDArray[Any]) -> Array:
        """Map rows to coordinates in which the first metric is the plain one."""
        L = self.maps[0]
        images: Array = rows @ L.T if self.full else rows * L
        return np.ascontiguousarray(images)

    def unmap_rows(self, images: Array) -> Array:
        """Invert `map_rows`."""
        L = self.maps[0]
        rows: Array = np.linalg.solve(L, images.T).T if self.full else images / L
        return np.ascontiguousarray(rows)


def spherical_metrics(kind: Kind, d: int, count: int, variance: float) -> Metrics:
    """Return the plain metric in units of `variance`, `count` times."""
    inverse = np.full((count, d), variance)
    return invert_covariances(inverse if kind == "diagonal" else np.stack([np.diag(row) for row in inverse]))


def invert_covariances(covariance: Array) -> Metrics:
    """Invert covariances, (g, d) or (g, d, d), to metrics."""
    if covariance.ndim == 2:
        return Metrics(1 / covariance, 1 / np.sqrt(covariance), -np.log(covariance).sum(axis=1))
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:  # a weight may outgrow all rows together
        root = np.linalg.cholesky(_make_invertible(covariance))
    plain = np.eye(covariance.shape[1])
    maps = np.empty_like(root)
    for h, R in enumerate(root):
        maps[h] = dtrtrs(R.T, plain, lower=0, trans=1)[0]  # solves R x = plain
    log_det = -2 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    return Metrics(np.swapaxes(maps, 1, 2) @ maps, maps, log_det)


def _make_invertible(covariance: Array) -> Array:
    """Raise the smallest variances of covariances (g, d, d) until they can be inverted."""
    value, vector = np.linalg.eigh(covariance)
    value = np.maximum(value, VARIANCE_FLOOR * value[:, -1:])
    return np.asarray((vector * value[:, None]) @ np.swapaxes(vector, 1, 2))


def must_link_metric(differences: Array, weight: Array, plain: Metrics, d: int) -> Metrics:
    """Compute the metric under which must-linked rows, with these differences, are near.

    A prior worth one pair for each of d features draws it to the plain metric.
    """
    share = scale_weights(weight)
    share /= share.mean()
    first = plain.matrices[0]
    variance = np.linalg.inv(first) if plain.full else 1 / first
    covariance = (outer_sum(differences, share / 2, plain.full) + d * variance) / (len(share) + d)
    return invert_covariances(np.repeat(covariance[None], len(plain.maps), axis=0))


def nearest_under_metrics(X: NDArray[Any], centers: Centers, metrics: Metrics) -> NDArray[np.int32]:
    """Assign each row to the cluster of least squared distance minus log det."""
    offset = np.broadcast_to(-metrics.log_det, len(centers)).copy()
    maps = reduce_metrics(metrics, centers)
    return native.metric_nearest(X, centers, maps, offset, parallel.n_threads())[0]


def reduce_metrics(metrics: Metrics, centers: Centers) -> Array:
    """Reduce maps to the dimensions in which distances to the centres differ.

    Under one full metric, distances to k centres differ only within the k - 1 dimensions that the centres
    span, so a map into these is enough: it subtracts the same amount from all distances of a row.
    """
    if not metrics.full or len(metrics.maps) > 1 or len(centers) > centers.shape[1]:
        return metrics.maps
    if len(centers) == 1:
        return np.zeros((1, 1, centers.shape[1]))
    spread = metrics.maps[0] @ (centers[1:] - centers[0]).T
    return np.ascontiguousarray(np.linalg.qr(spread)[0].T @ metrics.maps[0])[None]


def scatter_about(raw: Array, sums: Array, counts: NDArray[np.int64], at: Centers) -> Array:
    """Move scatters of clusters to the points `at`, of shape (k, d).

    `raw`, of shape (g, d) or (g, d, d), are scatters about the origin, of all rows (g = 1) or of each
    cluster. `sums` and `counts` are of the rows of each cluster, in the same coordinates.
    """
    if raw.ndim == 2:
        change = counts[:, None] * at**2 - 2 * sums * at
    else:
        cross = sums[:, :, None] * at[:, None, :]
        change = counts[:, None, None] * at[:, :, None] * at[:, None, :] - cross - np.swapaxes(cross, 1, 2)
    return raw + (change if len(raw) > 1 else change.sum(axis=0, keepdims=True))


def raw_scatter(X: NDArray[Any], labels: NDArray[np.int32], count: int, full: bool, origin: Array) -> Array:
    """Compute scatters about `origin` of each of `count` clusters (1: of all rows), in chunks of rows."""
    d = X.shape[1]
    found = np.zeros((count, d, d) if full else (count, d))
    for start in range(0, len(X), _CHUNK):
        rows = X[start : start + _CHUNK] - origin
        which = labels[start : start + _CHUNK]
        for h in range(count):
            own = rows if count == 1 else rows[which == h]
            found[h] += own.T @ own if full else np.einsum("ij,ij->j", own, own)
    return found


def drop_negative_parts(scatter: Array) -> Array:
    """Project a scatter, (d,) or (d, d), to the nearest one without negative eigenvalues."""
    if scatter.ndim == 1:
        return np.maximum(scatter, 0)
    value, vector = np.linalg.eigh(scatter)
    if value.min() >= 0:
        return scatter
    clipped: Array = (vector * np.maximum(value, 0)) @ vector.T
    return clipped


def pair_distances(differences: Array, metrics: Metrics) -> Array:
    """Compute (pairs, g) squared lengths of differences, (pairs, d), under each metric."""
    if not metrics.full:
        lengths: Array = differences**2 @ metrics.matrices.T
        return lengths
    found = np.empty((len(differences), len(metrics.maps)))
    for h, L in enumerate(metrics.maps):
        mapped = L @ differences.T  # pairs lie side by side: whole rows are added, not short sums
        mapped *= mapped
        mapped.sum(axis=0, out=found[:, h])
    return found


def outer_sum(differences: Array, weight: Array, full: bool) -> Array:
    """Sum the weighted squares (diagonal: (d,)) or outer products (full: (d, d)) of differences.

    Weights are limited so that sums do not overflow.
    """
    weight = np.minimum(weight, HEAVIEST / np.maximum((differences**2).sum(axis=1), 1.0))
    if not full:
        squares: Array = weight @ differences**2
        return squares
    outer: Array = (differences * weight[:, None]).T @ differences
    return outer


def extreme_rows(X: NDArray[Any], at_most: int = 64) -> Array:
    """Find the rows that are least or greatest in one of the `at_most` features that vary most."""
    widest = np.argsort(-X.var(axis=0, dtype=np.float64), kind="stable")[:at_most]
    part = X[:, widest]
    found: Array = X[np.unique(np.r_[part.argmin(axis=0), part.argmax(axis=0)])].astype(np.float64)
    return found


def farthest_pairs(candidates: Array, metrics: Metrics) -> Array:
    """Compute (g, d) differences of the two candidates that are farthest apart under each metric."""
    if metrics.full:
        plain = np.ones((1, candidates.shape[1]))
        pairs = np.concatenate([native.farthest_pairs(candidates @ L.T, plain) for L in metrics.maps])
    else:
        pairs = native.farthest_pairs(candidates, metrics.maps)
    differences: Array = candidates[pairs[:, 0]] - candidates[pairs[:, 1]]
    return differences
