"""Rows that arrived after a session about groups was begun, and the groups that they become."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkwise.app.project.data_source import row_ids
from linkwise.app.project.exit_codes import UsageError
from linkwise.app.project.group_files import hold_groups, list_known_files
from linkwise.app.project.group_rows import (
    describe_counts,
    groups_folder,
    is_of_groups,
    name_next,
    open_tables,
    read_reading,
    read_session_groups,
    take_next,
)
from linkwise.app.project.origin import origin_of
from linkwise.app.project.project import data_path
from linkwise.errors import DataError, DataMismatchError, SessionLockedError
from linkwise.large.chunks import find_files
from linkwise.large.group_table import GroupTable
from linkwise.large.new_rows import Extended, extend_groups, remove_checkpoints
from linkwise.large.repeated_rows import check_new_ids, check_no_copies
from linkwise.large.table_labels import check_files, check_types
from linkwise.parallel import SERIAL_ENGINE, Engine
from linkwise.session.session import Session
from linkwise.types import Progress
from linkwise.wording import count_noun, join_names, quote_command


def extend_session(
    path: Path, new: Path | None, progress: Progress | None = None, engine: Engine = SERIAL_ENGINE
) -> Extended:
    """Add the rows of new files to a session about groups.

    Nothing changes until all rows are read. Then one commit gives the session its new rows, all answers
    and clusters stay, and the file of groups follows. `new` is a file, a folder or a pattern; by default
    the files that the data of the session name now, and did not when they were read last.
    """
    if not is_of_groups(_read_source(path)):
        raise UsageError(
            f"{path} is about all rows, and not about groups. Add the rows to the data file, and replay the"
            " answers: linkwise ask DATA --replay"
        )
    with hold_groups(path, alone=True):
        return _extend_held(path, new, progress, engine)


def _read_source(path: Path) -> dict[str, Any]:
    with Session.open(path) as stored:
        return origin_of(stored, path)


def _extend_held(path: Path, new: Path | None, progress: Progress | None, engine: Engine) -> Extended:
    source = _read_source(path)
    groups, data = read_session_groups(path, source), data_path(path, source)
    assert data is not None  # as the session is about groups
    given = () if new is None else find_files(new)
    old = list_known_files(path, groups)
    files = given if given else find_files(data)
    known = {each.resolve() for each in old}
    if new is None:
        files = tuple(each for each in files if each.resolve() not in known)
        if not files:
            raise UsageError(f"All files of {data} are in the session already. Pass new files.")
    elif again := [each.name for each in files if each.resolve() in known]:
        raise UsageError(f"The session has the rows of {join_names(again, 5)} already. Pass new files.")
    reading = read_reading(groups, source)
    open_tables((*old, *files), reading)  # export reads all of them at once
    tables, known_tables, id_column = (
        open_tables(files, reading),
        open_tables(old, reading),
        reading.id_column,
    )
    check_types(groups, tables, list(groups.encoding.file_columns), id_column)
    check_files(known_tables, groups)
    check_no_copies(tables, known_tables)
    if id_column is not None:
        check_new_ids(tables, known_tables, id_column, progress, engine)
    paths = _list_relative(old, path), _list_relative(files, path)
    extended = extend_groups(groups, tables, paths, groups_folder(path), progress, engine)
    _store(path, source, extended.groups)
    remove_checkpoints(groups_folder(path))
    return extended


def _list_relative(files: Sequence[Path], path: Path) -> tuple[str, ...]:
    return tuple(os.path.relpath(each, path.parent) for each in files)


def _store(path: Path, source: dict[str, Any], groups: GroupTable) -> None:
    """Store the groups under another name, then the session, then the groups under their own name.

    Whenever this is killed, the session finds the groups that it names. If it cannot be changed, those that
    it does not name are removed.
    """
    folder, rows = groups_folder(path), groups.rows
    groups.write(folder, name_next(groups.hash))
    now = source | {"groups": source["groups"] | describe_counts(groups)}
    try:
        if _read_source(path) != source:
            raise SessionLockedError(f"{path} was changed by another process. Call linkwise extend again.")
        with Session.open(path, rows.encoded.X, ids=row_ids(rows.table), source=now, recode=True):
            pass
    except BaseException as error:
        if _read_source(path) != now:
            (folder / name_next(groups.hash)).unlink(missing_ok=True)
        if isinstance(error, DataMismatchError):
            raise DataError(f"The rows cannot be added to {path}: {error}") from error
        raise
    take_next(folder, groups.hash)


def describe_extension(extended: Extended, path: Path, *more: object) -> list[str]:
    """Say how many rows arrived, how many of them fit no group, and what to do about them."""
    told = [f"{count_noun(extended.n_rows, 'row')} in {count_noun(extended.n_files, 'file')} added"]
    total = sum(n for _, n in extended.unfit)
    if extended.unfit:
        told.append(
            f"{describe_unfit(extended.unfit)}. linkwise asks about"
            f" {'it' if total == 1 else 'them'} as {count_noun(extended.n_new, 'new group')}:"
            f" {quote_command('linkwise', 'ask', path, *more)}"
        )
    elif extended.n_rows:
        told.append("All of them fit a group.")
    return told


def describe_unfit(unfit: Sequence[tuple[str, int]]) -> str:
    """Say how many rows of which files fit no group."""
    total = sum(n for _, n in unfit)
    verb = "fits" if total == 1 else "fit"
    told = f"{count_noun(total, 'row')} {verb} no group"
    if len(unfit) == 1:
        return f"{told}, in {unfit[0][0]}"
    return f"{told}: {join_names((f'{n} in {name}' for name, n in unfit), 5)}"
