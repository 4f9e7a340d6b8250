"""The common part of BCKM and RCKM: rounds of constrained k-means and their consensus."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import log
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.cluster import points
from linkwise.cluster.base import ConstrainedClusterer, ScoredByConstraints
from linkwise.cluster.kmeans.components import compact_labels
from linkwise.cluster.kmeans.penalised import is_satisfied, satisfied_weight
from linkwise.cluster.nearest_row import NearestRow
from linkwise.cluster.similarity.co_membership import CoMembership
from linkwise.cluster.similarity.spaces import Init, Kernel, Space, Vectors, make_space
from linkwise.cluster.similarity.votes import VoteShares, count_votes
from linkwise.cluster.similarity.weak_learner import PairList, constrained_k_means, list_pairs
from linkwise.constraints.constraints import Constraints
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows

PASSES = 300  # of the k-means that combines the rounds
_NO_PAIRS = (
    PairList(np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.uint8), np.empty(0)),
    np.empty(0, dtype=np.int32),  # their order
    np.empty(0),  # their priorities
)


class Rounds(NamedTuple):
    """The rounds that count, and why they ended."""

    hypotheses: NDArray[Any]
    """(n, t or more) labels, one column a round."""
    alphas: NDArray[np.float64]
    """(t,)"""
    errors: NDArray[np.float64]
    """(t,)"""
    reason: str


class Centers(NamedTuple):
    """The centres of one clustering."""

    centers: NDArray[np.float64]
    """(m, d) means of the clusters that have rows."""
    labels: NDArray[Any]
    """(m,) their labels."""

    @classmethod
    def of(cls, X: Any, labels: NDArray[Any]) -> Centers:
        """Compute the means of labelled rows."""
        used, number = np.unique(labels, return_inverse=True)
        total, counts = points.cluster_sums(X, number.ravel().astype(np.int32), len(used))
        return cls(total / counts[:, None], used)

    def find(self, X: Any) -> NDArray[Any]:
        """Return the label of the nearest centre of each row."""
        found: NDArray[Any] = self.labels[points.nearest_centers(X, self.centers)[0]]
        return found


class LabelledRows(NamedTuple):
    """Rows and their clusters in the rounds."""

    X: Any
    hypotheses: NDArray[Any]
    """(n, t)"""

    def centers(self) -> Iterator[Centers]:
        """Compute the centres of one round after the other."""
        return (Centers.of(self.X, labels) for labels in self.hypotheses.T)


class VotingRule(NamedTuple):
    """The rule for new rows: each round assigns them to its nearest centre, and the rounds vote."""

    rounds: list[Centers] | LabelledRows
    """The centres of the rounds, or the rows from which they follow, whichever are fewer numbers."""
    votes: VoteShares

    @classmethod
    def remember(cls, X: Any, rounds: Rounds, k: int, labels: Labels) -> VotingRule:
        """Keep what the rule needs of the fitted rows and their clusters `labels`."""
        rows = LabelledRows(X, rounds.hypotheses)
        is_long = X.size > len(rounds.alphas) * k * X.shape[1]
        votes = count_votes(rounds.hypotheses, rounds.alphas, labels)
        return cls(list(rows.centers()) if is_long else rows._replace(X=X.copy()), votes)

    def find(self, X: Any) -> Labels:
        """Return the cluster of each row."""
        rounds = self.rounds.centers() if isinstance(self.rounds, LabelledRows) else self.rounds
        return self.votes.nearest_mean(np.column_stack([one.find(X) for one in rounds]))


def _has_rows(model: RoundsClusterer) -> bool:
    return model.kernel != "precomputed"


class RoundsClusterer(ConstrainedClusterer):
    """A clusterer that combines many runs of constrained k-means."""

    sparse: ClassVar[bool] = True
    is_sampled: ClassVar[bool] = False

    kernel: Kernel
    init: Init
    n_rounds: int
    n_init: int
    max_passes: int
    fallback: bool
    _rule: Centers | NearestRow | VotingRule
    _start: tuple[int, int]

    @abstractmethod
    def _rounds(self, space: Space, pairs: PairList, k: int, seed: int, progress: Progress | None) -> Rounds:
        """Run the rounds."""

    def _fit(self, X: Any, constraints: Constraints, k: int, seed: int, progress: Progress | None) -> Labels:
        self.fell_back_, self._start = False, (k, seed)
        space = make_space(X, self.kernel)
        if constraints.n_constraints == 0:
            labels, _ = compact_labels(run_plain(X, space, k, seed, self.n_init), k)
            self._keep(Rounds(_column(labels), np.ones(1), np.zeros(1), "no constraints"))
            return labels
        rounds = self._rounds(space, list_pairs(constraints), k, seed, progress)
        self._keep(rounds)
        labels, _ = compact_labels(combine_rounds(rounds, k, seed, self.n_init), k)
        if not self.fallback or is_satisfied(constraints, labels):
            return labels
        better = prefer_more_satisfied(run_plain(X, space, k, seed, self.n_init), labels, constraints)
        if better is not None:
            self.fell_back_ = True
            labels, _ = compact_labels(better, k)
        return labels

    def _keep(self, rounds: Rounds) -> None:
        used = len(rounds.alphas)
        made = rounds.hypotheses
        self.hypotheses_ = made if used == made.shape[1] else made[:, :used].copy()  # frees what was not used
        self.alphas_, self.errors_, self.reason_ = rounds.alphas, rounds.errors, rounds.reason
        self.n_rounds_ = used
        self.kernel_ = CoMembership(self.hypotheses_, self.alphas_)

    # ------------------------------------------------------------ new rows, and the rounds one by one
    def _keep_rule(self, X: Any) -> None:
        if self.kernel == "rbf":
            self._rule = NearestRow.remember(X, self.labels_)
        elif self.kernel == "linear" and (self.fell_back_ or self.reason_ == "no constraints"):
            self._rule = Centers.of(X, self.labels_)
        elif self.kernel == "linear":
            rounds = Rounds(self.hypotheses_, self.alphas_, self.errors_, self.reason_)
            self._rule = VotingRule.remember(X, rounds, self._start[0], self.labels_)

    @available_if(_has_rows)  # type: ignore[untyped-decorator]
    def predict(self, X: ArrayLike) -> Labels:
        """Assign each row to the cluster for which the rounds vote.

        With kernel "linear" each round assigns a row to its nearest centre. This gives the votes that the row
        shares with each fitted row, and so the nearest mean in the space of `kernel_`. If `fell_back_`, it is
        the nearest mean of the rows. With kernel "rbf" there is an approximation: the cluster of the nearest
        fitted row. With "precomputed" there is no `predict`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Cluster of each row. A fitted row gets its own label, unless a constraint put it elsewhere or a
            round ended before its labels repeated.
        """
        check_is_fitted(self)
        rows = check_rows(X, self, sparse=self.sparse, reset=False)
        return self._rule.find(rows).astype(np.int32, copy=False)

    score = available_if(_has_rows)(ScoredByConstraints.score)
    __metadata_request__score: ClassVar[dict[str, bool]] = {"constraints": True}

    def staged_labels(self) -> Iterator[Labels]:
        """Yield the clustering after each round: that of the votes so far.

        Each stage is a k-means on the votes, from the same starts as in `fit`.

        Yields
        ------
        ndarray of shape (n_rows,)
            Cluster of each row. The last is `labels_`, unless `fell_back_`.
        """
        check_is_fitted(self)
        if self.reason_ == "no constraints":
            yield self.labels_.copy()
            return
        k, seed = self._start
        rounds = Rounds(self.hypotheses_, self.alphas_, self.errors_, "")
        yield from combine_by_stages(rounds, k, seed, self.n_init)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _column(labels: Labels) -> NDArray[Any]:
    return labels.astype(label_type(int(labels.max()) + 1))[:, None]


def label_type(k: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest integer type for k labels."""
    if k > 65536:
        raise ValueError(
            f"n_clusters={k} is too large: votes are counted for at most 65536 clusters. Use CKM."
        )
    return np.uint8 if k <= 256 else np.uint16


def vote_weight(error: float) -> float:
    """Compute the weight of a round that breaks this share; it is always above 0."""
    error = max(error, float(np.finfo(np.float64).tiny))
    return 0.5 * log((1 - error) / error)


def combine_rounds(rounds: Rounds, k: int, seed: int, n_init: int) -> Labels:
    """Run kernel k-means on the kernel of the rounds; return the best of `n_init` starts."""
    H = rounds.hypotheses
    seeds = np.random.SeedSequence([seed, 1]).generate_state(n_init, np.uint64).astype(np.uint64, copy=False)
    values = int(H[:, : len(rounds.alphas)].max()) + 1
    threads = parallel.n_threads()
    return native.hypotheses_k_means(H, rounds.alphas, values, k, seeds, PASSES, threads).labels


def combine_by_stages(rounds: Rounds, k: int, seed: int, n_init: int) -> Iterator[Labels]:
    """Yield the clustering of the first round, of the first two, and so on."""
    for t in range(1, len(rounds.alphas) + 1):
        first = Rounds(
            np.ascontiguousarray(rounds.hypotheses[:, :t]),
            rounds.alphas[:t],
            rounds.errors[:t],
            rounds.reason,
        )
        yield compact_labels(combine_rounds(first, k, seed, n_init), k)[0].astype(np.int32, copy=False)


def run_plain(X: Any, space: Space, k: int, seed: int, n_init: int, max_iter: int = PASSES) -> Labels:
    """Run k-means without constraints in a space; return the best of `n_init` starts."""
    if isinstance(space, Vectors):
        lloyd = points.run_lloyd(X, points.draw_starts(X, k, seed, n_init), max_iter=max_iter)
        labels: Labels = lloyd.labels[int(lloyd.inertia.argmin())]
        return labels
    starts = (space.choose_centers(k, rng_at(seed, number), "k-means++") for number in range(n_init))
    found = [
        constrained_k_means(space, start, *_NO_PAIRS, max_iter, convergence="stable") for start in starts
    ]
    return max(found, key=lambda run: run.spread).labels


def prefer_more_satisfied(labels: Labels, than: Labels, constraints: Constraints) -> Labels | None:
    """Return `labels` if they satisfy more weight of constraints than `than`, else None."""
    more = satisfied_weight(labels, constraints) > satisfied_weight(than, constraints) * (1 + 1e-12)
    return labels if more else None
