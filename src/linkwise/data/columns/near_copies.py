"""Find out whether rows are records of the same things, of which each has a few.

Grouping such rows is record linkage, a task of its own: there are hundreds of groups of two or three rows,
and an answer about one of them says nothing about the others. The words of a table show it. A row has a few
others that are written nearly alike, and the next one is much less alike.

Rows are compared by the groups of three letters that their cells share, weighted by how rare these are. Three
tables of the FEBRL generator of people and addresses (Christen, 2008) have copies of many records, and the
share of rows with copies is found within 0.05. On two others, which have none, nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import is_missing
from linkwise.data.columns.cycles import read_hours
from linkwise.data.columns.roles import count_missing, holds_whole_numbers, to_numbers, value_kind

if TYPE_CHECKING:
    import narwhals as nw

MOST_ROWS = 100_000  # above, a look would take more than ten seconds
_LEAST_ROWS = 100
_MOST_COLUMNS = 100
_LOOKED_AT = 300  # rows whose copies are looked for
_LEAST_DISTINCT = 0.1  # of the rows: a column with fewer values does not identify anything
_LONGEST = 25  # words in the cells of an average row: more are documents
_MOST_COPIES = 100
_LEAST_GROUPS = 10  # of records: fewer are clusters
_LONGEST_ALONE = 6  # words of an average text that stands alone: longer ones are texts, not names
_MOST_EMPTY = 0.5  # share of a column without values
_AGREE = 0.1  # standard deviations by which the numbers of most copies differ at most
_ALIKE = 0.5  # least cosine of copies
_DROP = 0.2  # by which the next row is less alike
_MANY_AGREE = 0.5  # least share of copies that agree in the middle one of the columns of numbers
_MANY = 0.25  # least share of rows with copies in a table of records
_MANY_ALONE = 0.45  # where one column is all there is


class NearCopies(NamedTuple):
    """How many rows have others that are written nearly alike.

    `share` is that of the rows that were looked at, and `group_size` the median size of their groups.
    `columns` are those that identify: words by which the rows were compared, and whole numbers, such as
    of phones, that most copies have in common.
    """

    share: float
    group_size: int
    columns: tuple[str, ...] = ()


def find_near_copies(frame: nw.DataFrame[Any], id_column: str | None = None) -> NearCopies | None:
    """Find out whether at least a quarter of the rows have a few copies that are written nearly alike.

    A table with more than 100 000 rows or 100 columns is not looked at.
    """
    n = len(frame)
    if not _LEAST_ROWS <= n <= MOST_ROWS or len(frame.columns) > _MOST_COLUMNS:
        return None
    columns, records = _write_records(frame, id_column)
    n_words = sum(len(record.split()) for record in records)
    if not records or n_words > (_LONGEST if len(columns) > 1 else _LONGEST_ALONE) * n:
        return None
    weights = _weigh_letters(records)
    chosen = np.random.default_rng(0).permutation(n)[:_LOOKED_AT]
    alike = (weights[chosen] @ weights.T).toarray()
    alike[np.arange(len(chosen)), chosen] = -1  # the row itself
    size = _group_sizes(-np.sort(-alike, axis=1)[:, : _MOST_COPIES + 1])
    has_copies = size > 1
    if has_copies.any() and np.median(size[has_copies]) > n / _LEAST_GROUPS:
        return None
    if has_copies.mean() < (_MANY if len(columns) > 1 else _MANY_ALONE) or not _agree_in_numbers(
        frame, columns, id_column, chosen, alike, size
    ):
        return None
    codes = _find_common_codes(frame, id_column, chosen[has_copies], alike[has_copies].argmax(axis=1))
    identifying = tuple(name for name in frame.columns if name in {*columns, *codes})
    return NearCopies(float(has_copies.mean()), int(np.median(size[has_copies])), identifying)


def _write_records(frame: nw.DataFrame[Any], id_column: str | None) -> tuple[tuple[str, ...], list[str]]:
    """The columns of words, and the cells that can identify each row; nothing without words."""
    columns, with_words = [], []
    for name in frame.columns:
        series = frame.get_column(name)
        is_text = value_kind(series) == "words" and read_hours(series) is None
        can_identify = is_text or holds_whole_numbers(series) or series.dtype.is_temporal()
        if name == id_column or not can_identify or not _may_identify(series):
            continue
        if is_text:
            with_words.append(name)
        columns.append(["" if is_missing(cell) else str(cell).lower() for cell in series.to_list()])
    records = [" ".join(cells) for cells in zip(*columns, strict=True)] if with_words else []
    return tuple(with_words), records


def _agree_in_numbers(
    frame: nw.DataFrame[Any],
    texts: tuple[str, ...],
    id_column: str | None,
    rows: NDArray[np.int64],
    alike: NDArray[np.float32],
    size: NDArray[np.int64],
) -> bool:
    """Whether copies agree in most of the numbers, too: cars of one model are not one car."""
    names = [name for name in frame.columns if name not in (*texts, id_column)]
    columns = [frame.get_column(name) for name in names]
    numbers = [to_numbers(series) for series in columns if value_kind(series) == "number"]
    numbers = [values for values in numbers if len(np.unique(values[np.isfinite(values)])) > 1]
    if not numbers:
        return True
    with_copies = np.flatnonzero(size > 1)
    first, copy = rows[with_copies], alike[with_copies].argmax(axis=1)
    spreads = [float(values[np.isfinite(values)].std()) for values in numbers]
    gaps = [np.abs(values[first] - values[copy]) / s for values, s in zip(numbers, spreads, strict=True)]
    agree = [float(np.mean(gap[~np.isnan(gap)] <= _AGREE)) if (gap == gap).any() else 1.0 for gap in gaps]
    return bool(np.median(agree) >= _MANY_AGREE)


def _find_common_codes(
    frame: nw.DataFrame[Any], id_column: str | None, rows: NDArray[np.int64], copies: NDArray[np.intp]
) -> list[str]:
    """The columns of whole numbers that identify, and that most rows have in common with their copies."""
    found = []
    for name in frame.columns:
        series = frame.get_column(name)
        if name == id_column or not holds_whole_numbers(series) or not _may_identify(series):
            continue
        values = series.to_list()
        known = [
            (a, b)
            for a, b in zip(rows.tolist(), copies.tolist(), strict=True)
            if None not in (values[a], values[b])
        ]
        if known and sum(values[a] == values[b] for a, b in known) >= _MANY_AGREE * len(known):
            found.append(name)
    return found


def _may_identify(series: nw.Series[Any]) -> bool:
    """Whether a column is filled in most rows, with many different values."""
    n = len(series)
    return series.n_unique() >= _LEAST_DISTINCT * n and count_missing(series) <= _MOST_EMPTY * n


def _weigh_letters(records: list[str]) -> Any:
    """(n_rows, n_groups) sparse weights of the groups of three letters, each row of unit length."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=2, dtype=np.float32)
    try:
        return letters.fit_transform(records)
    except ValueError:  # no two rows share a group of letters
        from scipy.sparse import csr_array

        return csr_array((len(records), 1), dtype=np.float32)


def _group_sizes(alike: NDArray[np.float32]) -> NDArray[np.int64]:
    """Size of the group of each row, 1 without copies, from its cosines to others, the largest first."""
    drop = alike[:, :-1] - alike[:, 1:]
    last = drop.argmax(axis=1)
    at = np.arange(len(alike)), last
    is_group = (alike[at] >= _ALIKE) & (drop[at] >= _DROP)
    return np.where(is_group, last + 2, 1)
