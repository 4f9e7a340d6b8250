"""k-means on all rows of a stream, pass by pass, from the centres that a clusterer found on a sample.

Each iteration assigns the rows that constraints name in memory, and all other rows in one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster import points
from linkwise.cluster.kmeans.metrics import Metrics
from linkwise.cluster.points import Centers
from linkwise.constraints.constraints import Constraints
from linkwise.large.center_passes import Assignment, add_clusters, find_means
from linkwise.large.chunks import RowStream
from linkwise.large.passes import Scaling
from linkwise.parallel import Engine
from linkwise.types import Labels


class RowSource(NamedTuple):
    """All rows, and those that constraints name."""

    stream: RowStream
    scaling: Scaling
    mean: NDArray[np.float64]
    """(n_columns,) of all rows, in scaled units."""
    variance: NDArray[np.float64]
    """(n_columns,) of all rows, in scaled units."""
    numbers: NDArray[np.int64]
    """(m,) numbers of the rows that constraints name, ascending."""
    named: NDArray[np.float32]
    """(m, n_columns) these rows, scaled."""
    constraints: Constraints
    """Between positions in `named`."""
    engine: Engine
    n_rows: int


class StreamRun(NamedTuple):
    """Centres of all rows, and the labels of the rows that constraints name."""

    centers: Centers
    labels: Labels
    """(m,)"""
    sizes: NDArray[np.int64]
    """(k,) rows of each cluster."""
    objective: float
    n_iter: int
    metrics: Metrics | None = None
    """If they are learned."""


SettleNamed = Callable[[Centers, Labels | None], Labels]
"""Labels the rows that constraints name, given centres and the labels before."""


def run_passes(
    source: RowSource,
    settle: SettleNamed,
    centers: Centers,
    stop: tuple[int, float],
    step: Callable[[int], object],
) -> StreamRun:
    """Alternate between labels and means of all rows; `stop`: iterations, squared shift."""
    labels: Labels | None = None
    for n_iter in range(1, stop[0] + 1):
        labels = settle(centers, labels)
        assignment = Assignment(source.scaling, centers, source.numbers, labels)
        totals = add_clusters(source.stream, assignment, source.engine)
        step(n_iter)
        moved = find_means(source.stream, assignment, totals, source.engine)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= stop[1]:
            break
    labels = settle(centers, labels)
    last = Assignment(source.scaling, centers, source.numbers, labels)
    totals = add_clusters(source.stream, last, source.engine)
    step(n_iter + 1)
    return StreamRun(centers, labels, totals.counts, totals.inertia, n_iter)


def find_nearest(rows: NDArray[np.float32], centers: Centers) -> Labels:
    """Label rows by their nearest centre; there may be no rows."""
    return points.nearest_centers(rows, centers)[0] if len(rows) else np.empty(0, dtype=np.int32)


def run_plain_passes(
    source: RowSource, centers: Centers, stop: tuple[int, float], step: Callable[[int], object]
) -> StreamRun:
    """Run plain k-means on all rows."""
    return run_passes(source, lambda centers, _: find_nearest(source.named, centers), centers, stop, step)


def compact_run(run: StreamRun) -> StreamRun:
    """Leave out empty clusters."""
    used = run.sizes > 0
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    metrics = run.metrics
    if metrics is not None and len(metrics.maps) > 1:
        metrics = Metrics(*(part[used] for part in metrics))
    return StreamRun(
        run.centers[used], number[run.labels], run.sizes[used], run.objective, run.n_iter, metrics
    )
