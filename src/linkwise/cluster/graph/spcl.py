"""SPCL: spectral clustering on affinities that constraints overwrite.

Kamvar, Klein and Manning (2003), "Spectral learning", IJCAI. Rows are nodes of a graph; a must-link makes the
affinity of its rows 1, the largest there is, a cannot-link makes it 0. The random walk N = (A + d_max I - D)
/ d_max stays longer at rows with few neighbours. Its first eigenvectors place the rows; scaled to length 1,
the rows are clustered by k-means.

Kept: all of it. Settled where the paper leaves it open:

- The graph joins each row to its nearest ones, weighted by local scaling (`neighbour_graph`), so it is sparse
  and needs no width. With one width for all rows, additive normalisation spends whole eigenvectors on single
  outliers.
- Implied constraints are not added, since their number grows with the square of a component.

A constraint changes one affinity out of many, so it may be broken.

Cost: the search for neighbours, one factorisation of a sparse matrix, k-means in k dimensions.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from linkwise.cluster.graph.eigenpairs import is_small, solve_dense, solve_sparse
from linkwise.cluster.graph.neighbour_graph import build_neighbour_graph
from linkwise.cluster.kmeans.lloyd import k_means
from linkwise.cluster.nearest_row import NearestRowClusterer
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import one_blas_thread
from linkwise.types import Labels, Progress


class SPCL(NearestRowClusterer):
    """Spectral clustering on affinities that constraints overwrite.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : int, optional
        Number of eigenvectors; `n_clusters` by default.
    n_neighbors : int, default=10
        Number of nearest rows that each row is joined to.
    sigma : float, optional
        Width of the Gaussian weights, in units of the features. By default each row has its own width, the
        distance to the last of its nearest rows.
    skip_constant : bool, default=False
        Whether to leave out the first eigenvector, which is the same for all rows before they are scaled to
        length 1. The published method does not say.
    n_init : int, default=10
        Number of starts of k-means.
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
        The points that k-means clustered.

    Notes
    -----
    Eigenvectors have no rule for new rows, so `predict` is an approximation: the cluster of the nearest
    fitted row.

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
        "skip_constant": ["boolean"],
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
        skip_constant: bool = False,
        n_init: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.skip_constant = skip_constant
        self.n_init = n_init
        self.random_state = random_state

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        told = progress or (lambda done, planned: None)
        graph = build_neighbour_graph(X, constraints, self.n_neighbors, self.sigma)
        told(1, 3)
        affinity = overwrite_affinities(graph.weights, graph.node, constraints)
        width = min(max(self.n_components or k, min(k, 2)), affinity.shape[0])
        placed = embed_affinities(affinity, width, skip_constant=self.skip_constant)
        told(2, 3)
        labels = k_means(placed, k, seed, n_init=self.n_init).labels
        told(3, 3)
        self.embedding_ = placed[graph.node]
        return labels[graph.node]


def overwrite_affinities(
    weights: sp.csr_array, node: NDArray[np.int64], constraints: Constraints
) -> sp.csr_array:
    """Set affinities to 1 for must-links, then to 0 for cannot-links."""
    affinity = weights
    for pairs, value in ((constraints.must_link, 1.0), (constraints.cannot_link, 0.0)):
        one, other = node[pairs].T
        ends = (np.r_[one, other], np.r_[other, one])
        told = sp.csr_array((np.ones(len(ends[0])), ends), shape=weights.shape)
        affinity = sp.csr_array(affinity - affinity * told + value * told)
    affinity.eliminate_zeros()
    return affinity


def embed_affinities(
    affinity: sp.csr_array, width: int, *, skip_constant: bool = False
) -> NDArray[np.float64]:
    """(m, width) rows of length 1: the first eigenvectors of (A + d_max I - D) / d_max.

    With `skip_constant` they begin with the second one, and are one fewer if there are no more.
    """
    m = affinity.shape[0]
    width = min(width + skip_constant, m)
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
    if skip_constant and len(vectors) > 1:
        vectors = vectors[1:]
    length = np.linalg.norm(vectors, axis=0)
    return np.ascontiguousarray((vectors / np.where(length > 0, length, 1)).T)
