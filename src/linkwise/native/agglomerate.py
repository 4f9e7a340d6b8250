"""Cluster a matrix of distances agglomeratively."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count
from linkwise.native.library import library

Linkage = Literal["single", "complete", "average", "ward"]
LINKAGES: tuple[Linkage, ...] = ("single", "complete", "average", "ward")


def agglomerate(
    distances: NDArray[np.float64],
    size: NDArray[np.int64],
    linkage: Linkage,
    n_clusters: int,
    most: float = np.inf,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Merge the two nearest clusters until `n_clusters` are left, or no pair may be merged.

    Parameters
    ----------
    distances : (m, m) float64, C-contiguous
        Symmetric; infinite for two that may never be in one cluster. For "ward" 2 s t / (s + t) times the
        squared distance of the means of s and t rows. Written over.
    size : (m,) int64
        Rows of each cluster.
    linkage : {"single", "complete", "average", "ward"}
        The distance of two clusters.
    n_clusters : int, at least 1
        Number of clusters.
    most : float, default=np.inf
        Clusters that are farther apart are not joined.

    Returns
    -------
    pairs : (q, 2) int64
        In order: the cluster that stays, and the one that is put into it. A cluster keeps the number of its
        first one, the lower of the two.
    heights : (q,) float64
        How far apart they were.

    References
    ----------
    Lance and Williams (1967), A general theory of classificatory sorting strategies. Murtagh (1983), A survey
    of recent advances in hierarchical clustering algorithms.
    """
    check_array("distances", distances, (None, None))
    check_array("distances", distances, (len(distances), len(distances)))
    check_array("size", size, (len(distances),), np.int64)
    check_count("n_clusters", n_clusters)
    return library.agglomerate(distances, size, LINKAGES.index(linkage), n_clusters, most)
