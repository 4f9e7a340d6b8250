"""A kernel learned from answers: how often trees put two items into one leaf.

Extremely randomised trees (Geurts, Ernst and Wehenkel 2006; their kernel is in section 5) learn from the
items whose neighbourhood is known. Their kernel is mixed into the prior one, with a share that grows with the
number of these items. The trees are grown in parts, one for each further item that is asked about, so that no
question waits for all of them. The forest counts when all parts are there, after a fixed number of items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.active.kin.kernels import BLOCK, Matrix, Rows, mirror_lower
from linkwise.asking.learner import rng_at

TREES = 25  # of a part
PARTS = 4
MOST_SHARE = 0.5  # of the mixed kernel
HALF = 50  # known items at which half of that share is reached


class ForestKernel:
    """The leaves that items share.

    Parameters
    ----------
    rows : ndarray of shape (n_items, n_columns)
    items, label : ndarray of shape (n_known,)
        The known items and their neighbourhoods.
    seed : int
    """

    def __init__(self, rows: NDArray[np.float64], items: Rows, label: Rows, seed: int) -> None:
        self._rows, self._items, self._label, self._seed = rows, items, label, seed
        self._shared = np.zeros((len(rows), len(rows)), dtype=np.uint8)
        self._grown = 0

    def grow(self, parts: int) -> None:
        """Grow the forest to so many parts."""
        for part in range(self._grown, min(parts, PARTS)):
            seed = int(rng_at(self._seed, 4, len(self._items), part).integers(2**63))
            threads = parallel.n_threads()
            leaves = native.random_trees(self._rows, self._items, self._label, TREES, seed, threads)
            native.add_shared(self._shared, leaves, threads)
            self._grown = part + 1
            if self._grown == PARTS:
                mirror_lower(self._shared)

    def mix_into(self, kernel: Matrix) -> Matrix:
        """Mix the forest into a kernel, with the share that its number of items earns."""
        self.grow(PARTS)
        n = len(self._items)
        share = MOST_SHARE * n / (n + HALF)
        found = kernel * np.float32(1 - share)
        for a in range(0, len(found), BLOCK):
            found[a : a + BLOCK] += self._shared[a : a + BLOCK] * np.float32(share / (TREES * PARTS))
        return found
