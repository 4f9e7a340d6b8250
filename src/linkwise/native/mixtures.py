"""Mixtures of kernels: symmetric tables of float32, of which the lower triangle counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_writable
from linkwise.native.forest import NO_LEAVES, PackedLeaves, check_leaves
from linkwise.native.library import library

Matrix = NDArray[np.float32]


class ForestShare(NamedTuple):
    """What a mixture takes from a forest."""

    leaves: PackedLeaves
    kept: np.float32
    """Factor of all else."""
    factor: np.float32
    """Factor of the number of trees in which two rows share a leaf."""


NO_FOREST = ForestShare(NO_LEAVES, np.float32(1), np.float32(0))


def pack_lower(table: Matrix, divisor: np.float32) -> NDArray[np.uint16]:
    """Divide a symmetric table, and keep the values from 0 to 1 in units of 1 / 65535.

    Parameters
    ----------
    table : (n, n) float32, C-contiguous
        What is below its diagonal counts.
    divisor : float32

    Returns
    -------
    (n, n) uint16
        Symmetric, with ones on its diagonal.
    """
    check_array("table", table, (len(table), len(table)), np.float32)
    return library.pack_lower(table, float(divisor))


def mix_lower(
    out: Matrix,
    mean: Matrix,
    families: Sequence[NDArray[np.uint16]],
    factors: NDArray[np.float32],
    forest: ForestShare | None,
    n_threads: int,
) -> None:
    """Add up kernels, with a factor each, and mix a forest into the sum.

    Parameters
    ----------
    out : (n, n) float32, C-contiguous
        Its lower triangle, diagonal included, is written; the rest stays.
    mean : (n, n) float32, C-contiguous
        The first kernel.
    families : sequence of (n, n) uint16, C-contiguous
        Further ones.
    factors : (1 + number of families,) float32
        Of the first kernel and of the further ones.
    forest : ForestShare or None
        What is mixed in last.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    """
    shape = (len(mean), len(mean))
    check_array("mean", mean, shape, np.float32)
    check_array("out", out, shape, np.float32)
    check_writable("out", out)
    for each in families:
        check_array("families", each, shape, np.uint16)
    check_array("factors", factors, (1 + len(families),), np.float32)
    check_count("n_threads", n_threads)
    if forest is not None:
        check_leaves(forest.leaves)
        check_array("row", forest.leaves.row, (len(mean), forest.leaves.row.shape[1]), np.uint8)
    leaves, kept, factor = NO_FOREST if forest is None else forest
    library.mix_lower(
        out,
        mean,
        float(factors[0]),
        list(families),
        factors[1:],
        *leaves,
        float(kept),
        float(factor),
        n_threads,
    )
