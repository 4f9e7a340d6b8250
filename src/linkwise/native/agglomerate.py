"""Cluster a matrix of distances agglomeratively."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linkwise.native._checks import check_array, check_count, check_range
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


def agglomerate_near(
    distances: NDArray[np.float64], column: NDArray[np.int32], start: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Merge the two nearest of single rows by average linkage until all are one, where most are 1 apart.

    It returns what `agglomerate` returns, to the last bit.

    Parameters
    ----------
    distances : (q,) float64
        Distances of at most 1, row by row; all others are 1. Those of a row to itself do not count.
    column : (q,) int32
        The other row of each distance, ascending for each row. If row i names j, row j names i.
    start : (m + 1,) int32
        Where the distances of each row begin, and where the last ones end.

    Returns
    -------
    pairs : (m - 1, 2) int64
        As those of `agglomerate`.
    heights : (m - 1,) float64
        How far apart they were.
    """
    m = len(start) - 1
    check_array("start", start, (None,), np.int32)
    check_array("distances", distances, (int(start[-1]),))
    check_array("column", column, distances.shape, np.int32)
    check_range("column", column, 0, m - 1)
    if m < 1 or start[0] != 0 or (np.diff(start) < 0).any():
        raise ValueError("start must begin with 0 and never fall, and name one row at least.")
    by_row = csr_array((distances, column, start), (m, m))
    if not by_row.has_canonical_format:
        raise ValueError("column must be ascending for each row.")
    across = by_row.tocsc()
    if not (np.array_equal(across.indptr, start) and np.array_equal(across.indices, column)):
        raise ValueError("A row names another one that does not name it.")
    return library.agglomerate_near(distances, column, start)
