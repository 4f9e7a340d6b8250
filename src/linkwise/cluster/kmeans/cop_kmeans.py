"""COP-k-means: k-means that breaks no constraint.

Wagstaff, Cardie, Rogers and Schroedl (2001), "Constrained k-means clustering with background knowledge". Each
component of the must-links is one point: its mean, with its number of rows as weight. Each point takes the
nearest centre that no point has from which a cannot-link separates it.

Kept: hard constraints, the nearest centre that is allowed, points in random order.
Changed, and why:

- As printed the algorithm fails if an unlucky order leaves a point without a centre. Here a search first
  finds out whether all cannot-links can be satisfied (`feasible`); if not, the error says why.
- Labels that satisfy all cannot-links are improved by exchanges along chains of cannot-links (Kempe 1879),
  from the labels of the last pass and from a fresh assignment; the cheaper labels win. The objective
  therefore never rises.
- A must-linked component goes to the centre that is nearest to its mean, not to its first row.
- ``assignment="exact"`` finds the cheapest labels of every connected part of the cannot-links by branch and
  bound, within a limited number of steps.

`COPKMeans.paper` is the algorithm as printed (``assignment="first fit"``): it raises an error where the
authors' program returns an empty partition. `COPKMeans.authors` is the COP-k-means of Clus, the program of
Struyf and Džeroski (2007), who compare it with ClusILC.

Cost: a pass is one of plain k-means, O(n k d), and for the points with cannot-links O((points + pairs) k)
a sweep; exact assignment is exponential in the largest part, bounded by a number of steps.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise import native
from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans.components import Blocks, build_blocks, compact_labels
from linkwise.cluster.kmeans.feasible import ADVICE, find_separating_labels
from linkwise.cluster.kmeans.starts import check_init, draw_link_ends
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning, InfeasibleConstraintsError
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress
from linkwise.wording import count_noun

_SWEEPS = 50
_EXACT_STEPS = 100_000  # of branch and bound, in each connected part


class COPKMeans(CenteredClusterer):
    """k-means that breaks no constraint.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "cannot-links"} or array of shape (n_clusters, n_features), default="k-means++"
        First centres, drawn by k-means++, or given; an array of centres is the only start. With
        "cannot-links" they are the two ends of random cannot-links, as long as these fit, and then random
        rows; joined rows count as one, their mean.
    n_init : int, default=10
        Number of starts; the run of least inertia is the result.
    max_iter : int, default=300
        Largest number of iterations of one start.
    tol : float, default=0.0001
        A start converges when the squared shift of the centres is at most `tol` times the mean variance of
        the features.
    assignment : {"exchange", "exact", "first fit"}, default="exchange"
        How rows with cannot-links get their clusters: "exchange" improves them step by step; "exact" finds
        the least sum of squares of every connected part of the cannot-links that a search of 100 000 steps
        can solve; with "first fit" each row, in the order of the data, takes the nearest centre that is
        allowed, and the start fails if there is none.
    by_first_row : bool, default=False
        With "first fit": whether the first row of a component chooses its centre, as printed, or its mean.
    on_infeasible : {"raise", "soft"}, default="raise"
        What to do if the constraints cannot all be satisfied: raise an error, or break few of them with a
        warning.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centre of each cluster.
    n_clusters_ : int
        Number of clusters of `labels_`.
    violations_ : int
        0, unless ``on_infeasible="soft"``.
    inertia_ : float
        Sum of squared distances of the rows to the centres of their clusters.
    n_iter_ : int
        Number of iterations of the chosen start.
    n_failed_ : int
        Number of starts that found no assignment that satisfies every constraint.

    Notes
    -----
    ``predict`` assigns new rows to the nearest centre. For the fitted rows this is `labels_`, except
    for rows that a constraint keeps in another cluster.

    References
    ----------
    Wagstaff, Cardie, Rogers and Schroedl (2001), Constrained k-means clustering with background knowledge.
    ICML. Davidson and Ravi (2005), Clustering with constraints: feasibility issues and the k-means algorithm.
    SDM. Struyf and Džeroski (2007), Clustering trees with instance level constraints. ECML.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> c = lw.Constraints(4, must_link=[(1, 2)], cannot_link=[(0, 1)])
    >>> lw.COPKMeans(2, random_state=0).fit(X, constraints=c).labels_[[1, 2]].tolist() == [0, 0]
    False
    """

    sparse: ClassVar[bool] = True
    hard: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "cannot-links"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "assignment": [StrOptions({"exchange", "exact", "first fit"})],
        "by_first_row": ["boolean"],
        "on_infeasible": [StrOptions({"raise", "soft"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        assignment: Literal["exchange", "exact", "first fit"] = "exchange",
        by_first_row: bool = False,
        on_infeasible: Literal["raise", "soft"] = "raise",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.assignment = assignment
        self.by_first_row = by_first_row
        self.on_infeasible = on_infeasible
        self.random_state = random_state

    @classmethod
    def paper(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the algorithm as printed (Wagstaff et al. 2001, Table 1).

        There is one start. Each row, in the order of the data, takes the nearest centre that breaks no
        constraint with rows before it. If there is none, `fit` raises InfeasibleConstraintsError, where the
        printed algorithm returns an empty partition; another order or start may still succeed.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `COPKMeans` that replace those of the preset.

        Returns
        -------
        COPKMeans
            The method, not fitted.
        """
        printed: dict[str, Any] = {"assignment": "first fit", "by_first_row": True, "n_init": 1, "tol": 0.0}
        return cls(n_clusters, **{**printed, **parameters})

    @classmethod
    def authors(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the algorithm as in Clus, the program that Struyf and Džeroski (2007) ran beside ClusILC.

        From the program are the starts, the mean of linked rows that stands for them, and the order of the
        data, in which each takes the nearest centre that is allowed. If there is none, `fit` raises
        InfeasibleConstraintsError. The paper then draws other constraints, up to 100 000 times (its second
        footnote), which is a matter of the experiment: ``python -m bench run clusilc --redraws 100000``.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `COPKMeans` that replace those of the preset.

        Returns
        -------
        COPKMeans
            The method, not fitted.
        """
        of_clus: dict[str, Any] = {"init": "cannot-links", "assignment": "first fit", "n_init": 1, "tol": 0.0}
        return cls(n_clusters, **{**of_clus, **parameters})

    def _breaks_nothing(self) -> bool:
        return self.on_infeasible == "raise"

    def _fit(self, X: Any, constraints: Constraints, k: int, seed: int, progress: Progress | None) -> Labels:
        starts = self._draw_starts(X, constraints, k, seed)
        self.n_failed_ = 0
        if constraints.n_constraints == 0:
            runs = points.run_lloyd(X, starts, max_iter=self.max_iter, tol=self.tol)
            best = int(runs.inertia.argmin())
            self.inertia_, self.n_iter_ = float(runs.inertia[best]), int(runs.n_iter[best])
            return self._keep(runs.labels[best], runs.centers[best])
        # rows may be distinct and yet nearer than squares can tell: then centres coincide
        starts = np.pad(starts, ((0, 0), (0, k - starts.shape[1]), (0, 0)), mode="edge")
        blocks = build_blocks(X, constraints.component)
        if self.assignment == "first fit":
            return self._fit_in_order(X, blocks, starts, constraints, progress)
        apart = _find_apart_blocks(blocks, constraints, k, soft=self.on_infeasible == "soft")
        limit = _EXACT_STEPS if self.assignment == "exact" else 0
        stop = (self.max_iter, self.tol * points.mean_variance(X))
        runs_kept = []
        for number, start in enumerate(starts):
            runs_kept.append(_run(blocks, start, apart, limit, rng_at(seed, number), *stop))
            if progress is not None:
                progress(number + 1, len(starts))
        found = min(runs_kept, key=lambda run: (run.together, run.inertia))
        self.n_failed_ = sum(run.together > 0 for run in runs_kept)
        self._check_found(found, len(runs_kept), blocks, constraints)
        self.inertia_, self.n_iter_ = found.inertia + blocks.scatter, found.n_iter
        return self._keep(found.labels[blocks.number], found.centers)

    def _draw_starts(self, X: Any, constraints: Constraints, k: int, seed: int) -> NDArray[np.float64]:
        """Return the first centres of each start, (n_starts, at most k, d)."""
        if not isinstance(self.init, str):
            return check_init(self.init, self.n_clusters, k, X.shape[1])[None]
        if self.init == "k-means++":
            return points.draw_starts(X, k, seed, self.n_init)
        blocks, apart = build_blocks(X, constraints.component), constraints.component_cannot_link
        return np.stack([draw_link_ends(blocks, apart, k, rng_at(seed, at)) for at in range(self.n_init)])

    def _fit_in_order(
        self,
        X: Any,
        blocks: Blocks,
        starts: Centers,
        constraints: Constraints,
        progress: Progress | None,
    ) -> Labels:
        """Run the printed algorithm from each start; the run of least inertia is the result."""
        if self.on_infeasible == "soft":
            raise ValueError(
                'on_infeasible="soft" breaks constraints, but assignment="first fit" breaks none. '
                'Use "raise", or another assignment.'
            )
        choosing = X[blocks.first_row] if self.by_first_row else blocks.X
        found: list[_Run] = []
        failed = 0
        for number, start in enumerate(starts):
            run = run_in_order(blocks, choosing, start, constraints.component_cannot_link, self.max_iter)
            self.n_failed_ += isinstance(run, int)
            if isinstance(run, int):
                failed = int(blocks.first_row[run])
            else:
                found.append(run)
            if progress is not None:
                progress(number + 1, len(starts))
        if not found:
            reason = f"Row {failed} found no cluster that breaks no constraint with the rows before it"
            raise InfeasibleConstraintsError(
                f"{reason}, in any of {count_noun(len(starts), 'start')}. Try more starts (n_init), another "
                'order of the rows, or assignment="exchange", which finds a way if there is one.',
                reason=reason,
                rows=(failed,),
            )
        best = min(found, key=lambda run: run.inertia)
        self.inertia_, self.n_iter_ = best.inertia + blocks.scatter, best.n_iter
        return self._keep(best.labels[blocks.number], best.centers)

    def _check_found(self, run: _Run, n_starts: int, blocks: Blocks, constraints: Constraints) -> None:
        if run.together and self.on_infeasible == "raise":
            reason = (
                f"{count_noun(n_starts, 'start')} found no clustering into {len(run.centers)} clusters"
                " that satisfies all "
                f"{len(constraints.cannot_link)} cannot-links"
            )
            advice = f"More starts (n_init) may find one. Otherwise: {ADVICE}"
            raise InfeasibleConstraintsError(f"{reason}. {advice}", reason=reason)
        broken = run.together + len(constraints.conflicts)
        if broken:
            warnings.warn(
                f"The clustering breaks {count_noun(broken, 'cannot-link')} between rows or groups of"
                " rows. Either not "
                f"all constraints can be satisfied, or the search found no way with {len(run.centers)}"
                " clusters.",
                ConstraintWarning,
                stacklevel=4,
            )

    def _keep(self, labels: Labels, centers: Centers) -> Labels:
        labels, used = compact_labels(labels, len(centers))
        self.cluster_centers_ = centers[used]
        return labels


class _ApartBlocks(NamedTuple):
    """Blocks with cannot-links."""

    nodes: NDArray[np.int64]
    """(m,) blocks."""
    pairs: NDArray[np.int32]
    """(q, 2) places in `nodes`."""
    labels: NDArray[np.int32] | None
    """Some labels that keep all pairs apart, where any are known."""


class _Run(NamedTuple):
    """The result of one start; labels are those of blocks."""

    labels: Labels
    centers: Centers
    inertia: float
    together: int
    n_iter: int


def _find_apart_blocks(blocks: Blocks, constraints: Constraints, k: int, *, soft: bool) -> _ApartBlocks:
    nodes, place = np.unique(constraints.component_cannot_link, return_inverse=True)
    pairs = np.ascontiguousarray(place.reshape(-1, 2), dtype=np.int32)
    if len(nodes) == 0:
        return _ApartBlocks(nodes, pairs, None)
    try:
        return _ApartBlocks(
            nodes, pairs, find_separating_labels(pairs, len(nodes), k, blocks.first_row[nodes])
        )
    except InfeasibleConstraintsError:
        if not soft:
            raise
        return _ApartBlocks(nodes, pairs, None)


def _run(
    blocks: Blocks,
    start: Centers,
    apart: _ApartBlocks,
    limit: int,
    rng: np.random.Generator,
    max_iter: int,
    shift_bound: float,
) -> _Run:
    """Alternate between labels and means until neither changes."""
    centers = start
    order = rng.permutation(len(apart.nodes)).astype(np.int32)
    labels: Labels | None = None
    for n_iter in range(1, max_iter + 1):  # noqa: B007  # its last value is returned
        before = labels
        labels, squares, together = _assign(blocks, centers, apart, before, order, limit)
        if before is not None and (labels == before).all():
            break
        movable = squares.copy()
        movable[apart.nodes] = 0
        moved = points.cluster_means(
            blocks.X,
            points.fill_empty_clusters(labels, movable, len(centers), blocks.weight),
            centers,
            blocks.weight,
        )
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= shift_bound:
            break
    labels, squares, together = _assign(blocks, centers, apart, labels, order, limit)
    return _Run(labels, centers, float(blocks.weight @ squares), together, n_iter)


def run_in_order(
    blocks: Blocks, choosing: Any, start: Centers, cannot_link: NDArray[np.int64], max_iter: int
) -> _Run | int:
    """Alternate between first fits and means; return the first block that found no centre, if any.

    The blocks take their turn in the order of their first rows, each by its row of `choosing`.
    """
    pairs = np.ascontiguousarray(cannot_link, dtype=np.int32)
    order = np.argsort(blocks.first_row, kind="stable").astype(np.int32)
    centers = start
    before: Labels | None = None
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        squares = points.squared_center_distances(choosing, centers)
        labels, failed = native.first_fit(squares, pairs, order)
        if failed >= 0:
            return failed
        if before is not None and (labels == before).all():
            break
        before = labels
        centers = points.cluster_means(blocks.X, labels, centers, blocks.weight)
    squares = points.squared_center_distances(blocks.X, centers)[np.arange(len(labels)), labels]
    return _Run(labels, centers, float(blocks.weight @ squares), 0, n_iter)


def _assign(
    blocks: Blocks,
    centers: Centers,
    apart: _ApartBlocks,
    before: Labels | None,
    order: NDArray[np.int32],
    limit: int,
) -> tuple[Labels, NDArray[np.float64], int]:
    """Label the blocks; return the labels, squared distances and number of broken cannot-links."""
    labels, squares = points.nearest_centers(blocks.X, centers)
    nodes = apart.nodes
    if len(nodes) == 0:
        return labels, squares, 0
    distances = points.squared_center_distances(blocks.X[nodes], centers)
    costs = distances * blocks.weight[nodes, None]
    begun = [np.full(len(nodes), -1, dtype=np.int32)]
    if before is not None:
        begun.append(before[nodes])
    tries = [native.assign_apart(costs, apart.pairs, first, order, _SWEEPS, limit) for first in begun]
    if min(together for _, together in tries) > 0 and apart.labels is not None:
        known = _match_labels(costs, apart.labels)
        tries.append(native.assign_apart(costs, apart.pairs, known, order, _SWEEPS, limit))
    at = np.arange(len(nodes))
    found, together = min(tries, key=lambda way: (way[1], float(costs[at, way[0]].sum())))
    labels[nodes], squares[nodes] = found, distances[at, found]
    return labels, squares, together


def _match_labels(costs: NDArray[np.float64], labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Rename the labels so that they cost least."""
    k = costs.shape[1]
    total = np.zeros((k, k))
    np.add.at(total, labels, costs)
    name = linear_sum_assignment(total)[1].astype(np.int32)
    renamed: NDArray[np.int32] = name[labels]
    return renamed
