"""Files that a page sends: kept in one folder, under a free name, and never in place of another file."""

from __future__ import annotations

import filecmp
import os
from collections.abc import AsyncIterable
from pathlib import Path
from secrets import token_hex

from linkwise.data.read.endings import ENDINGS, PACKED
from linkwise.errors import DataError
from linkwise.whole_files import UNFINISHED

LARGEST_FILE = 2**30  # bytes; a larger file is better opened where it is
MOST_BYTES_OF_NAME = 200  # file systems allow 255


async def keep_file(folder: Path, name: str, parts: AsyncIterable[bytes], largest: int) -> Path:
    """Keep a file in a folder, and return its path. A file of this name with the same bytes is taken."""
    name = clean_name(name)
    unfinished = folder / f".{token_hex(8)}{UNFINISHED}"
    try:
        with unfinished.open("xb") as file:
            async for part in parts:
                if file.tell() + len(part) > largest:
                    raise DataError(
                        f"{name} has more than {largest // 2**20} MiB. Use its path: a file that is opened by"
                        " its path is not copied."
                    )
                file.write(part)
        return _move_to_free_name(unfinished, folder, name)
    finally:
        unfinished.unlink(missing_ok=True)


def clean_name(name: str) -> str:
    """Return the last part of a name, which says that the file is data.

    Other files are not kept: a folder may run or obey them by their names, as Python does with ``.py``.
    """
    base = name.replace("\\", "/").rpartition("/")[2]
    base = "".join(sign for sign in base if sign.isprintable()).strip(" .")
    stem, ending = _split_name(base)
    if not ending.lower().endswith(ENDINGS):
        raise DataError(
            f"{base[:80]!r} is not a data file that linkwise can read. Use a file such as .csv,"
            " .xlsx or .parquet, or the path of a folder of pictures or texts."
        )
    most = MOST_BYTES_OF_NAME - len(ending)
    return stem.encode("utf-8", "replace")[:most].decode("utf-8", "ignore") + ending


def _split_name(name: str) -> tuple[str, str]:
    """Return a name without its ending, and the ending; that of a packed file says, too, what is packed."""
    stem, ending = os.path.splitext(name)
    inner = os.path.splitext(stem)[1]
    if ending.lower() in PACKED and inner.lower() in ENDINGS:
        return stem.removesuffix(inner), inner + ending
    return stem, ending


def _move_to_free_name(unfinished: Path, folder: Path, name: str) -> Path:
    stem, ending = _split_name(name)
    path, number = folder / name, 1
    while True:
        try:
            path.open("xb").close()  # the name is ours from now on
            break
        except FileExistsError:
            if path.is_file() and filecmp.cmp(path, unfinished, shallow=False):
                return path
        number += 1
        path = folder / f"{stem} {number}{ending}"
    os.replace(unfinished, path)
    return path
