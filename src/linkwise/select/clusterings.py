"""The clusterings among which COBS chooses, made with as much shared work as there is.

Van Craenendonck and Blockeel (2017), "Constraint-based clustering selection", Table II: k-means,
DBSCAN and spectral clustering of two kinds of graphs, 931 clusterings in all. As printed, but for:

- minPts from 2 to 21: the 400 DBSCAN clusterings that the paper counts need 20 values, its range
  [2, 20] holds 19.
- The smallest radius is the smallest distance between rows that differ.
- sigma is the width of the Gaussian, exp(-d² / (2 sigma²)), and grows with the data: it is in units
  of the widest range of a feature, which is 1 for the paper's features in [0, 1].

Shared: all DBSCANs are cut out of one set of neighbour lists and one spanning tree, all k-means runs
of one k go through one call, and the eigenvectors of a graph serve every number of clusters. What
does not fit the data (more clusters or neighbours than rows) is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import NearestNeighbors

from linkwise import kernels
from linkwise.cluster.common.kmeans import k_means_runs
from linkwise.select.spectral import (
    gaussian_graph,
    knn_graphs,
    landmark_labels,
    landmark_rows,
    spectral_labels,
)

MOST_WEIGHED = 5000  # rows of which all weights of a Gaussian graph are made; of more, those to landmarks

Noise = Literal["cluster", "singletons", "nearest"]
Grid = dict[str, Sequence[Any]]


@dataclass(frozen=True)
class Preset:
    """Which clusterings are made.

    Attributes
    ----------
    clusters : tuple of int
        Numbers of clusters, for k-means and spectral clustering.
    n_runs : int
        k-means runs for each number of clusters, all of them kept.
    n_eps : int
        Radii of DBSCAN, evenly spaced from the smallest to the largest distance.
    min_pts : tuple of int
        Neighbours that make a core row of DBSCAN.
    neighbours : tuple of int
        Neighbours in the graphs of spectral clustering.
    sigmas : tuple of float
        Widths of the Gaussian graphs, in units of the widest range of a feature: 1 where features are
        in [0, 1], as in the paper.
    """

    clusters: tuple[int, ...] = tuple(range(2, 11))
    n_runs: int = 20
    n_eps: int = 20
    min_pts: tuple[int, ...] = tuple(range(2, 22))
    neighbours: tuple[int, ...] = tuple(range(2, 21))
    sigmas: tuple[float, ...] = tuple(np.linspace(0.01, 5.0, 20).round(6).tolist())

    @property
    def size(self) -> int:
        """Number of clusterings, where all fit the data."""
        graphs = len(self.neighbours) + len(self.sigmas)
        return len(self.clusters) * (self.n_runs + graphs) + self.n_eps * len(self.min_pts)


PRESETS = {
    "paper": Preset(),
    "quick": Preset(
        n_runs=4,
        min_pts=(2, 3, 5, 8, 13, 21),
        neighbours=(3, 5, 8, 13, 20),
        sigmas=(0.1, 0.2, 0.5, 1.0, 3.0),
    ),
}


class Made(NamedTuple):
    """One clustering, and how it was made."""

    algorithm: str
    parameters: dict[str, Any]
    labels: NDArray[Any] | None
    """(n,), -1 is noise; None where the algorithm failed."""


def clusterings(
    X: NDArray[Any],
    preset: Preset,
    seed: int,
    n_threads: int,
    extra: Sequence[tuple[ClusterMixin, Grid | list[Grid]]] = (),
) -> Iterator[list[Made]]:
    """Make all clusterings of a preset, and those of further clusterers, in small batches.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    preset : Preset
    seed : int
    n_threads : int
    extra : sequence of (clusterer, grid)
        scikit-learn clusterers with the values of their parameters that are to be tried.

    Yields
    ------
    list of Made
    """
    fitting = [k for k in preset.clusters if k <= len(X)] or [1][: len(preset.clusters)]
    for k in fitting if preset.n_runs else ():
        runs = k_means_runs(X, k, (seed, k), preset.n_runs, n_threads=n_threads)
        yield [Made("k-means", {"K": k, "run": run}, labels) for run, labels in enumerate(runs.labels)]
    yield from _dbscans(X, preset, n_threads)
    if len(X) > 2 and fitting:
        yield from _spectral(X, preset, fitting, seed, n_threads)
    for estimator, grid in extra:
        name = type(estimator).__name__
        for parameters in ParameterGrid(grid):
            labels = clone(estimator).set_params(**parameters).fit_predict(X)
            yield [Made(name, parameters, np.asarray(labels))]


def _dbscans(X: NDArray[Any], preset: Preset, n_threads: int) -> Iterator[list[Made]]:
    least, most = kernels.distance_range(X, n_threads)
    if most == 0 or preset.n_eps == 0 or not preset.min_pts:
        return
    eps = np.linspace(_reaching(least), _reaching(most), preset.n_eps)
    labels = kernels.all_dbscans(X, eps, np.array(preset.min_pts, dtype=np.int64), n_threads)
    for of_min_pts, least_core in zip(labels, preset.min_pts, strict=True):
        yield [
            Made("DBSCAN", {"eps": radius, "minPts": least_core}, found)
            for radius, found in zip(eps.tolist(), of_min_pts, strict=True)
        ]


def _reaching(square: float) -> float:
    """The root of a squared distance, rounded so that it reaches rows that far apart."""
    root = float(np.sqrt(square))
    return root if root * root >= square else float(np.nextafter(root, np.inf))


def _spectral(
    X: NDArray[Any], preset: Preset, clusters: list[int], seed: int, n_threads: int
) -> Iterator[list[Made]]:
    neighbours = [k for k in preset.neighbours if k <= len(X)]
    if neighbours:
        nearest = NearestNeighbors(n_neighbors=max(neighbours)).fit(X).kneighbors(X, return_distance=False)
        graph = knn_graphs(nearest)
        for k in neighbours:
            found = spectral_labels(graph(k), clusters, (seed, 1, k), n_threads)
            yield _of_graph("spectral, nearest neighbours", {"k": k}, clusters, found)
    unit = float(np.ptp(X, axis=0).max()) or 1.0
    yield from _gaussian_spectral(X / unit, preset.sigmas, clusters, seed, n_threads)


def _gaussian_spectral(
    X: NDArray[Any], sigmas: Sequence[float], clusters: list[int], seed: int, n_threads: int
) -> Iterator[list[Made]]:
    name = "spectral, Gaussian"
    if len(X) > MOST_WEIGHED:
        landmarks = landmark_rows(X, (seed, 2), n_threads)
        for at, sigma in enumerate(sigmas):
            found = landmark_labels(X, sigma, landmarks, clusters, (seed, 2, at), n_threads)
            yield _of_graph(name, {"sigma": sigma, "landmarks": len(landmarks)}, clusters, found)
        return
    weights = np.empty((len(X), len(X)) if sigmas else (0, 0))  # of one graph after the other
    for at, sigma in enumerate(sigmas):
        graph = gaussian_graph(X, sigma, n_threads=n_threads, out=weights)
        found = spectral_labels(graph, clusters, (seed, 2, at), n_threads)
        yield _of_graph(name, {"sigma": sigma}, clusters, found)


def _of_graph(
    algorithm: str, graph: dict[str, Any], clusters: list[int], found: Sequence[NDArray[Any] | None]
) -> list[Made]:
    return [Made(algorithm, {"K": k, **graph}, labels) for k, labels in zip(clusters, found, strict=True)]


def without_noise(X: NDArray[Any], labels: NDArray[Any], noise: Noise) -> NDArray[np.int64]:
    """Clusters 0, 1, ... in order of their first rows, noise (-1) settled.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    labels : ndarray of shape (n_rows,)
    noise : {"cluster", "singletons", "nearest"}
        Noise is one cluster, each noise row is one, or each goes to the cluster of the nearest row
        that is in one (they stay one cluster where no row is).

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    settled = np.asarray(labels).astype(np.int64)
    rows = np.flatnonzero(settled < 0)
    if len(rows) and noise == "singletons":
        settled[rows] = len(settled) + rows
    elif 0 < len(rows) < len(settled) and noise == "nearest":
        clustered = np.flatnonzero(settled >= 0)
        nearest = NearestNeighbors(n_neighbors=1).fit(X[clustered])
        settled[rows] = settled[clustered[nearest.kneighbors(X[rows], return_distance=False)[:, 0]]]
    _, first, inverse = np.unique(settled, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse]
