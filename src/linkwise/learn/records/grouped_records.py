"""Group records by what the model says of their pairs, and by the answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logit

from linkwise.learn.records.pair_answers import PairAnswers, weigh_answers
from linkwise.learn.records.pairs import Pairs
from linkwise.learn.records.records import Records
from linkwise.native.record_groups import RecordGroups, group_by_log_odds
from linkwise.types import Labels

Values = NDArray[np.float64]
Rows = NDArray[np.int64]

MOST_LOG_ODDS = 4.0  # of one pair, by the model
NO_CANDIDATE = -2.0  # log-odds of a pair that is none


class GroupedRecords(NamedTuple):
    """The groups, and the decision about each pair: its log-odds, and how many pairs it is about.

    `answers` are those that the groups follow from.
    """

    labels: Labels
    score: NDArray[np.float64]
    n_decided: NDArray[np.float64]
    answers: PairAnswers


def group_records(
    records: Records,
    pairs: Pairs,
    log_odds: Values,
    answers: PairAnswers,
    certainty: float,
    lean: float = 0.0,
) -> GroupedRecords:
    """Group records by what the model says of their pairs, and by the answers.

    Parameters
    ----------
    records : Records
        The records.
    pairs : Pairs
        Pairs of them, with all that have an answer.
    log_odds : ndarray of float64, shape (n_pairs,)
        What the model says of each pair.
    answers : PairAnswers
        The answers.
    certainty : float
        Log-odds that an answer is right.
    lean : float, default=0
        Log-odds that are added to those of each pair to make groups; the result is without them.

    Returns
    -------
    GroupedRecords
        The groups. Records whose texts are the same count as one, unless the model or an answer parts them:
        of many copies, most pairs are no candidates.
    """
    weight = np.clip(log_odds, -MOST_LOG_ODDS, MOST_LOG_ODDS) + lean
    said = weigh_answers(pairs, answers, certainty)
    node = _join_copies(records, pairs, weight, said)
    if node is None:
        found = _group(len(records), pairs.first, pairs.second, weight, said, records.origin)
        return GroupedRecords(found.labels.astype(np.int32), found.score - lean, found.n_pairs, answers)
    joined = _join_pairs(pairs, node)
    at, is_between = joined.at[joined.at >= 0], joined.at >= 0
    means = np.bincount(at, weight[is_between]) / np.bincount(at)
    sums = np.bincount(at, said[is_between]).astype(np.float64)
    found = _group(int(node.max()) + 1, joined.first, joined.second, means, sums, None)
    score, n_decided = weight + said, np.ones(len(weight))
    score[is_between], n_decided[is_between] = found.score[at], found.n_pairs[at]
    return GroupedRecords(found.labels[node].astype(np.int32), score - lean, n_decided, answers)


class _JoinedPairs(NamedTuple):
    """The pairs of records, once some records are one."""

    first: Rows
    second: Rows
    at: Rows
    """(n_pairs,) what became of each pair; -1 where its records are one."""


def _join_pairs(pairs: Pairs, node: Rows) -> _JoinedPairs:
    """Join the pairs of records, of which those with one number are one.

    Only a record that is one with others can make two pairs the same. So only its pairs are sorted.
    """
    n, is_alone = len(node), np.bincount(node)[node] == 1
    low, high = (function(node[pairs.first], node[pairs.second]) for function in (np.minimum, np.maximum))
    is_own = is_alone[pairs.first] & is_alone[pairs.second]
    at = np.where(is_own, is_own.cumsum() - 1, -1)
    more = np.flatnonzero(~is_own & (low != high))
    keys, place = np.unique(low[more] * n + high[more], return_inverse=True)
    at[more] = int(is_own.sum()) + place
    first, second = np.concatenate([low[is_own], keys // n]), np.concatenate([high[is_own], keys % n])
    return _JoinedPairs(first, second, at)


def _group(
    n: int, first: Rows, second: Rows, weight: Values, answer: Values, origin: Rows | None
) -> RecordGroups:
    return group_by_log_odds(n, first, second, weight, answer, NO_CANDIDATE, origin)


def _join_copies(records: Records, pairs: Pairs, weight: Values, said: Values) -> Rows | None:
    """Number records in the order of their first rows; copies have one number. None if there are none.

    A record that somebody keeps apart from a copy has a number of its own.
    """
    if records.origin is not None:
        return None  # copies of one origin do not match
    is_copy = records.copies[pairs.first] == records.copies[pairs.second]
    is_split = np.zeros(len(records), dtype=bool)
    for rows in (pairs.first, pairs.second):
        is_split[rows[is_copy & (said < 0)]] = True
    joined = is_copy & (weight + said > 0) & ~is_split[pairs.first] & ~is_split[pairs.second]
    if not joined.any():
        return None
    ends = pairs.first[joined], pairs.second[joined]
    graph = coo_array((np.ones(len(ends[0])), ends), shape=(len(records), len(records)))
    number = connected_components(graph, directed=False)[1]
    first_row, place = np.unique(number, return_index=True, return_inverse=True)[1:]
    rank = np.empty(len(first_row), dtype=np.int64)
    rank[np.argsort(first_row)] = np.arange(len(first_row))
    return rank[place]


def find_lean(chances: NDArray[np.float64]) -> float:
    """Find the log-odds to add to those of each pair so that groups have the best expected F1.

    Pairs that match with a chance above 1/2 are not the best to join where most matches are doubtful: then
    hardly any would be found. The expected F1 is best if pairs are joined from a chance of F1 / 2 on (Lipton,
    Elkan and Naryanaswamy, 2014, Optimal thresholding of classifiers to maximize F1 measure).

    Parameters
    ----------
    chances : ndarray of float64, shape (n_pairs,)
        The chance that each pair matches.

    Returns
    -------
    float
        0 if all is certain, and more the more is doubtful.
    """
    if not chances.any():
        return 0.0
    sure_first = np.sort(chances)[::-1]
    found = 2 * sure_first.cumsum() / (np.arange(1, len(chances) + 1) + sure_first.sum())
    return -float(logit(found.max() / 2))
