"""The columns that a person names, and the id column, resolved once for a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.data.column_names import check_names, to_names
from linkwise.data.dates import check_dates
from linkwise.data.ids import find_id
from linkwise.limits import check_name_lengths

if TYPE_CHECKING:
    import narwhals as nw


class NamedColumns(NamedTuple):
    """Names of columns that the table has, each put to one use.

    Attributes
    ----------
    id_column : str or None
        The column that names the rows; None if rows are known by their position.
    columns : tuple of str, or None
        The columns to use as features, and no others; None for all that can serve.
    drop : tuple of str
        The columns neither used nor shown.
    text : str or None
        The column of texts that the rows are compared by.
    show : tuple of str
        The columns that are shown and not used.
    hide : tuple of str
        The columns that are not shown; they are used if they can serve.
    """

    id_column: str | None
    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    text: str | None
    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()


def resolve_names(
    frame: nw.DataFrame[Any],
    id_column: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    text: str | None,
    show: Sequence[str] = (),
    hide: Sequence[str] = (),
) -> NamedColumns:
    """Check the names that were given, and find the id column if none was.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table as it was read; columns of text may be unparsed.
    id_column, columns, drop, text, show, hide
        As for `linkwise.data.from_frame`.

    Returns
    -------
    NamedColumns
        The names, with the id column that was found.

    Raises
    ------
    DataError
        A name is too long or unknown, or a column is put to two uses; or dates are out of range.
    """
    columns, drop = to_names(columns), to_names(drop) or ()
    show, hide = to_names(show) or (), to_names(hide) or ()
    check_name_lengths(frame.columns)
    check_names(frame.columns, id_column, columns, drop, text, show, hide)
    check_dates(frame, drop)  # before `find_id` reads values, which Python must be able to hold
    used = {*(columns or ()), *drop, *show, *hide, *([] if text is None else [text])}
    return NamedColumns(find_id(frame, id_column, used), columns, drop, text, show, hide)
