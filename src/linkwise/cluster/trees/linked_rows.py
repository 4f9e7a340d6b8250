"""Find rows with constraints, and count implied constraints by component, never by pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.constraints import Constraints
from linkwise.native import LinkedRows


def find_linked_rows(constraints: Constraints, *, with_repeats: bool = False) -> LinkedRows:
    """Find the rows of every component that has a constraint, and the pairs of components that are apart.

    With `with_repeats` such a pair is there once for each cannot-link between the two, otherwise once.
    """
    c = constraints
    speaks = np.zeros(c.n_rows, dtype=bool)
    speaks[c.must_link.ravel()] = True
    speaks[c.cannot_link.ravel()] = True
    rows = np.flatnonzero(speaks)
    found, component = np.unique(c.component[rows], return_inverse=True)
    by_component = np.argsort(component, kind="stable")
    place = np.full(c.n_rows, -1, dtype=np.int32)
    place[rows[by_component]] = np.arange(len(rows))
    pairs = np.searchsorted(found, _list_every_pair(c) if with_repeats else c.component_cannot_link)
    both = np.vstack([pairs, pairs[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    return LinkedRows(
        place,
        component[by_component].astype(np.int32),
        _ends(component, len(found)),
        _ends(both[:, 0], len(found)),
        np.ascontiguousarray(both[:, 1], dtype=np.int32),
    )


def _list_every_pair(c: Constraints) -> NDArray[np.int64]:
    """List the components of each cannot-link, without those within a component."""
    pairs = c.component[c.cannot_link]
    apart: NDArray[np.int64] = pairs[pairs[:, 0] != pairs[:, 1]]
    return apart


def _ends(numbers: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=n))]).astype(np.int64)


def count_implied_pairs(linked: LinkedRows) -> int:
    """Count the must-links within components and the cannot-links between them, implied ones included."""
    size = np.diff(linked.first)
    one = np.repeat(np.arange(len(size)), np.diff(linked.foe_first))
    return int((size * (size - 1)).sum() // 2 + (size[one] * size[linked.foe]).sum() // 2)
