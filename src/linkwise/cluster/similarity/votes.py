"""The rule for new rows of a consensus of clusterings.

The clusters are those of kernel k-means on K, the weighted number of rounds in which two rows share a
cluster. Once each round has a label for a new row, K between this row and all fitted rows is known, and the
row belongs to the cluster whose mean is nearest in the space of K. With P_t[v, c] the share of cluster c that
round t labels v, the squared distance of a row with labels h_t to the mean of c is, up to a constant,

    sum over t of alpha_t (sum over v of P_t[v, c]² - 2 P_t[h_t, c]).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.types import Labels


class VoteShares(NamedTuple):
    """The shares of the clusters in the clusterings of the rounds."""

    shares: list[NDArray[np.float64]]
    """One for each round, (n_labels, k): P_t, weighted by alpha_t."""
    lengths: NDArray[np.float64]
    """(k,) squared length of each mean."""

    def nearest_mean(self, hypotheses: NDArray[Any]) -> Labels:
        """Return the cluster of each row, given its labels in the rounds, shape (n, n_rounds)."""
        near = np.broadcast_to(-self.lengths, (len(hypotheses), len(self.lengths))).copy()
        for labels, share in zip(hypotheses.T, self.shares, strict=True):
            near += 2 * share[labels]
        nearest: Labels = near.argmax(axis=1).astype(np.int32)
        return nearest


def count_votes(hypotheses: NDArray[Any], alphas: NDArray[np.float64], labels: Labels) -> VoteShares:
    """Compute the shares of clusters `labels` in the rounds."""
    k = int(labels.max()) + 1
    size = np.bincount(labels, minlength=k)
    shares, lengths = [], np.zeros(k)
    for column, alpha in zip(hypotheses.T, alphas, strict=True):
        n_values = int(column.max()) + 1
        number = column.astype(np.int64) * k + labels
        share = np.bincount(number, minlength=n_values * k).reshape(n_values, k) / size
        shares.append(alpha * share)
        lengths += alpha * (share**2).sum(axis=0)
    return VoteShares(shares, lengths)
