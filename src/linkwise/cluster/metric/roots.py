"""Compute roots of positive semidefinite matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def matrix_root(matrix: Array) -> Array:
    """Compute the symmetric positive semidefinite L with LL = `matrix`; of all roots it moves rows least."""
    value, vector = np.linalg.eigh((matrix + matrix.T) / 2)
    found: Array = (vector * np.sqrt(np.maximum(value, 0))) @ vector.T
    return found


def inverse_matrix_root(matrix: Array) -> Array:
    """Compute the symmetric L with LL the inverse of a positive definite `matrix`."""
    value, vector = np.linalg.eigh((matrix + matrix.T) / 2)
    found: Array = (vector / np.sqrt(value)) @ vector.T
    return found
