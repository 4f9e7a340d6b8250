"""Replace must-linked rows by one weighted point: k-means of the points is k-means of the rows.

The sum of squares about any centre is that of the weighted means plus the sum within the components, which is
the same for every clustering that does not split them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from linkwise.cluster import points
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels

MOST_IMPLIED = 1_000_000  # constraints that follow


class Blocks(NamedTuple):
    """The components of the rows under must-links."""

    X: Any
    """(m, d) their means, dense or CSR as the rows are."""
    weight: NDArray[np.int64]
    """(m,) rows of each."""
    number: NDArray[np.int64]
    """(n,) block of each row: its component."""
    first_row: NDArray[np.int64]
    """(m,) a row of each."""
    scatter: float
    """Sum of squares of the rows about the means of their blocks."""


def build_blocks(X: Any, number: NDArray[np.int64]) -> Blocks:
    """Build one block for each component of the must-links; `number` are the components of the rows."""
    size = np.bincount(number)
    first_row = np.empty(len(size), dtype=np.int64)
    first_row[number[::-1]] = np.arange(len(number))[::-1]  # the last that is written counts
    if len(size) == X.shape[0]:
        return Blocks(X, size, number, first_row, 0.0)
    if issparse(X):
        share = csr_array(
            (1 / size[number], (number, np.arange(len(number)))), shape=(len(size), len(number))
        )
        means = csr_array(share @ X.astype(np.float64))
        scatter = _squared_lengths(X) - float(size @ np.asarray(means.multiply(means).sum(axis=1)).ravel())
    else:
        total, _ = points.cluster_sums(X, number.astype(np.int32), len(size))
        means = total / size[:, None]
        several = np.flatnonzero(size[number] > 1)
        scatter = float(((X[several] - means[number[several]]) ** 2).sum())
    return Blocks(means, size, number, first_row, max(scatter, 0.0))


def add_implied(constraints: Constraints) -> Constraints:
    """Add the constraints that follow from others, with weight 1; none if some contradict each other."""
    c = constraints
    if len(c.conflicts):
        return c
    size = np.bincount(c.component)
    many = int((size * (size - 1)).sum()) // 2 + int(size[c.component_cannot_link].prod(axis=1).sum())
    if many > MOST_IMPLIED:
        raise ValueError(
            f"{many} constraints follow from those given, and implied=True takes at most {MOST_IMPLIED}. "
            "Use implied=False."
        )
    members = np.split(np.argsort(c.component, kind="stable"), np.cumsum(size)[:-1])
    several = [rows for rows in members if len(rows) > 1]
    joined = np.concatenate(
        [np.empty((0, 2), dtype=np.int64)]
        + [rows[np.stack(np.triu_indices(len(rows), 1), axis=1)] for rows in several]
    )
    crossed = [
        np.stack(np.meshgrid(members[a], members[b]), axis=-1).reshape(-1, 2)
        for a, b in c.component_cannot_link.tolist()
    ]
    parts = []
    for given, weight, implied in (
        (c.must_link, c.must_link_weight, joined),
        (c.cannot_link, c.cannot_link_weight, np.concatenate([*crossed, np.empty((0, 2), dtype=np.int64)])),
    ):
        weights = {(int(i), int(j)): 1.0 for i, j in np.sort(implied, axis=1)}
        weights |= {(int(i), int(j)): w for (i, j), w in zip(given, weight.tolist(), strict=True)}
        parts.append((list(weights), list(weights.values())))
    (must_link, must_weight), (cannot_link, cannot_weight) = parts
    return Constraints(
        c.n_rows, must_link, cannot_link, must_link_weight=must_weight, cannot_link_weight=cannot_weight
    )


def _squared_lengths(X: Any) -> float:
    return float((X.data.astype(np.float64) ** 2).sum())


def compact_labels(labels: Labels, k: int) -> tuple[Labels, NDArray[np.bool_]]:
    """Renumber the clusters that have rows; return the labels and which of k clusters have rows."""
    used = np.bincount(labels, minlength=k) > 0
    return (np.cumsum(used, dtype=np.int32) - np.int32(1))[labels], used
