"""Arrays in .npy files, read in parts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import DataError
from linkwise.wording import shorten

ARRAY = ".npy"
ARRAY_ROWS = 65_536  # that are read at once


def array_form(path: Path) -> tuple[tuple[int, int], np.dtype[Any], int]:
    """Read the shape and type of the array of a .npy file, and the number of bytes before its first row.

    Raises `DataError` if it holds something else than rows that lie one after the other.
    """
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError, TokenError) as error:  # NumPy reads the header as Python's words
        raise DataError(
            f"{path.name} cannot be read as an array of numbers: {shorten(str(error), 300)}"
        ) from error
    if mapped.ndim != 2 or not mapped.flags.c_contiguous:
        raise DataError(
            f"{path.name} holds an array of shape {mapped.shape}, but a 2-D array whose rows lie one after"
            " the other is needed. Save numpy.ascontiguousarray(array)."
        )
    n_rows, width = mapped.shape
    return (n_rows, width), mapped.dtype, mapped.offset


def read_array_file(path: Path, start: int = 0, stop: int | None = None) -> Iterator[NDArray[Any]]:
    """Read an array in parts, from row `start` to `stop`.

    A memory map would count as memory of this process.
    """
    (n_rows, width), dtype, offset = array_form(path)
    end = n_rows if stop is None else min(stop, n_rows)
    for at in range(start, end, ARRAY_ROWS):
        count = min(ARRAY_ROWS, end - at) * width
        part = np.fromfile(path, dtype, count, offset=offset + at * width * dtype.itemsize)
        if len(part) < count:
            raise DataError(f"{path.name} has become shorter while it was read. Copy it again.")
        yield part.reshape(-1, width)
