"""Features of pairs of records: how alike two records are, in each column and as a whole.

A text is compared by the cosines of its weighted words and groups of letters, and by the weight of its common
words as a share of the shorter one (so a name without its middle name is inside the full one). A number is
compared by its difference, in units of the middle half of its column, and by the ratio of both; a code as the
same or not. A value that is missing gives 0.5, and a mark. A record as a whole is compared in the same ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.learn.records.records import Counts, RecordColumn, Records, Weights

Rows = NDArray[np.int64]
Values = NDArray[np.float32]

STEEPNESS = 4.0  # of the likeness of numbers: it falls by e for a difference of a quarter of the middle half
UNKNOWN = 0.5  # of a similarity where a value is missing


class PairFeature(NamedTuple):
    """What a feature measures: the column, "" for whole records, and how it compares two records."""

    column: str
    measure: str


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """Features of pairs of records.

    Attributes
    ----------
    names : tuple of PairFeature
        What each feature measures.
    values : ndarray of float32, shape (n_pairs, n_features)
        The features; similarities are from 0 to 1.
    signs : ndarray of int8, shape (n_features,)
        1 where more makes a match more probable, and 0 where it may do either.
    cosine : ndarray of float64, shape (n_pairs,)
        Mean of the cosines of whole records by words and by groups of letters.
    """

    names: tuple[PairFeature, ...]
    values: Values
    signs: NDArray[np.int8]
    cosine: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.values)


def measure_pairs(records: Records, first: Rows, second: Rows) -> PairFeatures:
    """Measure how alike the records of each pair are.

    The features depend on the columns alone, so they are the same for candidates and for pairs of new
    records with old ones.

    Parameters
    ----------
    records : Records
        The records.
    first, second : ndarray of int64, shape (n_pairs,)
        The rows of each pair.

    Returns
    -------
    PairFeatures
        Features of each pair.

    Notes
    -----
    The cost is that of merging the sorted words and groups of letters of both rows. Each pair of different
    texts of a column is measured once.
    """
    found: dict[PairFeature, Values] = {}
    whole = dict(_compare_texts(records.counts, records.weights, first, second))
    cosine = (whole["words"].astype(np.float64) + whole["letters"]) / 2
    for measure, values in whole.items():
        found[PairFeature("", measure)] = values
    for column in records.columns:
        for measure, values in _compare_column(column, first, second):
            found[PairFeature(column.name, measure)] = values
    names = tuple(found)
    signs = np.array([0 if name.measure == "missing" else 1 for name in names], dtype=np.int8)
    return PairFeatures(names, np.column_stack(list(found.values())), signs, cosine)


def measure_cosine(records: Records, first: Rows, second: Rows) -> NDArray[np.float64]:
    """Return the mean of the cosines of whole records by words and by groups of letters."""
    words, letters = (multiply_pairs(matrix, first, second) for matrix in records.counts)
    return (words.astype(np.float64) + letters) / 2


# ---------------------------------------------------------------- columns
def _compare_column(column: RecordColumn, first: Rows, second: Rows) -> Iterator[tuple[str, Values]]:
    """Yield each measure of a column, for all pairs."""
    missing = column.missing[first] | column.missing[second]
    yield "missing", missing.astype(np.float32)
    for measure, values in _compare_values(column, first, second):
        yield measure, np.where(missing, np.float32(UNKNOWN), values)


def _compare_values(column: RecordColumn, first: Rows, second: Rows) -> Iterator[tuple[str, Values]]:
    yield "same", (column.value[first] == column.value[second]).astype(np.float32)
    if column.numbers is not None:
        yield from _compare_numbers(column.numbers, column.unit, first, second)
    elif column.counts is not None and column.weights is not None:
        low, high = np.sort([column.value[first], column.value[second]], axis=0)
        rows = np.unique(column.value, return_index=True)[1]
        keys, place = np.unique(low * len(rows) + high, return_inverse=True)
        one, other = rows[keys // len(rows)], rows[keys % len(rows)]
        for measure, values in _compare_texts(column.counts, column.weights, one, other):
            yield measure, values[place]


def _compare_numbers(
    numbers: NDArray[np.float64], unit: float, first: Rows, second: Rows
) -> Iterator[tuple[str, Values]]:
    """Yield two likenesses of numbers; what they are where a number is missing does not matter."""
    one, other = np.nan_to_num(numbers[first]), np.nan_to_num(numbers[second])
    yield "near", np.exp(-STEEPNESS * np.abs(one - other) / unit).astype(np.float32)
    least, most = np.sort(np.abs([one, other]), axis=0)
    ratio = np.divide(least, most, out=np.ones(len(most)), where=most > 0)
    yield "ratio", np.where(one * other < 0, 0, ratio).astype(np.float32)


# ---------------------------------------------------------------- texts
def _compare_texts(
    counts: Counts, weights: Weights, first: Rows, second: Rows
) -> Iterator[tuple[str, Values]]:
    yield "words", multiply_pairs(counts.words, first, second)
    yield "letters", multiply_pairs(counts.letters, first, second)
    rarity = sp.csr_matrix(counts.words, copy=True)  # roots, so that the product of two rows has the sum
    rarity.data = np.sqrt(weights.word_rarity)[rarity.indices]
    total = np.asarray(rarity.multiply(rarity).sum(axis=1)).ravel()
    shorter = np.minimum(total[first], total[second])
    common = multiply_pairs(rarity, first, second)
    yield "inside", np.minimum(common / np.maximum(shorter, 1e-9), 1).astype(np.float32)


def multiply_pairs(matrix: sp.csr_matrix, first: Rows, second: Rows) -> Values:
    """Multiply rows of a sparse matrix with others: (n_pairs,) inner products."""
    first, second = (np.ascontiguousarray(rows, dtype=np.int64) for rows in (first, second))
    return native.multiply_pairs(matrix, first, second, parallel.n_threads())
