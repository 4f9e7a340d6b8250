"""Labels that contradict no answer, with as few changes as it takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise import native
from linkwise.asking.learner import Grouped, Labels
from linkwise.constraints.evidence import Groups


def enforce_answers(labels: Labels, evidence: Grouped, sizes: NDArray[np.int64] | None = None) -> Labels:
    """Labels that contradict no answer, with as few changes as it takes.

    A learner may treat many rows as one, or show a clustering that is older than the last answer. Here
    each group of rows that belong together gets the label that most of them bear. Of two groups that
    are apart and bear the same label the smaller one gets a new label, which it shares only with groups
    that left the same label and are not its foes. Rows without an answer keep theirs.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Clusters 0, 1, ...
    evidence : Evidence
    sizes : ndarray of shape (n_clusters,), optional
        Rows of each cluster, where they are known already.

    Returns
    -------
    ndarray of shape (n_rows,)
        `labels` itself when nothing has to change.
    """
    said = evidence.groups()
    if len(said.row) == 0:
        return labels
    left = np.bincount(labels) if sizes is None else sizes  # rows of each label
    home, support = _majority_labels(labels, said, len(left))
    crowded = said.foes[home[said.foes[:, 0]] == home[said.foes[:, 1]]]
    divided = support < np.bincount(said.number)
    if len(crowded) == 0 and not divided.any():
        return labels
    place = _separate_groups(home, support, crowded, len(left))
    moved = (divided | (place != home))[said.number]
    rows = said.row[moved]
    changed = labels.copy()
    changed[rows] = place[said.number[moved]]
    n_labels = max(len(left), int(place.max()) + 1)
    left = np.pad(left, (0, n_labels - len(left)))
    left += np.bincount(changed[rows], minlength=n_labels) - np.bincount(labels[rows], minlength=n_labels)
    used = left > 0
    return changed if used.all() else (np.cumsum(used, dtype=np.int32) - 1).take(changed)


def _majority_labels(
    labels: Labels, said: Groups, n_labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The label that most rows of each group bear, the lowest among equals, and how many bear it."""
    keys, votes = np.unique(said.number * n_labels + labels[said.row], return_counts=True)
    group, label = np.divmod(keys, n_labels)
    first = np.flatnonzero(np.diff(group, prepend=-1))  # of each group's labels
    support = np.maximum.reduceat(votes, first)
    best = np.flatnonzero(votes == support[group])[::-1]
    home = np.empty_like(support)
    home[group[best]] = label[best]  # the last one assigned is the lowest
    return home, support


def _separate_groups(
    home: NDArray[np.int64], support: NDArray[np.int64], crowded: NDArray[np.int64], fresh: int
) -> NDArray[np.int64]:
    """Label of every group such that no two foes share one; groups with more support stay."""
    if len(crowded) == 0:
        return home
    hostile = np.flatnonzero(np.bincount(crowded.ravel()))
    order = hostile[np.argsort(-support[hostile], kind="stable")]
    rank = np.empty(len(home), dtype=np.int32)
    rank[order] = np.arange(len(order))
    one, other = rank[crowded[:, 0]], rank[crowded[:, 1]]
    colour = native.greedy_colours(np.minimum(one, other), np.maximum(one, other), len(order))
    leaves = order[colour > 0]
    annex = home[leaves] * len(order) + colour[colour > 0]  # shared by those that left the same label
    _, first, of = np.unique(annex, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = fresh + np.arange(len(first))  # new labels in order of first use
    place = home.copy()
    place[leaves] = number[of]
    return place
