"""How far the rows of groups lie from their centres, and which other rows fit none of the groups.

A row fits a group if it lies at most `MARGIN` times as far from the centre as 99 of 100 rows of that group,
or of a typical one. Distances are counted in bins, so what is found is the same for any chunks and workers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.large.nearest import nearest_centers

MARGIN = 1.5
ONE_IN = 100  # rows of a group that lie farther than its reach
ENOUGH = 20  # rows of a group whose distances say what is typical
N_BINS = 64  # each for squared distances up to the root of 2 times as large as in the bin before
ROOT = np.sqrt(0.5)
ROUNDING = 1e-6  # relative error of rows in 32 bits


def find_unit(mean_square: float) -> int:
    """Choose the power of 2 in the middle of the bins: a mean squared distance."""
    return int(np.frexp(mean_square)[1]) if 0 < mean_square < np.inf else 0


def count_distances(
    of: NDArray[np.int64], square: NDArray[np.float64], k: int, unit: int
) -> NDArray[np.int64]:
    """Count the rows of each group by their squared distance, in `N_BINS` bins."""
    mantissa, exponent = np.frexp(square)
    places = 2 * (exponent.astype(np.int64) - unit) + (mantissa >= ROOT) + N_BINS // 2
    places = np.where(square > 0, np.clip(places, 0, N_BINS - 1), 0)
    return np.bincount(N_BINS * of + places, minlength=N_BINS * k).reshape(k, N_BINS)


def find_reach(counts: NDArray[np.int64], farthest: NDArray[np.float64], unit: int) -> NDArray[np.float64]:
    """Find the distance within which 99 of 100 rows of each group lie, up to the width of a bin.

    `counts` is the result of `count_distances`, `farthest` has the squared distance of the farthest row
    of each group, and `unit` is the power of 2 in the middle of the bins. With fewer than 100 rows it is
    the distance of the farthest row.
    """
    sizes = counts.sum(axis=1)
    place = (counts.cumsum(axis=1) < (sizes - sizes // ONE_IN)[:, None]).sum(axis=1)
    edges = np.ldexp(np.tile([ROOT, 1.0], N_BINS // 2), unit - N_BINS // 4 + np.arange(N_BINS) // 2)
    edges[-1] = np.inf
    return np.asarray(np.sqrt(np.minimum(edges[np.minimum(place, N_BINS - 1)], np.maximum(farthest, 0.0))))


def find_limits(
    reach: NDArray[np.float64],
    sizes: NDArray[np.int64],
    centers: NDArray[np.float64],
    typical: float | None = None,
) -> NDArray[np.float64]:
    """Find how far from the centre of each group a row still fits it.

    No limit is below that of a typical group, so groups of few rows, or of equal rows, have one, too. By
    default that is the median over those with at least `ENOUGH` rows that are not all equal; without any
    half the median distance from a centre to its nearest other centre.
    """
    if typical is None:
        own = MARGIN * reach[(sizes >= ENOUGH) & (reach > 0)]
        typical = float(np.median(own)) if own.size else _half_way(centers)
    return np.maximum(np.maximum(MARGIN * reach, typical), ROUNDING * float(np.abs(centers).max(initial=0.0)))


def _half_way(centers: NDArray[np.float64]) -> float:
    """Half the median distance from a centre to its nearest other one."""
    between = native.squared_distances(centers, centers, parallel.n_threads())
    between[between == 0] = np.inf  # itself, and equal ones
    nearest = between.min(axis=1, initial=np.inf)
    known = np.sqrt(nearest[np.isfinite(nearest)])
    return float(np.median(known)) / 2 if known.size else 0.0


class NearestGroups(NamedTuple):
    """The nearest centre of each row, and whether the row fits any of the groups."""

    nearest: NDArray[np.int64]
    fits: NDArray[np.bool_]


def place_rows(
    rows: NDArray[np.float32], centers: NDArray[np.float64], limits: NDArray[np.float64]
) -> NearestGroups:
    """Find the nearest centre of each scaled row, and whether the row lies within the limit of any group."""
    nearest, square = nearest_centers(rows, centers)
    fits = square <= np.square(limits[nearest])
    rest = np.flatnonzero(~fits)
    if (
        rest.size
    ):  # the limit of a farther group may be wider: add a column, so that a distance tells how much
        widest = float(limits.max())
        height = np.sqrt(np.maximum(widest**2 - np.square(limits), 0.0))
        raised = np.ascontiguousarray(np.column_stack([centers, height]))
        flat = np.ascontiguousarray(np.column_stack([rows[rest].astype(np.float64), np.zeros(len(rest))]))
        fits[rest] = nearest_centers(flat, raised)[1] <= widest**2
    return NearestGroups(nearest, np.asarray(fits))
