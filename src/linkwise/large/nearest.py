"""The nearest centre of each row of a block: on a graphics card where there is one, else on the processor.

Both find the same centres and distances, to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.native import cuda

LEAST_WORK = 2**27  # rows times centres times columns from which a card is faster


def nearest_centers(
    rows: NDArray[Any], centers: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the nearest centre of each scaled row, the lowest of equals, and its squared distance."""
    gpu = cuda.find_gpu() if rows.size * len(centers) >= LEAST_WORK else None
    if gpu is not None:
        try:
            return cuda.nearest_points_on_card(gpu, rows, centers)
        except Exception:  # such as too little memory on the card: other programs use it, too
            pass
    return native.nearest_points(rows, centers, parallel.n_threads())
