"""First centres from constraints: the means of the neighbourhoods, or ends of cannot-links.

Basu, Banerjee and Mooney (2004): the rows joined by must-links are a neighbourhood; its mean is a good first
centre. If there are more than k, weighted farthest-first traversal selects k: first the largest, then
repeatedly the one with the largest product of size and squared distance from those selected.

Clus, the program with which Struyf and Džeroski (2007) compare COP-k-means with their trees, starts it at
both ends of random cannot-links.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.cluster import points
from linkwise.cluster.kmeans.components import Blocks, build_blocks
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints

PARAMETERS: dict[str, list[Any]] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "init": [StrOptions({"neighbourhoods", "k-means++"}), "array-like"],
    "n_init": [Interval(Integral, 1, None, closed="left")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
}
"""What both methods with prices take, and how it is checked."""


def draw_soft_starts(
    X: Any, constraints: Constraints, n_clusters: int, k: int, seed: int, init: Any, n_init: int
) -> list[Centers]:
    """Draw first centres for soft constraints, each (k, d).

    `n_clusters` were asked for, and `k` is limited by the number of distinct rows. With "neighbourhoods"
    only the first start uses them, filled up by k-means++; a misleading neighbourhood then spoils one
    start only.
    """
    if not isinstance(init, str):
        return [check_init(init, n_clusters, k, X.shape[1])]
    drawn = list(points.draw_starts(X, k, seed, n_init))
    given = neighbourhood_means(X, constraints, k) if init == "neighbourhoods" else np.empty((0, 0))
    if len(given) == 0:
        return drawn
    return [points.draw_starts(X, k, seed, 1, given=given)[0], *drawn[: n_init - 1]]


def check_init(init: ArrayLike, n_clusters: int, k: int, n_features: int) -> Centers:
    """Return given centres as float64; if there are fewer distinct rows, the k that are farthest apart."""
    centers = np.ascontiguousarray(init, dtype=np.float64)
    if centers.shape != (n_clusters, n_features) or not np.isfinite(centers).all():
        raise ValueError(
            f"init has shape {centers.shape}. Pass {n_clusters} centres of {n_features} finite features "
            "each, or the name of a method that draws them."
        )
    if k == n_clusters:
        return centers
    return np.ascontiguousarray(centers[np.sort(select_farthest_first(centers, np.ones(n_clusters), k))])


def neighbourhood_means(X: Any, constraints: Constraints, k: int) -> Centers:
    """Compute the distinct means of at most k neighbourhoods of two or more rows, (g, d)."""
    blocks = build_blocks(X, constraints.component)
    large = np.flatnonzero(blocks.weight >= 2)
    if len(large) == 0:
        return np.empty((0, X.shape[1]))
    chosen = select_farthest_first(blocks.X[large], blocks.weight[large].astype(np.float64), k)
    return take_dense_rows(blocks.X, large[chosen])


def draw_link_ends(
    blocks: Blocks, cannot_link: NDArray[np.int64], k: int, rng: np.random.Generator
) -> Centers:
    """Draw k first centres, (k, d), as Clus does: blocks at the ends of random cannot-links, then any blocks.

    A cannot-link counts only if all its free ends can be centres. So of an odd number the last is the free
    end of a cannot-link whose other end is a centre, if there is one. With fewer than k blocks the last one
    drawn is repeated.
    """
    ends: list[int] = []
    for link in rng.permutation(cannot_link):
        if len(ends) == k:
            break
        free = [end for end in link.tolist() if end not in ends]
        ends += free if len(ends) + len(free) <= k else []
    if len(ends) < k:
        ends += [block for block in rng.permutation(blocks.X.shape[0])[:k].tolist() if block not in ends]
    return take_dense_rows(blocks.X, np.array(ends)[np.minimum(np.arange(k), len(ends) - 1)])


def select_farthest_first(centers: Any, weight: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Select at most k distinct centres by weighted farthest-first traversal, the heaviest first."""

    def far_from(one: int) -> NDArray[np.float64]:
        return points.squared_center_distances(centers, take_dense_rows(centers, np.array([one])))[:, 0]

    chosen = [int(weight.argmax())]
    far = far_from(chosen[0])
    while len(chosen) < k:
        following = int((weight * far).argmax())
        if far[following] <= 0:
            break
        chosen.append(following)
        far = np.minimum(far, far_from(following))
        far[following] = 0
    return np.array(chosen, dtype=np.int64)


def take_dense_rows(X: Any, rows: NDArray[np.int64]) -> Centers:
    """Return some rows as dense centres."""
    some = X[rows]
    return np.ascontiguousarray(some.toarray() if issparse(some) else some, dtype=np.float64)
