"""The files whose rows a session about items has."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from linkwise.errors import DataError
from linkwise.streams.chunks import find_files
from linkwise.streams.item_table import ItemTable
from linkwise.streams.table_labels import check_unchanged
from linkwise.wording import join_names, quote_command
from linkwise.workspace.exit_codes import UsageError


def list_files(data: Path, path: Path, items: ItemTable) -> tuple[Path, ...]:
    """List the files of a session, which must be all that its data name.

    Raises
    ------
    DataError
        A file is not there, or the data name a file that is new.
    """
    if not items.knows_paths:
        return find_files(data)  # `check_files` compares their names
    files = list_known_files(path, items)
    known = {each.resolve() for each in files}
    if new := [each.name for each in find_files(data) if each.resolve() not in known]:
        raise DataError(
            f"The files of the data have changed since the items were made: {join_names(new, 5)} new. Add"
            " their rows to the session with linkwise extend."
        )
    return files


def list_known_files(path: Path, items: ItemTable) -> tuple[Path, ...]:
    """List the files of items that know their paths, which must be there."""
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
    if items.knows_paths:
        check_unchanged(_locate_parts(path, items), items)


def find_read_files(data: Path, path: Path, items: ItemTable, given: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Find the files whose rows a session has.

    Items of earlier versions know only the names of their files, and files in other folders may have the same
    names. Then `given`, which are new, tell which ones of those that the data name now.
    """
    if items.knows_paths:
        return list_known_files(path, items)
    named, known = find_files(data), Counter(part.name for part in items.parts)
    if Counter(each.name for each in named) - known:
        new = {each.resolve() for each in given}
        several = [name for name, n in known.items() if sum(each.name == name for each in named) > n]
        named = tuple(each for each in named if each.name not in several or each.resolve() not in new)
        if unclear := [name for name in several if sum(each.name == name for each in named) != known[name]]:
            raise UsageError(
                f"{data} names more files called {join_names(unclear, 5)} than the session has read. Name the"
                " new ones: " + quote_command("linkwise", "extend", path, "NEW")
            )
    files, found = iter(named), []
    for part in items.parts:
        here = next((each for each in files if each.name == part.name), None)
        if here is None:
            raise DataError(f"{part.name}, whose rows the session has, is not there. Restore it.")
        found.append(here)
    return tuple(found)
