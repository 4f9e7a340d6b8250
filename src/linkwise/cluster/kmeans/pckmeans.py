"""PCKMeans: k-means in which breaking a constraint has a price.

Basu, Banerjee and Mooney (2004), "Active semi-supervision for pairwise constrained clustering".
The objective is the sum of squared distances of the rows to the means of their clusters, plus `w` for each
constraint that is broken; k-means alternates between labels and means, and neither step raises it.

Kept: the objective, with each constraint counted once; starts from the neighbourhoods of must-links;
labels by iterated conditional modes in random order.
Changed, and why:

- Single rows move, and so do whole must-link components (`linkwise.cluster.kmeans.icm`): if the price is
  high, a must-linked row never moves alone, and errors of the start would remain.
- The price is in units of the data by default: the mean squared distance of the rows to their mean.
- Only one of the `n_init` starts uses neighbourhoods. With many clusters a neighbourhood of two rows is a
  poor centre.
- Implied constraints are not added, since their number grows with the square of a component. Moving whole
  components serves the same purpose.
- If plain k-means satisfies more constraints, its result is returned (``fell_back_``).

Cost: an iteration is one of plain k-means, O(n k d), and O((named rows + pairs) k) for each sweep over the
rows that constraints name.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans import icm
from linkwise.cluster.kmeans.components import compact_labels
from linkwise.cluster.kmeans.penalised import PenalisedRun, improve_by_plain, run_penalised, run_plain_k_means
from linkwise.cluster.kmeans.starts import PARAMETERS, draw_soft_starts
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels, Progress


class PCKMeans(CenteredClusterer):
    """k-means in which breaking a constraint has a price.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    w : float or "scale", default="scale"
        Price of a broken constraint of weight 1, in squared units of the features. "scale": the mean squared
        distance of the rows to their mean, which makes the result independent of the unit of the features.
    init : {"neighbourhoods", "k-means++"} or array-like, default="neighbourhoods"
        First centres. "neighbourhoods": the first start takes the means of rows joined by must-links and
        draws further centres by k-means++; the other starts draw all centres. An array of shape
        (n_clusters, n_features) is the only start.
    n_init : int, default=10
        Number of starts; the run of least objective is the result.
    max_iter : int, default=100
        Largest number of iterations of one start.
    tol : float, default=0.0001
        A start converges when the squared shift of the centres is at most `tol` times the mean variance of
        the features.
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
        Number of constraints that `labels_` break.
    objective_ : float
        Sum of the squared distances and of the prices of the broken constraints.
    w_ : float
        The price of a broken constraint.
    n_iter_ : int
        Number of iterations of the chosen start.
    fell_back_ : bool
        Whether plain k-means satisfied more constraints and is the result.

    Notes
    -----
    ``predict`` assigns new rows to the nearest centre. For the fitted rows this is `labels_`, except
    for rows that a constraint keeps in another cluster.

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

    sparse: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PARAMETERS,
        "w": [StrOptions({"scale"}), Interval(Real, 0, None, closed="left")],
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
        starts = draw_soft_starts(X, constraints, self.n_clusters, k, seed, self.init, self.n_init)
        variance = points.mean_variance(X)
        self.w_ = variance * X.shape[1] if self.w == "scale" else float(self.w)
        self.fell_back_ = False
        stop = (self.max_iter, self.tol)
        if constraints.n_constraints == 0:
            return self._keep(run_plain_k_means(X, starts, *stop))
        named = icm.find_named_rows(X, constraints)
        prices = icm.equal_prices(named, self.w_)
        runs: list[PenalisedRun] = []
        for run in run_penalised(X, starts, named, prices, seed, self.max_iter, self.tol * variance):
            runs.append(run)
            if progress is not None:
                progress(len(runs), len(starts))
        best = min(runs, key=lambda run: run.objective)
        without = [
            starts,
            draw_soft_starts(X, Constraints(X.shape[0]), self.n_clusters, k, seed, self.init, self.n_init),
        ]
        plain = improve_by_plain(X, constraints, best.labels, without, *stop)
        if plain is not None:
            self.fell_back_ = True
            paid = icm.price_paid(plain.labels[named.rows], named, prices)
            best = plain._replace(objective=plain.objective + paid)
        return self._keep(best)

    def _keep(self, run: PenalisedRun) -> Labels:
        labels, used = compact_labels(run.labels, len(run.centers))
        self.cluster_centers_ = run.centers[used]
        self.objective_, self.n_iter_ = run.objective, run.n_iter
        return labels
