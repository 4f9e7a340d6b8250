"""Fit ClusILC to all rows of a stream: in memory if the sample has all of them, and otherwise by passes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from linkwise.cluster.trees.clusilc import ClusILC, check_model, pose_problem, store_tree
from linkwise.cluster.trees.growth import LeafRows, search_tree
from linkwise.cluster.trees.tree import Tree
from linkwise.large.chunks import Chunk
from linkwise.large.item_summary import check_same_rows
from linkwise.large.named_rows import NamedStreamRows
from linkwise.large.passes import Scaling, Survey, scale_block
from linkwise.large.stream_models import fit_sample
from linkwise.large.stream_runs import RowSource
from linkwise.large.tree_passes import (
    Bins,
    Edges,
    StreamedLeaves,
    TreeProblem,
    column_slices,
    find_edges,
    read_bins,
)
from linkwise.types import Labels, Progress


class TreeAssignment(NamedTuple):
    """How a tree assigns rows."""

    scaling: Scaling
    tree: Tree

    def find_labels(self, block: Chunk) -> NDArray[np.int32]:
        """Find the cluster of each row of a block."""
        return self.tree.predict(scale_block(block, self.scaling))

    def list_arrays(self) -> list[NDArray[Any]]:
        """List what decides the cluster of each row."""
        tests = np.array([test or (-1, 0.0, False) for test in self.tree.tests], dtype=np.float64)
        return [self.scaling.offset, self.scaling.scale, tests, self.tree.yes, self.tree.no, self.tree.label]


class TreeRun(NamedTuple):
    """A fitted tree, and what it makes of all rows."""

    model: ClusILC
    n_sampled: int
    """Number of rows of the sample, with those that constraints name."""
    sizes: NDArray[np.int64]
    """(k,) rows of each cluster."""
    labels: Labels
    """Of the rows that constraints name."""


def fit_tree(
    model: ClusILC, source: RowSource, survey: Survey, named: NamedStreamRows, progress: Progress | None
) -> TreeRun:
    """Grow the tree of a model on all rows.

    Parameters
    ----------
    model : ClusILC
        The model, which is not changed.
    source : RowSource
        The rows.
    survey : Survey
        A sample of them.
    named : NamedStreamRows
        The rows that constraints name.
    progress : callable, optional
        ``progress(done, planned)`` is called after each pass.
    """
    numbers, fitted = np.union1d(survey.sample_rows, named.numbers), clone(model)
    if len(numbers) == survey.n_rows:
        fitted, _ = fit_sample(fitted, survey, named, source.named)
        sizes = np.bincount(fitted.labels_)
        del fitted.labels_, fitted.constraints_
    else:
        sizes = _grow(fitted, source, survey.sample, progress)
    labels = fitted.tree_.predict(source.named)
    fitted.n_clusters_ = len(sizes)
    broken = named.constraints.find_violations(labels) if len(labels) else ()
    fitted.violations_ = int(sum(each.sum() for each in broken))
    return TreeRun(fitted, len(numbers), sizes, labels)


def _grow(
    model: ClusILC, source: RowSource, sample: NDArray[np.float32], progress: Progress | None
) -> NDArray[np.int64]:
    """Grow the tree of a model by passes; return the sizes of its clusters."""
    check_model(model, sample, source.n_rows)
    step, edges = partial(_report, model, progress, count(1)), find_edges(sample, source.named)
    (root,) = read_bins(source, edges, ((),))
    step()
    check_same_rows(root.n_rows(edges) + len(source.named), source.n_rows)
    tests, factor, squares = _describe_columns(source, model.standardize, edges, root)
    leaves: list[StreamedLeaves] = []

    def describe(place: NDArray[np.int32], tie: float) -> LeafRows:
        problem = TreeProblem(source, edges, tests, factor, place, model.min_samples_leaf, tie)
        leaves.append(StreamedLeaves(problem, root, step))
        return leaves[0].describe(())

    problem = pose_problem(model, describe, source.n_rows, squares, source.constraints)
    found = search_tree(problem, None)
    store_tree(model, problem, found)
    tree = model.tree_
    sizes = np.zeros(int(tree.label.max()) + 1, dtype=np.int64)
    np.add.at(sizes, tree.label[tree.leaves], [leaves[0].size(leaf.path) for leaf in found.leaves])
    return sizes


def _describe_columns(
    source: RowSource, standardize: bool, edges: Edges, root: Bins
) -> tuple[tuple[int, ...], NDArray[np.float64], float]:
    """Find the columns that vary, the factors of the features, and the sum of squares of all rows."""
    varies = np.zeros(len(edges), dtype=bool)
    for column, here in enumerate(column_slices(edges)):
        own = source.named[:, column]
        varies[column] = np.append(root.low[here], own).min() < np.append(root.high[here], own).max()
    squares = np.where(varies, source.variance * source.n_rows, 0.0)
    factor = varies / np.sqrt(np.maximum(squares, np.finfo(np.float64).tiny)) if standardize else varies * 1.0
    tests = tuple(np.flatnonzero(varies).tolist()) or (0,)
    return tests, factor, float((squares * factor**2).sum())


def _report(model: ClusILC, progress: Progress | None, counter: Iterator[int]) -> None:
    done = next(counter)
    if progress is not None:
        progress(done, max(done, model.max_leaves or done))
