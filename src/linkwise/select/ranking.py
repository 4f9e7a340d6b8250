"""Rank the clusterings of a pool by constraints, and break ties."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.constraints import Constraints
from linkwise.rng import rng_at
from linkwise.select.pool import Pool

FADING = 2.25  # by how much less a clustering counts in what decides ties, for each constraint it breaks
ROUNDING = 1e-9  # below which two sums of weights are the same


class Choice(NamedTuple):
    """One clustering of a pool, as it is reported to the user."""

    algorithm: str
    """Who made it first."""
    parameters: dict[str, Any]
    n_clusters: int
    score: float
    """Weight of the constraints that it satisfies: their number, where all weights are 1."""
    clustering: int
    """Its number in the pool: ``pool.clustering(choice.clustering)`` gives the labels."""


def satisfied_weights(pool: Pool, constraints: Constraints) -> NDArray[np.float64]:
    """Sum the weights of the constraints that each clustering satisfies, shape (n_clusterings,)."""
    must = pool.together(constraints.must_link).T @ constraints.must_link_weight
    cannot = ~pool.together(constraints.cannot_link).T @ constraints.cannot_link_weight
    score: NDArray[np.float64] = must + cannot
    return score


def compute_preference(pool: Pool, score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute how much each clustering agrees with all that fit well, shape (n_clusterings,).

    The sum of its adjusted Rand indices with all candidates, each of which counts 2.25 times less for
    every constraint that it breaks more than the best; a single cluster is below all others. On the ten
    data sets of the paper, with one to five constraints, the preferred clustering of a tie is closer to
    the classes by 0.29 to 0.06 (ARI) than the one with fewest clusters; from ten constraints on both are
    equally close. `score` is the weight of the constraints that each satisfies, up to a constant.
    """
    weight = pool.multiplicity * FADING ** (score - score.max())
    agreement = (pool.agreement @ weight / weight.sum()).round(9)
    return np.where(pool.n_clusters == 1, -1.0, agreement)


def rank_clusterings(pool: Pool, score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank the tied best clusterings of a pool: by `compute_preference`, then in the order of the pool."""
    tied = np.flatnonzero(score >= score.max() - ROUNDING * max(1.0, abs(float(score.max()))))
    if len(tied) == 1:
        return tied
    return tied[np.argsort(-compute_preference(pool, score)[tied], kind="stable")]


def draw_tied(pool: Pool, best: NDArray[np.int64], seed: int) -> int:
    """Draw one of the tied best clusterings, as printed: among the candidates, of which several may be alike.

    The draw depends on the seed and on what is tied, so it stays the same until an answer decides.
    """
    share = pool.multiplicity[best] / pool.multiplicity[best].sum()
    return int(rng_at(seed, len(pool)).choice(best, p=share))


def list_runners_up(pool: Pool, score: NDArray[np.float64], first: int, how_many: int) -> list[int]:
    """List the runners-up: by score, then `compute_preference`, then in the order of the pool."""
    of_the_best = (score / max(1.0, abs(float(score.max())))).round(9)
    order = np.lexsort((-compute_preference(pool, score), -of_the_best))
    return [int(c) for c in order if c != first][:how_many]


def report_choice(pool: Pool, score: NDArray[np.float64], clustering: int) -> Choice:
    """Report one clustering by its first algorithm."""
    maker = pool.makers[clustering]
    return Choice(
        maker.algorithm,
        maker.parameters,
        int(pool.n_clusters[clustering]),
        float(score[clustering]),
        int(clustering),
    )
