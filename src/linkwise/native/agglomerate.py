"""Agglomerative clustering of a matrix of distances."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

Linkage = Literal["single", "complete", "average", "ward"]
LINKAGES: tuple[Linkage, ...] = ("single", "complete", "average", "ward")


def agglomerate(
    distances: NDArray[np.float64],
    size: NDArray[np.int64],
    linkage: Linkage,
    n_clusters: int,
    most: float = np.inf,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Call `_native.agglomerate` with a linkage by its name."""
    return library.agglomerate(distances, size, LINKAGES.index(linkage), n_clusters, most)
