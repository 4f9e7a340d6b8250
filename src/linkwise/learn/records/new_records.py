"""Place new records in groups of old ones, or in new groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linkwise.learn.records.candidates import find_candidates
from linkwise.learn.records.pairs import compare_pairs
from linkwise.learn.records.match_prior import chance_of_cosine
from linkwise.learn.records.records import append_records
from linkwise.learn.records.state import CERTAIN, MOST_LOG_ODDS, NO_CANDIDATE, RecordState
from linkwise.native.record_groups import group_by_log_odds
from linkwise.types import Labels

if TYPE_CHECKING:
    import narwhals as nw


def place_new_records(state: RecordState, labels: Labels, frame: nw.DataFrame[Any]) -> Labels:
    """Place new records in groups of old ones, or in new groups.

    Parameters
    ----------
    state : RecordState
        The run that found the old groups.
    labels : ndarray of shape (n_rows,)
        The old groups.
    frame : narwhals.DataFrame of n_new_rows rows
        The new records.

    Returns
    -------
    ndarray of shape (n_new_rows,), int32
        Group of each new record; new groups have numbers after those of `labels`.
    """
    old = state.problem.prepared.records
    records, n_old = append_records(old, frame), len(old)
    candidates = find_candidates(records, chance_of_cosine, seed=state.problem.seed)
    is_new = candidates.second >= n_old
    first, second = candidates.first[is_new], candidates.second[is_new]
    pairs = compare_pairs(records, first, second, state.problem.prepared.prior)
    said = pairs.prior if state.model is None else state.model.predict(pairs.features, pairs.prior)
    return join_groups(labels, len(records) - n_old, first, second, said)


def join_groups(
    labels: Labels,
    n_new: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    log_odds: NDArray[np.float64],
) -> Labels:
    """Group new records among themselves and with old groups, of which each counts as one record.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Groups of old records.
    n_new : int
        Number of new records, which are rows n_rows, n_rows + 1, ...
    first, second : ndarray of int64, shape (n_pairs,)
        Pairs that may match; the second is a new record.
    log_odds : ndarray of float64, shape (n_pairs,)
        What the model says of each.

    Returns
    -------
    ndarray of shape (n_new,), int32
        Group of each new record. Two old groups stay two.
    """
    n_groups = int(labels.max()) + 1
    node = np.concatenate([labels.astype(np.int64), n_groups + np.arange(n_new)])
    size = np.concatenate([np.bincount(labels), np.ones(n_new, dtype=np.int64)])
    n_nodes = n_groups + n_new
    keys, at = np.unique(node[first] * n_nodes + node[second], return_inverse=True)
    one, other = keys // n_nodes, keys % n_nodes
    said = np.bincount(at, np.clip(log_odds, -MOST_LOG_ODDS, MOST_LOG_ODDS), len(keys))
    n_said = np.bincount(at, minlength=len(keys))
    weight = (said + NO_CANDIDATE * (size[one] - n_said)) / size[one]
    apart = _list_old_neighbours(one, other, n_groups, n_nodes)
    ends = np.concatenate([np.stack([one, other]), apart], axis=1)
    order = np.lexsort(ends[::-1])
    weights = np.concatenate([weight, np.full(apart.shape[1], NO_CANDIDATE)])[order]
    answers = np.concatenate([np.zeros(len(weight)), np.full(apart.shape[1], -n_nodes * CERTAIN)])[order]
    found = group_by_log_odds(
        n_nodes, *np.ascontiguousarray(ends[:, order]), weights, answers, NO_CANDIDATE
    ).labels
    of_old = np.full(int(found.max()) + 1, -1)
    of_old[found[:n_groups]] = np.arange(n_groups)
    place = of_old[found[n_groups:]]
    for new in np.flatnonzero(
        np.bincount(found[:n_groups], minlength=len(of_old))[found[n_groups:]] > 1
    ).tolist():
        some = np.flatnonzero((other == n_groups + new) & (one < n_groups))  # its groups are joined by others
        place[new] = one[some[weight[some].argmax()]] if len(some) else -1
    is_alone = place < 0
    numbers = np.unique(found[n_groups:][is_alone], return_inverse=True)[1]
    place[is_alone] = n_groups + numbers
    return place.astype(np.int32)


def _list_old_neighbours(
    one: NDArray[np.int64], other: NDArray[np.int64], n_groups: int, n_nodes: int
) -> NDArray[np.int64]:
    """(2, n) pairs of old groups that may match the same new record, the lower one first."""
    is_old = one < n_groups
    ones = np.ones(int(is_old.sum()), dtype=np.int8)
    near = sp.csr_matrix((ones, (other[is_old], one[is_old])), shape=(n_nodes, n_groups), dtype=np.int64)
    both = sp.triu(near.T @ near, 1).tocoo()
    return np.stack([both.row, both.col]).astype(np.int64)
