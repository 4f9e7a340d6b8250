"""Find out whether k clusters can satisfy all cannot-links, by colouring the graph of components.

For two labels the answer is exact. For three or more the question is NP-complete (Davidson and Ravi 2005), so
the search is limited and may end without an answer. If it is impossible, the error names the rows that make
it so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from linkwise import native
from linkwise.errors import InfeasibleConstraintsError

Nodes = NDArray[np.int64]
_MOST_TRIALS = 100_000  # of the search for labels, in each connected part
_TRIES = 200  # rows from which an odd cycle or a clique is sought

ADVICE = (
    "Ask for more clusters, remove a cannot-link, or use a method that may break constraints, such as"
    " PCKMeans or COPKMeans(on_infeasible='soft')."
)


def find_separating_labels(pairs: NDArray[np.int32], m: int, k: int, rows: Nodes) -> NDArray[np.int32] | None:
    """Find labels 0..k-1 that separate all pairs of m nodes; None if the limited search finds none.

    `rows` has a row of each node, for messages. Raises `InfeasibleConstraintsError` if there are no such
    labels, with an odd cycle or a clique if one is found.
    """
    if k <= 2:
        return _find_two_labels(pairs, m, k, rows)
    found, labels = native.colour_apart(pairs, m, k, _MOST_TRIALS)
    if found == 1:
        return labels
    clique = find_large_clique(pairs, m, k)
    if len(clique):
        reason = f"{len(clique)} rows must all be apart, but there are only {k} clusters"
        raise _infeasible_error(reason, rows[clique], _list_rows(rows[clique]))
    if found == 0:
        raise _infeasible_error(
            f"{len(pairs)} cannot-links between {m} rows or groups of rows need more than {k} clusters "
            "(all ways were tried)"
        )
    return None


def _find_two_labels(pairs: NDArray[np.int32], m: int, k: int, rows: Nodes) -> NDArray[np.int32]:
    if k == 1:
        if len(pairs):
            a, b = rows[pairs[0]]
            raise _infeasible_error(
                "two rows must be apart, but there is only 1 cluster", (a, b), f"{a} and {b}"
            )
        return np.zeros(m, dtype=np.int32)
    # every node twice, as one label and as the other; a foe of the one is the other
    crossed = np.vstack([pairs + np.array(way) for way in ((0, m), (m, 0))])
    double = _build_graph(crossed, 2 * m)
    part = connected_components(double, directed=False)[1]
    odd = np.flatnonzero(part[:m] == part[m:])
    if len(odd):
        cycle = rows[_find_odd_cycle(double, odd, m)]
        circle = [*cycle, cycle[0]]
        reason = "an odd number of rows must be apart in a circle, but there are only 2 clusters"
        raise _infeasible_error(reason, circle, " ≠ ".join(map(str, circle)))
    labels: NDArray[np.int32] = (part[:m] > part[m:]).astype(np.int32)
    return labels


def _find_odd_cycle(double: csr_array, odd: Nodes, m: int) -> Nodes:
    """Find the shortest odd cycle through one of the first nodes that lie on one."""
    some = odd[:_TRIES]
    far, before = shortest_path(double, unweighted=True, indices=some, return_predecessors=True)
    best = int(far[np.arange(len(some)), some + m].argmin())
    way = [int(some[best]) + m]
    while way[-1] != some[best]:
        way.append(int(before[best, way[-1]]))
    return np.array(way[:-1], dtype=np.int64) % m


def find_large_clique(pairs: NDArray[np.int32], m: int, k: int) -> Nodes:
    """Find more than k nodes that all need different labels; none if a limited search finds none."""
    foes = _build_graph(pairs, m)
    degree = np.diff(foes.indptr)
    for first in np.argsort(-degree, kind="stable")[:_TRIES]:
        clique, able = [int(first)], foes.indices[foes.indptr[first] : foes.indptr[first + 1]]
        while len(able):
            inner = np.asarray(foes[able][:, able].sum(axis=1)).ravel()
            best = int(able[inner.argmax()])
            clique.append(best)
            able = np.intersect1d(able, foes.indices[foes.indptr[best] : foes.indptr[best + 1]])
            if len(clique) > k:
                return np.sort(np.array(clique, dtype=np.int64))
            if len(clique) + len(able) <= k:
                break
    return np.empty(0, dtype=np.int64)


def _build_graph(pairs: NDArray[np.int32], m: int) -> csr_array:
    ends = np.vstack([pairs, pairs[:, ::-1]])
    return csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(m, m))


def _infeasible_error(
    reason: str, rows: Sequence[int] | Nodes = (), named: str = ""
) -> InfeasibleConstraintsError:
    message = f"{reason[0].upper()}{reason[1:]}{f': {named}' if named else ''}. {ADVICE}"
    return InfeasibleConstraintsError(message, reason=reason, rows=[int(row) for row in rows])


def _list_rows(rows: Nodes) -> str:
    return ", ".join(map(str, rows[:-1])) + f" and {rows[-1]}"
