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
from linkwise.data.columns.roles import value_kind

if TYPE_CHECKING:
    import narwhals as nw

MOST_ROWS = 10_000  # above, a look would take seconds
_LEAST_ROWS = 100
_MOST_COLUMNS = 100
_LOOKED_AT = 300  # rows whose copies are looked for
_LEAST_DISTINCT = 0.1  # of the rows: a column with fewer values does not identify anything
_LONGEST = 25  # words in the cells of an average row: more are documents
_MOST_COPIES = 10
_ALIKE = 0.5  # least cosine of copies
_DROP = 0.2  # by which the next row is less alike
_MANY = 0.25  # least share of rows with copies in a table of records


class NearCopies(NamedTuple):
    """How many rows have others that are written nearly alike.

    Attributes
    ----------
    share : float
        The share of rows with copies among the rows that were looked at.
    group_size : int
        Median size of the groups of such rows.
    columns : tuple of str
        The columns of words by which the rows were compared.
    """

    share: float
    group_size: int
    columns: tuple[str, ...] = ()


def find_near_copies(frame: nw.DataFrame[Any], id_column: str | None = None) -> NearCopies | None:
    """Find out whether many rows have a few copies that are written nearly alike.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table. One with more than 10 000 rows or 100 columns is not looked at.
    id_column : str, optional
        A column that is not looked at.

    Returns
    -------
    NearCopies or None
        None if fewer than a quarter of the rows have copies.
    """
    n = len(frame)
    if not _LEAST_ROWS <= n <= MOST_ROWS or len(frame.columns) > _MOST_COLUMNS:
        return None
    columns, records = _write_records(frame, id_column)
    if not records or sum(len(record.split()) for record in records) > _LONGEST * n:
        return None
    weights = _weigh_letters(records)
    chosen = np.random.default_rng(0).permutation(n)[:_LOOKED_AT]
    alike = (weights[chosen] @ weights.T).toarray()
    alike[np.arange(len(chosen)), chosen] = -1  # the row itself
    size = _group_sizes(-np.sort(-alike, axis=1)[:, : _MOST_COPIES + 1])
    has_copies = size > 1
    if has_copies.mean() < _MANY:
        return None
    return NearCopies(float(has_copies.mean()), int(np.median(size[has_copies])), columns)


def _write_records(frame: nw.DataFrame[Any], id_column: str | None) -> tuple[tuple[str, ...], list[str]]:
    """The columns of words, and the cells that can identify each row; nothing without words."""
    columns, with_words = [], []
    for name in frame.columns:
        series = frame.get_column(name)
        is_text = value_kind(series) == "words" and read_hours(series) is None
        can_identify = is_text or series.dtype.is_integer() or series.dtype.is_temporal()
        if name == id_column or not can_identify or series.n_unique() < _LEAST_DISTINCT * len(frame):
            continue
        if is_text:
            with_words.append(name)
        columns.append(["" if is_missing(cell) else str(cell).lower() for cell in series.to_list()])
    records = [" ".join(cells) for cells in zip(*columns, strict=True)] if with_words else []
    return tuple(with_words), records


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
