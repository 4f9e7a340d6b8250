"""A mixture of Gaussians fitted under must-links and cannot-links, with weights of the rows.

Shental, Bar-Hillel, Hertz and Weinshall (2003), "Computing Gaussian mixture models with EM using equivalence
constraints". Rows joined by must-links (a chunklet) come from one Gaussian: the densities of its rows are
multiplied, and its share counts once. Chunklets that a cannot-link separates come from different ones.

Kept: EM under both. Changed, and why:

- Three sweeps of belief propagation apply the cannot-links, not a junction tree, which becomes too large with
  many cannot-links. The result is exact if they form trees of at most three links from end to end.
- Covariances have a prior, that of Fraley and Raftery (2007): worth d + 2 rows with the covariance of all
  rows, drawn to its diagonal by a tenth and divided by k^(2/d). So no covariance is singular and no Gaussian
  shrinks to a point, with any number of rows. A chunklet is added to every share.

Cost: O(rows k d² + cannot-links k) an iteration, O(k d³) besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from linkwise.cluster import points
from linkwise.constraints.closure import find_components

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

MAX_ITER = 20  # of EM
TOL = 1e-3  # change of a probability with which it ends
_SWEEPS = 3
_SHRUNK = 0.1
_NEVER = 1e-12  # probability that a message leaves at least
_KMEANS_STEPS = 10  # of the k-means that it starts from
_PARTS = 100  # of a chunklet's mean weight, in which that k-means weighs


class Mixture(NamedTuple):
    """k Gaussians."""

    log_share: Array
    """(k,)"""
    mean: Array
    """(k, d)"""
    whitening: Array
    """(k, d, d) inverses of the lower Cholesky factors of the covariances."""

    def log_densities(self, Z: Array) -> Array:
        """Compute (n, k) log-densities up to a constant."""
        found = np.empty((len(Z), len(self.mean)))
        for h, (mean, root) in enumerate(zip(self.mean, self.whitening, strict=True)):
            away = (Z - mean) @ root.T
            found[:, h] = np.log(np.diagonal(root)).sum() - 0.5 * np.einsum("ij,ij->i", away, away)
        return found

    def probabilities(self, Z: Array) -> Array:
        """Compute (n, k) probabilities of the Gaussians for each row, without constraints."""
        return normalize(self.log_densities(Z) + self.log_share)


class Chunklets(NamedTuple):
    """Constraints as chunklets and the pairs of chunklets that are apart."""

    number: NDArray[np.int64]
    """(n,) chunklet of each row."""
    apart: Pairs
    """(q, 2) chunklets that cannot-links part; a cannot-link within one is left out."""


def find_chunklets(n_rows: int, must_link: Pairs, cannot_link: Pairs) -> Chunklets:
    """Find the chunklets: rows joined by must-links."""
    number = find_components(n_rows, must_link)
    apart = np.unique(np.sort(number[cannot_link], axis=1), axis=0)
    return Chunklets(number, apart[apart[:, 0] != apart[:, 1]])


def prior_covariance(Z: Array, weight: Array, k: int) -> Array:
    """Compute the prior covariance of k Gaussians; rows are about their mean."""
    covariance: Array = Z.T @ (weight[:, None] * Z) / weight.sum()
    covariance[~np.eye(len(covariance), dtype=bool)] *= 1 - _SHRUNK
    covariance[np.diag_indices_from(covariance)] += _NEVER
    covariance /= k ** (2 / Z.shape[1])
    return covariance


def fit_mixture(
    Z: Array, weight: Array, chunklets: Chunklets, k: int, prior: Array, entropy: np.random.SeedSequence
) -> Mixture:
    """Fit a mixture by EM, from the clusters of a k-means of the chunklets.

    `weight` is as if each row were there so many times, on average once. `prior` is the prior covariance.
    """
    weight = np.maximum(weight, _NEVER)  # a row without any has no place
    chance = np.eye(k)[_initial_clusters(Z, weight, chunklets.number, k, entropy)]
    for _ in range(MAX_ITER):
        mixture = maximize(Z, weight, chance[chunklets.number], chance.sum(axis=0), prior)
        before, chance = chance, expect(mixture, Z, chunklets)
        if np.abs(chance - before).max() < TOL:
            break
    return mixture


def _initial_clusters(
    Z: Array, weight: Array, number: NDArray[np.int64], k: int, entropy: np.random.SeedSequence
) -> NDArray[np.int32]:
    """Cluster the means of the chunklets, (m,)."""
    total = np.bincount(number, weights=weight)
    means = np.column_stack([np.bincount(number, weights=weight * column) for column in Z.T]) / total[:, None]
    parts = np.maximum(np.rint(_PARTS * total / total.mean()), 1).astype(np.int64)
    start = points.draw_starts(means, k, entropy, 1, weight=parts)
    labels: NDArray[np.int32] = points.run_lloyd(means, start, weight=parts, max_iter=_KMEANS_STEPS).labels[0]
    return labels


def maximize(Z: Array, weight: Array, chance: Array, counts: Array, prior: Array) -> Mixture:
    """M step: fit Gaussians to given probabilities of the rows and counts of chunklets."""
    chance = chance * weight[:, None]
    mass, d = chance.sum(axis=0), Z.shape[1]
    mean = chance.T @ Z / np.maximum(mass, _NEVER)[:, None]
    whitening = np.empty((len(mass), d, d))
    for h in range(len(mass)):
        away = Z - mean[h]
        scatter = (chance[:, h, None] * away).T @ away
        covariance = (scatter + (d + 2) * prior) / (mass[h] + d + 2)
        whitening[h] = solve_triangular(np.linalg.cholesky(covariance), np.eye(d), lower=True)
    return Mixture(np.log((counts + 1) / (counts + 1).sum()), mean, whitening)


def expect(mixture: Mixture, Z: Array, chunklets: Chunklets) -> Array:
    """E step: compute (m, k) probabilities of the Gaussians for each chunklet."""
    log_densities = mixture.log_densities(Z)
    own = np.column_stack([np.bincount(chunklets.number, weights=column) for column in log_densities.T])
    return separate_probabilities(own + mixture.log_share, chunklets.apart)


def separate_probabilities(own: Array, apart: Pairs) -> Array:
    """Compute probabilities of k values for m nodes, of which the pairs `apart` must differ.

    `own`, of shape (m, k), are the logarithms of probabilities without pairs.
    """
    if len(apart) == 0 or own.shape[1] == 1:
        return normalize(own)
    sender, receiver = np.vstack([apart, apart[:, ::-1]]).T
    back = np.roll(np.arange(len(sender)), len(apart))  # the message the other way
    messages = np.zeros((len(sender), own.shape[1]))
    for _ in range(_SWEEPS):
        without = normalize(_send_messages(own, receiver, messages)[sender] - messages[back])
        messages = np.log(np.maximum(1 - without, _NEVER))
    return normalize(_send_messages(own, receiver, messages))


def _send_messages(own: Array, receiver: NDArray[np.int64], messages: Array) -> Array:
    heard = [np.bincount(receiver, weights=column, minlength=len(own)) for column in messages.T]
    told: Array = own + np.column_stack(heard)
    return told


def normalize(log_values: Array) -> Array:
    """Convert rows of logarithms to probabilities."""
    found: Array = np.exp(log_values - log_values.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    return found
