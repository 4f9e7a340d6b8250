"""A table with every column understood, and one row of it as a person sees it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from linkwise.data.cells import format_cell
from linkwise.data.columns.codes import turn_into_texts
from linkwise.data.columns.log_scale import check_log
from linkwise.data.columns.named_columns import NamedColumns, leave_out_weightless
from linkwise.data.columns.proposals import Proposal
from linkwise.data.columns.roles import (
    FEATURE_ROLES,
    NO_VALUES,
    Column,
    Kind,
    Role,
    to_numbers,
    unique_ids,
)
from linkwise.data.columns.uses import (
    describe_hidden,
    understand_curves,
    understand_records,
    understand_texts,
)
from linkwise.data.columns.vectors import expand_lists
from linkwise.data.reading import Metric, Reading
from linkwise.errors import DataError
from linkwise.wording import count_noun, join_names, merge_full_stops

if TYPE_CHECKING:
    import narwhals as nw


# ---------------------------------------------------------------- weights
# Weights and metrics that a person gives, and the metric that fits rows of norm 1.
COLUMNS = "columns"
"""Name of the block of all columns that hold neither texts, pictures nor lists."""
_UNIT = 1e-3  # how far the norm of an embedding in half precision may be from 1


def check_weighed_names(weights: Mapping[str, float], found: Sequence[Column], lists: Sequence[str]) -> None:
    """Check that each name with a weight is a block or a column that rows are compared by.

    A name with weight 0 must only be there.
    """
    columns = [c.name for c in found if c.role in FEATURE_ROLES and c.role != "vector"]
    compared = [*columns, *lists]
    others = any(column.role not in ("document", "image", "vector", *_UNUSED) for column in found)
    if others and (lists or any(column.role in ("document", "image") for column in found)):
        compared.append(COLUMNS)
    there = {column.name for column in found}
    for name, weight in weights.items():
        if weight == 0 and name in there:
            continue
        if weight == 0 and name == COLUMNS and name in compared:
            raise DataError(
                "The block 'columns' has weight 0. Remove the columns, or set the weight of each to 0."
            )
        if name in compared:
            continue
        ways = f"Rows are compared by: {join_names(compared, 30)}."
        if name in there:
            raise DataError(f"Column '{name}' is not compared, so it has no weight. {ways}")
        folded = {one.casefold(): one for one in compared}
        near = difflib.get_close_matches(name.casefold(), folded, n=1)
        hint = f" Did you mean '{folded[near[0]]}'?" if near else ""
        raise DataError(f"There is no column or block '{name}' to give a weight.{hint} {ways}")


_UNUSED = ("text", "id", "label", "constant", "left out")


def choose_metric(
    frame: nw.DataFrame[Any], found: Sequence[Column], lists: Mapping[str, Sequence[str]], given: str | None
) -> Metric | None:
    """Return the metric that was given, or "cosine" if all rows of numbers have norm 1 already.

    Raises `DataError` if the cosine was asked for, and rows are also compared by categories or dates.
    """
    used = [c for c in found if c.role in FEATURE_ROLES and c.role not in ("document", "image")]
    others = [column for column in used if column.role != "numeric"]
    if given == "cosine" and not lists and (others or len(used) < 2):
        why = f"'{others[0].name}' is a {others[0].role}" if others else "there are fewer than 2 such columns"
        raise DataError(
            f"The cosine compares rows of numbers, but {why}. Use the columns that hold an embedding, or "
            "one column of lists, with --columns (in Python, columns=[...])."
        )
    if given is not None:
        return "cosine" if given == "cosine" else "euclidean"
    groups = list(lists.values()) or ([] if others or len(used) < 2 else [[c.name for c in used]])
    return "cosine" if groups and all(_have_unit_norm(frame, names) for names in groups) else None


def _have_unit_norm(frame: nw.DataFrame[Any], names: Sequence[str]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        squares = sum(np.square(to_numbers(frame.get_column(name))) for name in names)
        return bool((np.abs(np.sqrt(squares) - 1) <= _UNIT).all())


# ---------------------------------------------------------------- the table
@dataclass(frozen=True, eq=False)
class Table:
    """Rows to be clustered, and what was decided about them.

    Attributes
    ----------
    ids : tuple of str, or None
        Name of each row; None where rows are known by their position, counted from 0.
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        All columns, in their original order and with their types. A column of lists that rows are compared by
        is a column for each number instead, at the end.
    columns : tuple of Column
        Name, role and reason for each column of `frame`.
    notes : tuple of str
        Sentences on the choices made.
    reading : Reading
        How it was read, with what was detected.
    folder : Path
        The folder from which relative paths of pictures begin.
    written : dict of str to narwhals.Series
        For each column whose numbers are written with a unit or other marks: the text that a person sees.
    column_notes : tuple of str
        Those of the notes that only say what each column is.
    proposals : tuple of Proposal
        What the values suggested and `reading` has taken.
    """

    ids: tuple[str, ...] | None
    frame: nw.DataFrame[Any]
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    reading: Reading = field(default=Reading(), repr=False)
    written: Mapping[str, nw.Series[Any]] = field(default_factory=dict, repr=False)
    folder: Path = Path()
    column_notes: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(merge_full_stops, self.notes)))

    def __len__(self) -> int:
        return len(self.frame)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("A Table is not an array. Pass its matrix, linkwise.data.encode(table).X.")

    @property
    def choices(self) -> dict[str, Any]:
        """The options that give this table again, which JSON can hold: ``read_table(path, **choices)``."""
        return self.reading.to_json()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def features(self) -> tuple[str, ...]:
        """Columns that the clustering is made from."""
        return tuple(column.name for column in self.columns if column.role in FEATURE_ROLES)

    @property
    def shown(self) -> tuple[str, ...]:
        """Columns that a person sees and the clustering does not use; none without a value."""
        others = {*FEATURE_ROLES, "id"}
        unseen = {*(self.reading.drop or ()), *(self.reading.hide or ())}
        seen = [column for column in self.columns if column.role not in others and column.name not in unseen]
        return tuple(column.name for column in seen if column.reason != NO_VALUES)

    @property
    def kind(self) -> Kind:
        """What a row is: a record, a text, an image or a series."""
        roles = {column.role for column in self.columns}
        if "image" in roles and roles & {*FEATURE_ROLES} == {"image"}:
            return "image"
        return "text" if "document" in roles else "series" if roles & {"sample", "curve"} else "record"

    @property
    def has_copies(self) -> bool:
        """Whether many rows seem to be records of the same things, as the values suggested."""
        return any((one.option, one.value) == ("text_by", "letters") for one in self.proposals)

    @cached_property
    def roles(self) -> dict[str, Role]:
        """Role of each column, by name."""
        return {column.name: column.role for column in self.columns}

    def item(self, row: int, names: Sequence[str] | None = None) -> dict[str, str]:
        """Format one row for a person: features first, then the other columns, without the id.

        Parameters
        ----------
        row : int
            Position from 0 to n_rows - 1.
        names : sequence of str, optional
            The columns to format. The default is all of them but those that are hidden.

        Returns
        -------
        dict of str to str
            Short numbers, or as they are written where they have a unit; ISO dates; and "missing" for a
            missing value.

        Raises
        ------
        IndexError
            There is no such row.
        """
        if not 0 <= row < len(self):
            raise IndexError(f"There is no row {row}: the rows are 0 to {len(self) - 1}.")
        if names is None:
            hidden = set(self.reading.hide or ())
            hidden.update(name for name, role in self.roles.items() if _is_shown_otherwise(name, role))
            names = (*(name for name in self.features if name not in hidden), *self.shown)
        # lists of one cell, since pandas turns integers into floats where it makes one row of several columns
        cells = self.frame[row : row + 1].select(*names).to_dict(as_series=False) if names else {}
        written = {name: self.written[name][row] for name in names if name in self.written}
        return {name: format_cell(written.get(name, cells[name][0])) for name in names}


def _is_shown_otherwise(name: str, role: Role) -> bool:
    """Whether a column is no help to a person: a number of a list, or a cycle that is read from the date."""
    return role == "vector" or (role == "cycle" and not name.endswith("(weekday)"))


def understand(
    frame: nw.DataFrame[Any],
    names: NamedColumns,
    reading: Reading,
    *,
    written: Mapping[str, nw.Series[Any]] = MappingProxyType({}),
    folder: Path = Path(),
    notes: Sequence[str] = (),
) -> Table:
    """Decide what each column of a table is, with numbers and dates parsed.

    `written` has the numbers of some columns as they are written, if that differs from plain numbers.
    Relative paths of pictures begin at `folder`. `notes` of the reader come first. Raises `DataError` if
    there are fewer than two rows, ids repeat or are missing, or no column is left to cluster by.
    """
    if len(frame) < 2:
        raise DataError(
            f"The table has {count_noun(len(frame), 'row')}, but at least 2 are needed to compare."
        )
    ids = None if names.id_column is None else unique_ids(frame[names.id_column], names.id_column)
    weights, metric = reading.weights, reading.metric
    if metric is None and reading.scale is not None and reading.is_of_records:
        metric = "euclidean"  # a scale of columns that was asked for is kept
    used = leave_out_weightless(names, weights)
    is_of_records = not reading.is_of_series and not used.has_blocks_alone
    parts: Mapping[str, tuple[str, ...]] = {}
    if reading.text_by == "letters":
        frame = turn_into_texts(frame, used.text)
    if reading.is_of_series:
        found, choices, told = understand_curves(frame, names)
    elif is_of_records:
        if used.columns:
            frame, parts = expand_lists(frame, used.columns)
        frame, found, choices, told = understand_records(frame, used, parts, reading)
    else:
        found, choices, told = *understand_texts(frame, used), list[str]()
    if isinstance(weights, Mapping):
        check_weighed_names(weights, found, list(parts))
    if is_of_records:
        metric = choose_metric(frame, found, parts, metric)
    if reading.log:
        check_log(reading.log, frame, found, reading.as_categories or ())
    told = [*told, *describe_hidden(found, [name for name in names.hide if name not in parts])]
    blocks = {*parts, *used.text, *used.image}
    has_blocks = len(blocks) > 1 or (is_of_records and bool(blocks))
    weights = weights or ({} if has_blocks else None)
    chosen = replace(reading, id_column=names.id_column, weights=weights, metric=metric)
    said = (_id_note(names.id_column), *choices)
    return Table(ids, frame, found, (*notes, *said, *told), chosen, written, folder, said)


def _id_note(id_column: str | None) -> str:
    if id_column is None:
        return "Rows are identified by their position, counted from 0: no column serves as id."
    return f"Rows are identified by '{id_column}' (unique, none missing)."
