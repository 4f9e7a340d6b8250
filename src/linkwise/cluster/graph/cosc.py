"""COSC: the normalised cut, with constraints, by its exact continuous form.

Rangapuram and Hein (2012), "Constrained 1-spectral clustering", AISTATS. The rows are nodes of a graph of
nearest rows. Of all ways to cut it into two, that of least cut(C) / vol(C) + cut(C) / vol(rest) is sought,
with a price for each cannot-link that is broken, which grows until none is. Spectral clustering relaxes such
a problem; here the continuous problem has the same solutions, and is solved by descent from several starts
(`ratio_cut`). Rows joined by must-links are one node from the start. More than two clusters are made by
cutting clusters again (`partition`).

Kept: the objective, its growing price, the merging, starts from eigenvectors and at random, ten for two
clusters and two for each cut of several. For two clusters foes of one row are one node, too. Changed, and
why:

- The first start for two clusters is the eigenvector under which foes have opposite values. The paper's, of
  another method, serves the same end.
- With each price the descent goes back to its start. From a cut that is already there it gets nowhere.
- What is random is a mixture of the first eigenvectors. From noise more descents end badly.
- While clusters are still to be cut, a broken cannot-link may be parted later. Cuts are then compared by the
  sum over clusters of cut / vol, plus the share of the cannot-links that are broken.
- Clusters that were made by cuts of cuts are repaired by labels that keep cannot-links, where such are found;
  single nodes move, and every two clusters are cut anew, while that is better. The paper gives no warranty
  for more than two clusters, and what a first cut has parted no later one mends.
- One of the runs for more than two begins with spectral clustering instead.

Cost: for each start and price some ten convex problems of at most `max_inner_iter` passes over the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.asking.learner import Labels, Progress
from linkwise.cluster.base import ConstrainedClusterer
from linkwise.cluster.graph.neighbour_graph import NeighbourGraph, build_neighbour_graph
from linkwise.cluster.graph.partition import (
    cluster_embedding,
    cut_into_two,
    divide,
    evaluate_partition,
    merge_nodes,
    recut,
    settle_partition,
)
from linkwise.cluster.graph.random_walk import embed_graph, laplacian_eigenvalues
from linkwise.cluster.graph.ratio_cut import Balance, CutProblem
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import one_blas_thread

MOST_CLUSTERS = 10  # that are looked for
NEAR_ZERO = 0.02  # eigenvalues far below are alike


class COSC(ConstrainedClusterer):
    """The normalised cut, with constraints, by its exact continuous form.

    Parameters
    ----------
    n_clusters : int, optional
        By default where the gap between eigenvalues of the graph is relatively widest, from 2 to 10: a guess.
    balance : {"ncut", "cheeger"}, default="ncut"
        What a cut is divided by: the volumes of both sides, or the smaller of them.
    n_neighbors : int, default=10
        Rows to which each is joined.
    n_init : int, default=10
        Starts, where there are two clusters.
    n_runs : int, default=3
        Runs of the whole, where there are more.
    max_inner_iter : int, default=1000
        Iterations of each convex problem.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break. For two clusters 0 where all can be kept; for more,
        wherever labels that keep them were found.
    cut_ : float
        Sum over clusters of cut / balance.

    Notes
    -----
    Must-links always hold. Weights of constraints count for nothing.

    References
    ----------
    Rangapuram and Hein (2012), Constrained 1-spectral clustering. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> import linkwise as lw
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> c = lw.Constraints.sample(y, 20, random_state=0)
    >>> lw.COSC(2, random_state=0).fit(X, constraints=c).violations_
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "balance": [StrOptions({"ncut", "cheeger"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "n_runs": [Interval(Integral, 1, None, closed="left")],
        "max_inner_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    n_clusters: int | None  # type: ignore[assignment]

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        balance: Balance = "ncut",
        n_neighbors: int = 10,
        n_init: int = 10,
        n_runs: int = 3,
        max_inner_iter: int = 1000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.balance = balance
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.n_runs = n_runs
        self.max_inner_iter = max_inner_iter
        self.random_state = random_state

    def _most_clusters(self, rows: Any) -> int:
        return super()._most_clusters(rows) if self.n_clusters else len(rows)

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        told = progress or (lambda done, planned: None)
        graph = build_neighbour_graph(X, constraints, self.n_neighbors)
        problem, number = _join_must_links(graph, constraints, self.balance)
        k = min(k if self.n_clusters else choose_by_eigengap(graph.weights), len(problem.volume))
        best, planned = np.zeros(len(problem.volume), dtype=np.int32), self.n_init if k == 2 else self.n_runs
        for done, labels in enumerate(self._found(problem, k, seed)):
            told(done, planned)
            if done == 0 or evaluate_partition(problem, labels) < evaluate_partition(problem, best):
                best = labels
        told(planned, planned)
        self.cut_ = evaluate_partition(problem, best).cut
        return np.unique(best, return_inverse=True)[1].astype(np.int32)[number]

    def _found(self, problem: CutProblem, k: int, seed: int) -> Iterator[Labels]:
        """The clusterings that are made."""
        if k == 1:
            yield np.zeros(len(problem.volume), dtype=np.int32)
        elif k == 2:
            yield from cut_into_two(problem, self.n_init, seed, self.max_inner_iter)
        else:
            for run in range(self.n_runs):
                begun = (
                    divide(problem, k, seed, run, self.max_inner_iter)
                    if run
                    else cluster_embedding(problem, k, seed)
                )
                yield recut(problem, settle_partition(problem, begun, k), seed, self.max_inner_iter)


def _join_must_links(
    graph: NeighbourGraph, constraints: Constraints, balance: Balance
) -> tuple[CutProblem, NDArray[np.int64]]:
    """The problem in which rows joined by must-links are one node, and the node of each row."""
    volume = np.asarray(graph.weights.sum(axis=0)).ravel()
    single = volume + (volume == 0)  # where there is but one node
    first = np.unique(graph.node, return_index=True)[1]
    number = np.unique(constraints.component[first], return_inverse=True)[1]
    apart = graph.node[constraints.cannot_link]
    problem = CutProblem(graph.weights, single, apart, balance)
    return merge_nodes(problem, number), number[graph.node]


def choose_by_eigengap(weights: sp.csr_array) -> int:
    """The number of clusters, from 2 to 10, after whose eigenvalue the step to the next is widest.

    A step counts in parts of the eigenvalue that it leads to: great ones lie farther apart.
    """
    m = weights.shape[0]
    if m < 3:
        return 1
    with one_blas_thread():
        placed = embed_graph(weights, min(MOST_CLUSTERS + 1, m))
    if placed is None:
        return 1
    values = laplacian_eigenvalues(weights, placed)
    return 2 + int((np.diff(values)[1:] / (values[2:] + NEAR_ZERO)).argmax())
