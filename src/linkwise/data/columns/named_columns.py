"""The columns that a person names, and the id column, resolved once for a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.data.column_names import check_names, to_names
from linkwise.data.columns.ids import find_id
from linkwise.data.columns.roles import Unit
from linkwise.data.columns.weights import Metric, Weights
from linkwise.data.read.dates import check_dates
from linkwise.errors import DataError
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
    text : tuple of str
        The columns of texts that the rows are compared by.
    image : tuple of str
        The columns of paths of pictures that the rows are compared by.
    show : tuple of str
        The columns that are shown and not used.
    hide : tuple of str
        The columns that are not shown; they are used if they can serve.
    takes_all : bool
        Whether the word ``all`` was given for the columns to use.
    """

    id_column: str | None
    columns: tuple[str, ...] | None
    drop: tuple[str, ...]
    text: tuple[str, ...] = ()
    image: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    takes_all: bool = False

    @property
    def has_blocks_alone(self) -> bool:
        """Whether rows are compared by texts or pictures, and by no other columns."""
        return bool(self.text or self.image) and not self.columns and not self.takes_all


def resolve_names(
    frame: nw.DataFrame[Any],
    id_column: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    text: str | Sequence[str] | None,
    show: Sequence[str] = (),
    hide: Sequence[str] = (),
    image: Sequence[str] = (),
) -> NamedColumns:
    """Check the names that were given, and find the id column if none was.

    Parameters
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table as it was read; columns of text may be unparsed.
    id_column, columns, drop, text, show, hide, image
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
    show, hide, texts = to_names(show) or (), to_names(hide) or (), to_names(text) or ()
    images = to_names(image) or ()
    takes_all = columns == ("all",) and "all" not in frame.columns
    if takes_all:
        columns = None
    check_name_lengths(frame.columns)
    check_names(frame.columns, id_column, columns, drop, texts, show, hide, images)
    check_dates(frame, drop)  # before `find_id` reads values, which Python must be able to hold
    used = {*(columns or ()), *drop, *show, *hide, *texts, *images}
    id_column = find_id(frame, id_column, used)
    return NamedColumns(id_column, columns, drop, texts, images, show, hide, takes_all)


def check_kind(
    names: NamedColumns,
    is_mixed: bool,
    series: bool,
    merge_variants: bool,
    as_categories: Sequence[str],
    log: Sequence[str],
    cycles: Sequence[str],
    weights: Weights | None,
    metric: Metric | None,
    text_by: Unit,
) -> None:
    """Refuse choices that do not fit rows that are texts or curves alone."""
    if text_by not in ("words", "letters"):
        raise DataError(f"Texts are compared by words or letters, not by {text_by!r}. Fix text_by.")
    if text_by != "words" and not names.text:
        raise DataError("Letters are those of columns of texts. Set text, or remove text_by.")
    if names.image and series:
        raise DataError("Curves are compared by their samples alone. Remove the images or the series.")
    if names.text and series:
        raise DataError("Curves are compared by their samples alone. Remove the texts or the series.")
    is_record = is_mixed or not (names.text or names.image)
    if as_categories and (series or not is_record):
        raise DataError("Only columns of records can be categories. Remove as_categories.")
    if log and (series or not is_record):
        raise DataError("Only numbers of records have a logarithm. Remove log.")
    if cycles and (series or not is_record):
        raise DataError("Only dates and times of records go in cycles. Remove cycles.")
    if merge_variants and (series or not is_record):
        raise DataError("Only categories of records have variants to merge. Remove merge_variants.")
    if weights not in (None, "none", {}) and series:
        raise DataError("The samples of a curve count alike. Remove weights.")
    if metric == "cosine" and (series or not is_record):
        raise DataError("The cosine compares rows of numbers, not texts or curves. Remove metric.")


def leave_out_weightless(names: NamedColumns, weights: Weights | None) -> NamedColumns:
    """The same names, where columns of weight 0 are only shown."""
    given = weights.items() if isinstance(weights, Mapping) else ()
    zero = {name for name, weight in given if weight == 0}
    if not zero:
        return names
    columns = None if names.columns is None else tuple(name for name in names.columns if name not in zero)
    texts, images = (tuple(n for n in some if n not in zero) for some in (names.text, names.image))
    return names._replace(columns=columns, text=texts, image=images, show=(*names.show, *zero))
