"""Border rows of groups: rows that a person is asked about beside the medoids.

A group may be mixed: it is the rows nearest to one centre, and k-means knows no classes. So the row farthest
from the centre is asked about, too, if it lies far enough. Where the answers put it apart from the medoid,
the rows of the group are divided (`linkwise.large.mixed_groups`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.large.group_totals import GROUP, N_BORDER, GroupCenters, GroupTotals

WIDE = 2.0  # times as far as the limit of a typical group
SHARE = 10  # groups for each border row, at least
MOST_ROWS = 2000  # up to which KIN can ask about each


class Entries(NamedTuple):
    """Rows that are asked about: the medoids of groups, then border rows."""

    arrays: dict[str, NDArray[Any]]
    """Arrays of `Summary` for them. A border row is no group, so its size is 0."""
    parents: NDArray[np.int64]
    """The group of each border row, counted from the first of these; -1 for medoids."""
    frame: Any
    """The rows with all columns."""


def list_entries(
    totals: GroupTotals, centers: GroupCenters, limits: NDArray[np.float64], n_others: int
) -> Entries:
    """List the groups that have rows, and the border rows that are asked about.

    `limits` tell how far from each centre a row fits its group. `n_others` rows are asked about beside
    these.
    """
    used = np.flatnonzero(totals.sizes)
    room = max(0, MOST_ROWS - n_others - len(used))
    chosen = _choose(totals, used, limits, min(len(used) // SHARE, room))
    far, n = used[chosen], len(chosen)
    free = np.full((n, N_BORDER), -1)
    arrays = {
        "centers": np.concatenate([centers.points[used], totals.far_rows[far]]),
        "sizes": np.concatenate([totals.sizes[used], np.zeros(n, dtype=np.int64)]),
        "spread": np.concatenate([totals.squares[used] / totals.sizes[used], np.zeros(n)]),
        "limits": np.concatenate([limits[used], np.zeros(n)]),
        "X": np.concatenate([totals.rows[used], totals.far_rows[far]]),
        "medoid_rows": np.concatenate([totals.medoid[used], totals.border[far, 0]]),
        "border_rows": np.concatenate([totals.border[used], free]),
    }
    frame = totals.frame.sort(GROUP).drop(GROUP)  # the farthest rows come after the medoids
    taken = np.concatenate([np.arange(len(used)), len(used) + chosen])
    return Entries(arrays, np.concatenate([np.full(len(used), -1), chosen]), frame[taken])


def _choose(
    totals: GroupTotals, used: NDArray[np.int64], limits: NDArray[np.float64], most: int
) -> NDArray[np.int64]:
    """Positions in `used` of the groups whose farthest row lies beyond their limit or a wide one."""
    far, limit = np.sqrt(np.maximum(totals.border_squares[used, 0], 0.0)), limits[used]
    is_far = (far > limit) | (far > WIDE * float(np.median(limit)))
    near_rows, far_rows = (rows[used].astype(np.float32) for rows in (totals.rows, totals.far_rows))
    is_far &= (near_rows != far_rows).any(axis=1)  # others may be the same row, or an equal one
    candidates = np.flatnonzero(is_far)
    ratio = far[candidates] / limit[candidates]
    return np.sort(candidates[np.argsort(-ratio, kind="stable")[:most]])
