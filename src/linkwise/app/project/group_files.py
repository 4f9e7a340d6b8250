"""The files of a session about groups: those of its data, and the folder of its groups with a lock."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from linkwise.app.project.group_rows import groups_folder, name_next
from linkwise.app.project.origin import origin_of
from linkwise.errors import DataError, SessionLockedError
from linkwise.large.chunks import find_files
from linkwise.large.group_table import GroupTable
from linkwise.large.table_labels import check_unchanged
from linkwise.session.session import Session
from linkwise.whole_files import UNFINISHED, remove_leftover
from linkwise.wording import join_names


def list_files(data: Path, path: Path, groups: GroupTable) -> tuple[Path, ...]:
    """List the files of a session, which must be there and be all that its data name."""
    files = list_known_files(path, groups)
    known = {each.resolve() for each in files}
    if new := [each.name for each in find_files(data) if each.resolve() not in known]:
        raise DataError(
            f"The files of the data have changed since the groups were made: {join_names(new, 5)} new. Add"
            " their rows to the session with linkwise extend."
        )
    return files


def list_known_files(path: Path, groups: GroupTable) -> tuple[Path, ...]:
    """List the files whose rows a session has, which must be there."""
    files = _locate_parts(path, groups)
    if gone := [each.name for each in files if not each.is_file()]:
        raise DataError(
            f"The files of the data have changed since the groups were made: {join_names(gone, 5)} not there."
            " Restore them."
        )
    return files


def _locate_parts(path: Path, groups: GroupTable) -> tuple[Path, ...]:
    return tuple(Path(os.path.normpath(path.parent / part.path)) for part in groups.parts)


def check_known_files(path: Path, groups: GroupTable) -> None:
    """Check that the files of a session hold the rows of its groups, as far as they are there."""
    check_unchanged(_locate_parts(path, groups), groups)


# ---------------------------------------------------------------- the lock
# All who ask share the groups, so that no other process adds rows meanwhile; `linkwise extend` holds
# them alone. The system frees them when a process ends, also if it is killed. Where a file system knows
# no locks, a session that is open sees at its next answer that rows were added.
LOCK = ".lock"  # a file of the folder of groups
PATIENCE_S, PAUSE_S = 1.0, 0.02


@contextmanager
def hold_groups(path: Path, *, alone: bool = False) -> Iterator[None]:
    """Hold the groups of a session until the end of the block.

    `alone` lets no other process hold them meanwhile.
    """
    folder = groups_folder(path)
    try:
        file = (folder / LOCK).open("ab")
    except OSError:  # a folder that nobody may write to; so nobody adds rows
        yield
        return
    with file:
        if _try_lock(file.fileno(), fcntl.LOCK_EX):
            _remove_leftovers(path, folder)
        elif alone:
            raise SessionLockedError(
                f"{path} is open in another process. Its answers are stored. End linkwise ask or linkwise"
                " serve there, and call linkwise extend again."
            )
        if not alone and not _wait_to_share(file.fileno()):
            raise SessionLockedError(f"linkwise extend is adding rows to {path}. Wait until it has finished.")
        yield


def _wait_to_share(file: int) -> bool:
    """Share a file; a process that begins to share it holds it alone for a moment."""
    end = time.monotonic() + PATIENCE_S
    while not (is_shared := _try_lock(file, fcntl.LOCK_SH)) and time.monotonic() < end:
        time.sleep(PAUSE_S)
    return is_shared


def _try_lock(file: int, kind: int) -> bool:
    """Try to lock a file, or to change its lock; True also where there are no locks."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _remove_leftovers(path: Path, folder: Path) -> None:
    """Remove groups of an extension that was killed before the session named them."""
    for file in folder.glob(f".{name_next('*')}*{UNFINISHED}"):
        remove_leftover(file)
    unnamed = list(folder.glob(name_next("*")))
    if unnamed:
        with Session.open(path) as stored:
            groups = origin_of(stored, path).get("groups", {})
        unnamed = [file for file in unnamed if file.name != name_next(groups.get("hash", ""))]
    for file in unnamed:
        with suppress(OSError):
            file.unlink()
