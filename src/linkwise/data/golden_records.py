"""Golden records: one row for each cluster, whose cells are chosen among those of its rows by a rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.constraints.checks import write_id
from linkwise.data.cells import format_cell, is_missing_cell
from linkwise.data.joining import (
    DELIMITED,
    ClusterColumns,
    Joined,
    check_n_rows,
    choose_free_name,
    join_text,
    needs_table,
    read_as_written,
    to_table,
    write_frame,
)
from linkwise.data.read.endings import DELIMITED as TEXT_ENDINGS
from linkwise.data.read.formats import read_file
from linkwise.data.read.frames import to_polars
from linkwise.data.read.parse import parse_columns
from linkwise.data.reading import Reading
from linkwise.errors import DataError
from linkwise.text_files import escape_cell
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    import narwhals as nw

NEWEST = "newest:"
RULES = ("frequent", "complete", "first", f"{NEWEST}DATECOLUMN")
N_ROWS, IDS, CLUSTER = "n_rows", "row_ids", "cluster"
BETWEEN_IDS = "; "

Rows = NDArray[np.int64]
Choose = Callable[[Rows, list[Any]], int]
"""Chooses one of several rows that have a value in a column, given all cells of the column."""


class GoldenRecords(NamedTuple):
    """One row for each cluster.

    Attributes
    ----------
    frame : DataFrame
        The columns of the table, then the number of rows that each row stands for, their ids, and their
        cluster.
    several : dict of str to int
        The number of clusters that had different values in a column, of which one was chosen. Columns of
        which no value was left out are not listed.
    """

    frame: Any
    several: dict[str, int]


def merge_rows(
    frame: Any, labels: NDArray[np.int64], ids: Sequence[str], rules: Mapping[str, str] | None = None
) -> GoldenRecords:
    """Merge the rows of each cluster into one.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or pyarrow, Table, or ndarray
        The rows.
    labels : ndarray of int64, shape (n_rows,)
        The cluster of each row. A row in none, -1, stays a row of its own.
    ids : sequence of str
        The id of each row. A column that holds them gets the first one of each cluster.
    rules : mapping of str to str, optional
        How the value of a column is chosen among those that are not missing. "frequent", the default, takes
        the most frequent one, of equally frequent ones the longest, and of these the first. "complete" takes
        the longest one, "first" the first, and "newest:WHEN" that of the row with the latest date in column
        WHEN.

    Returns
    -------
    GoldenRecords
        A frame of the same kind, in the order of the first row of each cluster.

    Raises
    ------
    DataError
        A rule is about a column that does not exist, is no rule, or its dates are none.
    """
    table, given = to_table(frame), dict(rules or {})
    _check_columns(given, table.columns)
    clusters = _split_rows(labels)
    taken, several = {}, {}
    for name in table.columns:
        values = table[name].to_list()
        is_id = name not in given and [str(write_id(value)) for value in values] == list(ids)
        choose = _make_rule("first" if is_id else given.get(name, "frequent"), name, table)
        rows, n_several = _choose_cells(clusters, values, choose)
        taken[name] = table[name][rows]
        if n_several and not is_id:
            several[name] = n_several
    return GoldenRecords(_append_counts(table, taken, clusters, ids, labels).to_native(), several)


def merge_file(
    data: Path,
    reading: Reading,
    labels: NDArray[np.int64],
    ids: Sequence[str],
    ending: str,
    rules: Mapping[str, str],
    frame: nw.DataFrame[Any] | None = None,
) -> Joined:
    """Merge the rows of each cluster of a file that was read so; `ending` is that of the new file.

    The cells of a text file stay as they are written. `frame` has the rows that were read, for data of which
    `needs_table` is true.
    """
    if needs_table(data, reading):
        assert frame is not None
        whole, own = to_polars(frame), ""
    else:
        contents = read_file(data, read_as_written(reading, ending))
        whole, own, reading = contents.written, contents.ending, contents.reading
    check_n_rows(len(whole), ClusterColumns(labels, None, None))
    merged = merge_rows(whole, labels, ids, rules)
    golden, last = merged.frame.drop(merged.frame.columns[-1]), merged.frame.columns[-1]
    if ending in DELIMITED:
        column = golden.columns[-1]
        golden = golden.with_columns(
            golden[column].map_elements(escape_cell, return_dtype=golden[column].dtype)
        )
    clusters = ClusterColumns(merged.frame[last].to_numpy(), None, None)
    if own in TEXT_ENDINGS:
        joined = join_text(None, golden, reading, clusters, ending)
    else:
        joined = write_frame(golden, clusters, ending, ",")
    return joined._replace(notes=[*joined.notes, *describe_merging(merged, len(labels))])


def describe_merging(merged: GoldenRecords, n_rows: int) -> list[str]:
    """Say how many rows became one, and in which columns a value was chosen among several."""
    n_records = len(to_table(merged.frame))
    found = [f"{count_noun(n_rows, 'row')} became {count_noun(n_records, 'golden record')}."]
    if merged.several:
        counted = [f"'{name}' of {count_noun(n, 'cluster')}" for name, n in merged.several.items()]
        found.append(f"One of several values was chosen for {join_names(counted, 20)}.")
    return found


# ---------------------------------------------------------------- rules
def _check_columns(rules: Mapping[str, str], columns: Sequence[str]) -> None:
    named = {name: name for name in rules}
    named |= {rule.removeprefix(NEWEST): name for name, rule in rules.items() if rule.startswith(NEWEST)}
    for name, of in named.items():
        if name not in columns:
            raise DataError(
                f"The rule for {of!r} names a column that does not exist: {name!r}. Use one of"
                f" {join_names(columns, 20)}."
            )
    for name, rule in rules.items():
        if rule not in RULES[:-1] and not rule.startswith(NEWEST):
            raise DataError(f"The rule for {name!r} is {rule!r}. Use one of {join_names(RULES)}.")


def _make_rule(rule: str, name: str, table: nw.DataFrame[Any]) -> Choose:
    if rule == "first":
        return lambda rows, values: int(rows[0])
    if rule == "complete":
        return lambda rows, values: int(max(rows, key=lambda row: _length(values[row])))
    if rule == "frequent":
        return _choose_most_frequent
    when = _read_moments(table, rule.removeprefix(NEWEST), name)
    return lambda rows, values: int(rows[np.argmax(when[rows])])


def _choose_most_frequent(rows: Rows, values: list[Any]) -> int:
    count = Counter(_make_key(values[row]) for row in rows)
    return int(max(rows, key=lambda row: (count[_make_key(values[row])], _length(values[row]))))


def _length(value: Any) -> int:
    return len(format_cell(value)) if not isinstance(value, (list, tuple, np.ndarray)) else len(value)


def _make_key(value: Any) -> Any:
    """What is the same of equal values; lists and objects are compared as they are written."""
    return value if isinstance(value, (str, int, float, bool)) else repr(value)


def _read_moments(table: nw.DataFrame[Any], name: str, of: str) -> NDArray[np.float64]:
    """The numbers or dates of a column in their order; -inf where there is none."""
    import polars as pl

    series = to_polars(table.select(name))[name]
    if series.dtype == pl.String:
        series = parse_columns(series.to_frame()).frame[name]
    if not (series.dtype.is_temporal() or series.dtype.is_numeric()):
        raise DataError(
            f"The rule for {of!r} takes the newest value by {name!r}, which holds neither dates nor numbers."
            " Use a column of dates such as 2024-01-31."
        )
    found = series.to_physical().cast(pl.Float64).fill_null(-np.inf).fill_nan(-np.inf)
    return np.asarray(found.to_numpy(), dtype=np.float64)


# ---------------------------------------------------------------- cells
def _split_rows(labels: NDArray[np.int64]) -> list[Rows]:
    """The rows of each cluster, in the order of the first one; a row in no cluster is alone."""
    alone = np.where(labels < 0, labels.max(initial=-1) + 1 + np.arange(len(labels)), labels)
    order = np.argsort(alone, kind="stable")
    starts = np.flatnonzero(np.diff(alone[order])) + 1
    return sorted(np.split(order, starts), key=lambda rows: int(rows[0])) if len(labels) else []


def _choose_cells(clusters: Sequence[Rows], values: list[Any], choose: Choose) -> tuple[list[int], int]:
    """The row whose cell each cluster takes, and how many clusters have several values."""
    chosen, n_several = [], 0
    for rows in clusters:
        there = rows[[not _is_empty(values[row]) for row in rows]] if len(rows) > 1 else rows
        if len(there) < 2:
            chosen.append(int(there[0] if len(there) else rows[0]))
            continue
        n_several += len({_make_key(values[row]) for row in there}) > 1
        chosen.append(choose(there, values))
    return chosen, n_several


def _is_empty(value: Any) -> bool:
    return is_missing_cell(value) or (isinstance(value, str) and not value.strip())


def _append_counts(
    table: nw.DataFrame[Any],
    taken: Mapping[str, nw.Series[Any]],
    clusters: Sequence[Rows],
    ids: Sequence[str],
    labels: NDArray[np.int64],
) -> nw.DataFrame[Any]:
    """Put the number of rows, their ids and their cluster behind the cells that were chosen."""
    import narwhals as nw

    columns = {name: series.to_list() for name, series in taken.items()}
    schema = dict(table.schema)
    new: list[tuple[str, list[Any], Any]] = [
        (N_ROWS, [len(rows) for rows in clusters], nw.Int64()),
        (IDS, [BETWEEN_IDS.join(str(ids[row]) for row in rows) for rows in clusters], nw.String()),
        (CLUSTER, [int(labels[rows[0]]) for rows in clusters], nw.Int64()),
    ]
    for usual, values, kind in new:
        name = choose_free_name(usual, columns)
        columns[name], schema[name] = values, kind
    return nw.from_dict(columns, schema, backend=table.implementation)
