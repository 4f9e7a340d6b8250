"""Write files that are whole or absent, also if the process is killed or the power fails."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

UNFINISHED = ".unfinished"


@contextmanager
def write_whole(path: Path) -> Iterator[Path]:
    """Write a file under another name, from which it is renamed when its contents are on the disk.

    Several processes may write the same path at once: each has a name of its own, and the file of the
    last one stays. Files that a killed process left are removed by the next one that writes the same
    path. A file that is there also stays if the block fails.
    """
    _remove_leftovers(path)
    free, held = _create_beside(path)
    with held:
        try:
            yield free
            os.fsync(held.fileno())
            os.replace(free, path)
        finally:
            free.unlink(missing_ok=True)
    flush_folder(path.parent)


def _create_beside(path: Path) -> tuple[Path, BinaryIO]:
    """Create a file that is locked until its writer closes it or ends, which shows that it is no leftover."""
    while True:
        free = path.with_name(f".{path.name}.{token_hex(8)}{UNFINISHED}")
        held = free.open("xb")
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process takes it for a leftover
            held.close()
            continue
        except OSError:  # without locks nobody removes leftovers
            return free, held
        if os.fstat(held.fileno()).st_nlink:
            return free, held
        held.close()


def _remove_leftovers(path: Path) -> None:
    """Remove the unfinished files of a path that no process holds."""
    with suppress(OSError):
        for each in path.parent.iterdir():
            if each.name.startswith(f".{path.name}.") and each.name.endswith(UNFINISHED):
                remove_leftover(each)


def remove_leftover(unfinished: Path) -> None:
    """Remove an unfinished file, unless a process holds it."""
    with suppress(OSError), unfinished.open("r+b") as left:
        fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unfinished.unlink()


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, if the system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
