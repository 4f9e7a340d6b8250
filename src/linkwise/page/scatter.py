"""Coordinates of the rows in the plot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.errors import DataError
from linkwise.session.projection import project_on_components

Places = NDArray[np.float32]


def project_rows(X: NDArray[Any]) -> Places:
    """Return the first two principal components, of shape (n_rows, 2), within [-1, 1].

    Above 100 000 rows the axes are those of a sample.
    """
    return scale_places(project_on_components(X).places)


def scale_places(places: ArrayLike, n_rows: int | None = None) -> Places:
    """Return coordinates moved and scaled by one factor into [-1, 1]."""
    given = np.asarray(places, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != 2 or (n_rows is not None and len(given) != n_rows):
        wanted = f"({'n_rows' if n_rows is None else n_rows}, 2)"
        raise DataError(f"places has the shape {given.shape}. Give two coordinates for each row: {wanted}.")
    if not np.isfinite(given).all():
        raise DataError("places holds NaN or infinity. Give two finite coordinates for each row.")
    low, high = given.min(axis=0), given.max(axis=0)
    middle, half = low / 2 + high / 2, float((high / 2 - low / 2).max())
    return np.ascontiguousarray((given - middle) / (half or 1.0), dtype=np.float32)
