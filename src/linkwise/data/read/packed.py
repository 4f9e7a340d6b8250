"""Unpack compressed files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

from linkwise.array_archives import READ_BYTES
from linkwise.data.read.endings import ARCHIVE, PLAIN
from linkwise.data.read.picture_files import PICTURES
from linkwise.errors import DataError
from linkwise.limits import check_expansion
from linkwise.wording import join_names, shorten

_LEAST_TEXTS = 10  # fewer may be a table and its description
_CLUTTER = ("thumbs.db", "desktop.ini")
COMPRESSED: dict[str, Callable[[IO[bytes]], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class Unpacked(NamedTuple):
    """A file without its compression, and the name of its contents, such as ``a.csv`` for ``a.csv.gz``.

    `member` is the file of a .zip that was read.
    """

    raw: bytes
    name: str
    member: str | None
    notes: list[str]


def unpack_file(raw: bytes, name: str, ending: str, member: str | None, known: Sequence[str]) -> Unpacked:
    """Unpack a compressed file, of a .zip one member: by default the largest with an ending in `known`."""
    try:
        if ending == ARCHIVE:
            return _unpack_member(raw, member, known)
        with COMPRESSED[ending](io.BytesIO(raw)) as file:
            bare = name[: -len(ending)] if name.lower().endswith(ending) else name
            return Unpacked(_read_all(file, len(raw)), bare, None, [])
    except (DataError, MemoryError):
        raise
    except Exception as error:  # of a damaged archive the readers may raise anything
        raise DataError(
            f"The file cannot be unpacked: {shorten(str(error), 200)}. Pack it again, or pass it unpacked."
        ) from None


def _read_all(file: IO[bytes], n_packed: int) -> bytes:
    """Unpack a stream piece by piece, so that a small file cannot fill the memory."""
    content = bytearray()
    while more := file.read(READ_BYTES):
        content += more
        check_expansion(len(content), n_packed)
    return bytes(content)


def _unpack_member(raw: bytes, member: str | None, known: Sequence[str]) -> Unpacked:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        files = [info for info in archive.infolist() if not info.is_dir() and not _is_clutter(info.filename)]
        names = [info.filename for info in files]
        tables = [name for name in names if PurePosixPath(name).suffix.lower() in known]
        if not names:
            raise DataError("The archive holds no file. Pass a table.")
        if member is None:
            _refuse_folder(names, tables)
        elif member not in names:
            raise DataError(
                f"The archive has no file {member!r}. Its files are {join_names(map(repr, names), 20)}."
                " Use one of them: --sheet NAME"
            )
        sizes = {info.filename: info.file_size for info in files}
        chosen = member or max(tables or names, key=sizes.__getitem__)
        with archive.open(files[names.index(chosen)]) as file:
            content = _read_all(file, len(raw))
    notes = []
    if len(names) > 1 and member is None:
        others = [name for name in tables if name != chosen]
        notes.append(
            describe_choice(f"File {chosen!r}", len(tables), others)
            if others
            else f"File {chosen!r} of the archive is read."
        )
    return Unpacked(content, chosen, chosen if len(names) > 1 else None, notes)


def _refuse_folder(names: Sequence[str], tables: Sequence[str]) -> None:
    """Raise if most files are pictures or texts, each of which is a row, and none is a table."""
    if not all(name.lower().endswith(PLAIN) for name in tables):
        return
    for what, endings, least in (("pictures", PICTURES, 2), ("texts", (PLAIN, ".md"), _LEAST_TEXTS)):
        n_rows = sum(name.lower().endswith(endings) for name in names)
        if n_rows >= least and 2 * n_rows > len(names):
            raise DataError(
                f"The archive holds {n_rows} {what} and no table. Unpack it, and pass the folder."
            )


def describe_choice(chosen: str, n_parts: int, others: Sequence[str]) -> str:
    """Say which part of a file is read, and how to read another one."""
    return (
        f"{chosen} is read, the largest of {n_parts}. Add --sheet NAME to read another one (in Python,"
        f' sheet="..."), such as {join_names(map(repr, others))}.'
    )


def _is_clutter(name: str) -> bool:
    """Whether a file of an archive is one that systems write beside the others."""
    path = PurePosixPath(name)
    return "__MACOSX" in path.parts or path.name.startswith(".") or path.name.lower() in _CLUTTER
