"""Walk over rows by density: OPTICS, and the spanning tree of mutual reachability distances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwise.native._native as library

MOST_NEAR = 64  # a longer list of near rows for each takes too much memory
SHARE = (
    0.15  # measured: at .14 of all rows (30 features) a search saves half of the time, at .16 (50) nothing
)


class DensityWalk(NamedTuple):
    """The rows in the order of a walk."""

    order: NDArray[np.int64]
    """(n,) rows."""
    before: NDArray[np.int64]
    """(n,) the row that each was reached from; -1 for the first."""
    reach: NDArray[np.float64]
    """(n,) the distance at which it was reached; infinite for the first."""


class WalkFromDensest(NamedTuple):
    """A walk, and what it goes by."""

    core: NDArray[np.float64]
    """(n,) squared core distances."""
    walk: DensityWalk
    """It begins at the first of the densest rows."""


def density_walk(
    X: NDArray[Any], core: NDArray[np.float64], start: int, n_threads: int, *, mutual: bool
) -> DensityWalk:
    """Name what `_native.density_walk` returns."""
    return DensityWalk(*library.density_walk(X, core, start, mutual, n_threads))


def walk_from_densest(
    X: NDArray[Any], k: int, n_threads: int, *, mutual: bool, share: float = SHARE
) -> WalkFromDensest:
    """Return `core_squares` and the `density_walk` from the densest row, sooner where rows have few features.

    `_native.span_walk` finds the same walk by searches of near rows, if each looks at little: at most at a
    share of all rows. Otherwise all distances are computed. Equal rows that follow each other are looked at
    once.
    """
    if k <= MOST_NEAR:
        found = library.span_walk(X, k, mutual, share, n_threads)
        if found is not None:
            return WalkFromDensest(found[0], DensityWalk(*found[1:]))
    core = library.core_squares(X, k, n_threads)
    return WalkFromDensest(core, density_walk(X, core, int(core.argmin()), n_threads, mutual=mutual))
