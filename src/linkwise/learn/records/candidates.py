"""Candidates: the pairs of records that may match.

Of all pairs of n records hardly any match, so most are never looked at. Records are searched in several
views: the whole record by its words and by groups of letters, and each column of texts with many different
values by groups of letters. In each view the nearest records of each record are candidates. Only the rarest
words or groups count there: as many as keep a search within a fixed number of multiplications a record. So
the time grows with n and not with its square.

How many of the nearest are taken is decided for each view on a sample of records. Going down their lists of
the nearest, the prior chance of a match says how many matches to expect at each rank. The last ranks show
what chance alone brings, and that is subtracted. Beyond the chosen rank lies 1 % of the rest. Matches that an
earlier view has found do not count, so a view that brings little that is new is left out.

Copies are joined, and two records that probably match the same third one are candidates as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.learn.records.features import measure_cosine
from linkwise.learn.records.records import Records, number_texts
from linkwise.rng import rng_at

Chance = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""The prior chance of a match, by the mean of the two cosines of whole records."""

WORK = 20_000  # multiplications a record in the search of a view
FEWEST, MOST = 3, 64  # of the nearest records of a view
TAIL = 8  # of the last ranks, which show what chance alone brings
SAMPLE = 1500  # records on which the number of the nearest is decided
SAMPLE_OF_RECALL = 1000  # records by which recall is estimated
LEFT = 0.01  # share of the expected matches that may lie beyond it
MANY_VALUES = 0.1  # of a column that is a view of its own, as a share of the rows
LEAST_CHANCE = 0.002  # of a pair that stays a candidate
PROBABLE = 0.5  # chance of a match with the third record that two others have in common
MOST_PROBABLE = 100  # such matches of one record; more come of records that say little
MOST_COMMON = 3  # pairs with a third record in common, as a multiple of the rows
CHUNK = 100_000  # rows at once
PAIRS_AT_ONCE = 1_000_000
_SAMPLE, _COMMON, _RECALL = range(3)  # places of random draws

Keys = NDArray[np.int64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CandidatePairs:
    """Pairs of records that may match.

    Attributes
    ----------
    first, second : ndarray of int64, shape (n_pairs,)
        The rows of each pair, first < second, in the order of the first and then of the second.
    kept : dict of str to int
        How many of the nearest records were taken in each view.
    """

    first: Rows
    second: Rows
    kept: dict[str, int]

    def __len__(self) -> int:
        return len(self.first)


def find_candidates(records: Records, chance: Chance, *, seed: int) -> CandidatePairs:
    """Find the pairs of records that may match.

    Parameters
    ----------
    records : Records
        The records. Those of one origin are no candidates, nor are those of different blocks.
    chance : callable
        The prior chance of a match, by the mean of the cosines of whole records by words and by letters.
    seed : int
        Seed of the sample that decides how many of the nearest records are taken.

    Returns
    -------
    CandidatePairs
        The pairs, without those that have almost no chance.

    Notes
    -----
    The search of a view takes at most 20 000 multiplications a record, and gives at most 64 pairs a record.
    """
    n = len(records)
    sample = np.sort(rng_at(seed, _SAMPLE).choice(n, min(SAMPLE, n), replace=False))
    likely = _LikelyPairs(*[np.empty(0, dtype=np.int64)] * 2)
    kept: dict[str, int] = {}
    expected = 0.0
    for name, matrix in _list_views(records):
        view = _View(matrix, _find_rare(matrix, records.block), records.block, records.origin)
        new = _expect_new(records, view, chance, sample, likely.keys)
        if kept and new.sum() <= LEFT * expected:
            kept[name] = 0
            continue
        expected += float(new.sum())
        kept[name] = _choose_rank(new)
        likely = _add_likely(records, chance, likely, view.find_nearest(np.arange(n), kept[name]))
    copies = _join_copies(records)
    keys = _sort_keys(likely.keys, copies)
    probable = _sort_keys(likely.probable, copies[_estimate_chances(records, chance, copies) > PROBABLE])
    del likely
    common = _find_common(records, keys, probable, rng_at(seed, _COMMON))
    keys = _sort_keys(keys, common)
    second = keys % n
    keys //= n  # in place, since these are the largest arrays
    return CandidatePairs(keys, second, kept)


def estimate_recall(records: Records, candidates: CandidatePairs, chance: Chance, *, seed: int) -> float:
    """Estimate the share of the matches that are candidates.

    For a sample of records, the nearest of all others are found by all words and by all groups of letters,
    without the limits of the usual search. The matches to expect among the 64 of the highest chance, less
    those that chance alone brings, are counted at each rank, and so is the share of them that are candidates.

    Parameters
    ----------
    records : Records
        The records.
    candidates : CandidatePairs
        Their candidates, or some of them.
    chance : callable
        The prior chance of a match, as for `find_candidates`.
    seed : int
        Seed of the sample of records.

    Returns
    -------
    float
        The estimate, from 0 to 1; 1 if no match is expected.

    Notes
    -----
    The estimate assumes that the prior tells how the matches are distributed over the ranks, whatever their
    number is, and that the last of the 64 ranks hold hardly any. Matches that have next to nothing in common
    as whole records do not count, since nothing tells how many there are.
    """
    n = len(records)
    sample = np.sort(rng_at(seed, _RECALL).choice(n, min(SAMPLE_OF_RECALL, n), replace=False))
    near = []
    for matrix in records.counts:
        view = _View(matrix, np.ones(matrix.shape[1], dtype=bool), records.block, records.origin)
        at, rank = np.nonzero((nearest := view.find_nearest(sample, MOST)) >= 0)
        near.append(at * n + nearest[at, rank])
    at, other = np.divmod(_sort_keys(*near), n)
    keys = _write_keys(sample[at], other, n)
    chances = _estimate_chances(records, chance, keys)
    order = np.lexsort((-chances, at))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(at, at[order])
    is_near = rank < MOST
    keys, chances, rank = keys[is_near], chances[is_near], rank[is_near]
    is_found = _contains(_write_keys(candidates.first, candidates.second, n), keys)
    expected, found = _sum_by_rank(rank, chances), _sum_by_rank(rank, chances * is_found)
    matches = _subtract_tail(expected)
    share = np.divide(found, expected, out=np.ones(MOST), where=expected > 0)
    return float(matches @ share / matches.sum()) if matches.any() else 1.0


# ---------------------------------------------------------------- views
class _View(NamedTuple):
    """A matrix in which near records are candidates, and the columns of it that count."""

    matrix: sp.csr_matrix
    is_rare: NDArray[np.bool_]
    block: Rows | None
    source: Rows | None

    def find_nearest(self, rows: Rows, k: int) -> NDArray[np.int32]:
        """The k nearest of each row that it may match, (q, k); -1 where there are fewer."""
        return native.largest_products(
            self.matrix, self.is_rare, rows, k, self.block, self.source, parallel.n_threads()
        )


def _list_views(records: Records) -> Iterator[tuple[str, sp.csr_matrix]]:
    """The matrices in which near records are candidates, by name."""
    yield "whole/letters", records.letters
    yield "whole/words", records.words
    n_texts = sum(column.kind == "text" for column in records.columns)
    for column in records.columns:
        if column.counts and n_texts > 1 and column.value.max() + 1 > MANY_VALUES * len(records):
            yield f"{column.name}/letters", column.counts.letters


def _find_rare(matrix: sp.csr_matrix, block: Rows | None) -> NDArray[np.bool_]:
    """Which columns count in a search: the rarest ones, as far as its work allows."""
    work = native.column_work(matrix, block)
    order = np.argsort(work, kind="stable")
    is_rare = np.zeros(len(work), dtype=bool)
    is_rare[order[np.cumsum(work[order]) <= WORK * matrix.shape[0]]] = True
    return is_rare


def _expect_new(
    records: Records, view: _View, chance: Chance, sample: Rows, keys: Keys
) -> NDArray[np.float64]:
    """How many matches to expect at each rank of a view, beyond those of chance and those that are found."""
    nearest = view.find_nearest(sample, MOST)
    at, rank = np.nonzero(nearest >= 0)
    first, second = sample[at], nearest[at, rank].astype(np.int64)
    found = _write_keys(first, second, len(records))
    chances = _estimate_chances(records, chance, found)
    chances[_contains(keys, found)] = 0
    return _subtract_tail(_sum_by_rank(rank, chances))


def _sum_by_rank(rank: Rows, chances: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.bincount(rank, chances, minlength=MOST).astype(np.float64)


def _subtract_tail(expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is expected at each rank above what chance brings at the last ranks."""
    above: NDArray[np.float64] = np.maximum(expected - expected[-TAIL:].mean(), 0)
    return above


def _choose_rank(new: NDArray[np.float64]) -> int:
    """The number of the nearest beyond which few of the expected matches lie."""
    enough = np.cumsum(new) > (1 - LEFT) * new.sum()
    return int(np.clip(np.argmax(enough) + 1, FEWEST, MOST))


# ---------------------------------------------------------------- pairs
def _write_keys(first: Rows, second: Rows, n: int) -> Keys:
    """Write pairs of n rows as numbers, in the order of the first row and then of the second."""
    return np.minimum(first, second) * n + np.maximum(first, second)


def _sort_keys(*keys: Keys) -> Keys:
    """Put keys into one ascending array, each once."""
    joined = np.concatenate(keys)
    joined.sort()
    is_first = np.append(True, joined[1:] != joined[:-1])[: len(joined)]
    return joined if is_first.all() else joined[is_first]


class _LikelyPairs(NamedTuple):
    """Pairs that are not almost impossible, ascending."""

    keys: Keys
    probable: Keys
    """Those of them that probably match."""


def _add_likely(
    records: Records, chance: Chance, likely: _LikelyPairs, nearest: NDArray[np.int32]
) -> _LikelyPairs:
    """Add the likely pairs of each row with its nearest."""
    n = len(records)
    new, probable = [], [likely.probable]
    for start in range(0, n, CHUNK):
        at, rank = np.nonzero(nearest[start : start + CHUNK] >= 0)
        others = nearest[at + start, rank].astype(np.int64)
        keys = _sort_keys(_write_keys(at + start, others, n))
        keys = keys[~_contains(likely.keys, keys)]
        chances = _estimate_chances(records, chance, keys)
        new.append(keys[chances > LEAST_CHANCE])
        probable.append(keys[chances > PROBABLE])
    found = _sort_keys(*new)
    new.clear()
    return _LikelyPairs(_sort_keys(likely.keys, found), _sort_keys(*probable))


def _contains(keys: Keys, some: Keys) -> NDArray[np.bool_]:
    """Which of some keys are among sorted ones."""
    if not len(keys):
        return np.zeros(len(some), dtype=bool)
    found: NDArray[np.bool_] = keys[np.minimum(np.searchsorted(keys, some), len(keys) - 1)] == some
    return found


def _estimate_chances(records: Records, chance: Chance, keys: Keys) -> NDArray[np.float32]:
    """The prior chance of a match of each pair."""
    chances = np.empty(len(keys), dtype=np.float32)
    for start in range(0, len(keys), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        chances[part] = chance(measure_cosine(records, *np.divmod(keys[part], len(records))))
    return chances


def _join_copies(records: Records) -> Keys:
    """Pairs of records with the same texts: each with the next one that it may match, and the one before."""
    n = len(records)
    text = number_texts(records.whole)
    block = np.zeros(n, dtype=np.int64) if records.block is None else records.block
    source = np.arange(n) if records.origin is None else records.origin
    # copies of the whole record are neighbours, too, unless they have to be parted by origin
    order = np.lexsort(
        (source, records.copies, block, text) if records.origin is None else (source, block, text)
    )
    order = order[[bool(records.whole[row]) for row in order]]
    is_run = np.ones(len(order), dtype=bool)
    is_group = is_run.copy()
    is_group[1:] = (np.diff(text[order]) != 0) | (np.diff(block[order]) != 0)
    is_run[1:] = is_group[1:] | (np.diff(source[order]) != 0)
    run, group = np.cumsum(is_run) - 1, np.cumsum(is_group) - 1
    starts = np.append(np.flatnonzero(is_run), len(order))
    places = np.arange(len(order))
    after, before = starts[run + 1], starts[run] - 1
    keys = [np.empty(0, dtype=np.int64)]
    for other, is_there in ((after, after < len(order)), (before, before >= 0)):
        place, other = places[is_there], other[is_there]
        alike = group[place] == group[other]
        keys.append(_write_keys(order[place[alike]], order[other[alike]], n))
    return _sort_keys(*keys)


def _find_common(records: Records, keys: Keys, probable: Keys, rng: np.random.Generator) -> Keys:
    """Further pairs, beside the keys, of records that probably match the same third one."""
    n = len(records)
    ends = np.divmod(probable, n)
    graph = sp.csr_matrix((np.ones(len(probable), dtype=np.float32), ends), shape=(n, n))
    graph = sp.csr_matrix(graph + graph.T)
    has_few = np.diff(graph.indptr) <= MOST_PROBABLE
    through = sp.csr_matrix(sp.diags_array(has_few.astype(np.float32)) @ graph)
    found = []
    for start in range(0, n, CHUNK):
        pairs = sp.coo_matrix(graph[start : start + CHUNK] @ through)
        first, second = pairs.row.astype(np.int64) + start, pairs.col.astype(np.int64)
        is_new = (first < second) & _may_match(records, first, second)
        new = np.sort(_write_keys(first[is_new], second[is_new], n))
        new = new[~_contains(keys, new)]
        most = MOST_COMMON * min(CHUNK, n - start)
        found.append(new if len(new) <= most else np.sort(rng.choice(new, most, replace=False)))
    return np.concatenate(found)


def _may_match(records: Records, first: Rows, second: Rows) -> NDArray[np.bool_]:
    """Whether pairs are of different origins, and of the same block."""
    may = np.ones(len(first), dtype=bool)
    if records.origin is not None:
        may &= records.origin[first] != records.origin[second]
    if records.block is not None:
        may &= records.block[first] == records.block[second]
    return may
