"""COBS: constraint-based clustering selection.

Van Craenendonck and Blockeel (2017), "Constraint-based clustering selection", Algorithm 1: cluster
the rows in many ways without constraints, return the clustering that satisfies most of them.

Kept: the pool of 931 clusterings (`linkwise.select.clusterings`), noise of DBSCAN as one cluster.
Changed, and why:

- Ties are common with few constraints. They are broken by agreement with all clusterings of the pool, each
  with a weight that falls with the constraints that it breaks (``tie="random"``: as printed).
- A constraint counts by its weight.

With ``pool="semi-supervised"`` the clusterings come from clusterers that take constraints
(`linkwise.select.semi_supervised`; section III, question 4).

Cost: that of the pool, then O(pool x constraints).
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from linkwise import parallel
from linkwise.cluster.base import ScoredByConstraints
from linkwise.constraints.constraints import Constraints
from linkwise.parallel import Backend
from linkwise.select.assign import label_all_rows
from linkwise.select.base_rows import count_base_rows
from linkwise.select.clusterings import Extra, Noise, Preset
from linkwise.select.pool import MAX_ROWS, Pool, build_pool, resolve_preset
from linkwise.select.ranking import (
    draw_tied,
    list_runners_up,
    rank_clusterings,
    report_choice,
    satisfied_weights,
)
from linkwise.select.semi_supervised import list_clusterers, split_into_halves
from linkwise.types import Labels, Progress
from linkwise.validation import check_constraints, check_rows, refuse_constraints_as_y, resolve_seed

N_ALTERNATIVES = 5
NOTHING = Preset(clusters=(), n_runs=0, n_eps=0, min_pts=(), neighbours=(), sigmas=())


class COBS(ScoredByConstraints, ClusterMixin, BaseEstimator):
    """The clustering that satisfies most constraints among many clusterings.

    Features are not rescaled; in the paper all are scaled to [0, 1] first
    (``sklearn.preprocessing.MinMaxScaler``).

    Parameters
    ----------
    preset : "paper", "quick" or Preset, default="paper"
        Clusterings of the pool: the paper's 931, about a quarter of them, or your own choice.
    pool : {"unsupervised", "semi-supervised"}, default="unsupervised"
        The algorithms: k-means, DBSCAN and spectral clustering ("unsupervised"); or `MPCKMeans`, `FOSC` and
        `COSC`, which take constraints, with the numbers of the preset ("semi-supervised"). The first is
        better if the data have visible clusters, see Notes.
    split : bool, default=True
        Whether a random half of the constraints goes to these clusterers and the other half chooses. If
        False, all constraints do both, which favours overfitted clusterings. It has no effect on an
        unsupervised pool.
    noise : {"cluster", "singletons", "nearest"}, default="cluster"
        What to do with DBSCAN's noise: make it one cluster, make each row a cluster, or assign it to the
        cluster of the nearest row.
    tie : {"agreement", "random"}, default="agreement"
        How ties are broken: by agreement with all clusterings that fit well, or at random.
    max_rows : int, default=5000
        With more distinct rows, a sample of this size is clustered, as the paper proposes; see Notes.
    extra : sequence of (clusterer, grid), default=()
        Further scikit-learn clusterers for the pool, with the values of their parameters to try.
    backend : {"serial", "loky", "dask"}, default="serial"
        Where to compute the clusterings: in this process, in processes of this machine, or on the workers of
        the current ``dask.distributed.Client``. The result is the same.
    cache : str or None, default=None
        Folder for pools, complete ones and the finished parts of interrupted ones, that later runs can use.
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
    algorithm_ : str
        The algorithm of the clustering.
    parameters_ : dict
        Its parameters.
    n_tied_ : int
        Number of distinct clusterings that satisfy as many constraints as `labels_`; with `split`, of the
        half that chooses.
    n_fitting_ : int
        Number of distinct clusterings that satisfy all constraints.
    alternatives_ : list of Choice
        The next best distinct clusterings; ``pool_.clustering(choice.clustering)`` gives the labels.
    approximation_ : str or None
        A sentence that says what is approximate; None if all rows were clustered.
    rule_ : str
        How `predict` assigns rows: "nearest centre" for k-means, "nearest core row within eps" for DBSCAN,
        "nearest row" for all others.
    pool_ : Pool
        All clusterings.

    Notes
    -----
    :func:`~linkwise.cluster_rows` fits it to a sample of rows in files that are larger than memory.

    Van Craenendonck and Blockeel find a semi-supervised pool better on three of ten data sets, those with the
    least visible clusters, and hardly ever without `split`. It cannot be reused for other constraints.

    With more than `max_rows` distinct rows a sample is clustered, and constraints on other rows apply to the
    nearest row of the sample. If k-means is chosen, it then runs on all rows from the centres found;
    otherwise the other rows are assigned like new rows. `approximation_` describes this.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "preset": [str, Preset],
        "pool": [StrOptions({"unsupervised", "semi-supervised"})],
        "split": ["boolean"],
        "noise": [StrOptions({"cluster", "singletons", "nearest"})],
        "tie": [StrOptions({"agreement", "random"})],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
        "extra": [list, tuple],
        "backend": [StrOptions({"serial", "loky", "dask"})],
        "cache": [str, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        preset: str | Preset = "paper",
        pool: Literal["unsupervised", "semi-supervised"] = "unsupervised",
        split: bool = True,
        noise: Noise = "cluster",
        tie: Literal["agreement", "random"] = "agreement",
        max_rows: int = MAX_ROWS,
        extra: Extra = (),
        backend: Backend = "serial",
        cache: str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.preset = preset
        self.pool = pool
        self.split = split
        self.noise = noise
        self.tie = tie
        self.max_rows = max_rows
        self.extra = extra
        self.backend = backend
        self.cache = cache
        self.random_state = random_state

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Create the method as printed (Algorithm 1): ties are broken at random.

        A semi-supervised pool has the clusterers of the default, which differ from the printed ones.

        Parameters
        ----------
        **parameters : Any
            Parameters of `COBS` that replace those of the preset.

        Returns
        -------
        COBS
            The method, not fitted.
        """
        return cls(**{"tie": "random", **parameters})

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        constraints: Constraints | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Build the pool and choose a clustering.

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

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        refuse_constraints_as_y(y)
        rows = check_rows(X, self)
        wanted = check_constraints(constraints, rows)
        seed = resolve_seed(self.random_state)
        preset, extra, told, choosing = resolve_preset(self.preset), self.extra, None, wanted
        if self.pool == "semi-supervised":
            told, choosing = split_into_halves(wanted, seed) if self.split else (wanted, wanted)
            clustered = count_base_rows(rows, self.max_rows, seed)
            preset, extra = NOTHING, [*list_clusterers(preset, seed, clustered), *extra]
        pool = build_pool(
            rows,
            preset,
            seed,
            noise=self.noise,
            max_rows=self.max_rows,
            extra=extra,
            constraints=told,
            backend=self.backend,
            progress=progress,
            cache=self.cache,
        )
        self._choose(rows, pool, choosing, seed)
        self.violations_ = int(sum(v.sum() for v in wanted.find_violations(self.labels_)))
        return self

    def _choose(self, X: NDArray[Any], pool: Pool, constraints: Constraints, seed: int) -> None:
        score = satisfied_weights(pool, constraints)
        best = rank_clusterings(pool, score)
        first = int(best[0])
        if self.tie == "random":
            first = draw_tied(pool, best, seed)
        chosen = report_choice(pool, score, first)
        self.pool_ = pool
        self.labels_, self._rule, self.approximation_ = label_all_rows(pool, first, X, parallel.n_threads())
        self.rule_ = self._rule.how
        self.n_clusters_ = len(np.unique(self.labels_))
        self.algorithm_, self.parameters_ = chosen.algorithm, chosen.parameters
        self.n_tied_ = len(best)
        total = constraints.must_link_weight.sum() + constraints.cannot_link_weight.sum()
        self.n_fitting_ = int((score >= total * (1 - 1e-9)).sum())
        self.alternatives_ = [
            report_choice(pool, score, c) for c in list_runners_up(pool, score, first, N_ALTERNATIVES)
        ]

    def predict(self, X: ArrayLike) -> Labels:
        """Assign rows to clusters by the rule of the chosen algorithm, see `rule_`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row; -1 for rows beyond eps of all core rows, if DBSCAN is chosen and noise is not
            a cluster.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        return self._rule(rows, parallel.n_threads())
