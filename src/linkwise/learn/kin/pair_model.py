"""How likely two items belong together by similarity alone: a logistic regression on what is known.

    logit q_ij = w0 + w1 φ_ij + w2 ψ_ij

φ is the logarithm of the kernel, less what both items have in common with all others, so that hubs do not
seem similar to everything. ψ grows with the nearest neighbours that two items share. The weights are those of
highest posterior probability, by Newton's method. The prior follows from the number of classes that are
expected: with more classes fewer pairs belong together, and shared neighbours say more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.learn.kin.kernels import Table

PRIOR = np.array([(0.25, -1.1), (2.3, -0.2), (0.2, 0.25)])  # means of w: a + b log(number of classes)
DEVIATION = np.array([0.5, 0.5, 0.2])
PAIR_WEIGHT = 10.0  # each pair of l known items counts min(1, PAIR_WEIGHT / l): pairs are not independent
LEAST = (-np.inf, 0.2, 0.0)  # similarity never speaks against
STEPS = 12
LONGEST = 2.0  # step of a weight
TINY = 1e-6


class PairWeights(NamedTuple):
    """The weights of the module's formula."""

    constant: float
    similarity: float
    shared: float

    def chances(self, similarity: Table, shared: Table, *, are_symmetric: bool = False) -> Table:
        """How likely pairs with this φ and this ψ belong together."""
        n_threads = parallel.n_threads()
        return native.pair_chances(similarity, shared, self, n_threads, are_symmetric=are_symmetric)


def expect_weights(n_classes: float) -> PairWeights:
    """The weights before any answer."""
    return PairWeights(*(PRIOR @ (1.0, np.log(n_classes))).tolist())


def fit_pair_weights(similarity: Table, shared: Table, together: Table, n_classes: float) -> PairWeights:
    """Fit the weights to the pairs of known items.

    Parameters
    ----------
    similarity, shared : ndarray of shape (l, l)
        φ and ψ of the known items.
    together : ndarray of shape (l, l)
        1 where two belong together, 0 where they do not, a chance where it is open, and nan where nothing
        is known.
    n_classes : float
        The number of classes that are expected.
    """
    is_known = ~np.isnan(together)
    upper = np.flatnonzero(np.triu(is_known, 1))
    pairs = similarity.take(upper), shared.take(upper), together.take(upper)
    weight = min(1.0, PAIR_WEIGHT * len(together) / max(is_known.sum(), 1))
    mean: NDArray[np.float64] = np.array(expect_weights(n_classes))
    precision, found = 1 / DEVIATION**2, mean.copy()
    for _ in range(STEPS):
        slope, curve = native.logistic_slopes(*pairs, PairWeights(*found.tolist()))
        slope = weight * slope - precision * (found - mean)
        curve = weight * curve + np.diag(precision)
        step = np.clip(np.linalg.solve(curve, slope), -LONGEST, LONGEST)
        found = found + step
        if np.abs(step).max() < TINY:
            break
    return PairWeights(*np.maximum(found, LEAST).tolist())
