"""Read Parquet, Arrow and Feather files, whose columns have types; fields of structs become columns."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

from linkwise.data.read.endings import PARQUET
from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns, check_expansion
from linkwise.text_files import check_unique
from linkwise.wording import shorten

if TYPE_CHECKING:
    import polars as pl


class ColumnarTable(NamedTuple):
    """A table from a file of columns.

    `nested` are the columns that hold fields of structs, such as ``"address.town"``. `has_objects` tells
    whether the file holds structs, as columns or as they are.
    """

    frame: pl.DataFrame
    nested: list[str]
    has_objects: bool


def read_columnar(raw: bytes, ending: str, keep_nested: bool = False) -> ColumnarTable:
    """Read a file with one of the endings `COLUMNAR`.

    Each field of a struct becomes a column unless `keep_nested`.
    """
    import polars as pl

    kind = "Parquet" if ending == PARQUET else "Arrow"
    try:
        frame = _read_parquet(raw) if ending == PARQUET else _read_arrow(raw)
    except (DataError, MemoryError, ImportError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # of a damaged file polars may raise anything
        raise DataError(f"This cannot be read as {kind}: {shorten(str(error), 300)}") from error
    structs = [name for name, dtype in frame.schema.items() if dtype == pl.Struct]
    if keep_nested or not structs:
        return ColumnarTable(frame, [], bool(structs))
    before = set(frame.columns)
    while structs := [name for name, dtype in frame.schema.items() if dtype == pl.Struct]:
        frame = _flatten(frame, structs)
    return ColumnarTable(frame, [name for name in frame.columns if name not in before], True)


def _flatten(frame: pl.DataFrame, structs: list[str]) -> pl.DataFrame:
    """Give each field of structs a column such as a.b."""
    columns: list[pl.Series] = []
    for series in frame:
        if series.name in structs:
            columns += [
                series.struct.field(field).alias(f"{series.name}.{field}") for field in series.struct.fields
            ]
        else:
            columns.append(series)
    check_columns(len(columns))
    check_unique(series.name for series in columns)
    import polars as pl

    return pl.DataFrame(columns)


def _read_parquet(raw: bytes) -> pl.DataFrame:
    import polars as pl

    lazy = pl.scan_parquet(io.BytesIO(raw))
    n_columns = len(lazy.collect_schema())
    check_columns(n_columns)
    n_rows = int(lazy.select(pl.len()).collect().item())
    check_cells(n_rows, n_columns)
    check_expansion(8 * n_rows * n_columns, len(raw))
    return pl.read_parquet(raw)


def _read_arrow(raw: bytes) -> pl.DataFrame:
    """Read an Arrow file, a stream of Arrow, or the older form of Feather."""
    import polars as pl

    if raw.startswith(b"FEA1"):
        raise DataError("The file is in the first form of Feather. Save it again with pandas.to_feather.")
    if not raw.startswith(b"ARROW1"):
        frame = pl.read_ipc_stream(io.BytesIO(raw))
    else:
        lazy = pl.scan_ipc(io.BytesIO(raw))
        check_columns(len(lazy.collect_schema()))
        frame = pl.read_ipc(io.BytesIO(raw))
    check_cells(frame.height, frame.width)
    return frame
