"""Rows that arrived after a session about items was begun, and the items that they become."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkwise.asking.learner import Progress
from linkwise.errors import DataError, DataMismatchError, SessionLockedError
from linkwise.parallel import HERE, Engine
from linkwise.session.session import Session
from linkwise.streams.chunks import find_files
from linkwise.streams.item_table import ItemTable
from linkwise.streams.new_rows import Extended, extend_items
from linkwise.wording import count_noun, join_names, quote_command
from linkwise.workspace.exit_codes import UsageError
from linkwise.workspace.item_rows import (
    describe_counts,
    is_of_items,
    items_folder,
    list_files,
    name_next,
    open_tables,
    read_reading,
    read_session_items,
    take_next,
)
from linkwise.workspace.origin import origin_of
from linkwise.workspace.project import data_path
from linkwise.workspace.reading import row_ids


def extend_session(
    path: Path, new: Path | None, progress: Progress | None = None, engine: Engine = HERE
) -> Extended:
    """Add the rows of new files to a session about items.

    Nothing changes until all rows are read. Then one commit gives the session its new rows, all answers and
    clusters stay, and the file of items follows.

    Parameters
    ----------
    path : Path
        The session.
    new : Path or None
        A file, a folder or a pattern of new files; by default the files that the data of the session name
        now, and did not when they were read last.
    progress : callable, optional
        ``progress(done, total)`` is called after each block of rows.
    engine : Engine
        The processes or the cluster that read the rows.

    Returns
    -------
    Extended
        The items with the new rows, and how many rows fit none of the earlier ones.
    """
    with Session.open(path) as stored:
        source = origin_of(stored, path)
    if not is_of_items(source):
        raise UsageError(
            f"{path} is about all rows, and not about items. Add the rows to the data file, and replay the"
            " answers: linkwise ask DATA --replay"
        )
    items, data = read_session_items(path, source), data_path(path, source)
    assert data is not None  # as the session is about items
    given = () if new is None else find_files(new)
    old = find_read_files(data, path, items, given)
    files = given if given else find_files(data)
    known = {each.resolve() for each in old}
    if new is None:
        files = tuple(each for each in files if each.resolve() not in known)
        if not files:
            raise UsageError(f"All files of {data} are in the session already. Name new files.")
    elif again := [each.name for each in files if each.resolve() in known]:
        raise UsageError(f"The session has the rows of {join_names(again, 5)} already. Name new files.")
    reading = read_reading(items, source)
    open_tables((*old, *files), reading)  # export reads all of them at once
    tables = open_tables(files, reading)
    paths = _list_relative(old, path), _list_relative(files, path)
    extended = extend_items(items, tables, paths, progress, engine)
    _store(path, source, extended.items)
    return extended


def find_read_files(data: Path, path: Path, items: ItemTable, given: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Find the files whose rows a session has, among those that its data name now.

    Files in other folders may have the same names. Then `given`, which are new, tell which ones.
    """
    if items.knows_paths:
        return list_files(data, path, items)
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


def _list_relative(files: Sequence[Path], path: Path) -> tuple[str, ...]:
    return tuple(os.path.relpath(each, path.parent) for each in files)


def _store(path: Path, source: dict[str, Any], items: ItemTable) -> None:
    """Store the items under another name, then the session, then the items under their own name.

    Whenever this is killed, the session finds the items that it names.
    """
    folder, rows = items_folder(path), items.rows
    items.write(folder, name_next(items.hash))
    now = source | {"items": source["items"] | describe_counts(items)}
    with Session.open(path) as stored:
        if origin_of(stored, path) != source:
            raise SessionLockedError(f"{path} was changed by another process. Call linkwise extend again.")
    try:
        with Session.open(path, rows.encoded.X, ids=row_ids(rows.table), source=now, recode=True):
            pass
    except DataMismatchError as error:
        raise DataError(f"The rows cannot be added to {path}: {error}") from error
    take_next(folder, items.hash)


def describe_extension(extended: Extended, path: Path) -> list[str]:
    """Say how many rows arrived, how many of them fit no item, and what to do about them."""
    told = [f"{count_noun(extended.n_rows, 'row')} in {count_noun(extended.n_files, 'file')} added"]
    total = sum(n for _, n in extended.unfit)
    if extended.unfit:
        told.append(
            f"{describe_unfit(extended.unfit)}. linkwise asks about"
            f" {'it' if total == 1 else 'them'} as {count_noun(extended.n_new, 'new item')}:"
            f" {quote_command('linkwise', 'ask', path)}"
        )
    elif extended.n_rows:
        told.append("All of them fit an item.")
    return told


def describe_unfit(unfit: Sequence[tuple[str, int]]) -> str:
    """Say how many rows of which files fit no item."""
    total = sum(n for _, n in unfit)
    verb = "fits" if total == 1 else "fit"
    told = f"{count_noun(total, 'row')} {verb} no item"
    if len(unfit) == 1:
        return f"{told}, in {unfit[0][0]}"
    return f"{told}: {join_names((f'{n} in {name}' for name, n in unfit), 5)}"
