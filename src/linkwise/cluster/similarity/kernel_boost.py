"""KernelBoost: a kernel learned from pairs, as a sum of mixtures of Gaussians.

Hertz, Bar-Hillel and Weinshall (2006), "Learning a kernel function for classification with small training
samples", after their DistBoost (2004). Each round fits a mixture of Gaussians under the constraints (Shental
et al. 2003), with rows weighted by the weights of their pairs. The similarity of two rows is the probability
that they come from the same Gaussian, K_t(x, x') = sum over h of P(h|x) P(h|x'); the rounds are combined by
AdaBoost over pairs, with confidence h_t = 2 K_t - 1 between -1 and 1.

Kept: weights of all pairs, equal at first, including pairs without a constraint; a labelled pair's weight is
multiplied by exp(-alpha y h_t), an unlabelled one's by exp(-lambda alpha), lambda = 10, so that densities
count less and less; the weight of a row is the sum of those of its pairs; K is the sum of alpha_t K_t. The
formulas are written from published descriptions and general knowledge of the method.

Settled: alpha = 1/2 log((1 + r)/(1 - r)), with r the mean of y h_t over the labelled pairs alone, since
unlabelled ones have no margin; r counts as 0.999 at most. Every mixture uses all constraints, without a draw,
and their weights act through the rows and alpha (with constraints drawn by weight, the NMI on sonar with 1 %
of all pairs is 0.25 instead of 0.72).

Changed, and why:

- All unlabelled pairs have one weight, so there is no n x n matrix of them.
- Covariances have a prior and cannot-links act by belief propagation (`constrained_mixture`); the authors'
  mixtures take must-links only (``with_cannot_links=False``). So it works
  with as many columns as rows, and with thousands of cannot-links.
- A round with r <= 0 is dropped, and the next one begins at another start; the paper stops there.
- Columns are in units of their standard deviations, which matters for the k-means that mixtures start from.
  More than `n_components` columns are replaced by principal components, without scaling: with 5 % of all
  pairs the NMI on libras (90 columns) is 0.89 instead of 0.61, and texts take seconds instead of hours.
- The clustering is kernel k-means on K. A row is the vector of its sqrt(alpha_t) P_t(h|x), the inner products
  of such vectors are K, and k-means of them is that kernel k-means; new rows have such vectors, too, so
  `predict` is possible.
- Without constraints, and if it satisfies more of them (``fell_back_``), plain k-means is the result.

Cost: a round is up to 20 iterations of O(n k d² + k d³ + cannot-links k); k-means of n rows of rounds times k
numbers at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from linkwise.cluster import points
from linkwise.cluster.base import CenteredClusterer
from linkwise.cluster.kmeans.components import compact_labels
from linkwise.cluster.kmeans.penalised import improve_by_plain, run_plain_k_means
from linkwise.cluster.similarity.constrained_mixture import (
    Mixture,
    find_chunklets,
    fit_mixture,
    prior_covariance,
)
from linkwise.cluster.similarity.distinct_rows import Array, DistinctRows, merge_identical_rows
from linkwise.cluster.similarity.weak_learner import PairList, list_pairs
from linkwise.constraints.constraints import Constraints
from linkwise.native import LloydRuns
from linkwise.parallel import one_blas_thread
from linkwise.types import Labels, Progress

PASSES, TOL = 300, 1e-4  # of k-means
_SUREST = 1 - 1e-3


class KernelBoost(CenteredClusterer):
    """A kernel learned from pairs by boosted mixtures of Gaussians, and kernel k-means on it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, and of Gaussians of a mixture.
    n_estimators : int, default=20
        Rounds.
    decay : float, default=10.0
        lambda, how fast pairs without a constraint lose weight.
    n_components : int, default=30
        Largest number of columns; more are replaced by their first principal components and should have the
        same unit, or be scaled.
    with_cannot_links : bool, default=True
        Whether cannot-links keep rows in different Gaussians of a mixture. If False, only must-links form
        mixtures, as in the authors' program; all constraints still weigh the rounds.
    n_init : int, default=10
        Number of starts of the final k-means.
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
    n_rounds_ : int
        Number of rounds that count.
    alphas_, margins_ : ndarray of shape (n_rounds,)
        Weight of each round, and its r: the weighted mean margin of the constraints.
    fell_back_ : bool
        Whether plain k-means satisfied more constraints and is the result.

    Notes
    -----
    `predict` assigns rows to the nearest centre in the space of the kernel, or of plain k-means if
    `fell_back_`.

    References
    ----------
    Hertz, Bar-Hillel and Weinshall (2006), Learning a kernel function for classification with small training
    samples. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> c = lw.Constraints.sample(y, 110, random_state=0)
    >>> model = lw.KernelBoost(3, random_state=0).fit(X, constraints=c)
    >>> bool(lw.constraint_score(model.labels_, c) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "decay": [Interval(Real, 0, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "with_cannot_links": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _seen: DistinctRows
    _rounds: list[KernelRound]
    _centers: Array
    _stages: Stages

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 20,
        decay: float = 10.0,
        n_components: int = 30,
        with_cannot_links: bool = True,
        n_init: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.decay = decay
        self.n_components = n_components
        self.with_cannot_links = with_cannot_links
        self.n_init = n_init
        self.random_state = random_state

    def _fit(
        self, X: NDArray[Any], constraints: Constraints, k: int, seed: int, progress: Progress | None
    ) -> Labels:
        starts = list(points.draw_starts(X, k, seed, self.n_init))
        rounds: list[KernelRound] = []
        with one_blas_thread():
            n_varying = np.count_nonzero(X.min(axis=0) != X.max(axis=0))
            few = bool(n_varying <= self.n_components)
            seen = merge_identical_rows(X, standardized=few).reduce_to_components(self.n_components)
            if constraints.n_constraints:
                rounds = self._boost(seen, list_pairs(constraints), k, seed, progress)
            self._seen, self._rounds, self._stages = seen, rounds, Stages(rounds, k, seed)
            self.alphas_ = np.array([one.alpha for one in rounds])
            self.margins_ = np.array([one.margin for one in rounds])
            self.n_rounds_ = len(rounds)
            self.fell_back_ = False
            if rounds:
                runs = self._combine(rounds, seen, k, seed)
                best = int(runs.inertia.argmin())
                labels, centers = runs.labels[best][seen.number], runs.centers[best]
                better = improve_by_plain(X, constraints, labels, [starts], PASSES, TOL)
            else:
                better = run_plain_k_means(X, starts, PASSES, TOL)
        if better is not None:
            self.fell_back_ = constraints.n_constraints > 0
            self._rounds, labels, centers = [], better.labels, better.centers
        labels, used = compact_labels(labels, len(centers))  # rows that are seen alike may have fewer than k
        self._centers = centers[used]
        return labels

    def staged_labels(self) -> Iterator[Labels]:
        """Yield the clustering after each round: that of K so far.

        Each stage is a k-means, from as many starts as in `fit`.

        Yields
        ------
        ndarray of shape (n_rows,)
            Cluster of each row. The last is `labels_`, unless `fell_back_`. Without rounds, `labels_` alone.
        """
        check_is_fitted(self)
        rounds, k, seed = self._stages
        if not rounds:
            yield self.labels_.copy()
        for t in range(1, len(rounds) + 1):
            with one_blas_thread():
                runs = self._combine(rounds[:t], self._seen, k, seed)
            labels = runs.labels[int(runs.inertia.argmin())][self._seen.number]
            yield compact_labels(labels, k)[0].astype(np.int32, copy=False)

    def _combine(self, rounds: list[KernelRound], seen: DistinctRows, k: int, seed: int) -> LloydRuns:
        """Run kernel k-means on K of these rounds."""
        rows = build_features(rounds, seen.Z)
        begun = points.draw_starts(rows, k, seed, self.n_init, weight=seen.weight)
        return points.run_lloyd(rows, begun, max_iter=PASSES, tol=TOL, weight=seen.weight)

    def _nearest(self, X: NDArray[Any]) -> Labels:
        if not self._rounds:
            return points.nearest_centers(X, self._centers)[0]
        with one_blas_thread():
            return points.nearest_centers(
                build_features(self._rounds, self._seen.transform(X)), self._centers
            )[0]

    def _boost(
        self, seen: DistinctRows, pairs: PairList, k: int, seed: int, progress: Progress | None
    ) -> list[KernelRound]:
        """Run the rounds; return those that count."""
        y, ends = np.where(pairs.must, 1.0, -1.0), seen.number[pairs.ends]
        apart = ends[y < 0] if self.with_cannot_links else ends[:0]
        chunklets = find_chunklets(len(seen.Z), ends[y > 0], apart)
        prior = prior_covariance(seen.Z, seen.weight.astype(np.float64), k)
        told, untold = np.log(pairs.weight), 0.0  # logarithms of the weights of pairs: they may become tiny
        found: list[KernelRound] = []
        for t in range(self.n_estimators):
            of_rows = row_weights(pairs.ends, told, untold, len(seen.number))
            of_rows *= len(seen.Z) / of_rows.sum()
            weight = np.bincount(seen.number, weights=of_rows).astype(np.float64, copy=False)
            entropy = np.random.SeedSequence([seed, 1 + t])
            mixture = fit_mixture(seen.Z, weight, chunklets, k, prior, entropy)
            margin = y * pair_confidence(mixture, seen.Z, ends)
            share = np.exp(told - told.max())
            r = float(share @ margin / share.sum())
            if r > 0:
                alpha = compute_alpha(r)
                found.append(KernelRound(mixture, alpha, r))
                told, untold = told - alpha * margin, untold - self.decay * alpha
            if progress is not None:
                progress(t + 1, self.n_estimators)
        return found


class Stages(NamedTuple):
    """What the clustering after each round is computed from."""

    rounds: list[KernelRound]
    k: int
    seed: int


class KernelRound(NamedTuple):
    """A mixture and its weight."""

    mixture: Mixture
    alpha: float
    margin: float


def row_weights(ends: NDArray[np.int32], told: Array, untold: float, n: int) -> Array:
    """Sum the weights of each row's pairs, shape (n,).

    Weights are given as logarithms: `told` of the pairs in constraints, whose rows are `ends`, and
    `untold` of every other pair.
    """
    most = max(float(told.max()), untold)
    rows = ends.ravel()
    others = np.maximum(n - 1 - np.bincount(rows, minlength=n), 0)  # contradictions name a pair twice
    labelled = np.bincount(rows, weights=np.repeat(np.exp(told - most), 2), minlength=n)
    weight: Array = labelled + np.exp(untold - most) * others
    return weight


def compute_alpha(r: float) -> float:
    """Compute the weight alpha of a round with this mean margin."""
    r = min(r, _SUREST)
    return 0.5 * log((1 + r) / (1 - r))


def pair_confidence(mixture: Mixture, Z: Array, ends: NDArray[np.int64]) -> Array:
    """Compute 2 K_t - 1 for pairs of rows."""
    chance = mixture.probabilities(Z)
    found: Array = 2 * np.einsum("ij,ij->i", chance[ends[:, 0]], chance[ends[:, 1]]) - 1
    return found


def build_features(rounds: list[KernelRound], Z: Array) -> Array:
    """Build (n, rounds times k) vectors whose inner products are K."""
    return np.hstack([np.sqrt(one.alpha) * one.mixture.probabilities(Z) for one in rounds])
