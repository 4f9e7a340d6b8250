"""Show a row to a person, as a record, a text, a picture or a curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.data.cells import MISSING
from linkwise.data.columns.roles import Kind
from linkwise.data.read.picture_files import allow_large_pictures, png, read_picture, to_bytes
from linkwise.errors import DataError
from linkwise.wording import merge_full_stops

if TYPE_CHECKING:
    import narwhals as nw

    from linkwise.data.columns.table import Table
    from linkwise.data.encoding.encoded import Encoded

Content = str | bytes | list[float | None] | None
Fields = Callable[[int], dict[str, str]]
Pixels = Callable[..., NDArray[np.uint8]]

LARGEST = 256  # pixels of the longer side of a picture that is shown


@dataclass(frozen=True, eq=False)
class Items:
    """Rows as a person judges them.

    Attributes
    ----------
    kind : {"record", "text", "image", "series"}
        The kind of the rows.
    fields : callable
        ``fields(row)`` returns the names and values shown beside the content. A record has nothing else.
    content : callable
        ``content(row)`` returns the str of a text; the bytes of an image, a PNG of at most 256 pixels a side;
        the list of float of a series, None where a value is missing; for a record that consists of texts,
        these, and for any other None.
    pixels : callable, or None
        ``pixels(row)`` returns the picture of an image, or one beside a record or a text, as ndarray of shape
        (height, width) or (height, width, 3), uint8. ``pixels(row, side)`` returns one of at most `side`
        pixels a side in place of 256, if it is read from a file. None if there are no pictures.
    side : SideTable, or None
        The table that is shown in place of the compared columns.
    """

    kind: Kind
    fields: Fields
    content: Callable[[int], Content]
    pixels: Pixels | None = None
    side: SideTable | None = None

    @property
    def holds_words(self) -> bool:
        """Whether the content is a text, whose words tell clusters apart."""
        return self.kind == "text" or (self.kind == "record" and isinstance(self.content(0), str))


@dataclass(frozen=True, eq=False)
class SideTable:
    """What a side table shows of the rows, in the order of the data.

    `items` are pictures if a column holds their paths, texts if the only column holds texts, else
    records. ``cells(row)`` returns all values of a row by column, also that of the picture or the text.
    `columns` has them in their own units, for rules; None if none can be encoded. `frame` has all cells
    as they are written, also those of the id. `texts` are the free texts of each row, such as a title.
    """

    items: Items
    cells: Callable[[int], dict[str, str]]
    columns: Encoded | None
    notes: tuple[str, ...]
    file: str
    frame: nw.DataFrame[Any]
    texts: Sequence[str] | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(merge_full_stops, self.notes)))


def no_fields(_row: int) -> dict[str, str]:
    """Nothing beside the content."""
    return {}


def record_items(table: Table) -> Items:
    """Show the rows of a table with all their values.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    Items
        The items, one for each row.
    """
    return Items("record", table.item, lambda row: None)


def value_items(X: ArrayLike, names: Sequence[str]) -> Items:
    """Show the rows of an array of shape (n_rows, n_columns) under the names of its columns."""
    values = np.asarray(X)

    def fields(row: int) -> dict[str, str]:
        cells = zip(names, values[row].tolist(), strict=True)
        return {name: f"{value:g}" if value == value else MISSING for name, value in cells}

    return Items("record", fields, lambda row: None)


def text_items(texts: Sequence[str], fields: Fields = no_fields) -> Items:
    """Show texts, one for each row.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    fields : callable, optional
        Takes the position of a row and returns the values shown beside it, by name. None by default.

    Returns
    -------
    Items
        The items, one for each row.
    """
    return Items("text", fields, lambda row: texts[row])


def image_items(images: ArrayLike, fields: Fields = no_fields) -> Items:
    """Show images that are in memory.

    Parameters
    ----------
    images : array-like of shape (n_rows, height, width) or (n_rows, height, width, 3)
        The images. Bytes are shown as they are; for other numbers the lowest is black and the highest is
        white.
    fields : callable, optional
        Takes the position of a row and returns the values shown beside it, by name. None by default.

    Returns
    -------
    Items
        The items, one for each row.

    Raises
    ------
    DataError
        The array has another shape, is empty, or holds NaN or infinity.
    """
    given = np.asarray(images)
    if (
        given.ndim not in (3, 4)
        or (given.ndim == 4 and given.shape[3] != 3)
        or given.dtype.kind not in "buif"
    ):
        raise DataError(
            f"The images are an array of shape {given.shape} of {given.dtype}. Pass numbers of shape"
            " (n_rows, height, width) or (n_rows, height, width, 3)."
        )
    if given.size == 0 or not np.isfinite(given).all():
        raise DataError("The images are empty, or hold NaN or infinity. Set every pixel to a finite number.")
    step = -(-max(given.shape[1:3]) // LARGEST)  # of larger ones every second, third, ... pixel is shown
    pixels = to_bytes(given)[:, ::step, ::step]
    return Items("image", fields, lambda row: png(pixels[row]), lambda row, side=LARGEST: pixels[row])


def file_items(paths: Sequence[Path]) -> Items:
    """Show pictures of files, read when needed; a file that has gone is a crossed-out square."""

    def fields(row: int) -> dict[str, str]:
        return {} if paths[row].is_file() else {"file": "not there any more"}

    def pixels(row: int, side: int = LARGEST) -> NDArray[np.uint8]:
        try:
            with allow_large_pictures():
                picture = np.asarray(read_picture(paths[row], side))
        except DataError:
            return np.where(np.eye(24) + np.eye(24)[::-1] > 0, 90, 200).astype(np.uint8)
        grey = (picture == picture[..., :1]).all()
        return np.ascontiguousarray(picture[..., 0] if grey else picture)

    return Items("image", fields, lambda row: png(pixels(row)), pixels)


def series_items(curves: ArrayLike, fields: Fields = no_fields) -> Items:
    """Show curves, one for each row.

    Parameters
    ----------
    curves : array-like of shape (n_rows, n_samples)
        The curves, with NaN for a missing value.
    fields : callable, optional
        Takes the position of a row and returns the values shown beside it, by name. None by default.

    Returns
    -------
    Items
        The items, one for each row.

    Raises
    ------
    DataError
        `curves` has another shape.
    """
    values = np.asarray(curves, dtype=np.float64)
    if values.ndim != 2:
        raise DataError(f"The curves have shape {values.shape}. Pass an array of shape (n_rows, n_samples).")
    return Items("series", fields, lambda row: _replace_gaps(values[row]))


def _replace_gaps(curve: NDArray[np.float64]) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in curve.tolist()]
