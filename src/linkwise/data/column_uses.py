"""Decide what columns are if each row is a text or a curve: one use, and the rest is only shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwise.data.cells import is_missing
from linkwise.data.curves import holds_lists
from linkwise.data.pictures import PICTURES, holds_pictures, is_picture
from linkwise.data.roles import Column, Role, is_label_like, value_kind
from linkwise.errors import DataError
from linkwise.wording import join_names

if TYPE_CHECKING:
    import narwhals as nw

Found = tuple[tuple[Column, ...], list[str]]
"""All columns, and sentences on the choices made."""


def understand_texts(
    frame: nw.DataFrame[Any],
    texts: Sequence[str],
    images: Sequence[str],
    id_column: str | None,
    drop: Sequence[str],
) -> Found:
    """Decide what the columns of a table of texts or pictures are.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table.
    texts : sequence of str
        The columns of texts to compare.
    images : sequence of str
        The columns of paths of pictures to compare.
    id_column : str or None
        The column that names the rows.
    drop : sequence of str
        Columns that are neither used nor shown.

    Returns
    -------
    columns : tuple of Column
        Name, role and reason for each column of `frame`.
    notes : list of str
        Sentences on the choices made.

    Raises
    ------
    DataError
        A column does not hold texts, or does not hold paths of pictures.
    """
    for name in texts:
        check_texts(frame[name])
    for name in images:
        check_paths(frame[name])
    used: dict[str, Role] = {**dict.fromkeys(texts, "document"), **dict.fromkeys(images, "image")}
    found = _assign_roles(frame, used, id_column, drop)
    parts = [
        f"the {what} of {join_names(f'{name!r}' for name in names)}"
        for what, names in (("texts", texts), ("pictures", images))
        if names
    ]
    return found, _note_shown_columns(f"Rows are compared by {' and '.join(parts)} alone", found)


def check_texts(series: nw.Series[Any]) -> None:
    """Check that a column holds texts."""
    what = value_kind(series)
    if what != "words":
        values = {"number": "numbers", "nothing": "nothing", "bool": "true and false"}.get(what, what)
        raise DataError(f"Column '{series.name}' holds {values}. Set --text to a column of texts.")


def check_paths(series: nw.Series[Any]) -> None:
    """Check that a column holds the path of a picture in each row."""
    if holds_pictures(series):
        return
    words = enumerate(series.to_list())
    row, wrong = next(((row, word) for row, word in words if not is_picture(word)), (0, None))
    what = "is empty" if is_missing(wrong) else f"holds {wrong!r:.60}, which is no path of a picture"
    raise DataError(
        f"Column '{series.name}' {what} in row {row} (counted from 0). Set --image to a column with a path in"
        f" each row, which ends with {', '.join(PICTURES[:-1])} or {PICTURES[-1]}."
    )


def understand_curves(
    frame: nw.DataFrame[Any],
    columns: Sequence[str] | None,
    id_column: str | None,
    drop: Sequence[str],
    show: Sequence[str] = (),
) -> Found:
    """Decide what the columns of a table of curves are: one column of lists, or columns of numbers in order.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table.
    columns : sequence of str or None
        The columns that may be part of the curves; None for all but the id and known groups.
    id_column : str or None
        The column that names the rows.
    drop : sequence of str
        Columns that are neither used nor shown.
    show : sequence of str, default=()
        Columns that are shown and not used.

    Returns
    -------
    columns : tuple of Column
        Name, role and reason for each column of `frame`.
    notes : list of str
        Sentences on the choices made.

    Raises
    ------
    DataError
        Two columns hold lists, a named column holds no numbers, or a curve would have one sample.
    """
    names = list(frame.columns)
    free = [name for name in names if name != id_column and name not in (*drop, *show)]
    free = [name for name in free if (name in columns if columns else not is_label_like(name, names))]
    lists = [name for name in free if holds_lists(frame[name])]
    if len(lists) > 1:
        raise DataError(
            f"There are {len(lists)} columns of lists: {join_names(lists)}. Use one: --columns NAME"
        )
    samples = [name for name in free if value_kind(frame[name]) == "number"]
    wrong = [name for name in columns or () if name not in (lists or samples)]
    if wrong:
        raise DataError(
            f"Column '{wrong[0]}' cannot be part of a curve. Use columns of numbers, or one column of lists."
        )
    if lists:
        found = _assign_roles(frame, {lists[0]: "curve"}, id_column, drop)
        return found, _note_shown_columns(f"Each row is a curve, the list in column '{lists[0]}'", found)
    if len(samples) < 2:
        there = f"the only column of numbers is {samples[0]}" if samples else "there is no column of numbers"
        raise DataError(
            f"A curve needs at least 2 samples, but {there}. Use a column of numbers for each sample,"
            " in order, or one column of lists such as [0.1, 0.4, 0.2]."
        )
    found = _assign_roles(frame, dict.fromkeys(samples, "sample"), id_column, drop)
    which = f"{samples[0]} to {samples[-1]}" if len(samples) > 3 else join_names(samples)
    notes = _note_shown_columns(f"Each row is a curve of {len(samples)} samples, the columns {which}", found)
    if columns is None and len({re.sub(r"\d+", "", name) for name in samples}) > 1:
        notes.append("Remove what is no part of the curves with --drop, or set what is with --columns.")
    return found, notes


def _assign_roles(
    frame: nw.DataFrame[Any], used: dict[str, Role], id_column: str | None, drop: Sequence[str]
) -> tuple[Column, ...]:
    def column(name: str) -> Column:
        if name in used:
            return Column(name, used[name], "rows are compared by it")
        if name == id_column:
            return Column(name, "id", "unique and complete")
        return Column(name, "left out", "dropped" if name in drop else "only shown")

    return tuple(column(name) for name in frame.columns)


def _note_shown_columns(said: str, found: Sequence[Column]) -> list[str]:
    shown = [column.name for column in found if column.reason == "only shown"]
    return [f"{said}." if not shown else f"{said}; only shown: {join_names(shown)}."]
