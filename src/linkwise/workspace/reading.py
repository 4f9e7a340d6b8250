"""Read and encode a data file or folder with the options of the command line."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkwise.asking.learner import Progress
from linkwise.constraints.constraints import Constraints
from linkwise.data import Rows, Table, encode, items_of, read_folder, read_table
from linkwise.data.encode import Categories
from linkwise.data.readers import ENDINGS
from linkwise.errors import ConstraintWarning, DataError
from linkwise.workspace.exit_codes import UsageError
from linkwise.workspace.options import OF_FOLDERS


def read_rows(
    data: Path,
    source: dict[str, Any],
    categories: Categories = "columns",
    progress: Progress | None = None,
) -> Rows:
    """Read a file or a folder and encode its rows, as `Reading.source` describes."""
    if check_exists(data).is_dir():
        if not source["choices"].keys() <= {"kind", *OF_FOLDERS}:
            raise DataError(f"{data} is a folder, and the session was made for a file. Name that file.")
        try:
            return read_folder(data, **source["choices"], progress=progress)
        except ImportError as error:
            raise UsageError(str(error)) from error
    if "kind" in source["choices"]:
        raise DataError(f"{data} is a file, and the session was made for a folder. Name that folder.")
    table = read_table(data, **source["choices"])
    try:
        encoded = encode(table, scale=source["scale"], impute=source["impute"], categories=categories)
        return Rows(table, encoded, items_of(table))
    except DataError as error:
        raise DataError(f"{data.name}: {error}") from error


def check_exists(data: Path) -> Path:
    """Check that a data file or folder exists; return its path."""
    if not data.exists():
        raise FileNotFoundError(f"There is no file {data}.")
    return data


def is_data(path: Path) -> bool:
    """Whether a path is a folder or has the name of a data file."""
    return path.is_dir() or path.suffix.lower() in ENDINGS


def resolve_name(path: Path) -> Path:
    """Resolve a path without a name, such as the folder ``.``."""
    return path.resolve() if path.name in ("", "..") else path


def row_ids(table: Table) -> list[str] | None:
    """The id of every row; None if rows have no ids."""
    return None if table.ids is None else list(table.ids)


def read_pairs_file(
    path: Path, ids: Sequence[str] | None, n_rows: int, error_rate: float | str | None = None
) -> Constraints:
    """Read the pairs of a file ``id_a,id_b,kind``; rows without ids are named by their positions.

    With an error rate (a share of wrong pairs, or the word ``estimate``), pairs that are probably wrong are
    left out without a warning: name them to the person.
    """
    if path.is_dir():
        raise DataError(f"{path} is a folder. Name a file of pairs (id_a,id_b,kind).")
    rows: dict[str, Any] = {"n_rows": n_rows} if ids is None else {"ids": ids}
    if not error_rate:
        return Constraints.read_csv(path, **rows)
    share = None if isinstance(error_rate, str) else error_rate
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The constraints contradict", ConstraintWarning)
        return Constraints.read_csv(path, **rows, on_conflict="believe", error_rate=share)
