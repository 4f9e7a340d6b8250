"""S_Dbw: prefer clusters with little scatter and few rows between them.

Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008), definitions 3.3 to 3.5, after Halkidi and
Vazirgiannis (2001). With v_j the mean of cluster j and sigma(.) the vector of the variances of the features:

    Scat    = mean over j of |sigma(v_j)| / |sigma(X)|
    Dens_bw = mean over pairs i < j of density(u_ij) / max(density(v_i), density(v_j))
    S_Dbw   = Scat + Dens_bw

where u_ij is the middle of v_i and v_j, and density(u) the number of rows of the clusters i and j at most
`stdev` from u.

Settled where the papers differ or leave it open:

- The sum over pairs is divided by their number. As printed in 2008, 1 / (2 nc (nc - 1)), it is a quarter of
  the mean (``factor="printed"``).
- stdev is "the average standard deviation of the clusters": the mean of sqrt(|sigma(v_j)|). That of 2001,
  sqrt(sum of |sigma(v_j)|) / nc, shrinks as the number of clusters grows, until no row is near any point
  (``stdev="icdm2001"``).
- If no row is near a mean, the ratio is 0. Without any variance Scat is 0. With one cluster Dens_bw is 0. A
  cluster of one row has variance 0. Rows of noise (-1) are ignored; without any cluster the index is
  infinite.
- Nearness has a tolerance for rounding (10⁻¹² of the variance of the data), so neither the location nor the
  unit of the data matters.

Cost: O(n d k) for the distances to the means, O(n k) if they are known. The points half-way need no
distances, since |x - u_ij|² = (|x - v_i|² + |x - v_j|²) / 2 - |v_i - v_j|² / 4.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from linkwise import native, parallel

NOISE = -1

Stdev = Literal["mean", "icdm2001"]
Factor = Literal["mean", "printed"]


def s_dbw_score(
    X: ArrayLike,
    labels: ArrayLike,
    *,
    stdev: Stdev = "mean",
    factor: Factor = "mean",
    squares: NDArray[np.float64] | None = None,
) -> float:
    """Compute the scatter within clusters plus the density between them, from 0; lower is better.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows.
    labels : array-like of shape (n_rows,)
        Cluster of every row; noise (-1) is ignored.
    stdev : {"mean", "icdm2001"}, default="mean"
        Radius of a neighbourhood: the mean standard deviation of the clusters, or that of the paper of 2001.
    factor : {"mean", "printed"}, default="mean"
        Whether the density is the mean over pairs of clusters, or a quarter of that, as printed.
    squares : ndarray of shape (n_rows, n_clusters), optional
        Squared distances of every row to the mean of every cluster, in the order of the labels, if they are
        known.

    Returns
    -------
    float
        The index; infinity if every row is noise.

    Raises
    ------
    ValueError
        If there is not one label for each row, a label is None or NaN, a value is not a finite number, an
        option is unknown, or `squares` is not valid.

    References
    ----------
    Halkidi and Vazirgiannis (2001), Clustering validity assessment: finding the optimal partitioning of a
    data set. ICDM. Halkidi, Gunopulos, Vazirgiannis, Kumar and Domeniconi (2008), A clustering framework
    based on subjective and objective validity criteria. ACM TKDD 1(4).

    Examples
    --------
    >>> from linkwise import s_dbw_score
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> round(s_dbw_score(X, [0, 0, 0, 1, 1, 1]), 3)
    0.026
    >>> round(s_dbw_score(X, [0, 0, 1, 1, 1, 1]), 3)
    0.31
    """
    for name, value, known in (
        ("stdev", stdev, ("mean", "icdm2001")),
        ("factor", factor, ("mean", "printed")),
    ):
        if value not in known:
            raise ValueError(f"{name} is unknown: {value!r}. Pass {known[0]!r} or {known[1]!r}.")
    points = check_array(X, dtype=[np.float64, np.float32], order="C")
    given = np.asarray(labels)
    if given.shape != (len(points),):
        raise ValueError(f"labels have shape {given.shape}. Pass one label for each of {len(points)} rows.")
    numbers = given.dtype.kind in "iub"
    wrong = (
        [] if numbers else [at for at, label in enumerate(given.tolist()) if label is None or label != label]
    )
    if wrong:
        raise ValueError(
            f"labels hold {given[wrong[0]]} for row {wrong[0]}. Set a cluster for every row, or -1 for noise."
        )
    kept = given != NOISE
    if not kept.any():
        return float("inf")
    names, number = np.unique(given[kept], return_inverse=True)
    wanted = (len(points), len(names))
    if squares is not None and np.shape(squares) != wanted:
        raise ValueError(
            f"squares have shape {np.shape(squares)}. Pass {wanted}: one line a row, one column a cluster."
        )
    if squares is not None and not (np.isfinite(squares).all() and np.min(squares, initial=0) >= 0):
        raise ValueError("squares hold NaN, infinity or numbers below 0. Pass squared distances.")
    clusters = np.full(len(points), NOISE, dtype=np.int32)
    clusters[kept] = number
    table = None if squares is None else np.ascontiguousarray(squares, dtype=np.float64)
    # less a row that counts, so that rounding depends on the spread alone
    origin = points[kept.argmax()].astype(np.float64)
    points = points - origin
    total, counts = native.label_sums(points, clusters, len(names), None, parallel.n_threads())
    return s_dbw(points, clusters, total / counts[:, None], stdev=stdev, factor=factor, squares=table)


def s_dbw(
    X: NDArray[Any],
    labels: NDArray[np.int32],
    means: NDArray[np.float64],
    *,
    stdev: Stdev = "mean",
    factor: Factor = "mean",
    squares: NDArray[np.float64] | None = None,
) -> float:
    """Compute `s_dbw_score` of checked rows whose clusters have these means; negative labels are noise."""
    scatter, density = native.s_dbw(
        X, labels, means, squares, pooled=stdev == "icdm2001", n_threads=parallel.n_threads()
    )
    return scatter + density * (1.0 if factor == "mean" else 0.25)
