"""Files as tables: delimited text, Parquet, JSON lines, NumPy arrays."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.data.arrays import read_array
from linkwise.data.column_names import check_names, to_names
from linkwise.data.delimited import read_delimited
from linkwise.data.ids import find_id
from linkwise.data.json_lines import read_json_lines
from linkwise.data.parse import parse_columns
from linkwise.data.table import Table, understand
from linkwise.errors import DataError
from linkwise.limits import check_cells, check_columns, check_expansion, too_large_for_memory
from linkwise.text_files import read_bytes
from linkwise.wording import join_names, shorten

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

_DELIMITED = (".csv", ".tsv", ".tab", ".txt")
_JSON = (".jsonl", ".ndjson", ".json")
_ARRAYS = (".npy", ".npz")
_SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
ENDINGS = (*_DELIMITED, ".parquet", *_JSON, *_ARRAYS)


def read_table(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    text: str | None = None,
    series: bool = False,
) -> Table:
    """Read a file and understand its columns.

    Parameters
    ----------
    path : path
        .csv, .tsv, .tab or .txt (UTF-8, a line of column names first), .parquet, .jsonl, .ndjson or
        .json (one JSON object a line), .npy (a 2-D array of numbers), .npz (its array named X, or the
        only 2-D one; ids from a 1-D array named ids or id).
    id_column : str, optional
        As for `from_frame`.
    columns : sequence of str, optional
        As for `from_frame`.
    drop : sequence of str, default=()
        As for `from_frame`.
    delimiter : str, optional
        The character between the columns of a text file. By default it is detected: a comma, semicolon, tab
        or vertical bar.
    text : str, optional
        As for `from_frame`.
    series : bool, default=False
        As for `from_frame`.

    Returns
    -------
    Table
        The table; ``read_table(path, **table.choices)`` returns the same one again.

    Raises
    ------
    DataError
        The file cannot be read, and the error names the line or byte; or `from_frame` does not accept the
        table.
    FileNotFoundError
        There is no such file.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        way_out = " Save the sheet as CSV (UTF-8) and name that file." if ending in _SHEETS else ""
        raise DataError(
            f"'{path.name}' has no ending that is known; wanted is one of {join_names(ENDINGS, 20)}.{way_out}"
        )
    if delimiter is not None and ending not in _DELIMITED:
        raise DataError(f"A delimiter is for text files such as .csv; '{path.name}' has none.")
    columns, drop = to_names(columns), to_names(drop) or ()
    try:
        raw = read_bytes(path)
        if not raw:
            raise DataError("This is an empty file; at least 2 rows are needed to compare.")
        _require_polars()
        if ending in _DELIMITED:
            written, delimiter, notes = read_delimited(raw, delimiter, ending in (".tsv", ".tab"))
            frame, id_column, parse_notes = _parse_types(
                written, True, id_column, columns, drop, text, delimiter != ","
            )
            notes = notes + parse_notes
        elif ending in _JSON:
            frame, id_column, notes = _parse_types(
                read_json_lines(raw), False, id_column, columns, drop, text
            )
        elif ending == ".parquet":
            frame, notes = _read_parquet(raw), []
        else:
            frame, own_ids, notes = read_array(raw)
            id_column = id_column or (None if own_ids in drop else own_ids)
        return understand(
            frame,
            id_column=id_column,
            columns=columns,
            drop=drop,
            delimiter=delimiter,
            text=text,
            series=series,
            notes=notes,
        )
    except MemoryError as error:
        raise DataError(f"{path.name}: {too_large_for_memory()}") from error
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error


def _require_polars() -> None:
    try:
        import polars  # noqa: F401  # only whether it is installed
    except ImportError as error:
        raise ImportError('Reading tables from files needs polars: pip install "linkwise[app]"') from error


def _parse_types(
    written: pl.DataFrame,
    numbers: bool,
    id_column: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    text: str | None,
    comma_free: bool = False,
) -> tuple[nw.DataFrame[Any], str | None, list[str]]:
    """Find the id column, and parse all text columns but it and the texts to compare.

    Returns
    -------
    frame : narwhals.DataFrame
    id_column : str or None
    notes : list of str
    """
    import narwhals as nw

    frame = nw.from_native(written, eager_only=True)
    check_names(frame.columns, id_column, columns, drop, text)
    id_column = find_id(frame, id_column, {*(columns or ()), *drop, *([] if text is None else [text])})
    parsed, notes = parse_columns(written, {id_column, text, *drop}, numbers, comma_free)
    return nw.from_native(parsed, eager_only=True), id_column, notes


def _read_parquet(raw: bytes) -> nw.DataFrame[Any]:
    import narwhals as nw
    import polars as pl

    try:
        lazy = pl.scan_parquet(io.BytesIO(raw))
        n_columns = len(lazy.collect_schema())
        check_columns(n_columns)
        n_rows = int(lazy.select(pl.len()).collect().item())
        check_cells(n_rows, n_columns)
        check_expansion(8 * n_rows * n_columns, len(raw))
        return nw.from_native(pl.read_parquet(raw), eager_only=True)
    except (DataError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # of a damaged file polars may raise anything
        raise DataError(f"This cannot be read as Parquet: {shorten(str(error), 300)}") from error
