"""Find what follows from must-links: components of rows, and shortest chains between two rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from linkwise import native

Pairs = NDArray[np.int64]


def find_components(n_rows: int, must_link: Pairs) -> NDArray[np.int64]:
    """Find the component of every row under the must-links, numbered in the order of their first rows."""
    if len(must_link) == 0:
        return np.arange(n_rows, dtype=np.int64)
    found = native.join_pairs(np.ascontiguousarray(must_link, dtype=np.int64), n_rows)
    return found.view(np.int64)  # C's long long, of the same size, would print its type


def shortest_chain(n_rows: int, must_link: Pairs, first: int, second: int) -> tuple[int, ...]:
    """Find the shortest chain of must-links from `first` to `second`; empty if there is none."""
    if first == second:
        return (first,)
    return _find_path(_build_graph(n_rows, np.vstack([must_link, must_link[:, ::-1]])), first, second)


def shortest_chain_apart(
    n_rows: int, must_link: Pairs, cannot_link: Pairs, first: int, second: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Find the shortest chain that separates two rows: `first` = ... = a ≠ b = ... = `second`.

    One search runs through two copies of the rows: must-links lead through each copy, and cannot-links
    lead from the first copy into the second and never back. Returns the rows from `first` to a, and those
    from b to `second`; both are empty if there is no chain.
    """
    both = np.vstack([must_link, must_link[:, ::-1]])
    across = np.vstack([cannot_link, cannot_link[:, ::-1]]) + np.array([0, n_rows])
    path = _find_path(
        _build_graph(2 * n_rows, np.vstack([both, both + n_rows, across])), first, second + n_rows
    )
    return tuple(row for row in path if row < n_rows), tuple(row - n_rows for row in path if row >= n_rows)


def shortest_contradiction(n_rows: int, must_link: Pairs, cannot_link: Pairs) -> tuple[int, ...]:
    """Find the shortest chain of must-links that joins the ends of a cannot-link; empty if there is none.

    The distances of both ends to the first row of their component give a lower bound on the length of
    each chain. The search tries the cannot-links in the order of these bounds, and leaves one as soon as
    its chain cannot be the shortest.
    """
    component = find_components(n_rows, must_link)
    joined = cannot_link[component[cannot_link[:, 0]] == component[cannot_link[:, 1]]]
    if len(joined) == 0:
        return ()
    best = joined[0]
    if len(joined) > 1:
        graph = _build_graph(n_rows, np.vstack([must_link, must_link[:, ::-1]]))
        first_rows = np.unique(component, return_index=True)[1]
        depth = dijkstra(graph, indices=first_rows, unweighted=True, min_only=True)[joined]
        least = np.abs(depth[:, 0] - depth[:, 1])
        length = np.inf
        for at in np.argsort(least, kind="stable").tolist():
            if least[at] >= length:
                break
            found = _steps_between(graph, *joined[at].tolist(), fewer_than=length)
            if found < length:
                length, best = found, joined[at]
    return shortest_chain(n_rows, must_link, *best.tolist())


def _steps_between(graph: csr_array, first: int, second: int, *, fewer_than: float) -> float:
    """Find the length of the shortest path, from both ends at once; `fewer_than` if it is not shorter."""
    reached, edges, steps = [{first}, {second}], [{first}, {second}], 0
    while steps + 1 < fewer_than:
        degrees = [sum(int(graph.indptr[row + 1] - graph.indptr[row]) for row in edge) for edge in edges]
        side = int(degrees[1] < degrees[0])
        next_to = (graph.indices[graph.indptr[row] : graph.indptr[row + 1]].tolist() for row in edges[side])
        edges[side] = set().union(*next_to) - reached[side]
        reached[side] |= edges[side]
        steps += 1
        if not edges[side].isdisjoint(reached[1 - side]):
            return steps
    return fewer_than


def format_chain(chain: Sequence[int], name: Callable[[int], str] = str) -> str:
    """Write ``(3, 7, 9)`` as ``"3 = 7 = 9, but 3 ≠ 9"``; of a long chain only count the middle."""
    shown = [name(row) for row in chain]
    ends = f"{shown[0]} ≠ {shown[-1]}"
    if len(shown) > 12:
        shown = [*shown[:5], f"({len(shown) - 10} more rows)", *shown[-5:]]
    return f"{' = '.join(shown)}, but {ends}"


def _find_path(graph: Any, first: int, second: int) -> tuple[int, ...]:
    previous = breadth_first_order(graph, first)[1]
    if previous[second] < 0:
        return ()
    path = [second]
    while path[-1] != first:
        path.append(int(previous[path[-1]]))
    return tuple(reversed(path))


def _build_graph(n_rows: int, pairs: Pairs) -> Any:
    ones = np.ones(len(pairs), dtype=np.int8)
    # int32 indices keep a chain through 10⁶ rows small; SciPy would widen them otherwise
    index = np.int32 if n_rows < 2**31 else np.int64
    ends = (pairs[:, 0].astype(index), pairs[:, 1].astype(index))
    return csr_array((ones, ends), shape=(n_rows, n_rows))
