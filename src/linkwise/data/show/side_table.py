"""A table that a person sees in place of the columns by which rows are compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.constraints.checks import is_missing
from linkwise.data.cells import MISSING, format_cell
from linkwise.data.columns.named_columns import NamedColumns
from linkwise.data.columns.picture_paths import find_pictures, holds_pictures
from linkwise.data.columns.roles import find_id, id_texts, to_words, value_kind
from linkwise.data.columns.table import Table, understand
from linkwise.data.encoding.encoded import Encoded
from linkwise.data.encoding.matrix import encode
from linkwise.data.read.formats import read_frame
from linkwise.data.read.picture_files import require_pillow
from linkwise.data.reading import Reading
from linkwise.data.show.items import Content, Items, SideTable, file_items, no_fields
from linkwise.data.show.rows import Rows, leave_out
from linkwise.errors import DataError
from linkwise.wording import count_noun, join_names

if TYPE_CHECKING:
    import narwhals as nw


def read_side_table(path: str | os.PathLike[str], table: Table) -> SideTable:
    """Read a side table and join it to the rows of a table.

    Rows are joined by id: by the column that is called as the id of `table`, or by the one that
    `read_table` takes for the id. Without such a column they are joined in order. Cells of text files are
    shown as they are written. A column of paths of pictures, from the folder of this file, shows the
    pictures. Raises `DataError` if rows are not in the file, an id occurs twice, or there is neither an
    id nor as many rows.
    """
    path = Path(path)
    read = read_frame(path, keep=lambda frame: {_find_key(frame, table)})
    try:
        key = _find_key(read.written, table)
        order = range(len(table)) if key is None else _match_rows(read.written, key, table)
        if key is None and len(read.written) != len(table):
            raise DataError(_describe_mismatch(len(read.written), table))
        names = [name for name in read.written.columns if name != key]
        if not names:
            raise DataError(f"The only column is the id, '{key}'. Add columns to show.")
        written, typed = (frame[list(order)] for frame in (read.written, read.typed))
        picture = next((name for name in names if holds_pictures(typed[name])), None)
        if picture is not None:
            require_pillow()
        paths = [] if picture is None else find_pictures(typed[picture], path.parent)
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error
    cells = _format_rows(written, typed, names)
    items = _choose_items(cells, names, typed, picture, paths)
    notes = [_describe_join(path, key, names, len(read.written), table)]
    if read.encoding is not None:
        notes.append(
            f"{path.name} is read as {read.encoding.upper()}. Save it as UTF-8 if it has another encoding."
        )
    columns = _encode_columns(typed, key)
    texts = _read_texts(typed, [name for name in names if name != picture], columns)
    return SideTable(items, cells, columns, tuple(notes), path.name, written, texts)


def show_side_table(rows: Rows, side: SideTable) -> Rows:
    """Show a side table in place of the compared columns of records, and beside rows of other kinds."""
    own, table = rows.items, rows.table
    is_replaced = own.kind == "record"
    shown = side.items if is_replaced else own

    def fields(row: int) -> dict[str, str]:
        first = table.item(row, table.shown) if is_replaced else own.fields(row)
        second = side.items.fields(row) if is_replaced else side.cells(row)
        twice = first.keys() & second.keys()
        return {
            **{name_in_data(name) if name in twice else name: value for name, value in first.items()},
            **second,
        }

    return replace(rows, items=Items(shown.kind, fields, shown.content, shown.pixels, side))


def name_in_data(name: str) -> str:
    """Name a column of the data that is shown beside one of the side table with the same name."""
    return f"{name} (of the data)"


# ---------------------------------------------------------------- joining
def _find_key(frame: nw.DataFrame[Any], table: Table) -> str | None:
    """The column by which rows are joined; None if they are joined in order."""
    own = table.reading.id_column
    if own in frame.columns:
        return str(own)
    found = find_id(frame, None, ())
    if table.ids is not None or found is None:
        return found
    positions = {str(row) for row in range(len(table))}
    return found if set(id_texts(frame[found])) >= positions else None


def _match_rows(frame: nw.DataFrame[Any], key: str, table: Table) -> list[int]:
    """The row of the side table for each row of the data."""
    place: dict[str | None, int] = {}
    twice = []
    for row, name in enumerate(id_texts(frame[key])):
        if place.setdefault(name, row) != row and name is not None:
            twice.append(name)
    names = table.ids or [str(row) for row in range(len(table))]
    wanted = set(names)
    if twice := [name for name in dict.fromkeys(twice) if name in wanted]:
        raise DataError(
            f"Column '{key}' holds ids that occur more than once: {join_names(map(repr, twice), 5)}."
            " Keep one row for each id."
        )
    if missing := [name for name in names if name not in place]:
        raise DataError(
            f"Column '{key}' lacks {len(missing)} of {count_noun(len(names), 'id')} of the data:"
            f" {join_names(map(repr, missing), 5)}. Add these rows. If the rows are in the order of the"
            " data, you can save the file without this column instead."
        )
    return [place[name] for name in names]


def _describe_mismatch(n_rows: int, table: Table) -> str:
    by = table.reading.id_column or "id"
    return (
        f"The file has {count_noun(n_rows, 'row')} for {len(table)} rows of data, and no column of ids joins"
        f" them. Add a column '{by}' with the id of each row of the data"
        f"{'' if table.ids is not None else ', its position counted from 0'}, or pass as many rows in the"
        " same order."
    )


def _describe_join(path: Path, key: str | None, names: Sequence[str], n_rows: int, table: Table) -> str:
    columns = join_names(names)
    if key is None:
        return (
            f"Each row is shown by {path.name}, joined in the order of its rows: {columns}. A column of ids"
            " in both files joins them by id."
        )
    rest = n_rows - len(table)
    unused = f" {count_noun(rest, 'row')} of it {'is' if rest == 1 else 'are'} about no row of the data."
    return (
        f"Each row is shown by {path.name}, joined by its column '{key}': {columns}.{unused if rest else ''}"
    )


# ---------------------------------------------------------------- showing
def _format_rows(
    written: nw.DataFrame[Any], typed: nw.DataFrame[Any], names: Sequence[str]
) -> Callable[[int], dict[str, str]]:
    """Cells as they are written; "missing" where a value is missing."""

    def cells(row: int) -> dict[str, str]:
        one, other = (
            frame[row : row + 1].select(*names).to_dict(as_series=False) for frame in (written, typed)
        )
        return {name: MISSING if _is_empty(other[name][0]) else format_cell(one[name][0]) for name in names}

    return cells


def _is_empty(value: Any) -> bool:
    return value == "" if isinstance(value, str) else not isinstance(value, list) and is_missing(value)


def _choose_items(
    cells: Callable[[int], dict[str, str]],
    names: Sequence[str],
    typed: nw.DataFrame[Any],
    picture: str | None,
    paths: Sequence[Path],
) -> Items:
    if picture is not None:
        shown = file_items(paths)
        return Items(
            "image",
            lambda row: {**shown.fields(row), **leave_out(cells(row), picture)},
            shown.content,
            shown.pixels,
        )
    if len(names) == 1 and value_kind(typed[names[0]]) == "words":

        def text(row: int) -> Content:
            return cells(row)[names[0]]

        return Items("text", no_fields, text)
    return Items("record", cells, lambda row: None)


def _encode_columns(frame: nw.DataFrame[Any], key: str | None) -> Encoded | None:
    """The columns in their own units; None if none can be encoded."""
    try:
        table = understand(frame, NamedColumns(key, None, ()), Reading())
        return encode(table, scale="none", categories="codes")
    except DataError:
        return None


def _read_texts(frame: nw.DataFrame[Any], names: Sequence[str], columns: Encoded | None) -> list[str] | None:
    """The words of each row in columns that are no categories; None if there are no such columns."""
    encoded = set() if columns is None else {feature.source for feature in columns.features}
    free = [name for name in names if name not in encoded and value_kind(frame[name]) == "words"]
    if not free:
        return None
    words = [[word or "" for word in to_words(frame[name])] for name in free]
    return [" ".join(filter(None, of_row)) for of_row in zip(*words, strict=True)]
