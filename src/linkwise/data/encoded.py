"""Rows as numbers, and the way back to what they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwise.data.new_rows import encoded_alike
from linkwise.data.roles import Role


@dataclass(frozen=True)
class Feature:
    """One column of the matrix, and the way back to the table's units.

    Attributes
    ----------
    name : str
        The source column, with "=category" where it is one of several made from that column.
    source : str
        Column of the table.
    category : str or None
        For a column of 0 and 1: the value that 1 stands for.
    role : str
        numeric, category or date (a date is in days since 1970-01-01 in original units); document for a
        topic of texts, sample for a value of curves, image for what is measured of pictures.
    offset, scale : float
        Original value = `offset + scale * X[:, j]`.
    categories : tuple of str
        For a column of codes: the values that 0, 1, ... stand for.
    unit : str
        ``days`` for durations, ``UTC`` for moments that have a time zone.
    """

    name: str
    source: str
    category: str | None
    role: Role
    offset: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as numbers.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), float64, C-contiguous
    features : tuple of Feature
    notes : tuple of str
        What was done, in sentences.
    """

    X: NDArray[np.float64]
    features: tuple[Feature, ...]
    notes: tuple[str, ...]

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("what encode() gives is no array; give its X: encode(table).X")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Name of each column of `X`."""
        return tuple(feature.name for feature in self.features)

    @property
    def nominal(self) -> tuple[int, ...]:
        """The columns of `X` that hold codes of categories, as `linkwise.ClusILC` takes them."""
        return tuple(at for at, feature in enumerate(self.features) if feature.categories)

    def transform(self, rows: Any) -> NDArray[np.float64]:
        """New rows as numbers, encoded as the table was.

        Parameters
        ----------
        rows : Table or DataFrame
            With the columns of the table; one row is enough. A word that was not in the table is none of
            its categories.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Raises
        ------
        DataError
            A column is not there, or holds words in place of numbers, or values are missing or infinite.
        """
        return encoded_alike(self.features, rows)
