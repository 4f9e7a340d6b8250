"""Why two rows are together or apart, by the rows near them: for rows without columns that people read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.reasons.cluster_names import NOISE, call_cluster
from linkwise.reasons.explanation import read_labels
from linkwise.wording import count_noun

N_NEAR = 10


def describe_near_rows(
    labels: ArrayLike, X: ArrayLike, first: int, second: int, name: Callable[[int], str] = str
) -> list[str]:
    """Say to which cluster the rows near two rows belong, in sentences.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        The clusters.
    X : array-like of shape (n_rows, n_features)
        What was compared.
    first, second : int
        Positions of two rows.
    name : callable
        The name of a row.

    Returns
    -------
    list of str
        Sentences about the nearest rows of each, and how far the other cluster is.

    Examples
    --------
    >>> from linkwise.reasons.near_rows import describe_near_rows
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0]]
    >>> for sentence in describe_near_rows([0, 0, 0, 1, 1], X, 1, 3):
    ...     print(sentence)
    Of the 2 rows nearest to 1, 2 are in cluster 0.
    The nearest row of cluster 1 (3) is 7.0 times as far from 1 as the nearest of cluster 0 (0).
    Of the 2 rows nearest to 3, 1 is in cluster 0 and 1 is in cluster 1.
    The nearest row of cluster 0 (2) is 6.0 times as far from 3 as the nearest of cluster 1 (4).
    """
    of_rows, rows = read_labels(labels), np.asarray(X, dtype=np.float64)
    sentences = []
    for row, other in ((first, second), (second, first)):
        away = np.linalg.norm(rows - rows[row], axis=1)
        away[row] = np.inf
        order = np.argsort(away, kind="stable")
        sentences.append(_count_near(of_rows, order, row, name))
        if of_rows[row] == of_rows[other]:
            place = int(np.flatnonzero(order == other)[0]) + 1
            total = count_noun(len(rows) - 1, "other row")
            sentences.append(f"{name(other)} is number {place} of {total}, from near to far.")
        elif NOISE not in (of_rows[row], of_rows[other]):
            sentences += _compare_distances(of_rows, away, order, (row, other), name)
    return sentences


def _count_near(
    labels: NDArray[np.int64], order: NDArray[np.intp], row: int, name: Callable[[int], str]
) -> str:
    """The clusters of the nearest rows."""
    n_near = max(1, min(N_NEAR, (len(labels) - 1) // 2))
    clusters, counts = np.unique(labels[order[:n_near]], return_counts=True)
    most = sorted(zip(counts.tolist(), clusters.tolist(), strict=True), key=lambda one: -one[0])
    places = [(count, call_cluster(cluster)) for count, cluster in most[:3]]
    parts = [f"{count} {'is' if count == 1 else 'are'} in {place}" for count, place in places]
    if rest := sum(count for count, _ in most[3:]):
        parts.append(f"{rest} {'is' if rest == 1 else 'are'} elsewhere")
    if n_near == 1:
        return f"The row nearest to {name(row)}, {name(int(order[0]))}, is in {call_cluster(most[0][1])}."
    joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Of the {n_near} rows nearest to {name(row)}, {joined}."


def _compare_distances(
    labels: NDArray[np.int64],
    away: NDArray[np.float64],
    order: NDArray[np.intp],
    pair: tuple[int, int],
    name: Callable[[int], str],
) -> list[str]:
    """How much farther the other cluster is than the row's own."""
    row, other = pair
    own = [near for near in order.tolist() if labels[near] == labels[row] and near != row]
    far = [near for near in order.tolist() if labels[near] == labels[other]]
    if not own:
        return [f"{name(row)} is alone in its cluster."]
    here, there = own[0], far[0]
    if away[here] == 0:
        return [f"{name(here)}, of the same cluster, equals {name(row)} in what is compared."]
    if away[there] == 0:
        return [f"{name(there)}, of {call_cluster(labels[other])}, equals {name(row)} in what is compared."]
    ratio = away[there] / away[here]
    return [
        f"The nearest row of {call_cluster(labels[other])} ({name(there)}) is {ratio:.1f} times as far from"
        f" {name(row)} as the nearest of {call_cluster(labels[row])} ({name(here)})."
    ]
