"""Records: the columns of a table as record linkage compares them.

Each column is a text, a number or a code. Words and groups of two and three letters are counted, weighted by
their rarity (TF-IDF), and scaled to unit length, for each column of texts and for the record as a whole. New
records are weighted like those that were there first, so both can be compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from linkwise.constraints.checks import is_missing
from linkwise.data.columns.roles import holds_whole_numbers, to_numbers, to_words, value_kind
from linkwise.data.columns.table import Table
from linkwise.data.reading import unknown_column
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

Kind = Literal["text", "number", "code"]

GROUPS_OF_LETTERS = (2, 3)
MISSING_WORDS = frozenset({"", "null", "none", "nan", "n a", "na", "unk", "unknown", "missing"})
LEAST_FILLED = 0.02  # share of the rows that have a value
MOST_LETTERS = 3  # in a number with its unit
MOSTLY = 0.9  # share of the values that decides what a column is
MOST_CODES = 0.02  # different values, as a share of all, of a code
LEAST_DISTINCT = 0.1  # of the values of a number that names things, such as that of a phone
LEAST_DIGITS = 6  # of the median of such a number
ROWS_AT_ONCE = 50_000  # in a pass over counts, whose intermediate results take several times their memory
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NOT_IN_WORDS = re.compile(r"[\W_]+")
_LETTER = re.compile(r"[^\W\d_]")


class Counts(NamedTuple):
    """Words and groups of letters of texts: sparse, of shapes (n_rows, n_words) and (n_rows, n_groups).

    As weights, each row has unit length unless it is empty.
    """

    words: sp.csr_matrix
    letters: sp.csr_matrix


@dataclass(frozen=True, eq=False)
class Weights:
    """How words and groups of letters are weighted: learned from texts, and the same for new ones.

    Attributes
    ----------
    words, letters : dict of str to int
        The column of each word, and of each group of letters.
    word_rarity, letter_rarity : ndarray of float32
        The log of how rare each is.
    """

    words: dict[str, int]
    letters: dict[str, int]
    word_rarity: NDArray[np.float32]
    letter_rarity: NDArray[np.float32]

    def weigh(self, texts: Sequence[str]) -> Counts:
        """Weigh the words and groups of letters of texts; those that are new do not count."""
        counter = CountVectorizer(analyzer=str.split, dtype=np.float32)
        counts = _count(counter, texts)
        found = sorted(counter.vocabulary_)
        words = sp.csr_matrix(counts @ _place(found, self.words))
        inside = _make_letter_counter()
        groups = _count(inside, found)
        letters = sp.csr_matrix(counts @ groups @ _place(sorted(inside.vocabulary_), self.letters))
        return Counts(_scale(words, self.word_rarity), _scale(letters, self.letter_rarity))


@dataclass(frozen=True, eq=False)
class RecordColumn:
    """One column of records.

    Attributes
    ----------
    name : str
        Its name in the table.
    kind : {"text", "number", "code"}
        How two values are compared: by words and letters, by their difference, or as the same or not.
    texts : list of str
        The values in lower case, words with one space between; "" where a value is missing.
    missing : ndarray of bool, shape (n_rows,)
        Where a value is missing.
    value : ndarray of int64, shape (n_rows,)
        Number of the text among all different ones.
    numbers : ndarray of float64, shape (n_rows,), or None
        Values of a number, NaN where missing; days of a date.
    unit : float
        Range of the middle half of the numbers; differences are measured in it.
    counts : Counts or None
        Weighted words and letters of a text.
    weights : Weights or None
        How they were weighted.
    """

    name: str
    kind: Kind
    texts: list[str]
    missing: NDArray[np.bool_]
    value: NDArray[np.int64]
    numbers: NDArray[np.float64] | None = None
    unit: float = 1.0
    counts: Counts | None = None
    weights: Weights | None = None


@dataclass(frozen=True, eq=False)
class Records:
    """Rows of a table as record linkage compares them.

    Attributes
    ----------
    columns : tuple of RecordColumn
        The columns that are compared.
    whole : list of str
        All texts of each record in one, or all values if there are no texts.
    counts : Counts
        Weighted words and letters of `whole`.
    weights : Weights
        How they were weighted.
    origin_column : RecordColumn or None
        Where each record comes from: two of one origin do not match.
    block_column : RecordColumn or None
        Only records with the same value can match.
    """

    columns: tuple[RecordColumn, ...]
    whole: list[str]
    counts: Counts
    weights: Weights
    origin_column: RecordColumn | None = None
    block_column: RecordColumn | None = None

    def __len__(self) -> int:
        return len(self.whole)

    @property
    def words(self) -> sp.csr_matrix:
        """Weighted words of whole records, of shape (n_rows, n_words)."""
        return self.counts.words

    @property
    def letters(self) -> sp.csr_matrix:
        """Weighted groups of letters of whole records, of shape (n_rows, n_groups)."""
        return self.counts.letters

    @property
    def origin(self) -> NDArray[np.int64] | None:
        """Number of the origin of each record, if origins are told; without one it has its own."""
        if self.origin_column is None:
            return None
        return np.where(self.origin_column.missing, -1 - np.arange(len(self)), self.origin_column.value)

    @property
    def block(self) -> NDArray[np.int64] | None:
        """Number of the block of each record, if there are blocks; those without a value are a block, too."""
        return None if self.block_column is None else self.block_column.value

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """A number of each record, the same for records with the same values in all compared columns."""
        number = np.zeros(len(self), dtype=np.int64)
        for column in self.columns if self.block_column is None else (*self.columns, self.block_column):
            keys = number * (int(column.value.max(initial=0)) + 1) + column.value
            number = np.unique(keys, return_inverse=True)[1]
        is_empty = np.all([column.missing for column in self.columns], axis=0)
        return np.where(is_empty, -1 - np.arange(len(self)), number)


# ---------------------------------------------------------------- from a table
def make_records(
    frame: nw.DataFrame[Any], names: Sequence[str], *, origin: str | None = None, same: str | None = None
) -> Records:
    """Make records of some columns of a table.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table.
    names : sequence of str
        The columns that are compared; those that tell nothing are left out.
    origin : str, optional
        The column that tells where a record comes from: two of one origin do not match.
    same : str, optional
        A column in which matching records agree.

    Returns
    -------
    Records
        The records.

    Raises
    ------
    DataError
        There is no row, no such column, or no column that can be compared.
    """
    if len(frame) == 0:
        raise DataError("The table has no rows, so there is nothing to link. Pass at least one record.")
    for name in (origin, same):
        if name is not None and name not in frame.columns:
            raise DataError(unknown_column(name, frame.columns))
    read = [_read_column(name, frame.get_column(name)) for name in names if name not in (origin, same)]
    columns = tuple(column for column in read if column is not None)
    if not columns:
        raise DataError(
            "The table has no column of texts, numbers or codes with two different values, so its records"
            " cannot be compared. Only letters and digits count. Use another method than records."
        )
    origin_column, block_column = (_read_names(frame, name) for name in (origin, same))
    whole = _join_texts(columns)
    weights, counts = learn_weights(whole)
    return Records(columns, whole, counts, weights, origin_column, block_column)


def check_that_some_match(records: Records) -> None:
    """Raise if the column of origins, or the one that must agree, says nothing or leaves no pair.

    Parameters
    ----------
    records : Records
        The records.

    Raises
    ------
    DataError
        Both are one column, one is empty, no two records have different origins, or no two agree.
    """
    both = [column.name for column in (records.origin_column, records.block_column) if column is not None]
    if len(both) == 2 and both[0] == both[1]:
        raise DataError(
            f"`origin` and `same` are both {both[0]!r}, so no two records can match. Remove one of them."
        )
    for parameter, column in (("origin", records.origin_column), ("same", records.block_column)):
        if column is None or len(records) == 1:
            continue
        start = f"Column {column.name!r} of `{parameter}`"
        if column.missing.all():
            raise DataError(f"{start} is empty. Set `{parameter}` to another column, or to None.")
        if int(column.value.max()) + 1 == (1 if parameter == "origin" else len(records)):
            found = "the same value in all rows" if parameter == "origin" else "another value in each row"
            raise DataError(
                f"{start} has {found}, so no two records can match. Set `{parameter}` to another column, or"
                " to None."
            )


def append_records(records: Records, frame: nw.DataFrame[Any]) -> Records:
    """Append new rows to records, weighted as the records were.

    Parameters
    ----------
    records : Records
        The records.
    frame : narwhals.DataFrame of shape (n_new_rows, n_columns)
        New rows, with all columns that the records have.

    Returns
    -------
    Records
        The records, and after them the new rows.

    Raises
    ------
    DataError
        A column is missing.
    """
    others = records.origin_column, records.block_column
    needed = [column.name for column in (*records.columns, *others) if column is not None]
    if missing := [name for name in needed if name not in frame.columns]:
        raise DataError(
            f"The new rows lack {join_names(missing, 5)}. Add all columns that the records were compared by."
        )
    columns = tuple(_append(column, frame) for column in records.columns)
    whole = [*records.whole, *_join_texts(tuple(_take_last(column, len(frame)) for column in columns))]
    origin_column, block_column = (None if one is None else _append(one, frame) for one in others)
    counts = _stack(records.counts, records.weights.weigh(whole[len(records) :]))
    return Records(columns, whole, counts, records.weights, origin_column, block_column)


def list_compared(table: Table) -> list[str]:
    """List the columns of a table by which records are compared.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    list of str
        Its features, and its texts unless a person has put them aside, in the order of the table.
    """
    aside = {*table.reading.shown_columns, *(table.reading.hide or ()), *(table.reading.drop or ())}
    kinds = {"numeric", "category", "date", "document"}
    return [
        column.name
        for column in table.columns
        if column.role in kinds or (column.role == "text" and column.name not in aside)
    ]


def _read_column(name: str, series: nw.Series[Any]) -> RecordColumn | None:
    """Decide by its values how a column is compared; None for one that tells nothing."""
    n, kind = len(series), value_kind(series)
    if kind in ("number", "date", "duration"):
        numbers = to_numbers(series)
        numbers[~np.isfinite(numbers)] = np.nan
        written = _clean_texts(map(_write_number, series.to_list()))
        if _names_things(series, numbers):
            return _make_column(name, "text", written)
        column = _make_column(name, "number", written, numbers)
        return column if len(np.unique(numbers[~column.missing])) > 1 or n == 1 else None
    raw = [word or "" for word in to_words(series)]
    texts = _clean_texts(raw)
    present = [text for text in texts if text]
    n_different = len(set(present))
    if len(present) < LEAST_FILLED * n or n_different < min(2, n):
        return None
    found = [
        _NUMBER.search(word.replace(",", "")) if text else None for word, text in zip(raw, texts, strict=True)
    ]
    if np.mean([len(_LETTER.findall(text)) <= MOST_LETTERS for text in present]) > MOSTLY:
        numbers = np.array([float(one.group()) if one else np.nan for one in found])
        longest = np.median([len(one.group().partition(".")[0]) for one in found if one] or [0])
        if np.isfinite(numbers).sum() > MOSTLY * len(present) and longest < LEAST_DIGITS:
            return _make_column(name, "number", texts, numbers)
    is_code = n_different < MOST_CODES * len(present) and np.mean([" " in text for text in present]) < 0.5
    return _make_column(name, "code" if is_code else "text", texts)


def _names_things(series: nw.Series[Any], numbers: NDArray[np.float64]) -> bool:
    """Whether whole numbers name things, such as phones: an error in one digit is an error of typing."""
    known = numbers[np.isfinite(numbers)]
    if value_kind(series) != "number" or not len(known) or not holds_whole_numbers(series):
        return False
    is_long = np.median(np.abs(known)) >= 10.0 ** (LEAST_DIGITS - 1)
    return bool(is_long and len(np.unique(known)) >= LEAST_DISTINCT * len(numbers))


def _make_column(
    name: str, kind: Kind, texts: list[str], numbers: NDArray[np.float64] | None = None
) -> RecordColumn:
    missing = np.array([not text for text in texts]) if numbers is None else np.isnan(numbers)
    unit = 1.0 if numbers is None else _measure_range(numbers[~missing])
    column = RecordColumn(name, kind, texts, missing, number_texts(texts), numbers, unit)
    if kind != "text":
        return column
    weights, counts = learn_weights(texts)
    return replace(column, weights=weights, counts=counts)


def _measure_range(known: NDArray[np.float64]) -> float:
    """The range of the middle half of numbers, or their deviation if half of them are the same."""
    low, high = np.percentile(known, (25, 75)) if len(known) else (0.0, 0.0)
    return float(high - low) or (float(np.std(known)) if len(known) else 1.0) or 1.0


def _read_names(frame: nw.DataFrame[Any], name: str | None) -> RecordColumn | None:
    """A column whose values are the same or not."""
    if name is None:
        return None
    return _make_column(name, "code", _clean_texts(map(_write_number, frame.get_column(name).to_list())))


def _append(column: RecordColumn, frame: nw.DataFrame[Any]) -> RecordColumn:
    """The values of a column, and after them those of new rows."""
    series = frame.get_column(column.name)
    new = _clean_texts(map(_write_number, series.to_list()))
    texts = [*column.texts, *new]
    numbers = column.numbers
    if numbers is not None:
        numbers = np.concatenate([numbers, _read_new_numbers(series, new)])
    missing = np.array([not text for text in texts]) if numbers is None else np.isnan(numbers)
    counts = None
    if column.counts is not None and column.weights is not None:
        counts = _stack(column.counts, column.weights.weigh(new))
    value = number_texts(texts)
    return replace(column, texts=texts, missing=missing, value=value, numbers=numbers, counts=counts)


def _read_new_numbers(series: nw.Series[Any], texts: list[str]) -> NDArray[np.float64]:
    if value_kind(series) in ("number", "date", "duration"):
        numbers = to_numbers(series)
        numbers[~np.isfinite(numbers)] = np.nan
        return numbers
    found = [
        _NUMBER.search(str(value).replace(",", "")) if text else None
        for value, text in zip(series.to_list(), texts, strict=True)
    ]
    return np.array([float(one.group()) if one else np.nan for one in found])


def _take_last(column: RecordColumn, n_rows: int) -> RecordColumn:
    """The last rows of a column, as far as they are joined into whole records."""
    return replace(column, texts=column.texts[len(column.texts) - n_rows :])


def _join_texts(columns: tuple[RecordColumn, ...]) -> list[str]:
    """All texts of each record in one; all values if no column is a text."""
    texts = [column.texts for column in columns if column.kind == "text"]
    cells = texts or [column.texts for column in columns]
    return [" ".join(filter(None, row)) for row in zip(*cells, strict=True)]


# ---------------------------------------------------------------- texts
def clean_text(text: str) -> str:
    """Write a text in lower case, its words with one space between; "" where it means a missing value."""
    plain = _NOT_IN_WORDS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return "" if plain in MISSING_WORDS else plain


def _clean_texts(texts: Iterable[str]) -> list[str]:
    """Clean texts; those that are the same share their memory."""
    known: dict[str, str] = {}
    return [known[text] if text in known else known.setdefault(text, clean_text(text)) for text in texts]


def _write_number(value: Any) -> str:
    """Write a cell as text: 7 for 7.0, since missing values elsewhere turn whole numbers into others."""
    if is_missing(value):
        return ""
    return format(value, ".0f") if isinstance(value, float) and value.is_integer() else str(value)


def number_texts(texts: list[str]) -> NDArray[np.int64]:
    """Number different texts in the order in which they come."""
    number: dict[str, int] = {}
    return np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int64)


def learn_weights(texts: list[str]) -> tuple[Weights, Counts]:
    """Learn how rare words and groups of letters are, and weigh those of the texts.

    The groups of letters are found once for each different word.

    Parameters
    ----------
    texts : list of str
        Texts as `clean_text` writes them.

    Returns
    -------
    Weights
        The rarity of each word and group.
    Counts
        The weighted words and groups of the texts.
    """
    counter = CountVectorizer(analyzer=str.split, dtype=np.float32)
    words = _count(counter, texts)
    inside = _make_letter_counter()
    letters = sp.csr_matrix(words @ _count(inside, sorted(counter.vocabulary_)))
    weights = Weights(
        counter.vocabulary_, inside.vocabulary_, _measure_rarity(words), _measure_rarity(letters)
    )
    return weights, Counts(_scale(words, weights.word_rarity), _scale(letters, weights.letter_rarity))


def _make_letter_counter() -> CountVectorizer:
    return CountVectorizer(
        analyzer="char_wb", ngram_range=GROUPS_OF_LETTERS, dtype=np.float32, lowercase=False
    )


def _place(found: Sequence[str], known: dict[str, int]) -> sp.csr_matrix:
    """The matrix that puts what was found into the columns of what is known."""
    pairs = [(row, known[one]) for row, one in enumerate(found) if one in known]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    ones = np.ones(len(pairs), dtype=np.float32)
    return sp.csr_matrix((ones, (rows, columns)), shape=(len(found), len(known)))


def _count(counter: CountVectorizer, texts: Sequence[str]) -> sp.csr_matrix:
    """Count what is in texts; nothing where all are empty, which scikit-learn refuses."""
    if not any(texts):
        counter.vocabulary_ = {}
        return sp.csr_matrix((len(texts), 0), dtype=np.float32)
    return sp.csr_matrix(counter.fit_transform(texts))


def _measure_rarity(counts: sp.csr_matrix) -> NDArray[np.float32]:
    n_rows, n_columns = counts.shape
    n_with = np.zeros(n_columns, dtype=np.int64)
    for part, _ in _list_parts(counts):
        n_with += np.bincount(counts.indices[part], minlength=n_columns)
    rarity: NDArray[np.float32] = np.log((1 + n_rows) / (1 + n_with)).astype(np.float32)
    return rarity


def _scale(counts: sp.csr_matrix, rarity: NDArray[np.float32]) -> sp.csr_matrix:
    """Weigh counts, in place, by 1 + log of the count, times rarity, and scale each row to unit length."""
    counts.sort_indices()
    for part, lengths in _list_parts(counts):
        weight = (1 + np.log(counts.data[part])) * rarity[counts.indices[part]]
        row = np.repeat(np.arange(len(lengths)), lengths)
        norm = np.sqrt(np.bincount(row, weight.astype(np.float64) ** 2, minlength=len(lengths)))
        counts.data[part] = weight / np.maximum(norm, 1e-9)[row]
    counts.eliminate_zeros()
    return counts


def _list_parts(counts: sp.csr_matrix) -> Iterator[tuple[slice, NDArray[np.int32]]]:
    """Yield where the entries of some rows after others stand, and how many each row has."""
    for first in range(0, counts.shape[0], ROWS_AT_ONCE):
        start = counts.indptr[first : first + ROWS_AT_ONCE + 1]
        yield slice(int(start[0]), int(start[-1])), np.diff(start)


def _stack(counts: Counts, new: Counts) -> Counts:
    words, letters = (sp.csr_matrix(sp.vstack(pair)) for pair in zip(counts, new, strict=True))
    return Counts(words, letters)
