"""The first two principal components of the rows, for plots."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

FIT_ROWS = 100_000  # with more rows, the axes are fitted to a sample of this size


class Projection(NamedTuple):
    """Rows on their first two principal components.

    Attributes
    ----------
    places : ndarray of shape (n_rows, 2), float64
        Coordinates of the rows; the second is 0 where the rows have one component.
    shares : tuple of float
        The share of the variance of the rows along each of the two.
    """

    places: NDArray[np.float64]
    shares: tuple[float, float]


def project_on_components(X: NDArray[Any]) -> Projection:
    """Find the first two principal components; above 100 000 rows the axes are those of a sample."""
    rows = X
    if len(X) > FIT_ROWS:
        rows = X[np.random.default_rng(0).choice(len(X), FIT_ROWS, replace=False)]
    n_axes = min(2, *rows.shape)
    places = np.zeros((len(X), 2))
    if not np.ptp(rows, axis=0).any():
        places[:, :n_axes] = X[:, :n_axes]
        return Projection(places, (0.0, 0.0))
    found = PCA(n_axes, random_state=0).fit(rows)
    places[:, :n_axes] = found.transform(X)
    first, second = [*found.explained_variance_ratio_.tolist(), 0.0][:2]
    return Projection(places, (first, second))
