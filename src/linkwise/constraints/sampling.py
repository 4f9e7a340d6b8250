"""Draw pairs at random."""

from __future__ import annotations

import numpy as np

from linkwise.constraints.closure import Pairs


def draw_pairs(n: int, wanted: int, rng: np.random.Generator) -> Pairs:
    """Draw `wanted` distinct unordered pairs of n rows, uniformly and without forming all pairs."""
    total = n * (n - 1) // 2
    number = rng.choice(total, size=wanted, replace=False, shuffle=True)
    high = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) // 2).astype(np.int64)
    high -= number < high * (high - 1) // 2  # the root may be off by one for large numbers
    high += number >= high * (high + 1) // 2
    return np.column_stack([number - high * (high - 1) // 2, high]).astype(np.int64)
