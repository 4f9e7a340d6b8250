"""ActiveCOBS: ask about the pairs on which the clusterings of a pool disagree most.

Van Craenendonck and Blockeel (2017), "Constraint-based clustering selection", Algorithm 2. Every clustering
has a weight. From a random sample of pairs the method asks about the pair for which the total weights of the
clusterings that join it and of those that separate it differ least; then the weights of the clusterings that
were right are multiplied by m, and those of the others divided by m. The heaviest clustering is the result.

Settled where the printed algorithm is silent or wrong:

- The difference of the two sums counts by its absolute value. As printed, the method would ask about the pair
  that the pool separates most clearly.
- The exponent of m is the number of right answers of a clustering minus the number of wrong ones, over all
  known facts; weights are logarithms until they are compared.
- A pair leaves the sample when its answer is given or follows. If no divided pair is left, another sample is
  drawn; if several samples in a row have none, no question is left.
- Ties for the heaviest clustering are broken as in `COBS`; with ``tie="random"`` by chance.
- "unsure" changes no weight.
- Questions show one of several identical rows.

Cost: a bit for each pair of the sample and each clustering, and one addition for eight of them at each
question. After an answer only the pairs that it touches are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from math import log
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.constraints.evidence import Evidence
from linkwise.constraints.sampling import draw_pairs
from linkwise.learn.base import ActiveLearner
from linkwise.learn.consistency import enforce_answers
from linkwise.learn.learner import Asking, Problem, Question
from linkwise.parallel import Backend
from linkwise.rng import rng_at
from linkwise.select.assign import label_all_rows, nearest_row_rule, remember_all_rows
from linkwise.select.clusterings import Extra, Noise, Preset
from linkwise.select.pool import MAX_ROWS, Pool, build_pool
from linkwise.select.ranking import draw_tied, rank_clusterings
from linkwise.select.summary import describe_choice
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows

UNITS = 2.0**60  # of which weights are made: sums are exact, and what weighs less than one adds nothing
FRUITLESS = 20  # samples without a divided pair, after which none is looked for


class ActiveCOBS(ActiveLearner):
    """Active choice among many clusterings, number of clusters unknown.

    Features are not rescaled; in the paper all are scaled to [0, 1] first
    (``sklearn.preprocessing.MinMaxScaler``).

    Parameters
    ----------
    n_candidates : int, default=1000
        Number of pairs in the sample from which a question is chosen.
    update_factor : float, default=2.0
        m, the factor by which an answer raises or lowers the weight of a clustering; above 1.
    preset : {"paper", "quick"} or Preset, default="paper"
        Clusterings of the pool: the paper's 931, about a quarter of them, or those of a `Preset`.
    noise : {"cluster", "singletons", "nearest"}, default="cluster"
        What to do with DBSCAN's noise: make it one cluster, make each row a cluster, or assign it to the
        cluster of the nearest row.
    tie : {"agreement", "random"}, default="agreement"
        What decides between clusterings of equal weight: agreement with the pool, as in `COBS`, or chance.
    extra : sequence of (clusterer, grid), optional
        Further clusterers without constraints, each with a grid of parameters, see `COBS`.
    enforce : bool, default=True
        Whether rows whose labels contradict an answer are moved. If False, the labels are those of the
        heaviest clustering, as printed.
    max_rows : int, default=5000
        With more distinct rows, a sample of this size is clustered and asked about; the other rows follow as
        in `COBS`.
    backend : {"serial", "loky", "dask"}, default="serial"
        Where to compute the clusterings, see `COBS`.
    cache : str or None, default=None
        Folder for pools, complete ones and the finished parts of interrupted ones, that later runs can use.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The clustering of largest weight, changed where it contradicts an answer.
    n_clusters_ : int
        Number of clusters of `labels_`.
    n_questions_ : int
        Number of questions asked.
    history_ : sequence of ndarray
        ``history_[q - 1]`` holds the labels after q questions.
    reason_ : str
        Why the questions ended: "budget", "exhausted" (the pool agrees about all open pairs), "stopped", or
        "no oracle".
    constraints_ : Constraints
        All given constraints and answers.
    violations_ : int
        Number of these constraints that `labels_` break.
    suspects_ : list of Suspect
        The answers that are probably wrong, the most probable ones first; empty if `fit` takes all answers
        as right (``error_rate=0``).
    rule_ : str
        How `predict` assigns rows, see `COBS`.

    References
    ----------
    Van Craenendonck and Blockeel (2017), Constraint-based clustering selection. Machine Learning 106.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lw.ActiveCOBS(random_state=0).fit(minmax_scale(X), oracle=lw.TruthOracle(y), budget=20)
    >>> model.n_questions_
    20
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "update_factor": [Interval(Real, 1, None, closed="neither")],
        "preset": [str, Preset],
        "noise": [StrOptions({"cluster", "singletons", "nearest"})],
        "tie": [StrOptions({"agreement", "random"})],
        "extra": [list, tuple, None],
        "enforce": ["boolean"],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
        "backend": [StrOptions({"serial", "loky", "dask"})],
        "cache": [str, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_candidates: int = 1000,
        update_factor: float = 2.0,
        preset: str | Preset = "paper",
        noise: Noise = "cluster",
        tie: Literal["agreement", "random"] = "agreement",
        extra: Extra | None = None,
        enforce: bool = True,
        max_rows: int = MAX_ROWS,
        backend: Backend = "serial",
        cache: str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_candidates = n_candidates
        self.update_factor = update_factor
        self.preset = preset
        self.noise = noise
        self.tie = tie
        self.extra = extra
        self.enforce = enforce
        self.max_rows = max_rows
        self.backend = backend
        self.cache = cache
        self.random_state = random_state

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Create the method as printed (Algorithm 2): ties at random, and labels that no answer changes.

        Parameters
        ----------
        **parameters : Any
            Parameters of `ActiveCOBS` that replace those of the preset.

        Returns
        -------
        ActiveCOBS
            The method, not fitted.
        """
        return cls(**{"tie": "random", "enforce": False, **parameters})

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Pool:
        """Build the pool."""
        return build_pool(
            X,
            self.preset,
            seed,
            noise=self.noise,
            extra=self.extra or (),
            max_rows=self.max_rows,
            backend=self.backend,
            progress=progress,
            cache=self.cache,
        )

    def start(self, problem: Problem) -> CobsState:
        """Return the state of a run: clusterings of equal weight, and the rows that questions may show."""
        pool: Pool = problem.prepared
        twin, shown = _choose_representatives(pool, problem.X, problem.askable)
        clustering = remember_all_rows(pool, problem.X, parallel.n_threads())
        seed = problem.seed if self.tie == "random" else None
        tally = Tally(pool, problem.evidence, twin, clustering, seed, enforce=self.enforce)
        return CobsState(tally, shown, problem.seed)

    def describe(self, state: CobsState) -> list[str]:
        """Describe which clustering leads, and how many fit every answer."""
        return describe_choice(state.tally.pool, state.tally.evidence, state.tally.heaviest())

    def ask(self, state: CobsState) -> Asking:
        """Ask by Algorithm 2 of the paper."""
        tally, fruitless = state.tally, 0
        for sample in _draw_samples(state.shown, self.n_candidates, state.seed):
            open_pairs = OpenPairs(tally.pool, sample)
            fruitless += 1
            while open_pairs.forget_known(tally.evidence):
                fruitless = 0
                weights = tally.weights(self.update_factor)
                at, share = open_pairs.most_divided(weights)
                first, second = (int(row) for row in open_pairs.pairs[at])
                yield Question(
                    first,
                    second,
                    tally.best(),
                    f"The clusterings that fit so far are divided: {share:.0%} of them join the two.",
                )
            if fruitless == FRUITLESS:
                break
        return tally.best()

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        labels = super()._unasked(X, evidence, seed)
        self._rule = nearest_row_rule(np.arange(len(X)), X, labels)
        self._names, self.rule_ = np.arange(int(labels.max()) + 1), self._rule.how
        return labels

    def _keep_more(self, X: NDArray[Any], state: CobsState) -> None:
        """Keep the rule of the heaviest clustering, and what `labels_` call its clusters."""
        tally = state.tally
        labels, self._rule, _ = label_all_rows(tally.pool, tally.heaviest(), X, parallel.n_threads())
        self.rule_ = self._rule.how
        counts = np.zeros((int(labels.max()) + 1, self.n_clusters_), dtype=np.int64)
        there = labels >= 0
        np.add.at(counts, (labels[there], self.labels_[there]), 1)
        self._names = counts.argmax(axis=1)

    def predict(self, X: ArrayLike) -> Labels:
        """Assign rows to clusters by the rule of the heaviest clustering, see `rule_`.

        Answers move single rows of `fit`, and no new ones. If nothing was asked, the rule is the nearest row.

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
        check_is_fitted(self, "labels_")
        found = self._rule(check_rows(X, self, reset=False), parallel.n_threads())
        return np.where(found < 0, -1, self._names[found]).astype(np.int32)


class CobsState(NamedTuple):
    """The state of one run."""

    tally: Tally
    shown: NDArray[np.int64]
    """Rows that may be shown, no two of them identical."""
    seed: int


class Tally:
    """For each clustering of a pool, the number of right answers minus the number of wrong ones.

    It follows the evidence, whatever its source.
    """

    def __init__(
        self,
        pool: Pool,
        evidence: Evidence,
        twin: NDArray[np.int64],
        clustering: Callable[[int], Labels] | None = None,
        tie_seed: int | None = None,
        *,
        enforce: bool = True,
    ) -> None:
        self._tie_seed, self._enforce = tie_seed, enforce
        self.pool, self.evidence, self.twin = pool, evidence, twin
        self._clustering = clustering or pool.clustering
        self.net = np.zeros(len(pool), dtype=np.int64)
        self._counted, self._n_revisions = 0, evidence.n_revisions
        self._best: Labels | None = None

    def update(self) -> None:
        """Count the facts that arrived since the last time."""
        if self._counted == len(self.evidence):
            return
        if self._n_revisions != self.evidence.n_revisions:
            self._n_revisions, self._counted = self.evidence.n_revisions, 0
            self.net[:] = 0
        yes, no = (self.evidence.pairs_with_answer(a, self._counted) for a in ("yes", "no"))
        # of the pairs answered yes, those that a clustering joins less those that it parts; of the others
        # the other way round
        self.net += 2 * (self.pool.count_joined(yes) - self.pool.count_joined(no)) - len(yes) + len(no)
        self._counted = len(self.evidence)
        self._best = None

    def weights(self, factor: float) -> NDArray[np.float64]:
        """Compute the weight of each distinct clustering, identical candidates together; the sum is 1."""
        self.update()
        weights = self.pool.multiplicity * np.exp(log(factor) * (self.net - self.net.max()))
        total: NDArray[np.float64] = weights / weights.sum()
        return total

    def heaviest(self) -> int:
        """Return the clustering whose single candidates weigh most."""
        self.update()
        best = rank_clusterings(self.pool, self.net / 2)  # half: a wrong answer counts twice in `net`
        return int(best[0]) if self._tie_seed is None else draw_tied(self.pool, best, self._tie_seed)

    def best(self) -> Labels:
        """Return its labels, changed where they contradict an answer about a row or a copy of it."""
        self.update()
        if self._best is None:
            labels = self._clustering(self.heaviest())
            if self._enforce:
                labels = enforce_answers(labels, self.evidence)[self.twin]
            used = np.bincount(labels) > 0
            self._best = (np.cumsum(used, dtype=np.int32) - 1)[labels]
        return self._best


class OpenPairs:
    """A sample of pairs without a verdict about which the pool is divided, and whether each is open."""

    def __init__(self, pool: Pool, pairs: NDArray[np.int64]) -> None:
        self._threads = parallel.n_threads()
        first, second = np.ascontiguousarray(pool.base[pairs].T)
        self._bits = native.pack_together(pool.labels, first, second, self._threads)
        joined = native.weighted_together(self._bits, np.ones(len(pool), dtype=np.int64), self._threads)
        self._divided = (joined > 0) & (joined < len(pool))
        self.pairs, self.open = pairs, self._divided.copy()
        self._heard, self._n_revisions = 0, 0  # answers that were looked at, as of this revision

    def __len__(self) -> int:
        return int(np.count_nonzero(self.open))

    def forget_known(self, evidence: Evidence) -> int:
        """Close the pairs that have a verdict; return how many are open.

        A pair opens again if it has no verdict since the belief has changed.
        """
        if self._n_revisions != evidence.n_revisions:
            self._n_revisions, self._heard = evidence.n_revisions, 0
            self.open = self._divided.copy()
        self.open &= ~evidence.has_verdict(self.pairs, self._heard)
        self._heard = len(evidence)
        left = len(self)
        # moving the bits pays only now and then; if answers may be wrong, any pair may open again
        if 0 < left < len(self.open) // 2 and not evidence.is_fallible:
            self.pairs, self._bits = self.pairs[self.open], self._bits.compress(self.open, axis=1)
            self.open = self.open[self.open]
        return left

    def most_divided(self, weights: NDArray[np.float64]) -> tuple[int, float]:
        """Find the first of the most divided pairs, and the weight that joins it."""
        parts = np.rint(weights * UNITS).astype(np.int64)
        joins = native.weighted_together(self._bits, parts, self._threads) / parts.sum()
        gaps = np.where(self.open, np.abs(2 * joins - 1).round(12), np.inf)
        at = int(gaps.argmin())
        return at, float(joins[at])


def _choose_representatives(
    pool: Pool, X: NDArray[Any], askable: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose a representative of identical rows, and the rows that questions may show.

    An askable row represents the others if there is one. If a sample is clustered, questions show rows of the
    sample, since the labels of other rows are approximate.
    """
    rows = np.arange(len(X))
    alike = rows
    if pool.sampled:
        alike = np.flatnonzero((X[pool.base_rows[pool.base]] == X).all(axis=1))
    if askable is not None:
        alike = np.concatenate([alike[askable[alike]], alike[~askable[alike]]])
    lead = np.empty(len(pool.base_rows), dtype=np.int64)
    lead[pool.base[alike[::-1]]] = alike[::-1]  # the first of each stays
    twin = rows.copy()
    twin[alike] = lead[pool.base[alike]]
    shown = np.sort(lead if askable is None else lead[askable[lead]])
    if askable is not None and pool.sampled and len(shown) < 2:
        return twin, rows[askable]
    return twin, shown


def _draw_samples(rows: NDArray[np.int64], size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield all pairs once if they are few, else one sample after the other."""
    total = len(rows) * (len(rows) - 1) // 2
    if total <= size:
        if total > 0:
            yield rows[draw_pairs(len(rows), total, rng_at(seed, 0))]
        return
    for number in count():
        yield rows[draw_pairs(len(rows), size, rng_at(seed, number))]
