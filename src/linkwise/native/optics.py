"""Walk over rows by density: OPTICS, and the spanning tree of mutual reachability distances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count, check_row_array
from linkwise.native.library import library


def core_squares(X: NDArray[Any], k: int, n_threads: int) -> NDArray[np.float64]:
    """Compute the squared distance of each row to its k-th nearest row, itself the first.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    k : int, 1 to n
        Number of the neighbour, the row itself included.
    n_threads : int, at least 1
        Number of threads; it does not change the result.

    Returns
    -------
    (n,) float64
        Squares are summed in the order of the features. Time O(n² d), memory O(n d).
    """
    check_row_array(X)
    check_count("k", k)
    check_count("n_threads", n_threads)
    if k > len(X):
        raise ValueError(f"k={k}, but there are {len(X)} rows. Use k at most {len(X)}.")
    return library.core_squares(X, k, n_threads)


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


def density_walk(
    X: NDArray[Any], core: NDArray[np.float64], start: int, n_threads: int, *, mutual: bool
) -> DensityWalk:
    """Visit all rows, next always the one that is reached at the least distance.

    Of equally near rows the first comes first; if a row is reached from several rows at the same distance,
    the earliest counts.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows.
    core : (n,) float64
        Squared core distances, see `core_squares`.
    start : int
        The first row.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    mutual : bool
        A row o is reached from p at the larger of the core distance of p and the distance: the walk of
        OPTICS. If `mutual`, at the largest of both core distances and the distance: a minimum spanning tree.

    Returns
    -------
    Walk
        Time O(n² d), memory O(n d).

    References
    ----------
    Ankerst, Breunig, Kriegel and Sander (1999), OPTICS: ordering points to identify the clustering structure.
    Campello, Moulavi and Sander (2013), Density-based clustering based on hierarchical density estimates.
    """
    check_row_array(X)
    check_array("core", core, (len(X),))
    check_count("n_threads", n_threads)
    if not 0 <= start < len(X):
        raise ValueError(f"start={start}, but the rows are 0 to {len(X) - 1}.")
    return DensityWalk(*library.density_walk(X, core, start, mutual, n_threads))


class WalkFromDensest(NamedTuple):
    """A walk, and what it goes by."""

    core: NDArray[np.float64]
    """(n,) squared core distances."""
    walk: DensityWalk
    """It begins at the first of the densest rows."""


def walk_from_densest(
    X: NDArray[Any], k: int, n_threads: int, *, mutual: bool, share: float = SHARE
) -> WalkFromDensest:
    """Return `core_squares` and the `density_walk` from the densest row, sooner where rows have few features.

    Of 64 rows the nearest are searched in a tree of boxes. If this looks at little, the same walk is found by
    such searches: Borůvka's minimum spanning tree and the rows within each core distance contain every edge
    that the walk can take. Otherwise, and where hundreds of rows tie, all distances are computed.

    Parameters
    ----------
    X : (n, d) float32 or float64, C-contiguous
        The rows. Equal rows that follow each other are looked at once.
    k : int, 1 to n
        Number of the neighbour that gives the core distance, the row itself included.
    n_threads : int, at least 1
        Number of threads; it does not change the result.
    mutual : bool
        As for `density_walk`.
    share : float
        Most of the rows that a search may look at; it does not change the result.

    Returns
    -------
    WalkFromDensest
        Time about O(n log n) for few features, and O(n² d) for many; memory O(n (d + k)).

    References
    ----------
    March, Ram and Gray (2010), Fast Euclidean minimum spanning tree: algorithm, analysis, and applications.
    McInnes and Healy (2017), Accelerated hierarchical density based clustering.
    """
    check_row_array(X)
    check_count("k", k)
    check_count("n_threads", n_threads)
    if k <= min(MOST_NEAR, len(X)):
        found = library.span_walk(X, k, mutual, share, n_threads)
        if found is not None:
            core, order, before, reach = found
            return WalkFromDensest(core, DensityWalk(order, before, reach))
    core = core_squares(X, k, n_threads)
    return WalkFromDensest(core, density_walk(X, core, int(core.argmin()), n_threads, mutual=mutual))
