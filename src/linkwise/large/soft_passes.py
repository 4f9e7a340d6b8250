"""Continue PCKMeans on all rows of a stream, from the centres that it found on a sample.

The rows that constraints name are assigned by the same code as in `PCKMeans`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise.cluster import points
from linkwise.cluster.kmeans import icm
from linkwise.cluster.kmeans.pckmeans import PCKMeans
from linkwise.cluster.points import Centers
from linkwise.large.stream_runs import RowSource, StreamRun, find_nearest, run_passes, run_plain_passes
from linkwise.rng import rng_at
from linkwise.types import Labels


def refine_pckmeans(
    source: RowSource, model: PCKMeans, seed: int, step: Callable[[int], object]
) -> StreamRun:
    """Alternate between labels and means of all rows until the means stop.

    Parameters
    ----------
    source : RowSource
        The rows.
    model : PCKMeans
        Fitted to a sample. If plain k-means satisfied more constraints there, this runs plain k-means. Its
        `w_` becomes the price in all rows.
    seed : int
        Seed of the order in which rows with constraints move.
    step : callable
        Called after each pass with the number of passes.
    """
    variance = float(source.variance.mean())
    if model.w == "scale":
        model.w_ = variance * len(source.mean)
    stop, centers = (model.max_iter, model.tol * variance), model.cluster_centers_
    if source.constraints.n_constraints == 0:
        return run_plain_passes(source, centers, stop, step)
    ends = icm.find_named_rows(source.named, source.constraints, source.mean[None])
    prices, rng = icm.equal_prices(ends, model.w_), rng_at(seed, 0)

    def settle(centers: Centers, before: Labels | None) -> Labels:
        first = find_nearest(source.named, centers) if before is None else before
        costs = points.squared_center_distances(source.named[ends.rows], centers)
        labels = np.empty(len(first), dtype=np.int32)
        labels[ends.rows] = icm.settle(costs, first[ends.rows], ends, prices, rng)
        return labels

    if model.fell_back_:
        run = run_plain_passes(source, centers, stop, step)
    else:
        run = run_passes(source, settle, centers, stop, step)
    return run._replace(objective=run.objective + icm.price_paid(run.labels[ends.rows], ends, prices))
