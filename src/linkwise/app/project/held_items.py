"""Hold the items of a session, so that no other process adds rows while questions are asked about them.

All who ask share the items; `linkwise extend` holds them alone. The system frees them when a process ends,
also if it is killed. Where a file system knows no locks, a session that is open sees at its next answer that
rows were added, and says so.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from linkwise.app.project.item_rows import items_folder, name_next
from linkwise.app.project.origin import origin_of
from linkwise.errors import SessionLockedError
from linkwise.session.session import Session
from linkwise.whole_files import UNFINISHED, remove_leftover

LOCK = ".lock"  # a file of the folder of items
PATIENCE_S, PAUSE_S = 1.0, 0.02


@contextmanager
def hold_items(path: Path, *, alone: bool = False) -> Iterator[None]:
    """Hold the items of a session until the end of the block.

    Parameters
    ----------
    path : Path
        The session.
    alone : bool, default=False
        Whether no other process may hold them meanwhile.

    Raises
    ------
    SessionLockedError
        Another process holds them, and one of both wants them alone.
    """
    folder = items_folder(path)
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
    """Remove items of an extension that was killed before the session named them."""
    for file in folder.glob(f".{name_next('*')}*{UNFINISHED}"):
        remove_leftover(file)
    unnamed = list(folder.glob(name_next("*")))
    if unnamed:
        with Session.open(path) as stored:
            items = origin_of(stored, path).get("items", {})
        unnamed = [file for file in unnamed if file.name != name_next(items.get("hash", ""))]
    for file in unnamed:
        with suppress(OSError):
            file.unlink()
