"""k-means from seeds: groups of rows that are known to belong together (Basu, Banerjee and Mooney 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from linkwise.cluster import points
from linkwise.cluster.kmeans.components import Blocks
from linkwise.cluster.kmeans.starts import check_init, select_farthest_first, take_dense_rows
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints


def choose_seeds(blocks: Blocks, constraints: Constraints, k: int) -> NDArray[np.int64]:
    """Choose at most k blocks with constraints: the largest first, or of more than k those far apart.

    A block is a seed if it has a must-link or a cannot-link: with ``Constraints.from_labels`` each class is
    one seed.
    """
    spoken = blocks.weight > 1
    spoken[constraints.component_cannot_link.ravel()] = True
    able = np.flatnonzero(spoken)
    order = np.argsort(-blocks.weight[able], kind="stable")
    if len(able) <= k:
        return able[order]
    return able[select_farthest_first(blocks.X[able], blocks.weight[able].astype(np.float64), k)]


def draw_seeded_starts(
    X: Any,
    blocks: Blocks,
    seeds: NDArray[np.int64],
    n_clusters: int,
    k: int,
    seed: int,
    init: Any,
    n_init: int,
) -> tuple[Centers, NDArray[np.int32]]:
    """Draw (R, k, d) starts; return them and the cluster of each seed.

    The means of the seeds come first and k-means++ draws the rest; given centres are matched to the seeds,
    with the least sum of squared distances.
    """
    given = take_dense_rows(blocks.X, seeds)
    if isinstance(init, str):
        drawn = points.draw_starts(X, k, seed, n_init, given=given if len(given) else None)
        return drawn, np.arange(len(seeds), dtype=np.int32)
    centers = check_init(init, n_clusters, k, X.shape[1])
    far = ((given[:, None] - centers) ** 2).sum(axis=2)
    return centers[None], linear_sum_assignment(far)[1].astype(np.int32)
