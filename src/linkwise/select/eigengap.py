"""Spectral clustering with the number of clusters at the widest gap between eigenvalues.

If a graph has K weakly connected parts, its normalised Laplacian has K eigenvalues near 0, and the next one
is larger: K is chosen at the widest gap between eigenvalues (von Luxburg 2007, section 8.3). The graph is
that of self-tuning spectral clustering (Zelnik-Manor and Perona 2004), or joins each row to its nearest
neighbours.

Cost: O(n²) memory for the first graph, O(n) for the second; two eigenproblems.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.cluster.graph.random_walk import Graph, embed_graph, laplacian_eigenvalues
from linkwise.cluster.nearest_row import NearestRowPredictor
from linkwise.parallel import one_blas_thread
from linkwise.select.self_tuning import (
    list_cluster_counts,
    relative_squared_distances,
    require_solution,
    scale_affinities_locally,
)
from linkwise.select.spectral import build_knn_graphs, spectral_labels
from linkwise.types import Labels
from linkwise.validation import check_rows, resolve_seed


class EigengapSearch(NearestRowPredictor, ClusterMixin, BaseEstimator):
    """Spectral clustering with the number of clusters that the eigenvalues suggest.

    Parameters
    ----------
    affinity : {"local_scaling", "nearest_neighbors"}, default="local_scaling"
        The graph: exp(-d² / (sigma_i sigma_j)) between all rows, sigma_i the distance to a row's
        neighbour number `n_neighbors`; or edges to the `n_neighbors` nearest rows.
    n_neighbors : int, default=7
        Number of nearest rows.
    min_clusters, max_clusters : int, default=2 and 10
        Range of the number of clusters, always below the number of rows.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    eigenvalues_ : ndarray of shape (n_values,)
        The smallest eigenvalues of the normalised Laplacian, ascending.
    gaps_ : dict of int to float
        For each number of clusters K the gap from the K-th eigenvalue to the next.

    Notes
    -----
    A cut of a graph has no rule for new rows, so `predict` is an approximation: the cluster of the nearest
    fitted row. For this the rows are stored.

    References
    ----------
    Von Luxburg (2007), A tutorial on spectral clustering. Statistics and Computing 17.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> import linkwise as lw
    >>> X, y = make_blobs(200, centers=4, cluster_std=0.7, random_state=3)
    >>> lw.EigengapSearch(random_state=0).fit(X).n_clusters_
    4
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "affinity": [StrOptions({"local_scaling", "nearest_neighbors"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "min_clusters": [Interval(Integral, 2, None, closed="left")],
        "max_clusters": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        affinity: Literal["local_scaling", "nearest_neighbors"] = "local_scaling",
        n_neighbors: int = 7,
        min_clusters: int = 2,
        max_clusters: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.min_clusters = min_clusters
        self.max_clusters = max_clusters
        self.random_state = random_state

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
        distinct = len(np.unique(rows, axis=0))
        counts = list_cluster_counts(self.min_clusters, self.max_clusters, max(distinct - 1, 1))
        if counts == [1]:  # nothing to tell one and two clusters apart by
            self.eigenvalues_, self.gaps_ = np.zeros(1), {1: 0.0}
            self.labels_: Labels = np.zeros(len(rows), dtype=np.int32)
        else:
            graph = self._graph(rows)
            with one_blas_thread():
                placed = require_solution(embed_graph(graph.copy(), counts[-1] + 1))
                self.eigenvalues_ = laplacian_eigenvalues(graph, placed)
            self.gaps_ = {k: float(self.eigenvalues_[k] - self.eigenvalues_[k - 1]) for k in counts}
            k = max(counts, key=self.gaps_.__getitem__)
            self.labels_ = require_solution(
                spectral_labels(graph, [k], (resolve_seed(self.random_state),))[0]
            )
        self.n_clusters_ = len(np.unique(self.labels_))
        self._keep_rule(rows)
        return self

    def _graph(self, rows: NDArray[Any]) -> Graph:
        if self.affinity == "local_scaling":
            return scale_affinities_locally(relative_squared_distances(rows), self.n_neighbors)
        k = min(self.n_neighbors + 1, len(rows))  # the row itself is the first
        nearest = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors(rows, return_distance=False)
        graph = build_knn_graphs(nearest)(k)
        return sp.csr_array(graph - sp.diags_array(graph.diagonal()))
