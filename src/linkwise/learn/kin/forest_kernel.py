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
from linkwise.learn.kin.kernels import Rows
from linkwise.rng import rng_at

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
        self._leaves: list[NDArray[np.int32]] = []
        self._packed: native.PackedLeaves | None = None

    def grow(self, parts: int) -> None:
        """Grow the forest to so many parts."""
        for part in range(len(self._leaves), min(parts, PARTS)):
            seed = int(rng_at(self._seed, 4, len(self._items), part).integers(2**63))
            threads = parallel.n_threads()
            leaves = native.random_trees(self._rows, self._items, self._label, TREES, seed, threads)
            self._leaves.append(leaves)

    def share(self) -> native.ForestShare:
        """What is mixed into the kernel: the shared leaves, with the share that the number of items earns."""
        self.grow(PARTS)
        if self._packed is None:
            self._packed = native.pack_leaves(np.hstack(self._leaves))
        n = len(self._items)
        share = MOST_SHARE * n / (n + HALF)
        return native.ForestShare(self._packed, np.float32(1 - share), np.float32(share / (TREES * PARTS)))
