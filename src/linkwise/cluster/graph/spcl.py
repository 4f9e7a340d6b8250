"""SPCL: spectral clustering on affinities that constraints overwrite.

Kamvar, Klein and Manning (2003), "Spectral learning", IJCAI. Rows are nodes of a graph; a must-link makes
the affinity of its rows 1, the largest there is, a cannot-link makes it 0. A walk stays where it is the more
the fewer neighbours a row has, N = (A + d_max I - D) / d_max; its first eigenvectors tell where the rows
lie, and scaled to length 1 they are clustered by k-means.

Kept: all of it. Settled where the paper leaves it open:

- The graph joins each row to its nearest ones, weighted by local scaling (`neighbour_graph`), so that it is
  sparse and no width need be chosen. Under a width that is the same everywhere, additive normalisation gives
  whole eigenvectors to single rows that lie far out.
- What follows from constraints is not added: it would grow with the square of a component.

A constraint changes one affinity out of many, so that it is evidence, not a command: it may be broken.

Cost: the search for neighbours, one factorisation of a sparse matrix, k-means in k dimensions.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from linkwise.asking.learner import Labels, Progress
from linkwise.cluster.base import ConstrainedClusterer
from linkwise.cluster.graph.eigenpairs import is_small, solve_dense, solve_sparse
from linkwise.cluster.graph.neighbour_graph import build_neighbour_graph
from linkwise.cluster.kmeans.lloyd import k_means
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import one_blas_thread


class SPCL(ConstrainedClusterer):
    """Spectral clustering on affinities that constraints overwrite.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int, optional
        Eigenvectors; by default as many as clusters.
    n_neighbors : int, default=10
        Rows to which each is joined.
    sigma : float, optional
        Width of the Gaussian that weighs them, in units of the features. By default each row has its own, by
        the distance to the last of its nearest rows.
    n_init : int, default=10
        Starts of k-means.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break.
    embedding_ : ndarray of shape (n_rows, n_components)
        Where k-means found the rows.

    References
    ----------
    Kamvar, Klein and Manning (2003), Spectral learning. IJCAI.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> import linkwise as lw
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> c = lw.Constraints.sample(y, 30, random_state=0)
    >>> lw.SPCL(2, random_state=0).fit(X, constraints=c).violations_
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "sigma": [Interval(Real, 0, None, closed="neither"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        n_neighbors: int = 10,
        sigma: float | None = None,
        n_init: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.n_init = n_init
        self.random_state = random_state

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        told = progress or (lambda done, planned: None)
        graph = build_neighbour_graph(X, constraints, self.n_neighbors, self.sigma)
        told(1, 3)
        affinity = overwrite_affinities(graph.weights, graph.node, constraints)
        placed = embed_affinities(affinity, min(max(self.n_components or k, min(k, 2)), affinity.shape[0]))
        told(2, 3)
        labels = k_means(placed, k, seed, n_init=self.n_init).labels
        told(3, 3)
        self.embedding_ = placed[graph.node]
        return labels[graph.node]


def overwrite_affinities(
    weights: sp.csr_array, node: NDArray[np.int64], constraints: Constraints
) -> sp.csr_array:
    """Affinities, 1 for must-links and 0 for cannot-links, of which the latter win."""
    affinity = weights
    for pairs, value in ((constraints.must_link, 1.0), (constraints.cannot_link, 0.0)):
        one, other = node[pairs].T
        ends = (np.r_[one, other], np.r_[other, one])
        told = sp.csr_array((np.ones(len(ends[0])), ends), shape=weights.shape)
        affinity = sp.csr_array(affinity - affinity * told + value * told)
    affinity.eliminate_zeros()
    return affinity


def embed_affinities(affinity: sp.csr_array, width: int) -> NDArray[np.float64]:
    """(m, width) rows of length 1: the first eigenvectors of (A + d_max I - D) / d_max."""
    m = affinity.shape[0]
    degree = np.asarray(affinity.sum(axis=0)).ravel()
    most = degree.max()
    if most == 0:
        return np.eye(m)[:, :width]
    normal = sp.csr_array((affinity + sp.diags_array(most - degree)) / most)
    with one_blas_thread():
        if is_small(m, width):
            vectors = solve_dense(normal.toarray(), width).vectors
        else:
            vectors = solve_sparse(normal, np.ones(m), width).vectors
    length = np.linalg.norm(vectors, axis=0)
    return np.ascontiguousarray((vectors / np.where(length > 0, length, 1)).T)
