"""Grow a clustering tree on all rows of a stream, pass by pass.

Rows that constraints name stay in memory. All other rows of a leaf are counted and added up in bins, for each
column, as programs for gradient boosting do. A cut lies between two bins. A sum of squares needs only the
number of rows on each side and the sum of their features, and the bins have both. So a cut counts exactly
what it counts in memory, and the only approximation is that cuts within a bin are not tried.

The tree grows by the search of `linkwise.cluster.trees.growth`, which takes the best split of any leaf. A
pass reads the two sides of this split, and those of the splits that are likely to follow. If one of them does
follow, its sides need no pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.cluster import points
from linkwise.cluster.trees.columns import cut_between
from linkwise.cluster.trees.growth import LeafRows, LikelySplits
from linkwise.cluster.trees.tree import Condition, Path
from linkwise.errors import DataError
from linkwise.large import chunks
from linkwise.large.chunks import Chunk, read_blocks
from linkwise.large.passes import Scaling, find_among, scale_block
from linkwise.large.ranges import RANGE, map_blocks
from linkwise.large.stream_runs import RowSource

EDGES = 255  # of each column, besides the values of rows with constraints
MOST = 2**23  # bytes of the bins that a pass fills, unless those of two leaves are more
Edges = tuple[NDArray[np.float32], ...]
"""Of each column, ascending. A bin has the values above one edge, up to the next one, which it includes."""


class Bins(NamedTuple):
    """Rows without constraints in the bins of all columns, one column after the other."""

    counts: NDArray[np.int64]
    """(b,)"""
    sums: NDArray[np.float64]
    """(b, n_columns) sums of rows minus the mean of all rows."""
    low: NDArray[np.float32]
    """(b,) least value of the column; infinite in an empty bin."""
    high: NDArray[np.float32]

    @classmethod
    def of(cls, rows: NDArray[np.float32], mean: NDArray[np.float64], edges: Edges) -> Bins:
        """Put rows into bins."""
        slices = column_slices(edges)
        n = slices[-1].stop
        infinite = np.full(n, np.inf, dtype=np.float32)
        found = cls(np.zeros(n, dtype=np.int64), np.zeros((n, len(mean))), infinite, -infinite)
        if len(rows) == 0:
            return found
        centred = rows - mean
        for values, edge, here in zip(rows.T, edges, slices, strict=True):
            x = np.ascontiguousarray(values)
            bins = np.searchsorted(edge, x).astype(np.int32)
            found.sums[here], found.counts[here] = points.cluster_sums(centred, bins, len(edge) + 1)
            np.minimum.at(found.low[here], bins, x)
            np.maximum.at(found.high[here], bins, x)
        return found

    def n_rows(self, edges: Edges) -> int:
        """Count the rows."""
        return int(self.counts[: len(edges[0]) + 1].sum())

    def merge(self, more: Bins) -> Bins:
        """Add the bins of later rows."""
        return Bins(
            self.counts + more.counts,
            self.sums + more.sums,
            np.minimum(self.low, more.low),
            np.maximum(self.high, more.high),
        )


def column_slices(edges: Edges) -> list[slice]:
    """Slices of the bins of each column."""
    ends = np.cumsum([0, *(len(edge) + 1 for edge in edges)]).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def find_edges(sample: NDArray[np.float32], named: NDArray[np.float32]) -> Edges:
    """Find the edges of each column: quantiles of a sample, and all values of rows with constraints."""
    at = np.unique(np.linspace(0, len(sample) - 1, min(EDGES, len(sample))).astype(np.int64))

    def find(x: NDArray[np.float32], own: NDArray[np.float32]) -> NDArray[np.float32]:
        values = np.unique(x)
        return np.union1d(values if len(values) <= EDGES else np.sort(x)[at], own)

    return tuple(find(x, own) for x, own in zip(sample.T, named.T, strict=True))


def follow_path(rows: NDArray[np.float32], at: NDArray[np.intp], path: Path) -> NDArray[np.intp]:
    """Find which of the rows at some places the tests lead to a node."""
    for test, answer in path:
        at = at[test.holds(rows, at) == answer]
    return at


class LeafPass(NamedTuple):
    """A pass that fills the bins of several leaves."""

    scaling: Scaling
    mean: NDArray[np.float64]
    edges: Edges
    numbers: NDArray[np.int64]
    """Of the rows that constraints name, which it leaves out, ascending."""
    paths: tuple[Path, ...]

    def add(self, block: Chunk) -> list[Bins]:
        """Fill the bins of each leaf with the rows of a block."""
        rows = scale_block(block, self.scaling)
        free = np.delete(np.arange(len(rows)), find_among(block, self.numbers)[0])
        leaves = (rows[follow_path(rows, free, path)] for path in self.paths)
        return [Bins.of(leaf, self.mean, self.edges) for leaf in leaves]


def read_bins(source: RowSource, edges: Edges, paths: tuple[Path, ...]) -> list[Bins]:
    """Fill the bins of several leaves, in one pass over all rows."""
    work = LeafPass(source.scaling, source.mean, edges, source.numbers, paths).add
    read, lengths = partial(read_blocks, source.stream), source.stream.lengths()
    n_bytes = len(paths) * (len(edges) + 4) * 8 * column_slices(edges)[-1].stop
    n_together = min(max(1, RANGE * MOST // n_bytes), RANGE)
    found: list[Bins] | None = None
    for bins in map_blocks(read, work, lengths, 0, chunks.BLOCK, source.engine, n_together):
        found = bins if found is None else [a.merge(b) for a, b in zip(found, bins, strict=True)]
    assert found is not None  # a stream without rows raises
    return found


class TreeProblem(NamedTuple):
    """What the search needs to know of all rows."""

    source: RowSource
    edges: Edges
    tests: tuple[int, ...]
    """Columns that vary, or else the first one."""
    factor: NDArray[np.float64]
    """(n_columns,) of the features."""
    place: NDArray[np.int32]
    """As in `linkwise.native.LinkedRows`, of the rows with constraints."""
    least: float
    tie: float


class KnownLeaf(NamedTuple):
    """A leaf that a pass has read.

    Its units are the rows with constraints and, for each test, the bins that are not empty.
    """

    named: NDArray[np.intp]
    """Its rows with constraints: places among all of these."""
    bins: NDArray[np.int32]
    """(n_tests, n_units) bins of the units of each test, from the largest values; -1 behind the last."""
    moved: NDArray[np.int64]
    """(n_tests, n_units) rows of each unit and of those before it."""
    low: tuple[NDArray[np.float32], ...]
    """For each test the least value of each bin."""
    high: tuple[NDArray[np.float32], ...]
    squares: native.LeafSquares
    total: tuple[float, NDArray[np.float64]]
    """As in `LeafRows`."""


def describe_leaf(problem: TreeProblem, bins: Bins, named: NDArray[np.intp]) -> KnownLeaf:
    """Find the best cuts of a leaf, given its bins and its rows with constraints."""
    rows, width = problem.source.named[named], len(problem.factor) + -len(problem.factor) % 8
    slices = column_slices(problem.edges)
    sums, counts = [rows - problem.source.mean], [np.ones(len(rows), dtype=np.int64)]
    lows, highs, units, keys, n_units = [], [], [], [], len(rows)
    for column in problem.tests:
        here, x = slices[column], rows[:, column]
        own, filled = np.searchsorted(problem.edges[column], x), np.flatnonzero(bins.counts[here])
        low, high = bins.low[here].copy(), bins.high[here].copy()
        np.minimum.at(low, own, x)
        np.maximum.at(high, own, x)
        lows.append(low)
        highs.append(high)
        sums.append(bins.sums[here][filled])
        counts.append(bins.counts[here][filled])
        units.append(np.r_[n_units : n_units + len(filled), 0 : len(rows)])
        keys.append(np.r_[filled, own])
        n_units += len(filled)
    weight = np.r_[np.concatenate(counts), 0].astype(np.float64)  # a unit without rows fills up
    features = np.zeros((len(weight), width))
    features[:-1, : len(problem.factor)] = np.concatenate(sums) / weight[:-1, None] * problem.factor
    order = np.full((len(units), max(map(len, units))), n_units, dtype=np.int32)
    bin_of = np.full((len(units), len(weight)), -1, dtype=np.int32)
    for at, (unit, key) in enumerate(zip(units, keys, strict=True)):
        order[at, : len(unit)] = unit[np.argsort(-key, kind="stable")]
        bin_of[at, unit] = key
    place = np.full(len(weight), -1, dtype=np.int32)
    place[: len(named)] = problem.place[named]
    tied = np.ones(len(order), dtype=np.uint8)
    bounds = problem.least, problem.tie, parallel.n_threads()
    squares = native.leaf_squares(features, order, bin_of, tied, weight, place, *bounds)
    first = order[0]
    total = float(weight[first].sum()), (weight[first, None] * features[first]).sum(axis=0)
    in_order = np.take_along_axis(bin_of, order, axis=1)
    moved = weight[order].cumsum(axis=1).astype(np.int64)
    return KnownLeaf(named, in_order, moved, tuple(lows), tuple(highs), squares, total)


def find_test(problem: TreeProblem, leaf: KnownLeaf, number: int, size: int) -> Condition:
    """Find the test of a cut, which has its threshold where it would be in memory."""
    last, following = leaf.bins[number, size - 1 : size + 1]
    low, high = leaf.high[number][following], leaf.low[number][last]
    return cut_between(problem.tests[number], float(low), float(high))


class StreamedLeaves:
    """The leaves that passes have read, by their paths."""

    def __init__(self, problem: TreeProblem, root: Bins, step: Callable[[], object]) -> None:
        self._problem, self._step = problem, step
        self._most = max(2, MOST // sum(each.nbytes for each in root))  # leaves of one pass
        every = np.arange(len(problem.source.named))
        self._known: dict[Path, KnownLeaf] = {(): describe_leaf(problem, root, every)}

    def size(self, path: Path) -> int:
        """Return the number of rows of a leaf."""
        return int(self._known[path].moved[0, -1])

    def describe(self, path: Path) -> LeafRows:
        """Describe the rows of a leaf, as the search needs them."""
        leaf = self._known[path]
        return LeafRows(leaf.squares, lambda: leaf.total, partial(self._split, path))

    def _split(
        self, path: Path, number: int, size: int, likely: LikelySplits
    ) -> tuple[Condition, LeafRows, LeafRows]:
        test = find_test(self._problem, self._known[path], number, size)
        yes, no = list_sides(path, test)
        if yes not in self._known:
            self._read((path, number, size), likely)
        return test, self.describe(yes), self.describe(no)

    def _read(self, first: tuple[Path, int, int], likely: LikelySplits) -> None:
        """Read the two sides of a split, and those of splits that may follow."""
        expected: dict[Path, int] = {}  # rows
        for path, number, size in (first, *likely()):
            leaf = self._known[path]
            yes, no = list_sides(path, find_test(self._problem, leaf, number, size))
            if expected and len(expected) + 2 > self._most:
                break
            if yes not in self._known:
                expected[yes] = int(leaf.moved[number, size - 1])
                expected[no] = self.size(path) - expected[yes]
        paths = tuple(expected)
        read = read_bins(self._problem.source, self._problem.edges, paths)
        for path, bins in zip(paths, read, strict=True):
            named = follow_path(self._problem.source.named, self._known[path[:-1]].named, path[-1:])
            self._known[path] = describe_leaf(self._problem, bins, named)
            if self.size(path) != expected[path]:
                raise DataError(
                    f"The data have changed: some tests led to {expected[path]} rows in an earlier pass, and"
                    f" now to {self.size(path)}. Begin again, and let nothing write to them meanwhile. A"
                    " function must return all chunks anew each time it is called."
                )
        self._step()


def list_sides(path: Path, test: Condition) -> tuple[Path, Path]:
    """List the paths to both sides of a split, yes before no."""
    return (*path, (test, True)), (*path, (test, False))
