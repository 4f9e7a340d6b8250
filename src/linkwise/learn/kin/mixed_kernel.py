"""The kernel that counts now: a weighted mean of kernels, into which a forest may be mixed.

The model reads a few of its rows, again and again, and its covariance the lower triangle. So the whole is
never made.
"""

from __future__ import annotations

import numpy as np

from linkwise import native, parallel
from linkwise.learn.kin.kernels import FULL, Kernels, Matrix, Rows


class MixedKernel:
    """A weighted mean of the mean kernel and the families, with the share of a forest.

    Parameters
    ----------
    kernels : Kernels
    weights : tuple of float
        Weights of the mean kernel and of the families; empty if only the mean kernel counts.
    forest : native.ForestShare or None
    """

    def __init__(
        self, kernels: Kernels, weights: tuple[float, ...] = (), forest: native.ForestShare | None = None
    ) -> None:
        weights = weights or (1.0,)
        self._mean, self._forest = kernels.mean, forest
        used = [number for number, weight in enumerate(weights[1:]) if weight > 0]
        self._families = [kernels.families[number] for number in used]
        self._factors = np.array(
            [weights[0], *(weights[1 + number] / FULL for number in used)], dtype=np.float32
        )

        self._is_mean = not used and weights[0] == 1 and forest is None
        self._mixed = np.empty_like(self._mean)  # its rows are mixed when they are read
        self._is_mixed = np.zeros(len(self._mean), dtype=bool)

    def __len__(self) -> int:
        return len(self._mean)

    def rows(self, items: Rows) -> Matrix:
        """(m, n_items) the rows of some items, a new array."""
        if self._is_mean:
            return self._mean[items]
        new = items[~self._is_mixed[items]]
        if len(new):
            self._mixed[new] = self._mix(new)
            self._is_mixed[new] = True  # now, so that an interruption leaves nothing half-made
        return self._mixed[items]

    def _mix(self, items: Rows) -> Matrix:
        found: Matrix = self._mean[items] * self._factors[0]
        for each, factor in zip(self._families, self._factors[1:], strict=True):
            found += np.multiply(each[items], factor, dtype=np.float32)
        if self._forest is not None:
            found *= self._forest.kept
            shared = native.shared_leaves(self._forest.leaves, items, parallel.n_threads())
            found += shared * self._forest.factor
        return found

    def row(self, item: int) -> Matrix:
        """(n_items,) the row of one item."""
        found: Matrix = self.rows(np.array([item]))[0]
        return found

    def fill_lower(self, out: Matrix) -> None:
        """Write the lower triangle, diagonal included, into an array of shape (n_items, n_items)."""
        native.mix_lower(out, self._mean, self._families, self._factors, self._forest, parallel.n_threads())
