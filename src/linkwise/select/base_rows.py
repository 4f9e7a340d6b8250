"""Choose the rows to cluster: one of identical rows, and a sample of very many."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.constraints.closure import find_components
from linkwise.constraints.constraints import Constraints
from linkwise.rng import rng_at


class BaseRows(NamedTuple):
    """The rows to cluster, and the one of them that every row follows."""

    rows: NDArray[np.int64]
    """(m,) base rows, ascending, no two of them identical."""
    weight: NDArray[np.int64]
    """(m,) how many rows each stands for: those identical to it, in the sample where one was drawn."""
    of: NDArray[np.int32]
    """(n,) for each row the base row (0 to m - 1) that it follows: an identical one, or the nearest."""
    sampled: bool
    """Whether there are rows without an identical base row."""


def find_base_rows(X: NDArray[Any], max_rows: int, seed: int, n_threads: int) -> BaseRows:
    """Find all distinct rows, or draw a sample if there are more than `max_rows`, as in `build_pool`."""
    sample = _draw_sample(X, max_rows, seed)
    if not sample.sampled:
        return sample
    nearest, _ = native.nearest_points(X, X[sample.rows].astype(np.float64), n_threads)
    return sample._replace(of=nearest.astype(np.int32))


def count_base_rows(X: NDArray[Any], max_rows: int, seed: int) -> int:
    """Count the rows that `find_base_rows` returns."""
    return len(_draw_sample(X, max_rows, seed).rows)


def _draw_sample(X: NDArray[Any], max_rows: int, seed: int) -> BaseRows:
    """Draw a sample, without the assignment of the other rows."""
    n = len(X)
    if n <= max_rows:
        return _find_distinct(X)
    drawn = np.sort(rng_at(seed).choice(n, max_rows, replace=False))
    sample = _find_distinct(X[drawn])
    if len(sample.rows) < max_rows:  # with copies about, the distinct rows may be few
        whole = _find_distinct(X)
        if len(whole.rows) <= max_rows:
            return whole
    return BaseRows(drawn[sample.rows], sample.weight, np.empty(0, dtype=np.int32), sampled=True)


def _find_distinct(X: NDArray[Any]) -> BaseRows:
    _, first, of, count = np.unique(X, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty(len(first), dtype=np.int32)
    place[order] = np.arange(len(first))
    return BaseRows(first[order], count[order], place[of.ravel()], sampled=False)


def restrict_to_base_rows(constraints: Constraints, base: NDArray[np.int32], n_base: int) -> Constraints:
    """Restrict constraints to the clustered rows, where each row follows one of these.

    Cannot-links between rows that then coincide or are joined are dropped.
    """
    must, cannot = (
        base[pairs].astype(np.int64) for pairs in (constraints.must_link, constraints.cannot_link)
    )
    joins = must[:, 0] != must[:, 1]
    part = find_components(n_base, must[joins])
    keeps = part[cannot[:, 0]] != part[cannot[:, 1]]
    return Constraints(
        n_base,
        must[joins],
        cannot[keeps],
        must_link_weight=constraints.must_link_weight[joins],
        cannot_link_weight=constraints.cannot_link_weight[keeps],
    )
