"""Compute the clusterings among which COBS chooses, with shared work.

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

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import has_fit_parameter

from linkwise import native, parallel
from linkwise.cluster.base import prepare_fits
from linkwise.cluster.kmeans.lloyd import k_means_runs
from linkwise.constraints.constraints import Constraints
from linkwise.errors import InfeasibleConstraintsError
from linkwise.select.spectral import (
    build_gaussian_graph,
    build_knn_graphs,
    choose_landmarks,
    landmark_labels,
    spectral_labels,
)

MOST_WEIGHED = 5000  # rows of which all weights of a Gaussian graph are made; of more, those to landmarks

K_MEANS, DBSCAN, GAUSSIAN = "k-means", "DBSCAN", "spectral, Gaussian"
NEIGHBOURS = "spectral, nearest neighbours"

Noise = Literal["cluster", "singletons", "nearest"]
Grid = dict[str, Sequence[Any]]
Extra = Sequence[tuple[ClusterMixin, Grid | list[Grid]]]


@dataclass(frozen=True)
class Preset:
    """The clusterings of a pool: the algorithms' settings that are tried.

    Attributes
    ----------
    clusters : tuple of int
        Numbers of clusters, for k-means and spectral clustering.
    n_runs : int
        Number of k-means runs for each number of clusters; each is a clustering.
    n_eps : int
        Number of radii of DBSCAN, evenly spaced from the smallest to the largest distance.
    min_pts : tuple of int
        Numbers of neighbours that make a core row of DBSCAN.
    neighbours : tuple of int
        Numbers of neighbours in the graphs of spectral clustering.
    sigmas : tuple of float
        Widths of the Gaussian graphs, in units of the widest range of a feature, which is 1 for features in
        [0, 1] as in the paper.
    by_degree : bool
        Whether rows are placed at eigenvectors times the root of their degree in the graph, not divided by
        it. scikit-learn did so until 2017, and the paper's pool was made with it. It is an error: rows in
        dense regions are placed far from the origin.
    """

    clusters: tuple[int, ...] = tuple(range(2, 11))
    n_runs: int = 20
    n_eps: int = 20
    min_pts: tuple[int, ...] = tuple(range(2, 22))
    neighbours: tuple[int, ...] = tuple(range(2, 21))
    sigmas: tuple[float, ...] = tuple(np.linspace(0.01, 5.0, 20).round(6).tolist())
    by_degree: bool = False

    @property
    def size(self) -> int:
        """Number of clusterings, if all fit the data."""
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


class PoolClustering(NamedTuple):
    """One clustering, its algorithm and its parameters."""

    algorithm: str
    parameters: dict[str, Any]
    labels: NDArray[Any] | None
    """(n,), -1 is noise; None where the algorithm failed."""


class PoolWork(NamedTuple):
    """The data that all tasks share."""

    X: NDArray[np.float64]
    """(n, d) rows, no two of them identical."""
    weight: NDArray[np.int64]
    """(n,) how many rows each stands for."""
    preset: Preset
    clusters: tuple[int, ...]
    """Numbers of clusters that fit."""
    neighbours: NDArray[np.int64]
    """(n, at most the largest of the preset) the nearest rows of each row, itself first."""
    landmarks: NDArray[np.int64] | None
    """Rows by which Gaussian graphs are approximated; None where they are made in full."""
    seed: int
    n_threads: int
    extra: Extra
    constraints: Constraints | None
    """About the rows, for those of `extra` that take them."""
    room: NDArray[np.float64] | None = None
    """(n, n) memory for Gaussian graphs, of tasks that run one after the other; None: each takes its own."""


class PoolTask(NamedTuple):
    """An independent part of the work."""

    kind: Literal["k-means", "DBSCAN", "neighbours", "gaussian", "extra"]
    at: int
    """Which of its kind."""
    size: int
    """How many clusterings it makes."""


def plan_tasks(
    X: NDArray[np.float64],
    weight: NDArray[np.int64],
    preset: Preset,
    seed: int,
    n_threads: int,
    extra: Extra = (),
    constraints: Constraints | None = None,
) -> tuple[PoolWork, list[PoolTask]]:
    """Plan the clusterings of some distinct rows: those of a preset, and those of further clusterers.

    `weight` is the number of rows that each represents. It matters for k-means and DBSCAN; a graph has
    each row once. `extra` are scikit-learn clusterers with the values of their parameters to try, and
    `constraints` go to those whose fit takes them. `run_task` does one task.
    """
    clusters = tuple(k for k in preset.clusters if k <= len(X)) or (1,) * bool(preset.clusters)
    neighbours = [k for k in preset.neighbours if k <= len(X)]
    graphs = len(X) > 2 and len(clusters) > 0
    nearest = np.empty((len(X), 0), dtype=np.int64)
    if graphs and neighbours:
        search = NearestNeighbors(n_neighbors=max(neighbours)).fit(X)
        nearest = search.kneighbors(X, return_distance=False)
    landmarks = None
    if graphs and preset.sigmas and len(X) > MOST_WEIGHED:
        landmarks = choose_landmarks(X / _widest_range(X), (seed, 2), n_threads)
    tasks = [PoolTask("k-means", k, preset.n_runs) for k in clusters if preset.n_runs]
    if len(X) > 1 and preset.n_eps and preset.min_pts:
        tasks.append(PoolTask("DBSCAN", 0, preset.n_eps * len(preset.min_pts)))
    if graphs:
        tasks += [PoolTask("neighbours", k, len(clusters)) for k in neighbours]
        tasks += [PoolTask("gaussian", at, len(clusters)) for at in range(len(preset.sigmas))]
    tasks += [PoolTask("extra", at, len(ParameterGrid(grid))) for at, (_, grid) in enumerate(extra)]
    return PoolWork(
        X, weight, preset, clusters, nearest, landmarks, seed, n_threads, extra, constraints
    ), tasks


def run_task(work: PoolWork, task: PoolTask) -> list[PoolClustering]:
    """Do one task."""
    # what comes from another process may lie anywhere in memory
    work = work._replace(
        X=np.require(work.X, None, ["C", "A"]),
        weight=np.require(work.weight, None, ["C", "A"]),
        neighbours=np.require(work.neighbours, None, ["C", "A"]),
    )
    if task.kind == "k-means":
        return _run_k_means(work, task.at)
    if task.kind == "DBSCAN":
        return _run_dbscans(work)
    if task.kind == "neighbours":
        return _cluster_by_neighbours(work, task.at)
    if task.kind == "gaussian":
        return _cluster_by_gaussian(work, task.at)
    return _run_extra(work, task.at)


def _run_k_means(work: PoolWork, k: int) -> list[PoolClustering]:
    # until nothing changes: every row is then with the nearest mean, as rows that are seen later will be
    runs = k_means_runs(
        work.X, k, (work.seed, k), work.preset.n_runs, tol=0, n_threads=work.n_threads, weight=work.weight
    )
    return [PoolClustering(K_MEANS, {"K": k, "run": run}, labels) for run, labels in enumerate(runs.labels)]


def _run_dbscans(work: PoolWork) -> list[PoolClustering]:
    least, most = (_radius_reaching(square) for square in native.distance_range(work.X, work.n_threads))
    eps, min_pts = np.linspace(least, most, work.preset.n_eps), np.array(work.preset.min_pts, dtype=np.int64)
    labels = native.all_dbscans(work.X, eps, min_pts, work.n_threads, work.weight)
    return [
        PoolClustering(DBSCAN, {"eps": radius, "minPts": least_core}, found)
        for of_min_pts, least_core in zip(labels, work.preset.min_pts, strict=True)
        for radius, found in zip(eps.tolist(), of_min_pts, strict=True)
    ]


def _radius_reaching(square: float) -> float:
    """Round the root of a squared distance so that it includes rows at that distance."""
    root = float(np.sqrt(square))
    return root if root * root >= square else float(np.nextafter(root, np.inf))


def _cluster_by_neighbours(work: PoolWork, k: int) -> list[PoolClustering]:
    found = spectral_labels(
        build_knn_graphs(work.neighbours)(k), work.clusters, (work.seed, 1, k), work.n_threads,
        by_degree=work.preset.by_degree,
    )  # fmt: skip
    return _name_graph_clusterings(NEIGHBOURS, {"k": k}, work.clusters, found)


def _cluster_by_gaussian(work: PoolWork, at: int) -> list[PoolClustering]:
    sigma, seed, by_degree = work.preset.sigmas[at], (work.seed, 2, at), work.preset.by_degree
    X = work.X / _widest_range(work.X)
    if (landmarks := work.landmarks) is not None:
        found = landmark_labels(X, sigma, landmarks, work.clusters, seed, work.n_threads, by_degree=by_degree)
        return _name_graph_clusterings(
            GAUSSIAN, {"sigma": sigma, "landmarks": len(landmarks)}, work.clusters, found
        )
    graph = build_gaussian_graph(X, sigma, n_threads=work.n_threads, out=work.room)
    found = spectral_labels(graph, work.clusters, seed, work.n_threads, X, by_degree=by_degree)
    return _name_graph_clusterings(GAUSSIAN, {"sigma": sigma}, work.clusters, found)


def _widest_range(X: NDArray[np.float64]) -> float:
    """The widest range of a feature, which is the unit of sigma."""
    return float(np.ptp(X, axis=0).max()) or 1.0


def _name_graph_clusterings(
    algorithm: str,
    graph: dict[str, Any],
    clusters: Sequence[int],
    found: Sequence[NDArray[Any] | None],
) -> list[PoolClustering]:
    return [
        PoolClustering(algorithm, {"K": k, **graph}, labels)
        for k, labels in zip(clusters, found, strict=True)
    ]


def _run_extra(work: PoolWork, at: int) -> list[PoolClustering]:
    estimator, grid = work.extra[at]
    takes = has_fit_parameter(estimator, "constraints")
    told = {"constraints": work.constraints} if takes and work.constraints is not None else {}
    shares = has_fit_parameter(estimator, "prepared")
    prepared: dict[tuple[Any, ...], dict[str, object]] = {}
    made = []
    for parameters in ParameterGrid(grid):
        model = clone(estimator).set_params(**parameters)
        # what is prepared does not depend on n_clusters
        key = tuple(item for item in parameters.items() if shares and item[0] != "n_clusters")
        if key not in prepared:
            prepared[key] = prepare_fits(model, work.X)
        labels = None
        with suppress(InfeasibleConstraintsError):  # what is not found is counted
            labels = np.asarray(model.fit_predict(work.X, **told, **prepared[key]))
        made.append(PoolClustering(type(estimator).__name__, parameters, labels))
    return made


def assign_noise(X: NDArray[Any], labels: NDArray[Any], noise: Noise) -> NDArray[np.int64]:
    """Assign noise (-1); clusters are numbered in the order of their first rows.

    Noise becomes one "cluster", or each noise row a cluster ("singletons"), or each joins the cluster of
    the "nearest" clustered row (one cluster if there is none).
    """
    settled = np.asarray(labels).astype(np.int64)
    if settled.max() >= len(settled):  # wide gaps
        settled[settled >= 0] = np.unique(settled[settled >= 0], return_inverse=True)[1]
    rows = np.flatnonzero(settled < 0)
    if len(rows):
        settled[rows] = settled.max() + 1
        if noise == "singletons":
            settled[rows] += np.arange(len(rows))
        elif noise == "nearest" and len(rows) < len(settled):
            clustered = np.ones(len(settled), dtype=bool)
            clustered[rows] = False
            nearest, _ = native.nearest_points(X[rows], X[clustered].astype(np.float64), parallel.n_threads())
            settled[rows] = settled[clustered][nearest]
    return _renumber_by_first_row(settled)


def _renumber_by_first_row(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber clusters 0, 1, ... in the order of their first rows."""
    first = np.full(clusters.max() + 1, len(clusters))
    first[clusters[::-1]] = np.arange(len(clusters))[::-1]  # what is written last stays
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[clusters]
