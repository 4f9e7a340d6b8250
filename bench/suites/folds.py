"""Split rows into those that questions and constraints may be about, and those that are only scored."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def split_folds(n_rows: int, n_folds: int, repetition: int = 0) -> list[Rows]:
    """Return the test rows of each fold of one repetition of a cross-validation.

    Parameters
    ----------
    n_rows : int
    n_folds : int
        The folds differ in size by one row at most.
    repetition : int, default=0
        Its number is the seed: each repetition splits in another way.

    Returns
    -------
    list of n_folds ndarrays
        Positions of rows, ascending.

    Raises
    ------
    ValueError
        There are fewer rows than folds, or fewer than two folds.
    """
    if not 2 <= n_folds <= n_rows:
        raise ValueError(f"{n_rows} rows cannot be split into {n_folds} folds. Pass 2 to {n_rows} folds.")
    order = np.random.default_rng([repetition, n_rows]).permutation(n_rows)
    return [np.sort(part) for part in np.array_split(order, n_folds)]


def draw_rows(n_rows: int, share: float, rng: np.random.Generator) -> Rows:
    """Draw a share of the rows, the ones that may be in constraints.

    Parameters
    ----------
    n_rows : int
    share : float
        From 0 to 1.
    rng : Generator

    Returns
    -------
    ndarray of int64
        Positions of the drawn rows, ascending.

    Raises
    ------
    ValueError
        `share` is no number from 0 to 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share={share!r} is not from 0 to 1.")
    return np.sort(rng.permutation(n_rows)[: round(share * n_rows)])
