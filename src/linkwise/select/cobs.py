"""COBS: constraint-based clustering selection.

Van Craenendonck and Blockeel (2017), "Constraint-based clustering selection", Algorithm 1: cluster
the rows in many ways without constraints, return the clustering that satisfies most of them.

Kept: the pool of 931 clusterings (`linkwise.select.clusterings`), noise of DBSCAN as one cluster.
Changed, and why:

- Ties, which are the rule with few constraints, are broken the same way each time: fewer clusters
  first, then the clustering that agrees most with all that tie (``tie="random"``: as printed).
- Without any cannot-link few clusters are no merit (one cluster breaks no must-link): among the best
  the clustering is returned that agrees most with them all.
- A constraint counts by its weight.

Cost: that of the pool, then O(pool x constraints).
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from linkwise.active.base import checked_constraints, checked_rows, seed_of
from linkwise.constraints import Constraints, constraint_score
from linkwise.learner import Labels, Progress, rng_at
from linkwise.select.choice import next_best, ranked, reported, satisfied
from linkwise.select.clusterings import Noise, Preset
from linkwise.select.pool import MAX_ROWS, Pool, build_pool

N_ALTERNATIVES = 5


class COBS(ClusterMixin, BaseEstimator):
    """Of many clusterings the one that satisfies most constraints.

    Features are not rescaled; in the paper all are brought to [0, 1] first
    (``sklearn.preprocessing.MinMaxScaler``).

    Parameters
    ----------
    preset : "paper", "quick" or Preset
        Which clusterings are tried: the paper's 931, about a quarter of them, or your own choice.
    noise : {"cluster", "singletons", "nearest"}
        What becomes of DBSCAN's noise: one cluster, a cluster each, or the nearest row's cluster.
    tie : {"fewest", "random"}
        What decides among the best: fewest clusters, then most agreement; or chance.
    max_rows : int
        Of more rows a sample of this size is clustered; the others follow the nearest row of it.
    cache : str or None
        Folder where pools are kept between runs.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
    n_clusters_ : int
    violations_ : int
        Number of constraints that `labels_` break.
    algorithm_ : str
        What made the clustering.
    parameters_ : dict
        With which parameters.
    n_tied_ : int
        Number of distinct clusterings that satisfy as many constraints as `labels_`.
    n_fitting_ : int
        Number of distinct clusterings that satisfy all constraints.
    alternatives_ : list of Choice
        The next best distinct clusterings; ``pool_.clustering(choice.clustering)`` gives the labels.
    pool_ : Pool

    References
    ----------
    Van Craenendonck and Blockeel (2017), Constraint-based clustering selection. Machine Learning 106.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> c = lw.Constraints.sample(y, 50, random_state=0)
    >>> model = lw.COBS(random_state=0).fit(minmax_scale(X), constraints=c)
    >>> bool(lw.constraint_score(model.labels_, c) > 0.8)
    True
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"constraints": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"constraints": True}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "preset": [str, Preset],
        "noise": [StrOptions({"cluster", "singletons", "nearest"})],
        "tie": [StrOptions({"fewest", "random"})],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
        "cache": [str, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        preset: str | Preset = "paper",
        noise: Noise = "cluster",
        tie: Literal["fewest", "random"] = "fewest",
        max_rows: int = MAX_ROWS,
        cache: str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.preset = preset
        self.noise = noise
        self.tie = tie
        self.max_rows = max_rows
        self.cache = cache
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Constraints | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Make the pool and choose.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : ignored
        constraints : Constraints, optional
        progress : callable, optional
            ``progress(made, planned)`` while clusterings are made. What it raises ends the work.

        Returns
        -------
        self
        """
        self._validate_params()
        rows = checked_rows(X, self)
        wanted = checked_constraints(constraints, rows)
        seed = seed_of(self.random_state)
        pool = build_pool(
            rows,
            self.preset,
            seed,
            noise=self.noise,
            max_rows=self.max_rows,
            progress=progress,
            cache=self.cache,
        )
        self._choose(pool, wanted, seed)
        self._nearest = NearestNeighbors(n_neighbors=1, algorithm="kd_tree").fit(rows[pool.base_rows])
        return self

    def _choose(self, pool: Pool, constraints: Constraints, seed: int) -> None:
        score = satisfied(pool, constraints)
        best = ranked(pool, score, parted=len(constraints.cannot_link) > 0)
        first = int(best[0])
        if self.tie == "random":  # among the candidates, as printed, of which several may be alike
            share = pool.multiplicity[best] / pool.multiplicity[best].sum()
            first = int(rng_at(seed, len(pool)).choice(best, p=share))
        chosen = reported(pool, score, first)
        self.pool_ = pool
        self.labels_ = pool.clustering(first)
        self.n_clusters_ = len(np.unique(self.labels_))
        self.violations_ = int(sum(v.sum() for v in constraints.violated(self.labels_)))
        self.algorithm_, self.parameters_ = chosen.algorithm, chosen.parameters
        self.n_tied_ = len(best)
        total = constraints.must_link_weight.sum() + constraints.cannot_link_weight.sum()
        self.n_fitting_ = int((score >= total * (1 - 1e-9)).sum())
        self.alternatives_ = [reported(pool, score, c) for c in next_best(pool, score, first, N_ALTERNATIVES)]
        self._base_labels: NDArray[np.int16] = pool.labels[first]

    def predict(self, X: ArrayLike) -> Labels:
        """Clusters of the nearest rows among those that were clustered.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        nearest = self._nearest.kneighbors(rows, return_distance=False)[:, 0]
        labels: Labels = self._base_labels[nearest].astype(np.int32)
        return labels

    def score(self, X: ArrayLike, y: object = None, *, constraints: Constraints | None = None) -> float:
        """Share of the constraints about the rows of X that `predict` satisfies; 1.0 without any."""
        labels = self.predict(X)
        return constraint_score(labels, checked_constraints(constraints, np.asarray(X)))
