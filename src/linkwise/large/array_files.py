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
    """Read the shape and type of an array, and where its rows begin in the file.

    Parameters
    ----------
    path : Path
        A .npy file.

    Returns
    -------
    shape : tuple of int
        Number of rows and of columns.
    dtype : dtype
        Type of the values.
    offset : int
        Bytes before the first row.

    Raises
    ------
    DataError
        The file is damaged, or holds something else than rows that lie one after the other.
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
    """Read an array in parts, from row `start` to `stop`; a memory map would count as memory of this process.

    Parameters
    ----------
    path : Path
        A .npy file.
    start : int, default=0
        The first row.
    stop : int, optional
        The row after the last one; all rows by default.

    Yields
    ------
    ndarray of shape (n, n_columns)
        Some rows.
    """
    (n_rows, width), dtype, offset = array_form(path)
    end = n_rows if stop is None else min(stop, n_rows)
    for at in range(start, end, ARRAY_ROWS):
        count = min(ARRAY_ROWS, end - at) * width
        part = np.fromfile(path, dtype, count, offset=offset + at * width * dtype.itemsize)
        if len(part) < count:
            raise DataError(f"{path.name} has become shorter while it was read. Copy it again.")
        yield part.reshape(-1, width)
