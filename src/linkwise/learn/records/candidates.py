"""Candidates: the pairs of records that may match.

Of all pairs of n records hardly any match, so the others are never looked at. Records are searched in several
views: the whole record by its words and by groups of letters, and each column of texts with many different
values by groups of letters. In each view the nearest records of each record are candidates. Only the rarest
words or groups count there: as many as keep a search within a fixed number of multiplications a record, so the
time grows with n and not with its square.

How many of the nearest are taken is decided for each view on a sample of records. Going down their lists of the
nearest, the prior chance of a match says how many matches to expect at each rank. The last ranks show what chance
alone brings; this is taken off. Beyond the rank that is chosen lies 1 % of the rest. Matches that an earlier view
has found do not count, so a view that brings little that is new is left out.

Copies are joined, and two records that probably match the same third one are candidates as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.learn.records.records import Records, number_texts
from linkwise.rng import rng_at

Chance = Callable[[NDArray[np.float32]], NDArray[np.float64]]
"""The prior chance of a match, by the mean of the two cosines of whole records."""

WORK = 20_000  # multiplications a record in the search of a view
FEWEST, MOST = 3, 64  # of the nearest records of a view
TAIL = 8  # of the last ranks, which show what chance alone brings
SAMPLE = 1500  # records on which the number of the nearest is decided
LEFT = 0.01  # share of the expected matches that may lie beyond it
MANY_VALUES = 0.1  # of a column that is a view of its own, as a share of the rows
LEAST_CHANCE = 0.002  # of a pair that stays a candidate
PROBABLE = 0.5  # chance of a match with the third record that two others have in common
MOST_PROBABLE = 100  # such matches of one record; more come of records that say little
MOST_COMMON = 3  # pairs with a third record in common, as a multiple of the rows
CHUNK = 100_000  # rows at once
_SAMPLE, _COMMON, _OUTSIDE = range(3)  # places of random draws

Keys = NDArray[np.int64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Candidates:
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


def find_candidates(records: Records, chance: Chance, *, seed: int) -> Candidates:
    """Find the pairs of records that may match.

    Parameters
    ----------
    records : Records
        The records. Those of one source are no candidates, nor are those of different blocks.
    chance : callable
        The prior chance of a match, by the mean of the cosines of whole records by words and by letters.
    seed : int
        Seed of the sample that decides how many of the nearest records are taken.

    Returns
    -------
    Candidates
        The pairs, without those that have almost no chance.

    Notes
    -----
    The search of a view takes at most 20 000 multiplications a record, and gives at most 64 pairs a record.
    """
    n = len(records)
    sample = np.sort(rng_at(seed, _SAMPLE).choice(n, min(SAMPLE, n), replace=False))
    keys: Keys = np.empty(0, dtype=np.int64)
    kept: dict[str, int] = {}
    expected = 0.0
    for name, matrix in _list_views(records):
        view = _keep_rare(matrix, records.block)
        new = _expect_new(records, view, chance, sample, keys)
        if kept and new.sum() <= LEFT * expected:
            kept[name] = 0
            continue
        expected += float(new.sum())
        kept[name] = _choose_rank(new)
        nearest = _find_nearest(view, np.arange(n), kept[name], records.source)
        keys = _sort_keys(np.concatenate([keys, _make_keys(nearest)]))
    copies = _join_copies(records)
    keys = _sort_keys(np.concatenate([keys, copies]))
    chances = chance(measure_cosines(records, *np.divmod(keys, n)))
    is_candidate = chances > LEAST_CHANCE
    is_candidate[np.searchsorted(keys, copies)] = True
    common = _find_common(records, keys[is_candidate], keys[chances > PROBABLE], rng_at(seed, _COMMON))
    first, second = np.divmod(np.sort(np.concatenate([keys[is_candidate], common])), n)
    return Candidates(first, second, kept)


def measure_cosines(records: Records, first: Rows, second: Rows) -> NDArray[np.float32]:
    """Measure the mean of the cosines of whole records by words and by letters, for (q,) pairs."""
    words, letters = (_multiply_pairs(matrix, first, second) for matrix in records.counts)
    return (words + letters) / 2


# ---------------------------------------------------------------- views
def _list_views(records: Records) -> Iterator[tuple[str, sp.csr_matrix]]:
    """The matrices in which near records are candidates, by name."""
    yield "whole/letters", records.letters
    yield "whole/words", records.words
    texts = [column for column in records.columns if column.counts is not None]
    for column in texts:
        if len(texts) > 1 and column.value.max() + 1 > MANY_VALUES * len(records):
            yield f"{column.name}/letters", column.counts.letters


def _keep_rare(matrix: sp.csr_matrix, block: Rows | None) -> sp.csr_matrix:
    """Keep the rarest columns, as far as the work of a search allows; each block has columns of its own."""
    n, width = matrix.shape
    columns = matrix.indices
    if block is not None:
        in_blocks = np.repeat(block, np.diff(matrix.indptr)) * width + columns
        different, columns = np.unique(in_blocks, return_inverse=True)
        width = len(different)
    n_with = np.bincount(columns, minlength=width)
    order = np.argsort(n_with, kind="stable")
    work = np.cumsum(n_with[order].astype(np.float64) ** 2)
    kept = order[: np.searchsorted(work, WORK * n, side="right")]
    kept = np.sort(kept[n_with[kept] > 1])
    place = np.full(width, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    columns = place[columns]
    is_kept = columns >= 0
    start = np.concatenate([[0], np.cumsum(is_kept)])[matrix.indptr]
    return sp.csr_matrix((matrix.data[is_kept], columns[is_kept], start), shape=(n, len(kept)))


def _expect_new(
    records: Records, view: sp.csr_matrix, chance: Chance, sample: Rows, keys: Keys
) -> NDArray[np.float64]:
    """How many matches to expect at each rank of a view, beyond those that chance brings or that are found."""
    nearest = _find_nearest(view, sample, MOST, records.source)
    at, rank = np.nonzero(nearest >= 0)
    first, second = sample[at], nearest[at, rank].astype(np.int64)
    chances = chance(measure_cosines(records, first, second))
    chances[_contains(keys, _write_keys(first, second, len(records)))] = 0
    by_rank = np.bincount(rank, chances, minlength=MOST)
    return np.maximum(by_rank - by_rank[-TAIL:].mean(), 0)


def _choose_rank(new: NDArray[np.float64]) -> int:
    """The number of the nearest beyond which few of the expected matches lie."""
    enough = np.cumsum(new) > (1 - LEFT) * new.sum()
    return int(np.clip(np.argmax(enough) + 1, FEWEST, MOST))


# ---------------------------------------------------------------- pairs
def _write_keys(first: Rows, second: Rows, n: int) -> Keys:
    """Write pairs of n rows as numbers, in the order of the first row and then of the second."""
    return np.minimum(first, second) * n + np.maximum(first, second)


def _make_keys(nearest: NDArray[np.int32]) -> Keys:
    """The pairs of each row with its nearest, each once."""
    n = len(nearest)
    parts = []
    for start in range(0, n, CHUNK):
        at, rank = np.nonzero(nearest[start : start + CHUNK] >= 0)
        others = nearest[at + start, rank].astype(np.int64)
        parts.append(_sort_keys(_write_keys(at + start, others, n)))
    return _sort_keys(np.concatenate(parts))


def _sort_keys(keys: Keys) -> Keys:
    """Sort keys, each once."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _contains(keys: Keys, some: Keys) -> NDArray[np.bool_]:
    """Which of some keys are among sorted ones."""
    if not len(keys):
        return np.zeros(len(some), dtype=bool)
    return keys[np.minimum(np.searchsorted(keys, some), len(keys) - 1)] == some


def _join_copies(records: Records) -> Keys:
    """Pairs of records with the same texts: each with the next one that it may match, and the one before."""
    n = len(records)
    text = number_texts(records.whole)
    block = np.zeros(n, dtype=np.int64) if records.block is None else records.block
    source = np.arange(n) if records.source is None else records.source
    order = np.lexsort((source, block, text))
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
    return _sort_keys(np.concatenate(keys))


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
    """Whether pairs are of different sources, and of the same block."""
    may = np.ones(len(first), dtype=bool)
    if records.source is not None:
        may &= records.source[first] != records.source[second]
    if records.block is not None:
        may &= records.block[first] == records.block[second]
    return may


# ---------------------------------------------------------------- native code
def _find_nearest(matrix: sp.csr_matrix, of: Rows, k: int, source: Rows | None) -> NDArray[np.int32]:
    return native.largest_products(matrix, of, k, source, parallel.n_threads())


def _multiply_pairs(matrix: sp.csr_matrix, first: Rows, second: Rows) -> NDArray[np.float32]:
    return native.multiply_pairs(matrix, first, second, parallel.n_threads())
