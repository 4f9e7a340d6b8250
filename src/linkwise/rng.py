"""Random draws that depend on a seed and a place, and not on the order of calls."""

from __future__ import annotations

import numpy as np


def rng_at(seed: int, *place: int) -> np.random.Generator:
    """Create the random generator of one place in a search; its draws do not depend on other places."""
    return np.random.default_rng([seed, *place])
