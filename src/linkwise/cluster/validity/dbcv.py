"""DBCV: density-based clustering validation.

Moulavi, Jaskowiak, Campello, Zimek and Sander (2014). A cluster is good if the sparsest region inside it is
denser than the densest region between it and any other cluster. Density follows from distances alone: the
core distance of a row averages its distances to all rows of its cluster, each by the power -d in d
dimensions; the mutual reachability of two rows is the largest of their core distances and their distance; the
minimum spanning tree of a cluster under it describes its shape.

Settled where the paper leaves it open:

- Ties of mutual reachability are common, and the tree takes the shorter edge. Otherwise the internal nodes
  would depend on the order of the rows.
- Rows at distance 0 add nothing to a core distance, and a cluster without internal edges is scored by all its
  edges, as in the authors' program. A cluster of one row counts as noise, as in the paper.
- Fewer than two clusters score -1, the worst value, since there is no space between clusters.

Powers are computed as sums of logarithms, since they overflow in 30 dimensions. Cost: O(m² d) time for a
cluster of m rows, and O(n² d) for the gaps between clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

Rows = NDArray[np.intp]
Distances = Callable[[Rows, Rows], NDArray[np.float64]]
Metric = Literal["euclidean", "sqeuclidean"]

NOISE = -1
SHARED_ROWS = 4000  # up to which all distances are computed once and kept
BLOCK = 2**20  # distances that are looked at together


def dbcv_score(X: ArrayLike, labels: ArrayLike, *, metric: Metric = "euclidean") -> float:
    """Compute the density-based validity of a clustering, from -1 to 1; higher is better.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows.
    labels : array-like of shape (n_rows,)
        Cluster of every row; -1 is noise. Noise lowers the score, which is divided by the number of all rows.
    metric : {"euclidean", "sqeuclidean"}, default="euclidean"
        The distance. The authors' program uses squared distances; the paper leaves it open.

    Returns
    -------
    float
        The mean validity of the clusters, weighted by their shares of all rows; -1 if there are fewer than
        two clusters of two rows or more.

    Raises
    ------
    ValueError
        If there is not one label for each row, a value is not a finite number, or `metric` is unknown.

    References
    ----------
    Moulavi, Jaskowiak, Campello, Zimek and Sander (2014), Density-based clustering validation. SDM.

    Examples
    --------
    >>> from linkwise import dbcv_score
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> round(dbcv_score(X, [0, 0, 0, 1, 1, 1]), 2)
    0.87
    >>> round(dbcv_score(X, [0, 0, 0, 1, 1, -1]), 2)
    0.72
    """
    return dbcv_scorer(X, metric=metric)(labels)


def dbcv_scorer(X: ArrayLike, *, metric: Metric = "euclidean") -> Callable[[ArrayLike], float]:
    """Make a function that scores several clusterings of the same rows by `dbcv_score`, with shared work.

    For up to 4000 rows distances are computed once, and a cluster that occurs again is not measured again.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows.
    metric : {"euclidean", "sqeuclidean"}, default="euclidean"
        The distance of two rows.

    Returns
    -------
    callable
        ``score(labels)``, which returns the value of `dbcv_score`.
    """
    if metric not in ("euclidean", "sqeuclidean"):
        raise ValueError(f"metric is unknown: {metric!r}. Pass 'euclidean' or 'sqeuclidean'.")
    points = check_array(X, dtype=np.float64)
    distances = _make_distances(points, metric)
    known: dict[bytes, ClusterDensity] = {}

    def measured(rows: Rows) -> ClusterDensity:
        key = rows.tobytes()
        if key not in known:
            known[key] = _measure_cluster(rows, distances, points.shape[1])
        return known[key]

    def score(labels: ArrayLike) -> float:
        given = np.asarray(labels)
        if given.shape != (len(points),):
            raise ValueError(
                f"labels have shape {given.shape}. Pass one label for each of {len(points)} rows."
            )
        members = [np.flatnonzero(given == label) for label in np.unique(given[given != NOISE])]
        clusters = [measured(rows) for rows in members if len(rows) > 1]
        if len(clusters) < 2:
            return -1.0
        validity = _validity(clusters, _separations(clusters, distances))
        sizes = np.array([cluster.size for cluster in clusters])
        return float(sizes @ validity / len(points))

    return score


class ClusterDensity(NamedTuple):
    """The measures of a cluster that the index needs."""

    size: int
    inner: Rows
    """Rows that are internal nodes of the tree; all rows, where none is."""
    core: NDArray[np.float64]
    """All-points core distances of `inner`."""
    sparseness: float
    """DSC: the largest mutual reachability on an edge between internal nodes."""


def _make_distances(X: NDArray[np.float64], metric: Metric) -> Distances:
    if len(X) > SHARED_ROWS:
        return lambda rows, columns: cdist(X[rows], X[columns], metric)
    shared = cdist(X, X, metric)
    return lambda rows, columns: shared[np.ix_(rows, columns)]


def _measure_cluster(rows: Rows, distances: Distances, n_features: int) -> ClusterDensity:
    core = _core_distances(rows, distances, n_features)
    parent, weight = _spanning_tree(rows, core, distances)
    child = np.arange(1, len(rows))
    degree = np.bincount(parent, minlength=len(rows)) + (np.arange(len(rows)) > 0)
    internal = degree > 1
    between = internal[parent] & internal[child]
    sparseness = weight[between].max() if between.any() else weight.max()
    inner = internal if internal.any() else ~internal
    return ClusterDensity(len(rows), rows[inner], core[inner], float(sparseness))


def _core_distances(rows: Rows, distances: Distances, n_features: int) -> NDArray[np.float64]:
    """Compute a_pts of each row: the power mean, with exponent -d, of its distances within its cluster."""
    core = np.empty(len(rows))
    for at in _blocks(len(rows), len(rows)):
        apart = distances(rows[at], rows)
        with np.errstate(divide="ignore"):
            density = -n_features * np.log(apart, out=apart)
        density[density == np.inf] = -np.inf  # the row itself and its copies
        most = density.max(axis=1)
        some = np.isfinite(most)
        density -= np.where(some, most, 0.0)[:, None]
        total = np.log(np.exp(density, out=density).sum(axis=1), where=some, out=np.zeros(len(most)))
        mean = most + total - np.log(len(rows) - 1)
        core[at] = np.where(some, np.exp(np.where(some, -mean, 0.0) / n_features), 0.0)
    return core


def _spanning_tree(
    rows: Rows, core: NDArray[np.float64], distances: Distances
) -> tuple[Rows, NDArray[np.float64]]:
    """Run Prim's algorithm under mutual reachability, the shorter of equal edges first.

    Returns the edge that joins each row except the first: its other end, and its weight. Rows are
    positions in the cluster.
    """
    m = len(rows)
    parent, weight = np.zeros(m, dtype=np.intp), np.full(m, np.inf)
    reach, length = np.full(m, np.inf), np.full(m, np.inf)  # of the best edge into the tree so far
    outside = np.ones(m, dtype=bool)
    at = 0
    for _ in range(m - 1):
        outside[at], reach[at] = False, np.inf
        apart = distances(rows[at : at + 1], rows)[0]
        mutual = np.maximum(np.maximum(apart, core), core[at])
        nearer = outside & ((mutual < reach) | ((mutual == reach) & (apart < length)))
        np.copyto(parent, at, where=nearer)
        np.copyto(reach, mutual, where=nearer)
        np.copyto(length, apart, where=nearer)
        least = np.flatnonzero(reach == reach.min())
        at = int(least[length[least].argmin()])
        weight[at] = reach[at]
    return parent[1:], weight[1:]


def _separations(clusters: list[ClusterDensity], distances: Distances) -> NDArray[np.float64]:
    """Compute DSPC of each cluster and the nearest other: the least mutual reachability of internal nodes."""
    inner = np.concatenate([cluster.inner for cluster in clusters])
    core = np.concatenate([cluster.core for cluster in clusters])
    start = np.cumsum([0, *(len(cluster.inner) for cluster in clusters)])
    separation = np.full(len(clusters), np.inf)
    for number, cluster in enumerate(clusters[:-1]):
        rest = slice(start[number + 1], None)  # the clusters before have looked at this one
        for at in _blocks(len(cluster.inner), len(inner) - start[number + 1]):
            gap = np.maximum(distances(cluster.inner[at], inner[rest]), core[rest])
            nearest = np.maximum(gap, cluster.core[at, None], out=gap).min(axis=0)
            of_rest = np.minimum.reduceat(nearest, start[number + 1 : -1] - start[number + 1])
            separation[number] = min(separation[number], nearest.min())
            separation[number + 1 :] = np.minimum(separation[number + 1 :], of_rest)
    return separation


def _validity(clusters: list[ClusterDensity], separation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute V of each cluster, from -1 to 1; 0 if all its rows are identical."""
    sparseness = np.array([cluster.sparseness for cluster in clusters])
    larger = np.maximum(separation, sparseness)
    validity: NDArray[np.float64] = (separation - sparseness) / np.where(larger > 0, larger, 1.0)
    return validity


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, BLOCK // max(n_columns, 1))
    return (slice(at, at + step) for at in range(0, n_rows, step))
