"""What a page shows of each row, from what a person gives in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.app.page.cards import RowView, create_namer, view_numbers, view_rows
from linkwise.app.page.presenter import Presenter
from linkwise.data import (
    Encoded,
    Feature,
    Items,
    Rows,
    Table,
    encode,
    from_frame,
    image_items,
    record_items,
    series_items,
    text_items,
)
from linkwise.data.read.frames import to_narwhals
from linkwise.data.read.picture_files import require_pillow
from linkwise.data.show.items import file_items, no_fields
from linkwise.data.show.rows import encode_in_units
from linkwise.errors import DataError, SessionError
from linkwise.session.journal.description import ITEMS_WANTED, check_items, to_item_list
from linkwise.session.session import Session


def present_session(
    session: Session, items: Any = None, *, places: ArrayLike | None = None, title: str | None = None
) -> Presenter:
    """Return the presenter of a session with its data.

    `items`, `places` and `title` are as for `linkwise.widget`.
    """
    X = session.X
    if X is None:
        raise SessionError(
            "The session was opened without its data, so it has no questions. "
            "Open it with Session.open(path, X)."
        )
    X, items = np.asarray(X), session.items if items is None else items
    view, columns = _create_view(items, X, _given_ids(session))
    title = title or Path(str(session.source.get("file", "linkwise"))).name
    notes = items.notes if isinstance(items, Rows) else ()
    return Presenter(session, X, view, title=title, places=places, columns=columns, notes=notes)


# ---------------------------------------------------------------- how rows are shown
def _given_ids(session: Session) -> list[str] | None:
    ids = session.ids
    return None if all(name == str(row) for row, name in enumerate(ids)) else ids


def _create_view(items: Any, X: NDArray[Any], ids: list[str] | None) -> tuple[RowView, Encoded | None]:
    """Return how rows are shown, and their columns in original units if there are any."""
    if items is None:
        names = [f"x{j}" for j in range(X.shape[1])]
        features = tuple(Feature(name, name, None, "numeric") for name in names)
        return view_numbers(X, names, ids), Encoded(X, features, ())
    check_items(items, len(X))
    if isinstance(items, Items):
        return RowView(items, create_namer(ids)), None
    if isinstance(items, Rows):
        compared = items.encoded if np.array_equal(items.X, X) else None
        return view_rows(items, items.ids if ids is None else ids, compared), encode_in_units(items)
    items = to_item_list(items)
    if isinstance(items, (list, tuple, np.ndarray)):
        return RowView(_list_items(items), create_namer(ids)), None
    try:
        table = items if isinstance(items, Table) else from_frame(items)
    except DataError:  # nothing to cluster by, such as texts alone; to be shown they need not serve for that
        return RowView(_frame_items(items), create_namer(ids)), None
    return RowView(record_items(table), create_namer(table.ids if ids is None else ids)), _encode_columns(
        table
    )


def _list_items(items: Any) -> Items:
    """Return items for texts, pictures, their paths or curves, one a row."""
    if len(items) and all(isinstance(item, Path) for item in items):
        require_pillow()
        return file_items(items)
    if len(items) and all(isinstance(item, str) for item in items):
        return text_items([str(item) for item in items])
    try:
        arrays = [np.asarray(item) for item in items]
    except ValueError:  # a list of lists of several lengths
        arrays = []
    if not arrays or any(array.dtype.kind not in "biuf" or not 1 <= array.ndim <= 3 for array in arrays):
        raise DataError(
            f"items holds values that are neither texts, pictures nor curves. Pass {ITEMS_WANTED}."
        )
    if len({array.shape for array in arrays}) == 1:
        whole = np.stack(arrays)
        return series_items(whole) if whole.ndim == 2 else image_items(whole)
    if min(array.ndim for array in arrays) == 1:
        raise DataError("The curves differ in length. Fill the shorter ones up with NaN.")
    each = [image_items(array[None]) for array in arrays]
    return Items("image", no_fields, lambda row: each[row].content(0))


def _frame_items(frame: Any) -> Items:
    """Return the values of a DataFrame unchanged; a single column of texts becomes texts."""
    table = to_narwhals(frame)
    columns = {name: table[name].to_list() for name in table.columns}
    (first, *others) = columns.values()
    if not others and all(isinstance(value, str) for value in first):
        return text_items(first)
    return Items(
        "record", lambda row: {name: str(column[row]) for name, column in columns.items()}, lambda row: None
    )


def _encode_columns(table: Table) -> Encoded | None:
    """Return the columns for rules; None if the table has none that can be encoded."""
    try:
        return encode(table, scale="none", categories="codes")
    except DataError:
        return None
