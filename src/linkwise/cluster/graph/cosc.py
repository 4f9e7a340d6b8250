"""COSC: the normalised cut, with constraints, by its exact continuous form.

Rangapuram and Hein (2012), "Constrained 1-spectral clustering", AISTATS. The rows are nodes of a graph of
nearest rows. The method looks for the cut into two of least cut(C) / vol(C) + cut(C) / vol(rest), plus a
price for each broken cannot-link that grows until none is broken. Spectral clustering relaxes such a problem;
here the continuous problem has the same solutions, and is solved by descent from several starts
(`ratio_cut`). Rows joined by must-links are one node from the start. More than two clusters come from
repeated cuts (`partition`).

Kept: the objective, its growing price, the merging, starts from eigenvectors and at random, ten for two
clusters and two for each cut of several. For two clusters, all rows with a cannot-link to the same row are
one node, too. Changed, and why:

- The first start for two clusters is the eigenvector under which the ends of cannot-links have opposite
  values. The paper takes it from another method for the same purpose.
- With each price the descent starts again from its first vector. From an existing cut it makes no progress.
- Random starts are mixtures of the first eigenvectors. From noise more descents end badly.
- A later cut may still satisfy a broken cannot-link. So cuts before the last are compared by the sum over
  clusters of cut / vol plus the share of broken cannot-links.
- A descent also ends when its best threshold is no better than that of the step before. Single moves of nodes
  find what is left more cheaply.
- Clusters from repeated cuts are improved: by labels that satisfy all cannot-links if any are found, by moves
  of single nodes, and by new cuts of every two clusters. The paper gives no guarantee for more than two
  clusters, and no later cut corrects an earlier one.
- For more than two clusters, one of the runs begins with spectral clustering instead.
- A graph of more than 1000 nodes is coarsened first if it is cut into more than two clusters (`coarsen`).
  This is an approximation, but the cuts are as good as those of the whole graph. For two clusters they would
  be worse, so the whole graph is cut.

`COSC.authors` cuts into more than two clusters as the program of the authors (`cosc_program`), which does
none of the last four.

Cost: for each start and price some ten convex problems of at most `max_inner_iter` passes over the graph.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.cluster.graph.coarsen import Level, coarsen, refine
from linkwise.cluster.graph.cosc_program import divide_as_program
from linkwise.cluster.graph.neighbour_graph import NeighbourGraph, build_neighbour_graph
from linkwise.cluster.graph.partition import (
    KnownParts,
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
from linkwise.cluster.nearest_row import NearestRowClusterer
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import one_blas_thread
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows

MAX_NODES = 1000  # of a graph that is cut into more than two clusters
MOST_CLUSTERS = 10  # that are looked for
NEAR_ZERO = 0.02  # eigenvalues far below are alike


class COSC(NearestRowClusterer):
    """Graph clustering that minimises the normalised cut and satisfies constraints.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. By default the number from 2 to 10 with the relatively widest gap between
        eigenvalues of the graph, which is a guess.
    balance : {"ncut", "cheeger"}, default="ncut"
        Divisor of a cut: the volumes of both sides, or the smaller of them.
    n_neighbors : int, default=10
        Number of nearest rows that each row is joined to.
    n_init : int, default=10
        Number of starts for two clusters.
    n_runs : int, default=3
        Number of runs for more than two clusters.
    max_inner_iter : int, default=1000
        Largest number of iterations of each convex problem.
    max_nodes : int, "auto" or None, default="auto"
        An approximation for many rows: a graph of more nodes is coarsened to about this number and cut, and
        the clusters are refined by moves of single nodes. "auto" is 1000 for more than two clusters, and None
        for two. None cuts the whole graph.
    search : {"improved", "program"}, default="improved"
        How a graph is cut into more than two clusters: with later improvements, or as the authors' program,
        which breaks more cannot-links.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        Number of constraints that `labels_` break. For two clusters it is 0 if all can be satisfied; for
        more, if the search finds such labels.
    cut_ : float
        Sum over clusters of cut / balance.

    Notes
    -----
    Must-links always hold. Weights of constraints have no effect. A cut has no rule for new rows, so
    `predict` is an approximation: the cluster of the nearest fitted row.

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
        "max_nodes": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "search": [StrOptions({"improved", "program"})],
        "random_state": ["random_state"],
    }

    n_clusters: int | None  # type: ignore[assignment]  # other clusterers require it

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        balance: Balance = "ncut",
        n_neighbors: int = 10,
        n_init: int = 10,
        n_runs: int = 3,
        max_inner_iter: int = 1000,
        max_nodes: int | Literal["auto"] | None = "auto",
        search: Literal["improved", "program"] = "improved",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.balance = balance
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.n_runs = n_runs
        self.max_inner_iter = max_inner_iter
        self.max_nodes = max_nodes
        self.search = search
        self.random_state = random_state

    @classmethod
    def authors(cls, n_clusters: int | None = None, **parameters: Any) -> Self:
        """Create the method as in COSC 1.1, the program of its authors.

        The whole graph is cut. For more than two clusters there are five runs of repeated cuts, and the least
        cut counts. For two clusters the preset has our starts and our last moves of single nodes.

        Parameters
        ----------
        n_clusters : int, optional
            Number of clusters.
        **parameters : Any
            Parameters of `COSC` that replace those of the preset.

        Returns
        -------
        COSC
            The method, not fitted.
        """
        return cls(n_clusters, **{"max_nodes": None, "n_runs": 5, "search": "program"} | parameters)

    def _most_clusters(self, rows: Any) -> int:
        return super()._most_clusters(rows) if self.n_clusters else len(rows)

    def prepare(self, X: ArrayLike) -> NeighbourGraph:
        """Compute what fits to the same rows have in common, whatever their constraints.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        NeighbourGraph
            The graph of the rows for these parameters, whatever `n_clusters`, as `fit` takes it.
        """
        self._validate_params()
        rows = check_rows(X, self)
        return build_neighbour_graph(rows, Constraints(len(rows)), self.n_neighbors)

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Constraints | None = None,
        progress: Progress | None = None,
        prepared: NeighbourGraph | None = None,
    ) -> Self:
        """Fit the clusterer.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.
        y : ignored
            Not used; scikit-learn passes it.
        constraints : Constraints, optional
            Must-links and cannot-links between the rows; none by default.
        progress : callable, optional
            Called as ``progress(done, planned)`` during the work. An exception that it raises ends the work.
        prepared : NeighbourGraph, optional
            What `prepare` returns for the same rows. It saves time and changes no result.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._prepared = prepared
        try:
            return super().fit(X, y, constraints=constraints, progress=progress)
        finally:
            del self._prepared

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        told = progress or (lambda done, planned: None)
        graph = self._find_graph(X, constraints)
        problem, number = _join_must_links(graph, constraints, self.balance)
        k = min(k if self.n_clusters else choose_by_eigengap(graph.weights), len(problem.volume))
        coarse, levels = self._coarsen(problem, k)
        found = self._cluster_nodes(coarse, k, seed, told)
        best = min(found, key=lambda labels: evaluate_partition(coarse, labels))
        best = refine(best, levels, k)
        self.cut_ = evaluate_partition(problem, best).cut
        return np.unique(best, return_inverse=True)[1].astype(np.int32)[number]

    def _find_graph(self, X: NDArray[Any], constraints: Constraints) -> NeighbourGraph:
        """Return the graph that was prepared if it is the one under these constraints, or build it."""
        known = self._prepared
        if known is not None and len(known.node) != len(X):
            raise ValueError(
                f"prepared is a graph of {len(known.node)} rows, but X has {len(X)}."
                " Pass what prepare(X) returns for the same rows."
            )
        if known is not None and known.suits(constraints):
            return known
        return build_neighbour_graph(X, constraints, self.n_neighbors)

    def _coarsen(self, problem: CutProblem, k: int) -> tuple[CutProblem, list[Level]]:
        """Return the graph that is cut, and the finer ones."""
        most: int | None = (
            (MAX_NODES if k > 2 else None) if isinstance(self.max_nodes, str) else self.max_nodes
        )
        return (problem, []) if most is None else coarsen(problem, max(most, k))

    def _cluster_nodes(self, problem: CutProblem, k: int, seed: int, told: Progress) -> list[Labels]:
        """Cluster the nodes from all starts."""
        if k == 1:
            return [np.zeros(len(problem.volume), dtype=np.int32)]
        found: list[Labels] = []
        is_program = self.search == "program" and k > 2
        planned = self.n_init if k == 2 else self.n_runs + (not is_program)
        told(0, planned)
        if k == 2:
            for labels in cut_into_two(problem, self.n_init, seed, self.max_inner_iter):
                found.append(labels)
                told(len(found), planned)
            return found
        if is_program:
            runs: list[tuple[float, Labels]] = []
            for run in range(self.n_runs):
                runs.append(divide_as_program(problem, k, rng_at(seed, run), self.max_inner_iter))
                told(len(runs), planned)
            return [min(runs, key=lambda each: each[0])[1]]
        known: KnownParts = {}
        for run in range(self.n_runs):
            labels = (
                divide(problem, k, seed, run, self.max_inner_iter, known)
                if run
                else cluster_embedding(problem, k, seed)
            )
            found.append(settle_partition(problem, labels, k))
            told(len(found), planned)
        found = recut(problem, found, self.max_inner_iter)
        told(planned, planned)
        return found


def _join_must_links(
    graph: NeighbourGraph, constraints: Constraints, balance: Balance
) -> tuple[CutProblem, NDArray[np.int64]]:
    """Merge rows joined by must-links; return the problem and the node of each row."""
    volume = np.asarray(graph.weights.sum(axis=0)).ravel()
    single = volume + (volume == 0)  # where there is but one node
    first = np.unique(graph.node, return_index=True)[1]
    number = np.unique(constraints.component[first], return_inverse=True)[1]
    apart = graph.node[constraints.cannot_link]
    problem = CutProblem(graph.weights, single, apart, balance)
    return merge_nodes(problem, number), number[graph.node]


def choose_by_eigengap(weights: sp.csr_array) -> int:
    """Choose the number of clusters, 2 to 10, with the relatively widest step to the next eigenvalue.

    A step is relative to the eigenvalue after it, since large eigenvalues lie farther apart.
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
