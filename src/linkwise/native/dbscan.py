"""DBSCAN, for many settings at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_row_array, check_weight
from linkwise.native.library import library


def all_dbscans(
    X: NDArray[Any],
    eps: NDArray[np.float64],
    min_pts: NDArray[np.int64],
    n_threads: int,
    weight: NDArray[np.int64] | None = None,
) -> NDArray[np.int32]:
    """Run DBSCAN for every pair of a radius and a number of neighbours.

    Two rows are neighbours when their squared distance, summed in the order of the features, is at
    most the squared radius; a row is its own neighbour. Labels, their numbers and the clusters of
    border rows are those of scikit-learn's ``DBSCAN(algorithm="kd_tree")``. Time O(n² d) once and
    O(n M) a clustering, memory O(n M), where M is the largest of `min_pts`.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    eps : (E,) float64
        Radii, not negative and ascending; at most 255.
    min_pts : (P,) int64
        Numbers of neighbours of a core row, itself included; at least 1.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    weight : (n,) int64, at least 1, or None, default=None
        Counts of the rows; by default 1.

    Returns
    -------
    (P, E, n) int32
        Clusters 0, 1, ... in order of their first core rows; -1 is noise.

    References
    ----------
    Ester, Kriegel, Sander and Xu (1996), A density-based algorithm for discovering clusters in large
    spatial databases with noise. Araújo Neto, Sander, Campello and Nascimento (2021), Core-SG:
    efficient computation of multiple MSTs for density-based methods.
    """
    check_row_array(X)
    check_array("eps", eps, (None,))
    check_array("min_pts", min_pts, (None,), np.int64)
    if len(eps) > 255:
        raise ValueError(f"eps holds {len(eps)} radii. Pass at most 255 at once.")
    check_count("the smallest of min_pts", int(min_pts.min()))
    check_count("n_threads", n_threads)
    check_weight(weight, X)
    return library.all_dbscans(X, eps, min_pts, n_threads, weight)
