"""Read tables from files of delimited text, Parquet, JSON lines, spreadsheets and NumPy arrays."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.data.arrays import read_array
from linkwise.data.column_names import to_names
from linkwise.data.dates import check_dates
from linkwise.data.delimited import read_delimited
from linkwise.data.json_lines import read_json
from linkwise.data.long_series import name_series_by, pivot_series
from linkwise.data.named_columns import resolve_names
from linkwise.data.parse import parse_columns
from linkwise.data.roles import Unit
from linkwise.data.spreadsheets import read_sheet
from linkwise.data.table import Table, understand
from linkwise.data.weights import Metric, Weights
from linkwise.errors import DataError
from linkwise.limits import (
    check_cells,
    check_columns,
    check_expansion,
    check_name_lengths,
    too_large_for_memory,
)
from linkwise.text_encodings import to_utf8
from linkwise.text_files import read_bytes
from linkwise.wording import join_names, shorten

if TYPE_CHECKING:
    import narwhals as nw

_DELIMITED = (".csv", ".tsv", ".tab", ".txt")
JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_ARRAYS = (".npy", ".npz")
SHEET = ".xlsx"
_OTHER_SHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_WITH_TEXTS = (*_DELIMITED, *JSON_ENDINGS, SHEET)  # whose columns of text may hold numbers or dates
ENDINGS = (*_DELIMITED, ".parquet", *JSON_ENDINGS, *_ARRAYS, SHEET)


def read_table(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    text: str | Sequence[str] | None = None,
    image: str | Sequence[str] = (),
    series: bool = False,
    series_by: Sequence[str] | None = None,
    warp: bool = False,
    show: Sequence[str] = (),
    hide: Sequence[str] = (),
    merge_variants: bool = False,
    as_categories: Sequence[str] = (),
    log: Sequence[str] = (),
    cycles: Sequence[str] = (),
    keep_nested: bool = False,
    encoding: str | None = None,
    sheet: str | None = None,
    weights: Weights | None = None,
    metric: Metric | None = None,
    text_by: Unit = "words",
) -> Table:
    """Read a file and understand its columns.

    Parameters
    ----------
    path : path
        .csv, .tsv, .tab or .txt (a line of column names first), .parquet, .jsonl, .ndjson or
        .json (one JSON object a line, or one array of objects), .npy (a 2-D array of numbers), .npz (its
        array named X, or the only 2-D one; ids from a 1-D array named ids or id), .xlsx (with openpyxl).
    id_column : str, optional
        As for `from_frame`.
    columns : sequence of str, optional
        As for `from_frame`.
    drop : sequence of str, default=()
        As for `from_frame`.
    delimiter : str, optional
        The character between the columns of a text file. By default it is detected: a comma, semicolon, tab
        or vertical bar.
    text : str or sequence of str, optional
        As for `from_frame`.
    image : str or sequence of str, default=()
        Columns of paths of pictures that the rows are compared by, from the folder of the file; see
        `from_frame`.
    series : bool, default=False
        As for `from_frame`.
    warp : bool, default=False
        Whether curves are compared by dynamic time warping, so that shapes may be shifted and stretched.
    show : sequence of str, default=()
        As for `from_frame`.
    hide : sequence of str, default=()
        As for `from_frame`.
    series_by : (str, str, str), optional
        The columns of ids, times and values of a long table, in which each row is one value of a curve. The
        curves are compared as with `series`. Each needs a value at every time; an empty value is a gap.
    merge_variants : bool, default=False
        As for `from_frame`.
    as_categories : sequence of str, default=()
        As for `from_frame`.
    log : sequence of str, default=()
        As for `from_frame`.
    keep_nested : bool, default=False
        Whether nested objects in JSON stay as they are, and are only shown. By default each of their fields
        becomes a column such as ``address.town``.
    encoding : str, optional
        The encoding of a text file, such as "windows-1252". By default UTF-8, else UTF-16 or Windows-1252
        where that is certain, with a note.
    sheet : str, optional
        The sheet of a spreadsheet. By default the first one.
    cycles : sequence of str, default=()
        Columns of dates or times by whose cycles rows are compared, too; see `from_frame`.
    weights : dict of str to float or "none", optional
        As for `from_frame`.
    metric : {"euclidean", "cosine"}, optional
        As for `from_frame`.
    text_by : {"words", "letters"}, default="words"
        As for `from_frame`.

    Returns
    -------
    Table
        The table; ``read_table(path, **table.choices)`` returns the same one again.

    Raises
    ------
    TypeError
        `path` is not the name of a file.
    DataError
        The file cannot be read, and the error names the line or byte; or `from_frame` does not accept the
        table.
    FileNotFoundError
        There is no such file.
    ImportError
        polars is missing, or openpyxl for a spreadsheet.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path is a {type(path).__name__}. Pass a file, or a table to from_frame.")
    path = Path(path)
    ending = _check_ending(path)
    for option, given, endings in (
        ("delimiter", delimiter is not None, _DELIMITED),
        ("encoding", encoding is not None, (*_DELIMITED, *JSON_ENDINGS)),
        ("keep_nested", keep_nested, JSON_ENDINGS),
        ("sheet", sheet is not None, (SHEET,)),
    ):
        if given and ending not in endings:
            flag = "--" + option.replace("_", "-")
            raise DataError(
                f"'{path.name}' takes no {flag}, which is for files such as {endings[0]}. Remove it"
                f" (in Python, {option}=)."
            )
    try:
        frame, own_ids, used_delimiter, choices, notes = _read_file(
            path, ending, delimiter, encoding, keep_nested, sheet
        )
        written: Mapping[str, nw.Series[Any]] = {}
        taken = [name for names in (drop, show, hide) for name in to_names(names) or ()]
        if id_column is None and own_ids not in taken:
            id_column = own_ids
        by = name_series_by(series_by, frame.columns, id_column)
        if by is not None:
            parse = partial(_parse_plain, ending=ending, delimiter=used_delimiter)
            frame, more = pivot_series(frame, by, parse)
            id_column, series, choices = by.id, True, {**choices, "series_by": list(by)}
            notes = [*notes, *more]
        names = resolve_names(frame, id_column, columns, drop, text, show, hide, to_names(image) or ())
        if ending in _WITH_TEXTS and by is None:
            keep = {names.id_column, *names.text, *names.image, *names.drop, *names.show}
            frame, parse_notes, written = _parse_text(frame, keep, ending, used_delimiter)
            check_dates(frame, names.drop)
            notes = [*notes, *parse_notes]
        return understand(
            frame,
            names,
            delimiter=used_delimiter,
            series=series,
            warp=warp,
            merge_variants=merge_variants,
            as_categories=as_categories,
            log=log,
            cycles=cycles,
            weights=weights,
            metric=metric,
            text_by=text_by,
            written=written,
            folder=path.parent,
            reader_choices=choices,
            notes=notes,
        )
    except MemoryError as error:
        raise DataError(f"{path.name}: {too_large_for_memory()}") from error
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error


class Frames(NamedTuple):
    """A table as it is written in a file, and with types.

    Attributes
    ----------
    written : narwhals.DataFrame of shape (n_rows, n_columns)
        The table as the file holds it; of text files with columns of text alone.
    typed : narwhals.DataFrame of shape (n_rows, n_columns)
        The same with numbers and dates parsed.
    encoding : str or None
        The encoding of a text file; None if it is UTF-8.
    """

    written: nw.DataFrame[Any]
    typed: nw.DataFrame[Any]
    encoding: str | None


def read_frame(
    path: Path, *, keep: Callable[[nw.DataFrame[Any]], Collection[str | None]] = lambda frame: ()
) -> Frames:
    """Read the columns of a file without a decision on their use.

    Parameters
    ----------
    path : Path
        As for `read_table`.
    keep : callable, optional
        ``keep(written)`` returns the columns to leave as they are written. None by default.

    Returns
    -------
    Frames
        The table as it is written, and with types.

    Raises
    ------
    DataError
        The file cannot be read.
    FileNotFoundError
        There is no such file.
    """
    ending = _check_ending(path)
    try:
        written, _, delimiter, choices, _ = _read_file(path, ending, None, None, keep_nested=False)
        check_name_lengths(written.columns)
        check_dates(written, ())
        typed = written
        if ending in _WITH_TEXTS:
            typed, *_ = _parse_text(written, keep(written), ending, delimiter)
            check_dates(typed, ())
        return Frames(written, typed, choices.get("encoding"))
    except MemoryError as error:
        raise DataError(f"{path.name}: {too_large_for_memory()}") from error
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from error


def _check_ending(path: Path) -> str:
    """The ending of a file that can be read."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        way_out = (
            " Save the sheet as .xlsx or CSV (UTF-8) and use that file." if ending in _OTHER_SHEETS else ""
        )
        raise DataError(
            f"The ending of '{path.name}' is unknown. Known endings are {join_names(ENDINGS, 20)}.{way_out}"
        )
    return ending


class _Read(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    frame : narwhals.DataFrame of shape (n_rows, n_columns)
        The table; of text files with columns of text alone.
    own_ids : str or None
        The column that the file itself calls ids.
    delimiter : str or None
        The character between the columns of a text file.
    choices : dict
        The encoding of a text file, unless it is UTF-8 that was not named; and whether nested objects in JSON
        stay as they are, if there are any; and the sheet, if there is a choice.
    notes : list of str
        Sentences about the choices that were made.
    """

    frame: nw.DataFrame[Any]
    own_ids: str | None
    delimiter: str | None
    choices: dict[str, Any]
    notes: list[str]


def _read_file(
    path: Path,
    ending: str,
    delimiter: str | None,
    encoding: str | None,
    keep_nested: bool,
    sheet: str | None = None,
) -> _Read:
    import narwhals as nw

    raw = read_bytes(path)
    if not raw:
        raise DataError("The file is empty, but at least 2 rows are needed to compare.")
    _require_polars()
    if ending == ".parquet":
        return _Read(_read_parquet(raw), None, None, {}, [])
    if ending in _ARRAYS:
        frame, own_ids, notes = read_array(raw)
        return _Read(frame, own_ids, None, {}, notes)
    if ending == SHEET:
        page = read_sheet(raw, sheet)
        chosen = {} if page.is_only and sheet is None else {"sheet": page.name}
        return _Read(nw.from_native(page.frame, eager_only=True), None, None, chosen, page.notes)
    raw, encoding, notes = to_utf8(raw, encoding)
    choices: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    if ending in _DELIMITED:
        text, delimiter, more = read_delimited(raw, delimiter, ending in (".tsv", ".tab"))
        return _Read(nw.from_native(text, eager_only=True), None, delimiter, choices, [*notes, *more])
    table = read_json(raw, keep_nested)
    if table.has_objects:
        choices["keep_nested"] = keep_nested
    if table.nested:
        notes.append(
            f"Nested fields are columns of their own: {join_names(table.nested)}."
            " Add --keep-nested to leave them as they are (in Python, keep_nested=True)."
        )
    return _Read(nw.from_native(table.frame, eager_only=True), None, None, choices, notes)


def _require_polars() -> None:
    try:
        import polars  # noqa: F401  # only whether it is installed
    except ImportError as error:
        raise ImportError('Reading tables from files needs polars: pip install "linkwise[app]"') from error


def _parse_text(
    frame: nw.DataFrame[Any], keep: Collection[str | None], ending: str, delimiter: str | None
) -> tuple[nw.DataFrame[Any], list[str], dict[str, nw.Series[Any]]]:
    """Parse all columns of text but those to keep as they are written, and return the forms of numbers."""
    import narwhals as nw

    parsed, notes, written = parse_columns(
        frame.to_native(),
        keep=keep,
        numbers=ending not in JSON_ENDINGS,
        comma_free=ending == SHEET or delimiter not in (None, ","),
    )
    forms = {series.name: nw.from_native(series, series_only=True) for series in written}
    return nw.from_native(parsed, eager_only=True), notes, forms


def _parse_plain(
    frame: nw.DataFrame[Any], *, ending: str, delimiter: str | None
) -> tuple[nw.DataFrame[Any], list[str]]:
    """Parse all columns of text."""
    return _parse_text(frame, (), ending, delimiter)[:2] if ending in _WITH_TEXTS else (frame, [])


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
