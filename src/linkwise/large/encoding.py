"""How the columns of a table become numbers, learned once and applied to any number of rows.

`linkwise.data.encode` encodes a whole table. An `Encoding` keeps what it has decided, so that rows can be
encoded block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwise.data.columns.cycles import CycleKind, add_cycles, read_places
from linkwise.data.columns.roles import FEATURE_ROLES, Column, to_numbers, to_words
from linkwise.data.columns.table import Table
from linkwise.data.encoding.encoded import (
    Encoded,
    Feature,
    encode_coordinate,
    list_cycles,
    list_directions,
    scale_to_unit_norm,
)
from linkwise.data.reading import Reading
from linkwise.data.show.rows import Rows, items_of
from linkwise.errors import DataError
from linkwise.large.chunks import Chunk
from linkwise.large.passes import LARGEST
from linkwise.large.ranges import Lengths
from linkwise.large.table_files import TableFiles

if TYPE_CHECKING:
    import polars as pl

WAY_OUT = "Fix the cell, or remove the row."  # the options of groups cannot change any more

Locate = Callable[[int], str]
"""Says in which row of which file a row of a block is."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of a table become numbers.

    Attributes
    ----------
    columns : tuple of Column
        Role of each column that is read, in their order.
    features : tuple of Feature
        The meaning of each number.
    fills : dict of str to float or str
        Number or word that a missing value of a column counts as; a missing value of another column is an
        error.
    reading : Reading
        How the table was read.
    notes : tuple of str
        Sentences on the choices made.
    """

    columns: tuple[Column, ...]
    features: tuple[Feature, ...]
    fills: Mapping[str, float | str]
    reading: Reading
    notes: tuple[str, ...]

    def apply(self, frame: pl.DataFrame, locate: Locate) -> NDArray[np.float64]:
        """Encode some rows.

        Parameters
        ----------
        frame : polars.DataFrame of shape (n, n_columns)
            The rows, with the columns of `columns`.
        locate : callable
            Says for errors where row i of the frame is.

        Returns
        -------
        ndarray of shape (n, n_features)
            The rows as numbers. A word that is none of the categories belongs to none of them.

        Raises
        ------
        DataError
            A value is missing, infinite or too large, and the error says where.
        """
        frame = self._add_cycles(frame)
        X = np.empty((len(frame), len(self.features)))
        places: dict[str, list[int]] = {}
        for at, feature in enumerate(self.features):
            places.setdefault(feature.source, []).append(at)
        for name, at_all in places.items():
            if _is_of_words(self.features[at_all[0]]):
                codes = self._find_codes(frame[name], locate)
                for at in at_all:
                    word = self.features[at].category
                    X[:, at] = (codes.of == codes.number.get(str(word), -1)) / self.features[at].scale
            elif (kind := self.features[at_all[0]].cycle) is not None:
                in_cycle = self._find_places(frame[name], kind, locate)
                for at in at_all:
                    X[:, at] = encode_coordinate(self.features[at], in_cycle)
            else:
                (at,) = at_all
                feature, values = self.features[at], self._find_numbers(frame[name], locate)
                X[:, at] = values if feature.is_direction else (values - feature.offset) / feature.scale
        for block in list_directions(self.features):
            X[:, block] = scale_to_unit_norm(X[:, block]) / [self.features[at].scale for at in block]
        size = np.abs(X)
        if X.size and size.max() > LARGEST:
            row, place = divmod(int(size.argmax()), len(self.features))
            name = self.features[place].source
            raise DataError(f"{locate(row)} holds too large a value in column '{name}'. {WAY_OUT}")
        return X

    def _add_cycles(self, frame: pl.DataFrame) -> pl.DataFrame:
        import narwhals as nw

        cycles = list_cycles(self.features)
        if not cycles:
            return frame
        added: pl.DataFrame = add_cycles(nw.from_native(frame, eager_only=True), cycles).to_native()
        return added

    def _find_places(self, series: pl.Series, kind: CycleKind, locate: Locate) -> NDArray[np.float64]:
        import narwhals as nw

        places = read_places(nw.from_native(series, series_only=True), kind)
        missing = np.isnan(places)
        if missing.any():  # they stay missing, which is the middle of the circle
            self._find_fill(series.name, int(missing.argmax()), locate)
        return places

    def _find_numbers(self, series: pl.Series, locate: Locate) -> NDArray[np.float64]:
        import narwhals as nw

        values = to_numbers(nw.from_native(series, series_only=True))
        missing = np.isnan(values)
        if missing.any():
            values[missing] = self._find_fill(series.name, int(missing.argmax()), locate)
        if not np.isfinite(values).all():
            row = int(np.isinf(values).argmax())
            raise DataError(f"{locate(row)} holds an infinite value in column '{series.name}'. {WAY_OUT}")
        return values

    def _find_codes(self, series: pl.Series, locate: Locate) -> _Codes:
        import narwhals as nw
        import polars as pl

        number: dict[str, int] = {}
        unique = series.drop_nulls().unique()
        words = to_words(nw.from_native(unique, series_only=True))
        codes = [number.setdefault(str(word), len(number)) for word in words]
        found = series.replace_strict(unique, pl.Series(codes, dtype=pl.Int32), default=None)
        if found.null_count():
            fill = self._find_fill(series.name, int(found.is_null().arg_max() or 0), locate)
            found = found.fill_null(number.setdefault(str(fill), len(number)))
        return _Codes(found.to_numpy(), number)

    def _find_fill(self, name: str, row: int, locate: Locate) -> float | str:
        fill = self.fills.get(name)
        if fill is None:
            raise DataError(
                f"{locate(row)} has no value in column '{name}', and the groups were made without --impute."
                f" {WAY_OUT}"
            )
        return fill

    def show(self, frame: pl.DataFrame, ids: tuple[str, ...], X: NDArray[np.float64]) -> Rows:
        """Present some encoded rows as those of a table that was read at once."""
        import narwhals as nw

        names = [column.name for column in self.columns]
        table = Table(
            ids,
            nw.from_native(self._add_cycles(frame).select(names), eager_only=True),
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
            "fills": dict(self.fills),
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
        found = cls(
            columns, features, stored["fills"], Reading.of(**stored["reading"]), tuple(stored["notes"])
        )
        found._check()
        return found

    def _check(self) -> None:
        names = {column.name for column in self.columns}
        numbers = [number for one in self.features for number in (one.offset, one.scale)]
        is_right = (
            bool(self.features)
            and all(one.source in names for one in self.features)
            and all(isinstance(one, float) and np.isfinite(one) for one in numbers)
            and all(one.scale != 0 for one in self.features)
        )
        if not is_right:
            raise ValueError("It holds no encoding.")

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Columns of the files that rows are compared by."""
        compared = {column.name for column in self.columns if column.role in FEATURE_ROLES}
        compared |= {cycle.column for cycle in list_cycles(self.features)}
        return tuple(name for name in self.file_columns if name in compared)

    @property
    def file_columns(self) -> tuple[str, ...]:
        """Columns that are read from the files, in their order."""
        return tuple(column.name for column in self.columns if column.role != "cycle")


class _Codes:
    """The words of a column as numbers."""

    def __init__(self, of: NDArray[np.int32], number: dict[str, int]) -> None:
        self.of, self.number = of, number


def _is_of_words(feature: Feature) -> bool:
    """Whether a number says which word a cell holds; a truth value is a number."""
    return feature.category is not None and not (
        feature.category == "true" and feature.name == feature.source
    )


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
