"""What follows from must-links: components of rows, and the shortest chain between two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

Pairs = NDArray[np.int64]


def components(n_rows: int, must_link: Pairs) -> NDArray[np.int64]:
    """Component of every row under the must-links, numbered in order of each one's first row.

    Parameters
    ----------
    n_rows : int
    must_link : ndarray of shape (n_pairs, 2)

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    if len(must_link) == 0:
        return np.arange(n_rows, dtype=np.int64)
    found = connected_components(_graph(n_rows, must_link), directed=False)[1]
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.ravel()]


def shortest_chain(n_rows: int, must_link: Pairs, first: int, second: int) -> tuple[int, ...]:
    """Rows from `first` to `second`, each must-linked to the next; empty when no chain joins them."""
    if first == second:
        return (first,)
    return _path(_graph(n_rows, np.vstack([must_link, must_link[:, ::-1]])), first, second)


def shortest_chain_apart(
    n_rows: int, must_link: Pairs, cannot_link: Pairs, first: int, second: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shortest `first` = ... = a and b = ... = `second` such that a ≠ b is given; two empty ones if none.

    One search through two copies of the rows: must-links lead through each, cannot-links from the first
    copy into the second and never back.
    """
    both = np.vstack([must_link, must_link[:, ::-1]])
    across = np.vstack([cannot_link, cannot_link[:, ::-1]]) + np.array([0, n_rows])
    path = _path(_graph(2 * n_rows, np.vstack([both, both + n_rows, across])), first, second + n_rows)
    return tuple(row for row in path if row < n_rows), tuple(row - n_rows for row in path if row >= n_rows)


def shortest_contradiction(n_rows: int, must_link: Pairs, cannot_link: Pairs) -> tuple[int, ...]:
    """Shortest chain of must-links that joins the ends of one of the given cannot-links.

    Only the first hundred cannot-links are compared: one short reason is enough.
    """
    chains = [shortest_chain(n_rows, must_link, int(i), int(j)) for i, j in cannot_link[:100]]
    return min((c for c in chains if c), key=len, default=())


def chain_in_words(chain: Sequence[int], name: Callable[[int], str] = str) -> str:
    """``(3, 7, 9)`` as ``"3 = 7 = 9, but 3 ≠ 9"``; the middle of a long chain is only counted."""
    shown = [name(row) for row in chain]
    ends = f"{shown[0]} ≠ {shown[-1]}"
    if len(shown) > 12:
        shown = [*shown[:5], f"({len(shown) - 10} more rows)", *shown[-5:]]
    return f"{' = '.join(shown)}, but {ends}"


def _path(graph: Any, first: int, second: int) -> tuple[int, ...]:
    previous = breadth_first_order(graph, first)[1]
    if previous[second] < 0:
        return ()
    path = [second]
    while path[-1] != first:
        path.append(int(previous[path[-1]]))
    return tuple(reversed(path))


def _graph(n_rows: int, pairs: Pairs) -> Any:
    ones = np.ones(len(pairs), dtype=np.int8)
    # int32 indices keep a chain through 10⁶ rows small; SciPy would widen them otherwise
    index = np.int32 if n_rows < 2**31 else np.int64
    ends = (pairs[:, 0].astype(index), pairs[:, 1].astype(index))
    return csr_array((ones, ends), shape=(n_rows, n_rows))
