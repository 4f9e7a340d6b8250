"""Find a table beside the data that may show what their rows are."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from linkwise.data import Table
from linkwise.data.show.side_table import read_side_table
from linkwise.errors import DataError
from linkwise.large.table_files import ParquetFile

ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
MOST_BYTES = 20_000_000  # of a file that is looked at
MOST_FILES = 20
RESULTS = {"cluster", "cluster_name", "id_a", "id_b", "answer"}  # columns of what linkwise writes


class SideFile(NamedTuple):
    """A table with a row for each row of the data, and its columns."""

    path: Path
    columns: tuple[str, ...]


def find_side_file(data: Path, table: Table) -> SideFile | None:
    """Find a table in the folder of the data that has a row for each of their rows; None if there is none.

    Files that linkwise writes, such as clusters and pairs, are left out.
    """
    try:
        found = sorted(
            path
            for path in data.parent.iterdir()
            if path.suffix.lower() in ENDINGS and path != data and path.is_file()
        )
    except OSError:  # a folder may hold files that can be read, and not be listed
        return None
    for path in found[:MOST_FILES]:
        try:
            if path.stat().st_size > MOST_BYTES or not _may_have_rows(path, len(table)):
                continue
            columns = tuple(read_side_table(path, table).frame.columns)
        except (DataError, ImportError, OSError):
            continue  # this file shows nothing
        if not RESULTS & set(columns):
            return SideFile(path, columns)
    return None


def _may_have_rows(path: Path, n_rows: int) -> bool:
    """Whether a file may have as many rows; a cell of several lines makes more lines than rows."""
    if path.suffix.lower() == ".parquet":
        return ParquetFile(path).count_rows() >= n_rows
    return path.read_bytes().count(b"\n") + 1 >= n_rows
