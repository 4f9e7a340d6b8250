"""The rows of a file or a folder: the table, the same rows as numbers, and their display."""

from __future__ import annotations

from typing import NamedTuple

from linkwise.data.cells import MISSING
from linkwise.data.curves import read_curves
from linkwise.data.encoded import Encoded
from linkwise.data.images import file_items
from linkwise.data.items import Items, SideTable, record_items, series_items, text_items
from linkwise.data.pictures import find_pictures
from linkwise.data.roles import Role, to_words
from linkwise.data.table import Table


class Rows(NamedTuple):
    """What a source of rows gives.

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
        if self.items.kind != "record":
            return None
        return self.encoded if self.side is None else self.side.columns


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
        return record_items(table)
    if table.kind == "image":
        return _show_images(table)

    texts = [name for name in table.features if table.roles[name] == "document"]
    hidden = set(table.choices.get("hide", ()))
    beside = [n for n in table.features if table.roles[n] in RECORD_ROLES and n not in hidden]

    def fields(row: int) -> dict[str, str]:
        return table.item(row, (*beside, *table.shown))

    if table.kind == "series":
        return series_items(read_curves(table.frame, table.columns), fields)
    columns = [[word or "" for word in to_words(table.frame[name])] for name in texts]
    shown = ["\n\n".join(filter(None, words)) or MISSING for words in zip(*columns, strict=True)]
    return text_items(shown, fields)


def _show_images(table: Table) -> Items:
    """Show the pictures of the first column that rows are compared by, with the other columns beside them."""
    first, *others = table.features
    shown = file_items(find_pictures(table.frame[first], table.folder))

    def fields(row: int) -> dict[str, str]:
        return {**shown.fields(row), **table.item(row, (*others, *table.shown))}

    return Items("image", fields, shown.content, shown.pixels)


RECORD_ROLES: tuple[Role, ...] = ("numeric", "category", "date", "cycle")
