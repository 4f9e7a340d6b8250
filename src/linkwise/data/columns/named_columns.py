"""The columns that a person names, and the id column, resolved once for a table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.data.columns.roles import find_id
from linkwise.data.read.dates import check_dates
from linkwise.data.reading import Reading, Weights, unknown_column
from linkwise.errors import DataError
from linkwise.limits import check_name_lengths

if TYPE_CHECKING:
    import narwhals as nw


class NamedColumns(NamedTuple):
    """Names of columns that the table has, each put to one use.

    `columns` are the features, and no others; None means all that can serve, and `takes_all` that the
    word ``all`` was given. Rows are compared by `text` and by the pictures whose paths are in `image`.
    What is in `show` is only shown, in `hide` not shown, and in `drop` neither used nor shown.
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


def resolve_names(frame: nw.DataFrame[Any], reading: Reading) -> NamedColumns:
    """Check the names that were given, and find the id column if none was.

    Columns of text may be unparsed.
    """
    names = list_names(frame.columns, reading)
    check_name_lengths(frame.columns)
    check_names(frame.columns, names)
    check_dates(frame, names.drop)  # before `find_id` reads values, which Python must be able to hold
    used = {*(names.columns or ()), *names.drop, *names.show, *names.hide, *names.text, *names.image}
    return names._replace(id_column=find_id(frame, names.id_column, used))


def list_names(there: list[str], reading: Reading) -> NamedColumns:
    """List the names that were given for a table with the columns `there`."""
    columns = None if reading.columns is None else tuple(reading.columns)
    takes_all = columns == ("all",) and "all" not in there
    return NamedColumns(
        reading.id_column,
        None if takes_all else columns,
        tuple(reading.drop or ()),
        tuple(reading.text or ()),
        tuple(reading.image or ()),
        reading.shown_columns,
        tuple(reading.hide or ()),
        takes_all,
    )


def check_names(there: list[str], names: NamedColumns) -> None:
    """Check that all named columns exist, and that each has one use."""
    single = [] if names.id_column is None else [names.id_column]
    known = set(there)
    for name in (
        *single, *names.text, *names.image, *(names.columns or ()), *names.drop, *names.show, *names.hide,
    ):  # fmt: skip
        if name not in known:
            raise DataError(unknown_column(name, there))
    uses: dict[str, set[str]] = {
        "the id": set(single),
        "a feature": set(names.columns or ()),
        "the text": set(names.text),
        "a picture": set(names.image),
        "dropped": set(names.drop),
        "only shown": set(names.show),
        "hidden": set(names.hide),
    }
    for one, other in combinations(uses, 2):
        if (one, other) == ("a feature", "hidden"):
            continue
        for name in uses[one] & uses[other]:
            raise DataError(f"Column '{name}' is to be {one} and {other}. Use it in one option.")


def leave_out_weightless(names: NamedColumns, weights: Weights | None) -> NamedColumns:
    """The same names, where columns of weight 0 are only shown."""
    given = weights.items() if isinstance(weights, Mapping) else ()
    zero = {name for name, weight in given if weight == 0}
    if not zero:
        return names
    columns = None if names.columns is None else tuple(name for name in names.columns if name not in zero)
    texts, images = (tuple(n for n in some if n not in zero) for some in (names.text, names.image))
    return names._replace(columns=columns, text=texts, image=images, show=(*names.show, *zero))
