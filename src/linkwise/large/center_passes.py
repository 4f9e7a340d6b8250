"""A pass over a stream that assigns each row to the nearest centre, and adds up the rows of each cluster.

Rows that constraints name are few. Their labels are decided before the pass, in memory, and it takes them as
they are. Sums are made in float64, block by block, and merged in the order of the blocks.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.cluster import points
from linkwise.cluster.kmeans.metrics import Metrics
from linkwise.cluster.points import Centers
from linkwise.large import chunks
from linkwise.large.chunks import Chunk, RowStream, read_blocks
from linkwise.large.nearest import nearest_centers
from linkwise.large.passes import Scaling, find_among, scale_block
from linkwise.large.ranges import map_blocks
from linkwise.parallel import SERIAL_ENGINE, Engine


class Assignment(NamedTuple):
    """How rows are assigned."""

    scaling: Scaling
    centers: Centers
    """(k, n_columns), in scaled units."""
    numbers: NDArray[np.int64]
    """(m,) numbers of the rows whose labels are given, ascending."""
    labels: NDArray[np.int32]
    """(m,) their labels."""
    metrics: Metrics | None = None
    """Diagonal metrics, of which each row takes the nearest centre less log det; None: the plain one."""

    def find_labels(self, block: Chunk) -> NDArray[np.int32]:
        """Find the cluster of each row of a block."""
        return self.assign(block)[1]

    def assign(self, block: Chunk) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float64]]:
        """Scale the rows of a block; find their clusters, and their squared distances to the centres.

        Under metrics, log det is taken off the distances.
        """
        rows = scale_block(block, self.scaling)
        if self.metrics is None:
            nearest, squares = nearest_centers(rows, self.centers)
            labels = nearest.astype(np.int32)
        else:
            offset = np.broadcast_to(-self.metrics.log_det, len(self.centers)).copy()
            maps, n_threads = self.metrics.maps, parallel.n_threads()
            labels, squares = native.metric_nearest(rows, self.centers, maps, offset, n_threads)
        at, here = find_among(block, self.numbers)
        if len(at):
            labels[at] = self.labels[here]
            squares[at] = self._find_costs(rows[at])[np.arange(len(at)), labels[at]]
        return rows, labels, squares

    def list_arrays(self) -> list[NDArray[Any]]:
        """List what decides the cluster of each row."""
        scaling = self.scaling.offset, self.scaling.scale
        return [*scaling, self.centers, self.numbers, self.labels, *(self.metrics or ())]

    def _find_costs(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Compute the (n, k) costs of few rows."""
        if self.metrics is None:
            return points.squared_center_distances(rows, self.centers)
        found = native.metric_distances(rows, self.centers, self.metrics.maps, 1)
        costs: NDArray[np.float64] = found - self.metrics.log_det
        return costs


class ClusterTotals(NamedTuple):
    """Sums over the rows of each of k clusters; `merge` leaves both as they are."""

    sums: NDArray[np.float64]
    """(k, n_columns)"""
    counts: NDArray[np.int64]
    """(k,)"""
    inertia: float
    """Sum of the squared distances of rows to the centres of their clusters."""
    scatter: NDArray[np.float64] | None = None
    """(k, n_columns) sums of squared deviations from an origin."""

    @classmethod
    def of(
        cls, block: Chunk, assignment: Assignment, origin: NDArray[np.float64] | None = None
    ) -> ClusterTotals:
        """Assign the rows of a block, and add them up."""
        rows, labels, squares = assignment.assign(block)
        k, scatter = len(assignment.centers), None
        sums, counts = points.cluster_sums(rows, labels, k)
        if origin is not None:
            scatter = points.cluster_sums(np.square(rows - origin), labels, k)[0]
        return cls(sums, counts, float(squares.sum()), scatter)

    def merge(self, more: ClusterTotals) -> ClusterTotals:
        """Add the totals of later rows."""
        return ClusterTotals(
            self.sums + more.sums,
            self.counts + more.counts,
            self.inertia + more.inertia,
            None if self.scatter is None or more.scatter is None else self.scatter + more.scatter,
        )


class FarRows(NamedTuple):
    """The rows without constraints that are farthest from their centres, the farthest first."""

    squares: NDArray[np.float64]
    numbers: NDArray[np.int64]
    labels: NDArray[np.int32]
    rows: NDArray[np.float32]

    @classmethod
    def of(cls, block: Chunk, assignment: Assignment) -> FarRows:
        """Find as many of them in a block as there are centres."""
        rows, labels, squares = assignment.assign(block)
        squares[find_among(block, assignment.numbers)[0]] = 0
        numbers = np.arange(block.first, block.first + len(rows))
        return cls(squares, numbers, labels, rows)._keep(len(assignment.centers))

    def merge(self, more: FarRows) -> FarRows:
        """Find as many as this has in both."""
        both = FarRows(
            np.concatenate([self.squares, more.squares]),
            np.concatenate([self.numbers, more.numbers]),
            np.concatenate([self.labels, more.labels]),
            np.concatenate([self.rows, more.rows]),
        )
        return both._keep(max(len(self.squares), len(more.squares)))

    def _keep(self, n: int) -> FarRows:
        """Keep the farthest rows, of equals the first."""
        least = np.partition(self.squares, -n)[-n] if n < len(self.squares) else 0.0
        far = np.flatnonzero(self.squares >= least)
        order = far[np.lexsort((self.numbers[far], -self.squares[far]))][:n]
        return FarRows(self.squares[order], self.numbers[order], self.labels[order], self.rows[order])


def add_clusters(
    stream: RowStream,
    assignment: Assignment,
    engine: Engine = SERIAL_ENGINE,
    origin: NDArray[np.float64] | None = None,
) -> ClusterTotals:
    """Assign each row, and add up the rows of each cluster, and their squared deviations from an origin."""
    work = partial(ClusterTotals.of, assignment=assignment, origin=origin)
    totals: ClusterTotals | None = None
    for found in map_blocks(partial(read_blocks, stream), work, stream.lengths(), 0, chunks.BLOCK, engine):
        totals = found if totals is None else totals.merge(found)
    assert totals is not None  # a stream without rows raises
    return totals


def find_means(
    stream: RowStream, assignment: Assignment, totals: ClusterTotals, engine: Engine = SERIAL_ENGINE
) -> Centers:
    """Compute the mean of each cluster.

    An empty cluster takes the farthest row without constraints, from a cluster with other rows, as
    `linkwise.cluster.points.fill_empty_clusters` does. This needs another pass, but is rare.
    """
    sums, counts = totals.sums.copy(), totals.counts.copy()
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        _fill_empty(empty, sums, counts, _find_far_rows(stream, assignment, engine))
    moved = assignment.centers.copy()
    used = counts > 0
    moved[used] = sums[used] / counts[used, None]
    return moved


def _find_far_rows(stream: RowStream, assignment: Assignment, engine: Engine) -> FarRows:
    work = partial(FarRows.of, assignment=assignment)
    far: FarRows | None = None
    for found in map_blocks(partial(read_blocks, stream), work, stream.lengths(), 0, chunks.BLOCK, engine):
        far = found if far is None else far.merge(found)
    assert far is not None  # a stream without rows raises
    return far


def _fill_empty(
    empty: NDArray[np.int64], sums: NDArray[np.float64], counts: NDArray[np.int64], far: FarRows
) -> None:
    """Move far rows to empty clusters, in place."""
    left = list(zip(far.squares.tolist(), far.labels.tolist(), far.rows.astype(np.float64), strict=True))
    for cluster in empty.tolist():
        at = next((at for at, (square, label, _) in enumerate(left) if square > 0 and counts[label] > 1), -1)
        if at < 0:
            break
        _, label, row = left.pop(at)
        sums[label] -= row
        counts[label] -= 1
        sums[cluster], counts[cluster] = row, 1
