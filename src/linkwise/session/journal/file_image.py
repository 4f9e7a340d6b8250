"""Read a session file that SQLite cannot open, because it or its folder cannot be written to.

SQLite needs files beside a session even to read it. Here its pages are read into memory as of one moment,
with those that its write-ahead log has committed, so no acknowledged answer is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from linkwise.errors import SessionLockedError
from linkwise.session.journal.schema import Damage

ATTEMPTS = 20  # to read the files while no other process moves the log into the file
MOST_NEW_PAGES = 16  # for each frame of the log
VERSIONS = slice(18, 20)  # bytes of the file that name its kind of journal
ROLLBACK = b"\1\1"

LOG_HEADER, FRAME_HEADER = Struct(">8I"), Struct(">6I")
LITTLE, BIG = 0x377F0682, 0x377F0683  # first word of a log, which names the order of bytes in its sums
PAGE_SIZES = [2**n for n in range(9, 17)]


def read_image(path: Path) -> bytes:
    """Read the database of a session file as of its last commit, in a form that needs no log.

    Raises `SessionLockedError` if another process writes to the file all the time.
    """
    content, log = _read_both(path)
    image = _apply_log(content, log)
    image[VERSIONS] = ROLLBACK
    return bytes(image)


def _read_both(path: Path) -> tuple[bytes, bytes]:
    """Read the file and its log, which no other process begins anew meanwhile.

    What another process moves from the log into the file meanwhile is still in the log.
    """
    log = path.with_name(f"{path.name}-wal")
    for _ in range(ATTEMPTS):
        before, stamp = _read_log(log)[: LOG_HEADER.size], _stamp(path)
        content, after = path.read_bytes(), _read_log(log)
        if after[: LOG_HEADER.size] == before and (after or _stamp(path) == stamp):
            return content, after
    raise SessionLockedError(f"{path} is in use by another process. Close that process, or try again.")


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _read_log(log: Path) -> bytes:
    try:
        return log.read_bytes()
    except FileNotFoundError:
        return b""


def _apply_log(content: bytes, log: bytes) -> bytearray:
    """Replace the pages that the log has committed."""
    image, pages, n_pages, page_size = bytearray(content), dict[int, bytes](), 0, 0
    waiting: dict[int, bytes] = {}
    for frame in _read_frames(log):
        waiting[frame.number] = frame.page
        if frame.n_pages:
            pages, waiting = pages | waiting, {}
            n_pages, page_size = frame.n_pages, len(frame.page)
    if not pages:
        return image
    if n_pages > len(content) // page_size + MOST_NEW_PAGES * len(pages):
        raise Damage("Its log names pages beyond its end")
    image.extend(bytes(max(0, n_pages * page_size - len(image))))
    for number, page in pages.items():
        if number <= n_pages:
            image[(number - 1) * page_size : number * page_size] = page
    del image[n_pages * page_size :]
    return image


class _Frame(NamedTuple):
    """A page in a log."""

    number: int
    """Counted from 1."""
    n_pages: int
    """Pages of the database, if a transaction is complete with this frame; else 0."""
    page: bytes


def _read_frames(log: bytes) -> Iterator[_Frame]:
    """The frames of a log up to the first one that is not whole; those after it are of an earlier log."""
    if len(log) < LOG_HEADER.size:
        return
    magic, _, page_size, _, *salts, first, second = LOG_HEADER.unpack_from(log)
    if magic not in (LITTLE, BIG) or page_size not in PAGE_SIZES:
        return
    words = "<" if magic == LITTLE else ">"
    sums = _add_up(log[: LOG_HEADER.size - 8], words, (0, 0))
    if sums != (first, second):
        return
    size = FRAME_HEADER.size + page_size
    for start in range(LOG_HEADER.size, len(log) - size + 1, size):
        number, n_pages, *mine, first, second = FRAME_HEADER.unpack_from(log, start)
        page = log[start + FRAME_HEADER.size : start + size]
        sums = _add_up(log[start : start + 8] + page, words, sums)
        if mine != salts or sums != (first, second) or number == 0:
            return
        yield _Frame(number, n_pages, page)


def _add_up(content: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """The sums that SQLite keeps of a log, beginning with those of what stands before."""
    first, second = sums
    for one, other in Struct(f"{order}2I").iter_unpack(content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
