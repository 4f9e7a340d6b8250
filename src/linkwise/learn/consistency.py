"""Change labels as little as possible so that they contradict no answer."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.constraints.facts import Groups
from linkwise.learn.item_labels import Shown, count_labels, renumber, replace_labels
from linkwise.learn.learner import Grouped
from linkwise.types import Labels


@overload
def enforce_answers(
    labels: Labels,
    evidence: Grouped,
    sizes: NDArray[np.int64] | None = None,
    moved: NDArray[np.int64] | None = None,
) -> Labels: ...
@overload
def enforce_answers(
    labels: Shown,
    evidence: Grouped,
    sizes: NDArray[np.int64] | None = None,
    moved: NDArray[np.int64] | None = None,
) -> Shown: ...
def enforce_answers(
    labels: Shown,
    evidence: Grouped,
    sizes: NDArray[np.int64] | None = None,
    moved: NDArray[np.int64] | None = None,
) -> Shown:
    """Change labels as little as possible so that they contradict no answer.

    Return them if nothing has to change. A learner may treat many rows as one, or show a clustering that
    is older than the last answer. Every group of rows that belong together gets the label that most of
    its rows have. If a cannot-link separates two groups with the same label, the smaller one gets a new
    label. Groups that leave the same label share a new one unless a cannot-link separates them, too. The
    labels of rows without an answer do not change. `sizes` has the number of rows of each cluster, if the
    caller knows it. Rows that somebody has `moved` go to the others of their group, and leave rather than
    others do.
    """
    groups = evidence.groups()
    if len(groups.row) == 0:
        return labels
    size = count_labels(labels) if sizes is None else sizes
    given = labels.take(groups.row)
    stays = None if moved is None or len(moved) == 0 else ~np.isin(groups.row, moved)
    old, support, rank = _majority_labels(given, groups, len(size), stays)
    pairs = groups.cannot_link
    broken = pairs[old[pairs[:, 0]] == old[pairs[:, 1]]]
    divided = support < np.bincount(groups.number)
    if len(broken) == 0 and not divided.any():
        return labels
    new = _separate_groups(old, rank, broken, len(size))
    moves = (divided | (new != old))[groups.number]
    then = new[groups.number[moves]]
    changed = replace_labels(labels, groups.row[moves], then)
    n_labels = max(len(size), int(new.max()) + 1)
    size = np.pad(size, (0, n_labels - len(size)))
    size += np.bincount(then, minlength=n_labels) - np.bincount(given[moves], minlength=n_labels)
    used = size > 0
    return changed if used.all() else renumber(changed, np.cumsum(used, dtype=np.int32) - 1)


def _majority_labels(
    given: Labels, groups: Groups, n_labels: int, stays: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The label that most rows of each group have, the lowest of equals, how many have it, and its rank.

    Rows that stay come before any number of others.
    """
    keys, of, votes = np.unique(groups.number * n_labels + given, return_inverse=True, return_counts=True)
    rank = votes
    if stays is not None:
        rank = votes + (len(given) + 1) * np.bincount(of, stays, len(keys)).astype(np.int64)
    group, label = np.divmod(keys, n_labels)
    first = np.flatnonzero(np.diff(group, prepend=-1))  # position of each group's first label
    most = np.maximum.reduceat(rank, first)
    best = np.flatnonzero(rank == most[group])[::-1]
    majority, support = np.empty_like(most), np.empty_like(most)
    majority[group[best]], support[group[best]] = label[best], votes[best]  # the last assigned is the lowest
    return majority, support, most


def _separate_groups(
    old: NDArray[np.int64], support: NDArray[np.int64], broken: NDArray[np.int64], n_labels: int
) -> NDArray[np.int64]:
    """Relabel groups until no cannot-link is broken; the groups with more support keep their labels."""
    if len(broken) == 0:
        return old
    involved = np.flatnonzero(np.bincount(broken.ravel()))
    order = involved[np.argsort(-support[involved], kind="stable")]
    rank = np.empty(len(old), dtype=np.int32)
    rank[order] = np.arange(len(order))
    one, other = rank[broken[:, 0]], rank[broken[:, 1]]
    colour = native.greedy_colours(np.minimum(one, other), np.maximum(one, other), len(order))
    leaves = order[colour > 0]
    key = old[leaves] * len(order) + colour[colour > 0]  # equal keys share a new label
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = n_labels + np.arange(len(first))  # new labels in order of first use
    new = old.copy()
    new[leaves] = number[of]
    return new
