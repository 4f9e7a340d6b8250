"""Iterated conditional modes for rows with constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.native._checks import check_array, check_count
from linkwise.native.library import library

Pairs = NDArray[np.int32]
Table = NDArray[np.float64]


def conditional_modes(
    costs: Table,
    labels: NDArray[np.int32],
    must: Pairs,
    must_penalty: Table,
    cannot: Pairs,
    cannot_penalty: Table,
    group: NDArray[np.int32],
    order: NDArray[np.int32],
    max_sweeps: int,
) -> NDArray[np.int32]:
    """Move rows, and whole components of rows, to where they cost least, until none can gain.

    A clustering costs the sum of ``costs[i, label of i]``, for each must-link p between clusters g and h
    ``(must_penalty[p, g] + must_penalty[p, h]) / 2``, and for each cannot-link p within a cluster h
    ``cannot_penalty[p, h]``. No step raises it. Time O(sweeps (m + pairs) k); one thread, since each choice
    depends on those before.

    Parameters
    ----------
    costs : (m, k) float64
        Cost of each label for each row.
    labels : (m,) int32
        First label of each row, 0 to k - 1.
    must, cannot : (p, 2), (q, 2) int32
        Rows of each pair; must-links only within components.
    must_penalty, cannot_penalty : (p, 1 or k), (q, 1 or k) float64
        One column: the same in every cluster.
    group : (m,) int32
        Component of each row, 0, 1, ...
    order : (m,) int32
        The order of the rows.
    max_sweeps : int, at least 1
        Largest number of sweeps.

    Returns
    -------
    (m,) int32
        Label of each row.
    """
    check_array("costs", costs, (None, None))
    m, k = costs.shape
    for name, rows, bound in (("labels", labels, k), ("group", group, m), ("order", order, m)):
        check_array(name, rows, (m,), np.int32)
        _check_below(name, rows, bound)
    _check_pairs("must", must, must_penalty, m, k)
    _check_pairs("cannot", cannot, cannot_penalty, m, k)
    check_count("max_sweeps", max_sweeps)
    return library.conditional_modes(
        costs, labels, must, must_penalty, cannot, cannot_penalty, group, order, max_sweeps
    )


def _check_pairs(name: str, pairs: Pairs, penalty: Table, m: int, k: int) -> None:
    check_array(name, pairs, (len(pairs), 2), np.int32)
    _check_below(name, pairs, m)
    columns = 1 if penalty.ndim == 2 and penalty.shape[1] == 1 else k
    check_array(f"{name}_penalty", penalty, (len(pairs), columns))


def _check_below(name: str, values: NDArray[Any], bound: int) -> None:
    if values.size and (values.min() < 0 or values.max() >= bound):
        raise ValueError(f"{name} holds {values.min()} to {values.max()}. Give 0 to {bound - 1}.")
