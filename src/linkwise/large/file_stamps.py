"""Whether files of data are as they were when their rows became groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from linkwise.errors import DataError
from linkwise.wording import join_names

WHOLE_BYTES = 2**24  # of a file that is hashed as a whole
SAMPLE_BYTES = 2**16  # that are read at once, at as many places of a larger file as `WHOLE_BYTES` hold


class FileStamp(NamedTuple):
    """What a file was like."""

    size: int
    mtime_ns: int
    digest: str
    """A hash of the bytes; of a large file one of a sample, with its beginning and its end."""

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Take the stamp of a file."""
        stat = path.stat()
        return cls(stat.st_size, stat.st_mtime_ns, hash_sample(path, stat.st_size))

    @classmethod
    def from_json(cls, value: Any) -> FileStamp:
        """Take a stamp from JSON."""
        size, mtime_ns, digest = value
        return cls(int(size), int(mtime_ns), str(digest))

    def find_difference(self, path: Path) -> str | None:
        """Say what has changed in a file; None if its bytes are the same, whenever they were written."""
        stat = path.stat()
        if stat.st_size != self.size:
            return f"it had {self.size} bytes, and now it has {stat.st_size}"
        if stat.st_mtime_ns == self.mtime_ns or hash_sample(path, self.size) == self.digest:
            return None
        return "it is as long as before, but its values differ"


def check_not_written(before: Sequence[tuple[str, int, int]], now: Sequence[tuple[str, int, int]]) -> None:
    """Raise if files were written to while they were read, by what `TableFiles.stamps` lists of them."""
    written = [Path(was[0]).name for was, other in zip(before, now, strict=True) if was != other]
    if written:
        raise DataError(
            f"The files of the data have changed while they were read: {join_names(written, 5)}. Let nothing"
            " write to them meanwhile, and call this again."
        )


def hash_sample(path: Path, size: int) -> str:
    """Hash the bytes of a file, or of a sample at even distances, which is the same each time."""
    found = blake2b(digest_size=16)
    with path.open("rb") as file:
        for start, length in _choose_places(size):
            file.seek(start)
            found.update(file.read(length))
    return found.hexdigest()


def _choose_places(size: int) -> Iterator[tuple[int, int]]:
    if size <= WHOLE_BYTES:
        yield 0, size
        return
    last = WHOLE_BYTES // SAMPLE_BYTES - 1
    for at in range(last + 1):
        yield at * (size - SAMPLE_BYTES) // last, SAMPLE_BYTES
