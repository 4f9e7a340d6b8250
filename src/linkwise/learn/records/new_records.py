"""Place new records in groups of old ones, or in new groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.learn.records.candidates import find_candidates
from linkwise.learn.records.grouped_records import MOST_LOG_ODDS, NO_CANDIDATE
from linkwise.learn.records.linkage_state import CERTAIN, RecordState
from linkwise.learn.records.match_prior import chance_of_cosine
from linkwise.learn.records.pairs import compare_pairs
from linkwise.learn.records.records import append_records
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
    return join_groups(labels, len(records) - n_old, first, second, said + state.lean, records.origin)


def join_groups(
    labels: Labels,
    n_new: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    log_odds: NDArray[np.float64],
    origin: NDArray[np.int64] | None = None,
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
    origin : ndarray of int64, shape (n_rows + n_new,), optional
        Where each record comes from, or a negative number: records of one origin do not match.

    Returns
    -------
    ndarray of shape (n_new,), int32
        Group of each new record. Two old groups stay two.
    """
    if n_new == 0:
        return np.empty(0, dtype=np.int32)
    n_rows, n_groups = len(labels), int(labels.max()) + 1
    n_nodes = n_groups + n_new  # old groups, then new records
    node = np.concatenate([labels.astype(np.int64), n_groups + np.arange(n_new)])
    size = np.concatenate([np.bincount(labels), np.ones(n_new, dtype=np.int64)])
    keys, at = np.unique(node[first] * n_nodes + node[second], return_inverse=True)
    one, other = keys // n_nodes, keys % n_nodes
    said = np.bincount(at, np.clip(log_odds, -MOST_LOG_ODDS, MOST_LOG_ODDS), len(keys))
    weight = (said + NO_CANDIDATE * (size[one] - np.bincount(at, minlength=len(keys)))) / size[one]
    answer = np.zeros(len(keys))
    source = np.concatenate([np.zeros(n_groups, dtype=np.int64), np.full(n_new, -1)])  # old groups stay apart
    if origin is not None:
        source[n_groups:] = np.where(origin[n_rows:] < 0, -1, origin[n_rows:] + 1)
        width = int(origin.max(initial=0)) + 1
        there = np.unique(labels[origin[:n_rows] >= 0] * width + origin[:n_rows][origin[:n_rows] >= 0])
        of_new = origin[n_rows:][other - n_groups]
        answer[(one < n_groups) & (of_new >= 0) & np.isin(one * width + of_new, there)] = -n_nodes * CERTAIN
    found = group_by_log_odds(n_nodes, one, other, weight, answer, NO_CANDIDATE, source).labels
    of_old = np.full(int(found.max()) + 1, -1)
    of_old[found[:n_groups]] = np.arange(n_groups)
    place = of_old[found[n_groups:]]
    is_alone = place < 0
    place[is_alone] = n_groups + np.unique(found[n_groups:][is_alone], return_inverse=True)[1]
    return place.astype(np.int32)
