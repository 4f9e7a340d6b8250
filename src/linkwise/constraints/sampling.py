"""Draw pairs at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.closure import Pairs


def draw_pairs(n: int, wanted: int, rng: np.random.Generator) -> Pairs:
    """Draw `wanted` distinct unordered pairs of n rows, uniformly and without forming all pairs."""
    total = n * (n - 1) // 2
    return unrank_pairs(rng.choice(total, size=wanted, replace=False, shuffle=True))


def unrank_pairs(number: NDArray[np.int64]) -> Pairs:
    """Return the pairs of some numbers: (0, 1) is 0, (0, 2) is 1, (1, 2) is 2, (0, 3) is 3, and so on."""
    high = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) // 2).astype(np.int64)
    high -= number < high * (high - 1) // 2  # the root may be off by one for large numbers
    high += number >= high * (high + 1) // 2
    return np.column_stack([number - high * (high - 1) // 2, high]).astype(np.int64)
