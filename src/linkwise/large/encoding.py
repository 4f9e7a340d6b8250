"""How the columns of a table become numbers, learned once and applied to any number of rows.

`linkwise.data.encode` encodes a whole table. An `Encoding` keeps what it has decided, so that rows can be
encoded block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.curves import read_curves
from linkwise.data.columns.roles import FEATURE_ROLES, Column, to_words
from linkwise.data.columns.table import Table
from linkwise.data.encoding.encoded import (
    Encoded,
    Feature,
    block_of,
    complete_columns,
    encode_rows,
    list_cycles,
)
from linkwise.data.encoding.series import scale_curves
from linkwise.data.encoding.texts import TextSpace, spread_unknown
from linkwise.data.reading import Reading
from linkwise.data.show.rows import Rows, items_of
from linkwise.errors import DataError
from linkwise.large.chunks import Chunk
from linkwise.large.passes import LARGEST
from linkwise.large.ranges import Lengths
from linkwise.large.table_files import TableFiles

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

WAY_OUT = "Fix the cell, or remove the row."  # the options of groups cannot change any more

Locate = Callable[[int], str]
"""Says in which row of which file a row of a block is."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of a table become numbers.

    `columns` are those that are read, in their order; `features` are the meaning of each number; `spaces`
    are the directions by which the texts of a column are compared.
    """

    columns: tuple[Column, ...]
    features: tuple[Feature, ...]
    reading: Reading
    notes: tuple[str, ...]
    spaces: Mapping[str, TextSpace] = field(default_factory=dict, repr=False)

    def apply(self, frame: pl.DataFrame, locate: Locate) -> NDArray[np.float64]:
        """Encode some rows, which have the columns of `columns`; `locate` says for errors where row i is.

        A word that is none of the categories belongs to none of them.
        """
        import narwhals as nw

        def refuse(name: str, rows: NDArray[np.intp], what: str) -> NoReturn:
            where = locate(int(rows[0]))
            if what == "infinite":
                raise DataError(f"{where} holds an infinite value in column '{name}'. {WAY_OUT}")
            raise DataError(f"{where} holds a value in column '{name}' that is {what}. {WAY_OUT}")

        table = nw.from_native(frame, eager_only=True)
        if self.reading.is_of_series:
            return self._encode_curves(table, locate)
        by = self._placing_column
        ids = None if by is None else list(map(str, to_words(table[by])))
        others = {name: partial(_place_texts, space, name, ids) for name, space in self.spaces.items()}
        X = encode_rows(self.features, table, refuse, others)
        size = np.abs(X)
        if X.size and size.max() > LARGEST:
            row, place = divmod(int(size.argmax()), len(self.features))
            name = self.features[place].source
            raise DataError(f"{locate(row)} holds too large a value in column '{name}'. {WAY_OUT}")
        return X

    def _encode_curves(self, table: nw.DataFrame[Any], locate: Locate) -> NDArray[np.float64]:
        """Encode curves, each of which has its own level and size."""
        try:
            return scale_curves(read_curves(table, self.columns), self.reading.scale or "standard")[0]
        except DataError as error:
            raise DataError(f"In the rows from {locate(0)}: {error}") from error

    def show(self, frame: pl.DataFrame, ids: tuple[str, ...], X: NDArray[np.float64]) -> Rows:
        """Present some encoded rows as those of a table that was read at once."""
        import narwhals as nw

        names = [column.name for column in self.columns]
        table = Table(
            ids,
            complete_columns(self.features, nw.from_native(frame, eager_only=True)).select(names),
            self.columns,
            self.notes,
            self.reading,
        )
        return Rows(table, Encoded(X, self.features, ()), items_of(table))

    def to_json(self) -> dict[str, Any]:
        """Return everything in types that JSON has."""
        return {
            "columns": [asdict(column) for column in self.columns],
            "features": [asdict(feature) for feature in self.features],
            "reading": self.reading.settings(),
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, stored: Any) -> Encoding:
        """Make an encoding of what `to_json` returned."""
        features = tuple(
            Feature(**{**one, "categories": tuple(one["categories"])}) for one in stored["features"]
        )
        columns = tuple(Column(**one) for one in stored["columns"])
        found = cls(columns, features, Reading.of(**stored["reading"]), tuple(stored["notes"]))
        found._check()
        return found

    def _check(self) -> None:
        names = {column.name for column in self.columns}
        numbers = [number for one in self.features for number in (one.offset, one.scale)]
        is_right = (
            bool(self.features)
            and all(one.source in names or one.role == "sample" for one in self.features)
            and all(isinstance(one, float) and np.isfinite(one) for one in numbers)
            and all(one.scale != 0 for one in self.features)
        )
        if not is_right:
            raise ValueError("It holds no encoding.")

    @property
    def _placing_column(self) -> str | None:
        """The ids, if empty texts are placed by them; None if nothing is."""
        is_placed = any(space.unit == "letters" for space in self.spaces.values())
        return self.reading.id_column if is_placed else None

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Columns of the files that numbers are made of."""
        compared = {column.name for column in self.columns if column.role in FEATURE_ROLES}
        compared |= {cycle.column for cycle in list_cycles(self.features)} | set(self._lists)
        by = self._placing_column
        names = tuple(name for name in self.file_columns if name in compared)
        return names if by is None or by in names else (*names, by)

    @property
    def file_columns(self) -> tuple[str, ...]:
        """Columns that are read from the files, in their order, and those of lists at the end."""
        made = ("cycle", "vector")
        return (*(one.name for one in self.columns if one.role not in made), *self._lists)

    @property
    def _lists(self) -> tuple[str, ...]:
        """Columns of lists that rows are compared by."""
        found = (block_of(one) for one in self.features if one.role == "vector")
        return tuple(dict.fromkeys(name for name in found if name is not None))


def _place_texts(
    space: TextSpace, source: str, ids: Sequence[str] | None, series: nw.Series[Any]
) -> NDArray[np.float64]:
    """Place texts; among letters, an empty one by its id, and without ids at the origin."""
    X = space.place(to_words(series))
    if space.unit == "letters" and ids is not None:
        spread_unknown(X, source, ids)
    return X


# ---------------------------------------------------------------- streams
class EncodedTables:
    """The rows of tables as numbers."""

    def __init__(self, tables: TableFiles, encoding: Encoding) -> None:
        self._tables, self._encoding = tables, encoding

    def columns(self) -> tuple[str, ...] | None:
        """Name of each number."""
        return tuple(feature.name for feature in self._encoding.features)

    def lengths(self) -> Lengths:
        """Count the rows."""
        return self._tables.lengths()

    def chunks(self, start: int = 0, stop: int | None = None) -> Iterator[Chunk]:
        """Read the rows in order, in whole blocks."""
        names = self._encoding.file_columns
        for block in self._tables.blocks(names, start, stop):
            yield Chunk(block.first, self._encoding.apply(block.frame, block.locate), None, block.frame)
