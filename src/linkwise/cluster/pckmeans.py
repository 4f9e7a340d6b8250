"""PCKMeans: k-means in which breaking a constraint has a price.

Basu, Banerjee and Mooney (2004), "Active semi-supervision for pairwise constrained clustering", section 2.
The objective is the sum of squared distances of the rows to the means of their clusters, plus `w` for each
constraint that is broken; k-means alternates between labels and means, and neither step raises it.

Kept: the objective, with each constraint counted once; starts from the neighbourhoods of must-links;
labels by iterated conditional modes in random order.
Changed, and why:

- Besides single rows, whole must-link components move (`cluster.common.icm`): once the price is high, a
  must-linked row never leaves the others alone, and what the start got wrong would stay.
- The price is in units of the data by default: the mean squared distance of the rows to their mean.
- The start from neighbourhoods is one of `n_init`; the least objective wins. A neighbourhood of two rows is a poor
  centre where clusters are many.
- Constraints that follow are not added, only those given are counted: their number would grow with the square
  of a component. Components that move as wholes do what they were for.
- Where plain k-means satisfies more, it is returned (``fell_back_``).

Cost: an iteration is one of plain k-means, O(n k d), and O((named rows + pairs) k) for each sweep over the rows
that constraints name.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.cluster.common import icm, points
from linkwise.cluster.common.base import CenteredClusterer
from linkwise.cluster.common.icm import Named, Prices
from linkwise.cluster.common.neighbourhoods import INITS, soft_starts
from linkwise.cluster.common.points import Centers
from linkwise.constraints import Constraints
from linkwise.learner import Labels, Progress, rng_at


class _State(NamedTuple):
    labels: Labels
    centers: Centers
    objective: float
    n_iter: int


class PCKMeans(CenteredClusterer):
    """k-means in which breaking a constraint has a price.

    Parameters
    ----------
    n_clusters : int
    w : float or "scale"
        Price of a broken constraint of weight 1, in squared units of the features. "scale": the mean squared
        distance of the rows to their mean, so that the unit of the features decides nothing.
    init : {"neighbourhoods", "k-means++"} or array of shape (n_clusters, n_features)
        Where centres start. "neighbourhoods": the means of rows joined by must-links, filled up by k-means++,
        in one start; the others are by k-means++. An array: one start, there.
    n_init : int
        Starts; the one of least objective is kept.
    max_iter : int
        Iterations of one start.
    tol : float
        A start has converged when the squared shift of the centres is at most `tol` times the mean variance of
        the features.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
    cluster_centers_ : ndarray of shape (n_clusters_, n_features)
    n_clusters_ : int
    violations_ : int
        Number of constraints that `labels_` break.
    objective_ : float
        Squared distances and the price of what is broken.
    w_ : float
        The price that was used.
    n_iter_ : int
        Iterations of the start that was kept.
    fell_back_ : bool
        Whether plain k-means satisfied more and was taken instead.

    Notes
    -----
    ``predict`` gives new rows the nearest centre. For the rows that were fitted it gives `labels_`, except for rows
    that a constraint holds elsewhere.

    References
    ----------
    Basu, Banerjee and Mooney (2004), Active semi-supervision for pairwise constrained clustering. SDM.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> c = lw.Constraints(4, must_link=[(1, 2)], cannot_link=[(0, 1)])
    >>> lw.PCKMeans(2, random_state=0).fit(X, constraints=c).violations_
    0
    """

    takes_sparse: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "w": [StrOptions({"scale"}), Interval(Real, 0, None, closed="left")],
        "init": [StrOptions(INITS), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        w: float | Literal["scale"] = "scale",
        init: str | ArrayLike = "neighbourhoods",
        n_init: int = 10,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.w = w
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, X: Any, constraints: Constraints, k: int, seed: int, progress: Progress | None) -> Labels:
        starts = soft_starts(X, constraints, k, seed, self.init, self.n_init)
        variance = points.mean_variance(X)
        self.w_ = variance * X.shape[1] if self.w == "scale" else float(self.w)
        self.fell_back_ = False
        stop = (self.max_iter, self.tol)
        if constraints.n_constraints == 0:
            return self._keep(_State(*icm.plain_k_means(X, starts, *stop)))
        named = icm.named_rows(constraints)
        prices = Prices(self.w_ * named.must_weight[:, None], self.w_ * named.cannot_weight[:, None])
        runs = []
        for i, start in enumerate(starts):
            runs.append(_run(X, start, named, prices, rng_at(seed, i), self.max_iter, self.tol * variance))
            if progress is not None:
                progress(i + 1, len(starts))
        best = min(runs, key=lambda run: run.objective)
        without = [starts, soft_starts(X, Constraints(X.shape[0]), k, seed, self.init, self.n_init)]
        reached = icm.weight_satisfied(best.labels, constraints)
        plain = icm.better_plain(X, constraints, reached, without, stop)
        if plain is not None:
            self.fell_back_ = True
            paid = icm.price_paid(plain.labels[named.rows], named, prices)
            best = _State(*plain)._replace(objective=plain.inertia + paid)
        return self._keep(best)

    def _keep(self, state: _State) -> Labels:
        labels, used = icm.used_only(state.labels, len(state.centers))
        self.cluster_centers_ = state.centers[used]
        self.objective_, self.n_iter_ = state.objective, state.n_iter
        return labels


def _run(
    X: Any,
    start: Centers,
    named: Named,
    prices: Prices,
    rng: np.random.Generator,
    max_iter: int,
    shift_bound: float,
) -> _State:
    """One start: labels and means in turn, until the means stand still."""
    centers, labels = start, None
    for n_iter in range(1, max_iter + 1):  # noqa: B007
        labels, squares, _ = _assign(X, centers, named, prices, labels, rng)
        moved = _means(X, labels, squares, centers, named)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= shift_bound:
            break
    labels, _, objective = _assign(X, centers, named, prices, labels, rng)
    return _State(labels, centers, objective, n_iter)


def _assign(
    X: Any, centers: Centers, named: Named, prices: Prices, before: Labels | None, rng: np.random.Generator
) -> tuple[Labels, np.ndarray, float]:
    """Labels, squared distances and the objective: the nearest centre, unless a constraint says otherwise."""
    labels, squares = points.nearest(X, centers)
    costs = points.squared_distances(X[named.rows], centers)
    first = (labels if before is None else before)[named.rows]
    settled = icm.settle(costs, first, named, prices, rng)
    labels[named.rows] = settled
    squares[named.rows] = costs[np.arange(len(settled)), settled]
    return labels, squares, float(squares.sum()) + icm.price_paid(settled, named, prices)


def _means(X: Any, labels: Labels, squares: np.ndarray, centers: Centers, named: Named) -> Centers:
    """Means of the clusters; an empty one starts anew at the row, named by no constraint, that lies worst."""
    movable = squares.copy()
    movable[named.rows] = 0
    ones = np.ones(len(labels), dtype=np.int64)
    return points.means(X, points.filled(labels, movable, len(centers), ones), centers)
