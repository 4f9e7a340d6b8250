"""Check the size of input from the sizes that a file declares, before its contents are unpacked.

The limits are far above the tables that linkwise can cluster. They prevent a damaged or hostile file from
using all memory or an hour of time.
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.errors import DataError

MOST_COLUMNS = 65_536  # a table of all human genes has 60 000
MOST_CELLS = 2_000_000_000  # 16 GB as floats; ten million rows of fifty columns are a quarter of it
MOST_CHARACTERS = 10_000_000  # in one cell; a long novel has 3 million
MOST_IN_NAME = 1000  # characters in the name of a column
MOST_EXPANSION = 250  # unpacked bytes for each byte of the file
FREE_BYTES = 2**28  # unpacked bytes that are always allowed


def check_columns(n_columns: int) -> None:
    """Raise if a table is wider than any that can be shown or clustered."""
    if n_columns > MOST_COLUMNS:
        raise DataError(
            f"The table has {n_columns} columns, but at most {MOST_COLUMNS} can be read. Keep the columns"
            " that matter in a smaller file, or replace them by a few hundred principal components."
        )


def check_name_lengths(names: Sequence[str]) -> None:
    """Raise if the name of a column is too long."""
    for at, name in enumerate(names, 1):
        if len(name) > MOST_IN_NAME:
            raise DataError(
                f"The name of column {at} has {len(name)} characters, but at most {MOST_IN_NAME} are allowed:"
                f" {name[:40]!r}…. Use a shorter name."
            )


def check_cells(n_rows: int, n_columns: int) -> None:
    """Raise if a table of this shape is too large or too wide."""
    check_columns(n_columns)
    if n_rows * n_columns > MOST_CELLS:
        raise DataError(
            f"The table has {n_rows} rows and {n_columns} columns, but at most {MOST_CELLS} cells can be"
            " read. Cluster a sample of the rows, or keep fewer columns in the file."
        )


def is_expanding(n_unpacked: int, n_packed: int) -> bool:
    """Whether a file is much larger unpacked than packed, both in bytes."""
    return n_unpacked > max(FREE_BYTES, MOST_EXPANSION * n_packed)


def check_expansion(n_unpacked: int, n_packed: int) -> None:
    """Raise if a table is much larger than its file, both in bytes."""
    if is_expanding(n_unpacked, n_packed):
        raise DataError(
            f"The file has {n_packed} bytes, but its table takes {n_unpacked} bytes, more than"
            f" {MOST_EXPANSION} times as many: nearly all cells are equal or empty. Drop the columns that"
            " hold hardly anything, or save the table as CSV."
        )


def too_large_for_memory() -> DataError:
    """Build the error for a table that does not fit into memory."""
    return DataError(
        "The table does not fit into the memory of this machine. Cluster a sample of the rows, or keep"
        " fewer columns in the file."
    )
