"""Pairs of records that may match: their rows, their similarities, and how likely they match by these."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.learn.records.candidates import find_candidates
from linkwise.learn.records.features import PairFeatures, measure_pairs
from linkwise.learn.records.match_prior import MatchPrior, chance_of_cosine, fit_prior
from linkwise.learn.records.records import Records
from linkwise.types import Progress


class Pairs(NamedTuple):
    """Pairs of records: rows, similarities, and the log-odds of a match before any answer.

    `first` and `second` have shape (n_pairs,), the lower row first.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    features: PairFeatures
    prior: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedRecords:
    """What follows from the records alone: they, and the pairs that may match."""

    records: Records
    pairs: Pairs
    prior: MatchPrior

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return len(self.records)


def prepare_records(records: Records, seed: int, progress: Progress | None = None) -> PreparedRecords:
    """Find the pairs that may match, and compare them."""
    report = progress or (lambda done, planned: None)
    candidates = find_candidates(records, chance_of_cosine, seed=seed)
    report(1, 2)
    features = measure_pairs(records, candidates.first, candidates.second)
    prior = fit_prior(features)
    report(2, 2)
    pairs = Pairs(candidates.first, candidates.second, features, prior.log_odds(features))
    return PreparedRecords(records, pairs, prior)


def compare_pairs(
    records: Records, first: NDArray[np.int64], second: NDArray[np.int64], prior: MatchPrior
) -> Pairs:
    """Measure the similarities of pairs, and how likely they match by these alone."""
    features = measure_pairs(records, first, second)
    return Pairs(first, second, features, prior.log_odds(features))


def join_pairs(pairs: Pairs, more: Pairs, order: NDArray[np.int64]) -> Pairs:
    """Join pairs of the same records, in an order of both."""
    values = np.concatenate([pairs.features.values, more.features.values])[order]
    cosine = np.concatenate([pairs.features.cosine, more.features.cosine])[order]
    features = replace(pairs.features, values=values, cosine=cosine)
    first, second, prior = (
        np.concatenate([getattr(pairs, name), getattr(more, name)])[order]
        for name in ("first", "second", "prior")
    )
    return Pairs(first, second, features, prior)


def find_pairs(pairs: Pairs, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each pair of rows among `pairs`, which has it and is sorted; -1 where it is not."""
    n = 1 + max(int(pairs.second.max(initial=0)), int(second.max(initial=0)))
    keys, wanted = pairs.first * n + pairs.second, first * n + second
    at = np.searchsorted(keys, wanted)
    is_there = at < len(keys)
    is_there[is_there] = keys[at[is_there]] == wanted[is_there]
    return np.where(is_there, at, -1)
