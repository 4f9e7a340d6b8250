"""Choose among values that may be equal but for rounding errors, which differ between processors."""

from __future__ import annotations

import numpy as np

from linkwise.learn.kin.kernels import Rows, Table


def first_largest(values: Table, decimals: int = 9) -> Rows:
    """Find the largest value of each row, the first one of those that are equal.

    Parameters
    ----------
    values : ndarray of shape (..., k)
    decimals : int
        Values that are equal when rounded to so many decimals count as equal.
    """
    return np.asarray(values.round(decimals).argmax(axis=-1))
