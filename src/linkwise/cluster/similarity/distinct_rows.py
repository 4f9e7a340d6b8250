"""Merge identical rows, center them, and scale their columns, for methods that use features only."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from linkwise.cluster.metric.differences import feature_spreads, find_common_unit, replace_zeros

Array = NDArray[np.float64]


class DistinctRows(NamedTuple):
    """Distinct rows with their counts, so that rounding never separates identical rows."""

    Z: Array
    """(m, d') the distinct rows, without the columns that never vary; one column of 0 where none does."""
    weight: NDArray[np.int64]
    """(m,) rows of each."""
    number: NDArray[np.int64]
    """(n,) distinct row of each row."""
    columns: NDArray[np.int64]
    """(d',) columns that vary."""
    mean: Array
    """(d',)"""
    unit: Array
    """(d',)"""
    axes: Array | None = None
    """(d', c) unit vectors by which rows are seen, where there were too many columns; Z is (m, c) then."""

    def transform(self, X: NDArray[Any]) -> Array:
        """Transform other rows in the same way."""
        seen: Array = (X[:, self.columns].astype(np.float64) - self.mean) / self.unit
        return seen if self.axes is None else seen @ self.axes

    def reduce_to_components(self, most: int) -> DistinctRows:
        """Replace more than `most` columns by their first principal components."""
        if self.Z.shape[1] <= most:
            return self
        axes = principal_axes(self.Z, self.weight, most)
        return self._replace(Z=self.Z @ axes, axes=axes)


def principal_axes(Z: Array, weight: NDArray[np.int64], most: int) -> Array:
    """Compute at most `most` principal axes, (d, c), of weighted rows about their mean."""
    rows = np.sqrt(weight)[:, None] * Z
    wide = Z.shape[1] > len(Z)  # then the products of rows with each other are fewer than those of columns
    products = rows @ rows.T if wide else rows.T @ rows
    least = max(len(products) - most, 0)
    values, vectors = eigh(products, subset_by_index=(least, len(products) - 1))
    spanned = values > values[-1] * max(Z.shape) * np.finfo(np.float64).eps
    found: Array = vectors[:, spanned][:, ::-1]
    return rows.T @ found / np.sqrt(values[spanned][::-1]) if wide else found


def merge_identical_rows(X: NDArray[Any], *, standardized: bool, centered: bool = True) -> DistinctRows:
    """Merge identical rows and scale columns to unit standard deviation, or all by one unit.

    Unless `centered`, no mean is subtracted, and columns that never vary stay.
    """
    _, first, number, weight = np.unique(
        X + X.dtype.type(0), axis=0, return_index=True, return_inverse=True, return_counts=True
    )  # -0.0 is 0.0
    columns = np.flatnonzero(X.min(axis=0) != X.max(axis=0)) if centered else np.arange(X.shape[1])
    if not len(columns):
        columns = np.zeros(1, dtype=np.int64)
    varying = X[:, columns]
    spread = feature_spreads(varying)
    unit = replace_zeros(spread) if standardized else np.full(len(columns), find_common_unit(varying))
    mean = np.where(spread > 0, varying.mean(axis=0, dtype=np.float64), varying[0])
    mean = mean if centered else np.zeros(len(columns))
    found = DistinctRows(np.empty((0, 0)), weight, number.ravel(), columns, mean, unit)
    return found._replace(Z=np.ascontiguousarray(found.transform(X[first])))
