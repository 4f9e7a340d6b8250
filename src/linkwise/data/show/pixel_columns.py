"""Show a picture in place of columns that hold its pixels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.roles import to_numbers
from linkwise.data.columns.table import Table
from linkwise.data.read.arrays import LEAST_PIXELS, pixel_name
from linkwise.data.read.picture_files import to_bytes
from linkwise.data.show.items import Items

_NUMBERED = re.compile(r"(pixel|pix|px)[ _.]?(\d+)", re.IGNORECASE)
_PLACED = re.compile(r"pixel (\d+),(\d+)")


def find_pixels(names: Sequence[str]) -> tuple[list[str], tuple[int, int]] | None:
    """Find the columns that hold the pixels of a picture, row by row, with its height and width.

    They are called ``pixel 0,0``, ``pixel 0,1``, ... or, of a square, ``pixel0``, ``pixel1``, ...
    """
    placed = [name for name in names if _PLACED.fullmatch(name)]
    if placed:
        last = _PLACED.fullmatch(placed[-1])
        shape = (int(last[1]) + 1, int(last[2]) + 1) if last else (0, 0)
        is_whole = len(placed) == shape[0] * shape[1]
        if not is_whole or placed != [pixel_name(row, column) for row, column in np.ndindex(shape)]:
            return None
        return placed, shape
    numbered = [(int(found[2]), name) for name in names if (found := _NUMBERED.fullmatch(name))]
    numbers = [number for number, _ in numbered]
    side = isqrt(len(numbers))
    if side < LEAST_PIXELS or side * side != len(numbers):
        return None
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return [name for _, name in numbered], (side, side)


def show_pixels(table: Table, own: Items) -> Items:
    """Show pictures in place of columns of pixels; the same items where there are none."""
    found = find_pixels(table.frame.columns) if own.kind == "record" and own.pixels is None else None
    if found is None:
        return own
    names, shape = found
    if not all(table.frame[name].dtype.is_numeric() for name in names):
        return own
    values = np.stack([to_numbers(table.frame[name]) for name in names], axis=1)
    pictures: NDArray[np.uint8] = to_bytes(np.nan_to_num(values.astype(np.float32))).reshape(-1, *shape)
    others = set(names)

    def fields(row: int) -> dict[str, str]:
        return {name: cell for name, cell in own.fields(row).items() if name not in others}

    return replace(own, fields=fields, pixels=pictures.__getitem__)
