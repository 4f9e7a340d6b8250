"""Read a folder, in which each picture or each text file is a row."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from linkwise.data.columns.roles import Column
from linkwise.data.columns.table import Table
from linkwise.data.encoding.images import encode_files
from linkwise.data.encoding.matrix import encode
from linkwise.data.read.picture_files import PICTURES as IMAGES
from linkwise.data.read.picture_files import require_pillow
from linkwise.data.readers import from_frame
from linkwise.data.reading import Reading
from linkwise.data.show.items import file_items
from linkwise.data.show.rows import Rows, items_of
from linkwise.errors import DataError
from linkwise.text_files import decode, read_bytes
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    import narwhals as nw

    from linkwise.types import Progress

TEXTS = (".txt", ".md")
OF_SESSIONS = tuple(
    f".linkwise{more}" for more in ("", "-wal", "-shm", "-journal", ".d")
)  # may lie in the folder
FolderKind = Literal["image", "text"]


def read_folder(
    folder: str | os.PathLike[str],
    *,
    kind: FolderKind | None = None,
    skip_broken: bool = False,
    progress: Progress | None = None,
) -> Rows:
    """Read a folder of images or of text files.

    The id of a row is the path of its file within the folder; rows are sorted by it. Subfolders are read too,
    but neither hidden files and folders (names that begin with a dot) nor links nor sessions.

    Parameters
    ----------
    folder : path
        The folder.
    kind : {"image", "text"}, optional
        The kind of files to read: images (.png, .jpg, .webp, .bmp, .gif, .tif, .ppm, .pgm) or texts (.txt and
        .md, in UTF-8). The default is images if there are any, else texts.
    skip_broken : bool, default=False
        Whether to leave out images that cannot be read. Otherwise one such image is an error.
    progress : callable, optional
        Called as ``progress(n_read, n_files)``.

    Returns
    -------
    Rows
        The ids, the matrix and the items of the files.

    Raises
    ------
    DataError
        The folder has fewer than two such files, a file cannot be read, or all files are alike.
    ImportError
        Pillow, which images require, is not installed (the extra `app` or `images`).
    """
    folder = Path(folder)
    images, texts, names = sort_files(folder)
    kind = kind or ("image" if images or not texts else "text")
    chosen = images if kind == "image" else texts
    if not chosen:
        there = f" (there are {join_names(names, 3)})" if names else ""
        raise DataError(
            f"{folder} is a folder without images ({', '.join(IMAGES)}) or texts ({', '.join(TEXTS)}){there}."
            " Pass the file of a table to read it."
        )
    if len(chosen) == 1:
        raise DataError(
            f"The folder {folder} holds 1 {kind}, {chosen[0]}, but at least 2 are needed to compare."
        )
    notes = []
    others = sorted(set(names) - set(chosen))
    if others:
        notes.append(f"Other files are not read: {join_names(others, 3)}.")
    if kind == "image":
        return _read_images(folder, chosen, notes, skip_broken, progress)
    return _read_texts(folder, chosen, notes)


def sort_files(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Return the paths of the images and of the texts within a folder, and of all files."""
    names = _list_files(folder)
    images = [name for name in names if name.lower().endswith(IMAGES)]
    return images, [name for name in names if name.lower().endswith(TEXTS)], names


def _list_files(folder: Path) -> list[str]:
    """Paths of all files within the folder, sorted."""
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and not is_of_session(name)]
        inside = Path(here).relative_to(folder)
        names = [name for name in files if not name.startswith(".") and not is_of_session(name)]
        found += [(inside / name).as_posix() for name in names]
    found = [name for name in found if (folder / name).is_file()]
    for name in found:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise DataError(f"The name of the file {name!r} is not UTF-8. Rename it.") from None
    return sorted(found)


def is_of_session(name: str) -> bool:
    """Whether a file or folder is a session, or belongs to one, by its name."""
    return name.endswith(OF_SESSIONS)


def _read_images(
    folder: Path, names: Sequence[str], notes: list[str], skip_broken: bool, progress: Progress | None
) -> Rows:
    require_pillow()
    encoded, rows = encode_files([folder / n for n in names], skip_broken=skip_broken, progress=progress)
    kept = [names[row] for row in rows]
    notes = [_describe_rows(len(kept), "image"), *notes]
    reading = Reading(kind="image", skip_broken=skip_broken or None)
    table = Table(tuple(kept), _make_frame(file=kept), (_ID,), tuple(notes), reading)
    return Rows(table, encoded, file_items([folder / name for name in kept]))


def _describe_rows(n_rows: int, kind: str) -> str:
    return f"Each of {count_noun(n_rows, kind)} is a row, known by its path within the folder."


_ID = Column("file", "id", "the path of the file")


def _read_texts(folder: Path, names: Sequence[str], notes: list[str]) -> Rows:
    def text(name: str) -> str:
        try:
            return decode(read_bytes(folder / name))
        except DataError as error:
            raise DataError(f"{name}: {error}") from error

    frame = _make_frame(file=list(names), text=[text(name) for name in names])
    table = from_frame(frame.to_native(), id_column="file", text="text")
    notes = [_describe_rows(len(names), "text"), *notes]
    table = replace(table, notes=tuple(notes), reading=Reading(kind="text"))
    return Rows(table, encode(table), items_of(table))


def _make_frame(**columns: list[str]) -> nw.DataFrame[Any]:
    import narwhals as nw
    import polars as pl

    return nw.from_native(pl.DataFrame(columns), eager_only=True)
