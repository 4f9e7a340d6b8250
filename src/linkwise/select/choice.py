"""Which clustering of a pool fits best, and what decides when several do."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints import Constraints
from linkwise.select.pool import Pool

ROUNDING = 1e-9  # below which two sums of weights are the same


class Choice(NamedTuple):
    """One clustering of a pool, as it is reported."""

    algorithm: str
    """Who made it first."""
    parameters: dict[str, Any]
    n_clusters: int
    score: float
    """Weight of the constraints that it satisfies: their number, where all weights are 1."""
    clustering: int
    """Its number in the pool: ``pool.clustering(choice.clustering)`` gives the labels."""


def satisfied(pool: Pool, constraints: Constraints) -> NDArray[np.float64]:
    """Weight of the constraints that each distinct clustering satisfies, shape (n_clusterings,)."""
    must = pool.together(constraints.must_link).T @ constraints.must_link_weight
    cannot = ~pool.together(constraints.cannot_link).T @ constraints.cannot_link_weight
    score: NDArray[np.float64] = must + cannot
    return score


def ranked(pool: Pool, score: NDArray[np.float64], *, parted: bool = True) -> NDArray[np.int64]:
    """The best clusterings of a pool, all tied ones, the preferred first.

    Of clusterings that tie, the one with fewer clusters is preferred, then the one that agrees most
    with all that tie (adjusted Rand index, weighted by how many candidates are alike), then the one
    made first.

    Parameters
    ----------
    pool : Pool
    score : ndarray of shape (n_clusterings,)
    parted : bool
        Whether any cannot-link stands behind the score. Without one, few clusters are no merit: a
        single cluster breaks no must-link.

    Returns
    -------
    ndarray of clustering numbers
    """
    tied = np.flatnonzero(score >= score.max() - ROUNDING * max(1.0, abs(float(score.max()))))
    if len(tied) == 1:
        return tied
    agreement = pool.agreement[np.ix_(tied, tied)] @ pool.multiplicity[tied]
    few = pool.n_clusters[tied] if parted else np.zeros(len(tied), dtype=np.int64)
    return tied[np.lexsort((-agreement.round(6), few))]


def next_best(pool: Pool, score: NDArray[np.float64], first: int, how_many: int) -> list[int]:
    """The chosen clustering's runners-up: by score, then fewer clusters, then the order of making."""
    order = np.lexsort((pool.n_clusters, -score.round(9)))
    return [int(c) for c in order if c != first][:how_many]


def reported(pool: Pool, score: NDArray[np.float64], clustering: int) -> Choice:
    """One clustering in the words of its first maker."""
    maker = pool.makers[clustering]
    return Choice(
        maker.algorithm,
        maker.parameters,
        int(pool.n_clusters[clustering]),
        float(score[clustering]),
        int(clustering),
    )
