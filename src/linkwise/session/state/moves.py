"""Which rows an event moved from cluster to cluster, how many, and that in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.learn.item_labels import count_shared_rows
from linkwise.types import Labels
from linkwise.wording import count_noun, merge_full_stops, shorten

LONGEST_NAME = 40  # characters of the name of a cluster
FEW = 2  # clusters that are named; more are only counted


class Moves(NamedTuple):
    """The rows whose cluster has another number than before.

    Most of them, `n_between`, moved from `source` to `target`; noise is -1. Clusters that are `gone` are
    there no more, and `new` ones were not there before.
    """

    n_rows: int
    source: int = -1
    target: int = -1
    n_between: int = 0
    gone: tuple[int, ...] = ()
    new: tuple[int, ...] = ()


def find_moves(before: Labels, after: Labels) -> Moves:
    """Compare two clusterings of a session, whose numbers stay with the clusters."""
    if len(before) == 0 or before is after:
        return Moves(0)
    source, target, rows = count_shared_rows(before, after)
    has_moved = source != target
    if not has_moved.any():
        return Moves(0)
    was, now = ({int(n) for n in np.unique(numbers) if n >= 0} for numbers in (source, target))
    largest = int(np.where(has_moved, rows, 0).argmax())
    return Moves(
        n_rows=int(rows[has_moved].sum()),
        source=int(source[largest]),
        target=int(target[largest]),
        n_between=int(rows[largest]),
        gone=tuple(sorted(was - now)),
        new=tuple(sorted(now - was)),
    )


def count_moved_rows(before: Labels, after: Labels) -> int:
    """Return how many rows moved from one clustering to the next; noise is -1.

    There are two ways to count: the rows that left the largest part of their old cluster, and the rows
    that joined the largest part of their new one. The result is the larger of the two counts. When a
    cluster splits, its smaller parts therefore move; when clusters merge, the smaller ones do. The
    numbers of the clusters do not matter.
    """
    if len(before) == 0:
        return 0
    source, target, rows = count_shared_rows(before, after)
    return len(before) - min(_count_majority(source, rows), _count_majority(target, rows))


def measure_change(before: Labels, after: Labels) -> float:
    """Return the share of the rows that moved, by `count_moved_rows`."""
    return count_moved_rows(before, after) / max(1, len(before))


def _count_majority(cluster: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
    """Return how many rows are in the largest part of their cluster."""
    low = cluster.min()
    largest = np.zeros(int(cluster.max() - low) + 1, dtype=np.int64)
    np.maximum.at(largest, cluster - low, counts)
    return int(largest.sum())


def describe_moves(moves: Moves, names: Mapping[int, str]) -> str:
    """Put moves into words, such as ``12 rows moved: most from Cluster 1 to Cluster 3.``."""
    if moves.n_rows == 0:
        return "No row moved."
    sentences = [f"{count_noun(moves.n_rows, 'row')} moved{_describe_largest(moves, names)}."]
    gone = [number for number in moves.gone if number != moves.source]
    new = [number for number in moves.new if number != moves.target]
    if gone:
        sentences.append(_list_clusters(gone, names, "gone"))
    if new:
        sentences.append(_list_clusters(new, names, "new"))
    return merge_full_stops(" ".join(sentences))


def _describe_largest(moves: Moves, names: Mapping[int, str]) -> str:
    """Put the largest flow into words, as the end of a sentence."""
    source, target = (name_cluster(number, names) for number in (moves.source, moves.target))
    is_all = moves.n_between == moves.n_rows
    if moves.target in moves.new:
        what = f"{target} is new, split off from {source}" if moves.source >= 0 else f"{target} is new"
        return f": {what}" + ("" if is_all else f" ({count_noun(moves.n_between, 'row')})")
    if moves.source in moves.gone:
        return f": {source} is now part of {target}" + (
            "" if is_all else f" ({count_noun(moves.n_between, 'row')})"
        )
    if is_all:
        return f" from {source} to {target}"
    share = "most" if 2 * moves.n_between > moves.n_rows else str(moves.n_between)
    return f": {share} from {source} to {target}"


def _list_clusters(numbers: Sequence[int], names: Mapping[int, str], how: str) -> str:
    """Say of some more clusters that they are new, or gone."""
    if len(numbers) > FEW:
        return f"{len(numbers)} more clusters are {how}."
    verb = "is" if len(numbers) == 1 else "are"
    return f"{' and '.join(name_cluster(number, names) for number in numbers)} {verb} {how}."


def name_cluster(number: int, names: Mapping[int, str]) -> str:
    """Return the name that a person gave a cluster, or its number with a word."""
    given = " ".join(names.get(number, "").split())
    return shorten(given, LONGEST_NAME) or ("Noise" if number < 0 else f"Cluster {number}")
