"""The rows of a file or a folder: the table, the same rows as numbers, and their display."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.cells import MISSING
from linkwise.data.columns.curves import read_curves
from linkwise.data.columns.picture_paths import find_pictures, holds_pictures
from linkwise.data.columns.roles import Role, to_numbers, to_words
from linkwise.data.columns.table import Table
from linkwise.data.encoding.encoded import Encoded
from linkwise.data.encoding.matrix import Categories, encode
from linkwise.data.read.arrays import LEAST_PIXELS, pixel_name
from linkwise.data.read.picture_files import require_pillow, to_bytes
from linkwise.data.show.column_views import view_columns
from linkwise.data.show.items import Items, SideTable, file_items, record_items, series_items, text_items
from linkwise.errors import DataError
from linkwise.markup import draw_block
from linkwise.wording import count_noun, join_names


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The rows of a file, a folder or a table in memory, as `linkwise.read` returns them.

    A session, every learner and every clusterer take it in place of an array, which is then `X`.

    Attributes
    ----------
    table : Table
        Ids, columns and choices; of a folder of images a table of their names alone.
    encoded : Encoded
        The same rows as numbers.
    items : Items
        How a row is shown to a person.
    """

    table: Table
    encoded: Encoded
    items: Items

    def __len__(self) -> int:
        return len(self.table)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.X, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        caption, *lines = _describe_rows(self)
        return "\n".join([f"Rows: {caption}", *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        caption, *lines = _describe_rows(self)
        return draw_block(caption, lines)

    @property
    def X(self) -> NDArray[np.float64]:
        """The rows as numbers, of shape (n_rows, n_features)."""
        return self.encoded.X

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of `X`."""
        return self.X.shape[0], self.X.shape[1]

    @property
    def ids(self) -> tuple[str, ...] | None:
        """Name of each row; None where rows are known by their position."""
        return self.table.ids

    @property
    def side(self) -> SideTable | None:
        """The table that is shown in place of the compared columns."""
        return self.items.side

    @property
    def notes(self) -> tuple[str, ...]:
        """The choices that were made on the way from a file to rows, in sentences."""
        return (*self.table.notes, *self.encoded.notes, *(() if self.side is None else self.side.notes))

    @property
    def shown_numbers(self) -> Encoded | None:
        """The rows as the numbers that a person sees; None where there are none."""
        if self.items.kind != "record" or self.table.kind == "text":
            return None
        return self.encoded if self.side is None else self.side.columns


def to_rows(table: Table, categories: Categories = "columns") -> Rows:
    """Encode the rows of a table and show them, with pictures if a column holds their paths."""
    rows = Rows(table, encode(table, categories=categories), items_of(table))
    return show_pictures(rows, table.folder)


def encode_in_units(rows: Rows) -> Encoded:
    """Encode columns in their own units, as rules name them; texts, images and curves stay as they are."""
    if rows.table.kind != "record" or rows.encoded.features[0].role in ("image", "sample"):
        return rows.encoded
    columns = tuple(column for column in rows.table.columns if column.role != "image")
    table = replace(rows.table, reading=replace(rows.table.reading, log=None), columns=columns)
    return encode(table, scale="none", categories="codes")


def _count_kind(number: int, kind: str) -> str:
    """``1 category``, ``2 categories``."""
    plural = f"{kind.removesuffix('y')}ies" if kind.endswith("y") else f"{kind}s"
    return f"{number} {kind if number == 1 else plural}"


def _describe_rows(rows: Rows) -> list[str]:
    """How many rows there are and what names them; what each column is for; and what was decided."""
    table = rows.table
    named = [column.name for column in table.columns if column.role == "id"]
    known = f"identified by '{named[0]}'" if named else "identified by their position"
    lines = [f"{count_noun(len(rows), 'row')}, {known}"]
    views = view_columns(table, {})
    for use, label in (("compare", "compared"), ("show", "shown"), ("ignore", "ignored")):
        by_kind: dict[str, list[str]] = {}
        for view in views:
            if view.use == use:
                by_kind.setdefault(view.kind, []).append(view.name)
        parts = [f"{_count_kind(len(names), kind)} ({join_names(names)})" for kind, names in by_kind.items()]
        if use == "compare" and table.reading.kind is not None:
            parts = [f"the {table.reading.kind}s of the folder"]
        if parts:
            lines.append(f"{label}: {', '.join(parts)}")
    lines += [f"decided: {one.reason}" for one in table.proposals if one.option != "id_column"]
    return lines


def items_of(table: Table) -> Items:
    """Show the rows of a table as records, texts, pictures or curves, with its other columns beside them.

    Parameters
    ----------
    table : Table
        The table, whose kind decides.

    Returns
    -------
    Items
        The items, one for each row.
    """
    if table.kind == "record":
        return show_pixels(table, record_items(table))
    if table.kind == "image":
        return _show_images(table)

    texts = [name for name in table.features if table.roles[name] == "document"]
    hidden = set(table.reading.hide or ())
    beside = [n for n in table.features if table.roles[n] in RECORD_ROLES and n not in hidden]

    def fields(row: int) -> dict[str, str]:
        return table.item(row, (*beside, *table.shown))

    if table.kind == "series":
        return series_items(read_curves(table.frame, table.columns), fields)
    columns = [[word or "" for word in to_words(table.frame[name])] for name in texts]
    shown = ["\n\n".join(filter(None, words)) or MISSING for words in zip(*columns, strict=True)]
    if len(texts) > 1 and table.reading.text_by == "letters":  # records, which people compare by columns
        return show_pixels(table, Items("record", table.item, lambda row: shown[row]))
    return text_items(shown, fields)


def _show_images(table: Table) -> Items:
    """Show the pictures of the first column that rows are compared by, with the other columns beside them."""
    first, *others = table.features
    shown = file_items(find_pictures(table.frame[first], table.folder))

    def fields(row: int) -> dict[str, str]:
        return {**shown.fields(row), **table.item(row, (*others, *table.shown))}

    return Items("image", fields, shown.content, shown.pixels)


RECORD_ROLES: tuple[Role, ...] = ("numeric", "category", "date", "cycle")


def show_pictures(rows: Rows, folder: Path) -> Rows:
    """Show pictures beside records and texts, if a column that is compared or only shown holds their paths.

    The paths stay, with a note, if Pillow is missing or pictures are not there.
    """
    table, own = rows.table, rows.items
    given = (name for name in table.reading.shown_columns if name in table.shown)
    compared = (name for name, role in table.roles.items() if role == "image")
    shown = (name for name in given if holds_pictures(table.frame[name]))
    column = next(chain(compared, shown), None)
    if column is None or own.kind in ("series", "image"):
        return rows
    try:
        require_pillow()
        pictures = file_items(find_pictures(table.frame[column], folder))
    except (DataError, ImportError) as error:
        note = f"You see the paths in column '{column}' in place of the pictures. {error}"
        return replace(rows, table=replace(table, notes=(*table.notes, note)))

    def fields(row: int) -> dict[str, str]:
        return {**pictures.fields(row), **leave_out(own.fields(row), column)}

    return replace(rows, items=replace(own, fields=fields, pixels=pictures.pixels))


def leave_out(cells: Mapping[str, str], name: str) -> dict[str, str]:
    """Leave one column out of the cells of a row."""
    return {other: value for other, value in cells.items() if other != name}


# ---------------------------------------------------------------- columns of pixels
# Show a picture in place of columns that hold its pixels.
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

    return replace(own, fields=fields, pixels=lambda row, side=None: pictures[row])
