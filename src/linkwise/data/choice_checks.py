"""Check that choices about a table fit its kind of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linkwise.data.named_columns import NamedColumns
from linkwise.data.roles import Unit
from linkwise.data.weights import Metric, Weights
from linkwise.errors import DataError


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
