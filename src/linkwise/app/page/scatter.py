"""Coordinates of the rows in the plot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.data.columns.roles import Kind
from linkwise.errors import DataError
from linkwise.reasons.sentences import format_percent
from linkwise.session.row_maps import project_on_components

Places = NDArray[np.float32]
COMPARED = {"record": "compared columns", "text": "texts", "image": "images", "series": "curves"}


def project_rows(X: NDArray[Any], kind: Kind = "record") -> tuple[Places, str]:
    """Return the first two principal components within [-1, 1], and a sentence about them.

    Above 100 000 rows the axes are those of a sample. The sentence is empty if all rows are the same.
    """
    found = project_on_components(X)
    return scale_places(found.places), describe_axes(found.shares, kind)


def describe_axes(shares: tuple[float, float], kind: Kind) -> str:
    """Put into words what the plot shows, and how much of it; empty if all rows are the same.

    `shares` are those of the variance along each of the two axes.
    """
    across, up = (format_percent(share) for share in shares)
    if not any(shares):
        return ""
    return f"Axes: principal components of the {COMPARED[kind]} ({across} and {up} of the variance)."


def scale_places(places: ArrayLike, n_rows: int | None = None) -> Places:
    """Return coordinates moved and scaled by one factor into [-1, 1]."""
    given = np.asarray(places, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != 2 or (n_rows is not None and len(given) != n_rows):
        wanted = f"({'n_rows' if n_rows is None else n_rows}, 2)"
        raise DataError(f"places has the shape {given.shape}. Pass two coordinates for each row: {wanted}.")
    if not np.isfinite(given).all():
        raise DataError("places holds NaN or infinity. Pass two finite coordinates for each row.")
    low, high = given.min(axis=0), given.max(axis=0)
    middle, half = low / 2 + high / 2, float((high / 2 - low / 2).max())
    return np.ascontiguousarray((given - middle) / (half or 1.0), dtype=np.float32)
