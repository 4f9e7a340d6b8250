"""Extremely randomised trees: leaves that rows share, mixtures of kernels with them, and estimated values."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

BESIDE = 128  # rows of a block


class PackedLeaves(NamedTuple):
    """The leaves of each row as bytes, as many for each tree as tell its leaves apart."""

    of_tree: NDArray[np.int32]
    """(t,) bytes of each tree."""
    row: NDArray[np.uint8]
    """(n, b) row by row."""
    block: NDArray[np.uint8]
    """(n / 128, b, 128) the same in blocks of rows, byte by byte; the last block ends in zeros."""


NO_LEAVES = PackedLeaves(
    np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.uint8), np.empty((0, 0, BESIDE), dtype=np.uint8)
)


class ForestShare(NamedTuple):
    """What a mixture takes from a forest."""

    leaves: PackedLeaves
    kept: np.float32
    """Factor of all else."""
    factor: np.float32
    """Factor of the number of trees in which two rows share a leaf."""


NO_FOREST = ForestShare(NO_LEAVES, np.float32(1), np.float32(0))


class ValueTrees(NamedTuple):
    """Trees that estimate a value, with the nodes of all one after the other."""

    start: NDArray[np.int64]
    """(t + 1,) where the nodes of each tree begin."""
    feature: NDArray[np.int32]
    """Feature of each node, -1 at a leaf."""
    threshold: NDArray[np.float64]
    """A row goes left if its feature is at most this."""
    left: NDArray[np.int32]
    """Left child, counted from the first node of the tree."""
    right: NDArray[np.int32]
    """Right child."""
    value: NDArray[np.float64]
    """Weighted mean of the rows of each node."""

    def estimate(self, rows: NDArray[np.float32], n_threads: int) -> NDArray[np.float64]:
        """Return the mean over the trees for each row."""
        return library.apply_value_trees(rows, *self, n_threads)


def random_trees(
    rows: NDArray[np.float64],
    items: NDArray[np.int64],
    home: NDArray[np.int64],
    n_trees: int,
    seed: int,
    n_threads: int,
    max_features: int | None = None,
) -> NDArray[np.int32]:
    """Call `_native.random_trees`, by default with ⌊√d⌋ features that are tried."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed must be 0 to 2**64 - 1, got {seed}")
    tried = isqrt(rows.shape[1]) if max_features is None else max_features
    return library.random_trees(rows, items, home, n_trees, seed, tried, n_threads)


def weighted_trees(
    rows: NDArray[np.float64],
    items: NDArray[np.int64],
    home: NDArray[np.int64],
    weights: NDArray[np.int32],
    seeds: NDArray[np.uint64],
    n_threads: int,
    max_features: int | None = None,
) -> NDArray[np.int32]:
    """Call `_native.weighted_trees`, by default with ⌊√d⌋ features that are tried."""
    tried = isqrt(rows.shape[1]) if max_features is None else max_features
    return library.weighted_trees(rows, items, home, weights, seeds, tried, n_threads)


def grow_value_trees(
    rows: NDArray[np.float32],
    value: NDArray[np.float64],
    weight: NDArray[np.float64],
    sign: NDArray[np.int8],
    *,
    n_trees: int,
    max_features: int,
    min_leaf: int,
    seed: int,
    n_threads: int,
) -> tuple[ValueTrees, NDArray[np.float64]]:
    """Grow trees, and estimate the value of each row by those that have not seen it (NaN without one)."""
    grown = library.grow_value_trees(
        rows, value, weight, sign, n_trees, max_features, min_leaf, seed, n_threads
    )
    return ValueTrees(*grown[:-1]), grown[-1]


def pack_leaves(leaves: NDArray[np.int32]) -> PackedLeaves:
    """Name what `_native.pack_leaves` returns."""
    return PackedLeaves(*library.pack_leaves(leaves))


def shared_leaves(leaves: PackedLeaves, rows: NDArray[np.int64], n_threads: int) -> NDArray[np.uint8]:
    """Call `_native.shared_leaves` with packed leaves."""
    return library.shared_leaves(*leaves, rows, n_threads)


def mix_lower(
    out: NDArray[np.float32],
    mean: NDArray[np.float32],
    families: Sequence[NDArray[np.uint16]],
    factors: NDArray[np.float32],
    forest: ForestShare | None,
    n_threads: int,
) -> None:
    """Call `_native.mix_lower` with the factors, (1 + f,), of the first kernel and of f further ones."""
    leaves, kept, factor = NO_FOREST if forest is None else forest
    library.mix_lower(
        out, mean, factors[0], list(families), factors[1:], *leaves, float(kept), float(factor), n_threads
    )
