"""The files whose rows a session about items has."""

from __future__ import annotations

import os
from pathlib import Path

from linkwise.errors import DataError
from linkwise.large.chunks import find_files
from linkwise.large.item_table import ItemTable
from linkwise.large.table_labels import check_unchanged
from linkwise.wording import join_names


def list_files(data: Path, path: Path, items: ItemTable) -> tuple[Path, ...]:
    """List the files of a session, which must be all that its data name.

    Raises
    ------
    DataError
        A file is not there, or the data name a file that is new.
    """
    files = list_known_files(path, items)
    known = {each.resolve() for each in files}
    if new := [each.name for each in find_files(data) if each.resolve() not in known]:
        raise DataError(
            f"The files of the data have changed since the items were made: {join_names(new, 5)} new. Add"
            " their rows to the session with linkwise extend."
        )
    return files


def list_known_files(path: Path, items: ItemTable) -> tuple[Path, ...]:
    """List the files whose rows a session has, which must be there.

    Raises
    ------
    DataError
        A file is not there.
    """
    files = _locate_parts(path, items)
    if gone := [each.name for each in files if not each.is_file()]:
        raise DataError(
            f"The files of the data have changed since the items were made: {join_names(gone, 5)} not there."
            " Restore them."
        )
    return files


def _locate_parts(path: Path, items: ItemTable) -> tuple[Path, ...]:
    return tuple(Path(os.path.normpath(path.parent / part.path)) for part in items.parts)


def check_known_files(path: Path, items: ItemTable) -> None:
    """Check that the files of a session hold the rows of its items, as far as they are there.

    Raises
    ------
    DataError
        A file has changed, and the error names it.
    """
    check_unchanged(_locate_parts(path, items), items)
